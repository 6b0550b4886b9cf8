package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Options configure a Workspace.
type Options struct {
	Deny         []string // extra deny rules, gitignore syntax; a negated one is an error
	MaxPathBytes int      // longest path a caller may write, in bytes; 0 means 4096
	CrossMounts  bool     // let walks enter other file systems
}

const defaultMaxPath = 4096

// Workspace is one open directory. Its methods may be called from any
// goroutine.
type Workspace struct {
	name     string     // base name, escaped: the only name messages show
	given    string     // the configured spelling, cleaned
	roots    [][]string // components of the configured and the real spelling
	root     handle
	ident    meta // of the held root
	deny     *denySet
	maxPath  int
	cross    bool
	fallback bool // no openat2: components are opened one by one
	walled   atomic.Bool
}

// Open opens the directory dir, an absolute path that may lead through links.
// Its errors are plain and carry no advice: what is wrong with dir (relative,
// missing, not a directory, not readable) or with a rule of o.
func Open(dir string, o Options) (*Workspace, error) {
	if !filepath.IsAbs(dir) {
		return nil, errors.New("the workspace path is not absolute")
	}
	if strings.IndexByte(dir, 0) >= 0 {
		return nil, errors.New("the workspace path holds a NUL")
	}
	if o.MaxPathBytes < 0 {
		return nil, errors.New("the longest path may not be negative")
	}
	deny, err := newDenySet(o.Deny)
	if err != nil {
		return nil, err
	}
	given := filepath.Clean(dir)
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, openError(err)
	}
	root, ident, err := openRoot(real)
	if err != nil {
		return nil, openError(err)
	}
	w := &Workspace{
		name: EscapeName(filepath.Base(given)), given: given,
		root: root, ident: ident, deny: deny,
		maxPath: o.MaxPathBytes, cross: o.CrossMounts,
	}
	if w.maxPath == 0 {
		w.maxPath = defaultMaxPath
	}
	if filepath.Dir(given) == given {
		w.name = "workspace"
	}
	w.roots = append(w.roots, rootParts(given))
	if real != given {
		w.roots = append(w.roots, rootParts(real))
	}
	if err := w.Same(); err != nil { // swapped between resolving and opening
		root.close()
		return nil, err
	}
	w.fallback = !w.root.hasOpenat2()
	return w, nil
}

// openError says what is wrong without the path.
func openError(err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("the workspace does not exist")
	case errors.Is(err, os.ErrPermission):
		return errors.New("the workspace is not readable")
	case errors.Is(err, errNotDir):
		return errors.New("the workspace is not a directory")
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("the workspace could not be opened: %w", err)
}

// Close releases the root. Files and folders that are open stay so.
func (w *Workspace) Close() error { return w.root.close() }

// Name is the base name of the root, the only name of it that messages show.
func (w *Workspace) Name() string { return w.name }

// ErrMoved says that the configured name no longer names the open root.
var ErrMoved = errors.New("the workspace was replaced or removed since it was opened")

// Same returns nil while the configured name still names the held root (by
// device and inode), otherwise ErrMoved.
func (w *Workspace) Same() error {
	m, err := statName(w.given)
	if err != nil || !m.same(&w.ident) {
		return ErrMoved
	}
	return nil
}

// Walled reports whether [Workspace.Confine] has made the kernel keep this process
// and its children to the files of the workspace.
func (w *Workspace) Walled() bool { return w.walled.Load() }

// Refuse is the package's Refuse with ws filled in.
func (w *Workspace) Refuse(c Code, a Args) *Denial {
	b := Args{"ws": w.name}
	for k, v := range a {
		b[k] = v
	}
	return Refuse(c, b)
}

// Kind is what a name stands for.
type Kind uint8

const (
	KindFile Kind = iota + 1
	KindDirectory
	KindSymlink
	KindOther // pipe, socket, device
)

// String gives the word of the published schemas.
func (k Kind) String() string {
	switch k {
	case KindFile:
		return "file"
	case KindDirectory:
		return "directory"
	case KindSymlink:
		return "symlink"
	}
	return "other"
}

