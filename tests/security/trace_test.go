package security

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// traced says that this process runs under strace, started by
// TestNothingOutsideIsTouched.
func traced() bool { return os.Getenv("MCP_TEST_TRACED") != "" }

const (
	traceBegin = "/trace-begin|"
	traceEnd   = "/trace-end"
)

// watched marks in the trace where the server is at work: between the marks
// nothing below base may be touched but what is below root. links are names
// below root that may not be followed.
func watched(base, root string, links ...string) (end func()) {
	if !traced() {
		return func() {}
	}
	_, _ = os.Lstat(traceBegin + strings.Join(append([]string{base, root}, links...), "|"))
	return func() { _, _ = os.Lstat(traceEnd) }
}

// traced sends a path through every door, to be looked at from outside.
func (w *world) traced(p string, tree []string) {
	var links []string
	for _, line := range tree {
		if name, _, ok := strings.Cut(line, " => "); ok && !strings.Contains(name, "OUT/") {
			links = append(links, name)
		}
	}
	s := serve(w.t, w.ws)
	defer watched(w.base, w.ws, links...)()
	for _, d := range doors {
		s.call(d.call(p))
	}
}

var (
	traceCall = regexp.MustCompile(`^\d+ +(\w+)\((.*)$`)
	traceAt   = regexp.MustCompile(`(?:AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>, "((?:[^"\\]|\\.)*)"`)
	traceName = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"`)
	traceOpen = regexp.MustCompile(`= \d+<((?:[^<>\\]|\\.)*)>`)
	traceFD   = regexp.MustCompile(`^\d+<((?:[^<>\\]|\\.)*)>`)
)

// touch is one call of the kernel with a name in it, or with a descriptor: what
// that holds, links are behind it.
type touch struct {
	call, name, rest string
	held             bool
}

// touches returns the names that one line of a trace looks at, as the kernel
// would read them without links.
func touches(line string) (list []touch) {
	if m := traceOpen.FindStringSubmatch(line); m != nil {
		list = append(list, touch{"opened", unescape(m[1]), "", true})
	}
	m := traceCall.FindStringSubmatch(line)
	if m == nil {
		return list
	}
	call, rest := m[1], m[2]
	if n := traceAt.FindStringSubmatch(rest); n != nil {
		name := unescape(n[2])
		if !path.IsAbs(name) {
			name = unescape(n[1]) + "/" + name
		}
		return append(list, touch{call, path.Clean(name), rest, false})
	}
	if n := traceName.FindStringSubmatch(rest); n != nil {
		return append(list, touch{call, path.Clean(unescape(n[1])), rest, false})
	}
	if n := traceFD.FindStringSubmatch(rest); n != nil {
		return append(list, touch{call, unescape(n[1]), rest, true})
	}
	return list
}

func unescape(s string) string {
	if u, err := strconv.Unquote(`"` + s + `"`); err == nil {
		return u
	}
	return s
}

// offence says what is wrong with a touch while the server is at work.
func (x touch) offence(base, root string, links []string) string {
	for _, secret := range []string{"/etc/passwd", "/proc/self/environ", "/proc/self/root", "/proc/self/cwd", "/proc/self/mem", "/dev/zero", "/dev/tty"} {
		if x.name == secret || strings.HasPrefix(x.name, secret+"/") {
			return "a file of the system"
		}
	}
	if x.name != base && !strings.HasPrefix(x.name, base+"/") {
		return ""
	}
	follows := !strings.HasPrefix(x.call, "readlink") && x.call != "lstat" && !strings.Contains(x.rest, "NOFOLLOW") && !strings.Contains(x.rest, "RESOLVE_NO_SYMLINKS")
	if x.name == base && !follows && !strings.HasSuffix(x.call, "open") {
		return "" // git spells the root out: is a folder above it a link?
	}
	if x.name != root && !strings.HasPrefix(x.name, root+"/") {
		return "outside of the workspace"
	}
	rel := strings.TrimPrefix(x.name, root+"/")
	for _, l := range links {
		switch {
		case strings.HasPrefix(rel, l+"/") && !strings.Contains(x.rest, "RESOLVE_NO_SYMLINKS"):
			return "through a link"
		case rel == l && follows && !x.held:
			return "follows a link"
		}
	}
	return ""
}

