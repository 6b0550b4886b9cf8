package wire

import (
	"encoding/json"
	"strings"
	"testing"
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
