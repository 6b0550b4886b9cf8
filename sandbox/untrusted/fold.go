package untrusted

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text made plain for matching: compatibility forms and Latin
// look-alikes became ASCII, invisible characters are gone, tag characters became
// the letters they stand for. at maps each byte to its place in the original.
type folded struct {
	s  string
	at []int // len(s)+1 entries
}

func fold(s string) folded {
	b := make([]byte, 0, len(s))
	at := make([]int, 0, len(s)+1)
	put := func(i int, bytes ...byte) {
		for _, c := range bytes {
			b = append(b, c)
			at = append(at, i)
		}
	}
	tagged := false // inside a run of tag characters: words of their own
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if tagged {
				put(i, ' ')
				tagged = false
			}
			put(i, s[i])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError:
			put(i, '?')
		case r >= 0xE0020 && r <= 0xE007E:
			if !tagged {
				put(i, ' ')
				tagged = true
			}
			put(i, byte(r-0xE0000))
		case isInvisible(r) || isBidi(r) || isVariation(r) || r == 0xAD || r >= 0xE0000 && r <= 0xE007F:
		case r == '’' || r == '‘':
			put(i, '\'')
		case likeLatin[r] != 0:
			put(i, likeLatin[r])
		default:
			if d := norm.NFKC.PropertiesString(s[i:]).Decomposition(); d != nil {
				plain := false
				for _, c := range d {
					if c < utf8.RuneSelf {
						put(i, c)
						plain = true
					}
				}
				if plain {
					break
				}
			}
			// Any byte that belongs to a word, so that words are not split here.
			put(i, wide)
		}
		i += n
	}
	at = append(at, len(s))
	return folded{string(b), at}
}

// wide stands for a character that has no ASCII likeness.
const wide = 0xFF

// likeLatin maps letters of other scripts to the Latin ones they look like.
var likeLatin = map[rune]byte{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'х': 'x', 'у': 'y', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'һ': 'h', 'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'ɡ': 'g', 'ı': 'i',
	'А': 'a', 'В': 'b', 'Е': 'e', 'К': 'k', 'М': 'm', 'Н': 'h', 'О': 'o', 'Р': 'p', 'С': 'c', 'Т': 't', 'Х': 'x', 'Ү': 'y', 'І': 'i', 'Ј': 'j', 'Ѕ': 's',
	'α': 'a', 'ο': 'o', 'ν': 'v', 'ρ': 'p', 'ι': 'i', 'υ': 'u', 'Α': 'a', 'Β': 'b', 'Ε': 'e', 'Ζ': 'z', 'Η': 'h', 'Ι': 'i', 'Κ': 'k', 'Μ': 'm', 'Ν': 'n', 'Ο': 'o', 'Ρ': 'p', 'Τ': 't', 'Υ': 'y', 'Χ': 'x',
}

// isInvisible lists characters that take no room and that no script needs between
// Latin letters.
func isInvisible(r rune) bool {
	switch {
	case r >= 0x200B && r <= 0x200D, r >= 0x2060 && r <= 0x2064, r == 0xFEFF, r == 0x180E, r == 0x34F,
		r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r >= 0x206A && r <= 0x206F, r >= 0x1D173 && r <= 0x1D17A:
		return true
	}
	return false
}

// isBidi lists the controls that change the order in which text is shown. The
// marks U+200E and U+200F do so for neutral characters only and are not among them.
func isBidi(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

func isVariation(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF
}
