package redos

import (
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/dlclark/regexp2/v2/syntax"
)

// repeat is a quantified atom in the source of a pattern. Offsets count characters.
type repeat struct {
	start, quant, end int // atom, its quantifier, and where that ends
	group             bool
	min, max          int
}

// source is what the scanner finds. It knows as much of the syntax as is needed to point at a part of a pattern that
// the engine's parser has accepted.
type source struct {
	text    []rune
	repeats []repeat
	open    int // 1-based character of the last group or class that was left open; 0 when none
	unknown int // 1-based character of the first escape that the engine would read as a plain letter; 0 when none
}

// unknownEscapes are letters without a meaning behind a backslash. The engine takes them for themselves, and a pattern
// that means white space by \h would find the letter h.
const unknownEscapes = "CEFHIJKLMNORTUVXYghijlmoqy"

// known notes an escape whose letter has no meaning.
func (s *source) known(i int) {
	if s.unknown == 0 && i+1 < len(s.text) && strings.ContainsRune(unknownEscapes, s.text[i+1]) {
		s.unknown = i + 2
	}
}

func scanSource(pattern string) *source {
	s := &source{text: []rune(pattern)}
	t := s.text
	var groups []int
	for i := 0; i < len(t); {
		start, group := i, false
		switch t[i] {
		case '\\':
			i = s.escape(i)
		case '[':
			i = s.class(i)
		case '(':
			if end := s.opening(i); end > i {
				if t[end-1] != ')' { // not a comment or a switch of options
					groups = append(groups, i)
				}
				i = end
				continue
			}
			s.open = i + 1
			return s
		case ')':
			i++
			if len(groups) == 0 {
				continue
			}
			start, group = groups[len(groups)-1], true
			groups = groups[:len(groups)-1]
		case '|', '^', '$':
			i++
			continue
		default:
			i++
		}
		for i < len(t) {
			lo, hi, end := quantifier(t, i)
			if end == i {
				break
			}
			s.repeats = append(s.repeats, repeat{start, i, end, group, lo, hi})
			i = end
			group = true // a repeat of a repeat
		}
	}
	if s.open == 0 && len(groups) > 0 {
		s.open = groups[len(groups)-1] + 1
	}
	return s
}

func openAt(pattern string) int { return max(1, scanSource(pattern).open) }

func (s *source) escape(i int) int {
	t := s.text
	if i+1 >= len(t) {
		return len(t)
	}
	s.known(i)
	until := func(from int, end rune) int {
		for j := from; j < len(t); j++ {
			if t[j] == end {
				return j + 1
			}
		}
		return len(t)
	}
	switch c := t[i+1]; {
	case c == 'Q':
		for j := i + 2; j+1 < len(t); j++ {
			if t[j] == '\\' && t[j+1] == 'E' {
				return j + 2
			}
		}
		return len(t)
	case (c == 'p' || c == 'P' || c == 'x' || c == 'u' || c == 'k') && i+2 < len(t) && t[i+2] == '{':
		return until(i+3, '}')
	case c == 'k' && i+2 < len(t) && t[i+2] == '<':
		return until(i+3, '>')
	case c == 'k' && i+2 < len(t) && t[i+2] == '\'':
		return until(i+3, '\'')
	case c == 'x':
		return min(i+4, len(t))
	case c == 'u':
		return min(i+6, len(t))
	case c == 'c':
		return min(i+3, len(t))
	case c >= '0' && c <= '9':
		j := i + 2
		for j < len(t) && t[j] >= '0' && t[j] <= '9' {
			j++
		}
		return j
	}
	return i + 2
}

// class returns the end of a character class with its [:names:].
func (s *source) class(i int) int {
	t := s.text
	s.open, i = i+1, i+1
	if i < len(t) && t[i] == '^' {
		i++
	}
	for first := true; i < len(t); first = false {
		switch {
		case t[i] == '\\':
			s.known(i)
			i += 2
		case t[i] == ']' && !first:
			s.open = 0
			return i + 1
		case t[i] == '[':
			i = max(s.className(i), i+1)
		default:
			i++
		}
	}
	return len(t)
}

// className returns the end of a [:name:], or i when there is none at i.
func (s *source) className(i int) int {
	t := s.text
	if i+1 >= len(t) || t[i+1] != ':' {
		return i
	}
	j := i + 2
	for j+1 < len(t) && (t[j] != ':' || t[j+1] != ']') && t[j] != ']' {
		j++
	}
	if j+1 < len(t) && t[j] == ':' {
		return j + 2
	}
	return i
}

