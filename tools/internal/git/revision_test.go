package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-devserver/sandbox"
)

var badRevisions = []string{
	"", "-", "--all", "-p", "--output=OUT/pwn", "-O/etc/passwd", "--no-index", "--ext-diff", "--textconv",
	"HEAD --output=OUT/pwn", "HEAD:.env", "HEAD:a.txt", ":a.txt", ":/first", "HEAD^{/first}", "HEAD@{1}", "@{-1}", "@{upstream}",
	"^HEAD", "HEAD\n", "HEAD\x00", "a b", "a\tb", "\x1b[0m", "refs/heads/*", "v?", "ma[i]n", "a\\b", "a..b..c", "../../etc/passwd", "...", "..", strings.Repeat("a", 257),
}

func TestRevisionGrammarRefuses(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	f.sh(`git update-ref 'refs/heads/--output=pwn' HEAD; git update-ref 'refs/heads/-p' HEAD`)
	g := f.git(Options{})
	r := f.repo()
	for _, s := range badRevisions {
		s = strings.ReplaceAll(s, "OUT", f.out)
		if _, err := r.Resolve(context.Background(), s); code(err) != "invalid_revision" {
			t.Errorf("%q: %v", s, err)
		}
		if _, err := g.ParseRange(s); code(err) != "invalid_revision" {
			t.Errorf("range %q: %v", s, err)
		}
	}
	if _, err := os.Stat(filepath.Join(f.out, "pwn")); err == nil {
		t.Error("a file was written")
	}
}

func TestResolve(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git tag -a -m note annotated; git branch feature/x HEAD~1; git tag -a -m n blobtag HEAD:a.txt; git update-ref refs/heads/päth HEAD`)
	f.sh(`git update-ref 'refs/heads/0123' HEAD`)
	r := f.repo()
	ctx := context.Background()
	head := f.head()
	first := strings.TrimSpace(f.sh("git rev-parse HEAD~1"))
	blob := strings.TrimSpace(f.sh("git rev-parse HEAD:a.txt"))
	tree := strings.TrimSpace(f.sh("git rev-parse HEAD^{tree}"))
	for rev, want := range map[string]string{
		"HEAD": head, "@": head, "main": head, "HEAD~1": first, "HEAD^": first, "main^0": head, "annotated": head, "v1": head, "feature/x": first,
		"refs/heads/main": head, head: head, head[:12]: head, head[:4]: head, "päth": head, "HEAD^{commit}": head, "annotated^{}": head,
	} {
		if got, err := r.Resolve(ctx, rev); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", rev, got, err, want)
		}
	}
	// What is no commit is not known, however it is spelled.
	for _, rev := range []string{blob, tree, blob[:12], blob[:4], tree[:4], "blobtag", "HEAD^{tree}", "HEAD^!", "HEAD^@", "HEAD^-", "HEAD~9", "HEAD^2", "nope",
		strings.Repeat("0", 40), strings.Repeat("f", 40), "config", "description", "refs", "HEAD^{blob}", "hooks/pre-commit"} {
		if got, err := r.Resolve(ctx, rev); code(err) != "unknown_revision" {
			t.Errorf("%s: %s %v", rev, got, err)
		}
	}
}

func TestParseRange(t *testing.T) {
	f := newFixture(t)
	g := f.git(Options{})
	for s, want := range map[string]Range{
		"main": {To: "main"}, "a..b": {"a", "b", false}, "a...b": {"a", "b", true}, "..b": {"HEAD", "b", false}, "a..": {"a", "HEAD", false},
		"v1.0..v1.1": {"v1.0", "v1.1", false},
	} {
		if got, err := g.ParseRange(s); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", s, got, err, want)
		}
	}
}

func TestSimilarRefs(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git branch feature/login; git branch develop; git update-ref 'refs/heads/mian;evil' HEAD`)
	r := f.repo()
	for rev, want := range map[string]string{"mian": "main", "devlop": "develop", "feature/logni": "feature/login", "loginn": "feature/login"} {
		_, err := r.Resolve(context.Background(), rev)
		var d *sandbox.Denial
		if !errors.As(err, &d) || !strings.Contains(d.Remedy, want) || strings.Contains(d.Remedy, "evil") {
			t.Errorf("%s: %v", rev, err)
		}
	}
	if got := r.similarRefs(context.Background(), "zzzzzzzz"); got != nil {
		t.Errorf("%v", got)
	}
}

