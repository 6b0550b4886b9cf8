package git

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// History says which commits to walk, newest first in git's own order.
type History struct {
	Tips    []string  // full commit ids to start from
	Not     []string  // full commit ids whose ancestors are left out
	Path    string    // only commits touching this path; "" or "." for all
	Follow  bool      // Path is a file: go on with its old name where it was renamed
	Since   time.Time // committed at or after; zero for no bound
	Until   time.Time // committed at or before; zero for no bound
	Skip    int       // commits to pass over; must be 0 with Follow
	Max     int       // commits to visit; 0 for no bound
	NoMerge bool
}

// Walked reports what a walk met.
type Walked struct {
	Denied bool // following a rename stopped at a name that policy withholds
}

// errStop ends a walk without an error.
var errStop = errors.New("stop")

// maxRenames bounds how many renames of one file are followed.
const maxRenames = 64

// Walk calls visit with each commit id and, when a path is given, the name the
// file had at that commit. visit returns false to end the walk.
func (r *Repo) Walk(ctx context.Context, h History, visit func(id, path string) (bool, error)) (Walked, error) {
	var w Walked
	seen := map[string]bool{}
	n := 0
	for range maxRenames {
		last := ""
		err := r.revList(ctx, h, func(id string) error {
			last = id
			if h.Follow {
				if seen[id] {
					return nil
				}
				seen[id] = true
			}
			if h.Max > 0 && n == h.Max {
				return errStop
			}
			n++
			more, err := visit(id, h.Path)
			if err != nil {
				return err
			}
			if !more {
				return errStop
			}
			return nil
		})
		if errors.Is(err, errStop) {
			return w, nil
		}
		if err != nil || !h.Follow || last == "" {
			return w, err
		}
		// The oldest commit that touches this name: did the file come from another?
		c, err := r.Commit(ctx, last)
		if err != nil || len(c.Parents) == 0 {
			return w, err
		}
		old, err := r.renamedFrom(ctx, c, h.Path)
		if err != nil || old == "" {
			return w, err
		}
		if _, denied := r.git.ws.Denied(old); denied {
			w.Denied = true
			return w, nil
		}
		h.Path, h.Tips = old, c.Parents
	}
	return w, nil
}

// renamedFrom is the name that path had before commit c, or "".
func (r *Repo) renamedFrom(ctx context.Context, c *Commit, path string) (string, error) {
	for _, parent := range c.Parents {
		list, err := r.TreeChanges(ctx, parent, c.ID)
		if err != nil {
			return "", err
		}
		for _, ch := range list {
			if ch.Path == path && ch.Status == Renamed {
				return ch.OldPath, nil
			}
		}
	}
	return "", nil
}

// revList streams the ids of one walk.
func (r *Repo) revList(ctx context.Context, h History, visit func(id string) error) error {
	var args []string
	if h.Max > 0 && !h.Follow {
		args = append(args, "--max-count="+strconv.Itoa(h.Max))
	}
	if h.Skip > 0 {
		args = append(args, "--skip="+strconv.Itoa(h.Skip))
	}
	if !h.Since.IsZero() {
		args = append(args, "--max-age="+strconv.FormatInt(max(0, h.Since.Unix()), 10))
	}
	if !h.Until.IsZero() {
		if h.Until.Unix() < 0 {
			return nil
		}
		args = append(args, "--min-age="+strconv.FormatInt(h.Until.Unix(), 10))
	}
	if h.NoMerge {
		args = append(args, "--no-merges")
	}
	args = append(args, "--")
	if h.Path != "" && h.Path != "." {
		args = append(args, h.Path)
	}
	var in strings.Builder
	for _, id := range h.Tips {
		if !isID(id) {
			return r.missing(errMissing)
		}
		in.WriteString(id + "\n")
	}
	for _, id := range h.Not {
		if !isID(id) {
			return r.missing(errMissing)
		}
		in.WriteString("^" + id + "\n")
	}
	p, err := r.start(ctx, cmdRevList, args...)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.WriteString(p.in, in.String())
		_ = p.in.Close()
	}()
	for {
		line, err := p.out.ReadSlice('\n')
		if err != nil {
			return r.failed(p.close())
		}
		id := strings.TrimSuffix(string(line), "\n")
		if !isID(id) {
			p.abort()
			return r.missing(errMissing)
		}
		if err := visit(id); err != nil {
			p.abort()
			return err
		}
	}
}

// Blamed is a run of lines that one commit wrote.
type Blamed struct {
	Start, End int // 1-based, inclusive, in the blamed version
	Commit     string
}

// Blame attributes lines first to last of path at a commit. Only ids, line numbers
// and former names of git's answer are used. Renames are followed, but not beyond a
// name that policy withholds: denied is set when there is one, and no rename at all
// is followed then.
func (r *Repo) Blame(ctx context.Context, commit, path string, first, last int) (list []Blamed, denied bool, err error) {
	if !isID(commit) {
		return nil, false, r.missing(errMissing)
	}
	lines := []string{"-L", strconv.Itoa(first) + "," + strconv.Itoa(last), commit, "--", path}
	b, err := r.output(ctx, cmdBlame, "", lines...)
	if err != nil {
		return nil, false, r.failed(err)
	}
	list, names := parseBlame(string(b))
	for _, name := range names {
		if _, denied = r.git.ws.Denied(name); denied {
			break
		}
	}
	if denied {
		if b, err = r.output(ctx, cmdBlame, "", append([]string{"--no-follow"}, lines...)...); err != nil {
			return nil, false, r.failed(err)
		}
		list, _ = parseBlame(string(b))
	}
	return list, denied, nil
}

// parseBlame reads "<id> <old line> <line>[ <count>]" headers; everything up to
// and including the line that begins with a tab belongs to the header before, and
// the name that the file had then is among it.
func parseBlame(s string) (out []Blamed, names []string) {
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		f := strings.Split(line, " ")
		if len(f) < 3 || !isID(f[0]) {
			return out, names
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n < 1 {
			return out, names
		}
		if k := len(out) - 1; k >= 0 && out[k].Commit == f[0] && out[k].End == n-1 {
			out[k].End = n
		} else {
			out = append(out, Blamed{n, n, f[0]})
		}
		for s != "" {
			line, rest, _ = strings.Cut(s, "\n")
			s = rest
			if strings.HasPrefix(line, "\t") {
				break
			}
			if name, ok := strings.CutPrefix(line, "filename "); ok {
				if strings.HasPrefix(name, `"`) {
					name, _ = unquote(name)
				}
				names = append(names, name)
			}
		}
	}
	return out, names
}