// opening returns the end of what opens a group; of a comment or a switch of options, with the closing parenthesis.
// It returns i when a comment has no end.
func (s *source) opening(i int) int {
	t := s.text
	if i+1 >= len(t) || t[i+1] != '?' {
		return i + 1
	}
	if i+2 < len(t) && t[i+2] == '#' {
		for j := i + 3; j < len(t); j++ {
			if t[j] == ')' {
				return j + 1
			}
		}
		return i
	}
	for j := i + 2; j < len(t); j++ {
		switch c := t[j]; {
		case c == ')' || c == ':' || c == '=' || c == '!' || c == '>':
			return j + 1
		case c == '<' || c == '\'' || c == 'P' || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if c == '\'' && j > i+2 {
				return j + 1
			}
		case c == '(':
			return j // a condition: its parentheses are scanned as a group
		default:
			return j
		}
	}
	return len(t)
}

// quantifier reads a quantifier at i and returns where it ends, or i.
func quantifier(t []rune, i int) (lo, hi, end int) {
	switch t[i] {
	case '*':
		lo, hi, end = 0, math.MaxInt32, i+1
	case '+':
		lo, hi, end = 1, math.MaxInt32, i+1
	case '?':
		lo, hi, end = 0, 1, i+1
	case '{':
		j := i + 1
		for j < len(t) && (t[j] >= '0' && t[j] <= '9' || t[j] == ',') {
			j++
		}
		if j == len(t) || t[j] != '}' {
			return 0, 0, i
		}
		a, b, comma := strings.Cut(string(t[i+1:j]), ",")
		var err error
		if lo, err = strconv.Atoi(a); err != nil {
			return 0, 0, i
		}
		switch {
		case !comma:
			hi = lo
		case b == "":
			hi = math.MaxInt32
		default:
			if hi, err = strconv.Atoi(b); err != nil {
				return 0, 0, i
			}
		}
		end = j + 1
	default:
		return 0, 0, i
	}
	if end < len(t) && (t[end] == '?' || t[end] == '+') {
		end++
	}
	return lo, hi, end
}

const (
	maxFragment   = 60
	maxSuggestion = 200
	maxRewrites   = 12
	maxParses     = 200
)

// unsafePattern is the guard's verdict on a pattern and its tree.
func unsafePattern(pattern string, t *syntax.RegexTree) bool {
	steps := len(precisions) * maxSteps
	return nestedOrExponential(pattern, t, &steps)
}

func nestedOrExponential(pattern string, t *syntax.RegexTree, steps *int) bool {
	if _, nested := scanSource(pattern).plainlyNested(); nested {
		return true
	}
	return exponential(t, rootFails, steps)
}

// adviser looks for the fragment to name and for a pattern to suggest, within a budget: when that is spent, the fragment
// is the largest repeat and there is no suggestion.
type adviser struct {
	opts   syntax.RegexOptions
	steps  int // of the guard
	parses int
}

func (a *adviser) parse(pattern string) (*syntax.RegexTree, bool) {
	if a.parses--; a.parses < 0 || a.steps <= 0 {
		return nil, false
	}
	t, err := parse(pattern, a.opts)
	return t, err == nil
}

// refusal makes the refusal of a pattern that the guard does not pass.
func refusal(pattern string, opts syntax.RegexOptions) *UnsafeError {
	a := &adviser{opts: opts, steps: maxSteps, parses: maxParses}
	if _, folded := engineText(pattern, opts); folded > maxFolded/20 {
		a.parses = 0 // each would take milliseconds
	}
	s := scanSource(pattern)
	e := &UnsafeError{Fragment: shorten(pattern)}
	r, ok := a.culprit(s)
	if !ok {
		return e
	}
	frag := string(s.text[r.start:r.end])
	e.Fragment = shorten(frag)
	for _, p := range []string{pattern, "(?>" + frag + ")"} {
		p = a.rewrite(p, 0)
		if n := len([]rune(p)); n > 0 && n <= maxSuggestion {
			e.Suggestion = p
			break
		}
	}
	return e
}

func shorten(s string) string {
	if rs := []rune(s); len(rs) > maxFragment {
		return string(rs[:maxFragment-1]) + "…"
	}
	return s
}

// plainlyNested finds a repeat of nothing but a repeat, such as (?:a*)*, that something follows. The optimiser of the
// engine makes some of these one repeat; they are refused all the same, so that the rule can be told in one sentence.
func (s *source) plainlyNested() (repeat, bool) {
	for _, r := range s.repeats {
		if r.max > fewTimes && !possessive(s.text, r) {
			_, q, ok := s.only(r)
			if ok && q.max > fewTimes && strings.Trim(string(s.text[r.end:]), ")") != "" {
				return r, true
			}
		}
	}
	return repeat{}, false
}

