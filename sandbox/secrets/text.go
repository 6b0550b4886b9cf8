package secrets

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Mask is the byte that stands for each byte of a secret in Masked.
const Mask = '\x00'

// The brackets of a placeholder. They belong to no programming language and no
// credential format, and no rule accepts a value that holds one.
const (
	openBracket  = "⟦"
	closeBracket = "⟧"
)

// Placeholder returns what stands in an answer where a secret of the given rule
// is on disk.
func Placeholder(rule string) string {
	return openBracket + "redacted " + rule + ": differs on disk" + closeBracket
}

// Placed counts in r the placeholders that stand in s already: a text that had to be
// redacted before it was cut tells of it so.
func Placed(s string, r *Report) {
	for {
		_, rest, ok := strings.Cut(s, openBracket+"redacted ")
		if !ok {
			return
		}
		id, tail, ok := strings.Cut(rest, ": differs on disk"+closeBracket)
		s = rest
		if !ok {
			return
		}
		if n, known := ruleByID()[id]; known {
			r.count(n)
			s = tail
		}
	}
}

// WholePlaceholders returns where to cut s, at cut or before: never within a
// placeholder.
func WholePlaceholders(s string, cut int) int {
	if open := strings.LastIndex(s[:cut], openBracket); open >= 0 && !strings.Contains(s[open:cut], closeBracket) &&
		strings.HasPrefix(s[open:], openBracket+"redacted ") {
		return open
	}
	return cut
}

var ruleByID = sync.OnceValue(func() map[string]Rule {
	m := make(map[string]Rule, len(rules))
	for i := range rules {
		m[rules[i].id] = Rule(i)
	}
	return m
})

// Text is a text and the secrets found in it, or in the longer text that it was
// cut from.
type Text struct {
	Raw   string
	Spans []Span // sorted, not overlapping
}

// Scan finds the secrets of s.
func Scan(s string) Text { return Text{s, Find(s)} }

// Slice returns the bytes [i, j) of t. Secrets that the cut runs through stay
// secrets on both sides of it.
func (t Text) Slice(i, j int) Text {
	out := Text{Raw: t.Raw[i:j]}
	from, _ := slices.BinarySearchFunc(t.Spans, i, func(s Span, at int) int { return cmp.Compare(s.End, at+1) })
	to := from
	for to < len(t.Spans) && t.Spans[to].Start < j {
		to++
	}
	if from == to {
		return out
	}
	out.Spans = make([]Span, 0, to-from)
	for _, s := range t.Spans[from:to] {
		out.Spans = append(out.Spans, Span{max(s.Start, i) - i, min(s.End, j) - i, s.Rule})
	}
	return out
}

// Masked returns t with every byte of a secret replaced by Mask, except line
// feeds. Two texts that differ in nothing but the values of secrets, of equal
// shape, are equal when masked.
func (t Text) Masked() string {
	if len(t.Spans) == 0 {
		return t.Raw
	}
	b := []byte(t.Raw)
	for _, s := range t.Spans {
		for i := s.Start; i < s.End; i++ {
			if b[i] != '\n' {
				b[i] = Mask
			}
		}
	}
	return string(b)
}

// Report counts what Redact replaced, by rule. Its zero value is ready. It is not
// safe for concurrent use.
type Report struct {
	counts []int // by Rule
	late   int
}

func (r *Report) count(rule Rule) {
	if r == nil {
		return
	}
	if r.counts == nil {
		r.counts = make([]int, len(rules))
	}
	r.counts[rule]++
}

// Each calls f for every rule that replaced something, in the order of rule ids.
// A secret counts once, however many lines it has.
func (r *Report) Each(f func(rule string, count int)) {
	for _, n := range byID() {
		if int(n) < len(r.counts) && r.counts[n] > 0 {
			f(n.ID(), r.counts[n])
		}
	}
}

// Late returns how many secrets the rules found in sourced texts outside the
// spans that came with them. The caller that lost those spans has a fault.
func (r *Report) Late() int { return r.late }

// Join unites two sorted lists of spans of one text. Where they overlap, one span
// covers both, under the rule of the one that begins first.
func Join(a, b []Span) []Span {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, func(x, y Span) int { return x.Start - y.Start })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Redact replaces every span of t by a placeholder, runs the rules over what is
// left, and replaces what they find as well. Line feeds are kept: a secret of
// several lines becomes a placeholder for each line that is not blank. sourced
// says that t was cut from a text that Find saw whole, so that whatever the rules
// find now counts as Late. changed is false when clean is t.Raw itself.
//
// Redacting clean once more changes nothing.
func Redact(t Text, sourced bool, r *Report) (clean string, changed bool) {
	return RedactFound(t, nil, sourced, r)
}

