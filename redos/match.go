package redos

import (
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// keepRunes bounds the buffers kept for reuse, in runes.
const keepRunes = 64 << 10

// retries is how often a timeout that came too early is tried again.
const retries = 3

// run is what one call needs; kept between calls so that a match on an ASCII line allocates nothing.
type run struct {
	runes    []rune
	yield    func(regexp2.MatchView) bool // bound once: a method value allocates
	s        string
	deadline time.Time
	each     func(start, end int) bool
	ascii    bool
	// one match
	start, end int
	ok         bool
	late       bool
	resume     int       // rune to go on from after a match
	since      time.Time // when the search for the current match began; kept by Each
	// rune to byte, both of the last known position; only forward
	runePos, bytePos int
}

var runs = sync.Pool{New: func() any {
	x := new(run)
	x.yield = x.match
	return x
}}

// Find returns the byte offsets of the first match in s: one line without its terminator or, with Multiline, a text.
// The zero deadline means none. Errors are ErrTimeout, ErrStack, ErrTooLong and ErrEngine.
func (r *Regex) Find(s string, deadline time.Time) (start, end int, ok bool, err error) {
	return r.FindFrom(s, 0, deadline)
}

// FindFrom returns the first match of s that starts at byte from or later; assertions see the text before from. To go
// on after an empty match, pass a position one character further; Each does all that in one pass.
func (r *Regex) FindFrom(s string, from int, deadline time.Time) (start, end int, ok bool, err error) {
	if from < 0 || from > len(s) {
		return 0, 0, false, nil
	}
	if r.plain != nil {
		start, end = r.plain.find(s, from)
		return start, end, start >= 0, nil
	}
	x, err := r.prepare(s, from, deadline)
	if err != nil {
		return 0, 0, false, err
	}
	defer x.release()
	err = r.search(x)
	return x.start, x.end, x.ok, err
}

// Each calls yield with the byte offsets of every match in s from byte from on, in order and not overlapping, until
// yield returns false. The text is decoded once. Matches seen before an error have been yielded.
func (r *Regex) Each(s string, from int, deadline time.Time, yield func(start, end int) bool) error {
	if from < 0 || from > len(s) {
		return nil
	}
	if r.plain != nil {
		for n := 0; ; n++ {
			start, end := r.plain.find(s, from)
			if start < 0 || !yield(start, end) {
				return nil
			}
			if from = end; start == end {
				from++
			}
			if n&255 == 255 && !deadline.IsZero() && time.Now().After(deadline) {
				return ErrTimeout
			}
		}
	}
	x, err := r.prepare(s, from, deadline)
	if err != nil {
		return err
	}
	defer x.release()
	x.each = yield
	return r.search(x)
}

func (r *Regex) prepare(s string, from int, deadline time.Time) (*run, error) {
	if len(s) > r.maxText {
		return nil, ErrTooLong
	}
	x := runs.Get().(*run)
	x.s, x.deadline = s, deadline
	x.start, x.end, x.ok, x.late, x.each = 0, 0, false, false, nil
	x.decode(from)
	return x, nil
}

func (x *run) release() {
	x.s, x.each = "", nil
	if cap(x.runes) > keepRunes {
		x.runes = nil
	}
	runs.Put(x)
}

// decode fills runes with s and sets the start position to byte from, or to the next character when from lies inside one.
func (x *run) decode(from int) {
	if cap(x.runes) < len(x.s) {
		x.runes = make([]rune, len(x.s)+len(x.s)/4)
	}
	buf := x.runes[:len(x.s)]
	for i := 0; i < len(x.s); i++ {
		c := x.s[i]
		if c >= utf8.RuneSelf {
			x.ascii = false
			x.decodeSlow(buf, i, from)
			return
		}
		buf[i] = rune(c)
	}
	x.ascii, x.runes = true, buf
	x.runePos, x.bytePos = from, from
}

func (x *run) decodeSlow(buf []rune, n, from int) {
	x.runePos, x.bytePos = -1, 0
	if from <= n {
		x.runePos, x.bytePos = from, from
	}
	base := n
	for i, c := range x.s[base:] {
		if x.runePos < 0 && base+i >= from {
			x.runePos, x.bytePos = n, base+i
		}
		buf[n] = c
		n++
	}
	if x.runePos < 0 {
		x.runePos, x.bytePos = n, len(x.s)
	}
	x.runes = buf[:n]
}

// byteAt turns a rune index at or after the last one asked for into a byte offset.
func (x *run) byteAt(i int) int {
	if x.ascii {
		return i
	}
	for x.runePos < i {
		size := 1
		if x.s[x.bytePos] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(x.s[x.bytePos:])
		}
		x.bytePos += size
		x.runePos++
	}
	return x.bytePos
}

func (x *run) match(v regexp2.MatchView) bool {
	at, n, ok := v.GroupRange(0)
	if !ok {
		return false
	}
	x.start, x.ok = x.byteAt(at), true
	x.end = x.byteAt(at + n)
	if x.each == nil {
		return false
	}
	if !x.each(x.start, x.end) {
		return false
	}
	if x.resume = at + n; n == 0 {
		x.resume++
	}
	x.since = time.Now()
	x.late = !x.deadline.IsZero() && x.since.After(x.deadline)
	return !x.late
}

// search runs the engine. Its clock is coarse and may jump when the machine is busy, so a timeout that comes before
// its time is tried again from where the search stood.
func (r *Regex) search(x *run) (err error) {
	defer func() {
		if recover() != nil {
			x.ok, err = false, ErrEngine
		}
	}()
	x.resume = x.runePos
	for try := 0; ; try++ {
		x.since = time.Now()
		limit, re := r.timeout, r.re
		if !x.deadline.IsZero() {
			left := x.deadline.Sub(x.since)
			if left <= 0 {
				return ErrTimeout
			}
			if left < limit { // rare: only while the deadline is near. The copy shares the engine's pools.
				limit = left
				short := *r.re
				short.MatchTimeout = left
				re = &short
			}
		}
		if x.resume > len(x.runes) {
			return nil
		}
		err := re.FindRunesMatches(x.runes, x.resume, x.yield)
		if err == nil && !x.late {
			return nil
		}
		x.ok = false
		if errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
			return ErrStack
		}
		if x.late || try == retries || time.Since(x.since) >= limit {
			return ErrTimeout
		}
	}
}
