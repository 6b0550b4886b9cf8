package security

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A folder whose name is a secret shows in no tool: not above a file, not in next, not
// in what a denial says; and the denial counts what it hides.
func TestFoldersWithSecretNames(t *testing.T) {
	secret := "aB3dE6gH9jK2mN5"
	// The rules see no secret in the whole path: what follows makes it look like words.
	folder := "secret=" + secret
	deep := folder + "/src/main/java/org/example"
	repo := newRepository(t)
	files := map[string]string{"package.json": "{}\n", deep + "/package.json": "{\"name\":\"needle\"}\n", deep + "/App.java": "class Needle {}\n", deep + "/README.md": "needle\n"}
	for i := range 40 {
		files[fmt.Sprintf("%s/needle%02d.go", deep, i)] = fmt.Sprintf("package example\n\nfunc Needle%d() {}\n", i)
	}
	repo.write(files)
	repo.commit("needle")
	repo.git("branch", folder+"/org/example/of/a/branch")
	for name := range files {
		files[name] += "\n"
	}
	repo.write(files)
	s := serve(t, repo.root)
	hidden := 0
	for _, q := range []question{
		{"", "project_overview", args{"depth": 4}},
		{"", "project_overview", args{"path": deep}},
		{"", "list_directory", args{"depth": 10}},
		{"", "list_directory", args{"depth": 10, "details": true, "limit": 9}},
		{"", "list_directory", args{"glob": "*.go", "limit": 5}},
		{"", "list_directory", args{"path": deep, "limit": 5}},
		{"", "search_code", args{"pattern": "Needle", "limit": 5}},
		{"", "search_code", args{"pattern": "Needle", "output_mode": "count", "path": folder}},
		{"", "find_symbol", args{"name": "needle", "match": "prefix", "limit": 5}},
		{"", "find_symbol", args{"path": deep + "/App.java"}},
		{"", "read_file", args{"path": deep + "/App.java"}},
		{"", "read_file", args{"path": deep + "/App.java", "revision": "HEAD"}},
		{"", "git_log", args{"detail": "files"}},
		{"", "git_log", args{"path": deep + "/App.java", "limit": 1}},
		{"", "git_diff", args{"limit": 5}},
		{"", "git_diff", args{"path": deep, "limit": 5, "output_mode": "names"}},
		{"", "read_file", args{"path": deep + "/Nothing.java"}},
		{"", "read_file", args{"path": deep}},
		{"", "list_directory", args{"path": deep + "/App.java"}},
		{"", "read_file", args{"path": deep + "/.env"}},
		{"", "read_file", args{"path": strings.Repeat("long/", 60) + deep + "/" + strings.Repeat("x", 120)}},
		{"", "git_log", args{"revision": folder + "/src/main/java/org/example"}},
	} {
		r := s.call(q.tool, q.args)
		if shown := r.decoded(); strings.Contains(shown, secret[:4]) {
			t.Errorf("%s %s shows a piece of the folder:\n%.600s", q.tool, quote(q.args), shown)
		}
		var m struct {
			Redactions []struct{ Rule string }
			Next       *struct{ Tool string }
			Notices    []string
			Complete   bool
		}
		must(t, json.Unmarshal(r.structured, &m))
		if placed := strings.Contains(r.decoded(), "⟦redacted"); placed != (len(m.Redactions) > 0) {
			t.Errorf("%s %s: %d redactions reported, placeholders: %v\n%.400s", q.tool, quote(q.args), len(m.Redactions), placed, r.text)
		} else if placed {
			hidden++
		}
		if m.Next != nil && strings.Contains(quote(m.Next), "redacted") {
			t.Errorf("%s %s: next cannot work: %s", q.tool, quote(q.args), quote(m.Next))
		}
		if !r.isError && !m.Complete && m.Next == nil && !strings.Contains(strings.Join(m.Notices, "\n"), "redaction") {
			t.Errorf("%s %s: not complete, and nothing says how to go on: %q", q.tool, quote(q.args), m.Notices)
		}
	}
	if hidden < 15 {
		t.Errorf("only %d answers had something to hide", hidden)
	}
}
