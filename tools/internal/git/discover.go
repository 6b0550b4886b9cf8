package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mcp-devserver/sandbox"
)

// Repo is the repository at the root of the workspace, for one call. It holds
// at most one running object reader; Close ends it. Not safe for concurrent use.
type Repo struct {
	git     *Git
	door    *sandbox.GitDoor
	gitDir  string // as passed to --git-dir: relative to the root, or absolute when external places are allowed
	drivers []setting
	keys    map[string]bool // configuration keys that are set, as git spells them
	foreign bool
	objects *catFile
	index   []IndexEntry // once read
	root    sandbox.Info // identity of .git when it was looked at
	common  string       // common directory, relative to the root
	outside bool
	crlf    bool                    // core.autocrlf converts line endings
	noExec  bool                    // core.fileMode is off: modes on disk say nothing
	noLinks bool                    // core.symlinks is off: links are kept as files
	noCtime bool                    // core.trustctime is off: other programs change that time
	minimal bool                    // core.checkStat says that size and whole seconds tell
	sparse  bool                    // what is left out of the work tree counts where it is there all the same
	shallow map[string]bool         // commits at which a shallow clone ends, once read
	marks   map[string]sandbox.Mark // of every place that was looked at and that git will open by name
}

// Close ends the object reader, if one runs, and lets go of the repository.
func (r *Repo) Close() {
	if r.door != nil {
		_ = r.door.Close()
	}
	if r.objects != nil {
		r.objects.close()
		r.objects = nil
	}
}

// Foreign reports that another user owns the repository.
func (r *Repo) Foreign() bool { return r.foreign }

// Keys reports whether a configuration key (section and name in lower case) is
// set anywhere in the repository's own configuration.
func (r *Repo) Has(key string) bool { return r.keys[key] }

// ConfigKeys lists the keys set in the repository's own configuration. Values
// are never read.
func (r *Repo) ConfigKeys() []string {
	var k []string
	for s := range r.keys {
		k = append(k, s)
	}
	return k
}

func (r *Repo) refuseOutside(kind string) error {
	return r.git.ws.Refuse(sandbox.GitOutsideWorkspace, sandbox.Args{"kind": kind})
}

// discover finds the git directory and proves that everything git will open
// for itself lies beneath the root: git directory, common directory, object
// store and every alternate. Nothing above the root is looked at.
func (r *Repo) discover(ctx context.Context) error {
	ws := r.git.ws
	if err := ws.Same(); err != nil {
		return ws.Refuse(sandbox.NotARepository, nil)
	}
	dir := ".git"
	info, uid, err := r.door.Stat(dir)
	switch {
	case errors.Is(err, sandbox.ErrOutside):
		if !r.git.opt.AllowExternal {
			return r.refuseOutside("git directory")
		}
		r.gitDir, r.outside = dir, true
		return nil
	case err != nil:
		return ws.Refuse(sandbox.NotARepository, nil)
	case info.Kind == sandbox.KindFile:
		if dir, err = r.gitFile(); err != nil || r.outside {
			return err
		}
		if info, uid, err = r.door.Stat(dir); err != nil || info.Kind != sandbox.KindDirectory {
			return ws.Refuse(sandbox.NotARepository, nil)
		}
	case info.Kind != sandbox.KindDirectory:
		return ws.Refuse(sandbox.NotARepository, nil)
	}
	r.gitDir, r.root = dir, info
	r.foreign = uid >= 0 && uid != os.Geteuid()
	common := dir
	// Marked before they are read.
	for _, name := range []string{"", "/commondir", "/HEAD", "/config.worktree"} {
		r.mark(dir + name)
	}
	switch b, err := r.door.Read(dir+"/commondir", 8192); {
	case errors.Is(err, sandbox.ErrOutside):
		return r.external("common directory")
	case err == nil:
		place, ok := onePlace(b)
		if ok {
			common, err = r.beneath(dir, place)
		}
		if !ok || err != nil {
			return r.external("common directory")
		}
	case !errors.Is(err, fs.ErrNotExist): // git may read what is too long for us
		return r.external("common directory")
	}
	if _, err := r.door.Read(dir+"/HEAD", 8192); err != nil {
		if errors.Is(err, sandbox.ErrOutside) {
			return r.external("git directory")
		}
		return ws.Refuse(sandbox.NotARepository, nil)
	}
	for _, name := range []string{"config", "refs", "packed-refs", "info", "shallow", "logs"} {
		if _, _, err := r.door.Stat(common + "/" + name); errors.Is(err, sandbox.ErrOutside) {
			return r.external("git directory")
		}
	}
	if _, _, err := r.door.Stat(dir + "/index"); errors.Is(err, sandbox.ErrOutside) {
		return r.external("git directory")
	}
	r.common = common
	if common != dir {
		r.mark(".") // git makes an absolute name of it
	}
	r.mark(common)
	r.mark(common + "/config")
	if err := r.checkStore(ctx, common+"/objects", 0); err != nil {
		return err
	}
	return r.checkLayout(ctx, dir, common)
}

// external refuses kind, unless places outside the workspace are allowed.
func (r *Repo) external(kind string) error {
	if r.git.opt.AllowExternal {
		r.outside = true
		return nil
	}
	return r.refuseOutside(kind)
}

// gitFile follows a .git that is a file. It returns the git directory relative
// to the root, or sets outside.
func (r *Repo) gitFile() (string, error) {
	b, err := r.door.Read(".git", 8192)
	if err != nil {
		return "", r.git.ws.Refuse(sandbox.NotARepository, nil)
	}
	place, ok := onePlace(b)
	to, named := strings.CutPrefix(place, "gitdir: ")
	if !ok || !named {
		return "", r.git.ws.Refuse(sandbox.NotARepository, nil)
	}
	dir, err := r.beneath(".", to)
	if err != nil {
		if !r.git.opt.AllowExternal {
			return "", r.refuseOutside("git directory")
		}
		r.gitDir, r.outside = ".git", true
		return "", nil
	}
	return dir, nil
}