func TestHead(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	if h, err := f.repo().Head(ctx); err != nil || h != (Head{Branch: "main"}) {
		t.Errorf("unborn: %+v %v", h, err)
	}
	f.sh(twoCommits)
	if h, err := f.repo().Head(ctx); err != nil || h != (Head{"main", f.head()}) {
		t.Errorf("branch: %+v %v", h, err)
	}
	f.sh(`git checkout -q --detach`)
	if h, err := f.repo().Head(ctx); err != nil || h != (Head{"", f.head()}) {
		t.Errorf("detached: %+v %v", h, err)
	}
	f.sh(`git symbolic-ref HEAD refs/heads/other`)
	if h, err := f.repo().Head(ctx); err != nil || h != (Head{Branch: "other"}) {
		t.Errorf("missing branch: %+v %v", h, err)
	}
	f.sh(`echo 0123456789012345678901234567890123456789 > .git/HEAD`)
	if _, err := f.repo().Head(ctx); code(err) != "git_failed" {
		t.Errorf("missing commit: %v", err)
	}
}

func TestRefs(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git tag -a -m note v2; git tag blob HEAD:a.txt; git update-ref refs/remotes/origin/main HEAD~1; git update-ref refs/notes/x HEAD; git update-ref 'refs/heads/--help' HEAD`)
	refs, more, err := f.repo().Refs(context.Background())
	if err != nil || more {
		t.Fatal(more, err)
	}
	var got []string
	for _, r := range refs {
		got = append(got, r.Name+" "+r.Commit[:7])
	}
	h, p := f.head()[:7], strings.TrimSpace(f.sh("git rev-parse HEAD~1"))[:7]
	want := "--help " + h + ", main " + h + ", origin/main " + p + ", tag: v1 " + h + ", tag: v2 " + h
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}

func TestMergeBases(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git branch side HEAD~1; git checkout -q side; git commit -q --allow-empty -m side; git checkout -q --orphan alone; git commit -q -m alone`)
	r := f.repo()
	ctx := context.Background()
	id := func(s string) string { return strings.TrimSpace(f.sh("git rev-parse " + s)) }
	got, err := r.MergeBases(ctx, id("main"), id("side"))
	if err != nil || len(got) != 1 || got[0] != id("main~1") {
		t.Errorf("%v %v", got, err)
	}
	if got, err := r.MergeBases(ctx, id("main"), id("alone")); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
}

func FuzzRevision(f *testing.F) {
	for _, s := range badRevisions {
		f.Add(s)
	}
	f.Add("HEAD~1")
	f.Fuzz(func(t *testing.T, s string) {
		if !checkRevision(s) {
			return
		}
		if len(s) > maxRevision || s[0] == '-' || s[0] == '^' || strings.ContainsAny(s, ": \n\x00") || strings.Contains(s, "..") || strings.Contains(s, "@{") {
			t.Errorf("%q passed", s)
		}
	})
}

// A revision is looked up in the git directory itself, too, and in the common one,
// where hooks may be links to anywhere. A pipe at the end of the link shows whether
// git opens it.
func TestRevisionThroughALink(t *testing.T) {
	const links = `
mkfifo "$OUT/p"; ln -s "$OUT/p" .git/hooks/p
mkdir "$OUT/h"; mkfifo "$OUT/h/p"; ln -s "$OUT/h" .git/lfs; mkfifo .git/hooks/q
printf 'ref:%9000s\n' hooks/q > .git/far`
	for name, setup := range map[string]string{
		"": twoCommits + links,
		"linked": twoCommits + links + `
git worktree add -q -b other linked; git init -q new; mv .git new/repository; rm -r new/.git; echo 'gitdir: new/repository/worktrees/linked' > .git`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.sh(setup)
			r, err := f.git(Options{Timeout: time.Second}).Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for _, rev := range []string{"hooks/p", "hooks/p~1", "hooks/p^", "lfs/p", "hooks/q", "lfs/missing", "far"} {
				if _, err := r.Resolve(context.Background(), rev); code(err) != "unknown_revision" {
					t.Errorf("%s: %v", rev, err)
				}
			}
			if _, err := r.Resolve(context.Background(), "main~1"); err != nil {
				t.Error(err)
			}
		})
	}
}
