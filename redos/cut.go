package redos

import (
	bitcount "math/bits"
	"slices"
)

// A cut of a program is a set of windows one of which stands in every text that the
// program accepts. Wherever all ways from the start to a match pass one
// instruction, the bytes around it are such a set.

const (
	maxWindows = 16      // of a cut, before some share a bucket
	unlikely   = 4       // how much more often bytes stand together than their frequencies say
	perWindow  = 65      // picoseconds a byte, to look for windows
	perCheck   = 15e3    // picoseconds, to see that a window is none
	maxLooked  = 1 << 15 // instructions, until what has been found must do
)

// cutter looks for the best cut of a program.
type cutter struct {
	*program
	before [][]uint16 // the instructions before each
	looked int
}

// cut returns the windows of a program that cost least, and what looking for them
// and judging their lines takes for each byte of a text; nil if there is none.
func (p *program) cut() (best []window, cost int) {
	c := &cutter{program: p, before: p.before()}
	return c.best()
}

func (c *cutter) best() (best []window, cost int) {
	cost = useless
	for _, at := range c.passes() {
		for k := range windowLen {
			list, ok := c.around(at, k)
			if !ok {
				continue
			}
			list = merge(list)
			if n := perWindow + int(rate(list)*(perCheck+perCandidate)); n < cost {
				best, cost = list, n
			}
		}
	}
	return best, cost
}

// next lists the instructions behind one.
func (in *instruction) next() []uint16 {
	switch in.op {
	case opMatch:
		return nil
	case opFork:
		return []uint16{in.to, in.or}
	}
	return []uint16{in.to}
}

// before lists the instructions before each.
func (p *program) before() [][]uint16 {
	out := make([][]uint16, len(p.code))
	for n := range p.code {
		for _, to := range p.code[n].next() {
			out[to] = append(out[to], uint16(n))
		}
	}
	return out
}

