package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
	"mcp-devserver/tests/hostile"
)

func TestPlaces(t *testing.T) {
	for _, p := range hostile.Places {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sh(twoCommits)
			f.sh(p.Setup)
			r, err := f.git(Options{}).Open(context.Background())
			if r != nil {
				defer r.Close()
				_, err = r.Head(context.Background())
			}
			if code(err) != p.Code {
				t.Fatalf("%q, want %q", code(err), p.Code)
			}
			if err == nil {
				if _, err := r.Resolve(context.Background(), "HEAD"); err != nil {
					t.Errorf("not readable: %v", err)
				}
				return
			}
			var d *sandbox.Denial
			if !errors.As(err, &d) {
				t.Fatal(err)
			}
			if strings.Contains(d.Error(), "/out") || strings.Contains(d.Error(), "/ws/.") {
				t.Errorf("the denial names a place: %s", d)
			}
			if p.Kind != "" && (len(d.Details) != 1 || d.Details[0].Value != p.Kind) {
				t.Errorf("details %v, want kind %q", d.Details, p.Kind)
			}
		})
	}
}

// What the operator allows is served: a linked worktree reads the history of
// the repository that it belongs to.
func TestAllowExternal(t *testing.T) {
	for _, p := range hostile.Places {
		if p.Code != "git_outside_workspace" {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sh(twoCommits)
			f.sh(p.Setup)
			r, err := f.git(Options{AllowExternal: true}).Open(context.Background())
			if code(err) == "git_outside_workspace" {
				t.Errorf("still refused: %v", err)
			}
			if r != nil {
				r.Close()
			}
		})
	}
	f := newFixture(t)
	f.sh(`rm -rf .git; cd "$OUT"; git init -q -b main m; cd m; git commit -q --allow-empty -m outside; rmdir "$WS"; git worktree add -q "$WS"`)
	r, err := f.git(Options{AllowExternal: true}).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	id, err := r.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Commit(context.Background(), id)
	if err != nil || c.Subject() != "outside" {
		t.Errorf("%v %v", c, err)
	}
}

func TestRepositoryInAFolderAboveIsNotSeen(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `mkdir sub`)
	ws, err := sandbox.Open(filepath.Join(f.ws, "sub"), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	bin, _ := Find()
	g, err := New(ws, Options{Binary: bin})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Open(context.Background()); code(err) != "not_a_repository" {
		t.Errorf("%v", err)
	}
}

// A repository that is replaced while a call runs is not read any further.
func TestSwappedRepositoryIsNotRead(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	r := f.repo()
	f.sh(`mv .git old; git init -q -b main .; git commit -q --allow-empty -m other`)
	if _, err := r.Resolve(context.Background(), "HEAD"); code(err) != "not_a_repository" {
		t.Errorf("%v", err)
	}
}

func TestProgramIsChecked(t *testing.T) {
	f := newFixture(t)
	bin, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(bin) {
		t.Fatal(bin)
	}
	script := filepath.Join(f.out, "git")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec git \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(f.ws, "tools", "git")
	if err := os.MkdirAll(filepath.Dir(inside), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inside, data, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(f.out, "link")
	if err := os.Symlink(inside, link); err != nil {
		t.Fatal(err)
	}
	ws, err := sandbox.Open(f.ws, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for _, c := range []struct {
		name, bin string
		want      error
	}{
		{"relative", "git", errRelative},
		{"missing", filepath.Join(f.out, "none"), ErrNoProgram},
		{"a folder", f.out, errNotProgram},
		{"a wrapper script", script, errNotProgram},
		{"inside the workspace", inside, ErrInside},
		{"inside, through a link", link, ErrInside},
		{"the real one", bin, nil},
	} {
		g, err := New(ws, Options{Binary: c.bin})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if g != nil {
			_ = g.Close()
		}
	}
}

// TestUnquote: what git's own reader makes of places between quotes.
func TestUnquote(t *testing.T) {
	for s, want := range map[string]string{
		`"a"`: "a", `"a b"`: "a b", `""`: "", `"\141\057"`: "a/", `"\377"`: "\xff", "\"\xff\"": "\xff", `"\t\n\\\""`: "\t\n\\\"", `"\a\b\f\r\v"`: "\a\b\f\r\v",
	} {
		if got, ok := unquote(s); !ok || got != want {
			t.Errorf("%s: %q, %v", s, got, ok)
		}
	}
	for _, s := range []string{`"`, `"a`, `"a\`, `"a\"`, `"a"b`, `"a" `, `"\x61"`, `"\u0061"`, `"\U00000061"`, `"\'"`, `"\400"`, `"\18"`, `"\181"`, `"\1"`, `"\000"`, "\"\x00\"", `"\/"`} {
		if got, ok := unquote(s); ok {
			t.Errorf("%s: %q", s, got)
		}
	}
}
