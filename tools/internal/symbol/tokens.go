package symbol

import (
	"strings"
	"unicode/utf8"
)

// tok is a token of blanked text: a word, one byte of punctuation, or a quote that stands for one end of a literal.
type tok struct {
	start, end int32
	word       bool
	nl         bool // first on its line
	ch         byte // first byte
}

// tokenize splits the blanked text. In the C family a preprocessor line yields only its # as a token, and #define its
// symbol.
func (s *scanner) tokenize() {
	c := s.code
	s.toks = make([]tok, 0, len(c)/5+16)
	nl := true
	for i := 0; i < len(c); {
		ch := c[i]
		switch {
		case ch == '\n' || ch == '\r':
			nl = true
			i++
		case ch == ' ' || ch == '\t' || ch == '\f' || ch == 0:
			i++
		case ch == '#' && nl && s.r.headless:
			end := i
			for end < len(c) && c[end] != '\n' {
				if c[end] == '\\' && end+1 < len(c) {
					end++
					if c[end] == '\r' && end+1 < len(c) {
						end++
					}
				}
				end = min(end+1, len(c))
			}
			s.directive(i, end)
			i = end
		case isWordByte(ch) || ch == '$' || ch >= utf8.RuneSelf || ch == '`' && s.l.name == "kotlin":
			n := i
			for n < len(c) {
				if c[n] == '$' {
					n++
					continue
				}
				if c[n] == '`' && s.l.name == "kotlin" {
					j := strings.IndexAny(c[n+1:min(len(c), n+maxShort)], "`\n")
					if j < 0 || c[n+1+j] != '`' {
						n++
						break
					}
					n += j + 2
					continue
				}
				e := wordEnd(c, n)
				if e == n {
					break
				}
				n = e
			}
			if n == i {
				_, w := utf8.DecodeRuneInString(c[i:])
				n = i + w
			}
			s.toks = append(s.toks, tok{int32(i), int32(n), true, nl, ch})
			nl = false
			i = n
		default:
			s.toks = append(s.toks, tok{int32(i), int32(i + 1), false, nl, ch})
			nl = false
			i++
		}
	}
}

// directive handles one preprocessor line, continuation lines included.
func (s *scanner) directive(i, end int) {
	f := strings.TrimLeft(s.code[i+1:end], " \t")
	word := f[:wordEnd(f, 0)]
	kind := byte(0)
	switch word {
	case "if", "ifdef", "ifndef":
		kind = 1
	case "else", "elif", "elifdef", "elifndef":
		kind = 2
	case "endif":
		kind = 3
	case "define":
		rest := strings.TrimLeft(f[len(word):], " \t")
		n := wordEnd(rest, 0)
		if n == 0 || s.l.name == "csharp" {
			return
		}
		if len(s.out) >= maxSymbols {
			return
		}
		at := end - len(rest)
		k := Constant
		if n < len(rest) && rest[n] == '(' {
			k = Function
		}
		sig := i + len(strings.TrimRight(s.code[i:lineLen(s.code[:end], i)], " \t\r\\"))
		s.out = append(s.out, Symbol{Name: rest[:n], Kind: k, Line: s.lines.line(at), EndLine: s.lines.line(max(end-1, i)), Start: i, End: end, SigStart: i, SigEnd: sig})
		return
	default:
		return
	}
	s.toks = append(s.toks, tok{int32(i), int32(i + 1), false, true, kind})
}

// pair finds the partner of every bracket. The branches of a preprocessor condition all begin at the depth its #if
// had, so that "#if … { #else … {" counts one brace, not two. A closing bracket of the wrong kind closes what it can.
func (s *scanner) pair() {
	s.match = make([]int32, len(s.toks))
	var open []int32
	var saved [][]int32
	kept := 0 // how much of open is saved in all, to bound copying
	for i := range s.toks {
		s.match[i] = -1
		t := s.toks[i]
		if t.word {
			continue
		}
		switch t.ch {
		case 1:
			if len(saved) < 64 && kept < 1<<22 {
				kept += len(open)
				saved = append(saved, append(make([]int32, 0, len(open)), open...))
			} else {
				saved = append(saved, nil)
			}
		case 2:
			if n := len(saved); n > 0 && saved[n-1] != nil && kept < 1<<22 {
				kept += len(saved[n-1])
				open = append(open[:0], saved[n-1]...)
			}
		case 3:
			if n := len(saved); n > 0 {
				saved = saved[:n-1]
			}
		case '(', '[', '{':
			open = append(open, int32(i))
		case ')', ']', '}':
			want := byte('{')
			if t.ch == ')' {
				want = '('
			} else if t.ch == ']' {
				want = '['
			}
			n := len(open)
			for n > 0 && s.toks[open[n-1]].ch != want {
				if want != '{' { // a stray ) or ] does not close a block
					n = 0
					break
				}
				n--
			}
			if n == 0 {
				s.ok = false
				continue
			}
			o := open[n-1]
			open = open[:n-1]
			s.match[o], s.match[i] = int32(i), o
		}
	}
	if len(open) > 0 {
		s.ok = false
	}
}
