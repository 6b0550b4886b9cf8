package redos

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// The program is made deterministic as texts ask for it. States and transitions lie in a table that one search owns
// while it runs, so that nothing is shared; tables are kept for the next text and the same pattern.
//
// A state is the index of its row in the table, and the width of a row is a power of two, so that a step is one OR and
// one load: next[state|class]. A transition that is not known, or that ends a search, holds the state that it leaves and
// the special bit. A step waits for the load of the step before, so that a processor is idle most of the time; four lanes
// through four parts of the text keep it busy.

const (
	lanes     = 4
	tableSize = 1 << 16 // an index of 16 bits needs no check; rows lie in the half below special
	special   = 1 << 15 // one bit, so that one test covers all lanes
	matched   = 1       // in a special transition: the line passes. Else the transition is not known yet.

	// A table that is full begins anew. When that happens before it has paid, maxForgets times, the pattern is not for it.
	maxForgets = 6
	payoff     = 1 << 10 // bytes read for each state
)

// table is a program made deterministic as far as it was needed.
type table struct {
	class [256]uint16
	next  [tableSize]uint16 // a part of the table itself, so that one register serves both
	*program
	width int
	begin uint16 // the state at the beginning of a line

	sets [][]uint16        // by state: the instructions it stands for
	ids  map[string]uint16 // the same, inverted

	mark     []uint32 // by instruction: the last closure it is in
	turn     uint32
	list     []uint16
	key      []byte
	forgets  int // how often the table was full too soon
	read     int // bytes since it was last full, about
	proposed int // lines that were looked at because of what stands in them
	passed   int // those of them that passed

	found [lanes][]int32 // room for candidates
}

func newTable(p *program) *table {
	t := &table{program: p, mark: make([]uint32, len(p.code))}
	t.class, t.width = p.equivalent()
	t.forget()
	return t
}

// forget empties the table.
func (t *table) forget() {
	t.sets, t.ids = t.sets[:0], make(map[string]uint16, 64)
	t.fresh()
	t.follow(t.start, true, false)
	t.begin = t.state()
	t.read = 0
}

func (t *table) fresh() {
	t.list = t.list[:0]
	if t.turn++; t.turn == 0 {
		clear(t.mark)
		t.turn = 1
	}
}

// follow adds what can be reached from an instruction without a byte. It reports whether that is a match.
func (t *table) follow(n uint16, begin, end bool) (match bool) {
	for {
		if t.mark[n] == t.turn {
			return match
		}
		t.mark[n] = t.turn
		switch in := t.code[n]; in.op {
		case opFork:
			match = t.follow(in.or, begin, end) || match
			n = in.to
		case opBegin:
			if !begin {
				return match
			}
			n = in.to
		case opEnd:
			if !end {
				t.list = append(t.list, n)
				return match
			}
			n = in.to
		case opMatch:
			return true
		case opByte:
			t.list = append(t.list, n)
			return match
		}
	}
}

// state returns the state that stands for the list, new or not.
func (t *table) state() uint16 {
	slices.Sort(t.list)
	t.key = t.key[:0]
	for _, n := range t.list {
		t.key = append(t.key, byte(n), byte(n>>8))
	}
	if id, ok := t.ids[string(t.key)]; ok {
		return id
	}
	id := uint16(len(t.sets) * t.width)
	t.ids[string(t.key)] = id
	if len(t.sets) < cap(t.sets) {
		t.sets = t.sets[:len(t.sets)+1]
		t.sets[len(t.sets)-1] = append(t.sets[len(t.sets)-1][:0], t.list...)
	} else {
		t.sets = append(t.sets, slices.Clone(t.list))
	}
	row := t.next[id : int(id)+t.width]
	for i := range row {
		row[i] = special | id
	}
	return id
}

// useless says that the table is full too often. From then on every line passes.
func (t *table) useless() bool { return t.forgets > maxForgets }

// step works out a transition that is not known yet. The states of the lanes keep their meaning, also when the table is
// full and begins anew.
func (t *table) step(at *[lanes]uint16, lane int, c byte) uint16 {
	state, class := at[lane], t.class[c]
	from := t.sets[int(state)/t.width]
	if !t.multi && (c == '\n' || c == '\r') && t.ends(state) {
		return t.passes(state, class)
	}
	if !t.multi && c == '\n' {
		t.next[state|class] = t.begin
		return t.begin
	}
	t.fresh()
	match := t.follow(t.start, false, false)
	for _, n := range from {
		if in := t.code[n]; in.op == opByte && t.program.sets[in.set].has(int(c)) {
			match = t.follow(in.to, false, false) || match
		}
	}
	if match {
		return t.passes(state, class)
	}
	if (len(t.sets)+1)*t.width <= special {
		to := t.state()
		t.next[state|class] = to
		return to
	}
	if t.read < payoff*len(t.sets) {
		t.forgets++
	}
	if t.useless() {
		return special | matched
	}
	list := slices.Clone(t.list)
	var kept [lanes][]uint16
	for i, state := range at {
		kept[i] = slices.Clone(t.sets[int(state&^(special|matched))/t.width])
	}
	t.forget()
	for i := range at {
		t.list = append(t.list[:0], kept[i]...)
		at[i] = at[i]&(special|matched) | t.state() // another lane may have come to a special transition, too
	}
	t.list = append(t.list[:0], list...)
	return t.state()
}

func (t *table) passes(state, class uint16) uint16 {
	t.next[state|class] = special | state | matched
	return special | state | matched
}

