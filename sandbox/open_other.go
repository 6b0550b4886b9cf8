//go:build !linux || portable

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// This is the portable door: os.Root keeps every name beneath the root, the
// resolver above it finds links itself, and os.SameFile ties what was opened
// to what was checked.

// meta is what the system said about an object. The standard library's answer
// tells objects apart, as device and inode are not to be had everywhere.
type meta struct {
	Info
	special string // "pipe", "socket", "device" for KindOther
	uid     int    // owner, -1 where there is none
	perm    uint32 // permission bits
	changed time.Time
	info    fs.FileInfo
}

func (m *meta) same(o *meta) bool {
	return m.Kind == o.Kind && m.info != nil && o.info != nil && os.SameFile(m.info, o.info)
}

func rootParts(p string) []string {
	var parts []string
	for part := range strings.SplitSeq(filepath.ToSlash(p), "/") {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func sameRootPart(got, want string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(got, want)
	}
	return got == want
}

// handle is a folder held open.
type handle struct{ root *os.Root }

var errClosed = errors.New("already closed")

func (h handle) close() error { return fault("close", h.root.Close()) }

func (h handle) hasOpenat2() bool { return false }

func (h handle) lookupPlain(string) (meta, error) { return meta{}, errLink }

func openRoot(real string) (handle, meta, error) {
	info, err := os.Stat(real)
	if err != nil {
		return handle{}, meta{}, err
	}
	if !info.IsDir() {
		return handle{}, meta{}, errNotDir
	}
	r, err := os.OpenRoot(real)
	if err != nil {
		return handle{}, meta{}, err
	}
	m, err := statRoot(r)
	if err != nil {
		r.Close()
		return handle{}, meta{}, err
	}
	return handle{r}, m, nil
}

func statRoot(r *os.Root) (meta, error) {
	info, err := r.Stat(".")
	if err != nil {
		return meta{}, classify(err)
	}
	m := metaOf(info)
	m.Path = "."
	return m, nil
}

// self is what the folder is now.
func (h handle) self() (meta, error) { return statRoot(h.root) }

func statName(name string) (meta, error) {
	info, err := os.Stat(name)
	if err != nil {
		return meta{}, err
	}
	return metaOf(info), nil
}

// ProcDir is the root's real path: a name, so whoever starts a child there
// calls Same before and after.
func (w *Workspace) ProcDir() string { return w.root.root.Name() }

// ChildFolder gives the root itself: this system has no folder that holds no
// names for certain.
func (w *Workspace) ChildFolder() (dir string, held *os.File, at string, err error) {
	return w.ProcDir(), nil, ".", nil
}

func (h handle) step(name string) (m meta, child handle, target string, err error) {
	info, err := h.root.Lstat(name)
	if err != nil {
		return m, child, "", classify(err)
	}
	m = metaOf(info)
	switch m.Kind {
	case KindSymlink:
		target, err = h.root.Readlink(name)
		if err != nil {
			return m, child, "", classify(err)
		}
		if runtime.GOOS == "windows" {
			target = filepath.ToSlash(target)
		}
	case KindDirectory:
		r, err := h.openFolder(name, &m)
		if err != nil {
			return m, child, "", err
		}
		child = handle{r}
	}
	return m, child, target, nil
}

// openFolder opens the folder name, if it is want.
func (h handle) openFolder(name string, want *meta) (*os.Root, error) {
	r, err := h.root.OpenRoot(name)
	if err != nil {
		return nil, classify(err)
	}
	got, err := statRoot(r)
	if err == nil && !got.same(want) {
		err = errChanged
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (w *Workspace) openFileBeneath(want *meta) (*File, error) {
	return w.root.openFile(want.Path, want)
}

func (h handle) openFile(name string, want *meta) (*File, error) {
	// Looked at once more right before opening, so that a pipe is not opened.
	info, err := h.root.Lstat(name)
	if err != nil {
		return nil, classify(err)
	}
	if now := metaOf(info); !now.same(want) {
		return nil, errChanged
	}
	f, err := h.root.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, classify(err)
	}
	info, err = f.Stat()
	if err != nil {
		f.Close()
		return nil, classify(err)
	}
	m := metaOf(info)
	if m.Kind != KindFile || !m.same(want) {
		f.Close()
		return nil, errChanged
	}
	m.Path = want.Path
	return &File{f: f, info: m.Info}, nil
}

func (w *Workspace) openDirBeneath(want *meta) (*Dir, error) {
	r, err := w.root.openFolder(want.Path, want)
	if err != nil {
		return nil, err
	}
	return w.newDir(handle{r}, want.Path, want), nil
}

func metaOf(info fs.FileInfo) meta {
	m := meta{Info: Info{Size: info.Size(), ModTime: info.ModTime()}, info: info}
	m.Dev, m.Ino, m.uid = owner(info)
	m.perm, m.changed = uint32(info.Mode().Perm()), changeTime(info)
	switch mode := info.Mode(); {
	case mode.IsRegular():
		m.Kind = KindFile
	case mode.IsDir():
		m.Kind = KindDirectory
	case mode&fs.ModeSymlink != 0:
		m.Kind = KindSymlink
	case mode&fs.ModeNamedPipe != 0:
		m.Kind, m.special = KindOther, "pipe"
	case mode&fs.ModeSocket != 0:
		m.Kind, m.special = KindOther, "socket"
	default:
		m.Kind, m.special = KindOther, "device"
	}
	return m
}

func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errNotExist
	case errors.Is(err, fs.ErrPermission):
		return errNoAccess
	case errors.Is(err, fs.ErrClosed):
		return errClosed
	}
	if e := classifyErrno(err); e != nil {
		return e
	}
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Err.Error() == "path escapes from parent" {
		return errChanged // only names that were no links are given to os.Root
	}
	return fault("open", err)
}

