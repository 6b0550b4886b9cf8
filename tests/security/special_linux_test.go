package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// opens counts how often files are opened, by whomever.
func opens(t *testing.T, names ...string) (opened func() bool) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	for _, n := range names {
		_, err := unix.InotifyAddWatch(fd, n, unix.IN_OPEN|unix.IN_ACCESS)
		must(t, err)
	}
	return func() bool {
		var buf [4096]byte
		n, _ := unix.Read(fd, buf[:])
		return n > 0
	}
}

// TestSpecialFiles: pipes, sockets, devices and links into proc are refused,
// not opened, and hold no worker.
func TestSpecialFiles(t *testing.T) {
	w := plantTree(t, "p |", "d/q |", "s &", "l => p", "dl => d", "abs => WS/p", "chain => l", "named.go |", "go.mod |", "README.md |", "sub/.gitignore |", "ok.txt = fine",
		"root => /proc/self/root", "cwd => /proc/self/cwd", "exe => /proc/self/exe", "fd => /proc/self/fd/0", "mem => /proc/self/mem", "env => /proc/self/environ", "zero => /dev/zero", "tty => /dev/tty", "kmsg => /dev/kmsg", "stdin => /dev/stdin")
	special := []string{"special_file"}
	cases := []attempt{
		{"pipe", nil, "p", special, ""}, {"pipe with a dot", nil, "./p", special, ""}, {"pipe with a slash", nil, "p/", special, ""}, {"pipe in a folder", nil, "d/q", special, ""},
		{"pipe by a link", nil, "l", special, ""}, {"pipe by an absolute link", nil, "abs", special, ""}, {"pipe by a chain", nil, "chain", special, ""}, {"pipe through a linked folder", nil, "dl/q", special, ""},
		{"pipe, absolute", nil, "WS/p", special, ""}, {"pipe named like a source", nil, "named.go", special, ""}, {"pipe named like a manifest", nil, "go.mod", special, ""},
		{"socket", nil, "s", special, ""}, {"socket with a slash", nil, "s/", special, ""},
		{"link into proc, root", nil, "root", outside, ""}, {"link into proc, through root", nil, "root/etc/passwd", outside, ""}, {"link into proc, cwd", nil, "cwd", outside, ""}, {"link into proc, program", nil, "exe", outside, ""},
		{"link into proc, descriptor", nil, "fd", outside, ""}, {"link into proc, memory", nil, "mem", outside, ""}, {"link into proc, environment", nil, "env", outside, ""},
		{"link to zeros", nil, "zero", outside, ""}, {"link to a terminal", nil, "tty", outside, ""}, {"link to the log", nil, "kmsg", outside, ""}, {"link to standard input", nil, "stdin", outside, ""},
	}
	if err := unix.Mknod(filepath.Join(w.ws, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		cases = append(cases, attempt{"device", nil, "null", special, ""})
	} else if os.Getuid() == 0 {
		t.Logf("no device can be made here: %v", err)
	}
	opened := opens(t, filepath.Join(w.ws, "p"), filepath.Join(w.ws, "d/q"), filepath.Join(w.ws, "named.go"), filepath.Join(w.ws, "go.mod"), filepath.Join(w.ws, "s"))
	s := serve(t, w.ws)
	refuse := func(c attempt) (slowest time.Duration) {
		p := w.expand(c.path)
		for _, d := range doors {
			tool, a := d.call(p)
			start := time.Now()
			r := s.call(tool, a)
			slowest = max(slowest, time.Since(start))
			// git has no such path, and says so of all of them alike.
			if !slices.Contains(c.want, r.code()) && !(strings.HasPrefix(tool, "git_") || a["revision"] != nil) {
				t.Errorf("%s, %s: code %q, want %q: %.200s", c.trick, d.name, r.code(), c.want, r.text)
			}
			if x := w.trace(r, a); x != "" {
				t.Errorf("%s, %s shows %q: %s", c.trick, d.name, x, r.raw)
			}
		}
		return slowest
	}
	for _, c := range cases {
		// A machine that is busy may be slow once; what blocks is slow always.
		took := refuse(c)
		for try := 0; took > quick && try < 5; try++ {
			took = refuse(c)
		}
		if took > quick {
			t.Errorf("%s: refused after %v", c.trick, took)
		}
	}
	// Walks meet all of them.
	for _, q := range []struct {
		tool string
		a    args
	}{
		{"project_overview", args{"depth": 3}}, {"list_directory", args{"depth": 5, "details": true, "sort": "modified"}}, {"search_code", args{"pattern": "fine", "include_ignored": true}},
		{"find_symbol", args{"name": "x"}}, {"git_diff", args{}}, {"git_diff", args{"staged": true}},
	} {
		if r := s.call(q.tool, q.a); r.isError && q.tool != "git_diff" {
			t.Errorf("%s: %s", q.tool, r.text)
		}
	}
	// As many at once as there are workers, then one that is none.
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, p := range []string{"p", "s", "zero", "d/q"} {
				s.call("read_file", args{"path": p})
				s.call("search_code", args{"path": p, "pattern": "x"})
			}
		})
	}
	all.Wait()
	if r := s.call("read_file", args{"path": "ok.txt"}); r.isError || !strings.Contains(r.text, "fine") {
		t.Errorf("after eight special files: %s", r.text)
	}
	if n := s.line.Line().Stuck(); n > 0 {
		t.Errorf("%d workers are stuck", n)
	}
	if opened() {
		t.Error("a special file was opened")
	}
	// Without the look beforehand a pipe is opened, and blocks.
	fd, err := unix.Open(filepath.Join(w.ws, "p"), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	must(t, err)
	unix.Close(fd)
	if !opened() {
		t.Error("the watch does not see an opening")
	}
	blocked := make(chan struct{})
	go func() {
		f, err := os.Open(filepath.Join(w.ws, "p"))
		if err == nil {
			f.Close()
		}
		close(blocked)
	}()
	select {
	case <-blocked:
		t.Error("plain os.Open does not block")
	case <-time.After(2 * quick):
	}
	f, err := os.OpenFile(filepath.Join(w.ws, "p"), os.O_WRONLY, 0) // lets it go
	must(t, err)
	f.Close()
	<-blocked
}

// TestMounts: walks stay on their file system.
func TestMounts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	w := plantTree(t, "m/", "a.txt = here\n", "m.go = package m\n")
	at := filepath.Join(w.ws, "m")
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("root may not mount here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
	must(t, os.WriteFile(filepath.Join(at, outsideName+".go"), []byte("package x // "+outsideText+"\nfunc OutsideFunc() {}\n"), 0o644))
	s := serve(t, w.ws)
	for _, q := range []struct {
		tool string
		a    args
	}{
		{"project_overview", args{"depth": 3}}, {"list_directory", args{"depth": 5, "details": true}}, {"list_directory", args{"glob": "**/*.go"}}, {"search_code", args{"pattern": "OUTSIDE|here", "include_ignored": true}},
		{"search_code", args{"pattern": "OUTSIDE", "output_mode": "count"}}, {"find_symbol", args{"name": "Outside", "match": "prefix"}},
	} {
		r := s.call(q.tool, q.a)
		if x := w.trace(r, q.a); x != "" || r.isError {
			t.Errorf("%s %s: %q, %s", q.tool, quote(q.a), x, r.text)
		}
	}
	if b, err := os.ReadDir(at); err != nil || len(b) != 1 {
		t.Errorf("without the guard: %v, %v", b, err)
	}
}
