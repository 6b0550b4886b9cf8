package redos

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// automatonOnly returns the pattern compiled so that one level of its automaton is all that chooses lines; nil when it
// has none.
func automatonOnly(p string, o Options, level int) *Regex {
	re, err := Compile(p, o)
	if err != nil || re.re == nil {
		return nil
	}
	tree, err := parse(p, engineOptions(o))
	if err != nil {
		return nil
	}
	re.filter = nil
	if re.automaton = newAutomaton(tree, o.Multiline); re.automaton == nil || level >= len(re.automaton.levels) {
		return nil
	}
	re.automaton.levels = re.automaton.levels[level : level+1]
	return re
}

// valid is what a caller makes of bytes before the engine sees them.
func valid(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
}

// mask puts NUL in place of a stretch of bytes, newlines excepted, as secrets are masked; the stretch does not cut
// characters.
func mask(r *rand.Rand, b []byte) []byte {
	out := bytes.Clone(b)
	i := r.IntN(len(b) + 1)
	j := i + r.IntN(min(len(b)-i, 12)+1)
	for i > 0 && i < len(b) && !utf8.RuneStart(b[i]) {
		i--
	}
	for j < len(b) && !utf8.RuneStart(b[j]) {
		j++
	}
	for k := i; k < j; k++ {
		if out[k] != '\n' {
			out[k] = 0
		}
	}
	return out
}

func TestAutomatonLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	tried, ruledOut, asked := 0, 0, 0
	for range 1500 / slower {
		p := randomPattern(r, 1+r.IntN(3))
		re := automatonOnly(p, Options{IgnoreCase: r.IntN(3) == 0, NoGuard: true, MatchTimeout: 5 * time.Second}, r.IntN(len(details)))
		if re == nil {
			continue
		}
		tried++
		for range 5 {
			raw := randomText(r)
			text := valid(raw)
			got, want := lines(t, re, text, true), lines(t, re, text, false)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q on %q: with the automaton %v, without %v", p, text, got, want)
			}
			hidden := lines(t, re, mask(r, text), false)
			asked++
			switch {
			case !re.MayMatch(raw) && len(want) > 0:
				t.Fatalf("%q on %q: MayMatch is false", p, raw)
			case re.MayMatch(text):
			case len(want)+len(hidden) > 0:
				t.Fatalf("%q on %q: MayMatch is false, masked or not", p, text)
			default:
				ruledOut++
			}
		}
	}
	if tried < 500/slower || ruledOut < asked/5 {
		t.Errorf("%d patterns, %d of %d texts ruled out", tried, ruledOut, asked)
	}
}

func TestAutomatonOfTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	ruledOut := 0
	for range 1500 / slower {
		p := randomPattern(r, 1+r.IntN(3))
		re := automatonOnly(p, Options{Multiline: true, IgnoreCase: r.IntN(3) == 0, NoGuard: true, MatchTimeout: 5 * time.Second}, r.IntN(len(details)))
		if re == nil {
			continue
		}
		raw := randomText(r)
		text := valid(raw)
		_, _, ok, _ := re.Find(string(text), time.Time{})
		_, _, hidden, _ := re.Find(string(mask(r, text)), time.Time{})
		if ok && !re.MayMatch(raw) || (ok || hidden) && !re.MayMatch(text) {
			t.Fatalf("%q loses %q", p, raw)
		}
		if !re.MayMatch(text) {
			ruledOut++
		}
	}
	if ruledOut < 60/slower {
		t.Errorf("%d texts ruled out", ruledOut)
	}
}