// RedactFound is Redact for a text that the rules may have read already: where found
// is about the very string that is about to leave, it is not read again.
func RedactFound(t Text, found *Found, sourced bool, r *Report) (clean string, changed bool) {
	clean = replace(t.Raw, t.Spans, r)
	// What is replaced is an edge to what stood beside it, and brings the parts of a key
	// block closer together; so look again until nothing is found. Each round hides
	// more, so this ends; a text made so that each round finds a little loses the lines
	// in which that happens.
	for round := 0; ; round++ {
		spans := found.of(clean)
		if spans == nil {
			return clean, clean != t.Raw
		}
		if sourced && r != nil {
			r.late += len(spans)
		}
		if round >= patience {
			spans = wholeLines(clean, spans)
		}
		clean = replace(clean, spans, r)
	}
}

// patience is after how many rounds Redact hides whole lines.
const patience = 4

// wholeLines widens spans to the lines that they touch.
func wholeLines(s string, spans []Span) []Span {
	var out []Span
	for _, p := range spans {
		p.Start = strings.LastIndexByte(s[:p.Start], '\n') + 1
		if n := strings.IndexByte(s[p.End:], '\n'); n >= 0 {
			p.End += n
		} else {
			p.End = len(s)
		}
		if n := len(out); n > 0 && p.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, p.End)
			continue
		}
		out = append(out, p)
	}
	return out
}

func replace(s string, spans []Span, r *Report) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32*len(spans))
	at := 0
	for i, p := range spans {
		b.WriteString(s[at:p.Start])
		at = p.End
		if p.Start == p.End {
			continue
		}
		if i == 0 || !continues(s, spans[i-1], p) {
			r.count(p.Rule)
		}
		rest := s[p.Start:p.End]
		ph := Placeholder(p.Rule.ID())
		for {
			line, more, found := strings.Cut(rest, "\n")
			body := strings.TrimRight(line, "\r")
			if strings.TrimSpace(body) != "" {
				b.WriteString(ph)
			}
			if !found {
				break
			}
			b.WriteString(line[len(body):])
			b.WriteByte('\n')
			rest = more
		}
	}
	b.WriteString(s[at:])
	return b.String()
}

// continues reports whether q is a further line of the key block that p is a line
// of: in a patch the sign in front of each line stands between them.
func continues(s string, p, q Span) bool {
	if p.Rule != q.Rule || q.Rule > ruleOpenKey || strings.HasPrefix(s[p.Start:p.End], "-----END") {
		return false
	}
	gap := strings.TrimPrefix(s[p.End:q.Start], "\r")
	return len(gap) == 2 && gap[0] == '\n' && strings.IndexByte("+- ", gap[1]) >= 0
}

// RuleInfo describes a rule.
type RuleInfo struct {
	ID, What string
	Fire     []Example // must be found
	Quiet    []string  // must not
}

// Example is a text with one secret in it.
type Example struct {
	Text       string
	Start, End int
}

// Rules returns the table in the order of rule ids, without keyword-storm, which no
// short example shows.
func Rules() []RuleInfo { return describe(1) }

// describe generates the examples from seed: two seeds give the same texts but
// for the values of the secrets.
func describe(seed uint64) []RuleInfo {
	out := make([]RuleInfo, 0, len(rules))
	for _, n := range byID() {
		row := &rules[n]
		if row.fire == "" {
			continue // no example is that long
		}
		info := RuleInfo{ID: row.id, What: row.what}
		for line := range strings.SplitSeq(row.fire, "\n") {
			text, start, end := expand(line, seed)
			info.Fire = append(info.Fire, Example{text, start, end})
		}
		for line := range strings.SplitSeq(row.quiet, "\n") {
			if line != "" {
				text, _, _ := expand(line, seed)
				info.Quiet = append(info.Quiet, text)
			}
		}
		out = append(out, info)
	}
	return out
}

// byID returns the rules in the order of their ids.
var byID = sync.OnceValue(func() []Rule {
	out := make([]Rule, len(rules))
	for i := range out {
		out[i] = Rule(i)
	}
	slices.SortFunc(out, func(a, b Rule) int { return strings.Compare(a.ID(), b.ID()) })
	return out
})
