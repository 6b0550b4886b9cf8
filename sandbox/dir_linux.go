//go:build !portable

package sandbox

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Dir is an open folder beneath the root. Names are looked up in the folder
// itself, whatever has become of its path. Its methods may be called from any
// goroutine.
type Dir struct {
	ws     *Workspace
	fd     lockedFD
	path   string
	folded string // path for the denylist
	info   Info
	mark   Mark       // as it was when it was opened
	read   sync.Mutex // the read position is shared
}

// newDir takes fd over, if it is the folder want.
func (w *Workspace) newDir(fd int, path string, want *meta) (*Dir, error) {
	m, err := statFD(fd)
	if err == nil && (m.Kind != KindDirectory || want != nil && !m.same(want)) {
		err = errChanged
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	m.Path = path
	return &Dir{ws: w, fd: lockedFD{fd: fd}, path: path, folded: foldPath(foldDir(path)), info: m.Info, mark: m.mark()}, nil
}

// Close closes the folder.
func (d *Dir) Close() error { return d.fd.close() }

// Info is what the folder was when it was opened.
func (d *Dir) Info() Info { return d.info }

// direntBuf is the reading buffer; it is large, so it is kept.
type direntBuf [64 << 10]byte

var direntBufs = sync.Pool{New: func() any { return new(direntBuf) }}

// Entries reads the folder from its start: at most max names (0 = all) without
// "." and "..", in the order of their bytes. more says that names are left;
// which ones were read is then the file system's choice.
func (d *Dir) Entries(max int) (entries []Entry, more bool, err error) {
	d.read.Lock()
	defer d.read.Unlock()
	buf := direntBufs.Get().(*direntBuf)
	defer direntBufs.Put(buf)
	err = d.fd.use(func(fd int) error {
		if _, err := unix.Seek(fd, 0, 0); err != nil {
			return fault("seek", err)
		}
		entries, more, err = readEntries(fd, buf[:], max)
		return err
	})
	if err != nil {
		return nil, false, d.refuse("", err)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, more, nil
}

// readEntries reads records of getdents64 until max entries are gathered.
func readEntries(fd int, buf []byte, max int) (entries []Entry, more bool, err error) {
	var b batch
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, buf) })
		if err == unix.ENOENT { // removed while open
			return entries, false, nil
		}
		if err != nil {
			return nil, false, classify(err)
		}
		if n <= 0 {
			return entries, false, nil
		}
		left := 0
		if max > 0 {
			left = max - len(entries) + 1 // one more tells that names are left
		}
		full := b.take(buf[:n], left)
		entries = b.entries(fd, entries)
		if full {
			return entries[:max], true, nil
		}
	}
}

// batch holds the names of one buffer, which share one string.
type batch struct {
	names []byte // the front of the buffer, once the names are moved there
	spans []span
}

type span struct {
	start, end int
	kind       Kind
}

// take gathers at most max names (0 = all) and reports whether it stopped at
// the limit. It overwrites records.
func (b *batch) take(records []byte, max int) (full bool) {
	b.spans = b.spans[:0]
	end := 0
	eachRecord(records, func(name []byte, dtype *byte) bool {
		kind := kindOf(*dtype)
		copy(records[end:], name) // never reaches the next record
		b.spans = append(b.spans, span{end, end + len(name), kind})
		end += len(name)
		full = max > 0 && len(b.spans) == max
		return !full
	})
	b.names = records[:end]
	return full
}

// entries appends what was taken; a kind that the file system does not tell is
// asked for.
func (b *batch) entries(fd int, to []Entry) []Entry {
	names := string(b.names)
	to = slices.Grow(to, len(b.spans))
	for _, s := range b.spans {
		e := Entry{names[s.start:s.end], s.kind}
		if e.Kind == 0 {
			m, err := lstatAt(fd, e.Name)
			if err != nil {
				continue // gone meanwhile
			}
			e.Kind = m.Kind
		}
		to = append(to, e)
	}
	return to
}

// eachRecord calls f with the name and the place of the type of each record,
// but for "." and "..", until it returns false. f may overwrite what it has
// seen.
func eachRecord(b []byte, f func(name []byte, dtype *byte) bool) {
	const (
		reclenAt = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
		typeAt   = int(unsafe.Offsetof(unix.Dirent{}.Type))
		nameAt   = int(unsafe.Offsetof(unix.Dirent{}.Name))
	)
	for len(b) > nameAt {
		reclen := int(binary.NativeEndian.Uint16(b[reclenAt:]))
		if reclen <= nameAt || reclen > len(b) {
			return
		}
		name, dtype := b[nameAt:reclen], &b[typeAt]
		if z := bytes.IndexByte(name, 0); z >= 0 {
			name = name[:z]
		}
		b = b[reclen:]
		if len(name) == 0 || string(name) == "." || string(name) == ".." {
			continue
		}
		if !f(name, dtype) {
			return
		}
	}
}

