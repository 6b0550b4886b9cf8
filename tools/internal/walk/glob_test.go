package walk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		trick, glob string
		yes, no     []string
	}{
		{"base name at any depth", "*.go", []string{"a.go", "x/y/a.go", ".go", "x/.hidden.go"}, []string{"a.gox", "x.go/a"}},
		{"braces of suffixes", "*.{ts,tsx}", []string{"a.ts", "q/a.tsx"}, []string{"a.t", "a.tsxx"}},
		{"single star stays in its folder", "src/*", []string{"src/a"}, []string{"src/a/b", "a/src/b", "src"}},
		{"double star crosses", "src/**/*.{go,sql}", []string{"src/a.go", "src/x/y/b.sql"}, []string{"src.go", "a/src/a.go"}},
		{"double star first is also nothing", "**/*_test.go", []string{"a_test.go", "p/q/a_test.go"}, []string{"a_test.gox"}},
		{"double star last", "a/**", []string{"a/b", "a/b/c"}, []string{"a", "b/a/c"}},
		{"double star inside a name crosses too", "src/**.ts", []string{"src/a.ts", "src/b/a.ts"}, []string{"src/a.js"}},
		{"double star alone", "**", []string{"a", "a/b"}, nil},
		{"question mark is one character, not one byte", "?.md", []string{"é.md", "a.md"}, []string{"ab.md", ".md"}},
		{"class of characters", "[äö].md", []string{"ä.md"}, []string{"a.md"}},
		{"range and negation", "[!a-c]x", []string{"dx"}, []string{"ax", "cx", "x"}},
		{"caret negates too", "[^a]", []string{"b"}, []string{"a"}},
		{"bracket first in a class", "[]a]", []string{"]", "a"}, []string{"b"}},
		{"class never takes a slash", "a[!b]c/d", []string{"axc/d"}, []string{"a/c/d"}},
		{"named class", "[[:digit:]]*", []string{"1", "9a"}, []string{"a9"}},
		{"escaped star is a star", `\*.go`, []string{"*.go"}, []string{"a.go"}},
		{"escaped brace", `\{a,b\}`, []string{"{a,b}"}, []string{"a"}},
		{"comma outside braces is a comma", "a,b", []string{"a,b"}, []string{"a"}},
		{"closing brace alone is itself", "a}", []string{"a}"}, []string{"a"}},
		{"empty alternative", "a{,b}", []string{"a", "ab"}, []string{"abb"}},
		{"nested braces", "{a{1,2},b}", []string{"a1", "a2", "b"}, []string{"a", "ab"}},
		{"four levels of braces", "{a,{b,{c,{d,e}}}}", []string{"a", "e"}, []string{"f"}},
		{"alternatives with folders", "{cmd,pkg/**}/main.go", []string{"cmd/main.go", "pkg/x/main.go"}, []string{"main.go", "x/cmd/main.go"}},
		{"leading slash is the start", "/*.md", []string{"a.md"}, []string{"x/a.md"}},
		{"leading dot slash is the start", "./*.md", []string{"a.md"}, []string{"x/a.md"}},
		{"trailing slash is all below", "docs/", []string{"docs/a", "docs/x/b"}, []string{"docs", "x/docs/a"}},
		{"a regular expression in place of a glob", ".*src.*", []string{".xsrc.y"}, []string{"src", "a/src/b"}},
		{"bytes that are not UTF-8", "\xff?", []string{"\xffa", "\xff\xfe"}, []string{"\ufffda"}},
		{"case counts", "*.GO", []string{"a.GO"}, []string{"a.go"}},
	} {
		g, err := ParseGlob(c.glob)
		if err != nil {
			t.Errorf("%s: ParseGlob(%q): %v", c.trick, c.glob, err)
			continue
		}
		for _, s := range c.yes {
			if !g.Match(s) {
				t.Errorf("%s: %q does not match %q", c.trick, c.glob, s)
			}
		}
		for _, s := range c.no {
			if g.Match(s) {
				t.Errorf("%s: %q matches %q", c.trick, c.glob, s)
			}
		}
	}
}

