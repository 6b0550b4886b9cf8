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
	set   bits // the characters it can be taken with
	depth int  // how many atomic groups enclose the choice of this edge
	many  bool // more than one way leads along it
}

// reach is a position next to a border of a fragment: next is what the character beyond that border may be, as far as
// assertions on the way say, many whether more than one way leads there.
type reach struct {
	pos  int
	next bits
	many bool
}

// frag describes the part of the automaton made from one node.
type frag struct {
	null        int  // ways to match nothing: 0, 1 or 2 (many)
	next        bits // what may come after matching nothing
	first, last []reach
}

func ways(n int) int { return min(n, 2) }

// times returns r seen across a part that matches nothing in n ways.
func times(r []reach, n int, next bits) []reach {
	if n == 0 {
		return nil
	}
	out := make([]reach, len(r))
	for i, x := range r {
		out[i] = reach{x.pos, x.next.and(next), x.many || n > 1}
	}
	return out
}

func join(a, b []reach) []reach {
	return append(a[:len(a):len(a)], b...)
}

// builder turns a tree into a position automaton.
type builder struct {
	al *alphabet
	precision
	groups map[int]*syntax.RegexNode
	pos    []position
	atomic []int // the atomic groups around the node being built
	nextID int
	depth  int          // of references within references
	edges  int          // made so far
	built  int          // nodes, each time that a repeat or a reference builds one
	split  bool         // a repeat splits a text in many ways for a reason that the automaton does not show
	bound  map[int]rune // groups of one character, while each of its values is judged in turn
	full   bool         // the budget is spent
}

const (
	endless  = math.MaxInt32
	fewTimes = 8 // a repeat up to this count multiplies the work by a bounded factor and is not judged
)

func (b *builder) nothing() frag { return frag{null: 1, next: b.al.every} }

func (b *builder) char(set bits) frag {
	if len(b.pos) >= maxPositions {
		b.full = true
	}
	if b.full {
		return b.nothing()
	}
	p := len(b.pos)
	b.pos = append(b.pos, position{set: set, atomic: b.atomic[:len(b.atomic):len(b.atomic)]})
	edgeOf := []reach{{p, b.al.every, false}}
	return frag{first: edgeOf, last: edgeOf}
}

func (b *builder) connect(last, first []reach) {
	if b.edges += len(last) * len(first); b.edges > maxEdges {
		b.full = true
		return
	}
	for _, l := range last {
		for _, f := range first {
			if set := b.pos[f.pos].set.and(l.next).and(f.next); set != (bits{}) {
				b.pos[l.pos].edges = append(b.pos[l.pos].edges, edge{f.pos, set, len(b.atomic), l.many || f.many})
			}
		}
	}
}

func (b *builder) concat(x, y frag) frag {
	b.connect(x.last, y.first)
	return frag{
		null:  ways(x.null * y.null),
		next:  x.next.and(y.next),
		first: join(x.first, times(y.first, x.null, x.next)),
		last:  join(y.last, times(x.last, y.null, y.next)),
	}
}

func (b *builder) either(x, y frag) frag {
	return frag{ways(x.null + y.null), x.next.or(y.next), join(x.first, y.first), join(x.last, y.last)}
}

// build adds a node. tail says that nothing after it can fail, so that the engine never comes back to it.
func (b *builder) build(n *syntax.RegexNode, tail bool) frag {
	if b.built++; b.built > maxBuilt {
		b.full = true // a part without a position counts as well: repeats within repeats multiply it
	}
	if b.full {
		return b.nothing()
	}
	switch n.T {
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet:
		return b.char(b.al.of(n))
	case syntax.NtMulti:
		out := b.nothing()
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
		if c, ok := b.bound[n.M]; ok && n.T == syntax.NtCapture {
			return b.char(b.al.char(c))
		}
		return b.build(n.Children[0], tail)
	case syntax.NtAtomic:
		return b.enter(func() frag { return b.build(n.Children[0], false) })
	case syntax.NtConcatenate:
		return b.sequence(n, tail)
	case syntax.NtAlternate:
		return b.branches(n.Children, tail)
	case syntax.NtBackRefCond:
		return b.optionalBranch(n.Children, tail)
	case syntax.NtExprCond:
		return b.optionalBranch(n.Children[1:], tail)
	case syntax.NtPosLook, syntax.NtNegLook:
		f := b.nothing()
		f.next = b.ahead(n)
		return f
	case syntax.NtBeginning, syntax.NtEnd: // no text goes across
		return frag{null: 1}
	case syntax.NtEol, syntax.NtEndZ:
		return frag{null: 1, next: b.al.char('\n')}
	case syntax.NtRef:
		return b.reference(n)
	case syntax.NtNothing:
		return frag{}
	}
	return b.nothing() // line anchors, boundaries and the engine's own marks: taken as met
}

func (b *builder) branches(cs []*syntax.RegexNode, tail bool) frag {
	var out frag
	for _, c := range cs {
		out = b.either(out, b.build(c, tail))
	}
	return out
}

// optionalBranch is a condition's yes and no; a missing no matches nothing.
func (b *builder) optionalBranch(cs []*syntax.RegexNode, tail bool) frag {
	out := b.branches(cs, tail)
	if len(cs) < 2 {
		out = b.either(out, b.nothing())
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
			l[i].many = false // built for this fragment alone
		}
	}
	return f
}

