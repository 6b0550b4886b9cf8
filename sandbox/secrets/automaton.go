package secrets

import "slices"

// automaton finds every occurrence of a set of keywords in one pass, without
// regard to ASCII case. It is an Aho–Corasick machine whose failure links are
// folded into the transition table, so each byte of text costs one table look-up
// whatever the number of keywords, and a text that repeats a keyword costs no
// more per byte than any other until the keyword is complete.
type automaton struct {
	class [256]uint32 // letters share a class with their other case; 0 is "in no keyword"
	// next holds, at state|class, the next state. A state is its number shifted left
	// by shift, so that stepping is one OR and one load.
	next  []uint32
	shift uint
	// States are numbered so that those which complete a keyword come last.
	// The scanning loop needs a single comparison to know that nothing ended here.
	firstHit uint32
	longest  int        // bytes of the longest keyword
	hits     [][]uint16 // (state − firstHit)>>shift → keywords that end there, longest first
}

// after returns the state behind s, which is at least as long as any keyword.
func (a *automaton) after(s string) (state uint32) {
	for i := len(s) - a.longest; i < len(s); i++ {
		state = a.next[state|a.class[s[i]]]
	}
	return state
}

// run takes four lanes through texts, the first of which is the shortest, up to the
// first byte at which some lane completes a keyword, and returns how many bytes were
// read. A function of its own, so that the states stay in registers.
//
//go:noinline
func (a *automaton) run(t0, t1, t2, t3 string, states *[lanes]uint32) int {
	next, first := a.next, a.firstHit
	w, x, y, z := states[0], states[1], states[2], states[3]
	t1, t2, t3 = t1[:len(t0)], t2[:len(t0)], t3[:len(t0)]
	k := 0
	for k < len(t0) {
		w = next[w|a.class[t0[k]]]
		x = next[x|a.class[t1[k]]]
		y = next[y|a.class[t2[k]]]
		z = next[z|a.class[t3[k]]]
		k++
		if max(w, x, y, z) >= first {
			break
		}
	}
	*states = [lanes]uint32{w, x, y, z}
	return k
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func newAutomaton(keywords []string) *automaton {
	a := &automaton{}
	classes := 1
	for _, k := range keywords {
		a.longest = max(a.longest, len(k))
		for i := range len(k) {
			c := lower(k[i])
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
		child []int // by class; 0 = none
		fail  int
		hits  []uint16
	}
	nodes := []node{{child: make([]int, width)}}
	for id, k := range keywords {
		at := 0
		for i := range len(k) {
			c := a.class[lower(k[i])]
			if nodes[at].child[c] == 0 {
				nodes = append(nodes, node{child: make([]int, width)})
				nodes[at].child[c] = len(nodes) - 1
			}
			at = nodes[at].child[c]
		}
		nodes[at].hits = append(nodes[at].hits, uint16(id))
	}
	// Breadth first: a node's failure target is nearer to the root, hence complete.
	order := []int{0}
	for i := 0; i < len(order); i++ {
		at := order[i]
		for c := range width {
			to := nodes[at].child[c]
			if to == 0 {
				if at != 0 {
					nodes[at].child[c] = nodes[nodes[at].fail].child[c]
				}
				continue
			}
			if at != 0 {
				nodes[to].fail = nodes[nodes[at].fail].child[c]
			}
			nodes[to].hits = append(nodes[to].hits, nodes[nodes[to].fail].hits...)
			order = append(order, to)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return min(len(nodes[x].hits), 1) - min(len(nodes[y].hits), 1)
	})
	number := make([]uint32, len(nodes))
	for n, at := range order {
		number[at] = uint32(n) << a.shift
	}
	a.next = make([]uint32, len(nodes)<<a.shift)
	a.firstHit = uint32(len(nodes)) << a.shift
	for n, at := range order {
		for c := range width {
			a.next[n<<a.shift|c] = number[nodes[at].child[c]]
		}
		if h := nodes[at].hits; len(h) > 0 {
			a.firstHit = min(a.firstHit, number[at])
			a.hits = append(a.hits, h)
		}
	}
	return a
}
