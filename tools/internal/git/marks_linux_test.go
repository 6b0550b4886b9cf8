package git

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tests/hostile"
)

// TestMovedRepository: while names in a repository are swapped for links to one
// outside, git shows what lies there; whenever it has, the marks say that the
// repository has moved.
func TestMovedRepository(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + hostile.OutsideRepository)
	g := f.git(Options{Timeout: 5 * time.Second})
	stop, rounds := hostile.Race(f.ws)
	defer stop()
	ctx := context.Background()
	// ask asks what a log and a diff of the index would.
	ask := func(r *Repo) string {
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
				if b, err := r.Blob(ctx, e.ID, 100); err == nil {
					all.Write(b)
				}
			}
		}
		return all.String()
	}
	enough, patience := 2, 30*time.Second
	if os.Getenv("MCP_TEST_THOROUGH") != "" {
		enough, patience = 1<<30, time.Minute
	}
	asked, held, caught := 0, 0, 0
	for end := time.Now().Add(patience); time.Now().Before(end) && caught < enough; asked++ {
		r, err := g.Open(ctx)
		if err != nil {
			continue
		}
		leaks := strings.Contains(ask(r), "OUTSIDE")
		moved, _ := r.Moved()
		r.Close()
		switch {
		case leaks && !moved:
			t.Error("outside content, and nothing has moved")
		case leaks:
			caught++
		case !moved:
			held++
		}
	}
	t.Logf("%d times asked during %d swaps: %d answers from outside, all noticed; %d times it held still", asked, rounds(), caught, held)
	if caught == 0 {
		t.Error("no swap was ever seen: this shows nothing")
	}
}

// TestStillRepository: a repository that nobody touches has not moved, however
// young; work in it is noticed.
func TestStillRepository(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `git repack -qad; mkdir -p alt; echo ../../alt > .git/objects/info/alternates`)
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
		`mv .git x; mv x .git`, `mv .git/objects x; mv x .git/objects`, `ln -s x .git/objects/pack/x; rm .git/objects/pack/x`, `git config a.b c`, `touch x`, `touch .git/config`,
	} {
		r := open()
		f.sh(what)
		if moved, _ := r.Moved(); !moved {
			t.Errorf("not noticed: %s", what)
		}
		r.Close()
	}
}
