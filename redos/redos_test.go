package redos

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"go.uber.org/goleak"
)

// TestMain fails when a goroutine is left other than the engine's clock, which ends by itself a second after the last
// match and is ended here at once.
func TestMain(m *testing.M) {
	code := m.Run()
	regexp2.StopTimeoutClock()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func soon() time.Time { return time.Now().Add(5 * time.Second) }

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		o             Options
		text          string
		start, end    int // -1: no match
	}{
		{"first of two", `o+`, Options{}, "foo boo", 1, 3},
		{"line anchors", `^foo$`, Options{}, "foo", 0, 3},
		{"return is text", `foo$`, Options{}, "foo\r", -1, 0},
		{"ascii word", `\w+`, Options{}, "é.abc", 3, 6},
		{"ascii digit", `\d`, Options{}, "٣7", 2, 3},
		{"ascii space", `\s`, Options{}, "\u00a0 ", 2, 3},
		{"posix class", `[[:digit:]]+`, Options{}, "ab12", 2, 4},
		{"byte offsets past wide characters", `b+`, Options{}, "äöü€𝄞bbb", 13, 16},
		{"broken bytes count one each", `b`, Options{}, "\xff\xfe\xc3b", 3, 4},
		{"lookbehind", `(?<=in )\w+`, Options{}, "for x in xs", 9, 11},
		{"backreference", `(\w)\1`, Options{}, "abccd", 2, 4},
		{"named reference", `(?P<q>['"])x(?P=q)`, Options{}, `'x" "x"`, 4, 7},
		{"named groups are numbered with the others", `(?P<q>['"])(\w+)\1`, Options{}, `'ab'ab`, 0, 4},
		{"a named group between others", `(a)(?<n>b)(c)\3\2\1`, Options{}, "abccba", 0, 6},
		{"possessive", `a++b`, Options{}, "aab", 0, 3},
		{"ignore case", `straße`, Options{IgnoreCase: true}, "STRAßE", 0, 7},
		{"ignore case of not a space", `^\S+\W\D$`, Options{IgnoreCase: true}, "ab, ", 0, 4},
		{"kelvin folds to k", `k`, Options{IgnoreCase: true}, "\u212a", 0, 3},
		{"dot and newline", `a.b`, Options{}, "a\nb", -1, 0},
		{"dot and newline, multiline", `a.b`, Options{Multiline: true}, "a\nb", 0, 3},
		{"anchors at every line, multiline", `^b$`, Options{Multiline: true}, "a\nb\nc", 2, 3},
		{"literal", `a.b(`, Options{Literal: true}, "axb( a.b(", 5, 9},
		{"literal, ignore case", `Foo(`, Options{Literal: true, IgnoreCase: true}, "x fOO(", 2, 6},
		{"literal beyond ascii, ignore case", `ÉTÉ`, Options{Literal: true, IgnoreCase: true}, "un été", 3, 8},
		{"literal kelvin", `kB`, Options{Literal: true, IgnoreCase: true}, "5 \u212ab", 2, 6},
		{"literal long s in pattern", "ſo", Options{Literal: true, IgnoreCase: true}, "SO", 0, 2},
		{"literal is not matched by a broken byte", "\ufffd", Options{Literal: true, IgnoreCase: true}, "\xff", -1, 0},
		{"a bracket in a class is no subtraction", `^[a-z-[aeiou]]$`, Options{}, "e]", 0, 2},
		{"a hyphen and a bracket in a class", `[\w-[\]]+`, Options{}, "(a-[b])", 1, 6},
		{"a bracket in a class, ignore case", `[B-[x]+`, Options{IgnoreCase: true}, "abX[-", 1, 4},
		{"a bracket behind a name in a class", `[[:digit:]-[a]+`, Options{}, "x4-[a", 1, 5},
		{"a bracket behind an escaped hyphen", `[a\-[]+`, Options{}, "xa-[", 1, 4},
		{"not a bracket", `[^-[]+`, Options{}, "-[ab", 2, 4},
		{"a name behind a hyphen", `[-[:digit:]]+`, Options{}, "a-1", 1, 3},
		{"empty match", `x*`, Options{}, "ab", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			re, err := Compile(c.pattern, c.o)
			if err != nil {
				t.Fatal(err)
			}
			start, end, ok, err := re.Find(c.text, soon())
			if err != nil {
				t.Fatal(err)
			}
			if ok != (c.start >= 0) || ok && (start != c.start || end != c.end) {
				t.Errorf("got %d–%d %v, want %d–%d", start, end, ok, c.start, c.end)
			}
			if ok && !re.MayMatch([]byte(c.text)) {
				t.Error("the prefilter loses the match")
			}
		})
	}
}

func TestMustBeRefused(t *testing.T) {
	for _, p := range []string{
		`(a+)+$`, `(a+)+b`, `(.*)*x`, `(?:a|aa)+$`, `([a-z]+)*\d`, `(a{1,1000}){1,1000}b`, `((a*)*)*b`, `(?=(a+)+b)`,
		`(a+)\1+b`, `(?<n>a+)+\k<n>b`, `(.?,)*X`, `(\w+\s*)+:`,
	} {
		_, err := Compile(p, Options{})
		var u *UnsafeError
		if !errors.As(err, &u) {
			t.Errorf("%s: got %v", p, err)
			continue
		}
		if _, err := Compile(u.Suggestion, Options{}); err != nil || u.Suggestion == "" {
			t.Errorf("%s: suggestion %q: %v", p, u.Suggestion, err)
		}
	}
}
