package redos

import (
	"maps"

	"github.com/dlclark/regexp2/v2/syntax"
)

// The guard answers one question about a pattern: can one text be split in two or more ways under a repeat? Then a
// backtracking engine tries the product of all the ways before it admits failure. In terms of the position automaton of
// the pattern: is there a state q and a text w such that two different paths lead from q over w back to q (exponential
// degree of ambiguity, Weber and Seidl 1991)? That is decided by a search in the square of the automaton.
//
// What makes the answer fit this engine rather than patterns on paper:
//
//   - The tree is the engine's, after its optimiser: what it made atomic is atomic here.
//   - Paths are counted as the backtracker takes them: an empty iteration ends a loop, and both ways to match nothing
//     ((a?)? has three) count.
//   - Inside an atomic group there is only one path. Atomic groups, lookarounds and conditions are judged again each on
//     their own, because a failure inside them backtracks inside them.
//   - A loop that is followed by nothing that can fail never backtracks: its iterations are not repeated here.
//   - A backreference stands for a text of its group's language, taken in one way.
//
// Work is bounded: counted repeats are unrolled as far as the budget allows and then read as endless, which can only make
// the guard stricter.

// rootMode says what follows a pattern that is judged.
type rootMode bool

const (
	rootFails rootMode = false // nothing follows: a match is a match
	rootMore  rootMode = true  // something that can fail follows: used to judge a fragment
)

const (
	maxPositions = 1200
	maxEdges     = 40_000
	maxBuilt     = 20_000
	maxSteps     = 1_000_000 // of the searches in the square for one precision, about 10 ms
)

// precision is how exactly counted repeats are taken.
type precision struct {
	single int // unrolled copies of one character at most
	group  int // unrolled copies of a group at most
	refs   bool
}

var precisions = []precision{{64, 8, true}, {16, 4, true}, {4, 2, true}, {2, 1, false}}

// exponential reports whether matching may take exponential time. A pattern too large for every precision counts as
// such. steps is what the searches may spend in all.
func exponential(t *syntax.RegexTree, mode rootMode, steps *int) bool {
	for _, p := range precisions {
		most := min(*steps, maxSteps)
		left := most
		v := judge(t, mode, p, &left)
		*steps -= most - max(left, 0)
		switch v {
		case safe:
			return false
		case ambiguous:
			return true
		}
	}
	return true
}

type verdict uint8

const (
	safe verdict = iota
	ambiguous
	tooLarge
)

func judge(t *syntax.RegexTree, mode rootMode, p precision, steps *int) verdict {
	j := &judgement{al: newAlphabet(t.Root), precision: p, groups: captures(t.Root), steps: steps}
	return j.walk(t.Root, mode == rootFails)
}

// judgement looks through a tree for the outermost repeats that the engine can come back to, and judges each by an
// automaton of its own.
type judgement struct {
	al        *alphabet
	precision precision
	groups    map[int]*syntax.RegexNode
	bound     map[int]rune
	steps     *int
}

// walk judges a node. tail is as for build.
func (j *judgement) walk(n *syntax.RegexNode, tail bool) verdict {
	switch n.T {
	case syntax.NtLoop, syntax.NtLazyloop:
		if n.N > fewTimes && (!tail || n.M > 1) {
			if v := j.repeat(n, tail); v != safe {
				return v
			}
			return j.inner(n.Children[0])
		}
		return j.walk(n.Children[0], tail && n.M <= 1)
	case syntax.NtConcatenate:
		if g, values := quote(n, j.bound); g != 0 {
			for _, c := range values {
				if j.bound == nil {
					j.bound = map[int]rune{}
				}
				j.bound[g] = c
				v := j.walk(n, tail)
				delete(j.bound, g)
				if v != safe {
					return v
				}
			}
			return safe
		}
		for i, c := range n.Children {
			if v := j.walk(c, tail && succeeds(n.Children[i+1:]...)); v != safe {
				return v
			}
		}
		return safe
	}
	for i, c := range n.Children {
		ends := tail || ownRoot(n, i)
		if v := j.walk(c, ends); v != safe {
			return v
		}
	}
	return safe
}

// ownRoot reports whether child i of n is matched for itself: what it has matched is never tried otherwise.
func ownRoot(n *syntax.RegexNode, i int) bool {
	switch n.T {
	case syntax.NtAtomic, syntax.NtPosLook, syntax.NtNegLook:
		return true
	case syntax.NtExprCond:
		return i == 0
	}
	return false
}

