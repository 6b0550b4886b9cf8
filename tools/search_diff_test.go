package tools_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
	"mcp-devserver/tools/internal/tooltest"
)

// grep runs grep over the workspace and returns "path:line" of every matching line, in path order.
func grep(t *testing.T, dir string, flags ...string) []string {
	t.Helper()
	cmd := exec.Command("grep", append(append([]string{"-rnI", "--exclude-dir=.git"}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("grep %q: %v", flags, err)
	}
	var lines []string
	for _, l := range bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n")) {
		if f := strings.SplitN(string(l), ":", 3); len(f) == 3 {
			lines = append(lines, strings.TrimPrefix(f[0], "./")+":"+f[1])
		}
	}
	return lines
}

// all follows next to the end and returns "path:line" of every match.
func all(t *testing.T, f *tooltest.Fixture, m map[string]any) []string {
	t.Helper()
	var lines []string
	for call := args(m); ; {
		r := f.Call("search_code", call)
		if r.IsError {
			t.Fatalf("%s: %s", call, r.Text)
		}
		list := r.Structured["results"].([]any)
		for _, x := range list {
			file := x.(map[string]any)
			hits, _ := file["matches"].([]any)
			for _, y := range hits {
				lines = append(lines, fmt.Sprintf("%s:%.0f", file["path"], y.(map[string]any)["line"]))
			}
		}
		next, more := r.Structured["next"].(map[string]any)
		if !more {
			if r.Structured["complete"] != true {
				t.Fatalf("neither complete nor continued: %.300s", r.JSON)
			}
			return lines
		}
		call = args(next["arguments"].(map[string]any))
	}
}

// pathOrder sorts "path:line" by path, then by number.
func pathOrder(a, b string) int {
	i, j := strings.LastIndexByte(a, ':'), strings.LastIndexByte(b, ':')
	if c := strings.Compare(a[:i], b[:j]); c != 0 {
		return c
	}
	m, _ := strconv.Atoi(a[i+1:])
	n, _ := strconv.Atoi(b[j+1:])
	return m - n
}

// The same lines as grep, in path order, whatever the limit.
func TestSearchAgainstGrep(t *testing.T) {
	if err := exec.Command("grep", "-P", "a", os.DevNull).Run(); err != nil && err.(*exec.ExitError).ExitCode() != 1 {
		t.Fatalf("grep -P is needed: %v", err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"foo", "bar", "Foo", "foo_bar", "func", "x1", "42", "(", ")", "[", "]", ".", "->", " é ", " straße ", "  ", "\t", "=", ";", "//", `"s"`, "a.b"}
	patterns := []string{"foo", "f.o", "^foo", "bar$", "foo|bar", `\bfoo\b`, `func\s+\w+`, `[a-z]+_[a-z]+`, `(?<!foo)bar`, `foo(?=\s)`, `(\w)\1`, `^\s*//`, "[^a-z ]+$",
		"é", "stra.e", `\d{2}`, `x?1`, `^$`, `(?i)FOO`, `\(.*\)`, `\.`, `"[^"]*"`, `foo.*bar`, `[A-Z]\w+`, `^(?!.*foo).*bar`}
	for range max(2/slower, 1) {
		f := tooltest.New(t, "")
		for i := 0; i < 60; i++ {
			var b strings.Builder
			for n := r.IntN(60); n > 0; n-- {
				for k := r.IntN(7); k > 0; k-- {
					b.WriteString(words[r.IntN(len(words))])
					if r.IntN(3) == 0 {
						b.WriteByte(' ')
					}
				}
				b.WriteString("\n")
			}
			text := b.String()
			if r.IntN(8) == 0 {
				text = strings.TrimSuffix(text, "\n")
			}
			f.Write(fmt.Sprintf("d%d/%c-e/f%02d.txt", r.IntN(5), 'a'+rune(r.IntN(3)), i), []byte(text))
		}
		for _, p := range patterns {
			want := grep(t, f.Root, "-P", "-e", p)
			slices.SortFunc(want, pathOrder)
			got := all(t, f, map[string]any{"pattern": p, "limit": 1 + r.IntN(90), "context_lines": r.IntN(2)})
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d matches, grep has %d", p, len(got), len(want))
			}
		}
		for _, p := range []string{"foo", "a.b", "(", "é", "[", "foo bar", "x"} {
			want := grep(t, f.Root, "-F", "-e", p)
			slices.SortFunc(want, pathOrder)
			if got := all(t, f, map[string]any{"pattern": p, "literal": true, "limit": 37}); !slices.Equal(got, want) {
				t.Errorf("literal %s: %d matches, grep has %d", p, len(got), len(want))
			}
		}
	}
}

// The sources of this module, as a real tree.
func TestSearchThisTreeAgainstGrep(t *testing.T) {
	ws, err := sandbox.Open(mustAbs(t, ".."), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	f := tooltest.New(t, "")
	f.Env.Workspace = ws
	f.Env.Limits.MaxChars = 400_000
	for _, p := range []string{`(?<!un)safe`, `func \w+\(`, "errors.As", `[A-Z]{3,}_\d+`, "package walk"}[:5/slower] {
		want := grep(t, "..", "-P", "--include=*.go", "-e", p)
		slices.SortFunc(want, pathOrder)
		if got := all(t, f, map[string]any{"pattern": p, "glob": "*.go", "limit": 500, "context_lines": 0, "include_ignored": true}); !slices.Equal(got, want) {
			t.Errorf("%s: %d matches, grep has %d", p, len(got), len(want))
		}
	}
}

func mustAbs(t *testing.T, p string) string {
	t.Helper()
	p, err := filepath.Abs(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Two trees that differ only in the values of secrets give the same answer to every question.
func TestSearchSecretsAreInvisible(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	random := func(n int, set string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = set[r.IntN(len(set))]
		}
		return string(b)
	}
	tree := func(big bool) (*tooltest.Fixture, []string) {
		token, aws, pass := "ghp_"+random(36, letters), "AKIA"+random(16, letters[:26]), random(20, letters)
		pemBody := random(64, letters) + "\n" + random(64, letters)
		f := tooltest.New(t, "")
		f.Write("cfg/app.yml", []byte("name: app\ntoken: "+token+" # rotate\nurl: https://user:"+pass+"@db.example/x\nend: yes\n"))
		f.Write("key.txt", []byte("before\n-----BEGIN RSA PRIVATE KEY-----\n"+pemBody+"\n-----END RSA PRIVATE KEY-----\nafter "+aws+" tail\n"))
		f.Write("min.js", []byte(strings.Repeat("var a=1;", 100)+`k="`+token+`";`+strings.Repeat("var b=2;", 100)+"\n"))
		f.Write("crlf.ini", []byte("a=1\r\naws="+aws+"\r\nb=2\r\n"))
		f.Write("u16.txt", utf16LE("one\ntoken="+token+"\ntwo\n"))
		f.Write("plain.txt", []byte("ghp and AKIA and user:pass\ntoken: none\n"))
		if !big {
			return f, []string{token, aws, pass, pemBody[:30]}
		}
		f.Write("big.log", []byte(strings.Repeat("filler line that is long enough\n", 160_000)+"token: "+token+"\n"+strings.Repeat("x\n", 300_000)))
		return f, []string{token, aws, pass, pemBody[:30]}
	}
	a, secretsA := tree(false)
	b, secretsB := tree(false)
	patterns := []string{"token", "ghp_", "ghp_[A-M]", "ghp_[^A-M]", "[A-Za-z0-9]{36}", "[A-Za-z0-9]{20}", "^token: (?!ghp)", "token(?=.*[0-9])", "token: .{40} #", "(?<=ghp_)[a-m]",
		`(\w)\1`, "[^a-z ]{5}", "AKIA[A-Z]", "AKIA", `\d{3}`, "^.*Q.*$", "[Zz]", "user:[a-z]", "user:", "-----BEGIN", "^[A-Za-z0-9]+$", "^[^A]*$", "a(?!f)", "tail$", `\x00`, `[\x00-\x1f]`,
		"aws=AKIA.", "k=.*;", "[a-z]=.[^;]", "yes$", "E"}
	compare := func(m map[string]any) {
		call := args(m)
		ra, rb := a.Call("search_code", call), b.Call("search_code", call)
		if x, y := strip(ra), strip(rb); x != y {
			t.Errorf("%s: the answers differ\n%s\n%s", call, x, y)
		}
		for i := range secretsA {
			if strings.Contains(ra.Text, secretsA[i][4:]) || strings.Contains(string(rb.JSON), secretsB[i][4:]) {
				t.Errorf("%s shows a secret", call)
			}
		}
	}
	for i, p := range patterns {
		for k, extra := range []map[string]any{{}, {"context_lines": 3}, {"output_mode": "count"}, {"output_mode": "files_with_matches"}, {"multiline": true}, {"ignore_case": true},
			{"literal": true}, {"limit": 1}, {"limit": 2, "offset": 1}, {"multiline": true, "output_mode": "count"}} {
			if (i+k)%slower > 0 {
				continue
			}
			m := map[string]any{"pattern": p}
			for k, v := range extra {
				m[k] = v
			}
			compare(m)
		}
	}
	// The guard is needed: on the raw bytes the same question tells the trees apart.
	differ := false
	for _, p := range []string{"ghp_[A-M]", "[Zz]", `(\w)\1`, "AKIA[A-F]"} {
		re := regexp.MustCompile(strings.ReplaceAll(p, `(\w)\1`, "ghp_[a-g]"))
		for _, name := range []string{"cfg/app.yml", "key.txt"} {
			x, _ := os.ReadFile(filepath.Join(a.Root, name))
			y, _ := os.ReadFile(filepath.Join(b.Root, name))
			differ = differ || len(re.FindAll(x, -1)) != len(re.FindAll(y, -1))
		}
	}
	if !differ {
		t.Error("the trees do not differ in anything that a pattern can ask")
	}
	// The same through the window of a large file.
	a, secretsA = tree(true)
	b, secretsB = tree(true)
	for _, p := range []string{"token", "ghp_[^A-M]", "[A-Za-z0-9]{36}", "^token: (?!ghp)", `k?(\w)\1`} {
		compare(map[string]any{"pattern": p, "path": "big.log", "output_mode": "count"})
		compare(map[string]any{"pattern": p, "path": "big.log", "limit": 5})
	}
}

// strip takes the nonce out of an answer, in both halves.
func strip(r *tooltest.Result) string {
	return strings.ReplaceAll(r.Text+string(r.JSON), r.Nonce, "NONCE")
}

func utf16LE(s string) []byte {
	b := []byte{0xff, 0xfe}
	for _, c := range s {
		b = append(b, byte(c), byte(c>>8))
	}
	return b
}

// No choice of lines, context or window shows a piece of a key.
func TestSearchShowsNoPieceOfAKey(t *testing.T) {
	f := tooltest.New(t, "")
	pem := key(t)
	f.Write("notes.txt", []byte("start\n"+pem+"end\n"))
	lines := strings.Split(strings.TrimSpace(pem), "\n")
	for n := 0; n <= 10; n++ {
		for _, p := range []string{"start", "end", "BEGIN", "-----END", "."} {
			r := f.Call("search_code", args(map[string]any{"pattern": p, "context_lines": n}))
			for _, l := range lines[1 : len(lines)-1] {
				if len(l) > 16 && (strings.Contains(r.Text, l[:16]) || strings.Contains(string(r.JSON), l[len(l)-16:])) {
					t.Fatalf("%s with %d lines shows a piece of the key", p, n)
				}
			}
		}
	}
}

func BenchmarkSearchCode(b *testing.B) {
	f := tooltest.New(b, "")
	r := rand.New(rand.NewPCG(1, 1))
	total := 0
	for i := 0; i < 2000; i++ {
		var t strings.Builder
		for n := 50 + r.IntN(300); n > 0; n-- {
			fmt.Fprintf(&t, "\tfunc (s *Server) handle%d(w io.Writer, r *Request) error { return nil }\n", r.IntN(1000))
		}
		if i == 1500 {
			t.WriteString("needle_in_the_haystack\n")
		}
		total += t.Len()
		f.Write(fmt.Sprintf("d%02d/e%d/f%04d.go", i%40, i%6, i), []byte(t.String()))
	}
	run := func(name, call string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				f.Call("search_code", call)
			}
		})
	}
	run("rare", `{"pattern":"needle_in_the_haystack"}`)
	run("rare-regexp", `{"pattern":"needle\\w+haystack"}`)
	run("first-100", `{"pattern":"func"}`)
	run("count", `{"pattern":"handle99\\d\\(","output_mode":"count"}`)
	// The rejected alternative: every file by path into fresh memory, no rules, no denylist, no secrets.
	b.Run("rare/ReadFile", func(b *testing.B) {
		b.SetBytes(int64(total))
		b.ReportAllocs()
		needle := []byte("needle_in_the_haystack")
		for b.Loop() {
			n := 0
			filepath.WalkDir(f.Root, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, needle) {
						n++
					}
				}
				return err
			})
			if n != 1 {
				b.Fatal(n)
			}
		}
	})
}

// TestSearchOfMasks: no pattern can be written that finds what stands for a
// secret. One that also takes what stands beside it finds the line.
func TestSearchOfMasks(t *testing.T) {
	f := tooltest.New(t, "")
	f.Write("key.txt", []byte("-----BEGIN RSA PRIVATE KEY-----\n"+strings.Repeat("MIIEowIBAAKCAQEAx7Vq9Zk2Lw4Rz8Kd3Bn6Yc1Jf5Hs0PgTeWuAxx\n", 3)+"-----END RSA PRIVATE KEY-----\n"))
	f.Write("cfg.yml", []byte("token: ghp_9Xq2mVt7Lw4Rz8Kd3Bn6Yc1Jf5Hs0PgTeWuA\n"))
	for pattern, want := range map[string]string{
		`\x00`: "", `\x00+`: "", `[\x00-\x08]`: "", `[^a-z: \-]{5}`: "", `[^\w\s\-:]+`: "", "\x00": "",
		`token: .*`: "cfg.yml:1", `: .`: "cfg.yml:1", `(?<=token: ).`: "",
	} {
		for _, multiline := range []bool{false, true} {
			got := strings.Join(all(t, f, map[string]any{"pattern": pattern, "multiline": multiline, "context_lines": 0}), " ")
			if got != want {
				t.Errorf("%q, multiline %v: %q, want %q", pattern, multiline, got, want)
			}
		}
	}
}