// Info is what is known of a file or folder.
type Info struct {
	Path     string // resolved, relative to the root, slash-separated; "." is the root
	Kind     Kind
	Size     int64 // bytes
	ModTime  time.Time
	Dev, Ino uint64 // 0 where the system has none
}

// Version is 8 hexadecimal digits over size, modification time and inode: it
// changes when a file is replaced or written to.
func (i Info) Version() string {
	h := fnv.New32a()
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(i.Size))
	binary.LittleEndian.PutUint64(b[8:], uint64(i.ModTime.UnixNano()))
	binary.LittleEndian.PutUint64(b[16:], i.Ino)
	h.Write(b[:])
	return fmt.Sprintf("%08x", h.Sum32())
}

// maxRaces bounds how often a path is resolved again because it changed
// between the check and the opening.
const maxRaces = 8

// OpenFile opens the regular file that path names, as a caller wrote it:
// relative to the root, or absolute in a spelling of the root, or such a
// file URI. The error is a *Denial, or a fault of the system without a path.
func (w *Workspace) OpenFile(path string) (*File, error) {
	q, err := w.parse(path)
	if err != nil {
		return nil, err
	}
	for range maxRaces {
		m, err := w.resolve(&q)
		if err != nil {
			return nil, w.explain(&q, err)
		}
		switch {
		case m.Kind == KindDirectory:
			return nil, w.Refuse(IsADirectory, Args{"path": q.written})
		case m.Kind == KindOther:
			return nil, w.Refuse(SpecialFile, Args{"path": q.written, "kind": m.special})
		case q.mustDir:
			return nil, w.explain(&q, errNotExist)
		}
		f, err := w.openFileBeneath(&m)
		if err == nil {
			return f, nil
		}
		if !raced(err) {
			return nil, w.explain(&q, err)
		}
	}
	return nil, w.explain(&q, errNotExist)
}

// OpenDir opens the folder that path names; path and errors as for OpenFile.
func (w *Workspace) OpenDir(path string) (*Dir, error) {
	q, err := w.parse(path)
	if err != nil {
		return nil, err
	}
	for range maxRaces {
		m, err := w.resolve(&q)
		if err != nil {
			return nil, w.explain(&q, err)
		}
		switch m.Kind {
		case KindFile:
			return nil, w.Refuse(NotADirectory, Args{"path": q.written})
		case KindOther:
			return nil, w.Refuse(SpecialFile, Args{"path": q.written, "kind": m.special})
		}
		d, err := w.openDirBeneath(&m)
		if err == nil {
			return d, nil
		}
		if !raced(err) {
			return nil, w.explain(&q, err)
		}
	}
	return nil, w.explain(&q, errNotExist)
}

// Stat tells what path names, links resolved: a file or a folder. Path and
// errors as for OpenFile.
func (w *Workspace) Stat(path string) (Info, error) {
	q, err := w.parse(path)
	if err != nil {
		return Info{}, err
	}
	m, err := w.resolve(&q)
	switch {
	case err != nil:
		return Info{}, w.explain(&q, err)
	case m.Kind == KindOther:
		return Info{}, w.Refuse(SpecialFile, Args{"path": q.written, "kind": m.special})
	case m.Kind == KindFile && q.mustDir:
		return Info{}, w.explain(&q, errNotExist)
	}
	return m.Info, nil
}

// Locate gives the normal form of a path that need not exist: links in its
// deepest existing part are resolved, the rest is kept as written. It is
// contained and passes the denylist. The error is as for OpenFile, never
// NotFound.
func (w *Workspace) Locate(path string) (rel string, err error) {
	q, err := w.parse(path)
	if err != nil {
		return "", err
	}
	q.missing = true
	m, err := w.resolve(&q)
	if err != nil {
		return "", w.explain(&q, err)
	}
	return m.Path, nil
}

// Denied applies the denylist alone to a relative path and every parent of it;
// for names that do not come from the disk, such as those in a git tree.
func (w *Workspace) Denied(rel string) (rule string, denied bool) {
	return w.deny.denied(rel)
}
