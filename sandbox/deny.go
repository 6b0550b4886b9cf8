package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxRules bounds the rules an operator may add.
const maxRules = 500

// rule is one compiled rule. All its texts are folded.
type rule struct {
	text     string   // as shown in a denial
	segs     []string // patterns per component; "**" spans any number
	anchored bool     // counts from the root
	except   []string
	need     []byte // every name that the last pattern matches holds it
	stem     string // of the last component's 8.3 form, "" when unknown
	ext      string // "*" when any
}

// denySet is the denylist. Rules of one component that are a plain name or
// "*.ext" are found by lookup, the few others one by one.
type denySet struct {
	rules []rule
	exact map[string]int32   // folded name
	ext   map[string]int32   // folded extension with its dot
	globs [256][]int32       // one component, wildcards: by the first byte
	loose []int32            // the same, starting with a wildcard
	paths []int32            // several components, or anchored
	ends  map[string][]int32 // those of paths whose last component is a plain name
	wild  []int32            // the rest of paths
	stems map[string][]int32 // rules by the stem of an 8.3 name
	sexts map[string][]int32 // "*.tfstate*" → "tfs": rules by the extension of an 8.3 name
}

func newDenySet(extra []string) (*denySet, error) {
	if len(extra) > maxRules {
		return nil, fmt.Errorf("%d deny rules; at most %d are allowed", len(extra), maxRules)
	}
	s := &denySet{exact: map[string]int32{}, ext: map[string]int32{}, stems: map[string][]int32{}, sexts: map[string][]int32{}, ends: map[string][]int32{}}
	for _, d := range defaultRules {
		r, err := parseRule(d.text)
		if err != nil {
			return nil, err
		}
		r.anchored = false // the table speaks of any depth
		r.except = d.except
		s.add(r)
	}
	for _, line := range extra {
		r, ok, err := readRule(line)
		if err != nil {
			return nil, fmt.Errorf("deny rule %q: %w", shorten(line, maxText), err)
		}
		if ok {
			s.add(r)
		}
	}
	return s, nil
}

// readRule reads one rule of a caller; ok is false for a blank line or a comment.
func readRule(line string) (r rule, ok bool, err error) {
	line = strings.TrimRight(line, "\r\n")
	if t := strings.TrimSpace(line); t == "" || t[0] == '#' {
		return rule{}, false, nil
	}
	r, err = parseRule(line)
	return r, err == nil, err
}

// CheckRule returns why [Open] would not accept line as a deny rule, nil when it would.
func CheckRule(line string) error {
	_, _, err := readRule(line)
	return err
}

func (s *denySet) add(r rule) {
	i := int32(len(s.rules))
	last := r.segs[len(r.segs)-1]
	r.setShort(last)
	r.need = longestPlain(last)
	s.rules = append(s.rules, r)
	if r.stem != "" {
		s.stems[r.stem] = append(s.stems[r.stem], i)
	}
	single := len(r.segs) == 1 && !r.anchored
	switch {
	case !single:
		s.paths = append(s.paths, i)
		if hasMeta(last) {
			s.wild = append(s.wild, i)
		} else {
			s.ends[last] = append(s.ends[last], i)
		}
	case len(r.except) == 0 && !hasMeta(last):
		if _, dup := s.exact[last]; !dup {
			s.exact[last] = i
		}
	case len(r.except) == 0 && isExt(last):
		if _, dup := s.ext[last[1:]]; !dup {
			s.ext[last[1:]] = i
		}
	case hasMeta(last[:1]):
		s.loose = append(s.loose, i)
	default:
		s.globs[last[0]] = append(s.globs[last[0]], i)
	}
	if lit := strings.TrimRight(last, "*"); single && isExt(lit) && len(lit) > 5 {
		s.sexts[lit[2:5]] = append(s.sexts[lit[2:5]], i)
	}
}

