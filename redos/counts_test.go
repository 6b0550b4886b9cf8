package redos

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2/syntax"
)

// A count that the engine's parser would spell out is refused before that; the memory that it takes is what shows.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		pattern string
		ignore  bool
		at      int // 0: accepted
	}{
		{`a{2147483646}b`, true, 2},
		{`[Aa]{2000000000}b`, false, 5},
		{`ba{2000000000,}?`, true, 3},
		{`é[Aa]{99999999999999999999}b`, false, 6},
		{`a(?#x){2000000000}b`, true, 7},
		{"(?ix)a # [\n {2000000000} b", false, 13},
		{`\c\x{2000000000}b`, true, 5},
		{`\\x{2000000000}b`, true, 4},
		{`(?:(?:a{300,600}){300,600}){30000}b`, true, 28},
		{`(?:(?:a{300,600}(?#()){300,600}(?#[)){30000}b`, true, 38},
		{strings.Repeat(`(?:`, 9) + `\b{8}` + strings.Repeat(`$){8}`, 9) + `x`, false, 30}, // the engine looks at each of 8¹⁰
		{"(?x)(?:(?:a{300,600}#)\n){300,600}#[\n){30000}b", true, 38},
		{`a{65535}b`, true, 0},
		{`a{65536}b`, true, 2},
		{`a{0,99999}b`, true, 0},
		{`\x{109999}`, false, 0},
		{`\{100000\}`, false, 0},
		{`(?:\d{1,1000}[,;]){1,1000}x`, false, 0},
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, true, 0},
		{strings.Repeat(`[a-z]{20}-`, 20), true, 0},
		{strings.Repeat(`a{65535}`, 4) + "b", true, 0},
		{strings.Repeat(`a{65535}`, 100) + "b", true, 34},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Compile(c.pattern, Options{IgnoreCase: c.ignore, NoGuard: true})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
			t.Errorf("%.60q took %d MiB", c.pattern, n>>20)
		}
		var s *SyntaxError
		switch {
		case c.at == 0:
			if err != nil {
				t.Errorf("%.60q: %v", c.pattern, err)
			}
		case !errors.As(err, &s) || s.Position != c.at || s.Reason != reasonMany:
			t.Errorf("%.60q: got %+v, want character %d", c.pattern, err, c.at)
		}
	}
}

// Parts that match nothing cost nothing however often they are repeated: the literals of such a repeat are empty.
func TestCountsOfNothing(t *testing.T) {
	for _, p := range []string{
		strings.Repeat(`\b{65535}`, 4),
		`(?:(?:${10,}?){50000}?){2}x`,
		`(?:(?:(?=a)\b){1000}){1000}b`,
	} {
		if n := testing.AllocsPerRun(1, func() {
			if _, err := Compile(p, Options{NoGuard: true}); err != nil {
				t.Errorf("%.40s: %v", p, err)
			}
		}); n > 50_000 {
			t.Errorf("%.40s: %v allocations", p, n)
		}
	}
	if got := needsOf(mustParse(t, `(?:\b){1000}`)); len(got.exact) != 1 || len(got.exact[0].text) != 0 {
		t.Errorf("got %v", got)
	}
}

func mustParse(t *testing.T, pattern string) *syntax.RegexNode {
	t.Helper()
	tree, err := parse(pattern, engineOptions(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return tree.Root
}

// Repeats within repeats of what holds no character are built a bounded number of times, by the guard and by the program.
func TestNestedRepeatsOfNothing(t *testing.T) {
	for _, c := range []struct {
		pattern string
		refused bool
	}{
		{`((?:(?:\1{20,}^){20,})?^)x`, true},
		{`((?s-i:\1{1000,}?){20,}){9}+(?>(?:^{3})(?<=k+)?)^?`, true},
		{strings.Repeat(`(?:`, 5) + `\b{8}` + strings.Repeat(`$){8}`, 5) + `x`, false},
	} {
		if n := testing.AllocsPerRun(1, func() {
			_, err := Compile(c.pattern, Options{Multiline: true})
			var u *UnsafeError
			if errors.As(err, &u) != c.refused || !c.refused && err != nil {
				t.Errorf("%s: %v", c.pattern, err)
			}
		}); n > 20_000 {
			t.Errorf("%s: %v allocations", c.pattern, n)
		}
	}
}
