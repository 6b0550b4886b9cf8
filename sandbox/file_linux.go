//go:build !portable

package sandbox

import (
	"io"

	"golang.org/x/sys/unix"
)

// File is a regular file open for reading. Read and ReadAt may run in parallel
// with each other and with Close.
type File struct {
	fd   lockedFD
	info Info   // without Path where dir and name say it
	dir  string // its folder, for a listed file
	name string
}

// newFile takes fd over, if it is the regular file want.
func newFile(fd int, want *meta) (*File, error) {
	m, err := statFD(fd)
	if err == nil && !(m.Kind == KindFile && m.same(want)) {
		err = errChanged
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	m.Path = want.Path
	return &File{fd: lockedFD{fd: fd}, info: m.Info}, nil
}

// Info is what the open descriptor was when it was opened.
func (f *File) Info() Info {
	i := f.info
	if i.Path == "" {
		i.Path = join(f.dir, f.name)
	}
	return i
}

// Size is Info().Size.
func (f *File) Size() int64 { return f.info.Size }

// Changed reports whether size or modification time differ from Info, or
// cannot be had any more.
func (f *File) Changed() bool {
	var m meta
	err := f.fd.use(func(fd int) (err error) {
		m, err = statFD(fd)
		return err
	})
	return err != nil || m.Size != f.info.Size || !m.ModTime.Equal(f.info.ModTime)
}

// Read reads from the current position.
func (f *File) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.fd.mu.RLock()
	defer f.fd.mu.RUnlock()
	if f.fd.fd < 0 {
		return 0, errClosed
	}
	for {
		n, err := unix.Read(f.fd.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, fault("read", err)
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// ReadAt reads at a position in bytes, as io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	f.fd.mu.RLock()
	defer f.fd.mu.RUnlock()
	if f.fd.fd < 0 {
		return 0, errClosed
	}
	done := 0
	for done < len(p) {
		n, err := unix.Pread(f.fd.fd, p[done:], off+int64(done))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return done, fault("read", err)
		case n == 0:
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// Close closes the file.
func (f *File) Close() error { return f.fd.close() }
