package tools_test

import (
	"strings"
	"testing"
)

const cloneHistory = `
	echo one > a.txt; seq 100 > b.txt; git add .; git commit -qm first
	echo two > a.txt; git mv b.txt c.txt; seq 98 > c.txt; git commit -qam second`

// A shallow clone, as build servers make it: its oldest commit names a parent
// that is not there.
func TestGitShallowClone(t *testing.T) {
	f := gitRepo(t, cloneHistory+`
		git clone -q --depth 1 "file://$WS" "$OUT/c"; rm -rf .git; mv "$OUT/c/.git" .`)
	r := f.Call("git_log", `{"detail":"files"}`)
	if c := list(r, "commits"); len(c) != 1 || len(c[0]["files"].([]any)) != 2 || !strings.Contains(r.Text, "shallow clone") {
		t.Errorf("%s", r.Text)
	}
	r = f.Call("git_diff", `{"commit":"HEAD"}`)
	if d := list(r, "files"); len(d) != 2 || d[0]["status"] != "added" || d[1]["added"] != 98.0 || !strings.Contains(r.Text, "shallow clone") {
		t.Errorf("%s", r.Text)
	}
	if r := f.Call("git_log", `{"path":"c.txt"}`); len(list(r, "commits")) != 1 {
		t.Errorf("%s", r.Text)
	}
}

// A partial clone names content that it has not fetched. Nothing fetches it now;
// what is known without it is answered.
func TestGitPartialClone(t *testing.T) {
	f := gitRepo(t, cloneHistory+`
		git config uploadpack.allowFilter true
		git clone -q --no-checkout --filter=blob:none "file://$WS" "$OUT/c"; rm -rf .git; mv "$OUT/c/.git" .; git read-tree HEAD`)
	r := f.Call("git_log", `{"detail":"files"}`)
	c := list(r, "commits")
	if len(c) != 2 || len(c[0]["files"].([]any)) != 3 || !strings.Contains(r.Text, "lines are not counted for 5 files") {
		t.Errorf("%s", r.Text)
	}
	for _, args := range []string{`{"commit":"HEAD"}`, `{"commit":"HEAD","output_mode":"stat"}`} {
		r = f.Call("git_diff", args)
		if d := list(r, "files"); len(d) != 3 || !strings.Contains(r.Text, "3 files have content that this clone does not hold") {
			t.Errorf("%s: %s", args, r.Text)
		}
	}
	if r := f.Call("read_file", `{"path":"c.txt","revision":"HEAD"}`); r.Code != "git_failed" {
		t.Errorf("%s", r.Text)
	}
}