// inner judges the parts of a repeated body that backtrack on their own; the rest of it has been judged with the repeat.
func (j *judgement) inner(n *syntax.RegexNode) verdict {
	for i, c := range n.Children {
		v := safe
		if ownRoot(n, i) {
			v = j.walk(c, true)
		} else {
			v = j.inner(c)
		}
		if v != safe {
			return v
		}
	}
	return safe
}

func (j *judgement) repeat(n *syntax.RegexNode, tail bool) verdict {
	b := &builder{al: j.al, precision: j.precision, groups: j.groups, bound: maps.Clone(j.bound)}
	b.build(n, tail)
	switch {
	case b.split:
		return ambiguous
	case b.full:
		return tooLarge
	}
	return b.ambiguity(j.steps)
}

func captures(n *syntax.RegexNode) map[int]*syntax.RegexNode {
	out := map[int]*syntax.RegexNode{}
	var walk func(*syntax.RegexNode)
	walk = func(n *syntax.RegexNode) {
		if n.T == syntax.NtCapture && n.M > 0 && out[n.M] == nil {
			out[n.M] = n
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(n)
	return out
}

// ambiguity looks in each loop of the automaton for a text that two paths share. steps is what may still be spent.
func (b *builder) ambiguity(steps *int) verdict {
	comp := b.components()
	n := len(b.pos)
	inLoop := func(p, q int) bool { return comp[p] == comp[q] }
	type pair struct{ p, q int }
	var queue []pair // states of the square, from head on still to be followed
	head := 0
	seen := make([]uint64, (n*n+63)/64)
	push := func(p, q int) {
		if p > q {
			p, q = q, p
		}
		if k := p*n + q; seen[k>>6]&(1<<(k&63)) == 0 {
			seen[k>>6] |= 1 << (k & 63)
			queue = append(queue, pair{p, q})
		}
	}
	follow := func() verdict { // breadth first: an ambiguity shows after a short text, if at all
		for ; head < len(queue); head++ {
			x := queue[head]
			for _, e := range b.pos[x.p].edges {
				if !inLoop(x.p, e.to) {
					continue
				}
				for _, f := range b.pos[x.q].edges {
					if *steps--; *steps < 0 {
						return tooLarge
					}
					if !inLoop(x.q, f.to) || !e.set.meets(f.set) {
						continue
					}
					if e.to == f.to {
						return ambiguous
					}
					push(e.to, f.to)
				}
			}
		}
		return safe
	}
	for q := range b.pos {
		edges := b.pos[q].edges
		for i, e := range edges {
			if !inLoop(q, e.to) {
				continue
			}
			if e.many && e.depth == 0 {
				return ambiguous
			}
			for _, f := range edges[i+1:] {
				if *steps--; *steps < 0 {
					return tooLarge
				}
				if !inLoop(q, f.to) || e.depth > 0 || f.depth > 0 || b.sameAtomic(e.to, f.to) && e.to != f.to || !e.set.meets(f.set) {
					continue
				}
				if e.to == f.to {
					return ambiguous
				}
				push(e.to, f.to)
			}
			if v := follow(); v != safe {
				return v
			}
		}
	}
	return safe
}

// sameAtomic reports whether two positions lie in one atomic group.
func (b *builder) sameAtomic(p, q int) bool {
	x, y := b.pos[p].atomic, b.pos[q].atomic
	return len(x) > 0 && len(y) > 0 && x[0] == y[0]
}

// components numbers the strongly connected components (Tarjan). An edge lies in a loop when both its ends are in one.
func (b *builder) components() []int {
	n := len(b.pos)
	comp, low, num := make([]int, n), make([]int, n), make([]int, n)
	onStack := make([]bool, n)
	var stack []int
	next, count := 1, 0
	type frame struct{ v, edge int }
	for s := 0; s < n; s++ {
		if num[s] != 0 {
			continue
		}
		calls := []frame{{s, 0}}
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			v := f.v
			if f.edge == 0 {
				num[v], low[v] = next, next
				next++
				stack = append(stack, v)
				onStack[v] = true
			}
			if f.edge < len(b.pos[v].edges) {
				w := b.pos[v].edges[f.edge].to
				f.edge++
				if num[w] == 0 {
					calls = append(calls, frame{w, 0})
				} else if onStack[w] {
					low[v] = min(low[v], num[w])
				}
				continue
			}
			if low[v] == num[v] {
				count++
				for {
					w := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[w] = false
					comp[w] = count
					if w == v {
						break
					}
				}
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				p := calls[len(calls)-1].v
				low[p] = min(low[p], low[v])
			}
		}
	}
	return comp
}
