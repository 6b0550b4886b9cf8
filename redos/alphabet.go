package redos

import (
	"slices"

	"github.com/dlclark/regexp2/v2/syntax"
)

// bits is a set of character classes.
type bits [4]uint64

func (b bits) meets(c bits) bool {
	return b[0]&c[0]|b[1]&c[1]|b[2]&c[2]|b[3]&c[3] != 0
}

func (b bits) and(c bits) bits { return bits{b[0] & c[0], b[1] & c[1], b[2] & c[2], b[3] & c[3]} }

func (b bits) or(c bits) bits { return bits{b[0] | c[0], b[1] | c[1], b[2] | c[2], b[3] | c[3]} }

func (b bits) without(c bits) bits {
	return bits{b[0] &^ c[0], b[1] &^ c[1], b[2] &^ c[2], b[3] &^ c[3]}
}

// alphabet reduces characters to samples: all of ASCII, one or more of each Unicode category, and the neighbourhood of
// every character that the pattern names.
type alphabet struct {
	samples []rune // at most 256
	sets    map[*syntax.CharSet]bits
	every   bits
}

// beyondASCII holds one or two characters of each general category and those that fold into ASCII.
var beyondASCII = []rune{
	0x85, 0xA0, 0x2003, 0x2028, 0x2029, // C1 and separators
	'é', 'É', 'ß', 'ſ', 'ª', 'ǅ', 'ʰ', 'α', 'Ω', 'ж', 'Ж', '中', 'あ', 'א', 0x212A, // letters
	0x300, 0x903, 0x20DD, '٣', '०', '²', 'Ⅷ', '½', // marks and numbers
	'‿', '—', '«', '»', '„', '†', '€', '×', '˅', '©', // punctuation and symbols
	0xAD, 0x200D, 0xFEFF, 0xE000, 0x378, 0xFFFD, 0x1F600, 0x10FFFF,
}

func newAlphabet(root *syntax.RegexNode) *alphabet {
	a := &alphabet{sets: map[*syntax.CharSet]bits{}}
	for c := rune(0); c < 128; c++ {
		a.samples = append(a.samples, c)
	}
	a.samples = append(a.samples, beyondASCII...)
	var named []rune
	note := func(c rune) {
		if c >= 127 {
			named = append(named, c-1, c, c+1)
		}
	}
	var walk func(n *syntax.RegexNode)
	walk = func(n *syntax.RegexNode) {
		note(n.Ch)
		for _, c := range n.Str {
			note(c)
		}
		if n.Set != nil {
			for k := 1; k <= 12; k++ {
				for _, r := range n.Set.GetIfNRanges(k) {
					note(r.First)
					note(r.Last)
				}
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(root)
	for _, c := range named {
		if len(a.samples) < 256 && c < 0x110000 && !slices.Contains(a.samples, c) {
			a.samples = append(a.samples, c)
		}
	}
	for i := range a.samples {
		a.every[i>>6] |= 1 << (i & 63)
	}
	return a
}

func (a *alphabet) all() bits { return a.every }

func (a *alphabet) char(c rune) (b bits) {
	i := slices.Index(a.samples, c)
	if i < 0 {
		i = len(a.samples) - 1 // more characters than samples: they share the last
	}
	b[i>>6] |= 1 << (i & 63)
	return b
}

// of returns the characters that a one-character node, looped or not, can consume.
func (a *alphabet) of(n *syntax.RegexNode) bits {
	switch {
	case n.IsOneFamily():
		return a.char(n.Ch)
	case n.IsNotoneFamily():
		return a.every.without(a.char(n.Ch))
	}
	if n.Set == nil {
		return a.every
	}
	if b, ok := a.sets[n.Set]; ok {
		return b
	}
	var b bits
	for i, c := range a.samples {
		if n.Set.Contains(c) {
			b[i>>6] |= 1 << (i & 63)
		}
	}
	a.sets[n.Set] = b
	return b
}
