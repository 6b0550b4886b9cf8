package security

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"mcp-devserver/sandbox/secrets"
)

// view is what one kind of client passes on to its model: with most of them one
// half of an answer only, and another one when the answer is a denial.
type view struct {
	name            string
	success, denial func(r reply) string
}

func structuredHalf(r reply) string { return string(r.structured) }
func textHalf(r reply) string       { return r.text }
func wholeMessage(r reply) string   { return r.raw }
func bothHalves(r reply) string     { return r.text + "\n" + string(r.structured) }

func eitherHalf(first, second func(reply) string) func(reply) string {
	return func(r reply) string {
		if s := first(r); s != "" && s != "null" {
			return s
		}
		return second(r)
	}
}

var views = []view{
	{"structured, of an error the text", structuredHalf, textHalf},
	{"structured, of an error too where there is one", structuredHalf, eitherHalf(structuredHalf, textHalf)},
	{"text, of an error the whole message", textHalf, wholeMessage},
	{"text, the rest only when it is empty", eitherHalf(textHalf, structuredHalf), eitherHalf(textHalf, structuredHalf)},
	{"both", bothHalves, bothHalves},
}

// clientTree is a repository with something for every tool to show, to cut and to
// redact.
func clientTree(t *testing.T) *repository {
	t.Helper()
	token := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	repo := newRepository(t)
	files := map[string]string{
		"main.go":    "package main\n\n// Needle is here.\nfunc Needle() {}\n\nfunc Second() {}\n\nfunc main() { Needle() }\n",
		"long.txt":   strings.Repeat("needle of a long file\n", 3000),
		"key.txt":    "needle\ntoken = \"" + token + "\"\n",
		"go.mod":     "module example.org/needle\n\ngo 1.26\n",
		"README.md":  "# Needle\n\nA needle.\n",
		"docs/a.md":  "needle\n",
		"docs/b.md":  "needle\n",
		"secret.env": "A=1\n",
	}
	repo.write(files)
	repo.commit("needle: first")
	repo.write(map[string]string{"docs/a.md": "needle, changed\n", "docs/b.md": "needle, changed too\n"})
	repo.commit("needle: second")
	repo.write(map[string]string{"docs/a.md": "needle, not yet committed\n", "docs/b.md": "needle, neither\n"})
	return repo
}

// answers are calls whose answers must survive every client.
var answers = []struct {
	tool   string
	a      args
	needle string
	more   bool // the answer is cut and says how to go on
	hides  bool // a credential is redacted
}{
	{"project_overview", args{}, "README.md", false, false},
	{"list_directory", args{"depth": 2}, "main.go", false, false},
	{"list_directory", args{"limit": 2}, "README.md", true, false},
	{"search_code", args{"pattern": "needle of a"}, "needle of a long file", true, false},
	{"search_code", args{"pattern": "needle", "path": "docs"}, "needle, not yet committed", false, false},
	{"search_code", args{"pattern": "needle", "path": "key.txt", "context_lines": 2}, "needle", false, true},
	{"find_symbol", args{"name": "Needle"}, "func Needle()", false, false},
	{"find_symbol", args{"path": "main.go", "limit": 1}, "Needle", true, false},
	{"read_file", args{"path": "main.go"}, "func Needle() {}", false, false},
	{"read_file", args{"path": "long.txt"}, "needle of a long file", true, false},
	{"read_file", args{"path": "key.txt"}, "needle", false, true},
	{"git_log", args{}, "needle: second", false, false},
	{"git_log", args{"limit": 1}, "needle: second", true, false},
	{"git_diff", args{}, "+needle, not yet committed", false, false},
	{"git_diff", args{"limit": 1}, "+needle, not yet committed", true, false},
}

