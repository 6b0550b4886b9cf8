//go:build unix

package redos

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// No byte behind the text is read: a page that may not be touched lies there.
func TestWindowsStayInTheText(t *testing.T) {
	page := unix.Getpagesize()
	m, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	if err := unix.Mprotect(m[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	var never, last window
	never[0].add('x')
	last[0].add('y')
	last[1], last[2] = anyByte, anyByte
	w := newWindows([]window{never, last})
	for n := range 200 {
		b := m[page-n : page : page]
		s := unsafe.String(unsafe.SliceData(b), n)
		clear(b)
		if i, _ := w.next(s, 0, n); i >= 0 {
			t.Fatalf("%d bytes: found at %d", n, i)
		}
		if i := indexEither(s, 'x', 'y'); i >= 0 {
			t.Fatalf("%d bytes: found at %d", n, i)
		}
		if n > 0 {
			b[n-1] = 'y'
			if i, _ := w.next(s, 0, n); i != n-1 {
				t.Fatalf("%d bytes: found at %d", n, i)
			}
		}
	}
}
