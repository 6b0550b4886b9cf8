package secrets

import "strings"

// The value of an assignment need not follow its sign at once: these functions find it
// on the next line, behind colours of a terminal, and between three quotes.

// nextLine returns where the value stands that begins on the line after the sign, or i
// when there is none: a block scalar of YAML of one word, a line that is continued, a
// string that a formatter has moved down. i is behind the sign and its blanks.
func (f *finder) nextLine(i int, sign byte, v value) int {
	s := f.s
	if v.literal || i >= len(s) {
		return i
	}
	j := i
	block, continued := false, false
	switch s[i] {
	case '|', '>':
		if sign != ':' || v.tight {
			return i
		}
		block = true
		for j++; j < len(s) && j-i < 4 && (s[j] == '-' || s[j] == '+' || isDigit(s[j])); {
			j++
		}
	case '\\':
		continued = true
		j++
	case '\r', '\n':
	default:
		return i
	}
	j = skipBlank(s, j)
	if j < len(s) && s[j] == '\r' {
		j++
	}
	if j >= len(s) || s[j] != '\n' {
		return i
	}
	j = skipBlank(s, j+1)
	if j >= len(s) {
		return i
	}
	switch {
	case continued:
		return j
	case block:
		// More than one word is prose, and a mapping is none of the scalar's.
		end := j
		for end < len(s) && end-j <= maxValue && !endsBare(s, end) {
			end++
		}
		if k := skipBlank(s, end); end > j && end-j <= maxValue && (k == len(s) || s[k] == '\n' || s[k] == '\r') {
			return j
		}
	case s[j] == '"' || s[j] == '\'' || s[j] == '`':
		// A key of a mapping below, { password: \n "x": … }, is no value.
		if w, ok := quoted(s, j, 0); ok {
			if k := skipBlank(s, w.close+1); k == len(s) || s[k] != ':' && s[k] != '=' {
				return j
			}
		}
	}
	return i
}

// skipColour returns the place behind the sequences that set the colour of a terminal,
// ESC [ … m, at s[i].
func skipColour(s string, i int) int {
	for range 3 {
		if i+2 >= len(s) || s[i] != 0x1b || s[i+1] != '[' {
			return i
		}
		j := i + 2
		for j < len(s) && j-i < 24 && (isDigit(s[j]) || s[j] == ';' || s[j] == ':') {
			j++
		}
		if j == len(s) || s[j] != 'm' && s[j] != 'K' {
			return i
		}
		i = j + 1
	}
	return i
}

// tripleQuoted reads the string of one word that stands between three quotes, on their
// line or on its own; from is behind the opening ones. Several words are prose.
func tripleQuoted(s string, from int, quote byte) (v value, ok bool) {
	v.quoted = true
	for v.from = from; v.from < len(s) && v.from-from < 64 && isSpace(s[v.from]); {
		v.from++
	}
	for v.to = v.from; v.to < len(s) && v.to-v.from <= maxValue && s[v.to] > ' ' && s[v.to] != quote; {
		v.to++
	}
	v.close = v.to
	for v.close < len(s) && v.close-v.to < 64 && isSpace(s[v.close]) {
		v.close++
	}
	if v.to == v.from || v.to-v.from > maxValue || !strings.HasPrefix(s[v.close:], strings.Repeat(string(quote), 3)) {
		return v, false
	}
	v.close += 2
	return v, true
}
