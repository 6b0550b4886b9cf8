package answer

import (
	"encoding/binary"
	"math/bits"
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
// continue none. Eight bytes at a time, because both halves of every answer are
// counted.
func characters(b []byte) int {
	n := len(b)
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		n -= bits.OnesCount64(x >> 7 &^ (x >> 6) & 0x0101010101010101)
		b = b[8:]
	}
	for _, c := range b {
		if c&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

// escapedLen counts the characters of s inside a JSON string.
func escapedLen(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
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

// appendString appends s, which is valid UTF-8, inside a JSON string, without
// the quotes.
func appendString(dst []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		kind := escapes[c]
		if kind == 0 {
			continue
		}
		size := 1
		r := rune(c)
		if kind == 3 {
			if r, size = utf8.DecodeRuneInString(s[i:]); !escaped(r) {
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		if kind == 1 {
			dst = append(dst, '\\', short(c))
		} else {
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		}
		i += size - 1
		from = i + 1
	}
	return append(dst, s[from:]...)
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
