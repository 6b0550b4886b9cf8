package secrets

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzFind(f *testing.F) {
	for _, r := range Rules() {
		for _, ex := range r.Fire {
			f.Add(ex.Text)
		}
		for _, q := range r.Quiet {
			f.Add(q)
		}
	}
	for _, s := range []string{
		"", "\x00", "password=", "password='", "token = \"\\", "://", "a://b:c@", "eyJhbGciOi.", "-----BEGIN ", keyBegin, keyBegin + keyBegin,
		keyBegin + "\n" + strings.Repeat("A", 70) + "\\", "curl -u ", "Bearer ", "\"auth\":\"", "AKIA\xff\xfe", "secret: \"é\xf0\x9f\"", "⟦redacted x",
		"password = \"" + Placeholder("jwt") + "\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spans := Find(s)
		last := 0
		for _, p := range spans {
			if p.Start < last || p.End <= p.Start || p.End > len(s) || int(p.Rule) >= len(rules) {
				t.Fatalf("%v of %d bytes", spans, len(s))
			}
			last = p.End
			if utf8.ValidString(s) && (!onBoundary(s, p.Start) || !onBoundary(s, p.End)) {
				t.Fatalf("%v splits a character of %q", p, s)
			}
		}
		tx := Text{s, spans}
		masked := tx.Masked()
		if len(masked) != len(s) || strings.Count(masked, "\n") != strings.Count(s, "\n") {
			t.Fatal("masking moved something")
		}
		var rep Report
		clean, changed := Redact(tx, true, &rep)
		if changed != (clean != s) || strings.Count(clean, "\n") != strings.Count(s, "\n") {
			t.Fatalf("%q became %q", s, clean)
		}
		if utf8.ValidString(s) && !utf8.ValidString(clean) {
			t.Fatalf("%q became invalid: %q", s, clean)
		}
		if again, changed := Redact(Scan(clean), false, &rep); changed {
			t.Fatalf("not settled: %q, then %q", clean, again)
		}
		if mid := len(s) / 2; len(spans) > 0 {
			a, b := tx.Slice(0, mid), tx.Slice(mid, len(s))
			if a.Masked()+b.Masked() != masked {
				t.Fatal("halves are masked differently")
			}
		}
	})
}

func onBoundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }
