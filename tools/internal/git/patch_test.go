package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-devserver/sandbox/secrets"
)

// secretText is text with spans at every occurrence of word.
func secretText(s, word string) secrets.Text {
	t := secrets.Text{Raw: s}
	for i := 0; word != ""; {
		k := strings.Index(s[i:], word)
		if k < 0 {
			break
		}
		t.Spans = append(t.Spans, secrets.Span{Start: i + k, End: i + k + len(word)})
		i += k + len(word)
	}
	return t
}

func TestPatchForms(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		context    int
		want       string
	}{
		{"one line", "hi\n", "hi2\n", 3, "@@ -1 +1 @@\n-hi\n+hi2"},
		{"added file", "", "a\nb\n", 3, "@@ -0,0 +1,2 @@\n+a\n+b"},
		{"deleted file", "a\nb\n", "", 3, "@@ -1,2 +0,0 @@\n-a\n-b"},
		{"equal", "a\n", "a\n", 3, ""},
		{"newline lost", "a\nb\n", "a\nb", 3, "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file"},
		{"newline gained", "a", "a\n", 3, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a"},
		{"no newline on either side", "a\nx", "b\nx", 3, "@@ -1,2 +1,2 @@\n-a\n+b\n x\n\\ No newline at end of file"},
		{"no context", "1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n", 0, "@@ -3 +3 @@ 2\n-3\n+x"},
		{"insert without context", "1\n2\n", "1\nx\n2\n", 0, "@@ -1,0 +2 @@\n+x"},
		{"delete without context", "1\n2\n3\n", "1\n3\n", 0, "@@ -2 +1,0 @@\n-2"},
		{"two hunks", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", 3, "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@ a\n 5\n 6\n 7\n-b\n+B"},
		{"joined hunks", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", 3, "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B"},
		{"section heading", "func main() {\n\t1\n\t2\n\t3\n\t4\n\t5\n}\n", "func main() {\n\t1\n\t2\n\t3\n\t4\n\tfive\n}\n", 1, "@@ -5,3 +5,3 @@ func main() {\n \t4\n-\t5\n+\tfive\n }"},
		{"carriage returns", "a\r\nb\r\n", "a\r\nc\r\n", 3, "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r"},
	} {
		p, err := MakePatch(context.Background(), secretText(c.a, ""), secretText(c.b, ""), c.context)
		want := c.want
		if c.name == "no context" {
			want = strings.Replace(want, " 2\n", "\n", 1) // a digit opens no section
		}
		if err != nil || p.Text.Raw != want {
			t.Errorf("%s: %v\n%q\nwant\n%q", c.name, err, p.Text.Raw, want)
		}
	}
}

// Random edits of random texts: git must accept the patch and arrive at the new
// text, and count the same lines when the edits are few.
func TestPatchIsAcceptedByGit(t *testing.T) {
	f := newFixture(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := rng.IntN(120)
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d %d", rng.IntN(40), rng.IntN(3))
		}
		old := strings.Join(lines, "\n")
		for range rng.IntN(30) {
			switch at := rng.IntN(len(lines) + 1); rng.IntN(3) {
			case 0:
				lines = append(lines[:at:at], append([]string{fmt.Sprintf("new %d", rng.IntN(9))}, lines[at:]...)...)
			case 1:
				if at < len(lines) {
					lines = append(lines[:at:at], lines[at+1:]...)
				}
			case 2:
				if at < len(lines) {
					lines[at] += "x"
				}
			}
		}
		new := strings.Join(lines, "\n")
		if rng.IntN(2) == 0 && old != "" {
			old += "\n"
		}
		if rng.IntN(2) == 0 && new != "" {
			new += "\n"
		}
		if old == "" || new == "" {
			continue
		}
		p, err := MakePatch(context.Background(), secretText(old, ""), secretText(new, ""), rng.IntN(5)+1)
		if err != nil {
			t.Fatal(err)
		}
		if p.Text.Raw == "" {
			if old != new {
				t.Fatalf("round %d: no patch", round)
			}
			continue
		}
		f.write("f.txt", old)
		patch := filepath.Join(f.out, "p")
		if err := os.WriteFile(patch, []byte("--- a/f.txt\n+++ b/f.txt\n"+p.Text.Raw+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		f.sh(`git add f.txt; git apply --cached --unidiff-zero "$OUT/p"`)
		if got := f.sh(`git cat-file blob :f.txt`); got != new {
			t.Fatalf("round %d: applied to\n%q\nwant\n%q\npatch\n%s", round, got, new, p.Text.Raw)
		}
		f.write("g.txt", new)
		stat := strings.Fields(f.sh(`git diff --no-index --numstat f.txt g.txt || :`))
		if want := fmt.Sprintf("%d %d", p.Added, p.Deleted); stat[0]+" "+stat[1] != want {
			t.Errorf("round %d: %s, git counts %s %s", round, want, stat[0], stat[1])
		}
	}
}

// Large rewrites keep what both sides share, in bounded time.
func TestLargeDiff(t *testing.T) {
	var a, b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&a, "line %d\n", i)
		if i%7 == 3 {
			fmt.Fprintf(&b, "changed %d\n", i)
		} else {
			fmt.Fprintf(&b, "line %d\n", i)
		}
	}
	p, err := MakePatch(context.Background(), secretText(a.String(), ""), secretText(b.String(), ""), 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := 20000 / 7; p.Added < want || p.Added > want+2 || p.Added != p.Deleted || !p.TooLarge || p.Text.Raw != "" {
		t.Errorf("+%d -%d, too large %v, %d bytes", p.Added, p.Deleted, p.TooLarge, len(p.Text.Raw))
	}
	// Many equal lines are the worst case of line diffs.
	x, y := strings.Repeat("a\nb\n", 100000), strings.Repeat("b\na\na\n", 70000)
	if _, err := MakePatch(context.Background(), secretText(x, ""), secretText(y, ""), -1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MakePatch(ctx, secretText(x, ""), secretText(y, ""), 3); err == nil {
		t.Error("an ended context is not noticed")
	}
}

// Whatever lines and context are chosen, the secret's bytes lie in a span.
func TestSecretsAreCoveredInEveryHunk(t *testing.T) {
	key := "-----BEGIN KEY-----\nAAAA\nBBBB\nCCCC\nDDDD\n-----END KEY-----\n"
	old := "one\n" + key + "two\nthree\n"
	for name, c := range map[string]struct{ a, b string }{
		"change in the middle of the block": {old, strings.Replace(old, "BBBB", "XXXX", 1)},
		"change just behind it":             {old, strings.Replace(old, "two", "2", 1)},
		"change just before it":             {old, strings.Replace(old, "one", "1", 1)},
		"block added":                       {"one\ntwo\nthree\n", old},
		"block removed":                     {old, "one\ntwo\nthree\n"},
		"only the end marker removed":       {old, strings.Replace(old, "-----END KEY-----\n", "", 1)},
	} {
		for context_ := 0; context_ <= 6; context_++ {
			scan := func(s string) secrets.Text {
				t := secrets.Text{Raw: s}
				if i := strings.Index(s, "-----BEGIN"); i >= 0 {
					end := len(s) // unterminated: to the end
					if j := strings.Index(s, "-----END KEY-----\n"); j >= 0 {
						end = j + len("-----END KEY-----")
					}
					t.Spans = []secrets.Span{{Start: i, End: end}}
				}
				return t
			}
			p, err := MakePatch(context.Background(), scan(c.a), scan(c.b), context_)
			if err != nil {
				t.Fatal(err)
			}
			masked := p.Text.Masked()
			for _, piece := range []string{"AAAA", "BBBB", "CCCC", "DDDD", "XXXX", "BEGIN", "END"} {
				if strings.Contains(masked, piece) {
					t.Errorf("%s, context %d: %s shows\n%s", name, context_, piece, masked)
				}
			}
			last := 0
			for _, s := range p.Text.Spans {
				if s.Start < last || s.End > len(p.Text.Raw) {
					t.Errorf("%s: spans %v", name, p.Text.Spans)
				}
				last = s.End
			}
			// The marks of the diff survive, so that the patch keeps its form.
			for line := range strings.Lines(masked) {
				if !strings.ContainsAny(line[:1], " +-@") {
					t.Errorf("%s: line %q", name, line)
				}
			}
		}
	}
	// The heading of a hunk is a line from elsewhere.
	a := "token = SECRET\n 1\n 2\n 3\n 4\n 5\n"
	p, err := MakePatch(context.Background(), secretText(a, "SECRET"), secretText(strings.Replace(a, "5", "x", 1), "SECRET"), 1)
	if err != nil || !strings.Contains(p.Text.Raw, "@@ token = SECRET") || strings.Contains(p.Text.Masked(), "SECRET") {
		t.Errorf("%q %v", p.Text.Masked(), err)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc\n", 1)
	f.Add("", "x", 0)
	f.Fuzz(func(t *testing.T, a, b string, n int) {
		if n < 0 || n > 20 {
			return
		}
		p, err := MakePatch(context.Background(), secretText(a, "S"), secretText(b, "S"), n)
		if err != nil {
			t.Fatal(err)
		}
		if p.TooLarge {
			return
		}
		if got, ok := applyPatch(a, p.Text.Raw); !ok || got != b {
			t.Errorf("%q does not turn %q into %q but %q", p.Text.Raw, a, b, got)
		}
		for _, s := range p.Text.Spans {
			if p.Text.Raw[s.Start:s.End] != "S" {
				t.Errorf("span %v in %q", s, p.Text.Raw)
			}
		}
	})
}

// applyPatch applies hunks to a text, by their marks alone.
func applyPatch(a, patch string) (string, bool) {
	if patch == "" {
		return a, true
	}
	old := splitText(a)
	var out strings.Builder
	at := 0
	lines := strings.SplitAfter(patch+"\n", "\n")
	for i := 0; i < len(lines)-1; i++ {
		l := lines[i]
		if strings.HasPrefix(l, "@@ -") {
			var start, count int
			head, _, _ := strings.Cut(l[4:], " ")
			if _, err := fmt.Sscanf(head, "%d,%d", &start, &count); err != nil {
				if _, err := fmt.Sscanf(head, "%d", &start); err != nil {
					return "", false
				}
				count = 1
			}
			if count > 0 {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(old.line(at))
			}
			continue
		}
		body := l[1:]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\\ ") {
			body = strings.TrimSuffix(body, "\n")
		}
		switch l[0] {
		case ' ':
			out.WriteString(body)
			at++
		case '-':
			if at >= old.lines() || old.line(at) != body {
				return "", false
			}
			at++
		case '+':
			out.WriteString(body)
		case '\\':
		default:
			return "", false
		}
	}
	for ; at < old.lines(); at++ {
		out.WriteString(old.line(at))
	}
	return out.String(), true
}
