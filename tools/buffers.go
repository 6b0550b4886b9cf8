package tools

import (
	"math/bits"
	"sync"
	"unsafe"
	"weak"
)

// spareBuffers are large buffers that nobody uses. Each lasts until the next
// collection at most, so that an idle server holds none, and a search of many
// large files does not make garbage of one after the other.
type spareBuffers struct {
	mu   sync.Mutex
	list []weak.Pointer[[]byte]
}

var spares spareBuffers

// get returns a buffer of at least n bytes, less than twice as many.
func (s *spareBuffers) get(n int64) *[]byte {
	size := 1 << bits.Len64(uint64(n-1))
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.list[:0]
	var found *[]byte
	for _, w := range s.list {
		b := w.Value()
		if found == nil && b != nil && len(*b) == size {
			found = b
		} else if b != nil {
			live = append(live, w)
		}
	}
	clear(s.list[len(live):])
	s.list = live
	if found == nil {
		b := make([]byte, size)
		found = &b
	}
	return found
}

// put gives a buffer back. Nothing may refer to it any more.
func (s *spareBuffers) put(b *[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, weak.Make(b))
}

// view reads bytes as a string without a copy. The string must not outlive the
// bytes, nor see them change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf is the opposite: the bytes must not be written to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
