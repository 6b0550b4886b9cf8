package redos

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// literal is a text to be found in bytes. fold marks ASCII letters that are found in both cases; those are stored in
// lower case.
type literal struct {
	text []byte
	fold []bool
}

func (l literal) with(m literal) literal {
	return literal{append(l.text[:len(l.text):len(l.text)], m.text...), append(l.fold[:len(l.fold):len(l.fold)], m.fold...)}
}

func runeLiteral(r rune) literal {
	b := utf8.AppendRune(nil, r)
	return literal{b, make([]bool, len(b))}
}

func foldedLiteral(lower byte) literal { return literal{[]byte{lower}, []bool{true}} }

// matches reports whether the literal stands at the start of b.
func (l *literal) matches(b string) bool {
	if len(b) < len(l.text) {
		return false
	}
	for i, c := range l.text {
		d := b[i]
		if l.fold[i] {
			d |= 0x20
		}
		if c != d {
			return false
		}
	}
	return true
}

// byFrequency lists bytes of source text, roughly the most frequent first: an estimate, which decides about speed alone.
const byFrequency = " etairnosl\ncdpu_mfh,.()\tg-b;0=*/yv\"x1w>:k2ETSRIACN}{OL3DP4&'<MF68U5B7[]q9#GH+|Vj!zWKY%X\\@QJ?$`Z~^\r"

// rank weighs how often a byte stands in source text: it falls off with the place in that list (Zipf).
var rank = func() (r [256]int) {
	for i := range r {
		r[i] = 12
	}
	for i := 0; i < len(byFrequency); i++ {
		r[byFrequency[i]] = max(12, 9000/(i+1))
	}
	return r
}()

func (l *literal) rankAt(i int) int {
	if l.fold[i] {
		return rank[l.text[i]] + rank[l.text[i]&^0x20] + 60 // two searches
	}
	return rank[l.text[i]]
}

// finder searches one literal by its rarest byte.
type finder struct {
	literal
	rare   int // index of the rarest byte
	folded bool
}

func newFinder(l literal) finder {
	f := finder{literal: l}
	for i := range l.text {
		f.folded = f.folded || l.fold[i]
		if l.rankAt(i) < l.rankAt(f.rare) {
			f.rare = i
		}
	}
	return f
}

// next returns the first start of the literal in s[from:to], or -1; the literal may end after to.
func (f *finder) next(s string, from, to int) int {
	n := len(f.text)
	to = min(to, len(s)-n+1)
	if n == 0 {
		if from < to {
			return from
		}
		return -1
	}
	c := f.text[f.rare]
	misses := 0
	for i := from; i < to; {
		j := strings.IndexByte(s[i+f.rare:to+f.rare], c)
		if f.fold[f.rare] {
			window := s[i+f.rare : to+f.rare]
			if j >= 0 {
				window = window[:j]
			}
			if k := strings.IndexByte(window, c&^0x20); k >= 0 {
				j = k
			}
		}
		if j < 0 {
			return -1
		}
		i += j
		if f.matches(s[i:]) {
			return i
		}
		i++
		if misses++; !f.folded && misses > 8+(i-from)>>5 { // the rare byte is not rare here
			if j = strings.Index(s[i:to+n-1], f.asString()); j < 0 {
				return -1
			}
			return i + j
		}
	}
	return -1
}

func (f *finder) asString() string { return string(f.text) }

// plain is a pattern that is text.
type plain struct {
	finder
	runes []rune // folded; set when letters other than ASCII's may match
	ascii bool   // the pattern is ASCII, so that the bytes alone decide about an ASCII text
}

// newPlain prepares a caller's literal, and the filter for the parts of it that are fixed in bytes.
func newPlain(s string, ignoreCase bool) (*plain, *filter) {
	l := literal{[]byte(s), make([]bool, len(s))}
	if !ignoreCase {
		p := &plain{finder: newFinder(l)}
		if s == "" {
			return p, nil
		}
		return p, &filter{finders: []finder{p.finder}}
	}
	var runes []rune
	wide := false
	var runsOf []literal
	var cur literal
	for i, r := range s {
		runes = append(runes, foldRune(r))
		lower := unicode.ToLower(r)
		switch {
		case r == utf8.RuneError:
			wide = true
		case r < utf8.RuneSelf && unicode.SimpleFold(unicode.SimpleFold(r)) == r && lower != unicode.ToUpper(r):
			l.text[i], l.fold[i] = byte(lower), true
			cur = cur.with(foldedLiteral(byte(lower)))
			continue
		case unicode.SimpleFold(r) == r:
			cur = cur.with(runeLiteral(r))
			continue
		case r < utf8.RuneSelf: // k and s: the Kelvin sign and the long s fold to them
			l.text[i], l.fold[i] = byte(lower), true
			wide = true
		default:
			wide = true
		}
		runsOf, cur = append(runsOf, cur), literal{}
	}
	runsOf = append(runsOf, cur)
	p := &plain{finder: newFinder(l)}
	if wide {
		p.runes, p.ascii = runes, isASCII(s)
	}
	var best []literal
	for _, r := range runsOf {
		best = better(best, []literal{r})
	}
	return p, filterOf(best)
}

// find returns the first match of the literal at byte from or later.
func (p *plain) find(s string, from int) (start, end int) {
	if p.runes == nil || p.ascii && isASCII(s[from:]) {
		if start = p.next(s, from, len(s)+1); start < 0 {
			return -1, -1
		}
		return start, start + len(p.text)
	}
	for start = from; start <= len(s); {
		if n := p.folded(s[start:]); n >= 0 {
			return start, start + n
		}
		_, size := utf8.DecodeRuneInString(s[start:])
		start += max(size, 1)
	}
	return -1, -1
}

// folded returns the length of the match at the start of s, or -1.
func (p *plain) folded(s string) int {
	n := 0
	for _, want := range p.runes {
		r, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || r == utf8.RuneError && size == 1 || foldRune(r) != want {
			return -1
		}
		n += size
	}
	return n
}

func isASCII(s string) bool {
	for len(s) >= 8 {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldRune returns the smallest rune that r folds to, so that two runes are equal under simple folding exactly when
// their results are.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf && (r < 'A' || 'Z' < r && r < 'a' || 'z' < r) {
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
