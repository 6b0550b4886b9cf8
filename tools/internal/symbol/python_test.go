package symbol

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// oracle lists definitions with Python's own ast module. It reads {"texts": [...], "files": [...]} and writes one list
// of lines per source, or null where Python itself refuses the source.
const oracle = `
import ast, json, sys, unicodedata
def bound(st):
    if isinstance(st, ast.Assign): targets = st.targets
    elif isinstance(st, ast.AnnAssign): targets = [st.target] if isinstance(st.target, ast.Name) and st.simple else []
    else: targets = []
    for t in targets:
        if isinstance(t, ast.Name): yield t
        elif isinstance(t, ast.Tuple) and t.col_offset == t.elts[0].col_offset if isinstance(t, ast.Tuple) and t.elts else False:
            names = [e.value if isinstance(e, ast.Starred) else e for e in t.elts]
            if all(isinstance(n, ast.Name) for n in names):
                yield from names
            else: return
        else: return
def walk(body, path, cls, out, seen, top):
    for st in body:
        if isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            c = isinstance(st, ast.ClassDef)
            kind = "class" if c else "method" if cls else "function"
            q = path + [st.name]
            out.append("%s %s %d-%d" % (kind, ".".join(q), st.lineno, st.end_lineno))
            walk(st.body, q, c, out, set(), False)
            continue
        if cls or top:
            for n in bound(st):
                if n.id not in seen:
                    seen.add(n.id)
                    up = n.id.isascii() and n.id.upper() == n.id and n.id.lower() != n.id
                    out.append("%s %s %d-%d" % ("constant" if up else "field" if cls else "variable", ".".join(path + [n.id]), n.lineno, st.end_lineno))
        for f in ("body", "orelse", "finalbody"):
            walk(getattr(st, f, []) or [], path, cls, out, seen, top)
            if f == "body":
                for h in getattr(st, "handlers", []): walk(h.body, path, cls, out, seen, top)
        for c in getattr(st, "cases", []): walk(c.body, path, cls, out, seen, top)
def defs(src):
    try: tree = ast.parse(src)
    except (SyntaxError, ValueError, RecursionError, MemoryError): return None
    out = []
    walk(tree.body, [], False, out, set(), True)
    return out
import warnings; warnings.simplefilter("ignore")
job = json.load(sys.stdin)
res = [defs(t) for t in job["texts"]]
for f in job["files"]:
    try: b = open(f, "rb").read(); b.decode("utf-8")
    except (OSError, UnicodeDecodeError): res.append(None); continue
    res.append(defs(b))
json.dump(res, sys.stdout)
`

func askPython(t *testing.T, texts, files []string) [][]string {
	t.Helper()
	bin, err := exec.LookPath("python3")
	if err != nil {
		return nil
	}
	in, err := json.Marshal(map[string]any{"texts": append([]string{}, texts...), "files": append([]string{}, files...)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-I", "-c", oracle)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v: %s", err, stderr.String())
	}
	var res [][]string
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatal(err)
	}
	return res
}

func ours(src string) ([]string, error) {
	syms, err := Parse(context.Background(), "python", src)
	got := make([]string, 0, len(syms))
	for _, s := range syms {
		got = append(got, show(s))
	}
	return got, err
}

// compare returns the first difference, or "".
func compare(got, want []string) string {
	for i := 0; i < len(got) || i < len(want); i++ {
		g, w := "(none)", "(none)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("entry %d: got %s, ast says %s", i, g, w)
		}
	}
	return ""
}

// TestPythonAgainstAST compares with Python's own parser on generated programs and on the standard library. Where no
// python3 is installed the hand-checked table alone stands for it; that table always runs (TestDefinitions and below).
func TestPythonAgainstAST(t *testing.T) {
	texts := make([]string, 0, 600)
	for seed := range uint64(600) {
		texts = append(texts, generate(rand.New(rand.NewPCG(seed, 7))))
	}
	res := askPython(t, texts, nil)
	if res == nil {
		t.Log("no python3 here; TestPythonTable and TestDefinitions hold the hand-checked cases")
		return
	}
	valid := 0
	for i, want := range res {
		if want == nil {
			continue
		}
		valid++
		got, err := ours(texts[i])
		if d := compare(got, want); d != "" || err != nil {
			t.Fatalf("seed %d: %s (error %v)\n%s", i, d, err, texts[i])
		}
	}
	if valid < 400 {
		t.Errorf("only %d of %d generated programs are valid Python; the comparison has become empty", valid, len(texts))
	}
	files := libraryFiles()
	res = askPython(t, nil, files)
	checked, wrong := 0, 0
	for i, want := range res {
		b, err := os.ReadFile(files[i])
		if want == nil || err != nil || strings.Contains(strings.ReplaceAll(string(b), "\r\n", ""), "\r") {
			continue // refused by Python itself, or counts lines by carriage returns
		}
		checked++
		got, err := ours(string(b))
		if d := compare(got, want); d != "" || err != nil {
			if wrong++; wrong < 10 {
				t.Errorf("%s: %s (error %v)", filepath.Base(files[i]), d, err)
			}
		}
	}
	t.Logf("%d generated programs and %d library files agree", valid, checked-wrong)
}

