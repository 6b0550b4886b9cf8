package tools

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
)

// TestStill: an answer out of a repository that moved meanwhile is thrown away,
// with its texts, and asked for again; one that never holds still is refused.
func TestStill(t *testing.T) {
	root := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ws, err := sandbox.Open(root, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Workspace: ws, Limits: DefaultLimits(), Memory: NewMemory(1<<20, time.Second), Git: GitOptions{Enabled: true, Binary: program, Timeout: 10 * time.Second}}
	move := func() {
		from, to := filepath.Join(root, ".git/objects"), filepath.Join(root, ".git/x")
		if err := errors.Join(os.Rename(from, to), os.Rename(to, from)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(ctx context.Context, moves int) (got, asked int, texts int, err error) {
		c := &Call{Env: env, Texts: new(answer.Texts)}
		c.Texts.Argument("before")
		got, err = still(ctx, c, func() (int, error) {
			asked++
			_, r, err := c.openRepo(ctx)
			if err != nil {
				return 0, err
			}
			defer r.Close()
			c.Texts.Name("meanwhile")
			if moves != 0 {
				moves--
				move()
			}
			return asked, nil
		})
		c.Texts.Each(func(answer.Ref, string, answer.Kind, answer.Ref, int) { texts++ })
		return got, asked, texts, err
	}
	// Once it has been still for a while, one question is enough.
	if _, _, _, err := run(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got, asked, texts, err := run(t.Context(), 0); got != 1 || asked != 1 || texts != 2 || err != nil {
		t.Errorf("still: %d after %d, %d texts, %v", got, asked, texts, err)
	}
	if got, asked, texts, err := run(t.Context(), 1); got < 2 || got != asked || texts != 2 || err != nil {
		t.Errorf("moved once: %d after %d, %d texts, %v", got, asked, texts, err)
	}
	var d *sandbox.Denial
	if got, asked, texts, err := run(t.Context(), -1); got != 0 || asked != maxStill || texts != 1 || !errors.As(err, &d) || d.Code != sandbox.GitFailed {
		t.Errorf("never still: %d after %d, %d texts, %v", got, asked, texts, err)
	}
	c := &Call{Env: env, Texts: new(answer.Texts)}
	tries := 0
	_, err = still(t.Context(), c, func() (int, error) {
		tries++
		_, r, err := c.openRepo(t.Context())
		if err != nil {
			return 0, err
		}
		defer r.Close()
		move()
		return 0, ws.Refuse(sandbox.Timeout, sandbox.Args{"s": int64(1)})
	})
	if !errors.As(err, &d) || d.Code != sandbox.Timeout || tries != 1 {
		t.Errorf("out of time: %v after %d", err, tries)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller has gone")
	c = &Call{Env: env, Texts: new(answer.Texts)}
	_, err = still(ctx, c, func() (int, error) {
		_, r, err := c.openRepo(ctx)
		if err != nil {
			return 0, err
		}
		defer r.Close()
		move()
		cancel(gone)
		return 1, nil
	})
	if !errors.Is(err, gone) {
		t.Errorf("cancelled: %v", err)
	}
}
