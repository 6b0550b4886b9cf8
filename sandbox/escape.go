package sandbox

import (
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox/secrets"
)

// EscapeName makes a name or a piece of caller's text harmless to look at:
// control characters (C0, DEL, C1), line and paragraph separators,
// bidirectional controls, zero-width and tag characters become \u{X}, bytes
// that are not UTF-8 become \xNN. Everything else is kept, so an ordinary name
// comes back unchanged and without an allocation.
func EscapeName(s string) string {
	clean := true
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < 0x20 || c == 0x7f {
				clean = false
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && n == 1) || hidden(r) {
			clean = false
			break
		}
		i += n
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[s[i]>>4])
			b.WriteByte(hexDigits[s[i]&15])
		case hidden(r):
			b.WriteString(`\u{`)
			writeHex(&b, uint32(r))
			b.WriteByte('}')
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

func writeHex(b *strings.Builder, v uint32) {
	started := false
	for shift := 28; shift >= 0; shift -= 4 {
		d := v >> shift & 15
		if d != 0 || started || shift == 0 {
			started = true
			b.WriteByte(hexDigits[d])
		}
	}
}

// hidden reports characters that a reader cannot see or that reorder what is
// seen.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e, r == 0xfeff, r == 0x3164, r == 0xffa0:
		return true
	case r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5: // fillers and vowels without a glyph
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfff9 && r <= 0xfffb: // interlinear annotation
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	case r >= 0xe0000 && r <= 0xe007f, r >= 0x1d173 && r <= 0x1d17a: // tags, musical controls
		return true
	}
	return false
}

// SafeName reports whether a name of third parties may stand in a message,
// outside the fence: 1 to 100 characters of A–Z a–z 0–9 _ . / @ + -.
func SafeName(s string) bool {
	if len(s) == 0 || len(s) > 100 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '_', c == '.', c == '/', c == '@', c == '+', c == '-':
		default:
			return false
		}
	}
	return true
}

// shorten cuts s to at most max characters, the last of which is then an
// ellipsis. Invalid bytes count as one character each. Secrets give way before
// the cut: behind it no rule would know what is left of one.
func shorten(s string, max int) string {
	if len(s) <= max {
		return s
	}
	if utf8.RuneCountInString(s) > max {
		s, _ = secrets.Redact(secrets.ScanName(s), false, nil)
	}
	n, cut := 0, 0
	for i := range s {
		if n == max-1 {
			cut = i
		}
		n++
		if n > max {
			return s[:secrets.WholePlaceholders(s, cut)] + "…"
		}
	}
	return s
}

// jsonString writes s as a JSON string in which nothing is hidden; decoding it
// gives s back. s must be UTF-8.
func jsonString(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= 0x10000 && hidden(r):
			writeU16(&b, 0xd800+(r-0x10000)>>10)
			writeU16(&b, 0xdc00+(r-0x10000)&0x3ff)
		case hidden(r):
			writeU16(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func writeU16(b *strings.Builder, r rune) {
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hexDigits[r>>shift&15])
	}
}