// libraryFiles are the modules of the standard library and its tests of the grammar, if there is one. The test of
// compatibility characters in names is left out: Python folds those, this package shows names as they are written.
func libraryFiles() []string {
	bin, err := exec.LookPath("python3")
	if err != nil {
		return nil
	}
	out, err := exec.Command(bin, "-I", "-c", "import ast; print(ast.__file__)").Output()
	if err != nil {
		return nil
	}
	dir := filepath.Dir(strings.TrimSpace(string(out)))
	files, _ := filepath.Glob(filepath.Join(dir, "*.py"))
	for _, sub := range []string{"asyncio", "email", "unittest", "lib2to3/tests/data", "idlelib"} {
		more, _ := filepath.Glob(filepath.Join(dir, sub, "*.py"))
		files = append(files, more...)
	}
	for _, name := range []string{"grammar", "tokenize", "fstring", "string_literals", "decorators", "syntax", "typing", "patma"} {
		more, _ := filepath.Glob(filepath.Join(dir, "test", "test_"+name+".py"))
		files = append(files, more...)
	}
	return files
}

// generate writes a random program out of parts that are hard to lex.
func generate(r *rand.Rand) string {
	var b strings.Builder
	nl := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
	unit := []string{"    ", "  ", "\t", " "}[r.IntN(4)]
	if r.IntN(8) == 0 {
		b.WriteString("\ufeff")
	}
	n := 0
	name := func() string {
		n++
		return fmt.Sprintf("%s%d", []string{"name", "définir", "X_", "_p", "def_", "async_"}[r.IntN(6)], n)
	}
	exprs := []string{
		"1", "'def f(): pass'", `"class X:\n"`, `"""` + nl + `def ghost():` + nl + `  pass` + nl + `"""`, `'''a"b''' "c"`,
		`f"{1:>{2}} def g():"`, `rb'\\' b"x"`, `f'''{ {1: 2}[1] !r}` + nl + `class Y: ...` + nl + `{{}}'''`, "[" + nl + "  1, # def h():" + nl + "]",
		"(lambda x: {1: x})(2)", "1 if x else \\" + nl + "  2", `u'\'' + "\""`, "0xdef + 1_0j", "{'a': [1, (2," + nl + nl + "3)]}", `"\` + nl + `def q(): "`, `f"{'a' 'b'}" rf'\{1}'`, "x[1:2]", "not (yield_ := 3)", `f'{1 if 2 else 3}' f"{x:\"}"`,
	}
	expr := func() string { return exprs[r.IntN(len(exprs))] }
	var block func(indent string, depth int)
	block = func(indent string, depth int) {
		for k := 1 + r.IntN(3); k > 0; k-- {
			if r.IntN(5) == 0 {
				b.WriteString([]string{"", indent + "# def c(): pass", "   # x", "\f"}[r.IntN(4)] + nl)
			}
			c := r.IntN(13)
			if depth > 4 && c < 6 {
				c += 7
			}
			switch c {
			case 0, 1, 2:
				for r.IntN(3) == 0 {
					b.WriteString(indent + "@deco(" + expr() + ")" + nl)
				}
				head := []string{"def " + name() + "(a, b=" + expr() + ")", "async def " + name() + "(" + nl + "  a: int = 1," + nl + ")", "def " + name() + "(x) -> {'a': 1}[lambda_:2]", "def \\" + nl + name() + " ()"}[r.IntN(4)]
				b.WriteString(indent + head + ":")
				if r.IntN(4) == 0 {
					b.WriteString(" return " + expr() + []string{"", "; pass", " # end"}[r.IntN(3)] + nl)
				} else {
					b.WriteString(nl)
					block(indent+unit, depth+1)
				}
			case 3:
				b.WriteString(indent + "class " + name() + []string{"", "()", "(B, k=lambda: 1)"}[r.IntN(3)] + ":")
				if r.IntN(4) == 0 {
					b.WriteString(" " + name() + " = 1; " + name() + ": int" + nl)
				} else {
					b.WriteString(nl)
					block(indent+unit, depth+1)
				}
			case 4:
				b.WriteString(indent + "if x[1:2] == (lambda: 1)():" + nl)
				block(indent+unit, depth+1)
				b.WriteString(indent + "else: " + name() + " = " + expr() + nl)
			case 5:
				b.WriteString(indent + "try:" + nl)
				block(indent+unit, depth+1)
				b.WriteString(indent + "except E as e:" + nl + indent + unit + "pass" + nl)
			case 6:
				b.WriteString(indent + "with " + expr() + " as w:" + nl)
				block(indent+unit, depth+1)
			case 7:
				b.WriteString(indent + name() + ": int = " + expr() + nl)
			case 8:
				b.WriteString(indent + name() + " = " + name() + " = " + expr() + nl)
			case 9:
				b.WriteString(indent + name() + ", *" + name() + " = " + expr() + "; " + strings.ToUpper(name()) + " = 2" + nl)
			case 10:
				b.WriteString(indent + "x.y = x[1] = " + expr() + nl)
			case 11:
				b.WriteString(indent + "x += " + expr() + "; print(a == 1, " + expr() + ")" + nl)
			default:
				b.WriteString(indent + expr() + nl)
			}
		}
	}
	block("", 0)
	if r.IntN(3) == 0 {
		return strings.TrimRight(b.String(), "\r\n")
	}
	return b.String()
}

// TestPythonTable holds what generated programs found hard, with answers checked against ast by hand.
func TestPythonTable(t *testing.T) {
	for _, c := range []struct{ trick, src, want string }{
		{"semicolons and a colon in a class line", "class A: x = 1; y: int; z.q = 3\n", "class A 1-1|field A.x 1-1|field A.y 1-1"},
		{"walrus in a header", "if (a := 1): b = 2\nwhile c := f(): d = 3\n", "variable b 1-1|variable d 2-2"},
		{"lambda in a header", "if (lambda: 1)() or lambda: 0: b = 2\n", "variable b 1-1"},
		{"comparison is no assignment", "a == 1\nb <= 2\nc != d\ne: int\n", "variable e 4-4"},
		{"assigned twice", "a = 1\na = 2\n", "variable a 1-1"},
		{"inside a function nothing is assigned", "def f():\n  a = 1\n  B = 2\nC = 3\n", "function f 1-3|constant C 4-4"},
		{"comment at a lower column ends nothing", "def f():\n    a\n# x\n    b\nz = 1\n", "function f 1-4|variable z 5-5"},
		{"end is the last statement, not the blank lines", "class A:\n  def f(self):\n    pass\n\n\n# c\n\nx = 1\n", "class A 1-3|method A.f 2-3|variable x 8-8"},
		{"type alias statement (3.12)", "type X[T] = list[T]\ntype = 3\n", "type X 1-1|variable type 2-2"},
		{"soft keywords as names", "match = 1\ncase = 2\nmatch match:\n  case 1: pass\n", "variable match 1-1|variable case 2-2"},
		{"quotes inside an f-string's own (3.12), over lines", "a = f'{\n  b[\"'\"] # } '\n}'\ndef f(): pass\n", "variable a 1-3|function f 4-4"},
		{"named character in an f-string", `a = f"\N{LEFT CURLY BRACKET} {x}"` + "\ndef f(): pass\n", "variable a 1-1|function f 2-2"},
		{"raw string ends where it seems not to", `a = r"\\"; b = r'\''` + "\ndef f(): pass\n", "variable a 1-1|variable b 1-1|function f 2-2"},
		{"no final newline", "def f():\n  return 1", "function f 1-2"},
		{"template string (3.14)", "a = t'{x}'\n", "variable a 1-1"},
		{"decorated at the end of a file that stops", "@a\n", ""},
		{"empty", "", ""},
	} {
		t.Run(c.trick, func(t *testing.T) {
			got, err := ours(c.src)
			if err != nil {
				t.Error(err)
			}
			if g := strings.Join(got, "|"); g != c.want {
				t.Errorf("got %s\nwant %s", g, c.want)
			}
		})
	}
}

// TestPythonLongLine: a table of data on one logical line costs no more memory than its first tokens, and what follows
// it is found.
func TestPythonLongLine(t *testing.T) {
	src := "TABLE = [" + strings.Repeat("1,", 1_000_000) + "]\ndef after():\n    pass\n"
	var before, behind runtime.MemStats
	runtime.ReadMemStats(&before)
	syms, err := Parse(context.Background(), "python", src)
	runtime.ReadMemStats(&behind)
	if err != nil || len(syms) != 2 || syms[0].Name != "TABLE" || syms[0].EndLine != 1 || syms[1].Name != "after" || syms[1].Line != 2 {
		t.Errorf("%v, %+v", err, syms)
	}
	if n := behind.TotalAlloc - before.TotalAlloc; n > 24<<20 {
		t.Errorf("%d bytes allocated for a line of 2 million tokens", n)
	}
}
