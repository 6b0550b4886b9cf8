package tools_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-devserver/tools/internal/tooltest"
)

// searchUnreadable runs on a thread whose file accesses are those of an unprivileged user; the thread ends with it.
func searchUnreadable(t *testing.T) {
	f := tooltest.New(t, "locked/x = needle\nok = needle\nsecret = needle")
	if err := unix.Mkfifo(filepath.Join(f.Root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for at := f.Root; at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"locked", "secret"} {
		if err := os.Chmod(filepath.Join(f.Root, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(f.Root, "locked"), 0o755) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread is not used again
		if os.Geteuid() == 0 {
			unix.SetfsuidRetUid(65534)
			if now, _ := unix.SetfsuidRetUid(-1); now != 65534 {
				t.Error("cannot give up the rights of root")
				return
			}
		}
		r := f.Call("search_code", `{"pattern":"needle"}`)
		if found(r) != "ok:1:needle" || skipped(r) != `{"special":1,"unreadable":2}` {
			t.Errorf("%s %s", found(r), skipped(r))
		}
		if r := f.Call("list_directory", `{"path":"locked"}`); r.Code != "unreadable" {
			t.Errorf("locked: %s", r.Text)
		}
		if r := f.Call("list_directory", `{}`); r.IsError || r.Structured["total"] != 4.0 {
			t.Errorf("root: %s", r.Text)
		}
	}()
	<-done
}
