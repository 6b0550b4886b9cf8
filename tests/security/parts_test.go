package security

import (
	"strings"
	"testing"
)

// TestNamesInPartsShowNoPiece: tools show paths in parts, a folder here and a
// name there, and cut long names. A secret may lie across any of these borders.
func TestNamesInPartsShowNoPiece(t *testing.T) {
	// The folders on the way are no secret, as long as nothing follows them.
	last := "xK4dE6gH9jK2mN5pQ8sT1vW4"
	hook := "hooks.slack.com/services/T0Q3EGRZ7TP/B0XN5BLDWQ3/" + last
	token := "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
	parts := []string{last, token}
	files := map[string]string{"plain.txt": "needle\n", hook + "/note.txt": "needle\n", hook + ".go": "package x // needle\n"}
	for pad := 60; pad < 124; pad += 5 {
		files["long/"+strings.Repeat("n", pad)+"=ghp_"+token+".md"] = "needle\n"
	}
	r := newRepository(t)
	r.write(map[string]string{"plain.txt": "x\n"})
	r.commit("start")
	r.write(files)
	s := serve(t, r.root)
	for _, q := range []question{
		{"overview", "project_overview", args{"depth": 4}},
		{"overview below", "project_overview", args{"path": "hooks.slack.com/services", "depth": 4}},
		{"overview of a folder", "project_overview", args{"path": "long"}},
		{"tree", "list_directory", args{"depth": 10}},
		{"tree, page of one", "list_directory", args{"depth": 10, "limit": 4}},
		{"records", "list_directory", args{"depth": 10, "details": true}},
		{"glob", "list_directory", args{"glob": "**/*.go"}},
		{"search", "search_code", args{"pattern": "needle"}},
		{"files", "search_code", args{"pattern": "needle", "output_mode": "files_with_matches"}},
		{"symbols", "find_symbol", args{"name": "x"}},
		{"diff", "git_diff", args{}},
	} {
		got := s.call(q.tool, q.args)
		all := got.decoded()
		for _, p := range parts {
			if x := piece(all, p, 6); x != "" {
				t.Errorf("%s: %s %s shows %q of a name:\n%s", q.trick, q.tool, quote(q.args), x, got.text)
			}
		}
	}
}
