package answer

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

// escapes says for each byte of valid UTF-8 how a JSON string holds it: 0 as it
// is, 1 by a two-character escape, 2 by \u00XX, 3 a lead byte behind which a
// character may hide that is escaped (C1 controls, line and paragraph
// separators, the byte order mark), so that the message stays one line that
// shows what it holds. Decoding gives the same text back.
var escapes = func() (t [256]uint8) {
	for c := range 0x20 {
		t[c] = 2
	}
	t[0x7f] = 2
	for _, c := range "\n\r\t\b\f\"\\" {
		t[c] = 1
	}
	t[0xC2], t[0xE2], t[0xEF] = 3, 3, 3
	return t
}()

func escaped(r rune) bool {
	return r == '\u2028' || r == '\u2029' || r >= 0x80 && r <= 0x9f || r == 0xFEFF
}

// characters counts the characters of b, which is valid UTF-8: the bytes that
// continue none. Many bytes at a time, because both halves of every answer are
// counted.
func characters(b []byte) int {
	n := len(b)
	for len(b) >= 32 {
		n -= bits.OnesCount64(follow(b) | follow(b[8:])<<1 | follow(b[16:])<<2 | follow(b[24:])<<3)
		b = b[32:]
	}
	for _, c := range b {
		if c&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

// follow marks, by the lowest bits, which of eight bytes continue a character.
func follow(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b)
	return x >> 7 &^ (x >> 6) & 0x0101010101010101
}

// load reads eight bytes of s, the first of them lowest.
func load(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// special marks, by their highest bits, the bytes of x that are not plain: control
// characters, the quote, the backslash, DEL, and all beyond ASCII. Bytes above the
// lowest marked one may be marked without reason.
func special(x uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, back := x^ones*'"', x^ones*'\\'
	return ((x-ones*0x20)&^x | (quote-ones)&^quote | (back-ones)&^back | (x + ones) | x) & high
}

// escapedLen counts the characters of s inside a JSON string.
func escapedLen(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) {
			m := special(load(s, i))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
			break
		}
		if i == len(s) {
			break
		}
		switch escapes[s[i]] {
		case 0:
			if s[i]&0xC0 == 0x80 {
				n--
			}
		case 1:
			n++
		case 2:
			n += 5
		case 3:
			if r, _ := utf8.DecodeRuneInString(s[i:]); escaped(r) {
				n += 5
			}
		}
	}
	return n
}

const hex = "0123456789abcdef"

// room is what appendString keeps free beside the rest of the text: eight bytes that
// are stored before it is known how many of them count, and the longest escape.
const room = 8 + 6

// appendString appends s, which is valid UTF-8, inside a JSON string, without
// the quotes. Eight bytes are stored at a time; those from the first that needs an
// escape on are overwritten.
func appendString(dst []byte, s string) []byte {
	dst = slices.Grow(dst, len(s)+room)
	n, buf := len(dst), dst[:cap(dst)]
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			x := load(s, i)
			binary.LittleEndian.PutUint64(buf[n:], x)
			m := special(x)
			if m == 0 {
				i, n = i+8, n+8
				continue
			}
			k := bits.TrailingZeros64(m) >> 3
			i, n = i+k, n+k
		}
		c := s[i]
		kind := escapes[c]
		size := 1
		r := rune(c)
		if kind == 3 {
			if r, size = utf8.DecodeRuneInString(s[i:]); !escaped(r) {
				kind, size = 0, 1
			}
		}
		switch kind {
		case 0:
			buf[n] = c
			n++
			i++
			continue
		case 1:
			buf[n], buf[n+1] = '\\', short(c)
			n += 2
		default:
			copy(buf[n:], []byte{'\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]})
			n += 6
		}
		i += size
		if len(buf)-n < len(s)-i+room {
			dst = slices.Grow(buf[:n], len(s)-i+max(room, len(s)>>4))
			buf = dst[:cap(dst)]
		}
	}
	return buf[:n]
}

// short is the letter of a two-character escape.
func short(c byte) byte {
	switch c {
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	}
	return c
}

// appendQuoted appends s as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendString(dst, s)
	return append(dst, '"')
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
