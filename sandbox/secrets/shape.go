package secrets

import (
	"fmt"
	"strconv"
	"strings"

	"mcp-devserver/sandbox/internal/keywords"
)

// A shape says how a credential goes on after its keyword. It is a sequence of
// byte classes with counts, written like a small regular expression:
//
//	\w \d        letters and digits; digits
//	[A-Z0-9_-]   a class
//	x \.         the byte itself
//	{n} {n,} {n,m} ? + *   how often, one time when absent
//
// A shape holds at most one item that may exceed longItem bytes: see finder.match.
// Every item takes as much as it can and never gives back, so matching reads each
// byte once. Nothing else of the regular expression language exists here.
type shape []item

type item struct {
	class    keywords.Set
	min, max int
}

func addRange(b *keywords.Set, from, to byte) {
	for c := int(from); c <= int(to); c++ {
		b.Add(byte(c))
	}
}

// set builds a class from the inside of brackets: "A-Za-z0-9_-".
func set(s string) (b keywords.Set) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'w':
				addRange(&b, 'a', 'z')
				addRange(&b, 'A', 'Z')
				addRange(&b, '0', '9')
			case 'd':
				addRange(&b, '0', '9')
			default:
				b.Add(s[i])
			}
		case i+2 < len(s) && s[i+1] == '-':
			addRange(&b, s[i], s[i+2])
			i += 2
		default:
			b.Add(s[i])
		}
	}
	return b
}

// longest is the most bytes one item may take: what no real credential exceeds.
const longest = 16 << 10

func parseShape(s string) (shape, error) {
	var out shape
	for i := 0; i < len(s); {
		it := item{min: 1, max: 1}
		switch s[i] {
		case '[':
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				return nil, fmt.Errorf("shape %q: class without end", s)
			}
			it.class = set(s[i+1 : i+end])
			i += end + 1
		case '\\':
			if i+1 == len(s) {
				return nil, fmt.Errorf("shape %q: escape without byte", s)
			}
			it.class = set(s[i : i+2])
			i += 2
		case '(', ')', '|', '^', '$', '.', '{', '}', '?', '*', '+':
			return nil, fmt.Errorf("shape %q: %q is not part of the notation", s, s[i])
		default:
			it.class.Add(s[i])
			i++
		}
		if i < len(s) {
			switch s[i] {
			case '?':
				it.min, i = 0, i+1
			case '*':
				it.min, it.max, i = 0, longest, i+1
			case '+':
				it.max, i = longest, i+1
			case '{':
				end := strings.IndexByte(s[i:], '}')
				if end < 0 {
					return nil, fmt.Errorf("shape %q: count without end", s)
				}
				lo, hi, many := strings.Cut(s[i+1:i+end], ",")
				var err error
				if it.min, err = strconv.Atoi(lo); err != nil {
					return nil, fmt.Errorf("shape %q: %w", s, err)
				}
				switch {
				case !many:
					it.max = it.min
				case hi == "":
					it.max = longest
				default:
					if it.max, err = strconv.Atoi(hi); err != nil {
						return nil, fmt.Errorf("shape %q: %w", s, err)
					}
				}
				i += end + 1
			}
		}
		out = append(out, it)
	}
	return out, nil
}

// may rules most texts out by single bytes of the first item at s[i].
func (p shape) may(s string, i int) bool {
	it := &p[0]
	for _, n := range [...]int{2, 4, 7, 11} {
		if n < it.min && (i+n >= len(s) || !it.class.Has(s[i+n])) {
			return false
		}
	}
	// Of fixed length: a word that goes on behind it is no token.
	return len(p) > 1 || it.min < it.max || i+it.max >= len(s) || !isAlnum(s[i+it.max])
}

// match returns where the shape ends when it starts at s[i].
func (p shape) match(s string, i int) (end int, ok bool) {
	for k := range p {
		it := &p[k]
		n := 0
		for n < it.max && i < len(s) && it.class.Has(s[i]) {
			i++
			n++
		}
		if n < it.min {
			return 0, false
		}
	}
	return i, true
}

func mustShape(s string) shape {
	p, err := parseShape(s)
	if err != nil {
		panic(err)
	}
	return p
}
