package redos

import (
	"strings"
	"unsafe"
)

// Look reports whether b holds NUL, which no text does, and if not, what MayMatch says of it. Where both can be told in
// one pass over b, it takes one.
func (r *Regex) Look(b []byte) (nul, may bool) {
	s := view(b)
	if at, ok := r.filter.firstOrNUL(s); ok && !r.multiline {
		if at < 0 || s[at] == 0 {
			return at >= 0, false
		}
		// The bytes before it need no other look: what is there is neither NUL nor a candidate.
		if strings.IndexByte(s[at:], 0) >= 0 {
			return true, false
		}
		return false, r.MayMatch(b)
	}
	if strings.IndexByte(s, 0) >= 0 {
		return true, false
	}
	return false, r.MayMatch(b)
}

// firstOrNUL returns a place that neither NUL nor anything that the filter looks for stands before, and that one of them
// stands at, or -1. ok is false where the filter does not tell that in one pass.
func (f *filter) firstOrNUL(s string) (at int, ok bool) {
	switch {
	case f == nil || !vectors:
		return 0, false
	case f.windows != nil:
		for at = 0; ; at++ {
			var buckets byte
			if at, buckets = f.orNUL.next(s, at, len(s)); at < 0 || s[at] == 0 || len(f.finders) == 0 || f.literal(s, at, 0, buckets) >= 0 {
				return at, true
			}
		}
	case len(f.finders) > 1 || f.finders[0].fold[f.finders[0].rare]:
		return 0, false
	}
	l := &f.finders[0]
	misses := 0
	for at = 0; at < len(s); at++ {
		j := indexEither(s[at:], l.text[l.rare], 0)
		if j < 0 {
			break
		}
		if at += j; s[at] == 0 {
			return at, true
		}
		if start := at - l.rare; start >= 0 && l.at(s[start:]) {
			return at, true
		}
		if misses++; misses > 8+at>>5 { // the rare byte is not rare here
			return 0, false
		}
	}
	return -1, true
}

// indexEither returns the place of the first byte of s that is a or b, or -1.
func indexEither(s string, a, b byte) int {
	at := 0
	if vectors && len(s) >= blockBytes {
		blocks := len(s) / blockBytes
		if i := scanEither(unsafe.StringData(s), blocks, a, b); i >= 0 {
			return i
		}
		at = blocks * blockBytes
	}
	for ; at < len(s); at++ {
		if c := s[at]; c == a || c == b {
			return at
		}
	}
	return -1
}
