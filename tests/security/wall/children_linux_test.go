// Package wall attacks the server from behind its first wall: with plain system
// calls, as code could that had taken it over.
package wall

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"mcp-devserver/sandbox"
)

// The wall cannot be taken down again, so whatever raises it is a child of the
// test: this test binary, run again in a role.

const roleVariable = "WALL_ROLE"

// roles are what this binary does instead of testing.
var roles = map[string]func(){
	"nothing": func() {},
	"wait":    waitRole,
	"attack":  attackRole,
	"demand":  demandRole,
	"loader":  loaderRole,
	"unknown": unknownRole,
	"program": programRole,
}

// TestMain plays the role that the environment names. An unknown one must not
// fall through to the tests: each would start this binary again.
func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(roleVariable); ok {
		role := roles[name]
		if role == nil {
			fatal("no such role:", name)
		}
		role()
		os.Exit(0)
	}
	code := m.Run()
	if building.path != "" {
		os.RemoveAll(filepath.Dir(building.path))
	}
	os.Exit(code)
}

func fatal(v ...any) {
	fmt.Fprintln(os.Stderr, v...)
	os.Exit(3)
}

// answering makes the kernel answer the system calls given to this process, and to
// what it executes, with an error instead of making them: as if they did not exist,
// or, with 0, as if it had made them.
func answering(with syscall.Errno, calls ...uint32) {
	load := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: k}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	p := []unix.SockFilter{load(0)}
	for _, n := range calls {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: n, Jf: 1}, ret(unix.SECCOMP_RET_ERRNO|uint32(with)))
	}
	p = append(p, ret(unix.SECCOMP_RET_ALLOW))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		fatal(err)
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		fatal("answering:", errno)
	}
}

// kernels are what a child may find: this kernel, or one that lacks a
// mechanism.
var kernels = map[string][]uint32{
	"whole":       nil,
	"no Landlock": {unix.SYS_LANDLOCK_CREATE_RULESET},
	"no filter":   {unix.SYS_SECCOMP},
	"neither":     {unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_SECCOMP},
}

// hollow are kernels that accept a mechanism and do nothing about it.
var hollow = map[string][]uint32{
	"hollow Landlock": {unix.SYS_LANDLOCK_RESTRICT_SELF},
	"hollow filter":   {unix.SYS_SECCOMP},
}

// become makes this process find the kernel of that name.
func become(kernel string) {
	if lacks := kernels[kernel]; len(lacks) > 0 {
		answering(unix.ENOSYS, lacks...)
	}
	if lies := hollow[kernel]; len(lies) > 0 {
		answering(0, lies...)
	}
}

// programRole executes a program on another kernel.
func programRole() {
	become(os.Getenv("WALL_KERNEL"))
	fatal(unix.Exec(os.Args[1], os.Args[1:], os.Environ()))
}

// needsWall ends a test on a kernel without the wall; the tests of what then
// happens run everywhere.
func needsWall(t *testing.T) {
	t.Helper()
	if w := sandbox.KernelWall(); !w.Whole() {
		t.Skipf("this kernel offers only: %s", w)
	}
}

// user is who a child runs as.
type user struct {
	name string
	uid  uint32
}

// users are an ordinary user and, where the test may choose, root. A test run
// by root that cannot become another user fails when it starts the child.
func users() []user {
	if os.Getuid() == 0 {
		return []user{{"root", 0}, {"uid 65534", 65534}}
	}
	return []user{{fmt.Sprintf("uid %d", os.Getuid()), uint32(os.Getuid())}}
}

func (u user) of(cmd *exec.Cmd) *exec.Cmd {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.uid, Gid: u.uid}}
	}
	return cmd
}

// folder makes a folder of the user's own that every user may pass, and gives
// its name without links.
func (u user) folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wall")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	u.owns(t, dir)
	return dir
}

func (u user) owns(t testing.TB, names ...string) {
	t.Helper()
	for _, n := range names {
		if os.Getuid() == 0 {
			if err := os.Lchown(n, int(u.uid), int(u.uid)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// again runs this binary in a role. It is copied first: the folder in which it
// was built may be closed to other users.
func again(t testing.TB, u user, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(u.folder(t), "again")
	copyFile(t, self, to, 0o755)
	cmd := u.of(exec.Command(to, args...))
	cmd.Env = []string{roleVariable + "=" + role, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = "/"
	return cmd
}

func copyFile(t testing.TB, from, to string, mode os.FileMode) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, mode); err != nil {
		t.Fatal(err)
	}
}
