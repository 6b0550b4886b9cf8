package git

import (
	"strconv"
	"strings"
)

// Status is what happened to a path.
type Status byte

// Statuses, by the letters git uses.
const (
	Added       Status = 'A'
	Modified    Status = 'M'
	Deleted     Status = 'D'
	Renamed     Status = 'R'
	Copied      Status = 'C'
	TypeChanged Status = 'T'
	Unmerged    Status = 'U'
	Untracked   Status = '?'
)

// Change is one path that differs between two sides. A side without the path
// has mode 0 and an empty id. The id of a work-tree side is empty until its
// content has been read.
type Change struct {
	Status           Status
	Path, OldPath    string // equal unless renamed or copied
	OldMode, NewMode uint32
	OldID, NewID     string
}

// rawTokens walks "git … --raw -z" output: entries, and between them the ids
// that diff-tree --stdin puts before a commit's entries. Malformed output ends
// the walk with false.
func rawTokens(b string, header func(id string), entry func(Change)) bool {
	next := func() (string, bool) {
		i := strings.IndexByte(b, 0)
		if i < 0 {
			return "", false
		}
		s := b[:i]
		b = b[i+1:]
		return s, true
	}
	for b != "" {
		tok, ok := next()
		if !ok {
			return false
		}
		if !strings.HasPrefix(tok, ":") {
			if !isID(tok) {
				return false
			}
			header(tok)
			continue
		}
		f := strings.Split(tok[1:], " ")
		if len(f) != 5 || f[4] == "" {
			return false
		}
		om, err1 := strconv.ParseUint(f[0], 8, 32)
		nm, err2 := strconv.ParseUint(f[1], 8, 32)
		if err1 != nil || err2 != nil {
			return false
		}
		c := Change{Status: Status(f[4][0]), OldMode: uint32(om), NewMode: uint32(nm)}
		if !isZero(f[2]) {
			c.OldID = f[2]
		}
		if !isZero(f[3]) {
			c.NewID = f[3]
		}
		if c.OldPath, ok = next(); !ok || c.OldPath == "" {
			return false
		}
		c.Path = c.OldPath
		if c.Status == Renamed || c.Status == Copied {
			if c.Path, ok = next(); !ok || c.Path == "" {
				return false
			}
		}
		if c.OldMode == ModeGitlink || c.NewMode == ModeGitlink {
			continue // submodules are not entered
		}
		entry(c)
	}
	return true
}
