package redos

import (
	_ "embed"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// refused holds patterns that blow up, by the trick that makes them; pump and tail make the text that shows it.
var refused = []struct {
	trick, pattern   string
	head, pump, tail string
	example          string // a text that pattern and suggestion both match
	harmless         bool   // the engine's optimiser happens to save it
}{
	{"repeat in a repeat", `(a+)+$`, "", "a", "!", "aaa", false},
	{"repeat in a repeat, literal after", `(a+)+b`, "", "a", "!", "aab", false},
	{"class in both, unnamed", `^(?:[\s\S]*)*\x00`, "", "a", "!", "a\x00", true},
	{"anything in a repeat", `(.*)*x`, "", "a", "", "aax", false},
	{"one branch is twice the other", `(?:a|aa)+$`, "", "a", "!", "aaa", false},
	{"class then digit", `([a-z]+)*\d`, "", "a", "!", "ab1", false},
	{"counted in counted", `(a{1,1000}){1,1000}b`, "", "a", "!", "ab", false},
	{"three deep", `((a*)*)*b`, "", "a", "!", "aab", false},
	{"in a lookahead", `(?=(a+)+b)`, "", "a", "!", "ab", false},
	{"in a negative lookahead", `(?!(a+)+b)a`, "", "a", "!", "a", false},
	{"in a lookbehind", `(?<=b(a+)+)c`, "", "a", "c", "bac", false},
	{"in a negative lookbehind", `(?<!b(a+)+)c`, "", "a", "c", "ac", false},
	{"repeated reference", `(a+)\1+b`, "", "a", "!", "aab", true},
	{"named group", `(?<n>a+)+\k<n>b`, "", "a", "!", "aab", false},
	{"name in Python's spelling", `(?P<n>a+)+(?P=n)b`, "", "a", "!", "aab", false},
	{"both parts may be missing", `(x?x?)*y`, "", "x", "!", "xxy", false},
	{"dot may take the separator", `(.?,)*X`, "", ",", "!", ",X", false},
	{"separator may be missing", `^(\w+\s*)+:`, "", "a", "!", "ab cd:", false},
	{"two repeats side by side", `(x+x+)+y`, "", "x", "!", "xxy", false},
	{"dot as separator", `^(\w+.)+=\d$`, "", "a", "!", "ab.=1", false},
	{"host name with loose hyphen", `^([a-z0-9]+-?)+\.com$`, "", "a", "!", "a-b.com", false},
	{"spaces on both sides", `^(\s*,\s*)+$`, "", " , ", "!", " , ", false},
	{"spaces on both sides of a word", `^(\s*\w\s*)+;`, "", "a  ", "!", "a b;", false},
	{"branches share a beginning", `^(ab|a|b)*$`, "", "ab", "!", "aab", false},
	{"branches share a class", `^(\w|\d\d)+$`, "", "1", "!", "a1", false},
	{"quoted or anything", `^("[^"]*"|.)*$`, "", `""`, "\n", `"a"b`, false},
	{"escape or anything but the quote", `"(\\.|[^"])*"`, `"`, `\\`, "", `"a\"b"`, false},
	{"lazy", `(a+?)+?b`, "", "a", "!", "aab", false},
	{"counted outside", `^(a+){10,30}$`, "", "a", "!", "aaaaaaaaaaaa", false},
	{"counted inside", `^(a{2,5})*$`, "", "aa", "!", "aaaa", false},
	{"empty iterations", `(?:(?:a|b?)*c)*d`, "", "ac", "!", "acd", false},
	{"empty alternatives", `^((a||)*b)*c`, "", "ab", "!", "abc", false},
	{"option switched on inside", `((?i)a+)+b`, "", "aA", "!", "aAb", false},
	{"case makes branches meet", `(?i)^(?:a|Aa)+$`, "", "a", "!", "aaa", false},
	{"property classes meet", `^(\p{L}+|\p{Lu}\w+)+$`, "", "Aa", "!", "Aab", false},
	{"negated classes meet", `^([^a]|[^ab])*a$`, "", "x", "", "xya", false},
	{"atomic around too little", `(?:(?>a)+)+b`, "", "a", "!", "ab", true},
	{"conditional", `^(?:(a)|b)*(?(1)(c+)+d|e)`, "a", "c", "!", "accd", false},
	{"deep in a sequence", `foo\((?:x|(?:\w+,?)+;)*\)`, "foo(", "a", "!", "foo(a,b;)", false},
	{"mail address", `^\w(?:[-.]?\w+)*@\w+$`, "a", "a", "!", "a.b@c", false},
	{"many optional ones", `^(a?){40}b$`, "", "a", "!", "aab", false},
}

func TestRefused(t *testing.T) {
	for _, c := range refused {
		t.Run(c.trick, func(t *testing.T) {
			began := time.Now()
			_, err := Compile(c.pattern, Options{})
			var u *UnsafeError
			if !errors.As(err, &u) {
				t.Fatalf("%s: got %v", c.pattern, err)
			}
			if took := time.Since(began); took > time.Second { // a bound for a busy machine; it takes well under 10 ms
				t.Errorf("took %v", took)
			}
			if utf8.RuneCountInString(u.Fragment) > maxFragment || u.Fragment == "" || strings.Contains(err.Error(), u.Fragment) {
				t.Errorf("fragment %q, text %q", u.Fragment, err)
			}
			if !strings.Contains(c.pattern, strings.TrimSuffix(u.Fragment, "…")) {
				t.Errorf("fragment %q is not in %s", u.Fragment, c.pattern)
			}
			again, err := Compile(u.Suggestion, Options{})
			if err != nil || u.Suggestion == "" {
				t.Fatalf("suggestion %q: %v", u.Suggestion, err)
			}
			free, err := Compile(c.pattern, Options{NoGuard: true, MatchTimeout: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			for name, re := range map[string]*Regex{"pattern": free, "suggestion " + u.Suggestion: again} {
				if _, _, ok, err := re.Find(c.example, soon()); !ok || err != nil {
					t.Errorf("%s does not match %q: %v", name, c.example, err)
				}
			}
			attack := c.head + strings.Repeat(c.pump, 48) + c.tail
			_, _, _, err = free.Find(attack, soon())
			if blows := errors.Is(err, ErrTimeout) || errors.Is(err, ErrStack); blows == c.harmless {
				t.Errorf("without the guard: %v", err)
			}
			if _, _, _, err = again.Find(attack, soon()); err != nil {
				t.Errorf("suggestion %q on the attack: %v", u.Suggestion, err)
			}
		})
	}
}

//go:embed testdata/accepted.txt
var accepted string

func acceptedPatterns() (out []string) {
	for _, l := range strings.Split(strings.TrimSpace(accepted), "\n") {
		if l != "" && !strings.HasPrefix(l, "## ") {
			out = append(out, l)
		}
	}
	return out
}

func TestAccepted(t *testing.T) {
	ps := acceptedPatterns()
	if len(ps) < 200 {
		t.Errorf("only %d patterns", len(ps))
	}
	for _, p := range ps {
		for _, o := range []Options{{}, {IgnoreCase: true}, {Multiline: true}} {
			if _, err := Compile(p, o); err != nil {
				t.Errorf("%s %+v: %v %+v", p, o, err, err)
			}
		}
	}
}

// TestAcceptedEndInTime runs what the guard accepts on texts made of its own characters: none may come near a second.
func TestAcceptedEndInTime(t *testing.T) {
	words := regexp.MustCompile(`\w+|\W`)
	for _, p := range acceptedPatterns() {
		re, err := Compile(p, Options{MatchTimeout: time.Second})
		if err != nil {
			continue // TestAccepted says so
		}
		for _, w := range words.FindAllString(p, 12) {
			for _, text := range []string{strings.Repeat(w, 40) + "!", strings.Repeat(w+" ", 30) + "\x01", strings.Repeat("a"+w, 30) + "\x01"} {
				if _, _, _, err := re.Find(text, soon()); err != nil {
					t.Errorf("%s on %q: %v", p, text, err)
				}
			}
		}
	}
}

func TestUnsafeWithinOptions(t *testing.T) {
	if _, err := Compile(`(a|A)+b`, Options{}); err != nil {
		t.Error("disjoint by case:", err)
	}
	if _, err := Compile(`^(?:a|Aa)+$`, Options{IgnoreCase: true}); err == nil {
		t.Error("the same once case is ignored: accepted")
	}
	if _, err := Compile(`(a+)+b`, Options{Literal: true}); err != nil {
		t.Error("literal met the guard:", err)
	}
}

// TestJudgedQuickly holds the guard's own work to its budget on patterns built to be large.
func TestJudgedQuickly(t *testing.T) {
	for name, p := range map[string]string{
		"wide alternation":  `(?:` + strings.Repeat(`[a-z]x|`, 140) + `z)*!`,
		"deep":              strings.Repeat(`(?:a`, 200) + strings.Repeat(`)?`, 200),
		"deep repeats":      strings.Repeat(`(?:a`, 150) + strings.Repeat(`b)*`, 150),
		"large counts":      `(?:a{1,999}b{1,999}c{1,999}){1,999}d`,
		"counts in counts":  `(?:(?:(?:(?:ab{0,50}){0,50}c){0,50}d){0,50}e){0,50}f`,
		"references":        `(a)(\1\1)(\2\2)(\3\3)(\4\4)(\5\5)(\6\6)(\7\7)(?:\8\8)*x`,
		"references, quote": strings.Repeat(`(["'])\w*\1`, 40),
		"optional row":      `(?:` + strings.Repeat(`a?`, 300) + `)*b`,
		"folded classes":    strings.Repeat(`\S\W`, 240),
		"wide ranges":       `[\x{80}-\x{10FFFF}][\x{80}-\x{10FFFF}][\x{80}-\x{10FFFF}]`,
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Compile(p, Options{IgnoreCase: true})
			// Generous: other work may hold the machine.
			if took := time.Since(began); took > 3*time.Second*slower {
				t.Errorf("took %v: %v", took, err)
			}
		})
	}
	_, err := Compile(strings.Repeat(`[\S\x01]`, 100), Options{IgnoreCase: true})
	var s *SyntaxError
	if !errors.As(err, &s) || s.Reason != reasonWide {
		t.Errorf("a hundred wide classes to fold: %v", err)
	}
}