// longestPlain returns the longest run of a pattern that stands for itself.
func longestPlain(p string) (best []byte) {
	if strings.ContainsAny(p, `[\`) {
		return nil // a class or an escape changes the meaning of what follows
	}
	for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(part) > len(best) {
			best = []byte(part)
		}
	}
	return best
}

// setShort finds what the 8.3 form of a matching name would look like.
func (r *rule) setShort(last string) {
	lit := last
	if i := strings.IndexAny(last, `*?[\`); i >= 0 {
		lit = last[:i]
		r.stem, _ = shortStem(strings.TrimRight(lit, "."))
		r.ext = "*"
		if rest := last[i:]; strings.HasPrefix(rest, "*.") && !hasMeta(rest[1:]) {
			_, r.ext = shortStem("x" + rest[1:])
		}
		if len(r.stem) < 2 { // too little is known: every short name would match
			r.stem = ""
		}
		return
	}
	r.stem, r.ext = shortStem(lit)
}

var (
	errNegated   = errors.New("a rule cannot be negated: rules add to the denylist and never subtract")
	errEmptyRule = errors.New("the rule matches nothing")
	errEverythin = errors.New("the rule would deny the whole workspace")
	errBracket   = errors.New("the rule has a bracket that is not closed")
	errDots      = errors.New(`the rule has a "." or ".." component`)
)

// parseRule reads one line of gitignore syntax. A trailing slash is accepted
// and means nothing more: what is withheld as a folder is withheld as a file.
func parseRule(line string) (rule, error) {
	p := line
	if strings.HasPrefix(p, "!") {
		return rule{}, errNegated
	}
	for strings.HasSuffix(p, " ") && !strings.HasSuffix(p, `\ `) {
		p = p[:len(p)-1]
	}
	text := p
	if strings.HasPrefix(p, `\!`) || strings.HasPrefix(p, `\#`) {
		p = p[1:]
	}
	p = strings.TrimRight(p, "/")
	anchored := strings.Contains(p, "/")
	p = strings.TrimLeft(p, "/")
	if p == "" {
		return rule{}, errEmptyRule
	}
	var segs []string
	for seg := range strings.SplitSeq(p, "/") {
		switch seg {
		case "":
			continue
		case ".", "..":
			return rule{}, errDots
		}
		if seg == "**" && len(segs) > 0 && segs[len(segs)-1] == "**" {
			continue
		}
		if err := checkBrackets(seg); err != nil {
			return rule{}, err
		}
		segs = append(segs, foldPattern(seg))
	}
	if len(segs) == 0 || slices.Contains(segs, "") {
		return rule{}, errEmptyRule
	}
	if segs[0] == "**" && len(segs) > 1 {
		anchored = false
		segs = segs[1:]
	}
	// "a/**" is what lies below a: one more component of any name, and what
	// follows is below a match.
	if n := len(segs); segs[n-1] == "**" {
		segs[n-1] = "*"
	}
	if !slices.ContainsFunc(segs, func(s string) bool { return strings.Trim(s, "*") != "" }) {
		return rule{}, errEverythin
	}
	return rule{text: text, segs: segs, anchored: anchored}, nil
}

// foldPattern folds the literal parts of a component's pattern.
func foldPattern(seg string) string {
	if !hasMeta(seg) {
		var buf foldBuf
		b, _ := foldSegment(seg, &buf)
		return strings.ReplaceAll(string(b), "/", "_")
	}
	var b strings.Builder
	start := 0
	flush := func(end int) {
		if start < end {
			b.WriteString(strings.ReplaceAll(string(foldNoTrim(seg[start:end])), "/", "_"))
		}
	}
	for i := 0; i < len(seg); i++ {
		if seg[i] == '\\' && i+1 < len(seg) {
			flush(i)
			b.WriteByte('\\')
			start = i + 1
			i++
		}
	}
	flush(len(seg))
	// Folded names end in no dot, space or tilde, so a pattern may not either.
	p := b.String()
	for p != "" && strings.IndexByte(". ~", p[len(p)-1]) >= 0 {
		p = strings.TrimSuffix(p[:len(p)-1], `\`)
	}
	return p
}

func foldNoTrim(s string) []byte {
	return bytes.TrimSuffix(foldSlow(s+"\x00"), []byte{0})
}

func hasMeta(s string) bool { return strings.ContainsAny(s, `*?[\`) }

// isExt reports a pattern "*.ext" without further wildcards or dots.
func isExt(s string) bool {
	return len(s) > 2 && s[0] == '*' && s[1] == '.' && !hasMeta(s[1:]) && strings.IndexByte(s[2:], '.') < 0
}

func checkBrackets(seg string) error {
	for i := 0; i < len(seg); i++ {
		switch seg[i] {
		case '\\':
			i++
		case '[':
			j := classEnd(seg, i)
			if j < 0 {
				return errBracket
			}
			i = j
		}
	}
	return nil
}

// denied matches a path, component by component, against every rule.
func (s *denySet) denied(rel string) (string, bool) {
	start := 0
	for i := 0; i <= len(rel); i++ {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		if seg := rel[start:i]; seg != "" && seg != "." {
			if rule, no := s.last(rel[:start], seg, false); no {
				return rule, true
			}
		}
		start = i + 1
	}
	return "", false
}

var (
	slash  = []byte{'/'}
	sharpS = []byte("ß")
)

// last matches the component name of the folder parent (which may end in a
// slash); nothing above it is looked at. folded says that parent is folded
// already.
func (s *denySet) last(parent, name string, folded bool) (string, bool) {
	var buf foldBuf
	b, plain := foldSegment(name, &buf)
	if len(b) == 0 {
		return "", false
	}
	if !plain && bytes.Contains(b, sharpS) {
		// Some file systems fold in full: there ".ßh" opens ".ssh". Others do not.
		if rule, no := s.last(parent, string(bytes.ReplaceAll(b, sharpS, []byte("ss"))), folded); no {
			return rule, no
		}
	}
	if plain || bytes.IndexByte(b, '/') < 0 {
		return s.lastFolded(parent, b, folded)
	}
	for more := true; more; { // bytes.SplitSeq would move buf to the heap
		var part []byte
		part, b, more = bytes.Cut(b, slash)
		if part = trimTail(part); len(part) > 0 {
			if rule, no := s.lastFolded(parent, part, folded); no {
				return rule, no
			}
		}
	}
	return "", false
}

func (s *denySet) lastFolded(parent string, b []byte, folded bool) (string, bool) {
	if i := s.match(b); i >= 0 {
		return s.rules[i].text, true
	}
	first := decorated(b, 0)
	for at := first; at >= 0; at = decorated(b, at+1) {
		if cut := trimTail(b[:at]); len(cut) > 0 {
			if i := s.match(cut); i >= 0 {
				return s.rules[i].text, true
			}
		}
	}
	lists := [2][]int32{s.ends[string(b)], s.wild}
	if first >= 0 || bytes.IndexByte(b, '~') > 0 { // it may stand for another name
		lists = [2][]int32{s.paths}
	}
	for _, list := range lists {
		for _, i := range list {
			r := &s.rules[i]
			if !r.matchSeg(len(r.segs)-1, b) {
				continue
			}
			if !folded {
				parent, folded = foldPath(strings.TrimSuffix(parent, "/")), true
			}
			if r.matchParents(parent) {
				return r.text, true
			}
		}
	}
	return "", false
}

// match finds the rule of one component that b falls under, or -1.
func (s *denySet) match(b []byte) int32 {
	if i, ok := s.exact[string(b)]; ok {
		return i
	}
	for j := len(b) - 1; j >= 0; j-- {
		if b[j] == '.' {
			if i, ok := s.ext[string(b[j:])]; ok {
				return i
			}
			break
		}
	}
	for _, i := range s.globs[b[0]] {
		if r := &s.rules[i]; globMatch(r.segs[0], b) && !r.excepts(b) {
			return i
		}
	}
	for _, i := range s.loose {
		if r := &s.rules[i]; bytes.Contains(b, r.need) && globMatch(r.segs[0], b) && !r.excepts(b) {
			return i
		}
	}
	if bytes.IndexByte(b, '~') > 0 {
		return s.matchShort(b)
	}
	return -1
}

// matchShort finds a rule whose long names may have the 8.3 name b.
func (s *denySet) matchShort(b []byte) int32 {
	stem, ext, ok := shortName(b)
	if !ok {
		return -1
	}
	for _, i := range s.stems[string(stem)] {
		if r := &s.rules[i]; len(r.segs) == 1 && !r.anchored && r.shortExt(ext) && !r.excepts(b) {
			return i
		}
	}
	if is := s.sexts[string(ext)]; len(is) > 0 {
		return is[0]
	}
	return -1
}

func (r *rule) shortExt(ext []byte) bool { return r.ext == "*" || string(ext) == r.ext }

func (r *rule) excepts(b []byte) bool {
	for _, e := range r.except {
		if globMatch(e, b) {
			return true
		}
	}
	return false
}

// matchSeg matches a component against the pattern at i, in its long, stream
// and short forms.
func (r *rule) matchSeg(i int, b []byte) bool {
	p := r.segs[i]
	if globMatch(p, b) {
		return true
	}
	for at := decorated(b, 0); at >= 0; at = decorated(b, at+1) {
		if globMatch(p, trimTail(b[:at])) {
			return true
		}
	}
	if bytes.IndexByte(b, '~') <= 0 || hasMeta(p) {
		return false
	}
	stem, ext, ok := shortName(b)
	if !ok {
		return false
	}
	ps, pe := shortStem(p)
	return string(stem) == ps && string(ext) == pe
}

// matchParents matches all patterns but the last against the folded folder.
func (r *rule) matchParents(parent string) bool {
	var have []string
	if parent != "" && parent != "." {
		have = strings.Split(parent, "/")
	}
	want := r.segs[:len(r.segs)-1]
	if r.anchored {
		return r.segsMatch(want, have)
	}
	// Unanchored: the patterns end where the folder ends.
	if !slices.Contains(want, "**") {
		if len(have) < len(want) {
			return false
		}
		return r.segsMatch(want, have[len(have)-len(want):])
	}
	for i := 0; i <= len(have); i++ {
		if r.segsMatch(want, have[i:]) {
			return true
		}
	}
	return false
}

// segsMatch matches components against patterns with "**", in
// O(patterns × components).
func (r *rule) segsMatch(want, have []string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(have) {
		switch {
		case i < len(want) && want[i] == "**":
			star, mark = i, j
			i++
		case i < len(want) && r.matchSeg(i, []byte(have[j])):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(want) && want[i] == "**" {
		i++
	}
	return i == len(want)
}

// globMatch matches one component against *, ?, [a-z], [!a] and \x in
// O(pattern × name).
func globMatch(p string, b []byte) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(b) {
		if i < len(p) {
			switch c := p[i]; {
			case c == '*':
				star, mark = i, j
				i++
				continue
			case c == '?':
				i++
				j += runeLen(b[j:])
				continue
			case c == '[':
				if end := classEnd(p, i); end > 0 {
					if ok, n := classMatch(p[i+1:end], b[j:]); ok {
						i = end + 1
						j += n
						continue
					}
				} else if b[j] == '[' {
					i++
					j++
					continue
				}
			case c == '\\' && i+1 < len(p):
				if p[i+1] == b[j] {
					i += 2
					j++
					continue
				}
			case c == b[j]:
				i++
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
