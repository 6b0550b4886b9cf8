package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"mcp-devserver/redos"
	"mcp-devserver/sandbox"
	"mcp-devserver/tools/internal/walk"
)

// crewTree is a workspace of small files, all of which match.
func crewTree(t *testing.T, files int) (*sandbox.Workspace, string) {
	t.Helper()
	root := t.TempDir()
	for i := range files {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i/20))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d", i)), []byte("needle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := sandbox.Open(root, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws, root
}

func crewSearch(t *testing.T, ws *sandbox.Workspace, workers int) *search {
	t.Helper()
	re, err := redos.Compile("needle", redos.Options{Literal: true})
	if err != nil {
		t.Fatal(err)
	}
	call := &Call{Env: &Env{Workspace: ws, Limits: DefaultLimits(), Memory: NewMemory(64<<20, 0)}, Progress: func(int64, int64, Phase) {}}
	call.Limits.SearchWorkers = workers
	return &search{call: call, in: &searchIn{OutputMode: modeCount}, re: re, plain: true, limit: 10_000, folders: map[string]int{}, turn: make(chan struct{}, 1)}
}

// crewRun runs a crew over a workspace; each is called before a file is handed over.
func crewRun(ctx context.Context, t *testing.T, ws *sandbox.Workspace, s *search, each func(n int)) (v any, err error) {
	t.Helper()
	defer func() { v = recover() }()
	crew, done := s.newCrew(ctx)
	defer done()
	n := 0
	return nil, crew.run(func() {
		walk.Walk(ctx, ws, ".", walk.Options{}, func(it *walk.Item) (walk.Action, error) {
			if it.Kind == sandbox.KindDirectory {
				return walk.Continue, nil
			}
			n++
			each(n)
			if !crew.add(it.Path, it.Keep(), it.Met()) {
				return walk.Stop, nil
			}
			return walk.Continue, nil
		})
	})
}

// openFolders counts the descriptors of this process that are folders below root.
func openFolders(t *testing.T, root string) (n int) {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors are counted by /proc/self/fd")
	}
	for _, e := range list {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, root+"/") {
			n++
		}
	}
	return n
}

// Whatever ends a search, it is the caller who hears of it, no worker goes on, and no folder stays open.
func TestCrewEnds(t *testing.T) {
	ws, root := crewTree(t, 600)
	for _, workers := range []int{1, 2, 8} {
		for name, c := range map[string]struct {
			set  func(s *search, cancel func()) func(n int)
			want string
		}{
			"at the last file":    {func(*search, func()) func(int) { return func(int) {} }, "matches 600"},
			"with its page":       {func(s *search, _ func()) func(int) { s.in.OutputMode, s.limit = modeFiles, 10; return func(int) {} }, "matches 11"},
			"when it is canceled": {func(_ *search, cancel func()) func(int) { return func(n int) { cancelAt(n, 300, cancel) } }, "canceled"},
			"when the walk panics": {func(*search, func()) func(int) {
				return func(n int) {
					if n == 300 {
						panic("walk")
					}
				}
			}, "panic walk"},
			"when the first step panics": {func(*search, func()) func(int) { return func(int) { panic("first") } }, "panic first"},
			"when a worker panics":       {func(s *search, _ func()) func(int) { s.re = nil; return func(int) {} }, "panic runtime error: invalid memory address or nil pointer dereference"},
		} {
			t.Run(fmt.Sprintf("%s, %d workers", name, workers), func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				s := crewSearch(t, ws, workers)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				v, err := crewRun(ctx, t, ws, s, c.set(s, cancel))
				got := fmt.Sprintf("matches %d", s.matches)
				switch {
				case v != nil:
					got = fmt.Sprint("panic ", v)
				case errors.Is(err, context.Canceled):
					got = "canceled"
				case err != nil:
					got = err.Error()
				}
				if got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				if n := openFolders(t, root); n > 0 {
					t.Errorf("%d folders are open", n)
				}
			})
		}
	}
}

func cancelAt(n, at int, cancel func()) {
	if n == at {
		cancel()
	}
}
