//go:build linux

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// noChildren fails when a process that this test started has not been reaped.
func noChildren(t *testing.T) {
	t.Helper()
	var st syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &st, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("a child is left: pid %d, %v", pid, err)
	}
}

// hang makes git wait for ever, for a writer and then for what it writes. A
// repository that is like this when it is opened is refused.
const hang = `rm .git/HEAD; mkfifo .git/HEAD`

func TestDeadlineKillsAndReaps(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	r, err := f.git(Options{Timeout: 200 * time.Millisecond}).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f.sh(hang)
	defer r.Close()
	start := time.Now()
	_, err = r.IndexChanges(context.Background(), "")
	if code(err) != "timeout" {
		t.Errorf("%v", err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	// Names of refs are not worth waiting for.
	if refs, more, err := r.Refs(context.Background()); refs != nil || !more || err != nil {
		t.Errorf("refs: %v, %v, %v", refs, more, err)
	}
	noChildren(t)
}

func TestCancelKillsAndReaps(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	r := f.repo()
	f.sh(hang)
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("the caller has gone")
	done := make(chan error)
	go func() {
		_, _, err := r.Refs(ctx)
		done <- err
	}()
	// The pipe has a reader once git waits in it: opening for writing then works.
	w, err := os.OpenFile(f.ws+"/.git/HEAD", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cancel(gone)
	if err := <-done; !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	noChildren(t)
}

func TestNothingStartsOnceTheContextHasEnded(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	r := f.repo()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.start(ctx, cmdRevParse, "HEAD"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestOutputLimit(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `for i in $(seq 1 200); do echo $i > "file with a long name $i"; done; git add .; git commit -qm many; for i in $(seq 1 200); do echo x > "file with a long name $i"; done`)
	r, err := f.git(Options{MaxOutput: 4096}).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.IndexChanges(context.Background(), strings.TrimSpace(f.sh("git rev-parse HEAD~1"))); code(err) != "result_too_large" {
		t.Errorf("%v", err)
	}
	noChildren(t)
	if b, err := r.Blob(context.Background(), strings.TrimSpace(f.sh("git rev-parse HEAD:b.txt")), 1); code(err) != "result_too_large" {
		t.Errorf("%q %v", b, err)
	}
}

func TestEarlyStopLeavesNothing(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `for i in $(seq 1 30); do git commit -q --allow-empty -m $i; done`)
	r := f.repo()
	ctx := context.Background()
	n := 0
	if _, err := r.Walk(ctx, History{Tips: []string{f.head()}}, func(id, _ string) (bool, error) { n++; return n < 3, nil }); err != nil || n != 3 {
		t.Errorf("%d %v", n, err)
	}
	ids := []string{f.head(), f.head(), f.head()}
	stop := errors.New("enough")
	if err := r.Commits(ctx, ids, func(*Commit) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
	// The reader was out of step and has been replaced.
	if c, err := r.Commit(ctx, f.head()); err != nil || c.Message != "30\n" {
		t.Errorf("%v %v", c, err)
	}
	r.Close()
	noChildren(t)
}

// As an unprivileged user git may start no process and no thread, and every
// command still works. Linux does not apply the limit to uid 0, so the test
// runs itself again as another user.
func TestUnprivilegedLimits(t *testing.T) {
	if os.Geteuid() == 0 {
		again(t)
		return
	}
	f := newFixture(t)
	f.sh(twoCommits + `echo x >> a.txt; echo y >> b.txt; git add b.txt`)
	if got := everything(t, f.git(Options{})); strings.Contains(got, "git_failed") || !strings.Contains(got, "+x") {
		t.Errorf("a command failed under the limits:\n%.2000s", got)
	}
	f.sh(`for i in $(seq 1 1200); do echo $i > f$i; done; git add .; git commit -qm many; touch -d 2001-01-01 f*; echo x >> f2`)
	r := f.repo()
	ctx := context.Background()
	if list, err := r.FileChanges(ctx); err != nil || len(list) < 1000 {
		t.Errorf("%d %v", len(list), err)
	}
	if _, err := r.IndexChanges(ctx, f.head()); err != nil {
		t.Error(err)
	}
	if _, err := r.Commit(ctx, f.head()); err != nil {
		t.Fatal(err)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", r.objects.p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Max processes": "0", "Max data size": "1073741824", "Max cpu time": "11", "Max core file size": "0"} {
		found := false
		for line := range strings.Lines(string(limits)) {
			if rest, ok := strings.CutPrefix(line, name); ok {
				found = true
				if f := strings.Fields(rest); f[0] != want || f[1] != want {
					t.Errorf("%s: %s, want %s", name, strings.TrimSpace(rest), want)
				}
			}
		}
		if !found {
			t.Errorf("%s is not listed", name)
		}
	}
	// Without our settings the same command dies where it wants a thread.
	cmd := exec.Command("sh", "-c", "if (ulimit -u 0) 2>/dev/null; then ulimit -u 0; else ulimit -p 0; fi; exec git diff-files --raw")
	cmd.Dir, cmd.Env = f.ws, f.env
	if err := cmd.Run(); err == nil {
		t.Error("the limit does not bite: plain git could start threads")
	}
}

// again runs this test as uid 65534.
func again(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "unprivileged")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	bin := dir + "/test"
	if err := os.WriteFile(bin, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as uid 65534: %v\n%s", err, out)
	}
}
