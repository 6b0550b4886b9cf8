package tools_test

import (
	"strings"
	"testing"
)

// What git tracks is searched although a rule matches it, and only that; where the index is of a kind that git alone
// reads, git lists it, and without git the answer says what may be missing.
func TestSearchTrackedFiles(t *testing.T) {
	f := gitRepo(t, `
		printf '*.log\n/gen/\n' > .gitignore; mkdir gen; echo needle > a.log; echo needle > b.log; echo needle > gen/x; echo needle > gen/y
		git add -f .gitignore a.log gen/x; git commit -qm first`)
	const call, want = `{"pattern":"needle","output_mode":"count"}`, "a.log=1 | gen/x=1"
	if r := f.Call("search_code", call); strings.Join(strings.Fields(found(r)), " ") != want {
		t.Errorf("%q\n%s", found(r), r.Text)
	}
	gitSh(t, f, `git update-index --split-index`)
	r := f.Call("search_code", call)
	if strings.Join(strings.Fields(found(r)), " ") != want || strings.Contains(r.Text, "index") {
		t.Errorf("split index: %q\n%s", found(r), r.Text)
	}
	f.Env.Git.Enabled = false
	for _, tool := range []string{"search_code", "list_directory"} {
		args := call
		if tool == "list_directory" {
			args = `{}`
		}
		if r = f.Call(tool, args); !strings.Contains(r.Outside, "the index of a repository could not be read") {
			t.Errorf("%s without git: %s", tool, r.Text)
		}
	}
}
