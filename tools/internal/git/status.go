package git

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"time"

	"mcp-devserver/sandbox"
)

// FileChanges lists what seems to differ between the index and the work tree, by
// what the system says of each file; a listed file may prove unchanged once read.
// The new id is empty.
//
// Git is not asked: where it cannot tell by the status of a file it would open
// the file by its name, wherever that leads by then, and pass it through whatever
// filter the repository names. Submodules are left out, and not looked into.
func (r *Repo) FileChanges(ctx context.Context) ([]Change, error) {
	written := time.Time{} // when the index was; older is safe
	if info, _, err := r.door.Stat(r.gitDir + "/index"); err == nil {
		written = info.ModTime
	}
	index, err := r.Index(ctx)
	if err != nil {
		return nil, err
	}
	var out []Change
	for i := range index {
		if i&0xff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e := &index[i]
		if e.Mode == ModeGitlink || e.flags&flagAssumed != 0 {
			continue
		}
		if e.flags&flagAbsent != 0 {
			if !r.sparse {
				continue
			}
			if _, err := r.door.Look(e.Path); err != nil {
				continue
			}
		}
		if e.Stage > 0 && i > 0 && index[i-1].Path == e.Path {
			continue // an unmerged path is told once
		}
		c, unsure, err := r.fileChange(e, written)
		if err != nil {
			return nil, err
		}
		if unsure {
			if c, err = r.settle(ctx, c); err != nil {
				return nil, err
			}
		}
		if c.Status != 0 {
			out = append(out, c)
		}
	}
	return out, nil
}

// fileChange compares one entry with what the system says of its name. A change
// without a status is none. unsure says that the status of the file was not
// enough to tell, and that only its content can.
func (r *Repo) fileChange(e *IndexEntry, written time.Time) (c Change, unsure bool, err error) {
	l, err := r.door.Look(e.Path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return Change{}, false, nil // nothing is known of it, as with git
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, sandbox.ErrOutside):
		l = sandbox.Look{}
	case err != nil:
		return Change{}, false, err
	}
	mode := r.workMode(e, l)
	c = Change{Path: e.Path, OldPath: e.Path, OldMode: e.Mode, OldID: e.ID, NewMode: mode}
	switch {
	case e.Stage > 0:
		c.Status, c.OldMode, c.OldID = Unmerged, 0, ""
	case mode == 0:
		c.Status = Deleted
	case e.flags&flagIntent != 0:
		c.Status, c.OldMode, c.OldID = Added, 0, ""
	case mode&0o170000 != e.Mode&0o170000:
		c.Status = TypeChanged
	case mode != e.Mode, e.size != uint32(l.Size), r.statusDiffers(e, l):
		c.Status = Modified
	case e.racy(written):
		c.Status = Modified
		return c, true, nil
	default:
		return Change{}, false, nil
	}
	return c, false, nil
}

// statusDiffers compares times and the number of the file, as far as they tell
// something in this repository.
func (r *Repo) statusDiffers(e *IndexEntry, l sandbox.Look) bool {
	if r.minimal {
		return e.modified.sec != uint32(l.Modified.Unix())
	}
	return e.modified.differs(l.Modified) || !r.noCtime && e.changed.differs(l.Changed) || e.ino != 0 && l.Ino != 0 && e.ino != uint32(l.Ino)
}

// workMode is the mode that git would give a file, 0 when it would see none.
func (r *Repo) workMode(e *IndexEntry, l sandbox.Look) uint32 {
	switch l.Kind {
	case sandbox.KindSymlink:
		return ModeLink
	case sandbox.KindFile:
		switch {
		case r.noLinks && e.Mode == ModeLink:
			return ModeLink
		case r.noExec && e.Mode&0o170000 == 0o100000:
			return e.Mode
		case !r.noExec && l.Perm&0o100 != 0:
			return ModeExec
		}
		return ModeFile
	}
	return 0
}

// tick is more than any system's clock of files stands still.
const tick = 20 * time.Millisecond

// racy reports whether a file could have been written to after the index had
// looked at it, without its status having changed: it is as young as the index.
func (e *IndexEntry) racy(written time.Time) bool {
	if written.IsZero() || e.modified == (stamp{}) {
		return true
	}
	if e.modified.nsec == 0 || written.Nanosecond() == 0 { // whole seconds are kept
		return int64(e.modified.sec) >= written.Unix()
	}
	return !time.Unix(int64(e.modified.sec), int64(e.modified.nsec)).Add(tick).Before(written)
}

// settle reads a file whose status does not tell. What may not be read counts as
// unchanged.
func (r *Repo) settle(ctx context.Context, c Change) (Change, error) {
	f, err := r.openWork(c.Path)
	var d *sandbox.Denial
	switch {
	case errors.Is(err, errGone):
		return c, nil // it has gone meanwhile, and will be told so
	case errors.As(err, &d):
		return Change{}, nil
	case err != nil:
		return Change{}, err
	}
	defer f.close()
	h := blobHash(c.OldID, f.size)
	if f.file == nil {
		_, _ = h.Write([]byte(f.link))
	} else if _, err := copyChecked(ctx, h, f.file); err != nil {
		return Change{}, err
	}
	if hex.EncodeToString(h.Sum(nil)) == c.OldID {
		return Change{}, nil
	}
	return c, nil
}
