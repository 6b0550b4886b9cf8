package walk

import (
	"math/bits"
	"unicode/utf8"
)

// The wildcard engine: globs and ignore rules are compiled into one small automaton and run by keeping the set of
// positions that are alive. Every edge that consumes nothing leads forward, so one ascending pass over the set is its
// closure, and a match costs at most len(nodes) × len(name) steps whatever the pattern: there is nothing to backtrack.

type opcode uint8

const (
	opChar  opcode = iota // exactly c
	opOne                 // any character but "/"
	opClass               // one of class, never "/"
	opStar                // any run without "/"
	opDeep                // any run
	opSplit               // go on at i+1 and at alt
	opJump                // go on at alt
	opEnd                 // accept
)

type node struct {
	op    opcode
	c     rune
	alt   int32
	class *class
}

// class is a bracket expression as closed ranges.
type class struct {
	negated bool
	ranges  []span
}

type span struct{ lo, hi rune }

func (k *class) has(c rune) bool {
	for _, s := range k.ranges {
		if c >= s.lo && c <= s.hi {
			return !k.negated
		}
	}
	return k.negated
}

// prog is a compiled pattern. With runes a character is a rune (an invalid byte counts as one character), without it
// is a byte, which is what git means by one.
type prog struct {
	nodes []node
	runes bool
}

// stackWords is how many 64-bit words of a position set fit on the stack of match.
const stackWords = 16

func (p *prog) match(name string) bool {
	if len(p.nodes) <= 64 {
		return p.match64(name)
	}
	words := (len(p.nodes) + 63) / 64
	var a, b [stackWords]uint64
	cur, next := a[:], b[:]
	if words > stackWords {
		cur, next = make([]uint64, words), make([]uint64, words)
	} else {
		cur, next = cur[:words], next[:words]
	}
	cur[0] = 1
	for i := 0; i < len(name); {
		c, size := p.char(name[i:])
		i += size
		alive := false
		for w := range cur {
			for cur[w] != 0 {
				n := w<<6 | bits.TrailingZeros64(cur[w])
				cur[w] &= cur[w] - 1
				if to, stay := p.step(n, c, cur); to >= 0 || stay {
					alive = true
					if stay {
						next[n>>6] |= 1 << (n & 63)
					}
					if to >= 0 {
						next[to>>6] |= 1 << (to & 63)
					}
				}
			}
		}
		if !alive {
			return false
		}
		cur, next = next, cur // next is all zero: the pass above cleared it as it went
	}
	end := len(p.nodes) - 1
	for w := range cur {
		for cur[w] != 0 {
			n := w<<6 | bits.TrailingZeros64(cur[w])
			cur[w] &= cur[w] - 1
			if n == end {
				return true
			}
			p.spread(n, cur)
		}
	}
	return false
}

// match64 is match for programs whose position set is one word.
func (p *prog) match64(name string) bool {
	var set [1]uint64
	set[0] = 1
	for i := 0; i < len(name); {
		c, size := p.char(name[i:])
		i += size
		var next uint64
		for set[0] != 0 {
			n := bits.TrailingZeros64(set[0])
			set[0] &= set[0] - 1
			to, stay := p.step(n, c, set[:])
			if stay {
				next |= 1 << n
			}
			if to >= 0 {
				next |= 1 << to
			}
		}
		if next == 0 {
			return false
		}
		set[0] = next
	}
	end := len(p.nodes) - 1
	for set[0] != 0 {
		n := bits.TrailingZeros64(set[0])
		set[0] &= set[0] - 1
		if n == end {
			return true
		}
		p.spread(n, set[:])
	}
	return false
}

func (p *prog) char(s string) (rune, int) {
	if c := s[0]; !p.runes || c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if size == 1 {
		return invalid | rune(s[0]), 1
	}
	return r, size
}

// invalid marks a byte that is not UTF-8, so that it equals neither U+FFFD nor the rune of its value.
const invalid rune = 1 << 24

// spread adds to set what node n reaches without consuming.
func (p *prog) spread(n int, set []uint64) {
	switch nd := &p.nodes[n]; nd.op {
	case opStar, opDeep:
		set[(n+1)>>6] |= 1 << ((n + 1) & 63)
	case opSplit:
		set[(n+1)>>6] |= 1 << ((n + 1) & 63)
		set[nd.alt>>6] |= 1 << (nd.alt & 63)
	case opJump:
		set[nd.alt>>6] |= 1 << (nd.alt & 63)
	}
}

// step consumes c at node n: the node that is alive afterwards (-1: none) and whether n itself stays alive. Nodes
// reached without consuming are added to set.
func (p *prog) step(n int, c rune, set []uint64) (to int, stay bool) {
	nd := &p.nodes[n]
	switch nd.op {
	case opChar:
		if c == nd.c {
			return n + 1, false
		}
	case opOne:
		if c != '/' {
			return n + 1, false
		}
	case opClass:
		if c != '/' && nd.class.has(c) {
			return n + 1, false
		}
	case opStar:
		p.spread(n, set)
		return -1, c != '/'
	case opDeep:
		p.spread(n, set)
		return -1, true
	case opSplit, opJump:
		p.spread(n, set)
	}
	return -1, false
}

// posix gives the ranges of a named class as git's own tables have them (ASCII only; "space" is the four that git
// calls space).
func posix(name string) ([]span, bool) {
	switch name {
	case "alnum":
		return []span{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, true
	case "alpha":
		return []span{{'A', 'Z'}, {'a', 'z'}}, true
	case "blank":
		return []span{{' ', ' '}, {'\t', '\t'}}, true
	case "cntrl":
		return []span{{0, 31}, {127, 127}}, true
	case "digit":
		return []span{{'0', '9'}}, true
	case "graph":
		return []span{{'!', '~'}}, true
	case "lower":
		return []span{{'a', 'z'}}, true
	case "print":
		return []span{{' ', '~'}}, true
	case "punct":
		return []span{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, true
	case "space":
		return []span{{' ', ' '}, {'\t', '\n'}, {'\r', '\r'}}, true
	case "upper":
		return []span{{'A', 'Z'}}, true
	case "xdigit":
		return []span{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, true
	}
	return nil, false
}
