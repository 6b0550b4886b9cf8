package git

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"mcp-devserver/sandbox"
)

// maxRefDepth bounds how deep folders of refs nest.
const maxRefDepth = 64

// checkLayout proves that no name which git opens for itself in a git directory
// is a link, or blocks when it is opened: git follows links wherever they lead,
// and one link for each of the 256 folders of loose objects is a whole
// repository elsewhere. Kinds come with the listing of a folder, so nothing is
// looked up a second time.
func (r *Repo) checkLayout(ctx context.Context, dir, common string) error {
	for _, base := range []string{dir, common} {
		for _, flat := range []string{"", "/info"} {
			if err := r.checkFolder(ctx, base+flat, "git directory", 0); err != nil {
				return err
			}
		}
		for _, refs := range []string{"/refs", "/reftable"} {
			if err := r.checkFolder(ctx, base+refs, "git directory", maxRefDepth); err != nil {
				return err
			}
		}
		if common == dir {
			break
		}
	}
	return r.checkHead(dir, common)
}

// elsewhere are names in a git directory that many projects link to a shared
// place; none of them is opened by what is run here.
var elsewhere = map[string]bool{"hooks": true, "lfs": true, "rr-cache": true}

// checkFolder refuses what is neither a regular file nor a folder, in dir and
// in as many levels below it as deep says. A folder that is missing is fine.
func (r *Repo) checkFolder(ctx context.Context, dir, kind string, deep int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entries, mark, err := r.door.Entries(dir)
	switch {
	case err == nil:
		r.keep(dir, mark)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, sandbox.ErrOutside):
		return r.external(kind)
	default:
		return r.git.ws.Refuse(sandbox.NotARepository, nil)
	}
	top := dir == r.gitDir || dir == r.common
	refs := !top && (strings.HasPrefix(dir+"/", r.gitDir+"/refs/") || strings.HasPrefix(dir+"/", r.common+"/refs/"))
	var files []string
	for _, e := range entries {
		switch e.Kind {
		case sandbox.KindFile:
			files = append(files, e.Name)
		case sandbox.KindDirectory:
			if deep > 0 {
				if err := r.checkFolder(ctx, dir+"/"+e.Name, kind, deep-1); err != nil {
					return err
				}
			} else if refs { // git goes on, and nobody nests names so deep
				return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 128})
			}
		case sandbox.KindSymlink:
			if top && elsewhere[e.Name] {
				continue
			}
			if err := r.external(kind); err != nil {
				return err
			}
		default:
			// A socket (of git's own file monitor, for one) cannot be opened, and
			// so cannot block.
			if !r.door.Blocks(dir + "/" + e.Name) {
				continue
			}
			return r.git.ws.Refuse(sandbox.NotARepository, nil)
		}
	}
	switch {
	case refs:
		return r.checkSymrefs(dir, files)
	case top: // ORIG_HEAD and the like; HEAD has a check of its own
		return r.checkSymrefs(dir, slices.DeleteFunc(files, func(name string) bool {
			return name == "HEAD" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != ""
		}))
	}
	return nil
}

// checkSymrefs refuses refs that lead to a name which is not below refs, as
// checkHead does: git reads every ref when it lists them.
func (r *Repo) checkSymrefs(dir string, files []string) error {
	if !r.git.ws.Walled() { // nothing but its own mark tells that a file has been written to
		for _, name := range files {
			if m, err := r.door.Mark(dir + "/" + name); err == nil {
				r.keep(dir+"/"+name, m)
			}
		}
	}
	targets, err := r.door.Symrefs(dir, files)
	if err != nil {
		return r.git.ws.Refuse(sandbox.NotARepository, nil)
	}
	for _, to := range targets {
		if !belowRefs(to) {
			return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 128})
		}
	}
	return nil
}

func belowRefs(ref string) bool {
	return strings.HasPrefix(ref, "refs/") && !strings.Contains("/"+ref+"/", "/../")
}

// maxSymrefs is how long a chain of refs git follows.
const maxSymrefs = 5

// checkHead refuses a HEAD that leads, over however many refs, to a name that is
// not below refs: git would open any file of the git directory for it, links
// included, and an unborn branch would
// tell whether it exists.
func (r *Repo) checkHead(dir, common string) error {
	at := dir + "/HEAD"
	for range maxSymrefs + 1 {
		to := r.door.Symref(at)
		if to == "" {
			return nil
		}
		if !belowRefs(to) {
			break
		}
		at = common + "/" + to
	}
	return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 128})
}

// checkObjects refuses links among the files of an object store.
func (r *Repo) checkObjects(ctx context.Context, store string) error {
	entries, mark, err := r.door.Entries(store)
	if err != nil {
		return r.git.ws.Refuse(sandbox.NotARepository, nil)
	}
	r.keep(store, mark)
	for _, e := range entries {
		switch {
		case e.Kind == sandbox.KindSymlink:
			if err := r.external("object store"); err != nil {
				return err
			}
		case e.Kind == sandbox.KindDirectory && (len(e.Name) == 2 || e.Name == "pack" || e.Name == "info"):
			if err := r.checkFolder(ctx, store+"/"+e.Name, "object store", 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// leadsAway reports whether git would look a revision up as a file that lies
// directly in the git directory, or in the common one, and is reached through a
// link, or would block. Everything that a ref can be below refs has been looked at.
func (r *Repo) leadsAway(rev string) bool {
	if r.outside {
		return false
	}
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		rev = rev[:i]
	}
	for _, base := range []string{r.gitDir, r.common} {
		rel := base + "/" + rev
		r.mark(rel)
		_, _, err := r.door.Stat(rel)
		if errors.Is(err, sandbox.ErrOutside) || r.door.Blocks(rel) {
			return true
		}
		// All that lies below refs has been looked at; this may not.
		if to := r.door.Symref(rel); to != "" && !belowRefs(to) {
			return true
		}
	}
	return false
}
