package redos

import (
	"strings"

	"github.com/dlclark/regexp2/v2/syntax"
)

// The engine folds case by walking every character of a class, so that each \S, \W or \D under ignored case takes tens
// of milliseconds to parse (500 of them, half a minute) although folding changes nothing in them. The text handed to the
// engine has those in a group that respects case. The same escapes within a class cannot be written so; they, and wide
// ranges, are counted against a limit.

// maxFolded is how many characters the classes of a pattern may cover when case is ignored; about 100 ms.
const maxFolded = 4_500_000

// ignoresCase reports whether some part of the pattern may ignore case.
func ignoresCase(pattern string, opts syntax.RegexOptions) bool {
	if opts&syntax.IgnoreCase != 0 {
		return true
	}
	for rest := pattern; ; {
		_, after, found := strings.Cut(rest, "(?")
		if !found {
			return false
		}
		for i := 0; i < len(after) && i < 12; i++ {
			if after[i] == 'i' || after[i] == 'I' {
				return true
			}
			if after[i] != '-' && after[i] != '+' && (after[i]|0x20 < 'a' || after[i]|0x20 > 'z') {
				break
			}
		}
		rest = after
	}
}

// engineText returns the pattern as the engine gets it, and how many characters it has to fold.
func engineText(pattern string, opts syntax.RegexOptions) (text string, folded int) {
	folds := ignoresCase(pattern, opts)
	if !folds && !strings.Contains(pattern, "-[") {
		return pattern, 0
	}
	s := &source{text: []rune(pattern)}
	t := s.text
	var out strings.Builder
	for i := 0; i < len(t); {
		j := i + 1
		switch t[i] {
		case '\\':
			if j = s.escape(i); folds && j == i+2 && strings.ContainsRune("SWD", t[i+1]) {
				out.WriteString("(?-i:")
				out.WriteString(string(t[i:j]))
				out.WriteString(")")
				i = j
				continue
			}
		case '[':
			j = s.class(i)
			if folds {
				folded += classWidth(t[i:j])
			}
			s.plainClass(&out, i, j)
			i = j
			continue
		case '(':
			if j = s.opening(i); j == i {
				j = len(t)
			}
		}
		out.WriteString(string(t[i:j]))
		i = j
	}
	return out.String(), folded
}

// plainClass writes a class without subtractions, which the engine would read where Perl and RE2 read a bracket.
func (s *source) plainClass(out *strings.Builder, i, end int) {
	for start := i; i < end; {
		j := i + 1
		switch {
		case s.text[i] == '\\':
			j = min(i+2, end)
		case s.text[i] == '[' && i > start:
			if j = s.className(i); j == i {
				j++
				if s.text[i-1] == '-' {
					out.WriteByte('\\')
				}
			}
		}
		out.WriteString(string(s.text[i:j]))
		i = j
	}
}

// classWidth is about how many characters the engine would walk to fold the class.
func classWidth(t []rune) int {
	const full = 0x110000
	width := 0
	s := &source{text: t}
	last, ranged := rune(-1), false
	for i := 1; i < len(t); {
		c, j := t[i], i+1
		switch {
		case c == '\\' && i+1 < len(t):
			j = min(s.escape(i), len(t))
			switch e := t[i+1]; {
			case strings.ContainsRune("SWD", e):
				width += full
			case e == 'x' || e == 'u':
				c = hex(t[i+2 : j])
			default:
				c = e
			}
		case c == '-' && last >= 0 && !ranged:
			ranged = true
			i = j
			continue
		case c == '[' && i+2 < len(t) && t[i+1] == ':' && t[i+2] == '^':
			width += full
		}
		if ranged && c > last {
			width += int(c - last)
		}
		last, ranged = c, false
		i = j
	}
	return width
}

func hex(t []rune) (n rune) {
	for _, c := range t {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | (c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | (c | 0x20 - 'a' + 10)
		}
		if n > 0x10FFFF {
			return 0x10FFFF
		}
	}
	return n
}
