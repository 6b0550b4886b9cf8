package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tests plant two folders side by side: ws, the workspace, and OUT, which
// must never be seen. What lies in OUT can be told by its content, its names,
// its size and its time.
const (
	outsideText = "OUTSIDE-SECRET"
	outsideName = "outside-name"
	outsideSize = 1234567
)

var outsideTime = time.Date(1999, 1, 2, 3, 4, 5, 0, time.UTC)

// plant makes a tree from lines, in order, and gives ws and OUT. A line is
//
//	a/b/            a folder
//	a/b = text      a file
//	a/b => target   a link; WS or OUT at the start of the target is the absolute folder
//	a/b |           a pipe
//
// Names starting with OUT/ lie in OUT, the rest in ws. OUT always holds "s",
// "outside-name", "big" (of the size above) and the folder "sub" with "s".
func plant(t testing.TB, lines ...string) (ws, out string) {
	t.Helper()
	base := t.TempDir()
	ws, out = filepath.Join(base, "ws"), filepath.Join(base, "OUT")
	lines = append([]string{"./", "OUT/sub/", "OUT/s = " + outsideText, "OUT/sub/s = " + outsideText, "OUT/" + outsideName + " = " + outsideText, "OUT/big = " + outsideText}, lines...)
	for _, line := range lines {
		name := line
		var what, arg string
		for _, sep := range []string{" => ", " = "} {
			if n, a, ok := strings.Cut(line, sep); ok {
				name, arg, what = n, a, strings.TrimSpace(sep)
				break
			}
		}
		if n, ok := strings.CutSuffix(name, " |"); ok && what == "" {
			name, what = n, "|"
		}
		dir := ws
		if n, ok := strings.CutPrefix(name, "OUT/"); ok {
			name, dir = n, out
		}
		if strings.HasSuffix(name, "/") && what == "" {
			must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
			continue
		}
		full := dir + "/" + name // not joined: names such as "a." must stay
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		switch what {
		case "=":
			must(t, os.WriteFile(full, []byte(arg), 0o644))
		case "=>":
			if rest, ok := strings.CutPrefix(arg, "OUT"); ok {
				arg = out + rest
			} else if rest, ok := strings.CutPrefix(arg, "WS"); ok {
				arg = ws + rest
			}
			must(t, os.Symlink(arg, full))
		case "|":
			must(t, makePipe(full))
		default:
			t.Fatalf("line %q says nothing", line)
		}
	}
	must(t, os.Truncate(filepath.Join(out, "big"), outsideSize))
	for _, n := range []string{"s", "big", "sub/s", outsideName, "sub", "."} {
		must(t, os.Chtimes(filepath.Join(out, n), outsideTime, outsideTime))
	}
	return ws, out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens ws; without openat2 if fallback.
func open(t testing.TB, ws string, fallback bool, deny ...string) *Workspace {
	t.Helper()
	w, err := Open(ws, Options{Deny: deny})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	if fallback {
		w.fallback = true
	}
	return w
}

// eachDoor runs f over both ways of opening.
func eachDoor(t *testing.T, f func(t *testing.T, fallback bool)) {
	t.Run("openat2", func(t *testing.T) { f(t, false) })
	t.Run("walk", func(t *testing.T) { f(t, true) })
}

func codeOf(t testing.TB, err error) Code {
	t.Helper()
	if err == nil {
		return 0
	}
	d, ok := errors.AsType[*Denial](err)
	if !ok {
		t.Fatalf("no denial: %v", err)
	}
	return d.Code
}

func read(t testing.TB, w *Workspace, path string) (string, *File, error) {
	t.Helper()
	f, err := w.OpenFile(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	must(t, err)
	return string(b), f, nil
}

// noTrace fails if a denial shows where the workspace lies or what is outside.
func noTrace(t testing.TB, ws, written string, err error) {
	t.Helper()
	d, ok := errors.AsType[*Denial](err)
	if !ok {
		t.Fatalf("no denial: %v", err)
	}
	text := d.Error()
	for _, x := range d.Details {
		switch v := x.Value.(type) {
		case string:
			text += " " + v
		case []string:
			text += " " + strings.Join(v, " ")
		}
	}
	text = strings.ReplaceAll(text, EscapeName(shorten(written, maxText)), "")
	for _, bad := range []string{filepath.Dir(ws), "OUT", outsideName, "no such file", "permission", "too many", "not a dir"} {
		if strings.Contains(text, bad) {
			t.Errorf("denial of %q shows %q: %s", written, bad, text)
		}
	}
}
