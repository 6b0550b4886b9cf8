package git

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// outsideRepository makes a repository outside whose words are all "OUTSIDE", and
// links to it inside.
const outsideRepository = `
git init -q -b main "$OUT/r"; cd "$OUT/r"; git config user.name OUTSIDE; git config user.email o@example.com
for i in 1 2 3; do echo "OUTSIDE $i" > a.txt; git add a.txt; GIT_AUTHOR_NAME=OUTSIDE git commit -qm "OUTSIDE $i"; done; git branch OUTSIDE; git repack -qad; git pack-refs --all; cp .git/packed-refs "$OUT/packed"; cp .git/index "$OUT/index"
mkdir "$OUT/heads"; git rev-parse HEAD > "$OUT/heads/main"
cd "$WS"; git repack -qad; mkdir links
ln -s "$OUT/r/.git" links/git; ln -s "$OUT/r/.git/objects" links/objects; ln -s "$OUT/r/.git/objects/pack" links/pack; ln -s "$OUT/heads" links/heads; ln -s "$OUT/index" links/index`

// swapped are names that give way to links out of the workspace.
var swapped = [][2]string{
	{".git", "links/git"}, {".git/objects", "links/objects"}, {".git/objects/pack", "links/pack"}, {".git/refs/heads", "links/heads"}, {".git/index", "links/index"},
}

// racer swaps names until stop is called, and holds each state for a while.
func racer(dir string) (stop func(), rounds *atomic.Int64) {
	var over atomic.Bool
	var attacker sync.WaitGroup
	rounds = new(atomic.Int64)
	attacker.Go(func() {
		swap := func(i int) {
			a, b := filepath.Join(dir, swapped[i][0]), filepath.Join(dir, swapped[i][1])
			_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
			rounds.Add(1)
		}
		for i := 0; !over.Load(); i = (i + 1) % len(swapped) {
			<-time.After(time.Duration(rand.IntN(8000)) * time.Microsecond)
			swap(i)
			<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond)
			swap(i)
		}
	})
	return func() { over.Store(true); attacker.Wait() }, rounds
}

// TestMovedRepository: while names in a repository are swapped for links to one
// outside, git shows what lies there; whenever it has, the marks say that the
// repository has moved.
func TestMovedRepository(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + outsideRepository)
	g := f.git(Options{Timeout: 5 * time.Second})
	stop, rounds := racer(f.ws)
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
	t.Logf("%d times asked during %d swaps: %d answers from outside, all noticed; %d times it held still", asked, rounds.Load(), caught, held)
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
