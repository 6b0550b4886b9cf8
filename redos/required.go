package redos

import (
	"slices"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2/syntax"
)

const (
	maxLiterals   = 16
	maxLiteralLen = 64
	useless       = 1 << 30
)

// needs says what literals the matches of a node hold. exact is the node's whole language when that is small; need
// holds literals one of which is in every match, or is empty when nothing is known.
type needs struct {
	exact []literal
	need  []literal
}

var emptyLiteral = []literal{{}}

// Estimates of time, in picoseconds for each byte of a text, and of the events that cost it.
const (
	perSearch    = 50      // to look for a byte, at 20 GB/s
	perStop      = 20_000  // a byte that was looked for is there; twice that for one of two
	perCandidate = 150_000 // a literal is there and its line must be judged
	perStep      = 650     // of the automaton, four lanes at a time
)

// cost estimates what finding one of a set of literals takes for each byte of a text, candidates included.
func cost(ls []literal) int {
	apart, together := costs(ls)
	return min(apart, together)
}

// costs is cost for a search of each literal by its rarest byte, and for one of windows of them all.
func costs(ls []literal) (apart, together int) {
	if len(ls) == 0 || len(ls) > maxLiterals {
		return useless, useless
	}
	windows := 0.0
	for _, l := range ls {
		if len(l.text) == 0 {
			return useless, useless
		}
		_, _, often := l.window()
		windows += often
		least, at := useless, 0
		for i := range l.text {
			if f := l.frequencyAt(i); f < least {
				least, at = f, i
			}
		}
		search := perSearch + least*perStop/65536
		if l.fold[at] {
			search *= 2
		}
		apart += search
		// How often a literal is there falls off with its length, though less than its bytes' frequencies would have it.
		candidates := least * perCandidate / 65536
		switch n := len(l.text); {
		case n == 1:
		case n == 2:
			candidates /= 8
		default:
			candidates /= 50 << min(2*(n-3), 6)
		}
		apart += candidates
		if candidates = int(often * perCandidate); len(l.text) > windowLen {
			candidates /= 4
		}
		together += candidates
	}
	together += perWindow + int(windows*perCheck)
	if !vectors {
		together = useless
	}
	return apart, together
}

// better returns the cheaper set; b on a tie, where callers put the more precise one.
func better(a, b []literal) []literal {
	if c := cost(b); c < useless && c <= cost(a) {
		return b
	}
	return a
}

func (n needs) best() []literal { return better(n.need, n.exact) }

func cross(a, b []literal) ([]literal, bool) {
	if len(a)*len(b) > maxLiterals {
		return nil, false
	}
	out := make([]literal, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			if len(x.text)+len(y.text) > maxLiteralLen {
				return nil, false
			}
			out = append(out, x.with(y))
		}
	}
	return out, true
}

// setLiterals spells out a small set; a letter that is there in both ASCII cases becomes one folded literal.
func setLiterals(set *syntax.CharSet) []literal {
	if set == nil || set.IsNegated() {
		return nil
	}
	rs := set.GetSetChars(9)
	if len(rs) == 0 || len(rs) > 8 {
		return nil
	}
	have := map[rune]bool{}
	for _, r := range rs {
		if !set.Contains(r) {
			return nil
		}
		have[r] = true
	}
	var out []literal
	for _, r := range rs {
		switch {
		case r >= 'A' && r <= 'Z' && have[r|0x20]:
		case r >= 'a' && r <= 'z' && have[r&^0x20]:
			out = append(out, foldedLiteral(byte(r)))
		default:
			out = append(out, runeLiteral(r))
		}
	}
	return out
}

func loopNeeds(in needs, m, n int) needs {
	if m == 0 {
		if n == 1 && in.exact != nil && len(in.exact) < maxLiterals {
			return needs{exact: append([]literal{{}}, in.exact...)}
		}
		return needs{}
	}
	out := needs{need: in.best()}
	if in.exact == nil {
		return out
	}
	all, ok := emptyLiteral, true
	// Each time makes a literal longer or more of them, until there are too many, except where there is only the empty one.
	for k := 0; k < m && ok && !(len(in.exact) == 1 && len(in.exact[0].text) == 0); k++ {
		all, ok = cross(all, in.exact)
	}
	if ok {
		if m == n {
			out.exact = all
		}
		out.need = better(out.need, all)
	}
	return out
}

