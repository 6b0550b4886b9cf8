package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// swaps exchange two names of the workspace, again and again; each turns
// something inside into a way out or into a withheld file, and back. The
// folder of git and what lies in it are not among them: git opens those by
// itself, and only the kernel's wall stands against that.
var swaps = []struct {
	trick string
	tree  []string
	a, b  string
}{
	{"folder for a link out", []string{"d1/s = inside\n", "x1 => ../OUT"}, "d1", "x1"},
	{"folder for an absolute link out", []string{"d2/s = inside\n", "x2 => OUT"}, "d2", "x2"},
	{"file for a link out", []string{"d3/s = inside\n", "d3/x => ../../OUT/s"}, "d3/s", "d3/x"},
	{"parent for a link out", []string{"p4/sub/s = inside\n", "x4 => ../OUT", "d4 => p4/sub"}, "p4", "x4"},
	{"folder for a link to a withheld one", []string{"d5/s = inside\n", ".ssh/s = " + outsideText, "x5 => .ssh"}, "d5", "x5"},
	{"file for a link to a withheld one", []string{"d6/s = inside\n", ".env = " + outsideText, "d6/x => ../.env"}, "d6/s", "d6/x"},
	{"file for a pipe", []string{"d7/s = inside\n", "d7/x |"}, "d7/s", "d7/x"},
	{"link inside for a link out", []string{"real8/s = inside\n", "d8 => real8", "x8 => ../OUT"}, "d8", "x8"},
	{"file for a folder with the secret's link", []string{"d9/s = inside\n", "d9/x/s => ../../../OUT/s"}, "d9/s", "d9/x"},
	{"tracked file for a link out", []string{"d10/s = inside\n", "d10/x => ../../OUT/big"}, "d10/s", "d10/x"},
	{"source for a link out", []string{"d11/s.go = package inside\n", "d11/x => ../../OUT/s.go"}, "d11/s.go", "d11/x"},
	{"ignore file for a link out", []string{".gitignore = x*\n", "x12 => ../OUT/ignore"}, ".gitignore", "x12"},
	{"manifest for a link out", []string{"go.mod = module inside\n", "x13 => ../OUT/go.mod"}, "go.mod", "x13"},
}

// raceTime is how long the attackers run.
func raceTime() time.Duration {
	if thorough() {
		return 60 * time.Second
	}
	return 3 * time.Second
}

