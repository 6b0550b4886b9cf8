package redos

import "unsafe"

// A window is a run of three classes of bytes. A set of windows, one of which
// stands in whatever a pattern matches, is found at the speed of reading where the
// processor has vectors, and says more about a text than its rarest byte.

const (
	windowLen  = 3
	maxBuckets = 8 // one bit each
	blockBytes = 32
)

type window [windowLen]byteSet

// nibbles holds, for each byte of a window, the buckets that its lower half leaves,
// then those that its upper half leaves. Both together may leave one more than the
// byte.
type nibbles [2 * windowLen][16]byte

// windows is a set of windows in buckets.
type windows struct {
	nibbles nibbles
	buckets [windowLen][256]byte // that a byte leaves
	// end holds the buckets of which no byte is asked behind the text.
	end [windowLen]byte
}

// newWindows fills the buckets. More windows than those share them, which finds
// more than is there.
func newWindows(list []window) *windows {
	w := &windows{}
	for i, win := range list {
		bucket := byte(1) << (i % maxBuckets)
		for k, set := range win {
			if set == anyByte {
				w.end[k] |= bucket
			}
			for c := range 256 {
				if set.has(c) {
					w.buckets[k][c] |= bucket
					w.nibbles[2*k][c&15] |= bucket
					w.nibbles[2*k+1][c>>4] |= bucket
				}
			}
		}
	}
	return w
}

// at returns the buckets whose windows may stand at s[i:].
func (w *windows) at(s string, i int) byte {
	b := w.buckets[0][s[i]]
	for k := 1; k < windowLen && b != 0; k++ {
		if i+k < len(s) {
			b &= w.buckets[k][s[i+k]]
		} else {
			b &= w.end[k]
		}
	}
	return b
}

// next returns the first place in s[from:to] at which a window begins, and the
// buckets of those that do, or -1. It may end behind to.
func (w *windows) next(s string, from, to int) (int, byte) {
	if vectors {
		for from < to {
			blocks := (min(to, len(s)-windowLen+1) - from) / blockBytes
			if blocks <= 0 {
				break
			}
			i := scanBlocks((*byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), from)), blocks, &w.nibbles)
			if i < 0 {
				from += blocks * blockBytes
				break
			}
			if from += i; w.at(s, from) != 0 {
				return from, w.at(s, from)
			}
			from++
		}
	}
	for ; from < to; from++ {
		if b := w.at(s, from); b != 0 {
			return from, b
		}
	}
	return -1, 0
}
