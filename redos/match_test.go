package redos

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
)

func mustCompile(t testing.TB, p string, o Options) *Regex {
	t.Helper()
	re, err := Compile(p, o)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	return re
}

// slack is what a bound may be missed by on a busy machine; the engine's clock alone accounts for 20 ms.
const slack = 2 * time.Second

// TestDeadlineHolds runs polynomial patterns, which the guard lets pass, on many lines: the request's deadline bounds all.
func TestDeadlineHolds(t *testing.T) {
	for _, c := range []struct {
		name, pattern, line string
		ends                bool // the engine makes it cheap enough to end
	}{
		{"row of stars", `a*a*a*a*a*a*a*a*b`, strings.Repeat("a", 60), true},
		{"row of stars in groups", `(a*)(a*)(a*)(a*)(a*)(a*)(a*)(a*)b`, strings.Repeat("a", 60) + "c", false},
		{"row of dots", `.*.*.*.*=.*`, strings.Repeat("x", 60), true},
		{"row of dots in groups", `(.*)(.*)(.*)(.*)=(.*)[^x]`, strings.Repeat("x", 3000), false},
		{"row of spaces", `x(\s+)(\s+)(\s+)$`, "x" + strings.Repeat(" ", 20_000) + "!", false},
		{"quadratic on a long line", `(.*)=(.*);`, strings.Repeat("=", 200_000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			re := mustCompile(t, c.pattern, Options{MatchTimeout: 100 * time.Millisecond})
			began := time.Now()
			deadline := began.Add(300 * time.Millisecond)
			var err error
			for range 2000 {
				if _, _, _, err = re.Find(c.line, deadline); time.Now().After(deadline) {
					break
				}
			}
			if took := time.Since(began); took > 300*time.Millisecond+slack {
				t.Errorf("took %v", took)
			}
			if !c.ends && !errors.Is(err, ErrTimeout) && !errors.Is(err, ErrStack) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestDeadlinePassed(t *testing.T) {
	re := mustCompile(t, `a`, Options{})
	if _, _, ok, err := re.Find("a", time.Now().Add(-time.Second)); ok || !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v %v", ok, err)
	}
	if err := re.Each("a", 0, time.Now().Add(-time.Second), func(int, int) bool { return true }); !errors.Is(err, ErrTimeout) {
		t.Errorf("Each: got %v", err)
	}
	if _, _, ok, err := re.Find("a", time.Time{}); !ok || err != nil {
		t.Errorf("no deadline: got %v %v", ok, err)
	}
}

// TestErrorsQuoteNothing shows that the engine's timeout quotes the searched text and that ours does not.
func TestErrorsQuoteNothing(t *testing.T) {
	const secret = "hunter2hunter2"
	text := strings.Repeat("a", 40) + secret
	raw := regexp2.MustCompile(`(a+)+b`)
	raw.MatchTimeout = 20 * time.Millisecond
	if _, err := raw.MatchString(text); err == nil || !strings.Contains(err.Error(), secret) {
		t.Fatalf("the engine no longer quotes: %v", err)
	}
	re := mustCompile(t, `(a+)+b`, Options{NoGuard: true, MatchTimeout: 20 * time.Millisecond})
	_, _, ok, err := re.Find(text, soon())
	if ok || err != ErrTimeout {
		t.Errorf("got %v %v", ok, err)
	}
}

func TestStackLimit(t *testing.T) {
	re := mustCompile(t, `^(?:(a)|(b))*xc`, Options{MatchTimeout: 5 * time.Second})
	if _, _, ok, err := re.Find(strings.Repeat("a", 200_000)+"x", soon()); ok || err != ErrStack {
		t.Errorf("got %v %v", ok, err)
	}
}

func TestTooLong(t *testing.T) {
	long := strings.Repeat("a", MaxLine+1)
	re := mustCompile(t, `b`, Options{})
	if _, _, _, err := re.Find(long, soon()); err != ErrTooLong {
		t.Errorf("line: %v", err)
	}
	if err := re.Each(long, 0, soon(), func(int, int) bool { return true }); err != ErrTooLong {
		t.Errorf("Each: %v", err)
	}
	multi := mustCompile(t, `b`, Options{Multiline: true})
	if _, _, _, err := multi.Find(long, soon()); err != nil {
		t.Errorf("text: %v", err)
	}
	if _, _, _, err := multi.Find(strings.Repeat("a", MaxText+1), soon()); err != ErrTooLong {
		t.Errorf("long text: %v", err)
	}
	if _, _, _, err := mustCompile(t, `b`, Options{Literal: true}).Find(long, soon()); err != nil {
		t.Errorf("literal: %v", err)
	}
}

func TestFindFrom(t *testing.T) {
	re := mustCompile(t, `(?<=é)b|a`, Options{})
	text := "aéb𝄞a"
	for _, c := range []struct{ from, start int }{{0, 0}, {1, 3}, {2, 3}, {3, 3}, {4, 8}, {5, 8}, {8, 8}, {9, -1}, {10, -1}, {-1, -1}} {
		start, _, ok, err := re.FindFrom(text, c.from, soon())
		if err != nil || ok != (c.start >= 0) || ok && start != c.start {
			t.Errorf("from %d: got %d %v %v, want %d", c.from, start, ok, err, c.start)
		}
	}
}

func TestEach(t *testing.T) {
	for _, c := range []struct {
		pattern string
		o       Options
		text    string
		want    string
	}{
		{`a+`, Options{}, "aa b aé a", "[0 2] [5 6] [9 10]"},
		{`x*`, Options{}, "axb", "[0 0] [1 2] [2 2] [3 3]"},
		{`^`, Options{Multiline: true}, "a\nb\n", "[0 0] [2 2] [4 4]"},
		{`aa`, Options{Literal: true}, "aaaaa", "[0 2] [2 4]"},
		{`é`, Options{Literal: true, IgnoreCase: true}, "éÉe", "[0 2] [2 4]"},
		{``, Options{Literal: true}, "ab", "[0 0] [1 1] [2 2]"},
	} {
		re := mustCompile(t, c.pattern, c.o)
		var got []string
		err := re.Each(c.text, 0, soon(), func(start, end int) bool {
			got = append(got, fmt.Sprint([]int{start, end}))
			return true
		})
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %v %v, want %s", c.pattern, got, err, c.want)
		}
		n := 0
		if err := re.Each(c.text, 0, soon(), func(int, int) bool { n++; return false }); err != nil || n != 1 {
			t.Errorf("%q: stopped after %d: %v", c.pattern, n, err)
		}
	}
}

// TestEachEndsAtDeadline stops in the middle of many cheap matches.
func TestEachEndsAtDeadline(t *testing.T) {
	re := mustCompile(t, `a`, Options{})
	n := 0
	deadline := time.Now().Add(500 * time.Millisecond)
	err := re.Each(strings.Repeat("a", 5000), 0, deadline, func(int, int) bool {
		n++
		for n == 1000 && time.Now().Before(deadline) { // the thousandth match takes until the deadline
		}
		return true
	})
	if !errors.Is(err, ErrTimeout) || n != 1000 {
		t.Errorf("%d matches, %v", n, err)
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		position int
		reason   string
	}{
		{`html(`, 5, reasonParenOpen},
		{`a(b(c)`, 2, reasonParenOpen},
		{`a)`, 2, reasonParenClose},
		{`é[a`, 2, reasonBracket},
		{`[[:alpha:]`, 1, reasonBracket},
		{`*a`, 1, reasonQuantifier},
		{`a|*`, 3, reasonQuantifier},
		{`a**`, 3, reasonDouble},
		{`[z-a]`, 4, reasonReversed},
		{`ab\`, 3, reasonEscapeEnd},
		{`foo\Kbar`, 5, reasonEscape},
		{`a\h+b`, 3, reasonEscape},
		{`[x\R]`, 4, reasonEscape},
		{`\Qa\K\E\X`, 9, reasonEscape},
		{`x\p{Foo}`, 8, reasonProperty},
		{`(?<1a>x)`, 5, reasonName},
		{`(a)\2`, 5, reasonReference},
		{`\k<x>`, 5, reasonReference},
		{`x(?#`, 2, reasonComment},
		{`a{3,2}`, 6, reasonCount},
		{`(?@)`, 2, reasonGroup},
		{`ab\xZZ`, 4, reasonHex},
		{"a\xff", 2, reasonEncoding},
		{strings.Repeat("a", MaxPattern+1), 1, reasonTooLong},
		{`(?i)\S\W*\S(`, 12, reasonParenOpen},
	} {
		_, err := Compile(c.pattern, Options{})
		var s *SyntaxError
		if !errors.As(err, &s) {
			t.Errorf("%.20q: got %v", c.pattern, err)
			continue
		}
		if s.Position != c.position || s.Reason != c.reason {
			t.Errorf("%.20q: got %d %q, want %d %q", c.pattern, s.Position, s.Reason, c.position, c.reason)
		}
	}
	for code, reason := range reasons {
		if reason == "" || strings.ContainsAny(reason, "%`\\(") {
			t.Errorf("%s: reason %q", code, reason)
		}
	}
}

// TestSharedByMany runs one pattern from several goroutines, near the deadline and away from it.
func TestSharedByMany(t *testing.T) {
	re := mustCompile(t, `(\w+) \1`, Options{MatchTimeout: time.Second})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				deadline := time.Time{}
				if i%2 == 0 {
					deadline = time.Now().Add(900 * time.Millisecond)
				}
				if start, _, ok, err := re.Find("über the the end", deadline); !ok || err != nil || start != 6 {
					t.Errorf("%d %v %v", start, ok, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	deadline := time.Now().Add(time.Hour)
	line := "	return fmt.Errorf(\"walking %s: %w\", path, err) // in the Handler"
	for name, re := range map[string]*Regex{
		"match":             mustCompile(t, `\w+Handler|Errorf`, Options{}),
		"no match":          mustCompile(t, `\w+Handlers\b`, Options{}),
		"lookbehind":        mustCompile(t, `(?<=the )\w+`, Options{}),
		"literal":           mustCompile(t, "Handler", Options{Literal: true}),
		"literal, any case": mustCompile(t, "handler", Options{Literal: true, IgnoreCase: true}),
	} {
		if n := testing.AllocsPerRun(200, func() { re.Find(line, deadline) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if n := testing.AllocsPerRun(200, func() { c := re.Candidates(line); c.Next(0); c.Close() }); n > 0 {
			t.Errorf("%s: %v allocations of the prefilter", name, n)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, c := range refused {
		f.Add(c.pattern, false)
	}
	for _, p := range []string{`(`, `[`, `(?`, `(?<`, `a{1,`, `\Q`, `(?(1)a|b)`, `[a-[b]]`, `(?#`, `\k'a'`, `(?i)\S`, `\p{L`, `[[:^alpha:]]`, `(?'n'a)\k<n>`} {
		f.Add(p, true)
	}
	f.Fuzz(func(t *testing.T, p string, ignore bool) {
		if len(p) > 200 {
			return
		}
		re, err := Compile(p, Options{IgnoreCase: ignore, MatchTimeout: time.Second})
		var s *SyntaxError
		var u *UnsafeError
		switch {
		case err == nil:
			if re == nil {
				t.Fatal("neither pattern nor error")
			}
		case errors.As(err, &s):
			if s.Position < 1 || s.Position > len([]rune(p))+1 || s.Reason == "" {
				t.Fatalf("%q: %+v", p, s)
			}
		case errors.As(err, &u):
			if u.Suggestion != "" {
				if _, err := Compile(u.Suggestion, Options{IgnoreCase: ignore}); err != nil {
					t.Fatalf("%q: suggestion %q: %v", p, u.Suggestion, err)
				}
			}
		default:
			t.Fatalf("%q: %T", p, err)
		}
	})
}

// FuzzGuard attacks what the guard accepts with short pumps made of the pattern's own characters.
func FuzzGuard(f *testing.F) {
	for i, c := range refused {
		f.Add(c.pattern, c.pump, byte(i))
	}
	for _, p := range acceptedPatterns() {
		f.Add(p, "a1", byte(0))
	}
	f.Fuzz(func(t *testing.T, p, pump string, cut byte) {
		if len(p) > 60 || len(pump) > 4 || pump == "" {
			return
		}
		re, err := Compile(p, Options{MatchTimeout: 5 * time.Second})
		if err != nil {
			return
		}
		for _, text := range []string{strings.Repeat(pump, 26) + "\x01", p[:int(cut)%(len(p)+1)] + strings.Repeat(pump, 26)} {
			if _, _, _, err := re.Find(text, time.Time{}); errors.Is(err, ErrTimeout) {
				t.Fatalf("%q on %q: %v", p, text, err)
			}
		}
	})
}

// TestImports holds the package's place: nothing but the engine and the standard library.
func TestImports(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		src, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), `"mcp-devserver/`) {
			t.Errorf("%s imports a package of ours", f.Name())
		}
	}
}
