package wall

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-devserver/sandbox"
)

// outcome is what came of one attempt on each kind of thread; 0 is success, -1
// an error that is no system error.
type outcome struct {
	Name   string
	Errnos map[string]int // thread → errno
}

type attackReport struct {
	Wall     sandbox.Wall
	Problem  string
	Took     time.Duration // to raise the wall
	Attempts []outcome
	Allowed  []outcome
}

func errnoOf(err error) int {
	var e syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e)
	}
	return -1
}

// attackRole raises the wall and then tries everything, on three threads: the
// one that raised it, one that was there before, and one that came after.
func attackRole() {
	base, mode := os.Args[1], os.Args[2]
	if mode != "no wall" {
		if lacks := kernels[mode]; len(lacks) > 0 {
			answering(unix.ENOSYS, lacks...)
		}
	}
	var report attackReport
	stages := prepareStages(base)
	early := thread()
	ws, err := sandbox.Open(filepath.Join(base, "ws"), sandbox.Options{})
	if err != nil {
		fatal(err)
	}
	type runner struct {
		name string
		on   func(func())
	}
	threads := []runner{{"first", func(f func()) { f() }}}
	if mode != "no wall" {
		self, err := os.Executable()
		if err != nil {
			fatal(err)
		}
		runtime.LockOSThread()
		began := time.Now()
		report.Wall, err = ws.Confine(sandbox.Confinement{Programs: []string{self, base + "/allowed"}}) // so that its loader is allowed
		report.Took = time.Since(began)
		if err != nil {
			report.Problem = err.Error()
		}
		threads = append(threads, runner{"early", early}, runner{"late", thread()})
	}
	try := func(list []attempt) (out []outcome) {
		for _, a := range list {
			o := outcome{a.name, map[string]int{}}
			for _, r := range threads {
				r.on(func() { o.Errnos[r.name] = errnoOf(a.do(stages[a.name])) })
			}
			out = append(out, o)
		}
		return out
	}
	report.Attempts = try(attempts)
	report.Allowed = try(allowed)
	if err := json.NewEncoder(os.Stdout).Encode(&report); err != nil {
		fatal(err)
	}
}

// thread starts a thread that lives for as long as the process and runs what it
// is given.
func thread() func(func()) {
	jobs, done := make(chan func()), make(chan bool)
	go func() {
		runtime.LockOSThread()
		for f := range jobs {
			f()
			done <- true
		}
	}()
	return func(f func()) { jobs <- f; <-done }
}

// keep holds what would be closed if nobody held it.
var keep []any