// The fence, the content, the next call, the truncation and the redactions of every
// tool's answer are in whatever part of it a client shows.
func TestEveryClientSeesTheWholeAnswer(t *testing.T) {
	s := serve(t, clientTree(t).root)
	for _, c := range answers {
		r := s.call(c.tool, c.a)
		if r.isError {
			t.Errorf("%s %v: %.300s", c.tool, c.a, r.raw)
			continue
		}
		var m struct {
			Complete   *bool
			Stopped    string
			Untrusted  struct{ Nonce, Notice, Risk string }
			Redactions []struct {
				Rule  string
				Count int
			}
			Next *struct {
				Tool      string
				Arguments json.RawMessage
			}
		}
		if err := json.Unmarshal(r.structured, &m); err != nil {
			t.Fatal(err)
		}
		if cut := m.Next != nil; cut != c.more || m.Complete == nil || *m.Complete == c.more || (m.Stopped != "") != c.more {
			t.Errorf("%s %v: complete %v, stopped %q, next %v; want more = %v", c.tool, c.a, m.Complete, m.Stopped, m.Next, c.more)
			continue
		}
		if len(m.Redactions) > 0 != c.hides {
			t.Errorf("%s %v: redactions %v", c.tool, c.a, m.Redactions)
		}
		for _, v := range views {
			shown := v.success(r)
			lines := plain(shown)
			lacks := func(what, needle string) {
				t.Helper()
				if !strings.Contains(lines, needle) {
					t.Errorf("%s %v: a client that shows %s: no %s (%s) in %.400s", c.tool, c.a, v.name, what, needle, shown)
				}
			}
			lacks("nonce", m.Untrusted.Nonce)
			if !strings.Contains(lines, "not instructions") {
				t.Errorf("%s %v: a client that shows %s: the fence says nothing in %.300s", c.tool, c.a, v.name, shown)
			}
			lacks("content", c.needle)
			for _, red := range m.Redactions {
				lacks("placeholder", secrets.Placeholder(red.Rule))
				lacks("rule", red.Rule)
			}
			if m.Next != nil {
				lacks("next tool", m.Next.Tool)
				lacks("next arguments", string(m.Next.Arguments))
			}
		}
		if c.more { // and the call that it names works as it stands
			var a args
			if err := json.Unmarshal(m.Next.Arguments, &a); err != nil {
				t.Fatal(err)
			}
			if again := s.call(m.Next.Tool, a); again.isError {
				t.Errorf("%s %v: next %s: %.300s", c.tool, c.a, m.Next.Arguments, again.raw)
			}
		}
	}
}

