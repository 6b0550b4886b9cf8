package secrets

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"mcp-devserver/sandbox/internal/keywords"
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
	f := borrow(s)
	f.calm(words.Each(s, func(word, end int) { f.hit(e, word, end) }))
	return f.giveBack()
}

// Found is what the rules find in a text. Only this package makes one that says
// anything, so it is proof that they have been asked.
type Found struct {
	asked bool
	text  string
	spans []Span
}

// FindIn is Find for a text whose keywords have been looked for already.
func FindIn(s string, seen *keywords.Seen) Found {
	found := Found{asked: true, text: s}
	if hits := seen.Of(words); len(hits) > 0 || len(seen.Storms()) > 0 {
		e := engine()
		f := borrow(s)
		for _, h := range hits {
			f.hit(e, h.Word, h.End)
		}
		f.calm(seen.Storms())
		found.spans = f.giveBack()
	}
	return found
}

// of returns the spans of s, from memory when f is about s.
func (f *Found) of(s string) []Span {
	if f != nil && f.asked && f.text == s {
		return f.spans
	}
	return Find(s)
}

// words are this package's keywords.
var words = keywords.Register(func() []keywords.Word { return engine().words })

// Check functions are called through the table, so their finder lives on the heap;
// the pool keeps texts without hits free of allocations.
var finders = sync.Pool{New: func() any { return new(finder) }}

func borrow(s string) *finder {
	f := finders.Get().(*finder)
	f.reset(s)
	return f
}

func (f *finder) giveBack() []Span {
	spans := f.spans
	f.reset("")
	finders.Put(f)
	return settle(spans)
}

// finder is the state of one Find. Most of it remembers what has been read already,
// so that keywords close to each other do not read the same bytes again and again.
type finder struct {
	s       string
	spans   []Span
	pemDone int // BEGIN markers before this have been dealt with
	jwkDone int // members of JSON web keys before this have been read
	// nameEnd: the name that reaches up to here is not assigned to, so further
	// keywords inside it need no look.
	nameEnd int
	// escapedEnd: names with escaped letters before this have been read.
	escapedEnd int
	bare       run // the stretch without a delimiter around the newest bare value
	// judged is where the newest value begins, by strength of its name.
	judged  [3]int
	curlAt  int // the newest "curl", −1 when its line has ended
	curlTo  int // how far that line has been read
	loginAt int // the newest "login", −1 at first
	// optionless: from the newest container login up to here no option -p begins.
	optionless int
	memory     *runs
}

// runs are what match remembers, by rule. They are many and seldom used.
type runs struct {
	of   [maxRules]run
	used []Rule
}

// run is a stretch of bytes [from, to) known to belong to one class.
type run struct{ from, to int }

// maxRules bounds the table.
const maxRules = 320

func (f *finder) reset(s string) {
	m := f.memory
	if m == nil {
		m = &runs{}
	}
	for _, r := range m.used {
		m.of[r] = run{}
	}
	m.used = m.used[:0]
	*f = finder{s: s, memory: m, curlAt: -1, loginAt: -1, judged: [3]int{-1, -1, -1}}
}

// match is shape.match that remembers, for each rule, the stretch its longest item
// has read: a text made of overlapping tokens is read once.
func (f *finder) match(p shape, r Rule, i int) (end int, ok bool) {
	s := f.s
	for k := range p {
		it := &p[k]
		if it.max >= longItem {
			m := &f.memory.of[r]
			if i < m.from || i > m.to || m.to == 0 {
				if m.to == 0 {
					f.memory.used = append(f.memory.used, r)
				}
				m.from, m.to = i, i
			}
			limit := min(len(s), i+it.max)
			for m.to < limit && it.class.Has(s[m.to]) {
				m.to++
			}
			n := min(m.to, limit) - i
			if n < it.min {
				return 0, false
			}
			i += n
			continue
		}
		n := 0
		for n < it.max && i < len(s) && it.class.Has(s[i]) {
			i++
			n++
		}
		if n < it.min {
			return 0, false
		}
	}
	return i, true
}

// longItem is from how many bytes on an item is remembered; a shape holds at most
// one that long.
const longItem = 30

// key is one keyword with the rules that begin at it.
type key struct {
	text  string
	rules []Rule
	exact bool // no rule takes it in another case
	block bool // begins something that may be longer than a token
}

// compiled is what the table turns into on first use.
type compiled struct {
	keys   []key
	words  []keywords.Word // by key
	shapes []shape         // by rule
}

