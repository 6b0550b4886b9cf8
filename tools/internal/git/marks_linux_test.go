package git

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tests/hostile"
)

// askAll asks what logs and diffs ask.
func askAll(r *Repo) string {
	ctx := context.Background()
	var all strings.Builder
	h, _ := r.Head(ctx)
	refs, _, _ := r.Refs(ctx)
	for _, ref := range refs {
		all.WriteString(ref.Name + "\n")
	}
	for _, id := range append(refs, Ref{Commit: h.Commit}) {
		if c, err := r.Commit(ctx, id.Commit); err == nil {
			all.WriteString(c.Message + c.Author.Name)
		}
	}
	if index, err := r.Index(ctx); err == nil {
		for _, e := range index {
			all.WriteString(e.Path + "\n")
			if b, err := r.Blob(ctx, e.ID, 100); err == nil {
				all.Write(b)
			}
		}
	}
	return all.String()
}

// TestMovedRepository: when a name in a repository gives way to a link to one
// outside after it was looked at, git shows what lies there; the marks say that the
// repository has moved, also when the name is back in its place.
func TestMovedRepository(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + hostile.OutsideRepository)
	g := f.git(Options{Timeout: 5 * time.Second})
	const git, objects, pack, heads, index, packed, alternates = 0, 1, 2, 3, 4, 5, 6 // in hostile.Swaps
	leaks := 0
	for _, set := range [][]int{{git}, {index}, {objects, heads}, {pack, heads}, {alternates, heads}, {alternates, packed}} {
		r, err := g.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		swap := func() {
			for _, i := range set {
				if err := hostile.Swap(f.ws, hostile.Swaps[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		swap()
		if strings.Contains(askAll(r), "OUTSIDE") {
			leaks++
		} else if set[0] != git { // which is looked at before each run
			t.Errorf("%v: git tells nothing of what lies outside", set)
		}
		swap()
		if moved, _ := r.Moved(); !moved {
			t.Errorf("%v were links for a while, and nothing has moved", set)
		}
		r.Close()
	}
	t.Logf("%d sets of names show what lies outside", leaks)
}

// TestMovingRepository is the same against a racer: whenever an answer holds what
// lies outside, the marks say so.
func TestMovingRepository(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + hostile.OutsideRepository)
	g := f.git(Options{Timeout: 5 * time.Second})
	stop, rounds := hostile.Race(f.ws)
	defer stop()
	long := time.Second
	if os.Getenv("MCP_TEST_THOROUGH") != "" {
		long = time.Minute
	}
	asked, opened, caught := 0, 0, 0
	for end := time.Now().Add(long); time.Now().Before(end); asked++ {
		r, err := g.Open(context.Background())
		if err != nil {
			continue
		}
		opened++
		leaks := strings.Contains(askAll(r), "OUTSIDE")
		moved, _ := r.Moved()
		r.Close()
		if leaks && !moved {
			t.Error("outside content, and nothing has moved")
		} else if leaks {
			caught++
		}
	}
	t.Logf("%d times asked, %d times opened, during %d swaps: %d answers from outside, all noticed", asked, opened, rounds(), caught)
}

// TestStillRepository: a repository that nobody touches has not moved, however
// young; work in it is noticed.
func TestStillRepository(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git repack -qad; mkdir -p alt; echo ../../alt > .git/objects/info/alternates
git branch other; touch inc; git config include.path ../inc`)
	g := f.git(Options{})
	open := func() *Repo {
		t.Helper()
		for {
			r, err := g.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			moved, wait := r.Moved()
			if !moved {
				return r
			}
			<-time.After(wait)
			r.Close()
		}
	}
	for _, what := range []string{
		`git commit -q --allow-empty -m x`, `echo ../../al2 > .git/objects/info/alternates`, `printf '../../al3\n' | dd of=.git/objects/info/alternates conv=notrunc status=none`,
		`mv .git x; mv x .git`, `mv .git/objects x; mv x .git/objects`, `ln -s x .git/objects/pack/x; rm .git/objects/pack/x`, `git config a.b c`, `touch x`, `git rev-parse HEAD > .git/refs/heads/other`, `echo '[a]' > inc`, `touch .git/config`,
	} {
		r := open()
		f.sh(what)
		if moved, _ := r.Moved(); !moved {
			t.Errorf("not noticed: %s", what)
		}
		r.Close()
	}
}

// TestMovedRoot: git makes absolute names of a common directory and of alternates,
// so the root's own name counts there.
func TestMovedRoot(t *testing.T) {
	for name, setup := range map[string]string{
		"common directory": `git worktree add -q -b other linked; mkdir r; mv .git r/git; echo 'gitdir: r/git/worktrees/linked' > .git`,
		"alternates":       `mkdir -p alt; echo ../../alt > .git/objects/info/alternates`,
	} {
		f := newFixture(t)
		f.sh(twoCommits + setup)
		r := f.repo()
		for {
			moved, wait := r.Moved()
			if !moved {
				break
			}
			<-time.After(wait)
			r.Close()
			r = f.repo()
		}
		f.sh(`mv "$WS" "$WS.away"; mv "$WS.away" "$WS"`)
		if moved, _ := r.Moved(); !moved {
			t.Errorf("%s: not noticed", name)
		}
	}
}
