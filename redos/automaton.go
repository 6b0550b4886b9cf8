package redos

import (
	"math"

	"github.com/dlclark/regexp2/v2/syntax"
)

// position is one place of the pattern that consumes a character: a state of the position automaton.
type position struct {
	set    bits
	atomic []int // atomic groups around it, outermost first
	edges  []edge
}

// edge leads to a position that can consume the next character.
type edge struct {
	to    int
	depth int  // how many atomic groups enclose the choice of this edge
	many  bool // more than one way leads along it
}

// reach is a position and whether more than one way leads to it.
type reach struct {
	pos  int
	many bool
}

// frag describes the part of the automaton made from one node.
type frag struct {
	null        int // ways to match nothing: 0, 1 or 2 (many)
	first, last []reach
}

func ways(n int) int { return min(n, 2) }

func times(r []reach, n int) []reach {
	switch n {
	case 0:
		return nil
	case 1:
		return r
	}
	out := make([]reach, len(r))
	for i, x := range r {
		out[i] = reach{x.pos, true}
	}
	return out
}

// add joins two lists; a position in both is reached in many ways.
func add(a, b []reach) []reach {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := append(make([]reach, 0, len(a)+len(b)), a...)
outer:
	for _, x := range b {
		for i := range a {
			if out[i].pos == x.pos {
				out[i].many = true
				continue outer
			}
		}
		out = append(out, x)
	}
	return out
}

// builder turns a tree into a position automaton.
type builder struct {
	al *alphabet
	precision
	groups  map[int]*syntax.RegexNode
	pos     []position
	atomic  []int // the atomic groups around the node being built
	nextID  int
	depth   int                 // of references within references
	edges   int                 // made so far
	roots   []*syntax.RegexNode // parts that backtrack on their own
	refLoop bool                // a repeated reference to a group of no fixed length
	full    bool                // the budget is spent
}

const endless = math.MaxInt32

var nothing = frag{null: 1}

func (b *builder) char(set bits) frag {
	if len(b.pos) >= maxPositions {
		b.full = true
	}
	if b.full {
		return nothing
	}
	p := len(b.pos)
	b.pos = append(b.pos, position{set: set, atomic: b.atomic[:len(b.atomic):len(b.atomic)]})
	return frag{first: []reach{{p, false}}, last: []reach{{p, false}}}
}

func (b *builder) connect(last, first []reach) {
	if b.edges += len(last) * len(first); b.edges > 40*maxPositions {
		b.full = true
		return
	}
	for _, l := range last {
		for _, f := range first {
			b.pos[l.pos].edges = append(b.pos[l.pos].edges, edge{f.pos, len(b.atomic), l.many || f.many})
		}
	}
}

func (b *builder) concat(x, y frag) frag {
	b.connect(x.last, y.first)
	return frag{
		null:  ways(x.null * y.null),
		first: add(x.first, times(y.first, x.null)),
		last:  add(y.last, times(x.last, y.null)),
	}
}

func either(x, y frag) frag {
	return frag{ways(x.null + y.null), add(x.first, y.first), add(x.last, y.last)}
}

// build adds a node. tail says that nothing after it can fail, so that the engine never comes back to it.
func (b *builder) build(n *syntax.RegexNode, tail bool) frag {
	if b.full {
		return nothing
	}
	switch n.T {
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet:
		return b.char(b.al.of(n))
	case syntax.NtMulti:
		out := nothing
		for i := range n.Str {
			c := n.Str[i]
			if n.Options&syntax.RightToLeft != 0 {
				c = n.Str[len(n.Str)-1-i]
			}
			out = b.concat(out, b.char(b.al.char(c)))
		}
		return out
	case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop, syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy:
		set := b.al.of(n)
		return b.loop(n.M, n.N, b.single, tail, func(bool) frag { return b.char(set) })
	case syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
		set := b.al.of(n)
		return b.enter(func() frag {
			return b.loop(n.M, n.N, b.single, false, func(bool) frag { return b.char(set) })
		})
	case syntax.NtGrapheme:
		return b.enter(func() frag { return b.loop(1, endless, b.single, false, func(bool) frag { return b.char(b.al.all()) }) })
	case syntax.NtLoop, syntax.NtLazyloop:
		return b.group(n, tail)
	case syntax.NtCapture, syntax.NtGroup:
		return b.build(n.Children[0], tail)
	case syntax.NtAtomic:
		b.roots = append(b.roots, n.Children[0])
		return b.enter(func() frag { return b.build(n.Children[0], false) })
	case syntax.NtConcatenate:
		out := nothing
		for i, c := range n.Children {
			out = b.concat(out, b.build(c, tail && succeeds(n.Children[i+1:]...)))
		}
		return out
	case syntax.NtAlternate:
		return b.branches(n.Children, tail)
	case syntax.NtBackRefCond:
		return b.optionalBranch(n.Children, tail)
	case syntax.NtExprCond:
		b.roots = append(b.roots, n.Children[0])
		return b.optionalBranch(n.Children[1:], tail)
	case syntax.NtPosLook, syntax.NtNegLook:
		b.roots = append(b.roots, n.Children[0])
		return nothing
	case syntax.NtRef:
		return b.reference(n)
	case syntax.NtNothing:
		return frag{}
	}
	return nothing // anchors, boundaries and the engine's own marks: taken as met
}

