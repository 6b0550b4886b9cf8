package wire

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// The markers of an encoded header value; they are case-sensitive.
const (
	encodedOpen  = "=?base64?"
	encodedClose = "?="
)

// DecodeHeader returns what a mirrored header value stands for: itself, or the text inside =?base64?…?= . ok is false when the
// encoding is malformed, is not UTF-8, or a character may not stand in a header value.
func DecodeHeader(v string) (s string, ok bool) {
	for i := 0; i < len(v); i++ {
		if c := v[i]; c != '\t' && (c < 0x20 || c > 0x7e) {
			return "", false
		}
	}
	v = strings.Trim(v, " \t")
	if len(v) < len(encodedOpen)+len(encodedClose) || !strings.HasPrefix(v, encodedOpen) || !strings.HasSuffix(v, encodedClose) {
		return v, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(v[len(encodedOpen) : len(v)-len(encodedClose)])
	if err != nil || !utf8.Valid(b) {
		return "", false
	}
	return string(b), true
}
