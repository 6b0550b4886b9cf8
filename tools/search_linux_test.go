package tools_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-devserver/tools/internal/tooltest"
)

// asNobody runs the test again in a process without the rights of root, and reports whether it did.
func asNobody(t *testing.T) bool {
	if os.Geteuid() != 0 {
		return false
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(program, b, 0o755)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "tmp"), 0o777)
	}
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "tmp"), 0o777)
	}
	for at := dir; err == nil && at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
		err = os.Chmod(at, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("without the rights of root: %v\n%s", err, out)
	}
	return true
}

// A folder and a file without rights, and a pipe that would block whoever opens it.
func searchUnreadable(t *testing.T) {
	if asNobody(t) {
		return
	}
	f := tooltest.New(t, "locked/x = needle\nok = needle\nsecret = needle")
	if err := unix.Mkfifo(filepath.Join(f.Root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"locked", "secret"} {
		if err := os.Chmod(filepath.Join(f.Root, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(f.Root, "locked"), 0o755) })
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
}
