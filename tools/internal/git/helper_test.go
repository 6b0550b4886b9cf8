package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
	"mcp-devserver/tests/hostile"
)

// fixture is a workspace with a place beside it that is outside.
type fixture struct {
	*hostile.Repository
	t       testing.TB
	ws, out string
	env     []string
}

// newFixture makes an empty workspace that is a git repository on branch main.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	r := hostile.New(t)
	return &fixture{Repository: r, t: t, ws: r.WS, out: r.Out, env: r.Env}
}

// sh runs a POSIX shell script in the workspace and returns its output.
func (f *fixture) sh(script string) string {
	f.t.Helper()
	f.Env = f.env
	return f.Sh(script)
}

// fired reports whether the planted program has run, and forgets it.
func (f *fixture) fired() bool {
	f.t.Helper()
	return f.Fired()
}

func (f *fixture) write(name, content string) {
	f.t.Helper()
	p := filepath.Join(f.ws, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// git opens the workspace and prepares git for it.
func (f *fixture) git(o Options) *Git {
	f.t.Helper()
	ws, err := sandbox.Open(f.ws, sandbox.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = ws.Close() })
	if o.Binary == "" {
		if o.Binary, err = Find(); err != nil {
			f.t.Fatal(err)
		}
	}
	g, err := New(ws, o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = g.Close() })
	return g
}

// repo opens the repository with default options.
func (f *fixture) repo() *Repo {
	f.t.Helper()
	r, err := f.git(Options{}).Open(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(r.Close)
	return r
}

func (f *fixture) head() string { return strings.TrimSpace(f.sh("git rev-parse HEAD")) }

// code is the code of a denial, "" for success, or the error's text.
func code(err error) string {
	if err == nil {
		return ""
	}
	if d, ok := err.(*sandbox.Denial); ok {
		return d.Code.String()
	}
	return "unexpected: " + err.Error()
}