func prepareStages(base string) map[string]*stage {
	must := func(err error) {
		if err != nil {
			fatal(err)
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(err)
	unixSocket, err := net.Listen("unix", base+"/out/socket")
	must(err)
	keep = append(keep, unixSocket)
	victim := exec.Command("/proc/self/exe", os.Args[1:]...)
	victim.Env = []string{roleVariable + "=wait"}
	leash, err := victim.StdinPipe() // it ends with this process
	must(err)
	keep = append(keep, leash)
	must(victim.Start())
	program, err := os.ReadFile("/bin/true")
	must(err)
	must(os.WriteFile(base+"/allowed", program, 0o755))
	all := map[string]*stage{}
	for i, a := range append(append([]attempt{}, attempts...), allowed...) {
		name := fmt.Sprintf("%02d", i)
		s := &stage{ws: filepath.Join(base, "ws", name), out: filepath.Join(base, "out", name), tcp: l.Addr().String(), victim: victim.Process.Pid, held: map[string]*os.File{}}
		must(os.Mkdir(s.ws, 0o755))
		must(os.Mkdir(s.out, 0o755))
		must(os.WriteFile(s.out+"/secret", []byte("secret"), 0o644))
		must(os.WriteFile(s.ws+"/file", []byte("content"), 0o644))
		must(os.WriteFile(s.ws+"/script", []byte("#!/bin/sh\n"), 0o755))
		must(os.WriteFile(s.ws+"/program", program, 0o755))
		must(os.Symlink("../socket", s.out+"/socket"))
		abstract, err := net.Listen("unix", "@"+s.out)
		must(err)
		keep = append(keep, abstract)
		client, err := net.Dial("tcp4", l.Addr().String())
		must(err)
		conn, err := l.Accept()
		must(err)
		go func() { // the other side of the connection
			b := make([]byte, 1)
			for {
				if _, err := client.Read(b); err != nil {
					return
				}
				client.Write(b)
			}
		}()
		f, err := conn.(*net.TCPConn).File()
		must(err)
		s.held["conn"], s.conn = f, int(f.Fd())
		if a.before != nil {
			must(a.before(s))
		}
		all[a.name] = s
	}
	return all
}

// attack runs the attempts as a user, on a kernel, and returns what came of
// them.
func attack(t *testing.T, u user, mode string) attackReport {
	t.Helper()
	base := u.folder(t)
	for _, d := range []string{"ws", "out"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
		u.owns(t, filepath.Join(base, d))
	}
	cmd := again(t, u, "attack", base, mode)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("as %s: %v\n%s", u.name, err, stderr.String())
	}
	var r attackReport
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// TestWall: every attempt succeeds without the wall, is refused behind it on
// every thread, and the mechanism that refuses it is the one that the table
// names.
func TestWall(t *testing.T) {
	needsWall(t)
	for _, u := range users() {
		t.Run(u.name, func(t *testing.T) {
			control := attack(t, u, "no wall")
			possible := map[string]bool{}
			for i, o := range control.Attempts {
				a := attempts[i]
				switch e := syscall.Errno(o.Errnos["first"]); {
				case e == 0:
					possible[a.name] = true
				case a.root && u.uid != 0:
				case a.missing:
					t.Logf("%-55s not possible on this machine (%v)", a.name, e)
				default:
					t.Errorf("%s: fails without the wall, too: %v", a.name, e)
				}
			}
			if len(possible) < len(attempts)*2/3 {
				t.Errorf("only %d of %d attempts are possible without the wall", len(possible), len(attempts))
			}
			for _, mode := range []string{"no filter", "no Landlock", "whole"} {
				r := attack(t, u, mode)
				whole := mode == "whole"
				if want := (sandbox.Wall{Landlock: sandbox.KernelWall().Landlock, Filter: true}); whole && (r.Wall != want || r.Problem != "") {
					t.Fatalf("%s: %s, %s", mode, r.Wall, r.Problem)
				}
				if !whole && (r.Problem == "" || r.Wall.Whole() || r.Wall.None()) {
					t.Fatalf("%s: %s, %s", mode, r.Wall, r.Problem)
				}
				t.Logf("%s: %s, raised in %v", mode, r.Wall, r.Took)
				for i, o := range r.Attempts {
					a := attempts[i]
					want := map[string]syscall.Errno{"no filter": a.files, "no Landlock": a.calls}[mode]
					by := map[string]string{"no filter": "Landlock", "no Landlock": "the filter"}[mode]
					if whole {
						want, by = a.calls, "the filter" // it comes first
						if want == 0 {
							want, by = a.files, "Landlock"
						}
					}
					if !possible[a.name] && want == 0 {
						continue
					}
					for on, n := range o.Errnos {
						got := syscall.Errno(n)
						once := want == 0 && on != "first" // a name can be removed only once
						elsewhere := !possible[a.name] && got != 0
						if got != want && !once && !elsewhere {
							t.Errorf("%s: %s, on the %s thread: %v, want %v", mode, a.name, on, got, want)
						}
					}
					if whole {
						t.Logf("%-55s refused by %s (%v)", a.name, by, want)
					}
				}
				for _, o := range r.Allowed {
					for on, n := range o.Errnos {
						if n != 0 {
							t.Errorf("%s: %s, on the %s thread: %v", mode, o.Name, on, syscall.Errno(n))
						}
					}
				}
			}
		})
	}
}

// TestWallDemanded: who asks for the whole wall gets it or nothing.
func TestWallDemanded(t *testing.T) {
	u := users()[0]
	for mode := range kernels {
		base := u.folder(t)
		cmd := again(t, u, "demand", base, mode)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", mode, err, out)
		}
		want := "refused, reads outside"
		if mode == "whole" && sandbox.KernelWall().Whole() {
			want = "stands, does not read outside"
		}
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s: %s; want %s", mode, got, want)
		}
	}
}

