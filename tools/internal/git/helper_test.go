package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
)

// fixture is a workspace with a place beside it that is outside.
type fixture struct {
	t    testing.TB
	ws   string // the root
	out  string // outside
	mark string // a file that exists once a planted program has run
	prog string // the planted program
	env  []string
}

// newFixture makes an empty workspace that is a git repository on branch main.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, ws: filepath.Join(top, "ws"), out: filepath.Join(top, "out"),
		mark: filepath.Join(top, "MARK"), prog: filepath.Join(top, "m.sh")}
	f.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A. Dev", "GIT_AUTHOR_EMAIL=dev@example.com",
		"GIT_COMMITTER_NAME=C. Mitter", "GIT_COMMITTER_EMAIL=c@example.com",
		"WS=" + f.ws, "OUT=" + f.out, "MARK=" + f.mark, "PROG=" + f.prog}
	script := "#!/bin/sh\necho ran >> " + f.mark + "\ncat \"$1\" 2>/dev/null\nexit 0\n"
	if err := os.WriteFile(f.prog, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{f.ws, f.out} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.sh("git init -q -b main .; git config user.name 'A. Dev'; git config user.email dev@example.com; git config gc.auto 0; git config maintenance.auto false")
	return f
}

// sh runs a POSIX shell script in the workspace and returns its output.
func (f *fixture) sh(script string) string {
	f.t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = f.ws, f.env
	b, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%v\n%s\n%s", err, script, b)
	}
	return string(b)
}

// try runs a script whose failure is of no interest.
func (f *fixture) try(script string) {
	f.t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = f.ws, f.env
	_ = cmd.Run()
}

// fired reports whether the planted program has run, and forgets it.
func (f *fixture) fired() bool {
	f.t.Helper()
	_, err := os.Stat(f.mark)
	_ = os.Remove(f.mark)
	return err == nil
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
