package wall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mcp-devserver/sandbox"
)

// Programs of a few instructions, for what no compiler at hand would make.

// executable wraps machine code into the smallest program that the kernel
// loads.
func executable(code ...byte) []byte {
	const base, head = 0x400000, 64 + 56
	b := make([]byte, head, head+len(code))
	copy(b, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(b[16:], 2)  // executable
	le.PutUint16(b[18:], 62) // x86-64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], base+head)
	le.PutUint64(b[32:], 64) // the one segment's header
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], 1)
	p := b[64:]
	le.PutUint32(p, 1)     // load
	le.PutUint32(p[4:], 5) // read, execute
	le.PutUint64(p[16:], base)
	le.PutUint64(p[24:], base)
	le.PutUint64(p[32:], uint64(head+len(code)))
	le.PutUint64(p[40:], uint64(head+len(code)))
	le.PutUint64(p[48:], 4096)
	return append(b, code...)
}

var (
	// exit(42) by the i386 table.
	callI386 = executable(0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80)
	// exit(42) by the x32 table; where there is none, exit(7).
	callX32 = executable(0xb8, 60, 0, 0, 0x40, 0xbf, 42, 0, 0, 0, 0x0f, 0x05,
		0xb8, 60, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0x0f, 0x05)
	// Writes a byte to descriptor 7, then exits with 100 and the number of
	// open descriptors from 3 to 63.
	spy = executable(
		0xb8, 1, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0x48, 0x8d, 0x35, 0, 0, 0, 0, 0xba, 1, 0, 0, 0, 0x0f, 0x05, // write(7, here, 1)
		0x31, 0xdb, 0x41, 0xbc, 3, 0, 0, 0, // count = 0, fd = 3
		0xb8, 72, 0, 0, 0, 0x44, 0x89, 0xe7, 0xbe, 1, 0, 0, 0, 0x0f, 0x05, // fcntl(fd, F_GETFD)
		0x85, 0xc0, 0x78, 2, 0xff, 0xc3, // if it is open, count++
		0x41, 0xff, 0xc4, 0x41, 0x83, 0xfc, 64, 0x7c, 0xe2, // fd++, to 63
		0x8d, 0x7b, 100, 0xb8, 60, 0, 0, 0, 0x0f, 0x05) // exit(100 + count)
)

func place(t *testing.T, u user, code []byte, name string) string {
	t.Helper()
	to := filepath.Join(u.folder(t), name)
	if err := os.WriteFile(to, code, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestWallForeignCalls: a call by another table of calls, which the filter
// could not judge, ends the process that makes it.
func TestWallForeignCalls(t *testing.T) {
	needsWall(t)
	for _, u := range users() {
		for name, code := range map[string][]byte{"i386": callI386, "x32": callX32} {
			exe := place(t, u, code, name)
			for _, mode := range []string{"", "confined"} {
				out, err := again(t, u, "foreign", u.folder(t), exe, mode).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got := strings.TrimSpace(string(out))
				switch {
				case mode != "" && got != "signal "+syscall.SIGSYS.String():
					t.Errorf("%s, %s: %s", u.name, name, got)
				case mode == "" && got != "exit 42":
					t.Logf("%s: this kernel has no such table (%s)", name, got)
				}
			}
		}
	}
}

// foreignRole runs a program and says how it ended.
func foreignRole() {
	ws, err := sandbox.Open(os.Args[1], sandbox.Options{})
	if err != nil {
		fatal(err)
	}
	if os.Args[3] != "" {
		if _, err := ws.Confine(sandbox.Confinement{Programs: []string{os.Args[2]}, Whole: true}); err != nil {
			fatal(err)
		}
	}
	cmd := exec.Command(os.Args[2])
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		fatal(err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		fmt.Println("signal", status.Signal())
	} else {
		fmt.Println("exit", status.ExitStatus())
	}
}

// TestWallInherited: descriptors that the server inherits, 7 on a file outside
// and 8 on a folder outside, reach no git, not even the one that is asked for
// its version before the wall stands, and are gone once it serves. A git has one
// descriptor above the usual three: the root.
func TestWallInherited(t *testing.T) {
	for _, u := range users() {
		for _, mode := range []string{"off", "auto"} {
			outside := u.folder(t)
			file, err := os.OpenFile(filepath.Join(outside, "file"), os.O_RDWR|os.O_CREATE, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			folder, err := os.Open(outside)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			defer folder.Close()
			extra := []*os.File{folder, folder, folder, folder, file, folder} // from 3 on
			git := place(t, u, spy, "git")
			reached := func() bool {
				st, err := file.Stat()
				if err != nil {
					t.Fatal(err)
				}
				return st.Size() > 0
			}

			control := u.of(exec.Command(git))
			control.ExtraFiles = extra
			if err := control.Run(); err == nil || control.ProcessState.ExitCode() < 106 || !reached() {
				t.Fatalf("the spy sees nothing where there is something: %v", err)
			}
			if err := file.Truncate(0); err != nil {
				t.Fatal(err)
			}

			ws := u.folder(t)
			for _, d := range []string{".git/objects", ".git/refs"} {
				if err := os.MkdirAll(filepath.Join(ws, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(ws, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := u.of(exec.Command(program(t), "serve"))
			cmd.Env, cmd.Dir, cmd.ExtraFiles = settings(ws, "MCP_SANDBOX__OS_SANDBOX="+mode, "MCP_GIT__BINARY="+git), "/", extra
			p := overPipe(t, cmd)
			if a := p.ask(request(6)); !strings.Contains(a, `"error":"git_failed"`) || !strings.Contains(a, `"exit_code":101`) {
				t.Errorf("%s, %s: %s", u.name, mode, a)
			}
			if reached() {
				t.Errorf("%s, %s: a child wrote to the inherited file", u.name, mode)
			}
			held, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", cmd.Process.Pid))
			if err != nil || len(held) < 3 {
				t.Fatalf("%d descriptors, %v", len(held), err)
			}
			for _, name := range held {
				if to, err := os.Readlink(name); err == nil && strings.HasPrefix(to, outside) {
					t.Errorf("%s, %s: the server still holds %s", u.name, mode, filepath.Base(name))
				}
			}
			if code, said := p.end(); code != 0 {
				t.Errorf("exit code %d: %s", code, said)
			}
		}
	}
}

func init() { roles["foreign"] = foreignRole }
