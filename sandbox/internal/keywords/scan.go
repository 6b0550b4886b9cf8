package keywords

import "sync"

// The text is read in blocks, each of them by several lanes at a time: a step of the
// automaton waits for the load of the step before, so one lane alone leaves the
// processor idle. What the lanes find is handled in the order of the text.
//
// The length of a lane is a constant, so that one register and three offsets address
// all lanes; one function for both lengths is half as fast. Blocks of short lanes read what is left behind those of long ones.
const (
	lanes     = 4
	laneLen   = 1 << 10
	block     = lanes * laneLen
	shortLen  = 1 << 7
	shortened = lanes * shortLen
)

// sighting is a place where keywords end, in bytes of its lane, with the state that
// says which.
type sighting struct{ end, state uint32 }

// room is memory that passes use one after the other.
type room struct {
	seen [lanes][laneLen]sighting // of one block
	n    [lanes]int               // how many of them
	weather
}

var rooms = sync.Pool{New: func() any { return new(room) }}

func borrow() *room {
	r := rooms.Get().(*room)
	r.weather.n, r.storms = 0, nil
	return r
}

// note notes those of the states that complete a keyword, behind n bytes of each lane.
// It is a function of its own, so that the states stay in registers.
//
//go:noinline
func (r *room) note(n int, a, b, c, d, first uint32) {
	if a >= first {
		r.seen[0][r.n[0]&(laneLen-1)] = sighting{uint32(n), a}
		r.n[0]++
	}
	if b >= first {
		r.seen[1][r.n[1]&(laneLen-1)] = sighting{uint32(n), b}
		r.n[1]++
	}
	if c >= first {
		r.seen[2][r.n[2]&(laneLen-1)] = sighting{uint32(n), c}
		r.n[2]++
	}
	if d >= first {
		r.seen[3][r.n[3]&(laneLen-1)] = sighting{uint32(n), d}
		r.n[3]++
	}
}

// pass is one reading of a text, block by block.
type pass struct {
	s     string
	base  int // where the next block begins
	state uint32
	r     *room
	from  int // where the block begins that lies in r
	width int // bytes of each of its lanes
	// always is from where on states are reported in a storm, too.
	always uint32
}

// next reads a block; what it saw lies in r.
func (p *pass) next(m *machine) {
	p.r.n = [lanes]int{}
	p.from = p.base
	rest := p.s[p.base:]
	switch {
	case len(rest) >= block:
		p.width = laneLen
		if p.r.raging(p.base) {
			if state, n := m.storm(rest[:block], p.state, p.always, p.r); n >= stormHits*block/stormWindow {
				p.state = state
				p.base += block
				p.r.lasts(p.base)
				return
			}
			p.r.n = [lanes]int{}
		}
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
			r.note(i+1, a, b, c, d, first)
		}
	}
	return d
}

// storm is long within a storm: it counts sightings, and notes those alone that are
// reported all the same.
func (m *machine) storm(s string, state, always uint32, r *room) (end uint32, sightings int) {
	next, class, first := m.next, &m.class, m.firstHit
	s = s[:block]
	a, b, c, d := state, m.after(s[:laneLen]), m.after(s[:2*laneLen]), m.after(s[:3*laneLen])
	for i := range laneLen {
		a = next[a|class[s[i]]]
		b = next[b|class[s[i+laneLen]]]
		c = next[c|class[s[i+2*laneLen]]]
		d = next[d|class[s[i+3*laneLen]]]
		if a|b|c|d >= first {
			// The bit of firstHit is set in states that complete a keyword only.
			sightings += int((a&first + b&first + c&first + d&first) >> (m.hitBit & 31))
			if max(a, b, c, d) >= always {
				r.note(i+1, a, b, c, d, always)
			}
		}
	}
	return d, sightings
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
			r.note(i+1, a, b, c, d, first)
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
			r.note(i+1, state, 0, 0, 0, first)
		}
	}
	return state
}

// ended calls visit for what the steps of a block have completed, in the order of the
// text: for keywords of one owner, or of all when owner is negative.
func (p *pass) ended(m *machine, owner int, visit func(c *candidate, end int)) {
	r := p.r
	for lane := range lanes {
		at := p.from + lane*p.width
		for _, sight := range r.seen[lane][:r.n[lane]] {
			end := at + int(sight.end)
			e := &m.ends[(sight.state-m.firstHit)>>(m.shift&31)]
			if owner >= 0 && e.others>>owner&1 != 0 {
				continue
			}
			storm := e.counts && r.rages(end)
			for k := range e.candidates {
				c := &e.candidates[k]
				if c.owner != owner && owner >= 0 || storm && !c.Always {
					continue
				}
				if c.fits(p.s, end-len(c.Text), end) {
					visit(c, end)
				}
			}
		}
	}
}

// Each reads s and calls visit for each of o's sightings, in the order of their ends.
func (o *Owner) Each(s string, visit func(word, end int)) []Storm {
	m := shared()
	p := pass{s: s, r: borrow(), always: m.always[o.place]}
	mine := func(c *candidate, end int) { visit(c.n, end) }
	for p.base < len(s) {
		p.next(m)
		p.ended(m, o.place, mine)
	}
	storms := p.r.storms
	rooms.Put(p.r)
	return storms
}

// Seen are the sightings of all owners in one text.
type Seen struct {
	hits   [maxOwners][]Hit
	storms []Storm
}

// Of returns o's sightings in the order of their ends.
func (seen *Seen) Of(o *Owner) []Hit { return seen.hits[o.place] }

// Storms returns where sightings were left out.
func (seen *Seen) Storms() []Storm { return seen.storms }

// Look reads s once for all owners. It uses the memory of seen again.
func (seen *Seen) Look(s string) {
	m := shared()
	for i := range seen.hits {
		seen.hits[i] = seen.hits[i][:0]
	}
	p := pass{s: s, r: borrow(), always: m.always[maxOwners-1]}
	all := func(c *candidate, end int) {
		seen.hits[c.owner] = append(seen.hits[c.owner], Hit{end, c.n})
	}
	for p.base < len(s) {
		p.next(m)
		p.ended(m, -1, all)
	}
	seen.storms = p.r.storms
	rooms.Put(p.r)
}