var engine = sync.OnceValue(func() *compiled {
	e := &compiled{shapes: make([]shape, len(rules))}
	at := map[string]int{}
	for r := range rules {
		row := &rules[r]
		if row.shape != "" {
			p, err := parseShape(row.shape)
			if err != nil || len(rules) > maxRules {
				panic(fmt.Sprintf("secrets: rule %s of %d: %v", row.id, len(rules), err)) // a test compiles every row
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
			e.keys[n].block = e.keys[n].block || row.block
		}
	}
	for i := range e.keys {
		k := &e.keys[i]
		k.exact = !slices.ContainsFunc(k.rules, func(r Rule) bool { return rules[r].anyCase })
		e.words = append(e.words, k.demand(e.shapes))
	}
	return e
})

// demand is k with what all of its rules demand of the bytes around it.
func (k *key) demand(shapes []shape) keywords.Word {
	w := keywords.Word{Text: k.text, Exact: k.exact, Always: k.block}
	if d, ok := demands[k.text]; ok {
		if d.before != "" {
			w.Before = &mustShape(d.before)[0].class
		}
		for _, it := range mustShape(d.then) {
			w.Then = append(w.Then, it.class)
		}
		return w
	}
	var then keywords.Set
	for _, r := range k.rules {
		must := false // the shape holds at least one byte
		for _, it := range shapes[r] {
			for i := range then {
				then[i] |= it.class[i]
			}
			if must = it.min > 0; must {
				break
			}
		}
		if !must {
			return w // a check, or a credential that may end with the key
		}
	}
	w.Then = []keywords.Set{then}
	return w
}

// hit runs the rules of a keyword, which ends at s[end].
func (f *finder) hit(e *compiled, word, end int) {
	k := &e.keys[word]
	at := end - len(k.text)
	same := k.exact || f.s[at:end] == k.text
	for _, r := range k.rules {
		row := &rules[r]
		if !row.anyCase && !same {
			continue
		}
		if row.check == nil {
			if !e.shapes[r].may(f.s, end) || !leftEdge(f.s, at) {
				continue
			}
			stop, ok := f.match(e.shapes[r], r, end)
			if ok && rightEdge(f.s, stop) && !isFiller(f.s[end:stop]) &&
				(!row.random || isRandom(f.s[end:stop], 14)) {
				f.add(at, stop, r)
			}
			continue
		}
		row.check(f, r, at, end)
	}
}

func (f *finder) add(start, end int, r Rule) {
	if n := len(f.spans); n > 0 {
		if last := &f.spans[n-1]; last.Rule == r && last.Start <= start && start < last.End {
			last.End = max(last.End, end) // as settle would
			return
		}
	}
	f.spans = append(f.spans, Span{start, end, r})
}

// leftEdge reports whether a token may begin at s[at]: not in the middle of a
// word, unless what stands before belongs to an escape: \n, \x00, \033, %3D, \u000a.
func leftEdge(s string, at int) bool {
	if at == 0 || !isAlnum(s[at-1]) {
		return true
	}
	if at >= 2 && s[at-2] == '\\' {
		switch s[at-1] {
		case 'n', 'r', 't', 'b', 'f', 'v', 'a', 'e', '0':
			return true
		}
	}
	if at >= 3 && s[at-3] == '%' {
		return isHex(s[at-2 : at])
	}
	if at >= 4 && s[at-4] == '\\' {
		switch c := s[at-3]; {
		case c == 'x', c == 'X':
			return isHex(s[at-2 : at])
		case '0' <= c && c <= '3':
			return isOctal(s[at-2]) && isOctal(s[at-1])
		}
	}
	if at >= 6 && s[at-6] == '\\' && s[at-5] == 'u' && isHex(s[at-4:at]) {
		return true
	}
	return s[at-1] == 'm' && isColour(s[max(0, at-16):at-1])
}

// rightEdge reports whether a token may end before s[stop]: not in the middle of a
// word, nor where the rest of one was replaced.
func rightEdge(s string, stop int) bool {
	if stop >= len(s) {
		return true
	}
	c := s[stop]
	return !isAlnum(c) && (c != openBracket[0] || !strings.HasPrefix(s[stop:], openBracket+"redacted "))
}

// isColour reports whether s ends in the numbers of a terminal's colour escape,
// whose last letter would follow: [1;31.
func isColour(s string) bool {
	i := len(s)
	for i > 0 && (isDigit(s[i-1]) || s[i-1] == ';') {
		i--
	}
	return i > 1 && s[i-1] == '[' && (s[i-2] == 0x1b || isAlnum(s[i-2]))
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }

// isFiller reports whether the random part of a token is filled up with one of the
// bytes that people write where a value belongs: xxxxxxxx.
func isFiller(s string) bool {
	if len(s) < 8 {
		return false
	}
	s = s[:min(len(s), 12)]
	n := 0
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1] && (s[i]|0x20 == 'x' || s[i] == '0' || s[i] == '_' || s[i] == '-' || s[i] == '.') {
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
