package symbol

import (
	"context"
	"unicode"
	"unicode/utf8"
)

type pyKind uint8

const (
	pyEOF pyKind = iota
	pyName
	pyNumber
	pyString
	pyOp      // one byte of punctuation
	pyNewline // end of a logical line
	pyComment
	pyBad // a stray byte
)

// pyTok is one token; first is set when nothing but white space stands before it on its physical line.
type pyTok struct {
	kind       pyKind
	start, end int
	first      bool
}

// pyLexer splits Python source into tokens, one pass, no look-back. Strings of every prefix are one token, f-strings
// (and t-strings) with their nested expressions included, by the rules of Python 3.12, which accept what earlier
// versions accept. Line ends are LF, CRLF and a lone CR.
type pyLexer struct {
	src   string
	pos   int
	depth int  // open brackets
	fresh bool // nothing but white space since the physical line began
	any   bool // a token was seen on this logical line
	// plainF: an f-string ran to the end of the file, which only a broken file does; from there on f-strings are read
	// as plain strings, so that each byte is looked at a bounded number of times.
	plainF bool
	broken bool
}

func newPyLexer(src string) *pyLexer {
	l := &pyLexer{src: src, fresh: true}
	if len(src) >= 3 && src[:3] == "\ufeff" {
		l.pos = 3
	}
	return l
}

// next returns the next token; line ends inside brackets and on blank lines are not tokens.
func (l *pyLexer) next() pyTok {
	for l.pos < len(l.src) {
		i := l.pos
		c := l.src[i]
		switch {
		case c == ' ' || c == '\t' || c == '\f' || c == '\v':
			l.pos++
			continue
		case c == '\n' || c == '\r':
			l.pos = lineBreak(l.src, i)
			l.fresh = true
			if l.depth == 0 && l.any {
				l.any = false
				return pyTok{kind: pyNewline, start: i, end: l.pos}
			}
			continue
		case c == '\\' && i+1 < len(l.src) && (l.src[i+1] == '\n' || l.src[i+1] == '\r'):
			l.pos = lineBreak(l.src, i+1)
			continue
		case c == '#':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
				l.pos++
			}
			return pyTok{kind: pyComment, start: i, end: l.pos, first: l.fresh}
		}
		t := pyTok{start: i, first: l.fresh}
		l.fresh, l.any = false, true
		switch {
		case c == '"' || c == '\'':
			t.kind, l.pos = pyString, l.str(i, i)
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(l.src) && l.src[i+1] >= '0' && l.src[i+1] <= '9':
			for l.pos < len(l.src) && (isWordByte(l.src[l.pos]) || l.src[l.pos] == '.') {
				l.pos++
			}
			t.kind = pyNumber
		case isWordByte(c) || c >= utf8.RuneSelf:
			n := wordEnd(l.src, i)
			if n == i {
				_, w := utf8.DecodeRuneInString(l.src[i:])
				l.pos, t.kind, l.broken = i+w, pyBad, true
				break
			}
			if n < len(l.src) && (l.src[n] == '"' || l.src[n] == '\'') && stringPrefix(l.src[i:n]) {
				t.kind, l.pos = pyString, l.str(i, n)
				break
			}
			t.kind, l.pos = pyName, n
		default:
			t.kind = pyOp
			l.pos++
			switch c {
			case '(', '[', '{':
				l.depth++
			case ')', ']', '}':
				if l.depth > 0 {
					l.depth--
				} else {
					l.broken = true
				}
			case '$', '?', '\\', '`':
				t.kind, l.broken = pyBad, true
			default:
				if c < ' ' || c == 0x7f {
					t.kind = pyBad
					l.broken = l.broken || c != 0 // a NUL is a masked byte
				}
			}
		}
		t.end = l.pos
		return t
	}
	if l.any {
		l.any = false
		return pyTok{kind: pyNewline, start: len(l.src), end: len(l.src)}
	}
	return pyTok{kind: pyEOF, start: len(l.src), end: len(l.src)}
}

