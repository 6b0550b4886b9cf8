package git

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// generated is a history with branches, merges, renames, deletions and dates.
const history = `
n=0
c() { n=$((n+1)); GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="$((1767225600 + n*86400)) +0000" git commit -q "$@"; }
mkdir -p src/sub docs
seq 1 40 > src/a.txt; seq 50 90 > src/sub/b.txt; echo doc > docs/d.md
git add .; c -m one
echo x >> src/a.txt; c -am two
git mv src/a.txt src/moved.txt; c -m 'rename a'
echo y >> src/moved.txt; c -am four
git checkout -q -b side HEAD~2; echo z >> docs/d.md; c -am side1; seq 1 20 > docs/e.md; git add .; c -m side2
git checkout -q main; echo w >> src/sub/b.txt; c -am six
n=$((n+1)); GIT_COMMITTER_DATE="$((1767225600 + n*86400)) +0000" git merge -q --no-ff -m 'merge side' side
git mv src/moved.txt final.txt; echo more >> final.txt; c -am 'rename again'
git rm -q docs/e.md; c -m 'remove e'
ln -s final.txt link; chmod +x docs/d.md; git add .; c -m 'mode and link'
`

func walkIDs(t *testing.T, r *Repo, h History) []string {
	t.Helper()
	var ids []string
	if _, err := r.Walk(context.Background(), h, func(id, _ string) (bool, error) { ids = append(ids, id); return true, nil }); err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestWalkAgainstGitLog(t *testing.T) {
	f := newFixture(t)
	f.sh(history)
	r := f.repo()
	head := f.head()
	side := strings.TrimSpace(f.sh("git rev-parse side"))
	day := func(n int) time.Time { return time.Unix(1767225600+int64(n)*86400, 0) }
	for _, c := range []struct {
		name, args string
		h          History
	}{
		{"all", "HEAD", History{Tips: []string{head}}},
		{"limited", "-n 3 --skip 2 HEAD", History{Tips: []string{head}, Max: 3, Skip: 2}},
		{"folder", "HEAD -- src", History{Tips: []string{head}, Path: "src"}},
		{"file", "HEAD -- final.txt", History{Tips: []string{head}, Path: "final.txt"}},
		{"file, followed", "--follow HEAD -- final.txt", History{Tips: []string{head}, Path: "final.txt", Follow: true}},
		{"file in the middle, followed", "--follow HEAD~4 -- src/moved.txt", History{Path: "src/moved.txt", Follow: true}},
		{"range", "side..HEAD", History{Tips: []string{head}, Not: []string{side}}},
		{"since", "--since=2026-01-05T00:00:00Z HEAD", History{Tips: []string{head}, Since: day(4)}},
		{"until", "--until=2026-01-05T00:00:00Z HEAD", History{Tips: []string{head}, Until: day(4)}},
		{"nothing", "HEAD -- nowhere", History{Tips: []string{head}, Path: "nowhere"}},
		{"a path that looks like a pattern", "HEAD -- ':(literal)*.txt'", History{Tips: []string{head}, Path: "*.txt"}},
		{"a path that looks like magic", "HEAD -- ':(literal):(top)docs'", History{Tips: []string{head}, Path: ":(top)docs"}},
	} {
		if c.h.Tips == nil {
			c.h.Tips = []string{strings.TrimSpace(f.sh("git rev-parse HEAD~4"))}
		}
		want := strings.Fields(f.sh("git log --format=%H " + c.args))
		if got := walkIDs(t, r, c.h); !slices.Equal(got, want) {
			t.Errorf("%s: %v\nwant %v", c.name, got, want)
		}
	}
}

func TestFollowNamesTheFileAtEachCommit(t *testing.T) {
	f := newFixture(t)
	f.sh(history)
	var names []string
	_, err := f.repo().Walk(context.Background(), History{Tips: []string{f.head()}, Path: "final.txt", Follow: true},
		func(_, path string) (bool, error) { names = append(names, path); return true, nil })
	if want := "final.txt src/moved.txt src/moved.txt src/a.txt src/a.txt"; err != nil || strings.Join(names, " ") != want {
		t.Errorf("%v %v", names, err)
	}
}

func TestFollowStopsAtADeniedName(t *testing.T) {
	f := newFixture(t)
	f.sh(`seq 1 40 > .env; git add -f .env; git commit -qm one; echo x >> .env; git commit -qam two; git mv .env open.txt; git commit -qm three`)
	n := 0
	w, err := f.repo().Walk(context.Background(), History{Tips: []string{f.head()}, Path: "open.txt", Follow: true}, func(string, string) (bool, error) { n++; return true, nil })
	if err != nil || !w.Denied || n != 1 {
		t.Errorf("%+v %d %v", w, n, err)
	}
}

func TestBoundsOfTime(t *testing.T) {
	f := newFixture(t)
	f.sh(history)
	r := f.repo()
	early := time.Date(1752, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := walkIDs(t, r, History{Tips: []string{f.head()}, Until: early}); got != nil {
		t.Errorf("%v", got)
	}
	if got := walkIDs(t, r, History{Tips: []string{f.head()}, Since: early}); len(got) != 11 {
		t.Errorf("%v", got)
	}
}

func TestWalkRefusesWhatIsNoID(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	r := f.repo()
	ctx := context.Background()
	visit := func(string, string) (bool, error) { return true, nil }
	for _, h := range []History{{Tips: []string{"HEAD"}}, {Tips: []string{f.head()}, Not: []string{"--all"}}} {
		if _, err := r.Walk(ctx, h, visit); code(err) != "git_failed" {
			t.Errorf("%+v: %v", h, err)
		}
	}
	if _, _, err := r.Blame(ctx, "HEAD", "a.txt", 1, 1); code(err) != "git_failed" {
		t.Error(err)
	}
	if _, err := r.TreeChanges(ctx, "main", "HEAD"); code(err) != "git_failed" {
		t.Error(err)
	}
	if _, err := r.IndexChanges(ctx, "HEAD"); code(err) != "git_failed" {
		t.Error(err)
	}
	if _, err := r.MergeBases(ctx, "HEAD", "main"); code(err) != "git_failed" {
		t.Error(err)
	}
}

// Every commit of the history against git's own list of names and counts.
func TestCommitChangesAgainstGit(t *testing.T) {
	f := newFixture(t)
	f.sh(history)
	r := f.repo()
	ctx := context.Background()
	ids := walkIDs(t, r, History{Tips: []string{f.head()}})
	var pairs [][2]string
	for _, id := range ids {
		c, err := r.Commit(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		pair := [2]string{"", id}
		if len(c.Parents) > 0 {
			pair[0] = c.Parents[0]
		}
		pairs = append(pairs, pair)
	}
	lists := make([][]Change, len(pairs))
	if err := r.CommitChanges(ctx, pairs, func(i int, list []Change) { lists[i] = list }); err != nil {
		t.Fatal(err)
	}
	for i, p := range pairs {
		base := p[0]
		if base == "" {
			base = emptyTreeSHA1
		}
		var got []string
		for _, c := range lists[i] {
			d, err := r.Compare(ctx, c, CompareOptions{})
			if err != nil {
				t.Fatal(err)
			}
			name := c.Path
			if c.Status == Renamed {
				name = c.OldPath + "\t" + c.Path
			}
			got = append(got, fmt.Sprintf("%c\t%s\t%d\t%d", c.Status, name, d.Patch.Added, d.Patch.Deleted))
		}
		names := strings.Split(strings.TrimSpace(f.sh("git diff -M --name-status "+base+" "+p[1])), "\n")
		stats := strings.Split(strings.TrimSpace(f.sh("git diff -M --numstat "+base+" "+p[1])), "\n")
		var want []string
		for k, n := range names {
			st, name, _ := strings.Cut(n, "\t")
			if st == "" {
				continue
			}
			counts := strings.Split(stats[k], "\t")
			want = append(want, fmt.Sprintf("%c\t%s\t%s\t%s", st[0], name, counts[0], counts[1]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", p[1], got, want)
		}
	}
}

func TestBlameAgainstGit(t *testing.T) {
	f := newFixture(t)
	f.sh(history)
	r := f.repo()
	list, _, err := r.Blame(context.Background(), f.head(), "final.txt", 1, 43)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range list {
		for i := b.Start; i <= b.End; i++ {
			got = append(got, fmt.Sprintf("%d %s", i, b.Commit))
		}
	}
	var want []string
	for i, line := range strings.Split(strings.TrimSpace(f.sh("git blame -l --root HEAD -- final.txt | cut -c1-40")), "\n") {
		want = append(want, fmt.Sprintf("%d %s", i+1, line))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// Who wrote lines is not told beyond a rename from a name that is withheld.
func TestBlameOfAWithheldName(t *testing.T) {
	for _, name := range []string{"id_rsa", `id_rsa "\é`, "keys/x.pem", ".ssh/notes"} {
		f := newFixture(t)
		if dir := filepath.Dir(name); dir != "." {
			f.sh("mkdir " + dir)
		}
		f.write(name, "1\n2\n3\n4\n")
		f.sh(`git add -f .; git commit -qm first; git mv -- '` + name + `' plain.txt; echo 5 >> plain.txt; git commit -qam second`)
		if got := f.sh("git blame -s -l --root HEAD -- plain.txt"); !strings.HasPrefix(got, strings.TrimSpace(f.sh("git rev-parse HEAD~1"))) {
			t.Fatalf("plain git does not follow the rename: %s", got)
		}
		list, denied, err := f.repo().Blame(context.Background(), f.head(), "plain.txt", 1, 5)
		if want := []Blamed{{1, 5, f.head()}}; err != nil || !denied || !slices.Equal(list, want) {
			t.Errorf("%s: %v, %v, %v", name, list, denied, err)
		}
	}
}

// Neither replace refs nor grafts rewrite what is shown, and none of the files
// that configuration names outside is read.
func TestHistoryIsNotRewritten(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git commit -q --allow-empty -m third`)
	ids := walkIDs(t, f.repo(), History{Tips: []string{f.head()}})
	f.sh(`git replace HEAD~1 $(git commit-tree -m forged HEAD^{tree}); mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts
		git rev-parse HEAD > "$OUT/revs"; git config blame.ignoreRevsFile "$OUT/revs"
		printf 'Forged <dev@example.com>\n' > "$OUT/mailmap"; git config mailmap.file "$OUT/mailmap"; printf 'Forged <dev@example.com>\n' > .mailmap
		git config i18n.logOutputEncoding UTF-7; git config log.mailmap true; git config log.showRoot false; git config diff.noprefix true`)
	if plain := f.sh("git log --format='%an %s' 2>/dev/null"); !strings.Contains(plain, "third") || len(strings.Split(strings.TrimSpace(plain), "\n")) == 3 {
		t.Fatalf("the attack does not work on plain git: %s", plain)
	}
	r := f.repo()
	if got := walkIDs(t, r, History{Tips: []string{f.head()}}); !slices.Equal(got, ids) {
		t.Errorf("%v\nwant %v", got, ids)
	}
	for _, id := range ids {
		c, err := r.Commit(context.Background(), id)
		if err != nil || c.Author.Name != "A. Dev" || c.Subject() == "forged" {
			t.Errorf("%+v %v", c, err)
		}
	}
	b, _, err := r.Blame(context.Background(), f.head(), "a.txt", 1, 2)
	if err != nil || len(b) != 2 {
		t.Errorf("%v %v", b, err)
	}
}
