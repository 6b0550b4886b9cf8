package tools

import (
	"runtime"
	"testing"
)

// A buffer comes back as long as nothing was collected, and never to two.
func TestSpareBuffers(t *testing.T) {
	var s spareBuffers
	for _, n := range []int64{1, 1 << 20, 1<<20 + 1, 4 << 20} {
		b := s.get(n)
		if l := int64(len(*b)); l < n || l >= 2*n && n > 1 {
			t.Errorf("%d bytes for %d", l, n)
		}
		s.put(b)
		again, other := s.get(n), s.get(n)
		if again == other {
			t.Error("one buffer for two")
		}
		runtime.KeepAlive(b)
		if again != b {
			t.Error("a spare buffer was not used")
		}
		s.put(again)
		s.put(other)
	}
	runtime.GC()
	runtime.GC()
	s.get(1)
	if len(s.list) != 0 {
		t.Errorf("%d buffers outlast a collection", len(s.list))
	}
}

// The first bytes decide as the whole table does.
func TestMagicBeginnings(t *testing.T) {
	for _, f := range formats {
		head := append(make([]byte, f.at), f.mark...)
		head = append(head, 0, 1, 2)
		if _, mime, ok := magic(head); !ok || mime != f.mime {
			t.Errorf("%s: %s %v", f.mime, mime, ok)
		}
		if f.at > 0 {
			copy(head, "RIFF")
			if _, _, ok := magic(head); !ok {
				t.Errorf("%s behind other text", f.mime)
			}
		}
	}
	for _, text := range []string{"", "x", "package main", "PK is no archive"} {
		if _, _, ok := magic([]byte(text)); ok {
			t.Errorf("%q counts as binary", text)
		}
	}
}
