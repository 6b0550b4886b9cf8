package untrusted

import (
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text made plain for matching: compatibility forms and Latin
// look-alikes became ASCII, invisible characters are gone, tag characters became
// the letters they stand for.
type folded struct {
	s string
	*foldRoom
}

// foldRoom is memory that folding uses again.
type foldRoom struct {
	bytes  []byte
	pieces []piece
}

// piece is a place from which on bytes of the folded text come from the original: one
// after the other, or all of them from one character.
type piece struct {
	at, from int32
	fixed    bool
}

var foldRooms = sync.Pool{New: func() any { return new(foldRoom) }}

func (f *folded) release() { foldRooms.Put(f.foldRoom) }

// origin returns where byte i of the folded text, or its end, comes from.
func (f *folded) origin(i int) int {
	n, found := slices.BinarySearchFunc(f.pieces, int32(i), func(p piece, i int32) int { return int(p.at - i) })
	if !found {
		n--
	}
	for n+1 < len(f.pieces) && f.pieces[n+1].at == f.pieces[n].at { // nothing came from this one
		n++
	}
	p := f.pieces[n]
	if p.fixed {
		return int(p.from)
	}
	return int(p.from) + i - int(p.at)
}

func fold(s string) folded {
	room := foldRooms.Get().(*foldRoom)
	b, pieces := slices.Grow(room.bytes[:0], len(s)), room.pieces[:0]
	fixed := func(from int) { pieces = append(pieces, piece{int32(len(b)), int32(from), true}) }
	tagged := false // inside a run of tag characters: words of their own
	for i := 0; i < len(s); {
		if n := asciiLen(s[i:]); n > 0 {
			if tagged {
				fixed(i)
				b = append(b, ' ')
				tagged = false
			}
			pieces = append(pieces, piece{int32(len(b)), int32(i), false})
			b = append(b, s[i:i+n]...)
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		fixed(i)
		switch {
		case r == utf8.RuneError:
			b = append(b, '?')
		case r >= 0xE0020 && r <= 0xE007E:
			if !tagged {
				b = append(b, ' ')
				tagged = true
			}
			b = append(b, byte(r-0xE0000))
		case isInvisible(r) || isBidi(r) || isVariation(r) || r == 0xAD || r >= 0xE0000 && r <= 0xE007F:
		case r == '’' || r == '‘':
			b = append(b, '\'')
		case r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3: // Han and Hangul look like no Latin letter
			b = append(b, wide)
		case likeLatin[r] != 0:
			b = append(b, likeLatin[r])
		default:
			plain := false
			if d := norm.NFKC.PropertiesString(s[i:]).Decomposition(); d != nil {
				for _, c := range d {
					if c < utf8.RuneSelf {
						b = append(b, c)
						plain = true
					}
				}
			}
			if !plain {
				// Any byte that belongs to a word, so that words are not split here.
				b = append(b, wide)
			}
		}
		i += n
	}
	pieces = append(pieces, piece{int32(len(b)), int32(len(s)), true})
	room.bytes, room.pieces = b, pieces
	return folded{string(b), room}
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
