//go:build !portable

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// watch counts how often files are opened, by whomever.
type watch struct {
	t  *testing.T
	fd int
}

func watchOpens(t *testing.T, names ...string) *watch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	for _, n := range names {
		_, err := unix.InotifyAddWatch(fd, n, unix.IN_OPEN|unix.IN_ACCESS)
		must(t, err)
	}
	return &watch{t, fd}
}

func (w *watch) opened() bool {
	var buf [4096]byte
	n, err := unix.Read(w.fd, buf[:])
	if err != nil && err != unix.EAGAIN {
		w.t.Fatal(err)
	}
	return n > 0
}

// Pipes, sockets and devices are named and never opened: opening a pipe would
// release its writer, and reading it would take another program's data.
func TestSpecialFilesAreNotOpened(t *testing.T) {
	ws, _ := plant(t, "p |", "d/", "l => p")
	ln, err := net.Listen("unix", filepath.Join(ws, "s"))
	must(t, err)
	defer ln.Close()
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		root, err := w.OpenDir(".")
		must(t, err)
		defer root.Close()
		in := watchOpens(t, filepath.Join(ws, "p"), filepath.Join(ws, "s"))
		start := time.Now()
		for path, word := range map[string]string{"p": "pipe", "l": "pipe", "s": "socket", "./p": "pipe", "p/": "pipe"} {
			_, e1 := w.OpenFile(path)
			_, e2 := w.OpenDir(path)
			_, e3 := w.Stat(path)
			for _, err := range []error{e1, e2, e3} {
				if codeOf(t, err) != SpecialFile || !strings.Contains(err.Error(), "is a "+word+".") {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		for _, name := range []string{"p", "s"} {
			_, e1 := root.OpenFile(name)
			_, e2 := root.OpenDir(name)
			if codeOf(t, e1) != SpecialFile || codeOf(t, e2) != SpecialFile {
				t.Errorf("%s: %v, %v", name, e1, e2)
			}
			if info, err := root.Stat(name); err != nil || info.Kind != KindOther {
				t.Errorf("Stat(%s) = %v, %v", name, info, err)
			}
		}
		if _, err := root.OpenFile("l"); codeOf(t, err) != SpecialFile {
			t.Errorf("link: %v", err)
		}
		if to, kind, s := root.Link("l"); to != "p" || kind != KindOther || s != LinkInside {
			t.Errorf("Link = %q, %v, %v", to, kind, s)
		}
		if d := time.Since(start); d > 5*time.Second { // an opening that blocks does so for ever
			t.Errorf("the refusals took %v", d)
		}
		if in.opened() {
			t.Error("a special file was opened")
		}
		// Without the look beforehand the pipe is opened, blocking or not.
		fd, err := unix.Open(filepath.Join(ws, "p"), fileFlags, 0)
		must(t, err)
		unix.Close(fd)
		if !in.opened() {
			t.Error("the watch does not see an opening")
		}
	})
}

// OpenListed trusts a listing only as far as the kind of the name: what has
// taken its place is refused at once, whatever it is, and so is a withheld name.
func TestOpenListed(t *testing.T) {
	ws, _ := plant(t, "a/ok = text", "a/pipe |", "a/link => ok", "a/sub/", "a/.env = x")
	w := open(t, ws, false)
	d, err := w.OpenDir("a")
	must(t, err)
	defer d.Close()
	for name, want := range map[string]Code{"pipe": NotFound, "link": SpecialFile, "sub": NotFound, "gone": NotFound} {
		passed, _ := d.Pass(name)
		if _, err := passed.OpenListed(); codeOf(t, err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{".env", ".ENV", "../a/ok", "sub/../ok", ".", "..", "", "ok\x00"} {
		passed, _ := d.Pass(name)
		if f, err := passed.OpenListed(); err == nil {
			t.Errorf("%q opens", name)
			f.Close()
		}
	}
	passed, _ := d.Pass("ok")
	f, err := passed.OpenListed()
	must(t, err)
	defer f.Close()
	same, err := d.OpenFile("ok")
	must(t, err)
	defer same.Close()
	if f.Info() != same.Info() || f.Info().Path != "a/ok" || f.Size() != 4 {
		t.Errorf("%+v, %+v", f.Info(), same.Info())
	}
}

// The links of proc are no text: following them as the kernel does leaves
// every root. Here the root itself lies in proc.
func TestMagicLinks(t *testing.T) {
	for _, root := range []string{"/proc/self", "/proc/self/fd"} {
		eachDoor(t, func(t *testing.T, fallback bool) {
			w := open(t, root, fallback)
			null, err := os.Open("/dev/null")
			must(t, err)
			defer null.Close()
			for _, p := range []string{"root", "root/etc/passwd", "cwd/doc.go", "exe", fmt.Sprintf("fd/%d", null.Fd()), fmt.Sprint(null.Fd()), "ns/mnt"} {
				start := time.Now()
				_, err := w.OpenFile(p)
				if c := codeOf(t, err); c != OutsideWorkspace && c != NotFound || time.Since(start) > 5*time.Second {
					t.Errorf("%s in %s: %v after %v", p, root, err, time.Since(start))
				}
			}
		})
	}
	if b, err := os.ReadFile("/proc/self/root/proc/self/stat"); err != nil || len(b) == 0 {
		t.Errorf("without the guard: %v", err)
	}
}

func TestDevicesAreSpecial(t *testing.T) {
	m, err := statName("/dev/null")
	if err != nil || m.Kind != KindOther || m.special != "device" {
		t.Errorf("%+v, %v", m, err)
	}
	w := open(t, "/dev", false)
	for _, p := range []string{"null", "zero", "urandom"} {
		if _, err := w.OpenFile(p); codeOf(t, err) != SpecialFile || !strings.Contains(err.Error(), "device") {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// Walks stay on their file system; a path may name another one.
func TestMounts(t *testing.T) {
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, "/", fallback)
		root, err := w.OpenDir(".")
		must(t, err)
		defer root.Close()
		if _, err := root.OpenDir("proc"); codeOf(t, err) != OutsideWorkspace {
			t.Errorf("walk into another file system: %v", err)
		}
		if d, err := w.OpenDir("proc/self"); err != nil {
			t.Errorf("a path into another file system: %v", err)
		} else {
			d.Close()
		}
		w.cross = true
		d, err := root.OpenDir("proc")
		if err != nil {
			t.Fatalf("with CrossMounts: %v", err)
		}
		d.Close()
		for _, p := range []string{"/proc/uptime", "proc/uptime"} {
			if text, _, err := read(t, w, p); err != nil || text == "" {
				t.Errorf("%s: %q, %v", p, text, err)
			}
		}
	})
}

func TestDirentsWithoutKinds(t *testing.T) {
	ws, _ := plant(t, "f = x", "d/", "l => f", "p |")
	fd, err := unix.Open(ws, dirFlags, 0)
	must(t, err)
	defer unix.Close(fd)
	got, more, err := readEntries(fd, make([]byte, 4096), 0)
	must(t, err)
	// The same records from a file system that does not know kinds.
	_, err = unix.Seek(fd, 0, 0)
	must(t, err)
	buf := make([]byte, 4096)
	n, err := unix.Getdents(fd, buf)
	must(t, err)
	eachRecord(buf[:n], func(_ []byte, kind *byte) bool { *kind = unix.DT_UNKNOWN; return true })
	var b batch
	if b.take(buf[:n], 0) {
		t.Error("more without a limit")
	}
	blind := b.entries(fd, nil)
	key := func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(got, key)
	slices.SortFunc(blind, key)
	want := []Entry{{"d", KindDirectory}, {"f", KindFile}, {"l", KindSymlink}, {"p", KindOther}}
	if more || !slices.Equal(got, want) || !slices.Equal(blind, want) {
		t.Errorf("%v\n%v\nwant %v", got, blind, want)
	}
}

// FuzzDirents feeds records that no kernel writes.
func FuzzDirents(f *testing.F) {
	fd, err := unix.Open(f.TempDir(), dirFlags, 0)
	must(f, err)
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Getdents(fd, buf)
	must(f, err)
	f.Add(buf[:n], 0)
	f.Add(buf[:n], 1)
	f.Add([]byte{0, 0, 0}, 3)
	f.Fuzz(func(t *testing.T, b []byte, max int) {
		b = slices.Clone(b)
		var bt batch
		bt.take(b, max&0xffff)
		for _, e := range bt.entries(fd, nil) {
			if e.Name == "" || e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "\x00") {
				t.Errorf("entry %q", e.Name)
			}
		}
	})
}

// Permissions are tested as a user that has them taken away.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestUnreadable$", "-test.v")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
		cmd.Env = []string{"TMPDIR=/tmp"}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestUnreadable") {
			t.Fatalf("as uid 65534: %v\n%s", err, out)
		}
		return
	}
	ws, _ := plant(t, "locked/x = x", "locked/d/f = x", "f = x", "ok = x", "l => locked/x", "seal/f = x")
	must(t, os.Chmod(filepath.Join(ws, "locked"), 0))
	must(t, os.Chmod(filepath.Join(ws, "f"), 0))
	must(t, os.Chmod(filepath.Join(ws, "seal"), 0o311)) // may be passed, not listed
	t.Cleanup(func() { os.Chmod(filepath.Join(ws, "locked"), 0o755); os.Chmod(filepath.Join(ws, "seal"), 0o755) })
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		for _, p := range []string{"locked/x", "locked/none", "f", "l"} {
			if _, err := w.OpenFile(p); codeOf(t, err) != Unreadable {
				t.Errorf("OpenFile(%s): %v", p, err)
			}
		}
		for _, p := range []string{"locked", "locked/d", "seal"} {
			if _, err := w.OpenDir(p); codeOf(t, err) != Unreadable {
				t.Errorf("OpenDir(%s): %v", p, err)
			}
		}
		if _, err := w.Locate("locked/x"); codeOf(t, err) != Unreadable {
			t.Errorf("Locate: %v", err)
		}
		if text, _, err := read(t, w, "seal/f"); err != nil || text != "x" {
			t.Errorf("seal/f: %q, %v", text, err)
		}
		root, err := w.OpenDir(".")
		must(t, err)
		defer root.Close()
		es, _, err := root.Entries(0)
		if err != nil || len(es) != 5 {
			t.Errorf("Entries: %v, %v", es, err)
		}
		if _, err := root.OpenDir("locked"); codeOf(t, err) != Unreadable {
			t.Errorf("Dir.OpenDir: %v", err)
		}
		if _, err := root.OpenFile("f"); codeOf(t, err) != Unreadable {
			t.Errorf("Dir.OpenFile: %v", err)
		}
		if _, _, s := root.Link("l"); s != LinkBroken {
			t.Errorf("Link: %v", s)
		}
	})
	if _, err := Open(filepath.Join(ws, "locked"), Options{}); err == nil || !strings.Contains(err.Error(), "not readable") {
		t.Errorf("Open of an unreadable root: %v", err)
	}
}