// TestAutomatonRulesOut holds what the automaton is for: lines that literals would let through, or that have none.
func TestAutomatonRulesOut(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{`[A-Z]{3,}_\d+`, "x FOO_1", "foo_bar FO_1 FOO_x"},
		{`^\s*\w+$`, "  word", "two words"},
		{`^\d+:`, "12:", " 12:"},
		{`^$`, "", "x"},
		{`\w,$`, "a,", "a, b"},
		{`(?<=[a-f])[0-9]\w`, "a1b", "z1b"},
		{`[0-9](?=[a-f])`, "1a", "1z"},
		{`\b([a-f]\w{2,})\s+\1\b`, "abc abc", "xyz xyz"},
		{`\p{Greek}`, "αβγ", "é"},
		{`[а-я]+\d`, "жук1", "жук"},
		{`(?i)straße\d`, "STRAßE1", "strasse1"},
		{`é\d`, "é1", "è1"},
		{`\u212a\d`, "\u212a1", "k1"},
		{`(?i)[k]\d`, "\u212a1", "j1"},
		{`[😀-😎]\d`, "😃1", "é1"},
		{`\w{2}\d{2,3}[a-z]`, "ab123x", "ab1x"},
		{`(?:[a-c]\d|[x-z])[!?]`, "x!", "a!"},
		{`\xff[0-9]`, "ÿ1", "þ1"},
	} {
		re := automatonOnly(c.pattern, Options{}, 0)
		if re == nil {
			t.Errorf("%s: no automaton", c.pattern)
			continue
		}
		for _, end := range []string{"\n", "\r\n", "\nend", "\n\xff\n"} {
			if !re.MayMatch([]byte(c.yes + end)) {
				t.Errorf("%s: %q is ruled out", c.pattern, c.yes+end)
			}
			if re.MayMatch([]byte(c.no+end)) && c.pattern != `^$` && c.pattern != `^\s*\w+$` {
				t.Errorf("%s: %q is not ruled out", c.pattern, c.no+end)
			}
		}
		if re.MayMatch([]byte(c.no)) {
			t.Errorf("%s: %q is not ruled out", c.pattern, c.no)
		}
	}
	for _, p := range []string{`x*`, `^`, `$`, `(?:a|)`, `\b`, `(?!x)`, `(?=x)?`} {
		if re := mustCompile(t, p, Options{}); re.Selective() {
			t.Errorf("%s: every line matches, and there is a prefilter", p)
		}
	}
}

// TestSecretsDoNotReachTheAutomaton: what a masked secret is made of decides nothing.
func TestSecretsDoNotReachTheAutomaton(t *testing.T) {
	for _, p := range []string{`key=.{8};`, `key=[^x]+;`, `[^a-z ]{5}`, `=\S+$`, `\W\W`, `(?<=key=)[^q]`, `\x00{3}`, `(.)\1`, `k..=\D`} {
		for _, level := range []int{0, 1} {
			re := automatonOnly(p, Options{}, level)
			if re == nil {
				continue
			}
			masked := "key=" + strings.Repeat("\x00", 8) + ";"
			for _, secret := range []string{"abcdefgh", "12345678", "xxxxxxxx", "q!q!q!q!", "\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", "éééé", "\r\r\r\r\r\r\r\r"} {
				_, _, ok, _ := re.Find(masked, time.Time{})
				if ok && !re.MayMatch([]byte("key="+secret+";")) {
					t.Errorf("%s: the masked line matches, and %q is ruled out", p, secret)
				}
			}
		}
	}
}

// TestLanes puts matching lines at every place round the borders of lanes and blocks.
func TestLanes(t *testing.T) {
	re := automatonOnly(`[A-Z]{3,}_\d+`, Options{}, 0)
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 60 {
		var b []byte
		var want []int
		n := []int{3, 40, 3000}[round%3]
		for i := range n {
			b = append(b, strings.Repeat("some words ", r.IntN(9))...)
			if r.IntN(20) == 0 {
				want = append(want, i)
				b = append(b, "ABC_1"...)
			}
			b = append(b, strings.Repeat(" x", r.IntN(9))...)
			if i < n-1 || r.IntN(2) == 0 {
				b = append(b, []string{"\n", "\r\n"}[r.IntN(2)]...)
			}
		}
		if got := lines(t, re, b, true); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("lines %v, want %v", got, want)
		}
		var found []int
		c := re.Candidates(string(b))
		for at := c.Next(0); at >= 0; {
			found = append(found, bytes.Count(b[:at], []byte("\n")))
			if at = bytes.IndexByte(b[at:], '\n') + at + 1; bytes.IndexByte(b[at-1:at], '\n') < 0 {
				break
			}
			at = c.Next(at)
		}
		c.Close()
		if fmt.Sprint(found) != fmt.Sprint(want) {
			t.Fatalf("candidates %v, want %v", found, want)
		}
	}
}

