package sandbox

import "unicode/utf8"

func runeLen(b []byte) int {
	_, n := utf8.DecodeRune(b)
	return n
}

// classEnd finds the bracket that closes the class at p[i], or -1.
func classEnd(p string, i int) int {
	j := i + 1
	if j < len(p) && (p[j] == '!' || p[j] == '^') {
		j++
	}
	if j < len(p) && p[j] == ']' {
		j++
	}
	for ; j < len(p); j++ {
		switch p[j] {
		case '\\':
			j++
		case ']':
			return j
		}
	}
	return -1
}

// classMatch matches the first character of b against the inside of a class
// and gives its length.
func classMatch(class string, b []byte) (bool, int) {
	r, n := utf8.DecodeRune(b)
	negated := false
	if class[0] == '!' || class[0] == '^' {
		negated = true
		class = class[1:]
	}
	found := false
	for first := true; class != "" || first; first = false {
		lo, rest := classRune(class)
		if lo < 0 {
			break
		}
		hi := lo
		if len(rest) > 1 && rest[0] == '-' {
			hi, rest = classRune(rest[1:])
		}
		if lo <= r && r <= hi {
			found = true
		}
		class = rest
	}
	return found != negated, n
}

func classRune(s string) (rune, string) {
	if len(s) > 1 && s[0] == '\\' {
		s = s[1:]
	}
	if s == "" {
		return -1, ""
	}
	r, n := utf8.DecodeRuneInString(s)
	return r, s[n:]
}
