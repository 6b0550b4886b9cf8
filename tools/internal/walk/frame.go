package walk

import (
	"errors"
	"io"
	"io/fs"

	"mcp-devserver/sandbox"
)

// frame is the ignore files in force in one folder: its own, then those of its parents up to the top of the repository
// (or the workspace root). Frames are never changed once made, so folders share their parents'.
type frame struct {
	parent  *frame
	base    string // the folder, "." for the root
	rules   *rules // its .gitignore, nil without one
	exclude *rules // .git/info/exclude; at the workspace root only
	git     bool   // inside a repository
	top     bool   // a repository begins here: the rules above do not reach further down
	repo    *repo  // the repository the folder is in, nil outside one
	only    bool   // a rule leaves the folder out: nothing of it counts but what is tracked
}

// decide says whether path, an entry somewhere below the frame's folder, is ignored. only is set for a folder that a rule
// leaves out and that is entered for the sake of what is tracked in it.
func (w *walker) decide(f *frame, path, name string, dir bool) (ignored, only bool) {
	out, byRule := f.rule(path, dir, w.spend)
	switch {
	case out && w.tracked(f.repo, path, dir):
		return false, dir
	case byRule:
		return out, false
	}
	if !dir || !Skipped(name, f.git) {
		return false, false
	}
	only = w.tracked(f.repo, path, true) // an install folder that was committed, such as a fixture
	return !only, only
}

// rule says what the ignore files make of path, and whether one of them speaks of it.
func (f *frame) rule(path string, dir bool, spend func(int) bool) (out, found bool) {
	if f.only {
		return true, true
	}
	for g := f; g != nil; g = g.parent {
		rel := path
		if g.base != "." {
			rel = path[len(g.base)+1:]
		}
		for _, rs := range [2]*rules{g.rules, g.exclude} {
			if rs == nil {
				continue
			}
			switch rs.decide(rel, dir, spend) {
			case ignored:
				return true, true
			case included:
				return false, true
			}
		}
		if g.top {
			break
		}
	}
	return false, false
}

// enter makes the frame of the open folder d. has reports whether the folder holds an entry of that name and kind.
func (w *walker) enter(parent *frame, d *sandbox.Dir, has func(name string) (sandbox.Kind, bool)) *frame {
	f := &frame{parent: parent, base: d.Path()}
	if parent != nil {
		f.git, f.repo = parent.git, parent.repo
	}
	if !w.opts.Gitignore {
		if parent != nil {
			return parent // nothing differs from folder to folder
		}
		return f
	}
	kind, ok := has(".git")
	top := ok && (kind == sandbox.KindDirectory || kind == sandbox.KindFile)
	if parent != nil && parent.only && !top {
		return parent // git reads no ignore file in a folder that is left out
	}
	if top {
		f.git, f.top = true, true
		f.repo = &repo{base: f.base, fold: w.ignoresCase(f.base)}
		if parent == nil && kind == sandbox.KindDirectory {
			f.exclude = w.readExclude(f.repo.fold)
		}
	}
	// A linked .gitignore is not followed, by git neither.
	if kind, ok := has(".gitignore"); ok && kind == sandbox.KindFile {
		if file, err := d.OpenFile(".gitignore"); err == nil {
			f.rules = w.readRules(file, f.repo != nil && f.repo.fold)
		} else {
			w.stats.RulesLost++
		}
	}
	if parent != nil && !f.top && f.rules == nil {
		return parent
	}
	return f
}

func (w *walker) readRules(file *sandbox.File, fold bool) *rules {
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxIgnoreBytes+1))
	if err != nil {
		w.stats.RulesLost++
		return nil
	}
	rs := parseRules(data, fold)
	if rs.cut {
		w.stats.RulesLost++
	}
	if len(rs.list) == 0 {
		return nil
	}
	return rs
}

// readExclude reads .git/info/exclude of the workspace root. One that is linked or too large counts as lost.
func (w *walker) readExclude(fold bool) *rules {
	door, err := w.ws.GitDoor()
	if err != nil {
		w.stats.RulesLost++
		return nil
	}
	defer door.Close()
	data, err := door.Read(".git/info/exclude", maxIgnoreBytes)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.stats.RulesLost++
		}
		return nil
	}
	rs := parseRules(data, fold)
	if rs.cut {
		w.stats.RulesLost++
	}
	return rs
}

func code(err error) (sandbox.Code, bool) {
	var d *sandbox.Denial
	if errors.As(err, &d) {
		return d.Code, true
	}
	return 0, false
}