// needsOf finds the literals of a node. What it does not know holds none.
func needsOf(n *syntax.RegexNode) needs {
	switch n.T {
	case syntax.NtCapture, syntax.NtGroup, syntax.NtAtomic:
		return needsOf(n.Children[0])
	case syntax.NtOne:
		return needs{exact: []literal{runeLiteral(n.Ch)}}
	case syntax.NtMulti:
		var l literal
		for _, c := range n.Str {
			l = l.with(runeLiteral(c))
		}
		if len(l.text) <= maxLiteralLen {
			return needs{exact: []literal{l}}
		}
		cut := maxLiteralLen
		for !utf8.RuneStart(l.text[cut]) {
			cut--
		}
		return needs{need: []literal{{l.text[:cut], l.fold[:cut]}}}
	case syntax.NtSet:
		return needs{exact: setLiterals(n.Set)}
	case syntax.NtOneloop, syntax.NtOnelazy, syntax.NtOneloopatomic:
		return loopNeeds(needs{exact: []literal{runeLiteral(n.Ch)}}, n.M, n.N)
	case syntax.NtSetloop, syntax.NtSetlazy, syntax.NtSetloopatomic:
		return loopNeeds(needs{exact: setLiterals(n.Set)}, n.M, n.N)
	case syntax.NtLoop, syntax.NtLazyloop:
		return loopNeeds(needsOf(n.Children[0]), n.M, n.N)
	case syntax.NtEmpty, syntax.NtBol, syntax.NtEol, syntax.NtBoundary, syntax.NtNonboundary, syntax.NtBeginning,
		syntax.NtStart, syntax.NtEndZ, syntax.NtEnd, syntax.NtECMABoundary, syntax.NtNonECMABoundary,
		syntax.NtUpdateBumpalong, syntax.NtNegLook, syntax.NtResetCapture:
		return needs{exact: emptyLiteral}
	case syntax.NtPosLook: // its text is in the searched text, though not in the match
		return needs{exact: emptyLiteral, need: needsOf(n.Children[0]).best()}
	case syntax.NtAlternate:
		return alternateNeeds(n.Children)
	case syntax.NtConcatenate:
		return concatNeeds(n)
	}
	return needs{}
}

func alternateNeeds(cs []*syntax.RegexNode) needs {
	out := needs{exact: []literal{}, need: []literal{}}
	for _, c := range cs {
		i := needsOf(c)
		if out.exact != nil && i.exact != nil && len(out.exact)+len(i.exact) <= maxLiterals {
			out.exact = append(out.exact, i.exact...)
		} else {
			out.exact = nil
		}
		b := i.best()
		if out.need != nil && cost(b) < useless && len(out.need)+len(b) <= maxLiterals {
			out.need = append(out.need, b...)
		} else {
			out.need = nil
		}
		if i.need != nil && cost(i.exact) == useless {
			out.exact = nil // a lookahead's text would be lost
		}
	}
	if len(out.exact) == 0 {
		out.exact = nil
	}
	return out
}

func concatNeeds(n *syntax.RegexNode) needs {
	var out needs
	cur, all := emptyLiteral, true
	for i := range n.Children {
		c := n.Children[i]
		if n.Options&syntax.RightToLeft != 0 { // stored in the order of matching
			c = n.Children[len(n.Children)-1-i]
		}
		in := needsOf(c)
		out.need = better(out.need, in.need)
		if in.exact == nil {
			out.need = better(out.need, cur)
			cur, all = emptyLiteral, false
			continue
		}
		x, ok := cross(cur, in.exact)
		if !ok {
			out.need = better(out.need, cur)
			cur, all = in.exact, false
			continue
		}
		cur = x
	}
	out.need = better(out.need, cur)
	if all {
		out.exact = cur
	}
	return out
}

// filter finds the places where one of several literals stands, or one of several windows.
type filter struct {
	finders []finder
	windows *windows // of the literals or, where there are none, of the pattern; nil: each literal is looked for
	orNUL   *windows // the same, and NUL
	offsets []int    // by finder, of its window
	// needsProof says that the automaton may rule out a line that holds a literal.
	needsProof bool
}

// newFilter returns nil when nothing that it could look for is cheaper than the automaton that stands in for it.
func newFilter(t *syntax.RegexTree, a *automaton) *filter {
	n := needsOf(t.Root)
	best := n.best()
	otherwise := a != nil
	if otherwise && vectors {
		if list, c := a.levels[0].cut(); c+c/8 < cost(best) && c < perStep {
			f := &filter{needsProof: true}
			f.lookFor(list)
			return f
		}
	}
	if otherwise && cost(best) > perStep {
		return nil
	}
	proof := n.exact == nil || cost(n.exact) > cost(best) || anchored(t.Root)
	if begin := beginning(best); otherwise && len(begin[0].text) > 2 && cost(begin) < cost(best) {
		best, proof = begin, true // one search, and the automaton tells what follows
	}
	f := filterOf(best)
	if f != nil {
		f.needsProof = proof
	}
	return f
}

