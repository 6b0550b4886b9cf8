package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// onDisk compares the work tree with the index, or with base, and returns one
// line for each file that differs.
func onDisk(t *testing.T, r *Repo, base string) []string {
	t.Helper()
	ctx := context.Background()
	list, err := r.FileChanges(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if base != "" {
		staged, err := r.IndexChanges(ctx, base)
		if err != nil {
			t.Fatal(err)
		}
		list = Against(staged, list)
	}
	attrs := r.Attributes()
	var out []string
	for _, c := range list {
		d, err := r.Compare(ctx, c, CompareOptions{Context: 3, Patch: true, Attrs: attrs})
		if err != nil {
			t.Fatalf("%s: %v", c.Path, err)
		}
		if d.Same {
			if d.EOL {
				out = append(out, "eol "+c.Path)
			}
			continue
		}
		s := fmt.Sprintf("%c %s +%d -%d", d.Status, d.Path, d.Patch.Added, d.Patch.Deleted)
		if d.Binary {
			s += " binary"
		}
		if d.TooLarge {
			s += " large"
		}
		if d.Filtered {
			s += " filtered"
		}
		if d.Lossy {
			s += " lossy"
		}
		out = append(out, s)
	}
	return out
}

const worktreeBase = `
printf 'one\ntwo\n' > a.txt; printf 'b\n' > b.txt; printf 'c\n' > c.txt; printf '#!/bin/sh\n' > run.sh; ln -s a.txt link; printf 'g\n' > gone.txt; mkdir d; printf 'x\n' > d/x.txt
printf 'bin\0ary\n' > bin; printf 'lat\351in\n' > latin.txt; git add .; git commit -qm base
`

func TestWorkTree(t *testing.T) {
	for _, c := range []struct {
		name, setup string
		want        []string
	}{
		{"nothing", ``, nil},
		{"edited", `echo three >> a.txt`, []string{"M a.txt +1 -0"}},
		{"touched only", `touch -d 2001-01-01 a.txt b.txt`, nil},
		{"rewritten with the same content", `cp a.txt t; rm a.txt; mv t a.txt`, nil},
		{"removed", `rm gone.txt`, []string{"D gone.txt +0 -1"}},
		{"mode", `chmod +x b.txt`, []string{"M b.txt +0 -0"}},
		{"mode and content", `chmod -x run.sh; chmod +x c.txt; echo d >> c.txt`, []string{"M c.txt +1 -0"}},
		{"link text", `ln -sf b.txt link`, []string{"M link +1 -1"}},
		{"link to outside", `ln -sf "$OUT/secret" link`, []string{"M link +1 -1"}},
		{"file becomes a link", `rm b.txt; ln -s a.txt b.txt`, []string{"T b.txt +1 -1"}},
		{"link becomes a file", `rm link; echo x > link`, []string{"T link +1 -1"}},
		{"file becomes a folder", `rm b.txt; mkdir b.txt; echo x > b.txt/y`, []string{"D b.txt +0 -1"}},
		{"folder swapped for a link to outside", `mkdir "$OUT/d"; echo secret > "$OUT/d/x.txt"; rm -r d; ln -s "$OUT/d" d`, []string{"D d/x.txt +0 -1"}},
		{"folder swapped for a link to inside", `mkdir e; echo other > e/x.txt; rm -r d; ln -s e d`, []string{"D d/x.txt +0 -1"}},
		{"file becomes a pipe", `rm b.txt; mkfifo b.txt`, []string{"D b.txt +0 -1"}},
		{"binary", `printf 'bin\0aryx\n' > bin`, []string{"M bin +0 -0 binary"}},
		{"text becomes binary", `printf '\0' >> a.txt`, []string{"M a.txt +0 -0 binary"}},
		{"not UTF-8", `printf 'lat\351in2\n' > latin.txt`, []string{"M latin.txt +1 -1 lossy"}},
		{"intent to add", `echo n > n.txt; git add -N n.txt`, []string{"A n.txt +1 -0"}},
		{"racily clean", `printf 'ONE\ntwo\n' > a.txt; git add a.txt; printf 'two\nONE\n' > a.txt`, []string{"M a.txt +1 -1"}},
		{"line endings without a reason", `printf 'one\r\ntwo\r\n' > a.txt`, []string{"M a.txt +2 -2"}},
		{"line endings, converted by attribute", `echo '*.txt text' > .gitattributes; printf 'one\r\ntwo\r\n' > a.txt; touch -d 2001-01-01 a.txt`, []string{"eol a.txt"}},
		{"line endings, converted by core.autocrlf", `git config core.autocrlf true; printf 'one\r\ntwo\r\n' > a.txt; touch -d 2001-01-01 a.txt`, []string{"eol a.txt"}},
		{"line endings, core.autocrlf set and off", `git config core.autocrlf false; printf 'one\r\ntwo\r\n' > a.txt`, []string{"M a.txt +2 -2"}},
		{"line endings, core.autocrlf off at last", `git config core.autocrlf true; printf '[core]\n\tautocrlf = 0\n' > .git/inc; git config include.path inc; printf 'one\r\ntwo\r\n' > a.txt`, []string{"M a.txt +2 -2"}},
		{"line endings, core.autocrlf without a value", `printf '[core]\n\tautocrlf\n' >> .git/config; printf 'one\r\ntwo\r\n' > a.txt; touch -d 2001-01-01 a.txt`, []string{"eol a.txt"}},
		{"line endings, core.eol alone", `git config core.eol crlf; printf 'one\r\ntwo\r\n' > a.txt`, []string{"M a.txt +2 -2"}},
		{"line endings and an edit", `echo '* text=auto' > .gitattributes; printf 'one\r\n2\r\n' > a.txt`, []string{"M a.txt +1 -1"}},
		{"line endings, attribute for another name", `echo '*.md text' > .gitattributes; printf 'one\r\ntwo\r\n' > a.txt`, []string{"M a.txt +2 -2"}},
		{"filter driver", `echo '*.txt filter=z' > .gitattributes; git config filter.z.clean 'tr a-z A-Z'; echo x >> a.txt`, []string{"M a.txt +1 -0 filtered"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sh(worktreeBase)
			f.sh(c.setup)
			r := f.repo()
			if got := onDisk(t, r, ""); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The answer for base against the work tree, next to git diff's own.
func TestAgainstBase(t *testing.T) {
	f := newFixture(t)
	f.sh(worktreeBase + `
		echo s >> a.txt; git add a.txt; echo w >> a.txt
		echo n > new.txt; git add new.txt
		echo t > temp.txt; git add temp.txt; rm temp.txt
		echo x > b.txt; git add b.txt; printf 'b\n' > b.txt
		git rm -q c.txt
		git mv d/x.txt moved.txt; echo more >> moved.txt
		rm gone.txt; chmod +x latin.txt; git add latin.txt
		rm bin; ln -s a.txt bin; git add bin; rm bin; printf 'text\n' > bin`)
	got := onDisk(t, f.repo(), f.head())
	want := []string{"M a.txt +2 -0", "M bin +0 -0 binary", "D c.txt +0 -1", "D gone.txt +0 -1", "M latin.txt +0 -0 lossy", "R moved.txt +1 -0", "A new.txt +1 -0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestModeLinesAreAccepted(t *testing.T) {
	f := newFixture(t)
	f.sh(worktreeBase + `chmod +x c.txt; echo d >> c.txt`)
	r := f.repo()
	list, err := r.FileChanges(context.Background())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	d, err := r.Compare(context.Background(), list[0], CompareOptions{Context: 3, Patch: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := "old mode 100644\nnew mode 100755\n@@ -1 +1,2 @@\n c\n+d"; d.Patch.Text.Raw != want {
		t.Errorf("%q", d.Patch.Text.Raw)
	}
}

func TestUnmerged(t *testing.T) {
	f := newFixture(t)
	f.sh(worktreeBase + `git checkout -q -b side; echo side > b.txt; git commit -qam side; git checkout -q main; echo main > b.txt; git commit -qam main; git merge side >/dev/null || :`)
	r := f.repo()
	ctx := context.Background()
	list, err := r.FileChanges(ctx)
	if err != nil || len(list) != 1 || list[0].Status != Unmerged {
		t.Fatalf("%+v %v", list, err)
	}
	staged, err := r.IndexChanges(ctx, f.head())
	if err != nil || len(staged) != 1 || staged[0].Status != Unmerged {
		t.Fatalf("%+v %v", staged, err)
	}
	if all := Against(staged, list); len(all) != 1 || all[0].Status != Unmerged {
		t.Errorf("%+v", all)
	}
	index, err := r.Index(ctx)
	if err != nil {
		t.Fatal(err)
	}
	stages := 0
	for _, e := range index {
		if e.Stage > 0 {
			stages++
		}
	}
	if stages != 3 {
		t.Errorf("%d stages", stages)
	}
}

func TestGitLFS(t *testing.T) {
	f := newFixture(t)
	content := "the real content\n"
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256Hex([]byte(content)) + "\nsize 17\n"
	f.write("big.bin", pointer)
	f.sh(`git add .; echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes; git add .; git commit -qm lfs`)
	f.write("big.bin", content)
	r := f.repo()
	if got := onDisk(t, r, ""); got != nil {
		t.Errorf("the smudged file is shown as changed: %q", got)
	}
	f.write("big.bin", "other content 12\n")
	if got := onDisk(t, r, ""); !slices.Equal(got, []string{"M big.bin +0 -0 binary filtered"}) {
		t.Errorf("%q", got)
	}
}

func TestLongFiles(t *testing.T) {
	f := newFixture(t)
	f.sh(`head -c 100000 /dev/zero | tr '\0' x > t; { cat t; printf '\0'; } > z; seq 1 20000 > lines; head -c 100000 /dev/zero > late; git add .; git commit -qm long; touch -d 2001-01-01 t
		echo y >> lines; echo y >> late; { cat t; echo y; } > t2; mv t2 t; { printf '\0'; cat z; } > z2; mv z2 z`)
	r, err := f.git(Options{MaxOutput: 50000}).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := []string{"M late +0 -0 binary", "M lines +0 -0 large", "M t +0 -0 large", "M z +0 -0 binary"}
	if got := onDisk(t, r, ""); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.sh(`git checkout -q .; touch -d 2001-01-01 t z`)
	if got := onDisk(t, r, ""); got != nil {
		t.Errorf("touched only: %q", got)
	}
	f.sh(`echo y >> lines; git commit -qam more`)
	list, err := r.TreeChanges(context.Background(), strings.TrimSpace(f.sh("git rev-parse HEAD~1")), f.head())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if d, err := r.Compare(context.Background(), list[0], CompareOptions{Patch: true}); err != nil || !d.TooLarge {
		t.Errorf("%+v %v", d, err)
	}
}

// A repository with SHA-256 ids works the same way.
func TestSHA256Repository(t *testing.T) {
	f := newFixture(t)
	f.sh(`rm -rf .git; git init -q -b main --object-format=sha256 .; ` + twoCommits + `touch -d 2001-01-01 b.txt; echo x >> a.txt; echo n > n.txt; git add -N n.txt`)
	r := f.repo()
	if got := onDisk(t, r, ""); !slices.Equal(got, []string{"M a.txt +1 -0", "A n.txt +1 -0"}) {
		t.Errorf("%q", got)
	}
	if ids := walkIDs(t, r, History{Tips: []string{f.head()}}); len(ids) != 2 || len(ids[0]) != 64 {
		t.Errorf("%v", ids)
	}
	if list, err := r.IndexChanges(context.Background(), ""); err != nil || len(list) < 3 {
		t.Errorf("%v %v", list, err)
	}
	if _, ok, err := r.Lookup(context.Background(), f.head(), "docs/d.txt"); !ok || err != nil {
		t.Error(ok, err)
	}
}

func TestSubmodulesAreLeftOut(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git init -q -b main sub; git -C sub -c user.name=x -c user.email=y commit -q --allow-empty -m x; git add sub 2>/dev/null; git commit -qm sub; git -C sub -c user.name=x -c user.email=y commit -q --allow-empty -m y; git -C sub config core.fsmonitor "$PROG"`)
	r := f.repo()
	if got := onDisk(t, r, ""); got != nil {
		t.Errorf("%q", got)
	}
	if list, err := r.TreeChanges(context.Background(), strings.TrimSpace(f.sh("git rev-parse HEAD~1")), f.head()); err != nil || list != nil {
		t.Errorf("%v %v", list, err)
	}
	if !r.IsRepository("sub") || r.IsRepository("docs") {
		t.Error("IsRepository")
	}
	if f.fired() {
		t.Error("the submodule's program ran")
	}
}

// Attributes against git check-attr.
func TestAttributesAgainstGit(t *testing.T) {
	f := newFixture(t)
	f.write(".gitattributes", strings.Join([]string{
		"# note", "*.txt text", "*.bin binary", "/top.md text", "docs/*.md eol=lf", "docs/**/deep.go linguist-generated", "**/gen/* linguist-generated=true",
		"*.lock -diff", "a?c text", "[x-z]*.c filter=lfs", "[!a]b.h text", "!neg text", "\"quoted name\" text", "vendor/** linguist-generated", "nodiff.txt -text", "*.pb.go linguist-generated=false", "esc\\*d text",
		"dir/ text", "x", "un.txt !text", "bad -",
	}, "\n"))
	f.write("docs/.gitattributes", "*.txt -text\nsub.txt text\n")
	f.write(".git/info/attributes", "override.txt -text\n")
	f.sh(`mkdir -p "$OUT/x"`)
	a := f.repo().Attributes()
	names := []string{"a.txt", "d/a.txt", "docs/a.txt", "docs/sub.txt", "top.md", "d/top.md", "docs/r.md", "docs/x/r.md", "docs/deep.go", "docs/x/y/deep.go", "gen/a", "x/gen/a", "x/gen/y/a",
		"go.lock", "abc", "a/c", "xa.c", "wa.c", "bb.h", "ab.h", "neg", "vendor/a/b", "vendor", "nodiff.txt", "z.pb.go", "esc*d", "escxd", "override.txt", "un.txt", "dir/x", "b.bin"}
	for _, n := range names {
		out := f.sh("git check-attr text eol crlf filter linguist-generated diff -- '" + n + "' | sed 's/^.*: \\([a-z-]*\\): /\\1=/'")
		v := map[string]string{}
		for line := range strings.Lines(out) {
			k, x, _ := strings.Cut(strings.TrimSpace(line), "=")
			v[k] = x
		}
		on := func(s string) bool { return s != "unset" && s != "unspecified" }
		want := Attr{Text: on(v["text"]) || on(v["eol"]) || on(v["crlf"]), Filter: on(v["filter"]), Generated: on(v["linguist-generated"]) && v["linguist-generated"] != "false" || v["diff"] == "unset"}
		if got := a.Of(n); got != want {
			t.Errorf("%s: %+v, git says %+v", n, got, want)
		}
	}
	for n, want := range map[string]bool{"package-lock.json": true, "a/Cargo.lock": true, "go.sum": true, "go.mod": false, "gen/x": true, "src/x.go": false} {
		if a.Generated(n) != want {
			t.Errorf("%s: %v", n, !want)
		}
	}
}

// A linked .gitattributes is not followed.
func TestLinkedAttributes(t *testing.T) {
	f := newFixture(t)
	f.write("real", "* text\n")
	if err := os.Symlink("real", filepath.Join(f.ws, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	if f.repo().Attributes().Of("x").Text {
		t.Error("it was followed")
	}
}

func FuzzWildMatch(f *testing.F) {
	f.Add("**/a*[b-d]?", "x/y/abc")
	f.Add("[", "[")
	f.Add("\\", "")
	f.Fuzz(func(t *testing.T, p, s string) {
		if len(p) > 100 || len(s) > 100 {
			return
		}
		wildMatch(p, s)
		if !strings.ContainsAny(p, "*?[\\") && wildMatch(p, s) != (p == s) {
			t.Errorf("%q %q", p, s)
		}
	})
}

// A submodule's .git may lead anywhere. Git would look for its HEAD there, and
// hang at this one.
func TestSubmodulesAreNotLookedInto(t *testing.T) {
	for _, place := range []string{`echo "gitdir: $OUT/m" > sub/.git`, `ln -s "$OUT/m" sub/.git`} {
		f := newFixture(t)
		f.sh(twoCommits + `
git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub 2>/dev/null; echo s > sub2; git add sub2; git commit -qm sub
mv sub/.git "$OUT/m"; ` + place + `; rm "$OUT/m/HEAD"; mkfifo "$OUT/m/HEAD"
echo three >> a.txt; echo t >> sub2`)
		r, err := f.git(Options{Timeout: 2 * time.Second}).Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		list, err := r.FileChanges(context.Background())
		if err != nil || len(list) != 2 || list[0].Path != "a.txt" || list[1].Path != "sub2" {
			t.Errorf("%v, %v", list, err)
		}
		r.Close()
	}
}
