package redos

import (
	"errors"
	bitcount "math/bits"

	"github.com/dlclark/regexp2/v2/syntax"
)

// A program is a nondeterministic automaton over bytes that accepts a superset of a pattern: what a line (or, with
// Multiline, a text) must look like for the pattern to match somewhere in it.
//
//   - Boundaries and lookarounds are taken as met, but for a lookbehind at the very beginning and a lookahead at the very
//     end of the pattern: their text must stand there.
//   - A backreference stands for any text of its group's language.
//   - A class that holds NUL takes every byte but a newline, because a caller may have masked text with NUL: the answer
//     about the unmasked text must not depend on what is masked.
//   - A class that holds U+FFFD takes every byte beyond ASCII, because each broken byte counts as one.
//   - Where counts or classes are large, they are taken for endless or for coarser ones.

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c int)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) remove(c int)   { s[c>>6] &^= 1 << (c & 63) }
func (s *byteSet) has(c int) bool { return s[c>>6]>>(c&63)&1 != 0 }

func (s *byteSet) addRange(lo, hi int) {
	for c := lo; c <= hi; c++ {
		s.add(c)
	}
}

var (
	anyByte      = byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	continuation = byteSet{2: ^uint64(0)} // 0x80 to 0xBF
)

type opcode uint8

const (
	opByte  opcode = iota // one byte of a set, then to
	opFork                // to or or
	opBegin               // the beginning of a line, then to
	opEnd                 // the end of a line, then to
	opMatch
)

type instruction struct {
	op     opcode
	set    uint16
	to, or uint16
}

// detail is how finely a pattern is turned into a program.
type detail struct {
	copies int  // of a counted part, at most
	nodes  int  // instructions at most
	exact  bool // characters beyond ASCII are told by their first two bytes, else by the first
}

// details are tried in turn: the first that is small enough is taken, and a later one when its states turn out to be
// too many.
var details = []detail{{24, 3000, true}, {1, 3000, false}}

type program struct {
	code  []instruction
	sets  []byteSet
	start uint16
	multi bool // one text of many lines
	// beyond says that every match holds a byte beyond ASCII.
	beyond bool
}

var errLarge = errors.New("too large for the byte automaton")

// assembler turns a tree into a program, from its end to its beginning: each part is built in front of what follows it.
type assembler struct {
	detail
	program
	groups  map[int]*syntax.RegexNode // nil for one that is defined twice
	setID   map[byteSet]uint16
	classes map[string]class
	asked   int // characters that a class was asked about
	depth   int
	built   int // nodes, each time that a repeat or a reference builds one
	refs    int // references within references
}

// place tells whether text of the pattern itself can stand before or behind a node.
type place struct{ first, last bool }

// newAutomaton returns nil when no program is of use.
func newAutomaton(t *syntax.RegexTree, multiline bool) *automaton {
	a := &automaton{}
	for _, d := range details {
		if p := assemble(t, multiline, d); p != nil {
			a.levels = append(a.levels, p)
		}
	}
	if len(a.levels) == 0 {
		return nil
	}
	return a
}

// assemble makes the program of a tree, or returns nil when that would be too large or would let every line pass.
func assemble(t *syntax.RegexTree, multiline bool, d detail) *program {
	a := &assembler{detail: d, groups: map[int]*syntax.RegexNode{}, setID: map[byteSet]uint16{}, classes: map[string]class{}}
	a.multi = multiline
	a.define(t.Root)
	end := a.emit(instruction{op: opMatch})
	start, err := a.node(t.Root, end, place{true, true})
	if err != nil {
		return nil
	}
	if a.full() {
		return nil
	}
	a.start = start
	p := a.program
	none := func(uint16) bool { return false }
	if p.accepts(none, true, false) || p.accepts(none, false, true) {
		return nil // every line begins, and every line ends
	}
	p.beyond = !p.accepts(func(set uint16) bool { return p.sets[set][0]|p.sets[set][1] != 0 }, true, true)
	return &p
}

