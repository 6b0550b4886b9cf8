package redos

import (
	"strings"
	"unicode/utf8"
)

// The engine's parser spells a counted part out: [Aa]{2000000000}b takes gigabytes and minutes before anything can stop
// it, and so do counts within counts whose product no integer holds. Both are refused on the source, before it is parsed.

const (
	// maxCount is how often a part can be asked for at least, as in Perl and PCRE.
	maxCount = 65535
	// maxCounts bounds all counts of a pattern together: each may be spelled out.
	maxCounts = 4 * maxCount
	// maxDigits is above every character code of decimal digits alone, as in \x{109999}.
	maxDigits = 110_000
	// maxProduct bounds counts within counts, of which no line holds more. The engine multiplies them in 32 bits, and its
	// search for prefixes goes through up to eight of each count, again for each of the count around it.
	maxProduct = MaxLine
)

// tooMany returns the 1-based character of a count that is too large, or 0. What looks like one within a class or a
// comment counts too: nothing may hide one from this function that the engine sees.
func tooMany(pattern string) int {
	product, largest, at, sum := 1.0, 0, 0, 0
	for i := range len(pattern) {
		if pattern[i] != '{' {
			continue
		}
		n, j := 0, i+1
		for ; j < len(pattern) && pattern[j] >= '0' && pattern[j] <= '9'; j++ {
			n = min(n*10+int(pattern[j]-'0'), 1<<31)
		}
		if j == i+1 || j == len(pattern) || pattern[j] != '}' && pattern[j] != ',' {
			continue
		}
		character := i > 1 && pattern[i-2] == '\\' && (pattern[i-1] == 'x' || pattern[i-1] == 'u') && n < maxDigits
		if !character {
			sum += n
		}
		if n > maxCount && !character || sum > maxCounts {
			return utf8.RuneCountInString(pattern[:i]) + 1
		}
		product *= float64(max(n, 1))
		if n > largest {
			largest, at = n, utf8.RuneCountInString(pattern[:i])+1
		}
	}
	// Where white space and comments mean nothing, no more than the product of all is known.
	if product > maxProduct && (mayExtend(pattern) || nestedProduct([]rune(pattern)) > maxProduct) {
		return at
	}
	return 0
}

// mayExtend reports whether a switch of options may turn on comments to the end of a line.
func mayExtend(pattern string) bool {
	for rest := pattern; ; {
		_, after, found := strings.Cut(rest, "(?")
		if !found {
			return false
		}
		for i := 0; i < len(after); i++ {
			c := after[i]
			if c == 'x' || c == 'X' {
				return true
			}
			if c != '-' && c != '+' && (c|0x20 < 'a' || c|0x20 > 'z') {
				break
			}
		}
		rest = after
	}
}

// nestedProduct is the largest product of counts within counts, or more: at each level the largest of the counts there
// is taken for every group of it.
func nestedProduct(t []rune) float64 {
	type level struct{ groups, count float64 }
	s := &source{text: t}
	open := []level{{1, 1}}
	end := func() {
		n := len(open) - 1
		open[n-1].groups = max(open[n-1].groups, open[n].groups*open[n].count)
		open = open[:n]
	}
	for i := 0; i < len(t); {
		switch t[i] {
		case '\\':
			i = s.escape(i)
			continue
		case '[':
			i = s.class(i)
			continue
		case '(':
			next := s.opening(i)
			if next > i && t[next-1] != ')' {
				open = append(open, level{1, 1})
			}
			i = max(next, i+1)
			continue
		case ')':
			if len(open) > 1 {
				end()
			}
		case '{':
			lo, _, _ := quantifier(t, i)
			open[len(open)-1].count = max(open[len(open)-1].count, float64(lo))
		}
		i++
	}
	for len(open) > 1 {
		end()
	}
	return open[0].groups * open[0].count
}