func (b *builder) group(n *syntax.RegexNode, tail bool) frag {
	body := n.Children[0]
	if n.N > fewTimes && !tail && len(b.atomic) == 0 && b.onlyReference(body) {
		b.split = true
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
		return b.nothing()
	}
	if n > unroll {
		out := b.nothing()
		for i := 1; i < min(m, unroll); i++ {
			out = b.concat(out, body(false))
		}
		x := body(tail)
		if !tail && m > fewTimes && x.null > 0 && len(x.first) > 0 {
			b.split = true // which of the iterations match nothing?
		}
		after := x
		if !tail {
			b.connect(x.last, x.first)
			after.last = b.exits(x)
		}
		if m == 0 {
			after = b.optional(after, x)
		}
		return b.concat(out, after)
	}
	var upTo func(k int) frag
	upTo = func(k int) frag { // k more iterations at most
		if k == 0 || b.full {
			return b.nothing()
		}
		x := body(tail)
		if tail {
			k = 1
		}
		rest := upTo(k - 1)
		b.connect(x.last, rest.first)
		after := x
		after.last = join(rest.last, times(x.last, rest.null, rest.next))
		return b.optional(after, x)
	}
	out := b.nothing()
	for i := 0; i < m; i++ {
		out = b.concat(out, body(tail && i == m-1))
	}
	if n > m {
		out = b.concat(out, upTo(n-m))
	}
	return out
}

// exits returns where a loop over x can be left: after an iteration, or after one more that matches nothing.
func (b *builder) exits(x frag) []reach {
	return times(x.last, ways(1+x.null), b.al.every)
}

// optional adds to a loop that no iteration is made; x is its body.
func (b *builder) optional(loop, x frag) frag {
	loop.null, loop.next = ways(1+x.null), b.al.every
	return loop
}

// reference stands for one text of the group's language, taken in one way.
func (b *builder) reference(n *syntax.RegexNode) frag {
	if c, ok := b.bound[n.M]; ok {
		return b.char(b.al.char(c))
	}
	g := b.groups[n.M]
	if g == nil || !b.refs || b.depth > 1 {
		return b.nothing()
	}
	b.depth++
	f := b.enter(func() frag { return b.build(g.Children[0], false) })
	b.depth--
	f.null, f.next = 1, b.al.every
	return f
}

// ahead returns what the next character may be where a lookaround holds.
func (b *builder) ahead(n *syntax.RegexNode) bits {
	x := n.Children[0]
	if x.Options&syntax.RightToLeft != 0 {
		return b.al.every
	}
	first, sure := b.begins(x)
	if n.T == syntax.NtPosLook {
		return first
	}
	return b.al.every.without(sure)
}

// begins returns what a match of n can begin with, and the characters before which n surely matches.
func (b *builder) begins(n *syntax.RegexNode) (first, sure bits) {
	switch n.T {
	case syntax.NtCapture, syntax.NtGroup, syntax.NtAtomic:
		return b.begins(n.Children[0])
	case syntax.NtConcatenate:
		if len(n.Children) > 0 {
			first, _ = b.begins(n.Children[0])
			return first, bits{}
		}
	case syntax.NtAlternate:
		for _, c := range n.Children {
			f, s := b.begins(c)
			first, sure = first.or(f), sure.or(s)
		}
		return first, sure
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet:
		first = b.al.of(n)
		return first, first
	case syntax.NtMulti:
		return b.al.char(n.Str[0]), bits{}
	case syntax.NtRef:
		if c, ok := b.bound[n.M]; ok {
			first = b.al.char(c)
			return first, first
		}
	}
	return b.al.every, bits{}
}

// sequence builds nodes in a row. A group of one character that is referred to further on, such as (["']), is judged for
// each of its values, because text between two quotes is unambiguous only when both are known to be the same.
func (b *builder) sequence(n *syntax.RegexNode, tail bool) frag {
	if g, values := quote(n, b.bound); g != 0 {
		var out frag
		for _, c := range values {
			b.bind(g, c)
			out = b.either(out, b.sequence(n, tail))
			delete(b.bound, g)
		}
		return out
	}
	out := b.nothing()
	for i, c := range n.Children {
		out = b.concat(out, b.build(c, tail && succeeds(n.Children[i+1:]...)))
	}
	return out
}

func (b *builder) bind(group int, c rune) {
	if b.bound == nil {
		b.bound = map[int]rune{}
	}
	b.bound[group] = c
}

// quote finds a child of a sequence that is a group of one of a few characters, not bound yet and referred to in a later
// child, and returns its number and the characters.
func quote(n *syntax.RegexNode, bound map[int]rune) (group int, values []rune) {
	if len(bound) > 1 || n.Options&syntax.RightToLeft != 0 {
		return 0, nil
	}
	for i, c := range n.Children {
		if c.T != syntax.NtCapture || c.M <= 0 || c.N >= 0 || c.Children[0].T != syntax.NtSet || c.Children[0].Set.IsNegated() {
			continue
		}
		if _, done := bound[c.M]; done {
			continue
		}
		values = c.Children[0].Set.GetSetChars(5)
		if len(values) < 2 || len(values) > 4 {
			continue
		}
		for _, later := range n.Children[i+1:] {
			if refers(later, c.M) {
				return c.M, values
			}
		}
	}
	return 0, nil
}

func refers(n *syntax.RegexNode, group int) bool {
	if n.T == syntax.NtRef && n.M == group {
		return true
	}
	for _, c := range n.Children {
		if refers(c, group) {
			return true
		}
	}
	return false
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
