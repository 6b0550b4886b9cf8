package redos

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// lines returns the numbers of the matching lines of b, found through the prefilter or by the engine alone.
func lines(t testing.TB, re *Regex, b []byte, filtered bool) (out []int) {
	t.Helper()
	n := 0
	candidates := re.Candidates(string(b))
	defer candidates.Close()
	for at := 0; at < len(b); n++ {
		if filtered {
			c := candidates.Next(at)
			if c < 0 {
				return out
			}
			if c < at {
				t.Fatalf("candidate %d before %d", c, at)
			}
			skip := bytes.Count(b[at:c], []byte{'\n'})
			n += skip
			at += bytes.LastIndexByte(b[at:c], '\n') + 1
		}
		end := at + bytes.IndexByte(b[at:], '\n')
		if end < at {
			end = len(b)
		}
		_, _, ok, err := re.Find(string(bytes.TrimSuffix(b[at:end], []byte("\r"))), time.Time{})
		if err != nil {
			return nil
		}
		if ok {
			out = append(out, n)
		}
		at = end + 1
	}
	return out
}

// randomPattern makes patterns around words that randomText holds.
func randomPattern(r *rand.Rand, depth int) string {
	atoms := []string{
		"foo", "bar", "K", "ks", "a", "é", "ß", "K", `\w`, `\d+`, `\s*`, ".", "[abc]", "[Kk]", "[^a]", `\bfoo`, "(?=bar)", "(?!foo)",
		"(?<=a)", "(?<!b)", "^", "$", `\x41`, `\u00e9`, `\Qa.b\E`, "(?i:foo)", "(?>ba|b)", "x{2}", "x{0,2}", "(?:)", "[ſs]", `\.`, "--", "\x00",
		`\p{Lu}`, "\uFFFD", `\n`, "[\n]", "ab?", "(?#c)", "f++o",
	}
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	switch r.IntN(6) {
	case 0:
		return "(?:" + randomPattern(r, depth-1) + "|" + randomPattern(r, depth-1) + ")"
	case 1:
		return "(" + randomPattern(r, depth-1) + ")" + []string{"", "?", "*", "+", "{2}", "{1,3}", "??", "+?"}[r.IntN(8)]
	case 2:
		return "(" + randomPattern(r, depth-1) + `)\1`
	}
	return randomPattern(r, depth-1) + randomPattern(r, depth-1)
}

func randomText(r *rand.Rand) []byte {
	words := []string{
		"foo", "FOO", "Foo", "bar", "baR", "k", "K", "\u212a", "s", "S", "ſ", "a", "b", "ab", "é", "É", "ß", "ẞ", "A", "1", "42", " ", "\t", ".", "a.b",
		"xx", "x", "\n", "\n", "\n", "\r\n", "\xff", "\xc3", "--", "", "\x00", "�",
	}
	var b []byte
	for range r.IntN(60) {
		b = append(b, words[r.IntN(len(words))]...)
	}
	return b
}

func TestFilterLosesNothing(t *testing.T) {
	testFilterLosesNothing(t)
	withoutVectors(func() { testFilterLosesNothing(t) })
}

func testFilterLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	selective := 0
	for range 3000 / slower {
		p := randomPattern(r, 1+r.IntN(3))
		o := Options{IgnoreCase: r.IntN(3) == 0, NoGuard: true, MatchTimeout: 5 * time.Second}
		re, err := Compile(p, o)
		if err != nil {
			continue
		}
		if re.Selective() {
			selective++
		}
		for range 6 {
			b := randomText(r)
			got, want := lines(t, re, b, true), lines(t, re, b, false)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q %+v on %q: with the prefilter %v, without %v", p, o, b, got, want)
			}
			if len(want) > 0 && !re.MayMatch(b) {
				t.Fatalf("%q on %q: MayMatch is false", p, b)
			}
		}
	}
	if selective < 500/slower {
		t.Errorf("only %d patterns had a prefilter", selective)
	}
}

func TestLiteralFilterLosesNothing(t *testing.T) {
	testLiteralFilterLosesNothing(t)
	withoutVectors(func() { testLiteralFilterLosesNothing(t) })
}

func testLiteralFilterLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := 0; i < 2000; i++ {
		var p []byte
		for len(p) == 0 {
			p = bytes.TrimRight(bytes.ReplaceAll(randomText(r), []byte("\n"), nil), "\r")
			p = p[:min(len(p), 1+r.IntN(5))]
		}
		o := Options{Literal: true, IgnoreCase: r.IntN(2) == 0}
		re, err := Compile(string(p), o)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			b := randomText(r)
			got, want := lines(t, re, b, true), lines(t, re, b, false)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q %+v on %q: with the prefilter %v, without %v", p, o, b, got, want)
			}
			if !o.IgnoreCase && bytes.Contains(b, p) != (len(want) > 0) && !bytes.Contains(p, []byte("\r")) {
				t.Fatalf("%q on %q: %v", p, b, want)
			}
		}
	}
}

// TestFilterMultiline compares MayMatch with the engine on whole texts.
func TestFilterMultiline(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1500 / slower {
		re, err := Compile(randomPattern(r, 1+r.IntN(3)), Options{Multiline: true, NoGuard: true})
		if err != nil {
			continue
		}
		b := randomText(r)
		if _, _, ok, _ := re.Find(string(b), time.Time{}); ok && !re.MayMatch(b) {
			t.Fatalf("%s loses %q", re.re, b)
		}
	}
}

func TestRequired(t *testing.T) { withoutVectors(func() { testRequired(t) }) }

func testRequired(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		ignore   bool
		literals string // sorted as found; a folded letter is in lower case after ~
	}{
		{`func \w+\(`, false, "func "},
		{`foo|bar`, false, "foo bar"},
		{`ErrNotFound|ErrClosed|ErrTimeout`, false, "Err"},
		{`éa1|éà1`, false, "éa1 éà1"},
		{`(?:foo|bar)baz`, false, "foobaz barbaz"},
		{`\w+Handler\b`, false, "Handler"},
		{`[Zz]oo`, false, "~zoo"},
		{`Xor`, true, "~x~o~r"},
		{`[Ff]oo`, false, ""},
		{`(?<=Zz)\d+`, false, "Zz"},
		{`(?=Qx)\w`, false, "Qx"},
		{`x*`, false, ""},
		{`a?b?`, false, ""},
		{`[A-Z]+_\d`, false, ""}, // the automaton is cheaper than a byte that stands in every tenth line
		{`\w+@\w+`, false, "@"},
		{`\w+`, false, ""},
		{`(?:foo){2}`, false, "foofoo"},
		{`(foo)\1`, false, "foo"},
		{"a\uFFFDb", false, ""},
		{`\x00abc`, false, ""},
	} {
		re, err := Compile(c.pattern, Options{IgnoreCase: c.ignore})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if re.filter != nil {
			for _, f := range re.filter.finders {
				var s strings.Builder
				for i, b := range f.text {
					if f.fold[i] {
						s.WriteByte('~')
					}
					s.WriteByte(b)
				}
				got = append(got, s.String())
			}
		}
		if strings.Join(got, " ") != c.literals {
			t.Errorf("%s: got %q, want %q", c.pattern, got, c.literals)
		}
	}
}

func FuzzMayMatch(f *testing.F) {
	f.Add(`(?i)foo\d|k`, "x FOO1\n\u212a", false)
	f.Add(`(?<=a)b|c{2}`, "ab\ncc", true)
	f.Fuzz(func(t *testing.T, p, text string, ignore bool) {
		re, err := Compile(p, Options{IgnoreCase: ignore, MatchTimeout: 50 * time.Millisecond})
		if err != nil {
			return
		}
		b := []byte(text)
		if got, want := lines(t, re, b, true), lines(t, re, b, false); want != nil && got != nil && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q on %q: with the prefilter %v, without %v", p, text, got, want)
		}
		re = cutOnly(p, Options{IgnoreCase: ignore, MatchTimeout: 50 * time.Millisecond})
		if re == nil {
			return
		}
		if got, want := lines(t, re, b, true), lines(t, re, b, false); want != nil && got != nil && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q on %q: with windows %v, without %v", p, text, got, want)
		}
	})
}