// beginning returns what all literals begin with, as a set of one.
func beginning(ls []literal) []literal {
	if len(ls) == 0 {
		return emptyLiteral
	}
	n := len(ls[0].text)
	for _, l := range ls[1:] {
		k := 0
		for k < min(n, len(l.text)) && l.text[k] == ls[0].text[k] && l.fold[k] == ls[0].fold[k] {
			k++
		}
		n = k
	}
	for n > 0 && n < len(ls[0].text) && !utf8.RuneStart(ls[0].text[n]) {
		n-- // not in the middle of a character
	}
	return []literal{{ls[0].text[:n], ls[0].fold[:n]}}
}

// anchored reports whether a tree holds an anchor of a line.
func anchored(n *syntax.RegexNode) bool {
	switch n.T {
	case syntax.NtBol, syntax.NtEol, syntax.NtBeginning, syntax.NtEnd, syntax.NtEndZ:
		return true
	}
	return slices.ContainsFunc(n.Children, anchored)
}

// filterOf returns nil when the literals cannot be trusted: U+FFFD stands for any broken byte, and NUL for what a caller
// may have masked in the text given to Find.
func filterOf(ls []literal) *filter {
	if cost(ls) >= useless {
		return nil
	}
	f := &filter{}
	for _, l := range ls {
		for i := 0; i < len(l.text); {
			r, size := utf8.DecodeRune(l.text[i:])
			if r == utf8.RuneError || r == 0 {
				return nil
			}
			i += size
		}
		f.finders = append(f.finders, newFinder(l))
	}
	if apart, together := costs(ls); together < apart {
		var list []window
		for _, l := range ls {
			w, at, _ := l.window()
			list, f.offsets = append(list, w), append(f.offsets, at)
		}
		f.lookFor(list)
	}
	return f
}

func (f *filter) lookFor(list []window) {
	nul := window{{1}, anyByte, anyByte}
	f.windows, f.orNUL = newWindows(list), newWindows(append(list[:len(list):len(list)], nul))
}

const (
	firstWindow = 1 << 9
	lastWindow  = 1 << 16
)

// positions is what a walk over a text knows of each literal: where it stands next, at or after the place last asked
// about, and up to where it does not.
type positions struct {
	found, clear [maxLiterals]int
}

// after returns the first place at or after from where a literal stands, or -1; from does not decrease. Several searches
// share a window that grows, so that a rare literal is not searched to the end of the text for every hit of a common one.
func (f *filter) after(s string, from int, known *positions) int {
	if f.windows != nil {
		return f.window(s, from)
	}
	if len(f.finders) == 1 {
		return f.finders[0].next(s, from, len(s))
	}
	for w := firstWindow; from < len(s); w = min(2*w, lastWindow) {
		to := min(from+w, len(s))
		best := -1
		for i := range f.finders {
			p, start := known.found[i]-1, max(from, known.clear[i])
			if p < from { // found is one more than the place, so that nothing is known at first
				p = -1
				if start < to {
					if p = f.finders[i].next(s, start, to); p < 0 {
						known.clear[i] = to
					}
					known.found[i] = p + 1
				}
			}
			if p >= 0 && p < to {
				best, to = p, p
			}
		}
		if best >= 0 {
			return best
		}
		from = to
	}
	return -1
}

// window is after by windows. Of literals in one line it may return another one than the first.
func (f *filter) window(s string, from int) int {
	for at := from; ; at++ {
		var buckets byte
		if at, buckets = f.windows.next(s, at, len(s)); at < 0 || len(f.finders) == 0 {
			return at
		}
		if p := f.literal(s, at, from, buckets); p >= 0 {
			return p
		}
	}
}

// literal returns the start of a literal that begins at from or later and one of whose windows is at a place, or -1.
func (f *filter) literal(s string, at, from int, buckets byte) int {
	for i := range f.finders {
		if p := at - f.offsets[i]; buckets>>(i%maxBuckets)&1 != 0 && p >= from && f.finders[i].at(s[p:]) {
			return p
		}
	}
	return -1
}

func (f *filter) next(s string, from int) int {
	var known positions
	return f.after(s, from, &known)
}
