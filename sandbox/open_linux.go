//go:build !portable

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// meta is what the system said about an object; device and inode tell objects
// apart.
type meta struct {
	Info
	special string // "pipe", "socket", "device" for KindOther
	uid     int    // owner
	perm    uint32 // permission bits
	changed time.Time
}

func (m *meta) same(o *meta) bool { return m.Dev == o.Dev && m.Ino == o.Ino && m.Kind == o.Kind }

func rootParts(p string) []string {
	if p = strings.Trim(p, "/"); p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

func sameRootPart(got, want string) bool { return got == want }

// handle is a folder held by descriptor.
type handle struct{ fd *lockedFD }

// lockedFD is a descriptor that cannot be closed while it is in use: a number
// that the system has given to another file would read that one.
type lockedFD struct {
	mu sync.RWMutex
	fd int // -1 once closed
}

var errClosed = errors.New("already closed")

func (l *lockedFD) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fd < 0 {
		return errClosed
	}
	err := unix.Close(l.fd)
	l.fd = -1
	return fault("close", err)
}

// use runs f with the descriptor.
func (l *lockedFD) use(f func(fd int) error) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.fd < 0 {
		return errClosed
	}
	return f(l.fd)
}

func (h handle) close() error { return h.fd.close() }

const (
	// Nothing opened here is inherited, becomes a terminal or blocks.
	commonFlags = unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK | unix.O_NOFOLLOW
	fileFlags   = unix.O_RDONLY | commonFlags
	dirFlags    = unix.O_RDONLY | unix.O_DIRECTORY | commonFlags
	pathFlags   = unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW
	plain       = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
)

func openRoot(real string) (handle, meta, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(real, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	})
	if err != nil {
		if err == unix.ENOTDIR || err == unix.ELOOP {
			return handle{}, meta{}, errNotDir
		}
		return handle{}, meta{}, err
	}
	m, err := statFD(fd)
	if err != nil {
		unix.Close(fd)
		return handle{}, meta{}, err
	}
	m.Path = "."
	return handle{&lockedFD{fd: fd}}, m, nil
}

// statName stats the configured root; it is the only call of this package on a
// name that does not hang on a descriptor.
func statName(name string) (meta, error) {
	var st unix.Stat_t
	if err := retry0(func() error { return unix.Stat(name, &st) }); err != nil {
		return meta{}, err
	}
	return metaOf(&st), nil
}

// ProcDir is a name of the held root. It follows the root, not its name.
func (w *Workspace) ProcDir() string {
	w.root.fd.mu.RLock()
	defer w.root.fd.mu.RUnlock()
	return filepath.Join("/proc/self/fd", strconv.Itoa(w.root.fd.fd))
}

// nowhere is a folder for a child process to work in that holds no name which
// anybody could choose: whatever relative name the child opens or looks up, it
// finds none. It lists the child's own descriptors, as files that tell of them.
const nowhere = "/proc/self/fdinfo"

// ChildFolder is a working directory for child processes in which they meet no
// file of the workspace by a relative name, nor a link to elsewhere. held must be
// the first of a child's extra files; at names the root there. The caller closes
// held. Where the system has no such folder, held is nil and dir is the root.
func (w *Workspace) ChildFolder() (dir string, held *os.File, at string, err error) {
	return w.childFolder(nowhere)
}

func (w *Workspace) childFolder(nowhere string) (dir string, held *os.File, at string, err error) {
	if unix.Access(nowhere, unix.X_OK) != nil {
		return w.ProcDir(), nil, ".", nil
	}
	var fd int
	err = w.root.fd.use(func(root int) (err error) {
		fd, err = unix.FcntlInt(uintptr(root), unix.F_DUPFD_CLOEXEC, 0)
		return fault("dup", err)
	})
	if err != nil {
		return "", nil, "", err
	}
	return nowhere, os.NewFile(uintptr(fd), "root"), "/proc/self/fd/3", nil
}

func (h handle) hasOpenat2() bool {
	err := h.fd.use(func(fd int) error {
		got, err := openat2(fd, ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, plain)
		if err == nil {
			unix.Close(got)
		}
		return err
	})
	return err == nil
}

// maxAgain bounds the attempts while the kernel says that a rename elsewhere
// disturbed the walk.
const maxAgain = 32

func openat2(dirfd int, name string, flags, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: flags, Resolve: resolve}
	for n := 0; ; n++ {
		fd, err := unix.Openat2(dirfd, name, &how)
		if (err == unix.EAGAIN || err == unix.EINTR) && n < maxAgain {
			continue
		}
		return fd, err
	}
}

// lookupPlain asks for rel below the folder, refusing every link but a last
// one.
func (h handle) lookupPlain(rel string) (m meta, err error) {
	err = h.fd.use(func(dirfd int) error {
		fd, err := openat2(dirfd, rel, pathFlags, plain)
		if err != nil {
			return classify(err)
		}
		defer unix.Close(fd)
		m, err = statFD(fd)
		m.Path = rel
		return err
	})
	return m, err
}

