package security

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What lies outside can be told by its content, its names, its size and its
// time.
const (
	outsideText = "OUTSIDE-SECRET"
	outsideName = "outside-name"
	outsideSize = 1234567
)

var outsideTime = time.Date(1999, 1, 2, 3, 4, 5, 0, time.UTC)

// world is a workspace with a place beside it that must never be seen.
type world struct {
	t             testing.TB
	base, ws, out string
}

// plantTree makes a tree from lines, in order. A line is
//
//	a/b/            a folder
//	a/b = text      a file
//	a/b => target   a link; WS or OUT at the start of the target is the absolute folder
//	a/b |           a pipe
//	a/b &           a socket that listens
//
// Names that begin with OUT/ lie outside, the rest in the workspace. Outside are
// always "s", "outside-name", "big" (of the size above) and the folder "sub"
// with "s" in it. The workspace is a repository without a commit.
func plantTree(t testing.TB, lines ...string) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	base = filepath.Join(base, "zaphod") // stands for the name of a user
	w := &world{t: t, base: base, ws: filepath.Join(base, "ws"), out: filepath.Join(base, "OUT")}
	lines = append([]string{"./", "OUT/sub/", "OUT/s = " + outsideText, "OUT/sub/s = " + outsideText, "OUT/" + outsideName + " = " + outsideText, "OUT/big = " + outsideText,
		".git/objects/", ".git/refs/", ".git/HEAD = ref: refs/heads/main\n", ".git/config = [core]\n\trepositoryformatversion = 0\n"}, lines...)
	for _, line := range lines {
		w.line(line)
	}
	must(t, os.Truncate(filepath.Join(w.out, "big"), outsideSize))
	for _, n := range []string{"s", "big", "sub/s", outsideName, "sub", "."} {
		must(t, os.Chtimes(filepath.Join(w.out, n), outsideTime, outsideTime))
	}
	return w
}

func (w *world) line(line string) {
	w.t.Helper()
	name, what, arg := line, "", ""
	for _, sep := range []string{" => ", " = "} {
		if n, a, ok := strings.Cut(line, sep); ok {
			name, arg, what = n, a, strings.TrimSpace(sep)
			break
		}
	}
	for _, end := range []string{" |", " &"} {
		if n, ok := strings.CutSuffix(name, end); ok && what == "" {
			name, what = n, end[1:]
		}
	}
	dir := w.ws
	if n, ok := strings.CutPrefix(name, "OUT/"); ok {
		name, dir = n, w.out
	}
	full := dir + "/" + name // not joined: names such as "a." must stay
	if strings.HasSuffix(name, "/") && what == "" {
		must(w.t, os.MkdirAll(full, 0o755))
		return
	}
	must(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	switch what {
	case "=":
		must(w.t, os.WriteFile(full, []byte(arg), 0o644))
	case "=>":
		must(w.t, os.Symlink(w.expand(arg), full))
	case "|":
		must(w.t, makePipe(full))
	case "&":
		// A name in the file system may be longer than that of a socket.
		here, err := os.Getwd()
		must(w.t, err)
		must(w.t, os.Chdir(filepath.Dir(full)))
		l, err := net.Listen("unix", filepath.Base(full))
		must(w.t, os.Chdir(here))
		must(w.t, err)
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		w.t.Cleanup(func() { l.Close() })
	default:
		w.t.Fatalf("line %q says nothing", line)
	}
}

// expand puts the absolute folders into a path or the target of a link.
func (w *world) expand(p string) string {
	if rest, ok := strings.CutPrefix(p, "OUT"); ok {
		return w.out + rest
	}
	return strings.NewReplacer("file://OUT", "file://"+w.out, "file://WS", "file://"+w.ws, "/./WS", "/."+w.ws, "//WS", "/"+w.ws, "WS", w.ws).Replace(p)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// doors are the ways in which a tool takes a path; each has its own code to the
// disk.
var doors = []struct {
	name string
	call func(path string) (tool string, a args)
}{
	{"read", func(p string) (string, args) { return "read_file", args{"path": p} }},
	{"read a range", func(p string) (string, args) { return "read_file", args{"path": p, "start_line": 1, "end_line": 3} }},
	{"read the end", func(p string) (string, args) { return "read_file", args{"path": p, "tail": 2} }},
	{"read at a revision", func(p string) (string, args) { return "read_file", args{"path": p, "revision": "HEAD"} }},
	{"list", func(p string) (string, args) {
		return "list_directory", args{"path": p, "details": true, "depth": 3, "include_ignored": true}
	}},
	{"list with a glob", func(p string) (string, args) {
		return "list_directory", args{"path": p, "glob": "**", "sort": "modified", "details": true}
	}},
	{"search", func(p string) (string, args) {
		return "search_code", args{"path": p, "pattern": "SECRET|root", "include_ignored": true}
	}},
	{"search for names", func(p string) (string, args) {
		return "search_code", args{"path": p, "pattern": ".", "output_mode": "files_with_matches", "glob": "**"}
	}},
	{"symbols", func(p string) (string, args) { return "find_symbol", args{"path": p, "name": "s", "match": "contains"} }},
	{"overview", func(p string) (string, args) { return "project_overview", args{"path": p, "depth": 3} }},
	{"log", func(p string) (string, args) { return "git_log", args{"path": p} }},
	{"log of lines", func(p string) (string, args) { return "git_log", args{"path": p, "start_line": 1, "end_line": 2} }},
	{"diff", func(p string) (string, args) { return "git_diff", args{"path": p} }},
	{"diff of the index", func(p string) (string, args) { return "git_diff", args{"path": p, "staged": true} }},
	{"diff of commits", func(p string) (string, args) { return "git_diff", args{"path": p, "base": "HEAD"} }},
}

// without returns what a message holds that the caller did not write: its
// strings, each occurrence of a string of a cut away, as it was written and as
// JSON and as names are escaped.
func without(got string, written ...string) string {
	for _, s := range written {
		if len(s) < 2 {
			continue
		}
		got = strings.ReplaceAll(got, s, "")
		q := quote(s)
		got = strings.ReplaceAll(got, q[1:len(q)-1], "")
		qq := quote(q)
		got = strings.ReplaceAll(got, qq[1:len(qq)-1], "")
	}
	return got
}

// strings of the arguments.
func (a args) strings() (out []string) {
	for _, v := range a {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// trace returns what of the outside, or of where the workspace lies, r shows.
func (w *world) trace(r reply, a args) string {
	text := without(r.decoded(), a.strings()...)
	for _, bad := range []string{outsideText, outsideName, fmt.Sprint(outsideSize), "1999-01-02", "zaphod", w.base, filepath.Dir(w.base), "root:x:0:0"} {
		if strings.Contains(text, bad) {
			return bad
		}
	}
	return ""
}

// code is that of a denial; an answer has "", an error of the protocol its
// number.
func (r reply) code() string {
	if !r.isError {
		return ""
	}
	var m struct {
		Result struct {
			S struct{ Error string } `json:"structuredContent"`
		}
		Error *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(r.raw), &m); err != nil {
		return err.Error()
	}
	if m.Error != nil {
		return fmt.Sprint(m.Error.Code)
	}
	return m.Result.S.Error
}
