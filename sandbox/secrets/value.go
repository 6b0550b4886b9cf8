package secrets

import "strings"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isAlpha(c byte) bool { return isLower(c) || isUpper(c) }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

// kinds counts the bytes of a value by kind.
type kinds struct{ lower, upper, digit, space, other, wide int }

func (k *kinds) count(s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c):
			k.lower++
		case isUpper(c):
			k.upper++
		case isDigit(c):
			k.digit++
		case c <= ' ':
			k.space++
		case c >= 0x80:
			k.wide++
		default:
			k.other++
		}
	}
}

// stands are words that stand for a value instead of being one.
var stands = []string{
	"changeme", "change_me", "change-me", "change_this", "placeholder", "replace", "redacted", "dummy",
	"example", "sample", "insert", "your", "todo", "fixme", "notreal", "not_a_real", "not-a-real", "undefined",
	"localhost", "process.env", "getenv", "environ", "padding",
	"hunter2", "conta1n3rize14", "password1", // of well-known manuals
}

// standsFor reports whether v is a placeholder or a template rather than a value:
// ${VAR}, <token>, {{ x }}, %s, *****, xxxx, your-key-here. The bracket that opens
// our own placeholder counts, so what is redacted once stays as it is.
func standsFor(v string) bool {
	if v == "" {
		return true
	}
	switch v[0] {
	case '$', '<', '{', '%', '*', '[', '(', '@', '&', '\\':
		return true
	}
	if n := strings.TrimLeft(v, "-"); len(v) <= 20 && strings.HasPrefix(n, "0x") {
		return true // a number
	}
	if isSoup(v) {
		return false
	}
	if strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(v, "$(") || strings.Contains(v, "...") ||
		strings.Contains(v, "***") || strings.Contains(v, "%s") || strings.Contains(v, "%{") || strings.Contains(v, "<%") ||
		strings.Contains(v, "…") || strings.Contains(v, openBracket) || strings.Contains(v, closeBracket) {
		return true
	}
	if i := strings.IndexByte(v, '<'); i >= 0 && strings.IndexByte(v[i:], '>') > 0 {
		return true
	}
	if i := strings.IndexByte(v, '{'); i >= 0 && strings.IndexByte(v[i:], '}') > 0 {
		return true
	}
	run := 1
	for i := 1; i < len(v); i++ {
		if v[i] == v[i-1] {
			run++
			if run >= 5 && 2*run >= len(v) || (v[i] == 'x' || v[i] == 'X') && run >= 4 && 4*run > len(v) {
				return true
			}
		} else {
			run = 1
		}
	}
	for i := range len(v) {
		for _, w := range standsBy[v[i]&31] {
			if len(v)-i >= len(w) && hasFold(v[i:], w) {
				return true
			}
		}
	}
	return false
}

// standsBy holds stands by the low five bits of the first letter.
var standsBy = func() (by [32][]string) {
	for _, w := range stands {
		by[w[0]&31] = append(by[w[0]&31], w)
	}
	return by
}()

// hasFold reports whether s begins with w, without regard to ASCII case; w is lower
// case and no longer than s.
func hasFold(s, w string) bool {
	for j := range len(w) {
		if lower(s[j]) != w[j] {
			return false
		}
	}
	return true
}

// isSoup reports whether v is made of letters and so many kinds of signs, with
// brackets that do not match, that it is neither a template nor a pattern.
func isSoup(v string) bool {
	if len(v) < 12 {
		return false
	}
	var seen [4]uint64
	var open [64]byte
	kinds, depth, letters, stray := 0, 0, 0, false
	for i := range len(v) {
		c := v[i]
		if isAlnum(c) {
			letters++
			continue
		}
		if c <= ' ' || c >= 0x7f || c == '\\' {
			return false
		}
		if seen[c>>6]>>(c&63)&1 == 0 {
			seen[c>>6] |= 1 << (c & 63)
			kinds++
		}
		switch c {
		case '(', '[', '{':
			if depth == len(open) {
				return false
			}
			open[depth] = c
			depth++
		case ')', ']', '}':
			if depth == 0 || open[depth-1] != c-1 && open[depth-1] != c-2 {
				stray = true
				continue
			}
			depth--
		}
	}
	return kinds >= 7 && letters >= 8 && stray
}

// isWordy reports whether v reads as names: parts made of letters, or of letters
// and then at most three digits, joined by . _ - / : or a change of case. Names
// of variables, files, headers and versions are wordy; keys are not.
func isWordy(v string) bool {
	var words, odd, letters int
	for i := 0; i < len(v); {
		c := v[i]
		switch {
		case isAlpha(c):
			from := i
			for i < len(v) && isAlpha(v[i]) {
				i++
			}
			if !isWord(v[from:i]) {
				odd++
			}
			letters += i - from
			words++
			digits := 0
			for i < len(v) && isDigit(v[i]) {
				i++
				digits++
			}
			if digits > 0 && i < len(v) && isAlpha(v[i]) {
				odd++ // letters, digits, letters: a name does that once at most
			}
			if digits > 4 {
				return false
			}
		case isDigit(c):
			from := i
			for i < len(v) && isDigit(v[i]) {
				i++
			}
			if i-from > 4 || i < len(v) && isAlpha(v[i]) {
				odd++
			}
		default:
			i++
		}
	}
	// One odd part is a name's at most: testRSA2048Key.
	return (odd == 0 || odd == 1 && letters >= 12 && words <= 3) && !isDrawn(v)
}

// isWord judges a stretch of letters: lower case, upper case, or capitals that
// start words of three letters and more on average, and a vowel in every eight.
func isWord(w string) bool {
	n := len(w)
	if n <= 3 {
		return true
	}
	var upper, vowels, run, worst int
	for i := range n {
		if isUpper(w[i]) {
			upper++
		}
		switch lower(w[i]) {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			vowels++
			run = 0
		default:
			run++
			worst = max(worst, run)
		}
	}
	if worst > 6 || vowels == 0 && n > 5 {
		return false
	}
	if upper == n || upper == 0 {
		return true
	}
	changes := 0
	for i := 1; i < n; i++ {
		if isUpper(w[i]) && isLower(w[i-1]) {
			changes++
		}
	}
	return changes*4 <= n && upper*2 <= n+2
}

// isHex reports whether v is hexadecimal digits only.
func isHex(v string) bool {
	for i := range len(v) {
		if c := lower(v[i]); !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return v != ""
}

// isRandom reports whether v looks drawn at random: long enough for that to be
// told, letters with digits or a mix of cases, and not wordy.
func isRandom(v string, atLeast int) bool {
	if len(v) < atLeast {
		return false
	}
	var k kinds
	k.count(v)
	if k.space > 0 || k.wide > 0 || k.lower+k.upper == 0 {
		return false
	}
	if k.digit == 0 && (k.upper == 0 || k.lower == 0 || len(v) < 16) {
		return false
	}
	return !isWordy(v)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
