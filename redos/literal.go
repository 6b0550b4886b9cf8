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

// frequency is how often each byte stands in source text, in 65,536: the mean of large trees of Go, C, Python and
// JavaScript with their documents. It decides about speed alone.
var frequency = [256]uint16{
	1, 1, 1, 1, 1, 1, 1, 1, 1, 683, 1934, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	14156, 43, 550, 222, 20, 33, 50, 575, 615, 615, 207, 57, 817, 432, 793, 346,
	552, 250, 199, 131, 129, 101, 114, 72, 88, 66, 493, 144, 104, 515, 159, 23,
	16, 301, 103, 262, 189, 325, 130, 90, 75, 292, 14, 45, 209, 163, 211, 182,
	210, 27, 235, 289, 313, 108, 63, 60, 49, 33, 13, 123, 105, 123, 10, 849,
	127, 2234, 487, 1356, 1311, 4385, 1006, 657, 862, 2446, 68, 280, 1547, 886, 2366, 2248,
	1117, 74, 2567, 2397, 3109, 1051, 340, 318, 418, 444, 57, 169, 62, 169, 18, 1,
	15, 6, 7, 4, 7, 5, 4, 5, 6, 4, 3, 4, 7, 4, 3, 7, 4, 3, 2, 3, 6, 4, 6, 3, 4, 6, 8, 3, 7, 3, 2, 7,
	5, 4, 2, 2, 4, 4, 3, 3, 6, 2, 3, 2, 2, 3, 5, 6, 5, 2, 2, 2, 2, 2, 3, 3, 13, 4, 6, 7, 8, 6, 3, 5,
	1, 1, 4, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 7, 3, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1,
	5, 1, 11, 6, 15, 27, 19, 15, 11, 7, 1, 1, 1, 1, 1, 6, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
}

// window returns the rarest window of the literal, which begins at its byte at.
func (l *literal) window() (best window, at int, often float64) {
	for i := 0; i == 0 || i+windowLen <= len(l.text); i++ {
		w := window{anyByte, anyByte, anyByte}
		for k := range min(windowLen, len(l.text)-i) {
			w[k] = byteSet{}
			w[k].add(int(l.text[i+k]))
			if l.fold[i+k] {
				w[k].add(int(l.text[i+k] &^ 0x20))
			}
		}
		if r := rate([]window{w}); i == 0 || r < often {
			best, at, often = w, i, r
		}
	}
	return best, at, often
}

func (l *literal) frequencyAt(i int) int {
	f := int(frequency[l.text[i]])
	if l.fold[i] {
		f += int(frequency[l.text[i]&^0x20])
	}
	return f
}

// finder searches one literal by its rarest byte.
type finder struct {
	literal
	asString string
	rare     int // index of the rarest byte
	folded   bool
}

func newFinder(l literal) finder {
	f := finder{literal: l, asString: string(l.text)}
	for i := range l.text {
		f.folded = f.folded || l.fold[i]
		if l.frequencyAt(i) < l.frequencyAt(f.rare) {
			f.rare = i
		}
	}
	return f
}

// next returns the first start of the literal in s[from:to], or -1; the literal may end after to.
func (f *finder) next(s string, from, to int) int {
	n := len(f.text)
	to = min(to, len(s)-n+1)
	if from >= to || n == 0 {
		if from < to {
			return from
		}
		return -1
	}
	window, c := s[f.rare:to+f.rare], f.text[f.rare] // starts of the literal, seen from its rarest byte
	if f.fold[f.rare] {
		return f.nextEither(s, window, from, c, c&^0x20)
	}
	misses := 0
	for i := from; i < to; i++ {
		j := strings.IndexByte(window[i:], c)
		if j < 0 {
			return -1
		}
		if i += j; f.at(s[i:]) {
			return i
		}
		if misses++; !f.folded && misses > 8+(i-from)>>5 { // the rare byte is not rare here
			if j = strings.Index(s[i+1:to+n-1], f.asString); j < 0 {
				return -1
			}
			return i + 1 + j
		}
	}
	return -1
}

// nextEither looks for a letter in both its cases. Each is looked for once, and not again before that place is reached.
func (f *finder) nextEither(s, window string, from int, lower, upper byte) int {
	after := func(i int, c byte) int {
		if j := strings.IndexByte(window[i:], c); j >= 0 {
			return i + j
		}
		return len(window)
	}
	lo, up := -1, -1
	for i := from; i < len(window); i++ {
		if lo < i {
			lo = after(i, lower)
		}
		if up < i {
			// No farther than the other case: what lies behind that is looked at when it is reached.
			if j := strings.IndexByte(window[i:lo], upper); j >= 0 {
				up = i + j
			} else {
				up = lo
			}
		}
		if i = min(lo, up); i < len(window) && f.at(s[i:]) {
			return i
		}
	}
	return -1
}

// at reports whether the literal stands at the start of s.
func (f *finder) at(s string) bool {
	if f.folded {
		return f.matches(s)
	}
	return len(s) >= len(f.asString) && s[:len(f.asString)] == f.asString
}

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
		return &plain{finder: newFinder(l)}, filterOf([]literal{l})
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
