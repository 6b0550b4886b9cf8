//go:build amd64 || arm64

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// numbers are the system calls of a processor, as golang.org/x/sys has them.
func numbers(t *testing.T, arch string) map[string]uint32 {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	must(t, err)
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "zsysnum_linux_"+arch+".go"))
	must(t, err)
	all := map[string]uint32{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(SYS_\w+)\s+= (\d+)$`).FindAllStringSubmatch(string(b), -1) {
		n, err := strconv.ParseUint(m[2], 10, 32)
		must(t, err)
		all[m[1]] = uint32(n)
	}
	return all
}

// named are the system calls that a file of this package names.
func named(t *testing.T, file string) (names []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	for _, m := range regexp.MustCompile(`unix\.(SYS_\w+)`).FindAllStringSubmatch(string(b), -1) {
		names = append(names, m[1])
	}
	return names
}

// only64 are what arm64 has and amd64 has not, each looked at: where numbers for
// single processors would begin, and there are none.
var only64 = []string{"SYS_ARCH_SPECIFIC_SYSCALL"}

// TestTables holds the tables of both processors, whichever this is, against the
// numbers of golang.org/x/sys, and runs the filter of each.
func TestTables(t *testing.T) {
	amd, arm := numbers(t, "amd64"), numbers(t, "arm64")
	both := named(t, "confine_calls_linux.go")
	here := map[string][]string{"amd64": named(t, "confine_calls_linux_amd64.go"), "arm64": named(t, "confine_calls_linux_arm64.go")}
	if len(both) < 100 || len(amd) < 300 || len(arm) < 300 {
		t.Fatalf("%d names, %d and %d numbers", len(both), len(amd), len(arm))
	}
	for _, n := range both {
		if _, ok := amd[n]; !ok {
			t.Errorf("amd64 has no %s", n)
		}
		if _, ok := arm[n]; !ok {
			t.Errorf("arm64 has no %s", n)
		}
	}
	for _, n := range here["amd64"] {
		if _, ok := arm[n]; ok {
			t.Errorf("%s is a call of arm64, too", n)
		}
	}
	for n := range arm {
		if _, ok := amd[n]; !ok && !slices.Contains(only64, n) && !slices.Contains(here["arm64"], n) {
			t.Errorf("nobody has looked at %s, which arm64 alone has", n)
		}
	}
	for _, p := range []struct {
		name    string
		arch    uint32
		other   uint32
		foreign uint32
		numbers map[string]uint32
	}{
		{"amd64", unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_I386, 0x40000000, amd},
		{"arm64", unix.AUDIT_ARCH_AARCH64, unix.AUDIT_ARCH_ARM, 0, arm},
	} {
		names := append(slices.Clone(both), here[p.name]...)
		g := group{why: "all"}
		for _, n := range names {
			g.calls = append(g.calls, p.numbers[n])
		}
		f := processor{p.arch, p.foreign, p.numbers["SYS_CLONE"], p.numbers["SYS_CLONE3"], p.numbers["SYS_IOCTL"], p.numbers["SYS_FCNTL"], p.numbers["SYS_SETSOCKOPT"], []group{g}}.filter()
		for _, n := range names {
			if got := f.answer(t, p.arch, p.numbers[n]); got != notPermitted {
				t.Errorf("%s: %s: %#x", p.name, n, got)
			}
			if p.numbers[n] > lastKnown {
				t.Errorf("%s: %s lies above what was looked at", p.name, n)
			}
		}
		for _, n := range []string{"SYS_READ", "SYS_PREAD64", "SYS_OPENAT", "SYS_OPENAT2", "SYS_GETDENTS64", "SYS_STATX", "SYS_READLINKAT", "SYS_EXECVE", "SYS_WAIT4", "SYS_WAITID", "SYS_PIPE2", "SYS_DUP3",
			"SYS_ACCEPT4", "SYS_EPOLL_PWAIT", "SYS_FUTEX", "SYS_MMAP", "SYS_MADVISE", "SYS_GETRANDOM", "SYS_PRLIMIT64", "SYS_KILL", "SYS_TGKILL", "SYS_FCNTL", "SYS_CLOSE_RANGE", "SYS_RT_SIGACTION", "SYS_EXIT_GROUP"} {
			number, ok := p.numbers[n]
			if got := f.answer(t, p.arch, number); !ok || got != allow {
				t.Errorf("%s: %s: %#x, %v", p.name, n, got, ok)
			}
		}
		if got := f.answer(t, p.other, p.numbers["SYS_READ"]); got != kill {
			t.Errorf("%s: a call of another table: %#x", p.name, got)
		}
		if got := f.answer(t, p.arch, p.numbers["SYS_CLONE"], unix.CLONE_NEWUSER); got != notPermitted {
			t.Errorf("%s: clone into a namespace: %#x", p.name, got)
		}
		if got := f.answer(t, p.arch, p.numbers["SYS_CLONE3"]); got != noSuchCall {
			t.Errorf("%s: clone3: %#x", p.name, got)
		}
		if got := f.answer(t, p.arch, p.numbers["SYS_IOCTL"], 0, unix.TIOCSTI); got != notPermitted {
			t.Errorf("%s: ioctl: %#x", p.name, got)
		}
		if got := f.answer(t, p.arch, p.numbers["SYS_FCNTL"], 0, unix.F_SETLEASE); got != notPermitted {
			t.Errorf("%s: fcntl: %#x", p.name, got)
		}
		if got := f.answer(t, p.arch, p.numbers["SYS_SETSOCKOPT"], 0, unix.IPPROTO_IP); got != notPermitted {
			t.Errorf("%s: setsockopt: %#x", p.name, got)
		}
	}
}