// fault words an unexpected error of the system without its path.
func fault(op string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("workspace: %s: %w", op, err)
}

// File is a regular file open for reading.
type File struct {
	f    *os.File
	info Info
}

// Info is what the open file was when it was opened.
func (f *File) Info() Info { return f.info }

// Size is Info().Size.
func (f *File) Size() int64 { return f.info.Size }

// Changed reports whether size or modification time differ from Info, or
// cannot be had any more.
func (f *File) Changed() bool {
	info, err := f.f.Stat()
	return err != nil || info.Size() != f.info.Size || !info.ModTime().Equal(f.info.ModTime)
}

// Read reads from the current position.
func (f *File) Read(p []byte) (int, error) { return clean(f.f.Read(p)) }

// ReadAt reads at a position in bytes, as io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return clean(f.f.ReadAt(p, off)) }

// Close closes the file.
func (f *File) Close() error { return fault("close", f.f.Close()) }

func clean(n int, err error) (int, error) {
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, fault("read", err)
}

// Dir is an open folder beneath the root. Its methods may be called from any
// goroutine.
type Dir struct {
	ws     *Workspace
	h      handle
	path   string
	folded string // path for the denylist
	info   Info
	mark   Mark // as it was when it was opened
	read   sync.Mutex
}

func (w *Workspace) newDir(h handle, path string, m *meta) *Dir {
	d := &Dir{ws: w, h: h, path: path, folded: foldPath(foldDir(path)), info: m.Info, mark: m.mark()}
	d.info.Path = path
	return d
}

// Close closes the folder.
func (d *Dir) Close() error { return d.h.close() }

// Info is what the folder was when it was opened.
func (d *Dir) Info() Info { return d.info }

// Entries reads the folder from its start: at most max names (0 = all) without
// "." and "..", in the order of their bytes. more says that names are left;
// which ones were read is then the file system's choice.
func (d *Dir) Entries(max int) (entries []Entry, more bool, err error) {
	d.read.Lock()
	defer d.read.Unlock()
	f, err := d.h.root.Open(".")
	if err != nil {
		return nil, false, d.refuse("", classify(err))
	}
	defer f.Close()
	want := -1
	if max > 0 {
		want = max + 1
	}
	list, err := f.ReadDir(want)
	if err != nil && err != io.EOF {
		return nil, false, d.refuse("", classify(err))
	}
	if max > 0 && len(list) > max {
		list, more = list[:max], true
	}
	for _, e := range list {
		entries = append(entries, Entry{e.Name(), kindOf(e.Type())})
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, more, nil
}

func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return KindFile
	case mode.IsDir():
		return KindDirectory
	case mode&fs.ModeSymlink != 0:
		return KindSymlink
	}
	return KindOther
}

func (d *Dir) lstat(name string) (meta, error) {
	info, err := d.h.root.Lstat(name)
	if err != nil {
		return meta{}, classify(err)
	}
	m := metaOf(info)
	m.Path = join(d.path, name)
	return m, nil
}

// Stat tells what name is, without following it.
func (d *Dir) Stat(name string) (Info, error) {
	if err := d.check(name); err != nil {
		return Info{}, err
	}
	m, err := d.lstat(name)
	if err != nil {
		return Info{}, d.refuse(name, err)
	}
	return m.Info, nil
}

// OpenFile opens the regular file name in this folder; a link is not followed.
func (d *Dir) OpenFile(name string) (*File, error) {
	if err := d.check(name); err != nil {
		return nil, err
	}
	f, err := d.openRegular(name)
	if err != nil {
		return nil, d.refuse(name, err)
	}
	return f, nil
}

// openRegular is OpenFile without the denylist.
func (d *Dir) openRegular(name string) (*File, error) {
	m, err := d.lstat(name)
	if err == nil {
		err = d.wrongKind(name, &m, KindFile)
	}
	if err != nil {
		return nil, err
	}
	f, err := d.h.openFile(name, &m)
	if err != nil {
		return nil, err
	}
	f.info.Path = m.Path
	return f, nil
}

// OpenListed is OpenFile, for a name that Entries has just given as a regular
// file.
func (p Passed) OpenListed() (*File, error) {
	if p.d == nil {
		return nil, errPassed
	}
	return p.d.OpenFile(p.name)
}

// OpenDir opens the folder name in this folder; a link is not followed.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	if err := d.check(name); err != nil {
		return nil, err
	}
	m, err := d.lstat(name)
	if err == nil {
		err = d.wrongKind(name, &m, KindDirectory)
	}
	if err == nil && !d.ws.cross && m.Dev != d.info.Dev {
		err = errOutside
	}
	if err != nil {
		return nil, d.refuse(name, err)
	}
	r, err := d.h.openFolder(name, &m)
	if err != nil {
		return nil, d.refuse(name, err)
	}
	return d.ws.newDir(handle{r}, m.Path, &m), nil
}

// Link resolves the link name. to is the resolved path and kind what is there,
// for LinkInside only.
func (d *Dir) Link(name string) (to string, kind Kind, s LinkState) {
	if !singleName(name) {
		return "", 0, LinkBroken
	}
	m, err := d.ws.resolveParts(strings.Split(join(foldDir(d.path), name), "/"), false)
	return linkResult(m, err)
}
