package untrusted

import (
	"encoding/base64"
	"strings"
)

// Base64 is looked at where it holds text: a run of minEncoded bytes and more, whose
// beginning decodes to characters that are shown.
const (
	minEncoded = 44
	maxEncoded = 16 << 10 // of one run
	firstBytes = 16       // of a run, decoded before the rest is
)

var base64Byte = func() (b [256]bool) {
	for c := range 256 {
		b[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
	}
	return b
}()

// scanEncoded finds base64 that decodes to something Scan would signal. It looks at
// one byte in minEncoded and at the run around it, and allocates only for a run that
// is text.
func scanEncoded(s string, hits []Hit) []Hit {
	for i := minEncoded - 1; i < len(s); i += minEncoded {
		if !base64Byte[s[i]] {
			continue
		}
		from := i
		for from > 0 && i-from < minEncoded && base64Byte[s[from-1]] {
			from--
		}
		to := i
		for to < len(s) && to-from < maxEncoded && base64Byte[s[to]] {
			to++
		}
		if to-from >= minEncoded && (from == 0 || !base64Byte[s[from-1]]) && holdsOrders(s[from:to]) {
			hits = append(hits, Hit{table[hidden], from, to})
		}
		if to > i {
			i = to
		}
	}
	return hits
}

func holdsOrders(run string) bool {
	run = run[:len(run)&^3]
	for i := 0; i < firstBytes; i += 4 { // decoded by hand: most runs end here
		n := uint32(digit(run[i]))<<18 | uint32(digit(run[i+1]))<<12 | uint32(digit(run[i+2]))<<6 | uint32(digit(run[i+3]))
		if b := [3]byte{byte(n >> 16), byte(n >> 8), byte(n)}; !isText(b[:]) {
			return false
		}
	}
	text, err := base64.StdEncoding.DecodeString(run)
	if err != nil || !isText(text) {
		return false
	}
	return len(scanPlain(strings.ToValidUTF8(string(text), "?"), nil)) > 0
}

// digit is the value of a byte of base64.
func digit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 26
	case c >= 'A':
		return c - 'A'
	case c >= '0':
		return c - '0' + 52
	case c == '+':
		return 62
	}
	return 63
}

// isText reports whether b is made of characters that are shown, and blanks.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return true
}
