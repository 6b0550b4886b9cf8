package git

import (
	"context"
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// An edit replaces lines [A0, A1) of the old side by lines [B0, B1) of the new.
type edit struct{ A0, A1, B0, B1 int }

// text is a byte string cut into lines; every line keeps its newline, and only
// the last may lack one.
type text struct {
	s     string
	start []int // start[i] is the offset of line i; one more entry for the end
}

func splitText(s string) text {
	t := text{s: s, start: make([]int, 1, strings.Count(s, "\n")+2)}
	for i := 0; i < len(s); {
		i = lineEnd(s, i)
		t.start = append(t.start, i)
	}
	return t
}

func (t text) lines() int        { return len(t.start) - 1 }
func (t text) line(i int) string { return t.s[t.start[i]:t.start[i+1]] }

// exact is how many edited lines the library still finds a shortest script for;
// beyond it stops looking, and anchors are used first.
const exact = 80

// diffText finds the edits between two texts, in order. Its cost is bounded by
// n log n plus the library's own bound, which is linear for each stretch.
func diffText(ctx context.Context, a, b text) ([]edit, error) {
	ids := make(map[string]rune, a.lines())
	number := func(t text) []rune {
		out := make([]rune, t.lines())
		for i := range out {
			if i&0xfff == 0 && ctx.Err() != nil {
				return nil
			}
			l := t.line(i)
			id, ok := ids[l]
			if !ok {
				id = rune(len(ids))
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	x, y := number(a), number(b)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	d := differ{ctx: ctx, x: x, y: y}
	d.stretch(0, len(x), 0, len(y), 0)
	if d.err != nil {
		return nil, d.err
	}
	return d.out, nil
}

type differ struct {
	ctx  context.Context
	x, y []rune
	out  []edit
	err  error
}

// add appends an edit, joining it to the one before when they touch.
func (d *differ) add(e edit) {
	if e.A0 == e.A1 && e.B0 == e.B1 {
		return
	}
	if k := len(d.out) - 1; k >= 0 && d.out[k].A1 == e.A0 && d.out[k].B1 == e.B0 {
		d.out[k].A1, d.out[k].B1 = e.A1, e.B1
		return
	}
	d.out = append(d.out, e)
}

// maxDepth bounds the recursion over anchors; the stretches get shorter anyway.
const maxDepth = 40

func (d *differ) stretch(a0, a1, b0, b1, depth int) {
	if d.err != nil {
		return
	}
	if d.ctx.Err() != nil {
		d.err = context.Cause(d.ctx)
		return
	}
	for a0 < a1 && b0 < b1 && d.x[a0] == d.y[b0] {
		a0++
		b0++
	}
	for a0 < a1 && b0 < b1 && d.x[a1-1] == d.y[b1-1] {
		a1--
		b1--
	}
	if a0 == a1 || b0 == b1 {
		d.add(edit{a0, a1, b0, b1})
		return
	}
	if (a1-a0)*(b1-b0) <= 64 && disjoint(d.x[a0:a1], d.y[b0:b1]) {
		d.add(edit{a0, a1, b0, b1}) // most stretches between anchors: nothing to search
		return
	}
	found := lcs.DiffRunes(d.x[a0:a1], d.y[b0:b1])
	changed := 0
	for _, f := range found {
		changed += f.End - f.Start + f.ReplEnd - f.ReplStart
	}
	if changed > exact && depth < maxDepth {
		if anchors := d.anchors(a0, a1, b0, b1); len(anchors) > 0 {
			for _, p := range anchors {
				d.stretch(a0, p[0], b0, p[1], depth+1)
				a0, b0 = p[0]+1, p[1]+1
			}
			d.stretch(a0, a1, b0, b1, depth+1)
			return
		}
	}
	for _, f := range found {
		d.add(edit{a0 + f.Start, a0 + f.End, b0 + f.ReplStart, b0 + f.ReplEnd})
	}
}

func disjoint(x, y []rune) bool {
	for _, a := range x {
		for _, b := range y {
			if a == b {
				return false
			}
		}
	}
	return true
}

// anchors are pairs of lines that occur once on each side of a stretch, in an
// order that both sides share (the longest such choice).
func (d *differ) anchors(a0, a1, b0, b1 int) [][2]int {
	type count struct{ a, b, na, nb int }
	seen := make(map[rune]*count, a1-a0)
	for i := a0; i < a1; i++ {
		c := seen[d.x[i]]
		if c == nil {
			c = &count{}
			seen[d.x[i]] = c
		}
		c.a, c.na = i, c.na+1
	}
	for i := b0; i < b1; i++ {
		if c := seen[d.y[i]]; c != nil {
			c.b, c.nb = i, c.nb+1
		}
	}
	// Longest increasing subsequence of the b positions, in a order.
	type node struct{ a, b, prev int }
	var nodes []node
	var tails []int // tails[k]: node that ends the best chain of length k+1
	for i := a0; i < a1; i++ {
		c := seen[d.x[i]]
		if c.na != 1 || c.nb != 1 {
			continue
		}
		k := sort.Search(len(tails), func(k int) bool { return nodes[tails[k]].b >= c.b })
		prev := -1
		if k > 0 {
			prev = tails[k-1]
		}
		nodes = append(nodes, node{c.a, c.b, prev})
		if k == len(tails) {
			tails = append(tails, len(nodes)-1)
		} else {
			tails[k] = len(nodes) - 1
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([][2]int, len(tails))
	for k, n := len(tails)-1, tails[len(tails)-1]; k >= 0; k, n = k-1, nodes[n].prev {
		out[k] = [2]int{nodes[n].a, nodes[n].b}
	}
	return out
}