// lineBreak is the offset behind the line end at i.
func lineBreak(s string, i int) int {
	if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// wordEnd is the end of the identifier characters that start at i.
func wordEnd(s string, i int) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !isWordByte(c) {
				return i
			}
			i++
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && w <= 1 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nl, unicode.Pc, unicode.Other_ID_Start, unicode.Other_ID_Continue)) {
			return i
		}
		i += w
	}
	return i
}

func stringPrefix(s string) bool {
	if len(s) == 0 || len(s) > 2 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case 'r', 'R', 'b', 'B', 'u', 'U', 'f', 'F', 't', 'T':
		default:
			return false
		}
	}
	return true
}

// str is the end of the string whose prefix begins at start and whose opening quote stands at q.
func (l *pyLexer) str(start, q int) int {
	raw, inter := false, false
	for _, c := range []byte(l.src[start:q]) {
		switch c {
		case 'r', 'R':
			raw = true
		case 'f', 'F', 't', 'T':
			inter = true
		}
	}
	if inter && !l.plainF {
		if end, ok := fstring(l.src, q, raw, nil, 0); ok {
			return end
		}
		l.plainF = true
	}
	end, ok := plainString(l.src, q)
	if !ok {
		l.broken = true
	}
	return end
}

// plainString is the end of a string without expressions. Unterminated: the end of the line, or of the text for a
// triple quote.
func plainString(s string, q int) (end int, ok bool) {
	quote := s[q]
	triple := q+2 < len(s) && s[q+1] == quote && s[q+2] == quote
	i := q + 1
	if triple {
		i = q + 3
	}
	for i < len(s) {
		switch c := s[i]; {
		case c == '\\':
			i++
			if i < len(s) {
				i = lineBreakOrByte(s, i)
			}
		case c == quote && !triple:
			return i + 1, true
		case c == quote && i+2 < len(s) && s[i+1] == quote && s[i+2] == quote:
			return i + 3, true
		case !triple && (c == '\n' || c == '\r'):
			return i, false
		default:
			i++
		}
	}
	return len(s), false
}

func lineBreakOrByte(s string, i int) int {
	if s[i] == '\r' {
		return lineBreak(s, i)
	}
	return i + 1
}

// maxNested bounds f-strings inside f-strings; CPython's own bound is 150, real code stays below 5.
const maxNested = 64