// TestNothingOutsideIsTouched runs the attacks again under strace: while the
// server answers, neither it nor a git that it started looks at, opens or
// follows anything outside.
func TestNothingOutsideIsTouched(t *testing.T) {
	if traced() {
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("MCP_TEST_STRACE") != "" {
			t.Fatal("MCP_TEST_STRACE demands this test, and strace is not installed")
		}
		t.Skip("strace is not installed; the gate installs it and sets MCP_TEST_STRACE")
	}
	out := filepath.Join(t.TempDir(), "trace")
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(strace, "-f", "-y", "-s", "4096", "-o", out, "--seccomp-bpf", "-e", "trace=%file,fstat,getdents64", self, "-test.run", "^(TestTraversal|TestSiblings|TestLinks|TestPlaces)$", "-test.count=1")
	cmd.Env = append(os.Environ(), "MCP_TEST_TRACED=1", "GOCOVERDIR="+t.TempDir(), "GODEBUG=asyncpreemptoff=1")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	f, err := os.Open(out)
	must(t, err)
	defer f.Close()
	var base, root string
	var links []string
	watches, seen, gits, bad := 0, 0, 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		for _, x := range touches(lines.Text()) {
			switch {
			case strings.HasPrefix(x.name, traceBegin):
				parts := strings.Split(strings.TrimPrefix(x.name, traceBegin), "|")
				base, root, links = parts[0], parts[1], parts[2:]
				watches++
				continue
			case x.name == traceEnd:
				base = ""
				continue
			case base == "":
				continue
			}
			seen++
			if x.call == "execve" {
				gits++
			}
			if why := x.offence(base, root, links); why != "" {
				if bad++; bad < 10 {
					t.Errorf("%s: %s", why, lines.Text())
				}
			}
		}
	}
	must(t, lines.Err())
	t.Logf("%d attacks, %d calls of the kernel, %d programs started", watches, seen, gits)
	if watches < 12 || seen < 500 || gits < 10 {
		t.Error("the trace shows too little to prove anything")
	}
}

// TestTraceIsRead: what would be an offence is seen as one.
func TestTraceIsRead(t *testing.T) {
	const base, root = "/b", "/b/ws"
	for line, want := range map[string]string{
		`12 openat(AT_FDCWD</b/ws>, "../OUT/s", O_RDONLY) = -1 ENOENT (No such file)`:                "outside of the workspace",
		`12 newfstatat(7</b/ws>, "l", 0xc0, 0) = 0`:                                                  "follows a link",
		`12 newfstatat(7</b/ws>, "l", 0xc0, AT_SYMLINK_NOFOLLOW) = 0`:                                "",
		`12 readlinkat(7</b/ws>, "l", "../OUT/s", 128) = 8`:                                          "",
		`12 stat("/b/OUT", 0x7) = 0`:                                                                 "outside of the workspace",
		`12 openat(7</b/ws>, "l/s", O_RDONLY <unfinished ...>`:                                       "through a link",
		`12 <... openat resumed>) = 8</b/OUT/s>`:                                                     "outside of the workspace",
		`12 fstat(8</b/ws/l>, 0xc0) = 0`:                                                             "",
		`12 fstat(8</b/OUT>, 0xc0) = 0`:                                                              "outside of the workspace",
		`12 access("/etc/passwd", R_OK) = 0`:                                                         "a file of the system",
		`12 openat(AT_FDCWD</b/ws>, "/lib/x.so", O_RDONLY) = 3</lib/x.so>`:                           "",
		`12 openat2(7</b/ws>, "l/s", {flags=O_RDONLY, resolve=RESOLVE_NO_SYMLINKS}, 24) = -1 ELOOP`:  "",
		`12 newfstatat(7</b/ws>, "/b", 0xc0, AT_SYMLINK_NOFOLLOW) = 0`:                               "",
		`12 newfstatat(7</b>, "", 0xc0, AT_EMPTY_PATH) = 0`:                                          "outside of the workspace",
		`12 openat(AT_FDCWD</b/ws>, "a\"/../../x", O_RDONLY|O_NOFOLLOW) = -1 ENOENT (No such file…)`: "outside of the workspace",
	} {
		got := ""
		for _, x := range touches(line) {
			if o := x.offence(base, root, []string{"l"}); o != "" {
				got = o
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q (%s)", line, got, want, fmt.Sprint(touches(line)))
		}
	}
}
