package secrets

import (
	"slices"
	"strings"
	"sync"
)

// Rule is the index of a row of the table.
type Rule uint16

// ID returns the rule's name, such as "aws-access-key".
func (r Rule) ID() string { return rules[r].id }

// Span is one secret: the bytes [Start, End) of a text.
type Span struct {
	Start, End int
	Rule       Rule
}

// Reach bounds, in bytes, the neighbourhood that decides what is hidden: whether
// a byte belongs to a secret depends on no byte farther away than this.
const Reach = 256 << 10

// Find returns every secret in s, sorted by position and not overlapping; nil
// when there is none. Its time is linear in len(s), and it allocates nothing
// unless something is found.
func Find(s string) []Span {
	e := engine()
	var (
		f     = finder{s: s}
		m     = e.auto
		state uint16
	)
	next, shift, first := m.next, m.shift, m.firstHit
	for i := 0; i < len(s); i++ {
		state = next[int(state)<<shift|int(m.class[s[i]])]
		if state >= first {
			for _, k := range m.hits[state-first] {
				f.hit(e, &e.keys[k], i+1)
			}
		}
	}
	return settle(f.spans)
}

// finder is the state of one Find.
type finder struct {
	s       string
	spans   []Span
	pemDone int // BEGIN markers before this have been dealt with
	// nameEnd: the name that reaches up to here is not assigned to, so further
	// keywords inside it need no look. Without it, a long name made of keywords
	// would be walked once for each of them.
	nameEnd int
}

// key is one keyword with the rules that begin at it.
type key struct {
	text  string
	exact bool // case matters to at least one rule
	rules []Rule
}

// compiled is what the table turns into on first use.
type compiled struct {
	auto   *automaton
	keys   []key
	shapes []shape // by rule
}

var engine = sync.OnceValue(func() *compiled {
	e := &compiled{shapes: make([]shape, len(rules))}
	at := map[string]int{}
	for r := range rules {
		row := &rules[r]
		if row.shape != "" {
			p, err := parseShape(row.shape)
			if err != nil {
				panic("secrets: rule " + row.id + ": " + err.Error()) // a test compiles every row
			}
			e.shapes[r] = p
		}
		for _, k := range strings.Fields(row.keys) {
			k = strings.ReplaceAll(k, "␠", " ")
			n, ok := at[k]
			if !ok {
				n = len(e.keys)
				at[k] = n
				e.keys = append(e.keys, key{text: k})
			}
			e.keys[n].rules = append(e.keys[n].rules, Rule(r))
		}
	}
	words := make([]string, len(e.keys))
	for i := range e.keys {
		words[i] = e.keys[i].text
	}
	e.auto = newAutomaton(words)
	return e
})

// hit runs the rules of keyword k, which ends at s[end].
func (f *finder) hit(e *compiled, k *key, end int) {
	at := end - len(k.text)
	same := f.s[at:end] == k.text
	for _, r := range k.rules {
		row := &rules[r]
		if !row.anyCase && !same {
			continue
		}
		if row.check == nil {
			if !leftEdge(f.s, at) {
				continue
			}
			stop, ok := e.shapes[r].match(f.s, end)
			if ok && (stop >= len(f.s) || !isAlnum(f.s[stop])) && !isFiller(f.s[end:stop]) {
				f.add(at, stop, r)
			}
			continue
		}
		row.check(f, r, at, end)
	}
}

func (f *finder) add(start, end int, r Rule) {
	f.spans = append(f.spans, Span{start, end, r})
}

// leftEdge reports whether a token may begin at s[at]: not in the middle of a
// word, unless the letter before belongs to an escape such as \n or %3D.
func leftEdge(s string, at int) bool {
	if at == 0 || !isAlnum(s[at-1]) {
		return true
	}
	if at >= 2 && s[at-2] == '\\' {
		switch s[at-1] {
		case 'n', 'r', 't':
			return true
		}
	}
	if at >= 3 && s[at-3] == '%' {
		return isHex(s[at-2 : at])
	}
	return at >= 6 && s[at-6] == '\\' && s[at-5] == 'u' && isHex(s[at-4:at])
}

// isFiller reports whether the random part of a token is one byte over and over.
func isFiller(s string) bool {
	if len(s) < 8 {
		return false
	}
	n := 0
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1] {
			n++
		}
	}
	return n*4 >= len(s)*3
}

// settle sorts spans and makes them disjoint. Of two that overlap, one inside the
// other is dropped and the surviving span takes the stronger of the two rules (the
// earlier row); otherwise the second begins where the first ends. Inside a private
// key nothing begins.
func settle(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b Span) int {
		switch {
		case a.Start != b.Start:
			return a.Start - b.Start
		case a.End != b.End:
			return b.End - a.End
		}
		return int(a.Rule) - int(b.Rule)
	})
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		switch {
		case s.Start >= last.End:
			out = append(out, s)
		case s.End <= last.End:
			last.Rule = min(last.Rule, s.Rule)
		case s.Rule <= ruleOpenKey || last.Rule > ruleOpenKey:
			if s.Rule == last.Rule {
				last.End = s.End
				continue
			}
			s.Start = last.End
			out = append(out, s)
		}
	}
	return out
}