// passes returns the instructions that every way from the start to a match passes,
// in order.
func (p *program) passes() (out []uint16) {
	way := p.way()
	place := make(map[uint16]int, len(way))
	for i, n := range way {
		place[n] = i
	}
	// far is how far along the way one comes without the instructions from here on.
	far := 0
	seen := make([]bool, len(p.code))
	for i, n := range way {
		if far == i {
			out = append(out, n)
		}
		todo := []uint16{n}
		for len(todo) > 0 {
			in := &p.code[todo[len(todo)-1]]
			todo = todo[:len(todo)-1]
			for _, to := range in.next() {
				if j, ok := place[to]; ok {
					far = max(far, j)
				} else if !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
	}
	return out
}

// way is a shortest way from the start to a match; empty if there is none.
func (p *program) way() (out []uint16) {
	from := map[uint16]uint16{p.start: p.start}
	todo := []uint16{p.start}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		if p.code[n].op == opMatch {
			for ; n != p.start; n = from[n] {
				out = append(out, n)
			}
			out = append(out, p.start)
			slices.Reverse(out)
			return out
		}
		for _, to := range p.code[n].next() {
			if _, ok := from[to]; !ok {
				from[to] = n
				todo = append(todo, to)
			}
		}
	}
	return nil
}

// around returns the windows of which k bytes are read before an instruction and
// the others from it on; ok is false where a match has no k bytes there, or there
// are too many windows.
func (c *cutter) around(at uint16, k int) (list []window, ok bool) {
	heads, ok := c.back(at, k)
	if !ok {
		return nil, false
	}
	tails, ok := c.ahead(at, windowLen-k)
	if !ok || len(heads)*len(tails) > maxWindows {
		return nil, false
	}
	for _, h := range heads {
		for _, t := range tails {
			var w window
			copy(w[:], h)
			copy(w[k:], t)
			list = append(list, w)
		}
	}
	return list, true
}

// bytesFrom lists the instructions that read the next byte; over reports whether a
// match, or going backwards the start, comes first on some way.
func (c *cutter) bytesFrom(n uint16, next func(uint16) []uint16, last func(uint16) bool) (list []uint16, over bool) {
	seen := map[uint16]bool{n: c.code[n].op != opByte} // a byte may follow itself
	todo := []uint16{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		over = over || last(n)
		c.looked++
		for _, to := range next(n) {
			switch {
			case seen[to]:
			case c.code[to].op == opByte:
				list = append(list, to)
			default:
				todo = append(todo, to)
			}
			seen[to] = true
		}
	}
	return list, over
}

// ahead lists the classes of the n bytes that are read from an instruction on. What
// follows a match may be anything.
func (c *cutter) ahead(at uint16, n int) (out [][]byteSet, ok bool) {
	if n == 0 {
		return [][]byteSet{nil}, true
	}
	if c.looked > maxLooked {
		return nil, false
	}
	list, over := []uint16{at}, false
	if c.code[at].op != opByte {
		list, over = c.bytesFrom(at, func(n uint16) []uint16 { return c.code[n].next() }, func(n uint16) bool { return c.code[n].op == opMatch })
	}
	if over {
		any := make([]byteSet, n)
		for i := range any {
			any[i] = anyByte
		}
		out = append(out, any)
	}
	for _, b := range list {
		rest, ok := c.ahead(c.code[b].to, n-1)
		if !ok || len(out)+len(rest) > maxWindows {
			return nil, false
		}
		for _, r := range rest {
			out = append(out, append([]byteSet{c.sets[c.code[b].set]}, r...))
		}
	}
	return out, true
}

// back lists the classes of the n bytes that are read before an instruction.
func (c *cutter) back(at uint16, n int) (out [][]byteSet, ok bool) {
	if n == 0 {
		return [][]byteSet{nil}, true
	}
	if c.looked > maxLooked {
		return nil, false
	}
	list, over := c.bytesFrom(at, func(n uint16) []uint16 { return c.before[n] }, func(n uint16) bool { return n == c.start })
	if over {
		return nil, false
	}
	for _, b := range list {
		rest, ok := c.back(b, n-1)
		if !ok || len(out)+len(rest) > maxWindows {
			return nil, false
		}
		for _, r := range rest {
			out = append(out, append(r[:len(r):len(r)], c.sets[c.code[b].set]))
		}
	}
	return out, true
}

// merge joins windows until each has a bucket: first those that are in another one,
// then those that find least beside what both find.
func merge(list []window) []window {
	for i := 0; i < len(list); i++ {
		for j := 0; j < len(list); j++ {
			if i != j && list[i].or(list[j]) == list[i] {
				list = append(list[:j], list[j+1:]...)
				i = -1
				break
			}
		}
	}
	for len(list) > maxBuckets {
		bi, bj, least := 0, 1, 0.0
		for i := range list {
			for j := i + 1; j < len(list); j++ {
				if r := rate([]window{list[i].or(list[j])}) - rate(list[i:i+1]) - rate(list[j:j+1]); least == 0 || r < least {
					bi, bj, least = i, j, r
				}
			}
		}
		list[bi] = list[bi].or(list[bj])
		list = append(list[:bj], list[bj+1:]...)
	}
	return list
}

func (w window) or(x window) window {
	for k := range w {
		for i := range w[k] {
			w[k][i] |= x[k][i]
		}
	}
	return w
}

// rate estimates how often one of the windows begins at a place of a text.
func rate(list []window) float64 {
	sum := 0.0
	for _, w := range list {
		p, rarest := 1.0, 1.0
		for _, set := range w {
			if set != anyByte {
				f := set.often()
				p, rarest = p*f, min(rarest, f)
			}
		}
		sum += min(p*unlikely, rarest)
	}
	return sum
}

// often estimates how often a byte of a text is in the set.
func (s *byteSet) often() float64 {
	sum := 0
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			sum += int(frequency[i<<6|bitcount.TrailingZeros64(word)])
		}
	}
	return min(float64(sum)/65536, 1)
}