// accepts reports whether a text made of the given sets leads to a match; begin and end say which anchors count as met.
func (p *program) accepts(usable func(set uint16) bool, begin, end bool) bool {
	seen := make([]bool, len(p.code))
	todo := []uint16{p.start}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		switch in := p.code[n]; in.op {
		case opMatch:
			return true
		case opFork:
			todo = append(todo, in.to, in.or)
		case opBegin:
			if begin {
				todo = append(todo, in.to)
			}
		case opEnd:
			if end {
				todo = append(todo, in.to)
			}
		case opByte:
			if usable(in.set) {
				todo = append(todo, in.to)
			}
		}
	}
	return false
}

func (a *assembler) define(n *syntax.RegexNode) {
	if n.T == syntax.NtCapture {
		_, twice := a.groups[n.M]
		a.groups[n.M] = n
		if twice || n.N >= 0 {
			a.groups[n.M] = nil
		}
	}
	for _, c := range n.Children {
		a.define(c)
	}
}

// emit adds an instruction. Past the limit it keeps overwriting the last one; node and its callers look at full.
func (a *assembler) emit(in instruction) uint16 {
	if len(a.code) <= a.nodes {
		a.code = append(a.code, in)
	}
	return uint16(len(a.code) - 1)
}

func (a *assembler) full() bool { return len(a.code) > a.nodes }

func (a *assembler) bytes(s byteSet, next uint16) uint16 {
	if !a.multi {
		s.remove('\n')
	}
	id, ok := a.setID[s]
	if !ok {
		id = uint16(len(a.sets))
		a.setID[s] = id
		a.sets = append(a.sets, s)
	}
	return a.emit(instruction{op: opByte, set: id, to: next})
}

func (a *assembler) fork(x, y uint16) uint16 {
	if x == y {
		return x
	}
	return a.emit(instruction{op: opFork, to: x, or: y})
}

type build func(next uint16) (uint16, error)

// loop puts from m to n copies of a part before next.
func (a *assembler) loop(m, n int, part build, next uint16) (at uint16, err error) {
	at = next
	if n-m > a.copies && n != endless || m > a.copies {
		m, n = min(m, a.copies), endless
	}
	if n == endless {
		back := a.emit(instruction{op: opFork, or: next})
		body, err := part(back)
		if err != nil {
			return 0, err
		}
		a.code[back].to = body
		if at = back; m > 0 {
			at, m = body, m-1 // the body itself is the last of the copies that must be
		}
	} else {
		for k := m; k < n && err == nil; k++ {
			if at, err = part(at); err == nil {
				at = a.fork(at, next)
			}
		}
	}
	for ; m > 0 && err == nil; m-- {
		at, err = part(at)
	}
	return at, err
}

// anything is any text.
func (a *assembler) anything(next uint16) (uint16, error) {
	return a.loop(0, endless, func(next uint16) (uint16, error) { return a.bytes(anyByte, next), nil }, next)
}

