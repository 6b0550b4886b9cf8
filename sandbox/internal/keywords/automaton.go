package keywords

import (
	"math/bits"
	"slices"
)

// automaton is an Aho–Corasick machine whose failure links are folded into the
// transition table, so each byte of text costs one table look-up whatever the number
// of keywords, and a text that repeats a keyword costs no more per byte than any
// other until the keyword is complete.
type automaton struct {
	class [256]uint32 // letters share a class with their other case; 0 is "in no keyword"
	// next holds, at state|class, the next state. A state is its number shifted left
	// by shift, so that stepping is one OR and one load.
	next  []uint32
	shift uint
	// States are numbered so that those which complete a keyword come last, from a
	// power of two on: the scanning loop needs a single comparison for several states
	// to know that none of them is such.
	firstHit uint32
	hitBit   int // its logarithm
	// always holds, by an owner's place, from where on the states complete one of its
	// keywords that is reported in a storm, too, or one of an owner before it.
	always  [maxOwners]uint32
	longest int        // bytes of the longest keyword
	hits    [][]uint16 // (state − firstHit)>>shift → keywords that end there, longest first
}

// after returns the state behind s, which is at least as long as any keyword.
func (a *automaton) after(s string) (state uint32) {
	for i := len(s) - a.longest; i < len(s); i++ {
		state = a.next[state|a.class[s[i]]]
	}
	return state
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func newAutomaton(words []Word) *automaton {
	a := &automaton{}
	classes, most := 1, 1 // nodes at most
	for _, w := range words {
		most += len(w.Text)
		a.longest = max(a.longest, len(w.Text))
		for i := range len(w.Text) {
			c := lower(w.Text[i])
			if a.class[c] == 0 {
				a.class[c] = uint32(classes)
				classes++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[lower(c)]
	}
	for 1<<a.shift < classes {
		a.shift++
	}
	width := 1 << a.shift

	type node struct {
		fail int
		hits []uint16
	}
	nodes := make([]node, 1, most)
	child := make([]int32, width, most*width) // width for each node, by class; 0 = none
	for id, w := range words {
		at := 0
		for i := range len(w.Text) {
			c := at*width + int(a.class[lower(w.Text[i])])
			if child[c] == 0 {
				child[c] = int32(len(nodes))
				nodes = append(nodes, node{})
				child = child[:len(nodes)*width]
			}
			at = int(child[c])
		}
		nodes[at].hits = append(nodes[at].hits, uint16(id))
	}
	// Breadth first: a node's failure target is nearer to the root, hence complete.
	order := make([]int, 1, len(nodes))
	for i := 0; i < len(order); i++ {
		at := order[i]
		own, fallback := child[at*width:][:width], child[nodes[at].fail*width:][:width]
		for c, to := range own {
			if to == 0 {
				if at != 0 {
					own[c] = fallback[c]
				}
				continue
			}
			n := &nodes[to]
			if at != 0 {
				n.fail = int(fallback[c])
			}
			n.hits = append(n.hits, nodes[n.fail].hits...)
			order = append(order, int(to))
		}
	}
	rank := func(at int) (rank int) {
		for _, k := range nodes[at].hits {
			rank = max(rank, 1)
			if words[k].Always {
				rank = max(rank, 1+maxOwners-words[k].owner)
			}
		}
		return rank
	}
	slices.SortStableFunc(order, func(x, y int) int { return rank(x) - rank(y) })
	below := func(n int) int { // how many states have a lower rank
		i, _ := slices.BinarySearchFunc(order, n, func(at, n int) int { return rank(at) - n })
		return i
	}
	quiet := below(1)
	a.firstHit = 1 << a.shift
	for a.firstHit>>a.shift < uint32(quiet) {
		a.firstHit <<= 1
	}
	a.hitBit = bits.TrailingZeros32(a.firstHit)
	for place := range a.always {
		a.always[place] = a.firstHit + uint32(below(1+maxOwners-place)-quiet)<<a.shift
	}
	number := make([]uint32, len(nodes))
	for n, at := range order {
		if number[at] = uint32(n) << a.shift; n >= quiet {
			number[at] = a.firstHit + uint32(n-quiet)<<a.shift
		}
	}
	a.next = make([]uint32, int(a.firstHit)+(len(nodes)-quiet)<<a.shift)
	for _, at := range order {
		for c := range width {
			a.next[number[at]|uint32(c)] = number[child[at*width+c]]
		}
		if h := nodes[at].hits; len(h) > 0 {
			a.hits = append(a.hits, h)
		}
	}
	return a
}
