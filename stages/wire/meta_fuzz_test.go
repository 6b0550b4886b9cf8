package wire

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzToken holds the integer arithmetic on digits against the meaning of the number.
func FuzzToken(f *testing.F) {
	for _, s := range []string{"1", "1.0", "-0", "15e-1", "150e-1", "1E+2", "0.00e3", "1e-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 30 || strings.ContainsAny(s, " \t\r\n") || !json.Valid([]byte(s)) || Kind([]byte(s)) != '0' {
			return
		}
		plain, ok := Integer([]byte(s), 15)
		if !ok {
			return
		}
		var want, got float64
		if json.Unmarshal([]byte(s), &want) != nil || json.Unmarshal([]byte(plain), &got) != nil || want != got {
			t.Fatalf("%s became %s", s, plain)
		}
		if (ID(s)).Key() != (ID(plain)).Key() {
			t.Fatalf("keys of %s and %s differ", s, plain)
		}
	})
}

// FuzzDecodeHeader: a value comes back from its base64 form, and what is
// accepted is text that a header may hold.
func FuzzDecodeHeader(f *testing.F) {
	for _, s := range []string{"read_file", "=?base64?cmVhZF9maWxl?=", "=?base64?!!!?=", "=?BASE64?cmVhZF9maWxl?=", "=?base64?", "=?base64??=", "é", "\x00", "=?base64?/w==?="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := DecodeHeader(s)
		if ok && !utf8.ValidString(got) {
			t.Fatalf("%q decodes to %q", s, got)
		}
		if !ok && got != "" {
			t.Fatalf("%q is refused and yet gives %q", s, got)
		}
		if utf8.ValidString(s) {
			if back, ok := DecodeHeader("=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="); !ok || back != s {
				t.Fatalf("%q comes back as %q, %v", s, back, ok)
			}
		}
	})
}
