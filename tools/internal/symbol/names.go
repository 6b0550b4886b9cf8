package symbol

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Use is one occurrence of a name: bytes of the text, end exclusive.
type Use struct{ Start, End, Line int }

// References finds name as a whole identifier in the code of src: not in comments, not in strings. It calls f for each
// in order until f returns false, and for none when the context has ended.
func References(ctx context.Context, lang, src, name string, f func(Use) bool) {
	if name == "" || !strings.Contains(src, name) {
		return
	}
	code := Blank(ctx, lang, src)
	if ctx.Err() != nil {
		return
	}
	line, counted := 1, 0
	for i := 0; ; {
		j := strings.Index(code[i:], name)
		if j < 0 {
			return
		}
		j += i
		end := j + len(name)
		if !joins(code[:j], code[end:], name) {
			line += strings.Count(code[counted:j], "\n")
			counted = j
			if !f(Use{j, end, line}) {
				return
			}
			i = end
			continue
		}
		_, w := utf8.DecodeRuneInString(code[j:])
		i = j + w
	}
}

// joins: the name is part of a longer identifier.
func joins(before, after, name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if identRune(first) || first == '$' || first == '#' {
		if r, w := utf8.DecodeLastRuneInString(before); w > 0 && identRune(r) {
			return true
		}
	}
	if identRune(last) {
		if r, w := utf8.DecodeRuneInString(after); w > 0 && identRune(r) {
			return true
		}
	}
	return false
}

func identRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0 && isWordByte(byte(r))
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc))
}

// Fold lowers s for comparing without case. No character outside ASCII becomes one inside, so that a search for the
// folded bytes of an ASCII name misses nothing.
func Fold(s string) string {
	lower := true
	for i := 0; i < len(s) && lower; i++ {
		lower = s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z')
	}
	if lower {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}
		if l := unicode.ToLower(r); l >= utf8.RuneSelf {
			return l
		}
		return r
	}, s)
}

// SplitName splits a qualified name such as Server.Start, Server/Start, pkg::Func or Foo#bar at its last separators,
// outermost first. Signs that belong to a name (operator/, #private, a trailing dot) stay.
func SplitName(name string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(name); i++ {
		w := 0
		switch c := name[i]; {
		case c == ':' && i+1 < len(name) && name[i+1] == ':':
			w = 2
		case c == '.' || c == '/' || c == '#' || c == '\\':
			w = 1
		}
		if w == 0 || i == start || i+w >= len(name) {
			continue
		}
		if prev, _ := utf8.DecodeLastRuneInString(name[:i]); !identRune(prev) {
			continue
		}
		parts = append(parts, name[start:i])
		i += w - 1
		start = i + 1
	}
	return append(parts, name[start:])
}

// Distance is the edit distance of a and b, letter case ignored, or a number above limit when it is larger than that.
func Distance(a, b string, limit int) int {
	x, y := []rune(Fold(a)), []rune(Fold(b))
	if len(x) > 64 || len(y) > 64 || len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	var row [3][65]int
	for j := range y {
		row[0][j+1] = j + 1
	}
	prev2, prev, cur := &row[2], &row[0], &row[1]
	for i := range x {
		cur[0] = i + 1
		least := cur[0]
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			d := min(prev[j]+cost, prev[j+1]+1, cur[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, prev2[j-1]+1) // two letters swapped
			}
			cur[j+1] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(y)]
}

// Words calls f for every run of identifier characters in text, until f returns false.
func Words(text string, f func(word string) bool) {
	for i := 0; i < len(text); {
		if n := wordEnd(text, i); n > i {
			if !f(text[i:n]) {
				return
			}
			i = n
			continue
		}
		_, w := utf8.DecodeRuneInString(text[i:])
		i += w
	}
}

// Identifiers calls f for every identifier in the code of src, not in comments or strings, that match accepts, in
// order until f returns false, and for none when the context has ended.
func Identifiers(ctx context.Context, lang, src string, match func(name string) bool, f func(Use) bool) {
	code := Blank(ctx, lang, src)
	if ctx.Err() != nil {
		return
	}
	line, counted := 1, 0
	seen := map[string]bool{}
	for i := 0; i < len(code); {
		n := wordEnd(code, i)
		if n == i {
			_, w := utf8.DecodeRuneInString(code[i:])
			i += w
			continue
		}
		word := code[i:n]
		hit, known := seen[word]
		if !known {
			hit = (word[0] < '0' || word[0] > '9') && match(word)
			seen[word] = hit
		}
		if hit {
			line += strings.Count(code[counted:i], "\n")
			counted = i
			if !f(Use{i, n, line}) {
				return
			}
		}
		i = n
	}
}