// ends reports whether a match is there once the line ends. An empty line ends where it begins.
func (t *table) ends(state uint16) bool {
	t.fresh()
	empty := state == t.begin
	match := t.follow(t.start, empty, true)
	for _, n := range t.sets[int(state)/t.width] {
		if t.code[n].op == opEnd {
			match = t.follow(n, empty, true) || match
		}
	}
	return match
}

// line reports whether a line, without its newline, passes.
func (t *table) line(s string) bool {
	at := [lanes]uint16{t.begin, t.begin, t.begin, t.begin}
	t.read += len(s)
	for i := 0; i < len(s); i++ {
		x := t.next[at[0]|t.class[s[i]]]
		if x&special != 0 {
			if x&matched == 0 {
				x = t.step(&at, 0, s[i])
			}
			if x&matched != 0 {
				return true
			}
		}
		at[0] = x
	}
	if t.multi {
		return false
	}
	return t.ends(at[0])
}

// scan fills found with a place in each line of s[from:to] that passes; from and to are beginnings of lines, or to is
// the end of s. It reports whether there is any; with one set it is content with the first that it comes across.
func (t *table) scan(s string, from, to int, one bool) bool {
	var at, begin, end [lanes]int
	var state [lanes]uint16
	t.read += to - from
	p := from
	for k := range lanes {
		t.found[k] = t.found[k][:0]
		e := to
		if k < lanes-1 {
			e = max(p, from+(to-from)*(k+1)/lanes)
			if i := strings.IndexByte(s[e:to], '\n'); i >= 0 {
				e += i + 1
			} else {
				e = to
			}
		}
		at[k], begin[k], end[k], state[k] = p, p, e, t.begin
		p = e
	}
	for {
		n := min(end[0]-at[0], end[1]-at[1], end[2]-at[2], end[3]-at[3])
		if n == 0 {
			break
		}
		n = t.run(s[at[0]:at[0]+n], s[at[1]:at[1]+n], s[at[2]:at[2]+n], s[at[3]:at[3]+n], &state)
		for l := range lanes {
			at[l] += n
		}
		for l := range lanes {
			if state[l]&special != 0 && t.resolve(s, &at, &state, l) && one {
				return true
			}
		}
	}
	some := false
	for l := range lanes {
		for at[l] < end[l] {
			n := t.walk(s[at[l]:end[l]], &state[l])
			at[l] += n
			if state[l]&special != 0 && t.resolve(s, &at, &state, l) && one {
				return true
			}
		}
		// The last line may have no newline. It is the last lane's that has any text.
		if e := end[l]; e == len(s) && begin[l] < e && s[e-1] != '\n' && !t.lastFound(s, l) && t.ends(state[l]) {
			t.found[l] = append(t.found[l], int32(e-1))
		}
		some = some || len(t.found[l]) > 0
	}
	return some
}

// lastFound reports whether lane l has found the last line of s, which has no newline.
func (t *table) lastFound(s string, l int) bool {
	n := len(t.found[l])
	return n > 0 && strings.IndexByte(s[t.found[l][n-1]:], '\n') < 0
}

// run takes four lanes through texts of one length, up to the first byte at which the transition of some lane is special.
// It returns how many bytes were read. A function of its own, so that the lanes' states stay in registers.
//
//go:noinline
func (t *table) run(t0, t1, t2, t3 string, state *[lanes]uint16) int {
	a, b, c, d := state[0], state[1], state[2], state[3]
	t1, t2, t3 = t1[:len(t0)], t2[:len(t0)], t3[:len(t0)]
	k := 0
	for k < len(t0) {
		a = t.next[a|t.class[t0[k]]]
		b = t.next[b|t.class[t1[k]]]
		c = t.next[c|t.class[t2[k]]]
		d = t.next[d|t.class[t3[k]]]
		k++
		if (a|b|c|d)&special != 0 {
			break
		}
	}
	*state = [lanes]uint16{a, b, c, d}
	return k
}

// walk is run for one lane.
func (t *table) walk(s string, state *uint16) int {
	a := *state
	k := 0
	for k < len(s) {
		a = t.next[a|t.class[s[k]]]
		k++
		if a&special != 0 {
			break
		}
	}
	*state = a
	return k
}

// resolve settles a special transition of lane l over the byte before its place: it is worked out, or the line passes
// and the lane goes on behind it. It reports whether the line passes.
func (t *table) resolve(s string, at *[lanes]int, state *[lanes]uint16, l int) bool {
	i := at[l] - 1
	x := state[l]
	if x&matched == 0 {
		state[l] = x &^ special
		if x = t.step(state, l, s[i]); x&special == 0 {
			state[l] = x
			return false
		}
	}
	t.found[l] = append(t.found[l], int32(i))
	state[l] = t.begin
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		at[l] = i + n + 1
	} else {
		at[l] = len(s)
	}
	return true
}

// automaton is a pattern's programs, the finest first, and the tables that are not in use.
type automaton struct {
	levels []*program
	level  atomic.Int32 // the one in use; past the last, every line is a candidate
	tables sync.Pool    // of *table
}

// get returns a table, or nil.
func (a *automaton) get() *table {
	if a == nil {
		return nil
	}
	l := int(a.level.Load())
	if l == len(a.levels) {
		return nil
	}
	if t, ok := a.tables.Get().(*table); ok && t.program == a.levels[l] {
		return t
	}
	return newTable(a.levels[l])
}

// put gives a table back. One that was of no use makes way for the next level.
func (a *automaton) put(t *table) {
	switch {
	case t == nil:
	case t.useless():
		if i := slices.Index(a.levels, t.program); i >= 0 {
			a.level.CompareAndSwap(int32(i), int32(i+1))
		}
	default:
		a.tables.Put(t)
	}
}