func kindOf(dtype byte) Kind {
	switch dtype {
	case unix.DT_REG:
		return KindFile
	case unix.DT_DIR:
		return KindDirectory
	case unix.DT_LNK:
		return KindSymlink
	case unix.DT_UNKNOWN:
		return 0
	}
	return KindOther
}

func (d *Dir) lstat(name string) (m meta, err error) {
	err = d.fd.use(func(fd int) (err error) {
		m, err = lstatAt(fd, name)
		return err
	})
	m.Path = join(d.path, name)
	return m, err
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
func (d *Dir) openRegular(name string) (f *File, err error) {
	err = d.fd.use(func(dirfd int) error {
		m, err := lstatAt(dirfd, name)
		if err != nil {
			return err
		}
		if err := d.wrongKind(name, &m, KindFile); err != nil {
			return err
		}
		fd, err := retry(func() (int, error) { return unix.Openat(dirfd, name, fileFlags, 0) })
		if err != nil {
			return classify(err)
		}
		m.Path = join(d.path, name)
		f, err = newFile(fd, &m)
		return err
	})
	return f, err
}

// OpenListed opens a name that Entries has just given as a regular file. It does
// not ask again what the name is, which a search of many files feels: what has
// taken its place meanwhile is refused once it is open, a link before that.
func (p Passed) OpenListed() (*File, error) {
	if p.d == nil {
		return nil, errPassed
	}
	f := &File{}
	if err := p.d.openListed(f, p.name); err != nil {
		return nil, p.d.refuse(p.name, err)
	}
	return f, nil
}

func (d *Dir) openListed(f *File, name string) error {
	d.fd.mu.RLock()
	defer d.fd.mu.RUnlock()
	if d.fd.fd < 0 {
		return errClosed
	}
	for {
		fd, err := openatShort(d.fd.fd, name, fileFlags)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return classify(err)
		}
		m, err := statFD(fd)
		if err == nil && m.Kind != KindFile {
			err = errChanged
		}
		if err != nil {
			unix.Close(fd)
			return err
		}
		f.fd.fd, f.info, f.dir, f.name = fd, m.Info, d.path, name
		return nil
	}
}

// openatShort is unix.Openat, which allocates, for a single name.
func openatShort(dirfd int, name string, flags int) (int, error) {
	var b [256]byte // few file systems allow longer names
	if len(name) >= len(b) {
		return unix.Openat(dirfd, name, flags, 0)
	}
	copy(b[:], name)
	fd, _, err := unix.Syscall6(unix.SYS_OPENAT, uintptr(dirfd), uintptr(unsafe.Pointer(&b[0])), uintptr(flags), 0, 0, 0)
	if err != 0 {
		return -1, err
	}
	return int(fd), nil
}

// OpenDir opens the folder name in this folder; a link is not followed, and
// another file system or bind mount is entered only with CrossMounts.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	if err := d.check(name); err != nil {
		return nil, err
	}
	var sub *Dir
	err := d.fd.use(func(dirfd int) error {
		var fd int
		var err error
		if d.ws.fallback {
			fd, err = retry(func() (int, error) { return unix.Openat(dirfd, name, dirFlags, 0) })
		} else {
			how := uint64(plain)
			if !d.ws.cross {
				how |= unix.RESOLVE_NO_XDEV
			}
			fd, err = openat2(dirfd, name, dirFlags, how)
		}
		if err == unix.ENOTDIR || err == unix.ELOOP {
			return d.notFolder(dirfd, name)
		}
		if err != nil {
			return classify(err)
		}
		sub, err = d.ws.newDir(fd, join(d.path, name), nil)
		if err == nil && !d.ws.cross && sub.info.Dev != d.info.Dev {
			sub.Close()
			sub, err = nil, errOutside
		}
		return err
	})
	if err != nil {
		return nil, d.refuse(name, err)
	}
	return sub, nil
}

// notFolder says what name is instead of a folder.
func (d *Dir) notFolder(dirfd int, name string) error {
	m, err := lstatAt(dirfd, name)
	if err == nil {
		err = d.wrongKind(name, &m, KindDirectory)
	}
	if err == nil { // it is one by now
		err = errChanged
	}
	return err
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
