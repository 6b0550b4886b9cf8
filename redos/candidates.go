package redos

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// MayMatch reports whether some line of b, or with Multiline b itself, may match: false only when none can. Any bytes
// will do: those that are not UTF-8 count as U+FFFD, one each. The answer about a text that is UTF-8 also holds for every
// text made from it by putting NUL in place of some bytes other than newlines. The engine is not run.
func (r *Regex) MayMatch(b []byte) bool {
	if !r.Selective() {
		return true
	}
	if len(b) == 0 {
		return false
	}
	s := view(b)
	if !r.multiline {
		c := r.Candidates(s)
		defer c.Close()
		c.one = true
		return c.Next(0) >= 0
	}
	if r.filter != nil {
		return r.filter.next(s, 0) >= 0
	}
	t := r.automaton.get()
	defer r.automaton.put(t)
	return t == nil || t.line(s)
}

// Selective reports whether there is a prefilter at all.
func (r *Regex) Selective() bool { return r.filter != nil || r.automaton != nil }

// Candidates are the lines of a text that may match, in order. They are for one goroutine.
type Candidates struct {
	r     *Regex
	s     string
	one   bool
	table *table
	pos   positions
	// What scan has found in the lines before upTo, by lane, and how much of that was given out.
	upTo, block int
	lane, given int
}

const (
	firstBlock = 4 << 10
	lastBlock  = 64 << 10
)

// Candidates returns the candidates of s, which is as for MayMatch.
func (r *Regex) Candidates(s string) Candidates {
	return Candidates{r: r, s: s, table: r.automaton.get(), block: firstBlock, lane: lanes}
}

// Close gives back what the candidates have borrowed. It must be called once.
func (c *Candidates) Close() {
	c.r.automaton.put(c.table)
	c.table, c.s = nil, ""
}

// Next returns the offset of a byte in the first line at or after from that may match, or -1 when no later one can.
// from must be the start of a line and must not decrease: after each candidate, pass the start of the line after it.
// The lines between from and the result cannot match. With Multiline a match may stand before the place that betrays it:
// ask MayMatch about the whole text instead. The newline that ends a line counts as a byte of it.
func (c *Candidates) Next(from int) int {
	if from < 0 || from >= len(c.s) {
		return -1
	}
	f := c.r.filter
	switch {
	case f == nil && c.table == nil:
		return from
	case f == nil && !c.table.beyond:
		return c.scanned(from)
	}
	for from < len(c.s) {
		var p int
		if f != nil {
			p = f.after(c.s, from, &c.pos)
		} else {
			p = nextBeyondASCII(c.s, from)
		}
		if p < 0 || c.table == nil || f != nil && !f.needsProof {
			return p
		}
		t := c.useful()
		if t == nil {
			return p
		}
		if t.proposed > 64 && t.passed > t.proposed-t.proposed>>3 { // there is no point in asking
			return p
		}
		start := from + strings.LastIndexByte(c.s[from:p], '\n') + 1
		end := len(c.s)
		if i := strings.IndexByte(c.s[p:], '\n'); i >= 0 {
			end = p + i
		}
		t.proposed++
		if t.line(c.s[start:end]) {
			t.passed++
			return p
		}
		from = end + 1
	}
	return -1
}

// useful returns the table, or that of the next level when it is of no use, or nil.
func (c *Candidates) useful() *table {
	for c.table != nil && c.table.useless() {
		c.r.automaton.put(c.table)
		c.table = c.r.automaton.get()
	}
	return c.table
}

// scanned gives out what the automaton finds on its own, block by block.
func (c *Candidates) scanned(from int) int {
	for {
		for ; c.lane < lanes; c.lane, c.given = c.lane+1, 0 {
			for list := c.table.found[c.lane]; c.given < len(list); c.given++ {
				if p := int(list[c.given]); p >= from {
					return p
				}
			}
		}
		start := max(from, c.upTo)
		if start >= len(c.s) {
			return -1
		}
		if c.useful() == nil {
			return start
		}
		to := min(start+c.block, len(c.s))
		if i := strings.IndexByte(c.s[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(c.s)
		}
		c.block = min(4*c.block, lastBlock)
		c.table.scan(c.s, start, to, c.one)
		c.upTo, c.lane, c.given = to, 0, 0
	}
}

// nextBeyondASCII returns the place of the first byte beyond ASCII at or after i, or -1.
func nextBeyondASCII(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		if (b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7])&0x80 != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// view reads bytes as a string without a copy; the string does not outlive the call that made it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