// plain is s with the escapes of JSON strings undone.
func plain(s string) string {
	return s + "\n" + reply{raw: s}.decoded() + "\n" + strings.NewReplacer(`\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(s)
}

// A refusal teaches in every client: what is wrong, and what would work.
func TestEveryClientSeesTheRemedy(t *testing.T) {
	s := serve(t, clientTree(t).root)
	for _, c := range []struct {
		tool string
		a    args
		code string
	}{
		{"list_directory", args{"path": "../x"}, "outside_workspace"},
		{"list_directory", args{"path": "main.go"}, "not_a_directory"},
		{"search_code", args{"pattern": "(a+)+$"}, "unsafe_pattern"},
		{"search_code", args{"pattern": "a("}, "invalid_pattern"},
		{"find_symbol", args{}, "missing_name"},
		{"read_file", args{"path": "nowhere.go"}, "not_found"},
		{"read_file", args{"path": ".env"}, "denied_path"},
		{"read_file", args{"path": "docs"}, "is_a_directory"},
		{"git_log", args{"revision": "nowhere"}, "unknown_revision"},
		{"git_diff", args{"head": "HEAD"}, "invalid_combination"},
	} {
		r := s.call(c.tool, c.a)
		var m struct{ Error, Message, Remedy string }
		if r.structured == nil || !r.isError || json.Unmarshal(r.structured, &m) != nil || m.Error != c.code {
			t.Errorf("%s %v: want %s, got %.300s", c.tool, c.a, c.code, r.raw)
			continue
		}
		if m.Message == "" || m.Remedy == "" {
			t.Errorf("%s %v: %.300s", c.tool, c.a, r.structured)
		}
		for _, v := range views {
			shown := plain(v.denial(r))
			for _, needle := range []string{m.Message, m.Remedy} {
				if !strings.Contains(shown, needle) {
					t.Errorf("%s %v: a client that shows %s: no %q in %.400s", c.tool, c.a, v.name, needle, shown)
				}
			}
		}
	}
}

// Neither half exceeds 40,000 characters, whatever is asked for; what did not fit
// is left out in whole records, and the answer says so.
func TestNoHalfExceedsTheBudget(t *testing.T) {
	const budget = 40_000
	repo := newRepository(t)
	files := map[string]string{}
	for i := range 800 {
		files[fmt.Sprintf("a/%02d/a_file_with_a_rather_long_name_%d.go", i%80, i)] = fmt.Sprintf("package a\n\n// Needle%d holds \"quotes\" and\t\ttabs.\nfunc Needle%d() {}\n", i, i)
	}
	files["wide.txt"] = strings.Repeat(strings.Repeat("\t\"needle\\", 20)+"\n", 4000)
	files["control.txt"] = strings.Repeat("needle \x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\n", 3000)
	repo.write(files)
	repo.commit("needle\n\n" + strings.Repeat("A long \"message\" with\ttabs.\n", 1500))
	for i := range 30 {
		files[fmt.Sprintf("a/%02d/a_file_with_a_rather_long_name_%d.go", i%80, i)] += strings.Repeat("// needle \"again\"\n", 400)
	}
	repo.write(files)
	s := serve(t, repo.root)
	for _, c := range []struct {
		tool string
		a    args
		cut  bool
	}{
		{"project_overview", args{}, false},
		{"list_directory", args{"depth": 5, "limit": 2000}, true},
		{"search_code", args{"pattern": "needle", "ignore_case": true, "context_lines": 10, "limit": 1000}, true},
		{"search_code", args{"pattern": "Needle", "output_mode": "files_with_matches", "limit": 1000}, true},
		{"search_code", args{"pattern": "Needle", "output_mode": "count", "limit": 1000}, true},
		{"find_symbol", args{"name": "Needle", "match": "prefix", "limit": 200}, true},
		{"read_file", args{"path": "wide.txt"}, true},
		{"read_file", args{"path": "control.txt"}, true},
		{"git_log", args{"detail": "body"}, false},
		{"git_diff", args{"context_lines": 20}, true},
	} {
		r := s.call(c.tool, c.a)
		if r.isError {
			t.Errorf("%s %v: %.300s", c.tool, c.a, r.raw)
			continue
		}
		var halves struct {
			Result struct {
				Content    json.RawMessage
				Structured json.RawMessage `json:"structuredContent"`
			}
		}
		if err := json.Unmarshal([]byte(r.raw), &halves); err != nil {
			t.Fatal(err)
		}
		for name, half := range map[string]string{"text": string(halves.Result.Content), "structured": string(halves.Result.Structured)} {
			if n := len(utf16.Encode([]rune(half))); n > budget+100 { // the frame of the content block
				t.Errorf("%s %v: the %s half has %d characters", c.tool, c.a, name, n)
			}
		}
		var m struct {
			Complete *bool
			Stopped  string
		}
		if err := json.Unmarshal(r.structured, &m); err != nil {
			t.Fatal(err)
		}
		if c.cut && (m.Complete == nil || *m.Complete || m.Stopped == "") {
			t.Errorf("%s %v: cut without a word: %.200s", c.tool, c.a, r.structured)
		}
		if c.tool == "read_file" { // no line is cut
			b, err := os.ReadFile(filepath.Join(repo.root, c.a["path"].(string)))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := wholeFile(t, r)
			if !strings.HasPrefix(string(b), got) || !strings.HasSuffix(got, "\n") || got == "" {
				t.Errorf("%s %v: %d bytes do not end with a line", c.tool, c.a, len(got))
			}
		}
	}
}