func (b *builder) branches(cs []*syntax.RegexNode, tail bool) frag {
	var out frag
	for _, c := range cs {
		out = either(out, b.build(c, tail))
	}
	return out
}

// optionalBranch is a condition's yes and no; a missing no matches nothing.
func (b *builder) optionalBranch(cs []*syntax.RegexNode, tail bool) frag {
	out := b.branches(cs, tail)
	if len(cs) < 2 {
		out.null = ways(out.null + 1)
	}
	return out
}

// enter builds within an atomic group: seen from outside, there is one way through it.
func (b *builder) enter(build func() frag) frag {
	outer := b.atomic
	b.atomic = append(outer[:len(outer):len(outer)], b.nextID)
	b.nextID++
	f := build()
	b.atomic = outer
	f.null = min(f.null, 1)
	for _, l := range [][]reach{f.first, f.last} {
		for i := range l {
			l[i].many = false
		}
	}
	return f
}

func (b *builder) group(n *syntax.RegexNode, tail bool) frag {
	body := n.Children[0]
	if n.N > 8 && !tail && len(b.atomic) == 0 && b.onlyReference(body) {
		b.refLoop = true
	}
	unroll := b.precision.group
	if isSingle(body) {
		unroll = b.single
	}
	return b.loop(n.M, n.N, unroll, tail, func(tail bool) frag { return b.build(body, tail) })
}

func isSingle(n *syntax.RegexNode) bool {
	for n.T == syntax.NtCapture || n.T == syntax.NtGroup {
		n = n.Children[0]
	}
	return n.T == syntax.NtOne || n.T == syntax.NtNotone || n.T == syntax.NtSet
}

// onlyReference reports whether a loop body is nothing but a reference to a group whose texts differ in length: the
// group may be any part of a run, and the repeat then splits the run in many ways.
func (b *builder) onlyReference(n *syntax.RegexNode) bool {
	for n.T == syntax.NtCapture || n.T == syntax.NtGroup {
		n = n.Children[0]
	}
	if n.T != syntax.NtRef {
		return false
	}
	g := b.groups[n.M]
	return g != nil && varies(g)
}

// varies reports whether a node holds a repeat of no fixed count.
func varies(n *syntax.RegexNode) bool {
	switch n.T {
	case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop, syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy,
		syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic, syntax.NtLoop, syntax.NtLazyloop:
		if n.M != n.N {
			return true
		}
	}
	for _, c := range n.Children {
		if varies(c) {
			return true
		}
	}
	return false
}

// loop repeats body m to n times. An iteration that matches nothing ends the loop once m is reached, as in the engine.
// A tail loop is left for good when it is left, so nothing of it is tried a second time: one iteration stands for all.
func (b *builder) loop(m, n, unroll int, tail bool, body func(tail bool) frag) frag {
	if n <= 0 {
		return nothing
	}
	if n > unroll {
		copies := max(min(m, unroll), 1)
		out := nothing
		for i := 1; i < copies; i++ {
			out = b.concat(out, body(false))
		}
		x := body(tail)
		after := x
		if !tail {
			b.connect(x.last, x.first)
			after.last = times(x.last, ways(1+x.null))
		}
		if m == 0 {
			after.null = ways(1 + x.null)
		}
		return b.concat(out, after)
	}
	var optional func(k int) frag
	optional = func(k int) frag { // up to k more iterations
		if k == 0 || b.full {
			return nothing
		}
		x := body(tail)
		if tail {
			k = 1
		}
		rest := optional(k - 1)
		b.connect(x.last, rest.first)
		return frag{
			null:  ways(1 + x.null),
			first: x.first,
			last:  add(rest.last, times(x.last, rest.null)),
		}
	}
	out := nothing
	for i := 0; i < m; i++ {
		out = b.concat(out, body(tail && i == m-1))
	}
	if n > m {
		out = b.concat(out, optional(n-m))
	}
	return out
}

// reference stands for one text of the group's language, taken in one way.
func (b *builder) reference(n *syntax.RegexNode) frag {
	g := b.groups[n.M]
	if g == nil || !b.refs || b.depth > 1 {
		return nothing
	}
	b.depth++
	roots := len(b.roots)
	f := b.enter(func() frag { return b.build(g.Children[0], false) })
	b.roots = b.roots[:roots]
	b.depth--
	f.null = 1
	return f
}

// succeeds reports whether nodes in a row always match, by matching nothing if need be.
func succeeds(ns ...*syntax.RegexNode) bool {
	for _, n := range ns {
		switch n.T {
		case syntax.NtEmpty, syntax.NtUpdateBumpalong, syntax.NtResetCapture:
		case syntax.NtCapture, syntax.NtGroup, syntax.NtAtomic, syntax.NtConcatenate:
			if n.T == syntax.NtCapture && n.N >= 0 || !succeeds(n.Children...) {
				return false
			}
		case syntax.NtAlternate:
			any := false
			for _, c := range n.Children {
				any = any || succeeds(c)
			}
			if !any {
				return false
			}
		case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop, syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy,
			syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
			if n.M > 0 {
				return false
			}
		case syntax.NtLoop, syntax.NtLazyloop:
			if n.M > 0 && !succeeds(n.Children...) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
