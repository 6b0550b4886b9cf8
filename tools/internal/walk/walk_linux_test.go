package walk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody runs f on a thread whose file accesses are those of an unprivileged user. The thread ends with it.
func asNobody(t *testing.T, f func()) {
	t.Helper()
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
		f()
	}()
	<-done
}

func TestUnreadableAndSpecialEntriesStopNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"locked/x": "", "ok": "", "z/y": ""})
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for at := dir; at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "locked"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "locked"), 0o755) })
	ws := open(t, dir)
	asNobody(t, func() {
		for _, breadth := range []bool{false, true} {
			got, stats := visits(t, ws, ".", Options{Breadth: breadth})
			if len(got) != 5 || stats.Unreadable != 1 || stats.Special != 1 {
				t.Errorf("visited %q, %+v", got, stats)
			}
		}
	})
}