// TestManyStates gives the automaton patterns whose states are too many to keep: it gets coarser or gives up, and loses
// nothing on the way.
func TestManyStates(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	var b []byte
	for range 4000 {
		for range 60 {
			b = append(b, "abc"[r.IntN(3)])
		}
		b = append(b, '\n')
	}
	for _, p := range []string{`a[abc]{20}c[ab]{3}`, `(?:a|b)[abc]{14}c[abc]{8}b`, `c\w{22}a`} {
		re := automatonOnly(p, Options{}, 0)
		tree, _ := parse(p, engineOptions(Options{}))
		re.automaton = newAutomaton(tree, false)
		began := time.Now()
		got := lines(t, re, b, true)
		if took := time.Since(began); took > 20*time.Second*slower {
			t.Errorf("%s: took %v", p, took)
		}
		if want := lines(t, re, b, false); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d lines, want %d", p, len(got), len(want))
		}
		if re.automaton.level.Load() == 0 {
			t.Errorf("%s: its states are not too many", p)
		}
		// The levels that are left, and none at all, lose nothing either.
		for l := range int32(len(details) + 1) {
			re.automaton.level.Store(l)
			if got := lines(t, re, b[:6100], true); fmt.Sprint(got) != fmt.Sprint(lines(t, re, b[:6100], false)) {
				t.Errorf("%s, level %d: %v", p, l, got)
			}
		}
	}
}

// TestAutomatonOfLargePatterns bounds what making an automaton takes.
func TestAutomatonOfLargePatterns(t *testing.T) {
	var classes strings.Builder
	for i := range 300 {
		fmt.Fprintf(&classes, `[\p{Lu}%c]`, rune(0x4e00+i))
	}
	for name, p := range map[string]string{
		"property classes": classes.String(),
		"nested counts":    `(?:(?:a{30}b?){30}c?){30}`,
		"deep groups":      strings.Repeat("(?:a", 300) + strings.Repeat(")?", 300),
		"wide alternation": strings.Repeat(`[a-z]x|`, 500) + "z",
		"long literal":     strings.Repeat("é", 1500),
		"references":       `(a)(\1\1)(\2\2)(\3\3)(\4\4)(\5\5)(\6\6)(\7\7)(\8\8)x`,
	} {
		tree, err := parse(p, engineOptions(Options{}))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		began := time.Now()
		newAutomaton(tree, false)
		if took := time.Since(began); took > 2*time.Second*slower {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func TestPrefilterAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	text := []byte(strings.Repeat("func (s *server) handle(ctx context.Context) error { return nil }\n", 300))
	for name, re := range map[string]*Regex{
		"automaton":     mustCompile(t, `[A-Z]{3,}_\d+`, Options{}),
		"proof":         mustCompile(t, `^handle\w+`, Options{}),
		"beyond ASCII":  mustCompile(t, `\p{Greek}`, Options{}),
		"any case":      mustCompile(t, `todo|fixme`, Options{IgnoreCase: true}),
		"whole text":    mustCompile(t, `[A-Z]{3,}\n[0-9]`, Options{Multiline: true}),
		"every line":    mustCompile(t, `x*`, Options{}),
		"many hits":     mustCompile(t, `[a-z]+\)`, Options{}),
		"backreference": mustCompile(t, `\b(\w{3,})\s+\1\b`, Options{}),
	} {
		all := func() {
			re.MayMatch(text)
			c := re.Candidates(view(text))
			for at := c.Next(0); at >= 0; {
				at = c.Next(at + bytes.IndexByte(text[at:], '\n') + 1)
			}
			c.Close()
		}
		all()
		if n := testing.AllocsPerRun(100, all); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// FuzzAutomaton compares the automaton alone with the engine, on any bytes and with a masked stretch.
func FuzzAutomaton(f *testing.F) {
	f.Add(`[A-Z]{3,}_\d+`, "x FOO_1\r\n\xff", false, byte(2))
	f.Add(`(?i)[k]\d|^$`, "\u212a1\n\n", false, byte(0))
	f.Add(`(?<=[^a])b.{2,9}\W`, "xb\x00\x00é!\n", false, byte(9))
	f.Add(`(\w)\1\b|\p{Greek}`, "aa αα", true, byte(1))
	f.Add(`(?=[a-f])\w$`, "zz\r\nf", true, byte(3))
	f.Fuzz(func(t *testing.T, p, text string, ignore bool, at byte) {
		if len(p) > 200 {
			return
		}
		for level := range details {
			re := automatonOnly(p, Options{IgnoreCase: ignore, MatchTimeout: 50 * time.Millisecond}, level)
			if re == nil {
				continue
			}
			raw := []byte(text)
			b := valid(raw)
			got, want := lines(t, re, b, true), lines(t, re, b, false)
			if want != nil && got != nil && fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q on %q: with the automaton %v, without %v", p, b, got, want)
			}
			hidden := lines(t, re, mask(rand.New(rand.NewPCG(uint64(at), 1)), b), false)
			if len(want) > 0 && !re.MayMatch(raw) || len(want)+len(hidden) > 0 && !re.MayMatch(b) {
				t.Fatalf("%q on %q: MayMatch is false", p, raw)
			}
		}
	})
}