// node puts a part of the tree before next.
func (a *assembler) node(n *syntax.RegexNode, next uint16, at place) (uint16, error) {
	// What emits nothing counts as well: repeats within repeats multiply it.
	if a.built++; a.built > 10*a.nodes {
		return 0, errLarge
	}
	if a.depth++; a.depth > 200 || a.full() {
		return 0, errLarge
	}
	defer func() { a.depth-- }()
	switch n.T {
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet:
		return a.char(n)(next)
	case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop, syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy,
		syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
		return a.loop(n.M, n.N, a.char(n), next)
	case syntax.NtLoop, syntax.NtLazyloop:
		return a.loop(n.M, n.N, func(next uint16) (uint16, error) { return a.node(n.Children[0], next, place{}) }, next)
	case syntax.NtMulti:
		for i := len(n.Str) - 1; i >= 0; i-- {
			next = a.classAt(charClass(n.Str[i]), next)
		}
		return next, nil
	case syntax.NtCapture, syntax.NtGroup, syntax.NtAtomic:
		return a.node(n.Children[0], next, at)
	case syntax.NtConcatenate:
		return a.sequence(n, next, at)
	case syntax.NtAlternate:
		return a.branches(n.Children, next, at)
	case syntax.NtBackRefCond:
		return a.conditional(n.Children, next)
	case syntax.NtExprCond:
		return a.conditional(n.Children[1:], next)
	case syntax.NtNothing:
		return a.bytes(byteSet{}, next), nil
	case syntax.NtBol, syntax.NtBeginning, syntax.NtEol, syntax.NtEnd, syntax.NtEndZ:
		switch {
		case a.multi || a.refs > 0: // what a group matched at the beginning of a line is referred to anywhere
			return next, nil
		case n.T == syntax.NtBol || n.T == syntax.NtBeginning:
			return a.emit(instruction{op: opBegin, to: next}), nil
		}
		return a.emit(instruction{op: opEnd, to: next}), nil
	case syntax.NtPosLook:
		behind := n.Options&syntax.RightToLeft != 0
		if behind && at.first {
			return a.node(n.Children[0], next, place{first: true})
		}
		if !behind && at.last {
			return a.node(n.Children[0], next, place{last: true})
		}
		return next, nil
	case syntax.NtNegLook, syntax.NtEmpty, syntax.NtBoundary, syntax.NtNonboundary, syntax.NtECMABoundary,
		syntax.NtNonECMABoundary, syntax.NtStart, syntax.NtUpdateBumpalong, syntax.NtResetCapture:
		return next, nil
	case syntax.NtRef:
		g := a.groups[n.M]
		if g == nil || n.Options&syntax.IgnoreCase != 0 || a.refs > 1 {
			return a.anything(next)
		}
		a.refs++
		defer func() { a.refs-- }()
		return a.node(g.Children[0], next, place{})
	}
	return a.anything(next)
}

func (a *assembler) sequence(n *syntax.RegexNode, next uint16, at place) (uint16, error) {
	var err error
	last := len(n.Children) - 1
	for i := last; i >= 0 && err == nil; i-- {
		c := n.Children[i]
		if n.Options&syntax.RightToLeft != 0 { // stored in the order of matching
			c = n.Children[last-i]
		}
		next, err = a.node(c, next, place{at.first && i == 0, at.last && i == last})
	}
	return next, err
}

func (a *assembler) branches(cs []*syntax.RegexNode, next uint16, at place) (uint16, error) {
	out := next
	for i := len(cs) - 1; i >= 0; i-- {
		x, err := a.node(cs[i], next, at)
		if err != nil {
			return 0, err
		}
		if out = a.fork(x, out); i == len(cs)-1 {
			out = x
		}
	}
	return out, nil
}

// conditional is a yes and a no; a missing no matches nothing.
func (a *assembler) conditional(cs []*syntax.RegexNode, next uint16) (uint16, error) {
	out, err := a.branches(cs, next, place{})
	if len(cs) < 2 && err == nil {
		out = a.fork(out, next)
	}
	return out, err
}

// equivalent numbers the bytes so that two of one number are in the same sets; the newline has one of its own, and so
// has the carriage return where lines may end. width is a power of two that holds them all.
func (p *program) equivalent() (class [256]uint16, width int) {
	seen := map[string]uint16{}
	key := make([]byte, len(p.sets)+1)
	for c := range 256 {
		for i := range p.sets {
			key[i] = 0
			if p.sets[i].has(c) {
				key[i] = 1
			}
		}
		last := &key[len(p.sets)]
		*last = 0
		if !p.multi && (c == '\n' || c == '\r') {
			*last = byte(c)
		}
		id, ok := seen[string(key)]
		if !ok {
			id = uint16(len(seen))
			seen[string(key)] = id
		}
		class[c] = id
	}
	return class, max(2, 1<<bitcount.Len(uint(len(seen)-1)))
}
