package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"mcp-devserver/tools/internal/tooltest"
)

// names is one word per file: its letter, name and counts.
func names(r *tooltest.Result) string {
	var out []string
	for _, f := range list(r, "files") {
		s := strings.ToUpper(f["status"].(string)[:1]) + " " + f["path"].(string)
		if old, ok := f["old_path"]; ok {
			s += " from " + old.(string)
		}
		if a, ok := f["added"]; ok {
			s += fmt.Sprintf(" +%v -%v", a, f["deleted"])
		}
		if o, ok := f["omitted"]; ok {
			s += " " + o.(string)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

const diffHistory = `
printf 'one\ntwo\n' > a.txt; mkdir d; printf 'x\n' > d/b.txt; echo K=v > .env; seq 1 20 > long.txt
git add -f .; git commit -qm one
git checkout -q -b side; echo side >> d/b.txt; git commit -qam side
git checkout -q main; printf 'one\n2\n' > a.txt; git mv long.txt moved.txt; echo K=w > .env; git commit -qam two -m 'Why.'
echo staged >> a.txt; git add a.txt; echo unstaged >> a.txt; echo n > new.txt; echo K=z > .env; mkdir u; echo f > u/f.txt
printf 'ignored/\n' > .gitignore; mkdir ignored; echo i > ignored/i`

func TestGitDiffModes(t *testing.T) {
	f := gitRepo(t, diffHistory)
	for _, c := range []struct{ args, base, head, want string }{
		{`{}`, "index", "worktree", "U .gitignore; M a.txt +1 -0; U new.txt; U u/f.txt"},
		{`{"path":"u"}`, "index", "worktree", "U u/f.txt"},
		{`{"path":"new.txt"}`, "index", "worktree", "U new.txt"},
		{`{"path":"a.txt"}`, "index", "worktree", "M a.txt +1 -0"},
		{`{"path":"ignored"}`, "index", "worktree", ""},
		{`{"path":"d"}`, "index", "worktree", ""},
		{`{"staged":true}`, "HEAD", "index", "M a.txt +1 -0"},
		{`{"staged":true,"base":"HEAD~1"}`, "HEAD~1", "index", "M a.txt +2 -1; R moved.txt from long.txt +0 -0"},
		{`{"base":"HEAD"}`, "HEAD", "worktree", "M a.txt +2 -0"},
		{`{"base":"HEAD~1"}`, "HEAD~1", "worktree", "M a.txt +3 -1; R moved.txt from long.txt +0 -0"},
		{`{"base":"HEAD~1","head":"HEAD"}`, "HEAD~1", "HEAD", "M a.txt +1 -1; R moved.txt from long.txt +0 -0"},
		{`{"base":"HEAD~1..HEAD","output_mode":"names"}`, "HEAD~1", "HEAD", "M a.txt; R moved.txt from long.txt"},
		{`{"base":"main","head":"side","path":"d"}`, "main", "side", "M d/b.txt +1 -0"},
		{`{"base":"main","head":"side","merge_base":true}`, "?", "side", "M d/b.txt +1 -0"},
		{`{"base":"main...side"}`, "?", "side", "M d/b.txt +1 -0"},
		{`{"base":"HEAD~1","head":"HEAD","path":"long.txt"}`, "HEAD~1", "HEAD", "R moved.txt from long.txt +0 -0"},
		{`{"commit":"HEAD"}`, "?", "?", "M a.txt +1 -1; R moved.txt from long.txt +0 -0"},
		{`{"commit":"HEAD~1","output_mode":"stat"}`, "nothing", "?", "A a.txt +2 -0; A d/b.txt +1 -0; A long.txt +20 -0"},
		{`{"base":"HEAD","head":"HEAD"}`, "HEAD", "HEAD", ""},
	} {
		r := f.Call("git_diff", c.args)
		if r.IsError || names(r) != c.want {
			t.Errorf("%s: %q, want %q\n%s", c.args, names(r), c.want, r.Text)
			continue
		}
		if b := r.Structured["base"]; c.base != "?" && b != c.base {
			t.Errorf("%s: base %v", c.args, b)
		}
		if h := r.Structured["head"]; c.head != "?" && h != c.head {
			t.Errorf("%s: head %v", c.args, h)
		}
		if strings.Contains(r.Text, "K=") || strings.Contains(string(r.JSON), ".env") {
			t.Errorf("%s: the denied file is shown", c.args)
		}
	}
	r := f.Call("git_diff", `{"commit":"HEAD"}`)
	if k := r.Structured["commit"].(map[string]any); k["subject"] != "two" || k["body"] != "Why." || r.Structured["denied"].(float64) != 1 || r.Structured["added"].(float64) != 1 {
		t.Errorf("%s", r.JSON)
	}
	if !strings.Contains(r.Inside, "=== a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n") || !strings.Contains(r.Inside, "R long.txt → moved.txt +0 -0\n") {
		t.Errorf("%s", r.Inside)
	}
	if gitSh(t, f, "git status --porcelain --ignored | wc -l") == "0" {
		t.Error("the fixture is clean")
	}
}

// A patch of the answer, given to git, makes the new side out of the old one.
func TestGitDiffPatchIsAccepted(t *testing.T) {
	f := gitRepo(t, `seq 1 200 > a.txt; printf 'no newline' > n.txt; git add .; git commit -qm one
		sed -i -e 3d -e '50s/$/x/' -e '100a new' -e '150,160d' a.txt; printf 'no newline\nnow' > n.txt; echo z > z.txt; git add z.txt; git commit -qam two`)
	for _, n := range []string{"0", "1", "3", "20"} {
		r := f.Call("git_diff", `{"commit":"HEAD","context_lines":`+n+`}`)
		patch := ""
		for _, x := range list(r, "files") {
			p := x["path"].(string)
			old := "a/" + p
			if x["status"] == "added" {
				old = "/dev/null"
				patch += "diff --git a/" + p + " b/" + p + "\nnew file mode 100644\n"
			}
			patch += "--- " + old + "\n+++ b/" + p + "\n" + x["patch"].(string) + "\n"
		}
		if err := os.WriteFile(f.Out+"/p", []byte(patch), 0o644); err != nil {
			t.Fatal(err)
		}
		gitSh(t, f, `git read-tree HEAD~1; git apply --cached --unidiff-zero "$OUT/p"; git diff-index --cached --exit-code HEAD; git read-tree HEAD`)
	}
}

func TestGitDiffRenamesOfDeniedFiles(t *testing.T) {
	f := gitRepo(t, `seq 1 30 | sed 's/^/WORD/' > .env; git add -f .; git commit -qm one; git mv .env open.txt; git commit -qm two; git mv open.txt .env; echo WORD >> .env; git commit -qam three`)
	for _, args := range []string{`{"commit":"HEAD"}`, `{"commit":"HEAD~1"}`, `{"commit":"HEAD~1","path":"open.txt"}`, `{"base":"HEAD~2","head":"HEAD~1"}`} {
		r := f.Call("git_diff", args)
		if strings.Contains(r.Text, "WORD") || r.Structured["denied"].(float64) != 1 || r.Structured["total_files"].(float64) != 0 {
			t.Errorf("%s: %s", args, r.Text)
		}
	}
}

func TestGitDiffOmissions(t *testing.T) {
	f := gitRepo(t, `echo 1 > package-lock.json; printf 'x\0' > a.bin; echo z > z.txt; mkdir gen; echo g > gen/g.go; echo 'gen/** linguist-generated' > .gitattributes; seq 1 20000 > big.txt; git add .; git commit -qm one
		seq 1 20000 > package-lock.json; head -c 9000000 /dev/urandom > a.bin; echo zz >> z.txt; echo gg >> gen/g.go; seq 20000 40000 > big.txt`)
	r := f.Call("git_diff", "")
	if want := "M a.bin binary; M big.txt +20000 -19999 too_large; M gen/g.go +1 -0 generated; M package-lock.json +19999 -0 generated; M z.txt +1 -0"; names(r) != want || r.Structured["complete"] != true {
		t.Errorf("%s\n%s", names(r), r.Outside)
	}
	if !strings.Contains(r.Inside, "=== z.txt\n@@ -1 +1,2 @@\n z\n+zz\n") {
		t.Errorf("%.2000s", r.Inside)
	}
	r = f.Call("git_diff", `{"path":"gen/g.go"}`)
	if names(r) != "M gen/g.go +1 -0" || !strings.Contains(r.Inside, "+gg") {
		t.Errorf("%s", r.Text)
	}
	// A patch that is longer than an answer but not too long: the hunks that fit.
	gitSh(t, f, `git checkout -q .; sed -i 's/5$/five and a good many words more on this line/' big.txt; git commit -qam big; git checkout -q HEAD~1 -- big.txt; git commit -qm back; sed -i '1,9000s/5$/five/' big.txt; echo more >> z.txt`)
	r = f.Call("git_diff", "")
	if l := list(r, "files"); l[0]["omitted"] != "budget" || !strings.HasPrefix(l[0]["patch"].(string), "@@ -2,7 +2,7 @@") || !strings.Contains(r.Text, "the first patch holds") {
		t.Errorf("%s\n%.500s", names(r), r.Text)
	}
	b, _ := json.Marshal(r.Structured["next"])
	if !strings.Contains(string(b), `"offset":1`) {
		t.Errorf("%s", b)
	}
}

// Paging by next shows each file once with its patch, and counts agree.
func TestGitDiffNext(t *testing.T) {
	f := gitRepo(t, `for i in $(seq 100 159); do seq 1 60 > f$i; done; git add .; git commit -qm one; for i in $(seq 100 159); do seq 200 260 > f$i; done`)
	args := `{"limit":25}`
	got := map[string]string{}
	for range 30 {
		r := f.Call("git_diff", args)
		if r.IsError || r.Structured["total_files"].(float64) != 60 {
			t.Fatalf("%s", r.Text)
		}
		for _, x := range list(r, "files") {
			if p, ok := x["patch"].(string); ok {
				if got[x["path"].(string)] != "" {
					t.Errorf("%v twice", x["path"])
				}
				got[x["path"].(string)] = p
			}
		}
		if r.Structured["complete"] == true {
			break
		}
		b, _ := json.Marshal(r.Structured["next"].(map[string]any)["arguments"])
		args = string(b)
	}
	if len(got) != 60 {
		t.Errorf("%d patches", len(got))
	}
}

func TestGitDiffManyLongNames(t *testing.T) {
	f := gitRepo(t, `n=$(printf 'd%.0s' $(seq 1 200)); mkdir "$n"; for i in $(seq 1 400); do echo x > "$n/$(printf '\342\200\256%.0s' $(seq 1 10))$i"; done; git add .; git commit -qm many`)
	seen, offset := 0, 0
	for range 40 {
		r := f.Call("git_diff", fmt.Sprintf(`{"commit":"HEAD","output_mode":"names","limit":500,"offset":%d}`, offset))
		n := len(list(r, "files"))
		seen += n
		offset += n
		if r.Structured["complete"] == true {
			break
		}
	}
	if seen != 400 {
		t.Errorf("%d", seen)
	}
}

func TestGitDiffUnmerged(t *testing.T) {
	f := gitRepo(t, `echo base > a.txt; git add .; git commit -qm base; git checkout -q -b side; echo side > a.txt; git commit -qam side; git checkout -q main; echo main > a.txt; git commit -qam main; git merge side > /dev/null || :`)
	r := f.Call("git_diff", "")
	if l := list(r, "files"); len(l) != 1 || l[0]["status"] != "unmerged" || !strings.Contains(l[0]["patch"].(string), "+<<<<<<< HEAD") {
		t.Errorf("%s", r.Text)
	}
	for _, args := range []string{`{"staged":true}`, `{"base":"HEAD"}`} {
		if r := f.Call("git_diff", args); len(list(r, "files")) != 1 || list(r, "files")[0]["status"] != "unmerged" {
			t.Errorf("%s: %s", args, r.Text)
		}
	}
}

func TestGitDiffNestedRepository(t *testing.T) {
	f := gitRepo(t, `echo x > a; git add .; git commit -qm x; git init -q nested; echo y > nested/y; mkdir -p docs; cd docs; git init -q --bare .; git config core.bare false; git config core.worktree ..; git config core.fsmonitor 'touch "$OUT/MARK"'`)
	r := f.Call("git_diff", `{"output_mode":"names"}`)
	if !strings.Contains(names(r), "U nested/") || strings.Contains(names(r), "nested/y") {
		t.Errorf("%s", names(r))
	}
	f.Call("git_diff", `{"path":"docs"}`)
	f.Call("git_log", `{"path":"docs/HEAD"}`)
	if _, err := os.Stat(f.Out + "/MARK"); err == nil {
		t.Error("the nested repository's program ran")
	}
}

func TestGitDiffMergeCommit(t *testing.T) {
	f := gitRepo(t, logHistory)
	r := f.Call("git_diff", `{"commit":"HEAD"}`)
	if names(r) != "M d/b.txt +1 -0" || !strings.Contains(r.Text, "compared with its first parent") {
		t.Errorf("%s", r.Text)
	}
	gitSh(t, f, `git checkout -q --orphan alone; git commit -qm alone`)
	if r := f.Call("git_diff", `{"base":"main","head":"alone","merge_base":true}`); r.Code != "invalid_combination" {
		t.Errorf("%s", r.Text)
	}
}

func TestGitDiffLineEndingsAndFilters(t *testing.T) {
	f := gitRepo(t, `printf 'a\n' > a.txt; printf 'b\n' > b.lfs; printf 'caf\351\n' > l; git add .; git commit -qm one; echo '*.txt text' > .gitattributes; echo '*.lfs filter=lfs' >> .gitattributes; printf 'a\r\n' > a.txt; touch -d 2001-01-01 a.txt; echo c >> b.lfs; printf 'caf\350\n' > l`)
	r := f.Call("git_diff", "")
	for _, s := range []string{"1 files differ from the index only in line endings", "1 files belong to a filter driver", "1 files hold bytes that are not UTF-8"} {
		if !strings.Contains(r.Text, s) {
			t.Errorf("no %q in\n%s", s, r.Text)
		}
	}
	if names(r) != "U .gitattributes; M b.lfs +1 -0; M l +1 -1" {
		t.Errorf("%s", names(r))
	}
}

// No choice of lines and context shows a key in pieces.
func TestGitDiffSecrets(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\n"
	for i := range 12 {
		pem += strings.Repeat(string(rune('a'+i)), 20) + strings.Repeat("Zq9x", 11) + "\n"
	}
	pem += "-----END RSA PRIVATE KEY-----\n"
	lines := strings.Split(pem, "\n")
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	old := "head\n" + pem + "mid\nurl = x\ntail\n"
	for name, change := range map[string]string{
		"a line inside the block":   strings.Replace(old, lines[6], strings.Replace(lines[6], "Zq9x", "Yw8v", 3), 1),
		"the line behind the block": strings.Replace(old, "mid", "MID", 1),
		"a token added":             strings.Replace(old, "url = x", "url = "+token, 1),
		"the block removed":         strings.Replace(old, pem, "", 1),
	} {
		f := gitRepo(t, "")
		f.Write("f.txt", []byte(old))
		gitSh(t, f, "git add .; git commit -qm one")
		f.Write("f.txt", []byte(change))
		for n := 0; n <= 20; n += 4 {
			r := f.Call("git_diff", fmt.Sprintf(`{"context_lines":%d}`, n))
			all := r.Text + string(r.JSON)
			for _, piece := range []string{"Zq9xZq9x", "Yw8v", token, token[4:20]} {
				if strings.Contains(all, piece) {
					t.Errorf("%s, context %d: %q leaves", name, n, piece)
				}
			}
			if len(list(r, "files")) != 1 || len(r.Redactions) == 0 && (n > 0 || name != "the line behind the block") {
				t.Errorf("%s, context %d: %v\n%s", name, n, r.Redactions, r.Text)
			}
		}
	}
}

// Two repositories that differ only in the values of secrets answer alike.
func TestGitNonInterference(t *testing.T) {
	answers := func(a, b string) string {
		f := gitRepo(t, "")
		f.Write("f.txt", []byte("x\nkey = "+a+"\ny\n"))
		f.Write("m", []byte("use "+a+"\n"))
		gitSh(t, f, "git add f.txt; git commit -q -F m")
		f.Write("f.txt", []byte("x\nkey = "+b+"\ny\nz\n"))
		out := ""
		for _, c := range [][2]string{{"git_log", ""}, {"git_log", `{"message":"C7e"}`}, {"git_log", `{"message":"use"}`}, {"git_diff", ""}, {"git_diff", `{"context_lines":0}`}, {"git_diff", `{"output_mode":"stat"}`}} {
			r := f.Call(c[0], c[1])
			s := strings.ReplaceAll(r.Text+string(r.JSON), r.Nonce, "NONCE")
			for _, k := range list(r, "commits") {
				s = strings.ReplaceAll(s, k["sha"].(string), "SHA")
			}
			out += s + "\n"
		}
		return out
	}
	one := answers("ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a", "ghp_"+"99aZ42F292c6912E7710c838347Ae178B4a1")
	two := answers("ghp_"+"77X7q42F292c6912E7710c838347Ae178Bzz", "ghp_"+"55bY42F292c6912E7710c838347Ae178B4a2")
	if one != two {
		t.Errorf("%s\n---\n%s", one, two)
	}
}
