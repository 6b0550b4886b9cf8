// Package hostile makes repositories that attack whoever reads them, by script.
//
// # How to start
//
// [New] makes an empty repository in a temporary folder, [Repository.Sh] runs
// the scripts that [Tricks] and [Places] hold, and [Repository.Fired] says
// whether the planted program ran.
//
// # What it promises
//
// Each of the tricks runs the planted program under plain git; the tests of the
// package that runs git show it.
//
// # Limits
//
// The scripts are written for a POSIX shell. For tests only.
package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repository is a workspace with a place beside it that is outside.
type Repository struct {
	T    testing.TB
	WS   string   // the root
	Out  string   // outside
	mark string   // a file that exists once a planted program has run
	prog string   // the planted program
	Env  []string // of the scripts
}

// New makes an empty workspace that is a git repository on branch main.
func New(t testing.TB) *Repository {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &Repository{T: t, WS: filepath.Join(top, "ws"), Out: filepath.Join(top, "out"),
		mark: filepath.Join(top, "MARK"), prog: filepath.Join(top, "m.sh")}
	f.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A. Dev", "GIT_AUTHOR_EMAIL=dev@example.com",
		"GIT_COMMITTER_NAME=C. Mitter", "GIT_COMMITTER_EMAIL=c@example.com",
		"WS=" + f.WS, "OUT=" + f.Out, "MARK=" + f.mark, "PROG=" + f.prog}
	script := "#!/bin/sh\necho ran >> " + f.mark + "\ncat \"$1\" 2>/dev/null\nexit 0\n"
	if err := os.WriteFile(f.prog, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{f.WS, f.Out} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.Sh("git init -q -b main .; git config user.name 'A. Dev'; git config user.email dev@example.com; git config gc.auto 0; git config maintenance.auto false")
	return f
}

// Sh runs a POSIX shell script in the workspace and returns its output.
func (f *Repository) Sh(script string) string {
	f.T.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = f.WS, f.Env
	b, err := cmd.CombinedOutput()
	if err != nil {
		f.T.Fatalf("%v\n%s\n%s", err, script, b)
	}
	return string(b)
}

// Try runs a script whose failure is of no interest, and returns what it says.
func (f *Repository) Try(script string) string {
	f.T.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = f.WS, f.Env
	b, _ := cmd.Output()
	return string(b)
}

// Works reports whether the trick does what it is meant to, to plain git.
func (f *Repository) Works(tr Trick) bool {
	f.T.Helper()
	f.Fired()
	said := f.Try(tr.Fire)
	if tr.Shows != "" {
		return strings.Contains(said, tr.Shows)
	}
	return f.Fired()
}

// Fired reports whether the planted program has run, and forgets it.
func (f *Repository) Fired() bool {
	f.T.Helper()
	_, err := os.Stat(f.mark)
	_ = os.Remove(f.mark)
	return err == nil
}

// Expand returns a variable of the scripts' environment.
func (f *Repository) Expand(name string) string {
	for _, e := range f.Env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