// errLeaves reports a place that does not lie beneath the root.
var errLeaves = errors.New("git: outside the workspace")

// beneath joins a place written in a git file to the folder it is relative to,
// and returns it relative to the root. No name outside the root is looked up:
// an absolute place must begin with the root's own name.
func (r *Repo) beneath(from, to string) (string, error) {
	if to == "" || climbs(to) {
		return "", errLeaves
	}
	if filepath.IsAbs(to) {
		rel, ok := r.door.Beneath(to)
		if !ok {
			return "", errLeaves
		}
		from, to = ".", rel
	}
	p := path.Join(from, filepath.ToSlash(to))
	if _, _, err := r.door.Stat(p); errors.Is(err, sandbox.ErrOutside) {
		return "", errLeaves
	}
	return p, nil
}

// climbs reports a ".." behind another name, or in an absolute place: the system
// takes it from wherever that name leads, and a link would make it another folder
// than the text says.
func climbs(place string) bool {
	named := filepath.IsAbs(place)
	for part := range strings.SplitSeq(filepath.ToSlash(place), "/") {
		switch part {
		case "", ".":
		case "..":
			if named {
				return true
			}
		default:
			named = true
		}
	}
	return false
}

// onePlace is the place that a git file of a single line names. Git takes all of
// the file, newlines included, but for those at its end; a place with a newline in
// it is nothing that git has written, and is not taken for its first line.
func onePlace(b []byte) (string, bool) {
	s := strings.TrimRight(string(b), "\r\n")
	return s, !strings.ContainsAny(s, "\r\n\x00")
}

// unquote reads a place between quotes as git does, to the letter: what git cannot
// read it takes as it stands, quotes and all, for another place. There are no
// hexadecimal escapes, and bytes are bytes, whether they are UTF-8 or not.
func unquote(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return string(b), i == len(s)-1
		case 0:
			return "", false
		case '\\':
			if i++; i == len(s) {
				return "", false
			}
			if at := strings.IndexByte(`abfnrtv\"`, s[i]); at >= 0 {
				b = append(b, "\a\b\f\n\r\t\v\\\""[at])
				continue
			}
			if i+2 >= len(s) || s[i] < '0' || s[i] > '3' || s[i+1]&^7 != '0' || s[i+2]&^7 != '0' {
				return "", false
			}
			c = s[i]&7<<6 | s[i+1]&7<<3 | s[i+2]&7
			if i += 2; c == 0 {
				return "", false
			}
			b = append(b, c)
		default:
			b = append(b, c)
		}
	}
	return "", false
}

// maxAlternates bounds how far alternates of alternates are followed; git
// itself stops at 5.
const maxAlternates = 5

// checkStore proves that an object store and all it borrows from lie beneath
// the root.
func (r *Repo) checkStore(ctx context.Context, store string, depth int) error {
	if depth > maxAlternates {
		return r.external("alternates")
	}
	ws := r.git.ws
	for _, name := range []string{"", "/pack", "/info"} {
		info, _, err := r.door.Stat(store + name)
		switch {
		case errors.Is(err, sandbox.ErrOutside):
			return r.external("object store")
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return ws.Refuse(sandbox.NotARepository, nil)
		case name == "" && (err != nil || info.Kind != sandbox.KindDirectory):
			if depth > 0 {
				return nil // a missing alternate is ignored by git too
			}
			return ws.Refuse(sandbox.NotARepository, nil)
		}
	}
	r.mark(store + "/info/alternates")
	b, err := r.door.Read(store+"/info/alternates", 1<<20)
	switch {
	case errors.Is(err, sandbox.ErrOutside):
		return r.external("alternates")
	case errors.Is(err, fs.ErrNotExist):
		return r.checkObjects(ctx, store)
	case err != nil:
		return r.external("alternates")
	}
	r.mark(".") // git makes absolute names of alternates
	for line := range bytes.Lines(b) {
		s := strings.TrimSuffix(string(line), "\n")
		if s == "" || s[0] == '#' {
			continue
		}
		if s[0] == '"' {
			var ok bool
			if s, ok = unquote(s); !ok {
				if err := r.external("alternates"); err != nil {
					return err
				}
				continue
			}
		}
		place, err := r.beneath(store, s)
		if err != nil {
			if err := r.external("alternates"); err != nil {
				return err
			}
			continue
		}
		r.mark(place)
		if err := r.checkStore(ctx, place, depth+1); err != nil {
			return err
		}
	}
	return r.checkObjects(ctx, store)
}

// same refuses to start a process once the root or .git is no longer the one
// that was looked at.
func (r *Repo) same() error {
	ws := r.git.ws
	if err := ws.Same(); err != nil {
		return ws.Refuse(sandbox.NotARepository, nil)
	}
	if r.outside {
		return nil
	}
	info, _, err := r.door.Stat(r.gitDir)
	if err != nil || info.Dev != r.root.Dev || info.Ino != r.root.Ino {
		return ws.Refuse(sandbox.NotARepository, nil)
	}
	return nil
}

func firstLine(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(s, "\r")
}

// IsRepository reports whether a folder beneath the root holds a repository of
// its own.
func (r *Repo) IsRepository(dir string) bool {
	_, _, err := r.door.Stat(dir + "/.git")
	return err == nil || errors.Is(err, sandbox.ErrOutside)
}
