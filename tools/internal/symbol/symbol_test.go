package symbol

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLanguageOfPath(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.go": "go", "x.PY": "python", "Rakefile": "ruby", "dir/Gemfile": "ruby", "a.tsx": "tsx", "a.d.ts": "typescript",
		"noext": "", "a.zig": "", "dir.go/file": "", ".go": "go", "a.h": "c", "a.hpp": "cpp", "": "", "x.": "",
	} {
		if got := Language(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestMethods(t *testing.T) {
	for _, l := range Languages() {
		want := Scanned
		if l == "go" || l == "python" {
			want = Parsed
		}
		if got := MethodOf(l); got != want {
			t.Errorf("%s: %q", l, got)
		}
		if _, err := Parse(context.Background(), l, ""); err == ErrUnsupported {
			t.Errorf("%s is listed and not parsed", l)
		}
	}
	if MethodOf("zig") != "" {
		t.Error("zig has no analyser")
	}
	if s, err := Parse(context.Background(), "zig", "fn x() {}"); err != ErrUnsupported || s != nil {
		t.Error("an unknown language is an error")
	}
	if Enclosing("zig", "x", 1) != "" {
		t.Error("an unknown language encloses nothing")
	}
}

// TestRanges: every range lies in the text, holds the name, and begins where a body shown by lines would.
func TestRanges(t *testing.T) {
	for _, c := range defCases {
		syms, _ := Parse(context.Background(), c.lang, c.src)
		for _, s := range syms {
			if s.Start > s.SigStart || s.SigStart >= s.SigEnd || s.SigEnd > s.End || s.End > len(c.src) {
				t.Errorf("%s: %s: ranges %d %d %d %d", c.trick, s.Name, s.Start, s.SigStart, s.SigEnd, s.End)
				continue
			}
			bare := strings.NewReplacer("operator==", "operator", "operator+", "operator", "==", "=").Replace(strings.TrimLeft(s.Name, "#~"))
			bare = bare[strings.LastIndexByte(bare, '.')+1:]
			if !strings.Contains(c.src[s.SigStart:s.SigEnd], bare) {
				t.Errorf("%s: signature %q lacks %q", c.trick, c.src[s.SigStart:s.SigEnd], bare)
			}
		}
	}
}

func TestSignatures(t *testing.T) {
	for _, c := range []struct{ lang, src, name, want string }{
		{"go", "package p\nfunc (s *S) F(a int,\n\tb string) (x, error) {\n}", "F", "func (s *S) F(a int,\n\tb string) (x, error)"},
		{"go", "package p\ntype T struct {\n\tA int\n}", "T", "type T struct "},
		{"python", "@d\ndef f(a,\n  b=':') -> {1: 2}[1]: return 1", "f", "def f(a,\n  b=':') -> {1: 2}[1]"},
		{"typescript", "export const f = async <T,>(a: T): Promise<{x: T}> => {\n}", "f", "export const f = async <T,>(a: T): Promise<{x: T}> =>"},
		{"java", "class A {\n  @Override\n  public <X> List<X> m(int a) throws E { return 1; }\n}", "m", "@Override\n  public <X> List<X> m(int a) throws E"},
		{"rust", "pub(crate) async fn f<'a>(x: &'a str) -> u8 where u8: T { 1 }", "f", "pub(crate) async fn f<'a>(x: &'a str) -> u8 where u8: T"},
		{"cpp", "class A { public: int f() const; };", "f", "int f() const;"},
		{"kotlin", "class A {\n  override fun m(a: Int,\n    b: Int): Int {\n  }\n}", "m", "override fun m(a: Int,\n    b: Int): Int"},
	} {
		syms, _ := Parse(context.Background(), c.lang, c.src)
		found := false
		for _, s := range syms {
			if s.Name == c.name {
				found = true
				if got := c.src[s.SigStart:s.SigEnd]; got != c.want {
					t.Errorf("%s: %q, want %q", c.lang, got, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%s: %s not found", c.lang, c.name)
		}
	}
}

func TestEnclosing(t *testing.T) {
	src := lines("package p", "", "type T struct {", "	a int", "}", "", "func (t *T) M() {", "	x := 1", "}", "var v = 1")
	for line, want := range map[int]string{1: "", 4: "T", 7: "T.M", 8: "T.M", 10: "", 99: "", 0: ""} {
		if got := Enclosing("go", src, line); got != want {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
	py := lines("class A:", "  def f(self):", "    def g():", "      pass", "    return g", "  x = 1")
	for line, want := range map[int]string{1: "A", 4: "A.f.g", 5: "A.f", 6: "A"} {
		if got := Enclosing("python", py, line); got != want {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
}

// TestBlank: comments and strings go, code stays, no byte moves.
func TestBlank(t *testing.T) {
	for _, c := range []struct{ trick, lang, src, keep, gone string }{
		{"go/rune and raw", "go", "a := '\"' // x1\nb := `x2\n` + \"x3\" + c1", "c1", "x1 x2 x3"},
		{"python/f-string expressions stay", "python", "f'x1{c1:x2{c2}}{{x3' + r'\\'# x4\nc3 = '''x5\n''' b'x6'", "c1 c2 c3", "x1 x2 x3 x4 x5 x6"},
		{"javascript/nested templates", "javascript", "`x1${c1 + `x2${c2}x3` + {a: '}'}}x4`; c3 / c4 / c5; /x5`/.test(c6)", "c1 c2 c3 c4 c5 c6", "x1 x2 x3 x4 x5"},
		{"rust/nested comment, lifetime, raw", "rust", "/* /* x1 */ x2 */ fn c1<'c2>(c3: &'c2 str) { r##\"x3\"# x4\"##; '\\''; 'x'; c4 }", "c1 c2 c3 c4", "x1 x2 x3 x4"},
		{"kotlin/names in strings stay", "kotlin", "\"x1 $c1 ${c2} x2\" + \"\"\"x3 $c3\nx4\"\"\" // x5", "c1 c2 c3", "x1 x2 x3 x4 x5"},
		{"csharp/verbatim, interpolated, raw", "csharp", "@\"x1\"\"x2\" + $\"x3{c1}{{x4}}\" + \"\"\"x5 \" x6\"\"\" + c2 + $@\"x7{c3}\"", "c1 c2 c3", "x1 x2 x3 x4 x5 x6 x7"},
		{"swift/interpolation and marks", "swift", "\"x1\\(c1 + \"x2\")\" + #\"x3\\(x4)\"# + c2 + \"\"\"\nx5 \" x6\n\"\"\"", "c1 c2", "x1 x2 x3 x4 x5 x6"},
		{"php/text around the tags", "php", "x1 'x2 <?php $c1 = 'x3'; # x4 ?> x5 <?= $c2 ?> x6", "c1 c2", "x1 x2 x3 x4 x5 x6"},
		{"ruby/heredocs, two on a line", "ruby", "f(<<~A, <<-'B', c1)\n x1 #{c2}\nA\n x2 #{x3}\n B\nc3 = %q(x4) + \"x5\" # x6", "c1 c2 c3", "x1 x2 x3 x4 x5 x6"},
		{"shell/substitutions stay", "shell", "echo \"x1 $(c1 'x2') ${c2:-x3}\" 'x4' # x5\ncat <<-E; c3\n x6 $(c4)\n\tE\nc5#c6", "c1 c2 c3 c4 c5 c6", "x1 x2 x4 x5 x6"},
		{"cpp/raw string, separators", "cpp", "1'000'000; R\"a(x1 )\" x2)a\" c1; u8R\"(x3)\"; 'x' c2 /* x4", "c1 c2", "x1 x2 x3 x4"},
		{"java/text block", "java", "c1 = \"\"\"\n x1 \" x2\n\"\"\" + c2; // x3", "c1 c2", "x1 x2 x3"},
		{"unknown language is left alone", "zig", "a // c1", "c1", ""},
	} {
		t.Run(c.trick, func(t *testing.T) {
			got := Blank(context.Background(), c.lang, c.src)
			checkBlank(t, c.src, got)
			for _, w := range strings.Fields(c.keep) {
				if !strings.Contains(got, w) {
					t.Errorf("code %s is gone: %q", w, got)
				}
			}
			for _, w := range strings.Fields(c.gone) {
				if strings.Contains(got, w) {
					t.Errorf("%s stayed: %q", w, got)
				}
			}
		})
	}
}

func checkBlank(t *testing.T, src, got string) {
	t.Helper()
	if len(got) != len(src) {
		t.Fatalf("%d bytes became %d", len(src), len(got))
	}
	for i := range len(src) {
		if (src[i] == '\n') != (got[i] == '\n') {
			t.Fatalf("line end at byte %d changed", i)
		}
		if got[i] != src[i] && strings.IndexByte(" \"'{(;$", got[i]) < 0 {
			t.Fatalf("byte %d became %q", i, got[i])
		}
	}
}

func TestReferences(t *testing.T) {
	src := lines("package p", "// Name in a comment", "var Name = \"Name\"", "var NameX = Name + xName", "func f() { Name(Name) }", "var Näme, Namé int")
	var got []string
	References(context.Background(), "go", src, "Name", func(u Use) bool {
		if src[u.Start:u.End] != "Name" {
			t.Errorf("%+v is %q", u, src[u.Start:u.End])
		}
		got = append(got, fmt.Sprint(u.Line))
		return true
	})
	if g := strings.Join(got, " "); g != "3 4 5 5" {
		t.Errorf("lines %s", g)
	}
	n := 0
	References(context.Background(), "go", src, "Name", func(Use) bool { n++; return false })
	if n != 1 {
		t.Errorf("stopped after %d", n)
	}
	References(context.Background(), "go", src, "", func(Use) bool { t.Error("an empty name has no uses"); return false })
}

func TestSplitName(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "T.M": "T|M", "T/M": "T|M", "a::b::c": "a|b|c", "Foo#bar": "Foo|bar", "#priv": "#priv", "Q.#priv": "Q|#priv",
		"operator/": "operator/", "A.operator/": "A|operator/", "~A": "~A", "A::~A": "A|~A", "a.": "a.", ".a": ".a", `A\B\C`: "A|B|C",
		"x?": "x?", "M./": "M|/", "has space": "has space", "": "",
	} {
		if got := strings.Join(SplitName(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"Start", "start", 0}, {"Start", "Strat", 1}, {"Start", "Stop", 3}, {"a", "bcdefgh", 4}, {"", "ab", 2}, {"é", "e", 1}, {"kitten", "sitting", 3}} {
		if got := Distance(c.a, c.b, 3); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestFoldKeepsASCIIAndTheRestApart(t *testing.T) {
	if Fold("ABC_x9") != "abc_x9" || Fold("ÄB") != "äb" {
		t.Error("folding")
	}
	if s := Fold("\u212a"); s == "k" { // the Kelvin sign lowers to k
		t.Errorf("%q folds into ASCII", s)
	}
}

// hostile texts make naive look-aheads quadratic.
var hostile = map[string]string{
	"open brackets": "({[", "slashes": "/", "stars": "/*", "quotes": `"`, "three quotes": `"""`, "apostrophes": "'", "templates": "`${", "hashes": "#", "heredocs": "<<A ",
	"class": "class a ", "class<": "class a<", "fn": "fn f(", "function": "function f(): ", "const": "const a=(", "generic": "a<", "ifdef": "#if\n{\n#else\n", "f-strings": "f'{", "dollars": "${",
	"backslashes": "\\", "at": "@a(", "percent": " %w[", "def": "def a\n  ", "=begin": "\n=begin\n", "raw": "r#\"", "regex": "=/[", "names": "int a, ", "fun": "fun a.b<", "case": "case a(", "colons": "A::", "operator": "operator", "nul": "\x00", "php": "?><?",
	"nested classes": "class a{", "nested functions": "function a(){", "nested structs": "a struct{", "types in functions": "func a(){type a struct{", "dotted": "a.a.", "package": "package a.a.", "scopes": "class A::A::", "namespaces": "namespace a\\a\\", "chain": "a=a=", "variables": "var a=1\n", "list": "var a,a,", "functions": "int a(){}\n", "one line classes": "class a: b=1\n", "upper": "A=1\n", "shell": "a(){ :\n", "interpolation": "$\"{", "swift interpolation": "\"\\(", "ruby interpolation": "\"#{",
	"regex in regex": "/[", "escaped regex": "/\\", "shifts": "((a<<", "lets": "let a=", "not text": "\xff", "not code": "?#", "open variables": "var a=",
}

// dense texts have a beginning that makes of a repeated unit one long thing.
var beginnings = map[string]string{"dotted": "package a.", "nested structs": "package a\ntype ", "list": "package a\nvar a,", "types in functions": "package a\n", "variables": "package a\n"}

// TestLinear: doubling a hostile text must not quadruple the time. The bound is generous (a quadratic look-ahead over
// this size takes minutes), so that a busy machine does not fail it.
func TestLinear(t *testing.T) {
	const size = hostileSize
	for _, lang := range Languages() {
		if lang == "javascript" || lang == "tsx" || lang == "c" {
			continue // the analysers of typescript and cpp
		}
		for trick, unit := range hostile {
			src := beginnings[trick] + strings.Repeat(unit, size/len(unit))
			if lang == "php" {
				src = "<?php " + src
			}
			best := time.Hour
			for range 3 {
				start := time.Now()
				Parse(context.Background(), lang, src)
				if best = min(best, time.Since(start)); best < 3*time.Second {
					break
				}
			}
			if best > 3*time.Second {
				t.Errorf("%s: %s: %v for %d bytes", lang, trick, best, size)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range defCases {
		f.Add(c.lang, c.src)
	}
	for _, unit := range hostile {
		for _, l := range Languages() {
			f.Add(l, strings.Repeat(unit, 5)+"\n}x")
		}
	}
	f.Fuzz(func(t *testing.T, lang, src string) {
		if len(src) > 1<<16 {
			return
		}
		syms, _ := Parse(context.Background(), lang, src)
		n := strings.Count(src, "\n") + 1
		for _, s := range syms {
			if s.Line < 1 || s.EndLine < s.Line || s.EndLine > n || s.Start < 0 || s.Start > s.SigStart || s.SigStart > s.SigEnd || s.SigEnd > s.End || s.End > len(src) || s.Name == "" {
				t.Fatalf("%+v of %d lines, %d bytes", s, n, len(src))
			}
		}
	})
}

func FuzzBlank(f *testing.F) {
	for _, c := range defCases {
		f.Add(c.lang, c.src)
	}
	for _, unit := range hostile {
		for _, l := range Languages() {
			f.Add(l, strings.Repeat(unit, 3))
		}
	}
	f.Fuzz(func(t *testing.T, lang, src string) {
		if len(src) > 1<<16 {
			return
		}
		checkBlank(t, src, Blank(context.Background(), lang, src))
	})
}

// bigGo is the source of this package over and over, about a megabyte.
func bigGo(b *testing.B) string {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		b.Fatal("no sources", err)
	}
	var s strings.Builder
	s.WriteString("package p\n")
	for i := 0; s.Len() < 1<<20; i++ {
		text, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			b.Fatal(err)
		}
		if at := strings.Index(string(text), "\nfunc "); at >= 0 {
			s.WriteString(string(text)[at:])
		}
	}
	return s.String()
}

func BenchmarkParse(b *testing.B) {
	sources := map[string]string{"go": bigGo(b)}
	for _, c := range defCases {
		if _, ok := sources[c.lang]; !ok && !c.loose {
			sources[c.lang] = strings.Repeat(c.src, 1+(256<<10)/len(c.src))
		}
	}
	for _, lang := range []string{"go", "python", "typescript", "java", "cpp", "rust", "ruby"} {
		b.Run(lang, func(b *testing.B) {
			src := sources[lang]
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(context.Background(), lang, src)
			}
		})
	}
}

// BenchmarkBlank stands beside BenchmarkParse/go: blanking and scanning Go like the other languages would be the faster
// way and was not taken, because go/parser is exact.
func BenchmarkBlank(b *testing.B) {
	src := bigGo(b)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Blank(context.Background(), "go", src)
	}
}