// possessive reports whether a repeat gives nothing back.
func possessive(t []rune, r repeat) bool { return r.end > r.quant+1 && t[r.end-1] == '+' }

// culprit finds the smallest repeat that is unsafe by itself, whatever follows.
func (a *adviser) culprit(s *source) (repeat, bool) {
	byLength := append([]repeat(nil), s.repeats...)
	sort.SliceStable(byLength, func(i, j int) bool {
		return byLength[i].end-byLength[i].start < byLength[j].end-byLength[j].start
	})
	if r, ok := s.plainlyNested(); ok {
		return r, true
	}
	options := s.inlineOptions()
	var reference *repeat
	for i, r := range byLength {
		if r.max <= 1 {
			continue
		}
		text := string(s.text[r.start:r.end])
		if isReference(s.text[r.start:r.quant]) && reference == nil {
			reference = &byLength[i]
		}
		if !r.group || s.isAtomic(r) {
			continue
		}
		tree, ok := a.parse(options + "(?:" + text + ")\uF8FF")
		if ok && exponential(tree, rootMore, &a.steps) && a.steps > 0 {
			return r, true
		}
	}
	if reference != nil {
		return *reference, true
	}
	for i := len(byLength) - 1; i >= 0; i-- { // the largest repeated group
		if byLength[i].group && byLength[i].max > 1 {
			return byLength[i], true
		}
	}
	return repeat{}, false
}

// isAtomic reports whether an atomic group holds nothing but the repeat.
func (s *source) isAtomic(r repeat) bool {
	return r.start >= 3 && string(s.text[r.start-3:r.start]) == "(?>" && r.end < len(s.text) && s.text[r.end] == ')'
}

func isReference(t []rune) bool {
	return len(t) > 1 && t[0] == '\\' && (t[1] == 'k' || t[1] >= '1' && t[1] <= '9')
}

// inlineOptions returns the switch of options that the pattern begins with, such as (?i).
func (s *source) inlineOptions() string {
	t := s.text
	if len(t) > 3 && t[0] == '(' && t[1] == '?' {
		for j := 2; j < len(t) && j < 10; j++ {
			if t[j] == ')' {
				return string(t[:j+1])
			}
			if t[j] != '-' && (t[j] < 'a' || t[j] > 'z') {
				break
			}
		}
	}
	return ""
}

// rewrite returns a pattern that passes the guard, or "": a repeat of a repeat is unrolled to one, which keeps the
// meaning; any other culprit becomes atomic, which gives up what it has matched only as a whole.
func (a *adviser) rewrite(pattern string, depth int) string {
	tree, ok := a.parse(pattern)
	if !ok {
		return ""
	}
	if !nestedOrExponential(pattern, tree, &a.steps) {
		return pattern
	}
	if depth == maxRewrites {
		return ""
	}
	s := scanSource(pattern)
	r, ok := a.culprit(s)
	if !ok {
		return ""
	}
	if s.isAtomic(r) {
		return ""
	}
	before, frag, after := string(s.text[:r.start]), string(s.text[r.start:r.end]), string(s.text[r.end:])
	if u := s.unrolled(r); u != "" {
		if p := a.rewrite(before+u+after, depth+1); p != "" {
			return p
		}
	}
	return a.rewrite(before+"(?>"+frag+")"+after, depth+1)
}

// only returns where the body of a repeated group begins and the repeat that is all of that body, if one is. Groups that
// are atomic or look around do not count, nor possessive repeats.
func (s *source) only(r repeat) (open int, q repeat, ok bool) {
	t := s.text
	if t[r.start] != '(' || t[r.quant-1] != ')' {
		return 0, repeat{}, false
	}
	open = s.opening(r.start)
	switch head := string(t[r.start:open]); {
	case head == "(" || head == "(?:" || strings.HasPrefix(head, "(?P<") || strings.HasPrefix(head, "(?'"):
	case strings.HasPrefix(head, "(?<") && head != "(?<=" && head != "(?<!":
	default:
		return 0, repeat{}, false
	}
	for _, q := range s.repeats {
		if q.start == open && q.end == r.quant-1 && !possessive(t, q) {
			return open, q, true
		}
	}
	return 0, repeat{}, false
}

// unrolled turns (X+)* and its kin, where X is one atom, into (X)*: the same texts, one way each.
func (s *source) unrolled(r repeat) string {
	_, q, ok := s.only(r)
	if !ok || q.max < 2 {
		return ""
	}
	times := "+"
	if q.min == 0 || r.min == 0 {
		times = "*"
	}
	if r.end > r.quant+1 && s.text[r.end-1] == '?' {
		times += "?"
	}
	return string(s.text[r.start:q.quant]) + ")" + times
}