// fstring is the end of the f-string whose opening quote stands at q. With out, the literal parts are blanked there
// (quotes stay). ok is false when the string is not closed; then out may hold half the work.
func fstring(s string, q int, raw bool, out []byte, level int) (end int, ok bool) {
	if level > maxNested {
		return q, false
	}
	quote := s[q]
	width := 1
	if q+2 < len(s) && s[q+1] == quote && s[q+2] == quote {
		width = 3
	}
	closes := func(i int) bool {
		return s[i] == quote && (width == 1 || i+2 < len(s) && s[i+1] == quote && s[i+2] == quote)
	}
	i := q + width
	if width == 1 && i < len(s) && s[i] == quote {
		return i + 1, true
	}
	// frames holds, for each replacement field that is open, the brackets open inside it; negative: in its format spec.
	type field struct {
		depth int
		spec  bool
	}
	var frames []field
	for i < len(s) {
		c := s[i]
		if len(frames) == 0 || frames[len(frames)-1].spec { // literal text
			switch {
			case closes(i):
				return i + width, len(frames) == 0
			case c == '\n' || c == '\r':
				if width == 1 {
					return i, false
				}
				i++
			case c == '\\' && !raw && i+1 < len(s) && s[i+1] == 'N' && i+2 < len(s) && s[i+2] == '{':
				j := i + 3
				for j < len(s) && j < i+100 && (isWordByte(s[j]) || s[j] == ' ' || s[j] == '-') {
					j++
				}
				if j >= len(s) || s[j] != '}' {
					j = i + 2
				}
				blankBytes(out, i, j+1)
				i = j + 1
			case c == '\\' && i+1 < len(s) && s[i+1] != '{' && s[i+1] != '}':
				n := lineBreakOrByte(s, i+1)
				blankBytes(out, i, n)
				i = n
			case c == '{' && len(frames) == 0 && i+1 < len(s) && s[i+1] == '{', c == '}' && len(frames) == 0 && i+1 < len(s) && s[i+1] == '}':
				blankBytes(out, i, i+2)
				i += 2
			case c == '{':
				if len(frames) > maxNested {
					return i, false
				}
				frames = append(frames, field{})
				i++
			case c == '}' && len(frames) > 0:
				frames = frames[:len(frames)-1]
				i++
			default:
				blankBytes(out, i, i+1)
				i++
			}
			continue
		}
		f := &frames[len(frames)-1]
		switch {
		case c == '#':
			j := i
			for j < len(s) && s[j] != '\n' && s[j] != '\r' {
				j++
			}
			blankBytes(out, i, j)
			i = j
		case c == '"' || c == '\'':
			n, fine := nestedString(s, i, i, out, level)
			if !fine {
				return i, false
			}
			i = n
		case isWordByte(c) || c >= utf8.RuneSelf:
			n := max(wordEnd(s, i), i+1)
			if n < len(s) && (s[n] == '"' || s[n] == '\'') && stringPrefix(s[i:n]) {
				e, fine := nestedString(s, i, n, out, level)
				if !fine {
					return i, false
				}
				n = e
			}
			i = n
		case c == '(' || c == '[' || c == '{':
			f.depth++
			i++
		case c == '}' && f.depth == 0:
			frames = frames[:len(frames)-1]
			i++
		case c == ')' || c == ']' || c == '}':
			f.depth = max(f.depth-1, 0)
			i++
		case c == ':' && f.depth == 0:
			f.spec = true
			i++
		default:
			i++
		}
	}
	return len(s), false
}

func nestedString(s string, start, q int, out []byte, level int) (end int, ok bool) {
	raw, inter := false, false
	for _, c := range []byte(s[start:q]) {
		switch c {
		case 'r', 'R':
			raw = true
		case 'f', 'F', 't', 'T':
			inter = true
		}
	}
	if inter {
		return fstring(s, q, raw, out, level+1)
	}
	end, ok = plainString(s, q)
	if ok {
		blankInside(out, q, end)
	}
	return end, ok
}

// blankPython is Blank for Python.
func blankPython(ctx context.Context, src string, out []byte) {
	l := newPyLexer(src)
	for n := 1; n%checkSteps != 0 || ctx.Err() == nil; n++ {
		t := l.next()
		switch t.kind {
		case pyEOF:
			return
		case pyComment:
			blankBytes(out, t.start, t.end)
		case pyString:
			q := t.start
			inter, raw := false, false
			for ; q < t.end && src[q] != '"' && src[q] != '\''; q++ {
				inter = inter || src[q]|0x20 == 'f' || src[q]|0x20 == 't'
				raw = raw || src[q]|0x20 == 'r'
			}
			blankBytes(out, t.start, q)
			if inter {
				if end, ok := fstring(src, q, raw, nil, 0); ok && end == t.end {
					fstring(src, q, raw, out, 0)
					continue
				}
			}
			blankInside(out, q, t.end)
		}
	}
}

// blankInside blanks a plain string token but for its first and last byte, the quotes.
func blankInside(out []byte, q, end int) { blankBytes(out, q+1, end-1) }

// blankBytes writes spaces over [i, j) of out, line ends excepted; a nil out is left alone.
func blankBytes(out []byte, i, j int) {
	if out == nil {
		return
	}
	for j = min(j, len(out)); i < j; i++ {
		if out[i] != '\n' && out[i] != '\r' {
			out[i] = ' '
		}
	}
}