// A descriptor that is closed while it is read is not taken for the file that
// gets its number next.
func TestCloseWhileReading(t *testing.T) {
	ws, _ := plant(t, "f = inside")
	w := open(t, ws, false)
	for range 200 {
		f, err := w.OpenFile("f")
		must(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			var b [16]byte
			for {
				n, err := f.ReadAt(b[:], 0)
				if err != nil && err != io.EOF {
					if !errors.Is(err, errClosed) {
						t.Errorf("%v", err)
					}
					return
				}
				if string(b[:n]) != "inside" {
					t.Errorf("read %q", b[:n])
				}
			}
		}()
		f.Close()
		other, err := os.Open("/proc/self/stat")
		must(t, err)
		<-done
		other.Close()
	}
	f, err := w.OpenFile("f")
	must(t, err)
	f.Close()
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, errClosed) {
		t.Errorf("Read after Close: %v", err)
	}
	if err := f.Close(); !errors.Is(err, errClosed) || !f.Changed() {
		t.Errorf("second Close: %v", err)
	}
}

// No descriptor stays behind, whatever the outcome.
func TestNoDescriptorLeaks(t *testing.T) {
	ws, _ := plant(t, "a/b/c/f = x", "l => a/b/c/f", "out => ../OUT", "loop => loop", "p |", ".env = x", "n => a/none", "a/b/up => ../../l")
	count := func() int {
		es, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(es)
	}
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		before := count()
		for _, p := range []string{"a/b/c/f", "l", "out", "out/x", "loop", "p", ".env", "n", "a", "a/b/up", "a/b/../b/c/f", "a/b/c/f/x", "none", "\x00"} {
			if f, err := w.OpenFile(p); err == nil {
				f.Close()
			}
			if d, err := w.OpenDir(p); err == nil {
				d.Entries(0)
				d.Entries(1)
				d.Stat("b")
				d.Link("b")
				if s, err := d.OpenDir("b"); err == nil {
					s.Close()
				}
				if f, err := d.OpenFile("f"); err == nil {
					f.Close()
				}
				d.Close()
			}
			w.Stat(p)
			w.Locate(p)
			w.Similar(p, 3)
		}
		if after := count(); after != before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
}

