//go:build amd64 || arm64

package sandbox

import (
	"debug/elf"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// What the wall does to a process, tests/security/wall shows. Here the list of
// grants and the filter are looked at as data.

// answer runs the filter over one call, as the kernel would.
func (p program) answer(t *testing.T, arch, number uint32, args ...uint64) refusal {
	t.Helper()
	data := map[uint32]uint32{dataNumber: number, dataArch: arch}
	for i, a := range args {
		data[dataArgs+8*uint32(i)], data[dataArgs+8*uint32(i)+4] = uint32(a), uint32(a>>32)
	}
	var acc uint32
	for pc := 0; pc < len(p); {
		in := p[pc]
		pc++
		jump := func(yes bool) {
			if yes {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = data[in.K]
		case jumpIfEqual:
			jump(acc == in.K)
		case jumpIfAbove:
			jump(acc > in.K)
		case jumpIfAtLeast:
			jump(acc >= in.K)
		case jumpIfAny:
			jump(acc&in.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return refusal(in.K)
		default:
			t.Fatalf("instruction %#x", in.Code)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestFilter(t *testing.T) {
	p := filter()
	for _, g := range append(slices.Clone(refused), refusedHere...) {
		if g.why == "" || len(g.calls) == 0 {
			t.Errorf("%+v", g)
		}
		for _, n := range g.calls {
			if got := p.answer(t, nativeArch, n); got != notPermitted {
				t.Errorf("%s: call %d: %#x", g.why, n, got)
			}
			if n > lastKnown {
				t.Errorf("call %d lies above what was looked at", n)
			}
		}
	}
	for _, c := range []struct {
		name   string
		arch   uint32
		number uint32
		args   []uint64
		want   refusal
	}{
		{"read", nativeArch, unix.SYS_READ, nil, allow},
		{"openat2", nativeArch, unix.SYS_OPENAT2, nil, allow},
		{"accept4", nativeArch, unix.SYS_ACCEPT4, nil, allow},
		{"epoll_pwait", nativeArch, unix.SYS_EPOLL_PWAIT, nil, allow},
		{"futex", nativeArch, unix.SYS_FUTEX, nil, allow},
		{"getrandom", nativeArch, unix.SYS_GETRANDOM, nil, allow},
		{"execve", nativeArch, unix.SYS_EXECVE, nil, allow},
		{"pidfd_open", nativeArch, unix.SYS_PIDFD_OPEN, nil, allow},
		{"pidfd_send_signal", nativeArch, unix.SYS_PIDFD_SEND_SIGNAL, nil, allow},
		{"prlimit64", nativeArch, unix.SYS_PRLIMIT64, nil, allow},
		{"kill", nativeArch, unix.SYS_KILL, nil, allow},
		{"the last call known", nativeArch, lastKnown, nil, allow},
		{"the first call unknown", nativeArch, lastKnown + 1, nil, noSuchCall},
		{"clone of a thread", nativeArch, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"clone of a process with a descriptor", nativeArch, unix.SYS_CLONE, []uint64{unix.CLONE_VFORK | unix.CLONE_VM | unix.CLONE_PIDFD | uint64(unix.SIGCHLD)}, allow},
		{"clone into a user namespace", nativeArch, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, notPermitted},
		{"clone into a network namespace", nativeArch, unix.SYS_CLONE, []uint64{unix.CLONE_NEWNET}, notPermitted},
		{"clone3", nativeArch, unix.SYS_CLONE3, nil, noSuchCall},
		{"is it a terminal", nativeArch, unix.SYS_IOCTL, []uint64{1, unix.TCGETS}, allow},
		{"type into a terminal", nativeArch, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, notPermitted},
		{"type into a terminal, upper half set", nativeArch, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI | 1<<32}, notPermitted},
		{"query a terminal, upper half set", nativeArch, unix.SYS_IOCTL, []uint64{0, unix.TCGETS | 1<<32}, allow},
		{"lease of a file", nativeArch, unix.SYS_FCNTL, []uint64{0, unix.F_SETLEASE}, notPermitted},
		{"lease of a file, upper half set", nativeArch, unix.SYS_FCNTL, []uint64{0, unix.F_SETLEASE | 1<<32}, notPermitted},
		{"keep a connection alive", nativeArch, unix.SYS_SETSOCKOPT, []uint64{0, unix.SOL_SOCKET, unix.SO_KEEPALIVE}, allow},
		{"do not wait with a segment", nativeArch, unix.SYS_SETSOCKOPT, []uint64{0, unix.IPPROTO_TCP, unix.TCP_NODELAY}, allow},
		{"route of a connection", nativeArch, unix.SYS_SETSOCKOPT, []uint64{0, unix.IPPROTO_IP, unix.IP_OPTIONS}, notPermitted},
		{"header of a connection", nativeArch, unix.SYS_SETSOCKOPT, []uint64{0, unix.IPPROTO_IPV6, unix.IPV6_RTHDR}, notPermitted},
		{"flags of a descriptor", nativeArch, unix.SYS_FCNTL, []uint64{0, unix.F_SETFD}, allow},
		{"flags of a file", nativeArch, unix.SYS_IOCTL, []uint64{0, unix.FS_IOC_SETFLAGS}, notPermitted},
		{"no call", nativeArch, ^uint32(0), nil, map[bool]refusal{true: kill, false: noSuchCall}[foreignNumbers > 0]},
		{"a call of another architecture", unix.AUDIT_ARCH_I386, unix.SYS_READ, nil, kill},
		{"a call of yet another", unix.AUDIT_ARCH_ARM, unix.SYS_READ, nil, kill},
		{"a call of the other byte order", nativeArch &^ 0x40000000, unix.SYS_READ, nil, kill},
	} {
		if got := p.answer(t, c.arch, c.number, c.args...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	if foreignNumbers > 0 {
		for _, n := range []uint32{0, unix.SYS_SOCKET, 512, 547} { // x32 has numbers of its own from 512
			if got := p.answer(t, nativeArch, foreignNumbers|n); got != kill {
				t.Errorf("x32 call %d: %#x", n, got)
			}
		}
	}
}

func TestFilterLoads(t *testing.T) {
	if p := filter(); len(p) > 4096 { // the kernel's limit
		t.Errorf("%d instructions", len(p))
	}
}

func TestGrants(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	self, err := filepath.EvalSymlinks("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	grants, err := w.grants(Confinement{Programs: []string{self}, Folders: []string{other}})
	if err != nil {
		t.Fatal(err)
	}
	loader, _, err := loading(self)
	if err != nil {
		t.Fatal(err)
	}
	const run, write = ll.AccessFSExecute, ll.AccessFSWriteFile
	for _, g := range grants {
		executes, writes := g.rights&run != 0, g.rights&^(rightsRead|run) != 0
		if executes != (g.path == self || g.path == loader) {
			t.Errorf("%s: %v", g.path, g.rights)
		}
		if writes != (g.path == os.DevNull) || writes && g.rights != rightsNull {
			t.Errorf("%s: %v", g.path, g.rights)
		}
		if lists := g.rights&ll.AccessFSReadDir != 0; lists != (g.path == w.ProcDir() || g.path == other) {
			t.Errorf("%s: %v", g.path, g.rights)
		}
		if g.path == "/" || g.path == "/usr" || g.path == "/etc" {
			t.Errorf("%s is granted", g.path)
		}
		if strings.HasPrefix(dir, g.path) && g.path != w.ProcDir() {
			t.Errorf("%s, above the workspace, is granted", g.path)
		}
	}
	bare, err := w.grants(Confinement{})
	if err != nil || len(bare) != 2 {
		t.Errorf("without programs: %v, %v", bare, err)
	}
	if _, err := w.grants(Confinement{Programs: []string{filepath.Join(dir, "none")}}); err == nil {
		t.Error("a missing program is granted")
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.grants(Confinement{Programs: []string{script}}); err == nil {
		t.Error("a script is granted")
	}
}

// TestBelow: a folder that a program names for its libraries is not granted
// when the workspace lies in it.
func TestBelow(t *testing.T) {
	dir := t.TempDir()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for dir, want := range map[string]bool{"/": true, real: true, filepath.Dir(real): true, real + "x": false, filepath.Join(real, "lib"): false, "/usr/lib": false} {
		if got := w.below(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

func TestLoading(t *testing.T) {
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip("this system has no /bin/sh")
	}
	loader, _, err := loading(sh)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(sh)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dynamic := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if dynamic != (loader != "") || loader != "" && !filepath.IsAbs(loader) {
		t.Errorf("loader %q of %s", loader, sh)
	}
}

// TestTaking: what is taken away follows the version of the interface, from the
// first to versions that do not exist yet.
func TestTaking(t *testing.T) {
	const known = 11
	grants := landlock.AccessFSSet(rightsRead | rightsRun | rightsNull)
	files := map[int]int{1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16, 8: 16, 9: 17, 10: 17, 11: 17} // how many rights there are
	sockets := map[int]int{1: 0, 2: 0, 3: 0, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2, 10: 4, 11: 4}
	for abi := 1; abi <= known+3; abi++ {
		c, as := taking(abi), min(abi, known)
		if got, want := c.HandledAccessFS, landlock.AccessFSSet(1<<files[as]-1); got != want {
			t.Errorf("version %d: files: %v, want %v", abi, got, want)
		}
		if got, want := c.HandledAccessNet, landlock.AccessNetSet(1<<sockets[as]-1); got != want {
			t.Errorf("version %d: sockets: %v, want %v", abi, got, want)
		}
		if c.Scoped != 0 {
			t.Errorf("version %d: scopes: %v", abi, c.Scoped)
		}
		if grants&^c.HandledAccessFS != 0 {
			t.Errorf("version %d: %v are given back without having been taken", abi, grants&^c.HandledAccessFS)
		}
		if w := (Wall{Landlock: abi, Filter: true}); w.Whole() != (c.HandledAccessFS&ll.AccessFSTruncate != 0) {
			t.Errorf("version %d: whole: %v, but truncating is taken: %v", abi, w.Whole(), !w.Whole())
		}
	}
	if len(configs) != known+1 {
		t.Errorf("%d versions", len(configs)-1)
	}
}

func TestKernelWall(t *testing.T) {
	w := KernelWall()
	t.Logf("%s/%s: %s", runtime.GOOS, runtime.GOARCH, w)
	if !w.Filter {
		t.Skip("this kernel, or what surrounds the test, offers no filter")
	}
	if w.None() {
		t.Error("a filter is something")
	}
}