func demandRole() {
	become(os.Args[2])
	ws, err := sandbox.Open(os.Args[1], sandbox.Options{})
	if err != nil {
		fatal(err)
	}
	_, err = ws.Confine(sandbox.Confinement{Whole: true})
	words := "stands"
	if errors.Is(err, sandbox.ErrWeakWall) {
		words = "refused"
	} else if err != nil {
		fatal(err)
	}
	if read("/etc/passwd") == nil {
		fmt.Println(words + ", reads outside")
	} else {
		fmt.Println(words + ", does not read outside")
	}
}

// waitRole lives until its input ends.
func waitRole() { os.Stdin.Read(make([]byte, 1)) }

// TestWallLoader: the loader of an allowed program maps any file that may be
// read, and so runs it. What it brings in is behind the same wall.
func TestWallLoader(t *testing.T) {
	needsWall(t)
	loader := "/lib64/ld-linux-x86-64.so.2"
	if runtime.GOARCH == "arm64" {
		loader = "/lib/ld-linux-aarch64.so.1"
	}
	if _, err := os.Stat(loader); err != nil {
		t.Skip("this system has no loader of the GNU library")
	}
	for _, u := range users() {
		base := u.folder(t)
		ws := filepath.Join(base, "ws")
		if err := os.Mkdir(ws, 0o755); err != nil {
			t.Fatal(err)
		}
		copyFile(t, "/bin/cat", filepath.Join(ws, "cat"), 0o755)
		copyFile(t, "/bin/cat", filepath.Join(base, "cat"), 0o755) // allowed, so that its loader is
		if err := os.WriteFile(filepath.Join(base, "secret"), []byte("the secret"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, confined := range []string{"", "confined"} {
			cmd := again(t, u, "loader", base, loader, confined)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if leaks := strings.Contains(string(out), "the secret"); leaks == (confined != "") {
				t.Errorf("%s, %q: %s", u.name, confined, out)
			}
		}
	}
}

func loaderRole() {
	base, loader := os.Args[1], os.Args[2]
	ws, err := sandbox.Open(base+"/ws", sandbox.Options{})
	if err != nil {
		fatal(err)
	}
	if os.Args[3] != "" {
		if _, err := ws.Confine(sandbox.Confinement{Programs: []string{base + "/cat"}, Whole: true}); err != nil {
			fatal(err)
		}
	}
	out, err := exec.Command(loader, base+"/ws/cat", base+"/secret").CombinedOutput()
	fmt.Printf("%s%v\n", out, err)
}

// TestWallUnknownCalls: numbers from newer kernels do not exist behind the
// wall, so what they do needs no table entry.
func TestWallUnknownCalls(t *testing.T) {
	needsWall(t)
	cmd := again(t, users()[0], "unknown", users()[0].folder(t))
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != unix.ENOSYS.Error() {
		t.Errorf("%v: %s", err, out)
	}
}

func unknownRole() {
	ws, err := sandbox.Open(os.Args[1], sandbox.Options{})
	if err != nil {
		fatal(err)
	}
	if _, err := ws.Confine(sandbox.Confinement{}); err != nil {
		fatal(err)
	}
	_, _, errno := unix.Syscall(500, 0, 0, 0)
	fmt.Println(errno)
}