// Descriptors are not inherited, and the working directory for a child follows
// the root and not its name.
func TestProcDir(t *testing.T) {
	ws, out := plant(t, "here = x")
	w := open(t, ws, false)
	must(t, os.Rename(ws, ws+"-moved"))
	must(t, os.Symlink(out, ws))
	cmd := exec.Command("ls", "-1")
	cmd.Dir = w.ProcDir()
	b, err := cmd.CombinedOutput()
	if err != nil || string(b) != "here\n" {
		t.Errorf("%q, %v", b, err)
	}
	cmd = exec.Command("ls", "-l", "/proc/self/fd")
	b, err = cmd.CombinedOutput()
	if err != nil || strings.Contains(string(b), "ws-moved") {
		t.Errorf("inherited: %s, %v", b, err)
	}
	if w.Same() != ErrMoved {
		t.Error("a swapped root goes unnoticed")
	}
	if text, _, err := read(t, w, "here"); err != nil || text != "x" {
		t.Errorf("the held root: %q, %v", text, err)
	}
}

// Faults are those of the system, without a path.
func TestFaults(t *testing.T) {
	ws, _ := plant(t, "f = x")
	w := open(t, ws, false)
	w.Close()
	_, err := w.OpenFile("f")
	if _, ok := errors.AsType[*Denial](err); ok || err == nil || strings.Contains(err.Error(), "/") {
		t.Errorf("%v", err)
	}
	for _, no := range []error{unix.EMFILE, unix.EIO} {
		if err := classify(no); !errors.Is(err, no) {
			t.Errorf("%v", err)
		}
	}
	for no, want := range map[error]error{unix.ENOENT: errNotExist, unix.ESTALE: errNotExist, unix.ENOTDIR: errNotDir, unix.ELOOP: errLink,
		unix.EACCES: errNoAccess, unix.EPERM: errNoAccess, unix.ENAMETOOLONG: errTooLong, unix.EXDEV: errOutside, unix.ENXIO: errSpecial, unix.EAGAIN: errChanged, nil: nil} {
		if got := classify(no); got != want {
			t.Errorf("%v: %v", no, got)
		}
	}
	q := query{written: "x"}
	for err, want := range map[error]Code{errNotExist: NotFound, errNotDir: NotFound, errLink: NotFound, errChanged: NotFound, errNoAccess: Unreadable,
		errTooLong: InvalidPath, errSpecial: SpecialFile, errOutside: OutsideWorkspace, &deniedError{"r"}: DeniedPath} {
		if got := codeOf(t, w.explain(&q, err)); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if !raced(fs.ErrNotExist) || raced(errNoAccess) {
		t.Error("raced")
	}
}

// A child in the folder for children finds nothing there but numbers, and reaches
// the root, wherever that has gone. Where there is no such folder it gets the root.
func TestChildFolder(t *testing.T) {
	ws, out := plant(t, "here = x")
	w := open(t, ws, false)
	must(t, os.Rename(ws, ws+"-moved"))
	must(t, os.Symlink(out, ws))
	dir, held, at, err := w.ChildFolder()
	must(t, err)
	defer held.Close()
	cmd := exec.Command("sh", "-c", `ls | tr -d '0-9\n'; ls "$1"`, "sh", at)
	cmd.Dir, cmd.ExtraFiles = dir, []*os.File{held}
	if b, err := cmd.CombinedOutput(); err != nil || string(b) != "here\n" {
		t.Errorf("%q, %v", b, err)
	}
	dir, held, at, err = w.childFolder("/proc/none")
	if dir != w.ProcDir() || held != nil || at != "." || err != nil {
		t.Errorf("without one: %q, %v, %q, %v", dir, held, at, err)
	}
}