func TestGlobErrors(t *testing.T) {
	for _, c := range []struct {
		trick, glob string
		at          int
	}{
		{"empty", "", 1},
		{"nothing but the root", "/", 1},
		{"open class", "a[bc", 2},
		{"class closed by its first member only", "[]", 1},
		{"range backwards", "[z-a]", 2},
		{"open braces", "é{a,b", 2},
		{"open inner braces", "{a,{b}", 1},
		{"five levels of braces", "{a,{b,{c,{d,{e,f}}}}}", 13},
		{"trailing backslash", `ab\`, 3},
		{"unknown class", "[[:word:]]", 2},
		{"longer than any path", strings.Repeat("a", maxGlob+1), maxGlob},
	} {
		_, err := ParseGlob(c.glob)
		var e *GlobError
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, want a *GlobError", c.trick, err)
		} else if e.Position != c.at {
			t.Errorf("%s: position %d (%s), want %d", c.trick, e.Position, e.Reason, c.at)
		}
	}
}

func TestGlobBelowAStart(t *testing.T) {
	for _, c := range []struct {
		trick, glob, start, path string
		want                     bool
	}{
		{"base names ignore the start", "*.go", "src", "src/a/b.go", true},
		{"relative to the start", "a/*.go", "src", "src/a/b.go", true},
		{"written from the root", "src/a/*.go", "src", "src/a/b.go", true},
		{"not written from the root: no second chance", "*/b.go", "src", "src/b.go", false},
		{"the start is a folder of the same name", "src/*.go", "src", "src/src/b.go", true},
		{"a longer name is another folder", "a.go", "src", "srcx/a.go", true},
		{"outside the start", "/a.go", "src", "srcx/a.go", false},
		{"the root is the start", "src/*.go", ".", "src/b.go", true},
	} {
		g, err := ParseGlob(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.MatchBelow(c.start, c.path); got != c.want {
			t.Errorf("%s: MatchBelow(%q, %q) of %q = %v", c.trick, c.start, c.path, c.glob, got)
		}
	}
}

// slowMatch is the obvious matcher: alternatives expanded, stars tried at every length.
func slowMatch(glob, rel string) bool {
	deep := strings.Contains(glob, "/")
	if !deep {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	for _, g := range expand([]rune(glob)) {
		if slowSeq([]rune(g), []rune(rel)) {
			return true
		}
	}
	return false
}

// expand writes out the first brace group and goes on with each result. starGroups after a brace edge keep their
// meaning because the generator writes no star next to a brace.
func expand(g []rune) []string {
	depth, open := 0, -1
	var cuts []int
	for i, c := range g {
		switch {
		case c == '{':
			if depth == 0 {
				open, cuts = i, []int{i}
			}
			depth++
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				cuts = append(cuts, i)
				var out []string
				for k := 0; k+1 < len(cuts); k++ {
					one := append([]rune(nil), g[:open]...)
					one = append(one, g[cuts[k]+1:cuts[k+1]]...)
					out = append(out, expand(append(one, g[i+1:]...))...)
				}
				return out
			}
		}
	}
	return []string{string(g)}
}

func slowSeq(g, s []rune) bool {
	if len(g) == 0 {
		return len(s) == 0
	}
	switch g[0] {
	case '*':
		if len(g) > 2 && g[1] == '*' && g[2] == '/' {
			if slowSeq(g[3:], s) {
				return true
			}
			for i, c := range s {
				if c == '/' && slowSeq(g[3:], s[i+1:]) {
					return true
				}
			}
			return false
		}
		deep := len(g) > 1 && g[1] == '*'
		rest := g[1:]
		if deep {
			rest = g[2:]
		}
		for i := 0; ; i++ {
			if slowSeq(rest, s[i:]) {
				return true
			}
			if i == len(s) || (!deep && s[i] == '/') {
				return false
			}
		}
	case '?':
		return len(s) > 0 && s[0] != '/' && slowSeq(g[1:], s[1:])
	case '[':
		end := 1
		for g[end] != ']' {
			end++
		}
		in := g[1:end]
		neg := in[0] == '!'
		if neg {
			in = in[1:]
		}
		if len(s) == 0 || s[0] == '/' || strings.ContainsRune(string(in), s[0]) == neg {
			return false
		}
		return slowSeq(g[end+1:], s[1:])
	}
	return len(s) > 0 && s[0] == g[0] && slowSeq(g[1:], s[1:])
}

func randomGlob(r *rand.Rand, depth int) string {
	var b strings.Builder
	last := ""
	if depth > 0 {
		last = "a" // what the caller writes before an alternative
	}
	for n := 1 + r.IntN(5); n > 0; n-- {
		var piece string
		switch r.IntN(10) {
		case 0:
			piece = "*"
		case 1:
			piece = "?"
		case 2:
			piece = []string{"[ab]", "[!ab]", "[éa]"}[r.IntN(3)]
		case 3:
			piece = "/"
		case 4:
			if last == "" || last == "/" {
				piece = "**/"
			} else {
				piece = "é"
			}
		case 5:
			if depth < 3 {
				var alts []string
				for k := 1 + r.IntN(3); k > 0; k-- {
					alts = append(alts, "a"+randomGlob(r, depth+1)+"b")
				}
				piece = "{" + strings.Join(alts, ",") + "}"
			}
		default:
			piece = string("abc"[r.IntN(3)])
		}
		if strings.HasSuffix(last, "*") && strings.HasPrefix(piece, "*") {
			continue
		}
		b.WriteString(piece)
		last = piece
		if strings.HasSuffix(piece, "/") {
			last = "/"
		}
	}
	return b.String()
}

func randomPath(r *rand.Rand, alphabet []string) string {
	var b strings.Builder
	for n := 1 + r.IntN(9); n > 0; n-- {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// The automaton and the obvious matcher agree.
func TestGlobAgainstTheObviousMatcher(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", "c", "é", "/", "a", "b"}
	hits := 0
	for n := 0; n < 60_000; n++ {
		glob := strings.TrimRight(randomGlob(r, 0), "/")
		if glob == "" || glob[0] == '/' {
			continue
		}
		g, err := ParseGlob(glob)
		if err != nil {
			t.Fatalf("ParseGlob(%q): %v", glob, err)
		}
		for k := 0; k < 4; k++ {
			path := randomPath(r, alphabet)
			want := slowMatch(glob, path)
			if got := g.Match(path); got != want {
				t.Fatalf("%q on %q: %v, the obvious matcher says %v", glob, path, got, want)
			}
			if want {
				hits++
			}
		}
	}
	if hits < 3000 {
		t.Errorf("only %d matches: the generator makes nothing worth comparing", hits)
	}
}

// A pattern that takes a backtracking matcher for ever is answered at once.
func TestGlobHostileInput(t *testing.T) {
	for _, glob := range []string{
		strings.Repeat("*a", 200) + "b",
		strings.Repeat("**/", 150) + "b",
		strings.Repeat("{a,a}", 100),
		strings.Repeat("{*,**,?}", 60) + "b",
	} {
		g, err := ParseGlob(glob)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		g.Match(strings.Repeat("a/", 100) + strings.Repeat("a", 200))
		if d := time.Since(begin); d > 500*time.Millisecond {
			t.Errorf("%.20q… took %v", glob, d)
		}
	}
	// The guard is needed: the obvious matcher does not come back from a shorter one in any time worth waiting for.
	steps := 0
	var naive func(g, s string) bool
	naive = func(g, s string) bool {
		if steps++; steps > 1_000_000 {
			return false
		}
		if g == "" {
			return s == ""
		}
		if g[0] == '*' {
			for i := 0; i <= len(s); i++ {
				if naive(g[1:], s[i:]) {
					return true
				}
			}
			return false
		}
		return s != "" && s[0] == g[0] && naive(g[1:], s[1:])
	}
	naive(strings.Repeat("*a", 12)+"b", strings.Repeat("a", 40))
	if steps <= 1_000_000 {
		t.Error("the attack no longer shows anything")
	}
}

func TestGlobMatchAllocatesNothing(t *testing.T) {
	for _, glob := range []string{"*.go", "src/**/*_test.{go,py}", strings.Repeat("?", 300) + "*"} {
		g, err := ParseGlob(glob)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { g.Match("src/deep/down/some_test.go") }); n != 0 {
			t.Errorf("%.20q: %v allocations", glob, n)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*.go", "{a,{b,c}}/**/x", "[!a-z]*", `\`, "[[:alpha:]", "**/", "a{", "\xff[\xfe-\xff]"} {
		f.Add(s, "src/a.go")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		g, err := ParseGlob(glob)
		if err != nil {
			var e *GlobError
			if !errors.As(err, &e) || e.Position < 1 || e.Position > utf8.RuneCountInString(glob)+1 {
				t.Fatalf("ParseGlob(%q): %v", glob, err)
			}
			return
		}
		if g.MatchBelow(".", path) != g.Match(path) {
			t.Fatal("two answers")
		}
		// Alternatives say no more than each of them, and an added one takes nothing away.
		if wide, err := ParseGlob("{" + glob + ",never}"); err == nil && !strings.ContainsAny(glob, `/\\,{}`) && wide.Match(path) != (g.Match(path) || path[strings.LastIndexByte(path, '/')+1:] == "never") {
			t.Fatal("braces change the meaning")
		}
		g.MatchBelow("src", path)
	})
}

func BenchmarkGlob(b *testing.B) {
	for _, glob := range []string{"*.go", "src/**/*_test.{go,py}"} {
		g, err := ParseGlob(glob)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("automaton/%s", glob), func(b *testing.B) {
			for b.Loop() {
				g.Match("src/internal/deep/down/handler_test.go")
			}
		})
		b.Run(fmt.Sprintf("expand-and-backtrack/%s", glob), func(b *testing.B) {
			for b.Loop() {
				slowMatch(glob, "src/internal/deep/down/handler_test.go")
			}
		})
	}
}
