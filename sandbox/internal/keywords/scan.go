package keywords

import "sync"

// The text is read in blocks, each of them by several lanes at a time: a step of the
// automaton waits for the load of the step before, so one lane alone leaves the
// processor idle. What the lanes find is handled in the order of the text.
//
// The length of a lane is a constant, so that one register and three offsets address
// all lanes. Blocks of short lanes read what is left behind those of long ones.
const (
	lanes     = 4
	laneLen   = 1 << 10
	block     = lanes * laneLen
	shortLen  = 1 << 7
	shortened = lanes * shortLen
)

// step is a step of the lanes in which at least one of them completed a keyword.
type step struct {
	i     int // bytes that each lane had read
	state [lanes]uint32
}

// room is memory that passes use one after the other.
type room struct{ steps []step }

var rooms = sync.Pool{New: func() any { return new(room) }}

//go:noinline
func (r *room) note(i int, a, b, c, d uint32) {
	r.steps = append(r.steps, step{i, [lanes]uint32{a, b, c, d}})
}

// pass is one reading of a text, block by block.
type pass struct {
	s     string
	base  int // where the next block begins
	state uint32
	r     *room
	from  int // where the block begins that lies in r
	width int // bytes of each of its lanes
}

// next reads a block; what it saw lies in r.
func (p *pass) next(m *machine) {
	p.r.steps = p.r.steps[:0]
	p.from = p.base
	rest := p.s[p.base:]
	switch {
	case len(rest) >= block:
		p.width = laneLen
		p.state = m.long(rest[:block], p.state, p.r)
	case len(rest) >= shortened && m.longest <= shortLen:
		p.width = shortLen
		p.state = m.short(rest[:shortened], p.state, p.r)
	default:
		p.base = len(p.s)
		p.state = m.single(rest, p.state, p.r)
		return
	}
	p.base += lanes * p.width
}

// long reads a block of long lanes; state is what the text before has led to.
func (m *machine) long(s string, state uint32, r *room) uint32 {
	next, class, first := m.next, &m.class, m.firstHit
	s = s[:block]
	// A state is the longest end of the text that begins a keyword, so a lane
	// knows its own after as many bytes as a keyword has.
	a, b, c, d := state, m.after(s[:laneLen]), m.after(s[:2*laneLen]), m.after(s[:3*laneLen])
	for i := range laneLen {
		a = next[a|class[s[i]]]
		b = next[b|class[s[i+laneLen]]]
		c = next[c|class[s[i+2*laneLen]]]
		d = next[d|class[s[i+3*laneLen]]]
		if a|b|c|d >= first {
			r.note(i+1, a, b, c, d)
		}
	}
	return d
}

// short is long for short lanes.
func (m *machine) short(s string, state uint32, r *room) uint32 {
	next, class, first := m.next, &m.class, m.firstHit
	s = s[:shortened]
	a, b, c, d := state, m.after(s[:shortLen]), m.after(s[:2*shortLen]), m.after(s[:3*shortLen])
	for i := range shortLen {
		a = next[a|class[s[i]]]
		b = next[b|class[s[i+shortLen]]]
		c = next[c|class[s[i+2*shortLen]]]
		d = next[d|class[s[i+3*shortLen]]]
		if a|b|c|d >= first {
			r.note(i+1, a, b, c, d)
		}
	}
	return d
}

// single reads what is too short for lanes.
func (m *machine) single(s string, state uint32, r *room) uint32 {
	next, class, first := m.next, &m.class, m.firstHit
	for i := range len(s) {
		state = next[state|class[s[i]]]
		if state >= first {
			r.note(i+1, state, 0, 0, 0)
		}
	}
	return state
}

// Each reads s and calls visit for each of o's sightings, in the order of their ends.
func (o *Owner) Each(s string, visit func(word, end int)) {
	m := shared()
	p := pass{s: s, r: rooms.Get().(*room)}
	for p.base < len(s) {
		p.next(m)
		for lane := range lanes {
			at := p.from + lane*p.width
			for i := range p.r.steps {
				state := p.r.steps[i].state[lane]
				if state < m.firstHit {
					continue
				}
				end := at + p.r.steps[i].i
				for _, k := range m.hits[(state-m.firstHit)>>(m.shift&31)] {
					if k < o.from || k >= o.below {
						continue
					}
					if w := &m.words[k]; w.fits(s, end-len(w.Text), end) {
						visit(int(k-o.from), end)
					}
				}
			}
		}
	}
	rooms.Put(p.r)
}

// Seen are the sightings of all owners in one text.
type Seen struct {
	hits [maxOwners][]Hit
}

// Of returns o's sightings in the order of their ends.
func (s *Seen) Of(o *Owner) []Hit { return s.hits[o.place] }

// Look reads s once for all owners. It uses the memory of seen again.
func (seen *Seen) Look(s string) {
	m := shared()
	for i := range seen.hits {
		seen.hits[i] = seen.hits[i][:0]
	}
	p := pass{s: s, r: rooms.Get().(*room)}
	for p.base < len(s) {
		p.next(m)
		for lane := range lanes {
			at := p.from + lane*p.width
			for i := range p.r.steps {
				state := p.r.steps[i].state[lane]
				if state < m.firstHit {
					continue
				}
				end := at + p.r.steps[i].i
				for _, k := range m.hits[(state-m.firstHit)>>(m.shift&31)] {
					if w := &m.words[k]; w.fits(s, end-len(w.Text), end) {
						o := m.owner[k]
						seen.hits[o] = append(seen.hits[o], Hit{end, int(k - m.first[o])})
					}
				}
			}
		}
	}
	rooms.Put(p.r)
}
