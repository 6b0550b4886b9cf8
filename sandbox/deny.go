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