// TestRace lets attackers change every corner of the tree as fast as they can
// while all tools are at work: not one byte, name, size or time of the outside.
func TestRace(t *testing.T) {
	tree := []string{"OUT/s.go = package x // " + outsideText + "\nfunc OutsideFunc() {}\n", "OUT/ignore = " + outsideText, "OUT/go.mod = module " + outsideText + "\n", "file.txt = inside\n"}
	for _, x := range swaps {
		tree = append(tree, x.tree...)
	}
	w := plantTree(t, tree...)
	must(t, os.RemoveAll(filepath.Join(w.ws, ".git")))
	r := &repository{t: t, root: w.ws, author: "A. Dev", clock: epoch}
	r.git("init", "-q", "-b", "main", ".")
	r.git("add", "--", "file.txt", "d3/s", "d6/s", "d7/s", "d9/s", "d10/s", "d11/s.go", "go.mod")
	r.git("add", "--", "d1/s", "d2/s", "p4/sub/s", "d5/s", "real8/s")
	r.git("commit", "-q", "-m", "inside")
	for _, name := range []string{"d1/s", "d3/s", "d10/s"} { // so that there is something to compare
		must(t, os.WriteFile(filepath.Join(w.ws, name), []byte("inside, changed\n"), 0o644))
	}

	s := serve(t, w.ws)
	var over atomic.Bool
	var attackers sync.WaitGroup
	var rounds atomic.Int64
	swap := func(a, b string) {
		_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		rounds.Add(1)
	}
	for part := range 2 {
		attackers.Go(func() {
			for i := 0; !over.Load(); i++ {
				for j, x := range swaps {
					if j%2 == part {
						swap(filepath.Join(w.ws, x.a), filepath.Join(w.ws, x.b))
					}
				}
				if part == 0 && i%64 == 0 {
					// The root itself gives way to the outside, and comes back.
					swap(w.ws, w.out)
					swap(w.ws, w.out)
				}
			}
		})
	}
	var questions []struct {
		tool string
		a    args
	}
	ask := func(tool string, a args) {
		questions = append(questions, struct {
			tool string
			a    args
		}{tool, a})
	}
	for _, dir := range []string{"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10"} {
		ask("read_file", args{"path": dir + "/s"})
		ask("list_directory", args{"path": dir, "details": true, "sort": "modified"})
	}
	for _, path := range []string{"d1", "d3/s", "d10"} {
		ask("search_code", args{"path": path, "pattern": "inside|SECRET", "context_lines": 2})
		ask("git_diff", args{"path": path})
	}
	ask("read_file", args{"path": "d11/s.go", "tail": 3})
	ask("list_directory", args{"depth": 6, "details": true, "include_ignored": true})
	ask("list_directory", args{"glob": "**", "depth": 6, "details": true, "sort": "size"})
	ask("search_code", args{"pattern": "inside|SECRET", "include_ignored": true})
	ask("search_code", args{"pattern": "SECRET", "output_mode": "count"})
	ask("search_code", args{"pattern": "^O[A-Z]+", "multiline": true, "include_ignored": true})
	ask("find_symbol", args{"name": "Outside", "match": "prefix"})
	ask("find_symbol", args{"name": "OutsideFunc", "path": "d11"})
	ask("project_overview", args{"depth": 3})
	ask("git_diff", args{})
	ask("git_diff", args{"base": "HEAD"})
	ask("git_log", args{"detail": "files"})

	var calls, answers, refusals, sawInside, leaks atomic.Int64
	end := time.Now().Add(raceTime())
	var workers sync.WaitGroup
	for n := range 6 {
		workers.Go(func() {
			for i := n * 7; time.Now().Before(end); i++ {
				q := questions[i%len(questions)]
				x := s.call(q.tool, q.a)
				calls.Add(1)
				if x.isError {
					refusals.Add(1)
				} else {
					answers.Add(1)
				}
				if strings.Contains(x.text, "inside") {
					sawInside.Add(1)
				}
				text := without(x.decoded(), q.a.strings()...)
				for _, bad := range []string{outsideText, outsideName, fmt.Sprint(outsideSize), "1999-01-02", "OutsideFunc", w.base} {
					if strings.Contains(text, bad) && leaks.Add(1) < 4 {
						t.Errorf("%s %s shows %q:\n%s", q.tool, quote(q.a), bad, x.raw)
					}
				}
			}
		})
	}
	workers.Wait()
	over.Store(true)
	attackers.Wait()
	t.Logf("%d calls (%d answers, %d refusals, %d with what lies inside) against %d swaps", calls.Load(), answers.Load(), refusals.Load(), sawInside.Load(), rounds.Load())
	if answers.Load() == 0 || refusals.Load() == 0 || sawInside.Load() == 0 || rounds.Load() < 100 {
		t.Error("the two sides did not meet")
	}
	if n := s.line.Line().Stuck(); n > 0 {
		t.Errorf("%d workers are stuck", n)
	}
}

// TestRaceWithoutTheGuard: the same attacker against a check that resolves every
// link, compares, and then opens what was resolved.
func TestRaceWithoutTheGuard(t *testing.T) {
	w := plantTree(t, "d/s = inside\n", "x => ../OUT")
	var over atomic.Bool
	var attacker sync.WaitGroup
	attacker.Go(func() {
		for !over.Load() {
			_ = unix.Renameat2(unix.AT_FDCWD, w.ws+"/d", unix.AT_FDCWD, w.ws+"/x", unix.RENAME_EXCHANGE)
		}
	})
	defer attacker.Wait()
	defer over.Store(true)
	for n := 1; n <= 2_000_000; n++ {
		real, err := filepath.EvalSymlinks(w.ws + "/d/s")
		if err != nil || !strings.HasPrefix(real, w.ws+"/") {
			continue
		}
		if b, _ := os.ReadFile(real); string(b) == outsideText {
			t.Logf("leaked in round %d", n)
			return
		}
	}
	t.Error("no leak: the attacker is too weak to prove anything")
}