// self is what the folder is now.
func (h handle) self() (m meta, err error) {
	err = h.fd.use(func(fd int) error {
		m, err = statFD(fd)
		return err
	})
	m.Path = "."
	return m, err
}

// step looks one name up in the folder, without following it: its kind, a
// handle if it is a folder, its target if it is a link.
func (h handle) step(name string) (m meta, child handle, target string, err error) {
	err = h.fd.use(func(dirfd int) error {
		fd, err := retry(func() (int, error) { return unix.Openat(dirfd, name, pathFlags, 0) })
		if err != nil {
			return classify(err)
		}
		m, err = statFD(fd)
		if err == nil && m.Kind == KindDirectory {
			child = handle{&lockedFD{fd: fd}}
			return nil
		}
		defer unix.Close(fd)
		if err == nil && m.Kind == KindSymlink {
			target, err = readLink(fd)
		}
		return err
	})
	return m, child, target, err
}

// readLink reads the link that fd holds.
func readLink(fd int) (string, error) {
	var buf [4096]byte
	n, err := unix.Readlinkat(fd, "", buf[:])
	if err != nil {
		return "", classify(err)
	}
	if n == len(buf) {
		return "", errTooLong
	}
	return string(buf[:n]), nil
}

// openFileBeneath opens the resolved regular file want and makes sure that it
// is the one that was checked.
func (w *Workspace) openFileBeneath(want *meta) (*File, error) {
	var f *File
	err := w.openBeneath(want.Path, fileFlags, func(fd int) error {
		var err error
		f, err = newFile(fd, want)
		return err
	})
	return f, err
}

func (w *Workspace) openDirBeneath(want *meta) (*Dir, error) {
	var d *Dir
	err := w.openBeneath(want.Path, dirFlags, func(fd int) error {
		var err error
		d, err = w.newDir(fd, want.Path, want)
		return err
	})
	return d, err
}

// openBeneath opens a resolved path below the root. A link anywhere in it is an
// error. take owns the descriptor.
func (w *Workspace) openBeneath(rel string, flags int, take func(fd int) error) error {
	return w.root.fd.use(func(root int) error {
		var fd int
		var err error
		if w.fallback {
			fd, err = walkTo(root, rel, flags)
		} else {
			fd, err = openat2(root, rel, uint64(flags), plain)
		}
		if err != nil {
			return classify(err)
		}
		return take(fd)
	})
}

// walkTo is openat2 with RESOLVE_NO_SYMLINKS, one component at a time.
func walkTo(root int, rel string, flags int) (int, error) {
	at, held := root, -1
	defer func() {
		if held >= 0 {
			unix.Close(held)
		}
	}()
	for {
		name, rest, more := strings.Cut(rel, "/")
		how := flags
		if more {
			how = pathFlags | unix.O_DIRECTORY
		}
		fd, err := retry(func() (int, error) { return unix.Openat(at, name, how, 0) })
		if held >= 0 {
			unix.Close(held)
			held = -1
		}
		if err != nil || !more {
			return fd, err
		}
		at, held, rel = fd, fd, rest
	}
}

func statFD(fd int) (meta, error) {
	var st unix.Stat_t
	if err := retry0(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return meta{}, fault("stat", err)
	}
	return metaOf(&st), nil
}

// lstatAt stats a name in a folder without following it.
func lstatAt(dirfd int, name string) (meta, error) {
	var st unix.Stat_t
	if err := retry0(func() error { return unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return meta{}, classify(err)
	}
	return metaOf(&st), nil
}

func metaOf(st *unix.Stat_t) meta {
	m := meta{Info: Info{
		Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()),
		Dev: uint64(st.Dev), Ino: st.Ino,
	}, uid: int(st.Uid), perm: st.Mode & 0o7777, changed: time.Unix(st.Ctim.Unix())}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		m.Kind = KindFile
	case unix.S_IFDIR:
		m.Kind = KindDirectory
	case unix.S_IFLNK:
		m.Kind = KindSymlink
	case unix.S_IFIFO:
		m.Kind, m.special = KindOther, "pipe"
	case unix.S_IFSOCK:
		m.Kind, m.special = KindOther, "socket"
	default:
		m.Kind, m.special = KindOther, "device"
	}
	return m
}

// classify turns the outcomes a path can have into this package's; the rest
// are faults.
func classify(err error) error {
	switch err {
	case nil:
		return nil
	case unix.ENOENT, unix.ESTALE:
		return errNotExist
	case unix.ENOTDIR:
		return errNotDir
	case unix.ELOOP:
		return errLink
	case unix.EACCES, unix.EPERM:
		return errNoAccess
	case unix.ENAMETOOLONG:
		return errTooLong
	case unix.EXDEV:
		return errOutside
	case unix.ENXIO, unix.ENODEV:
		return errSpecial
	case unix.EAGAIN:
		return errChanged
	}
	return fault("open", err)
}

// fault words an unexpected error of the system; there is no path in it.
func fault(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("workspace: %s: %w", op, err)
}

func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func retry0(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}
