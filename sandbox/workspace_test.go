package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOpenRoots(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"plain", "with space", "~My Folder", "~", "a-b", "ünï", "日本", "-x", "new\nline", "ws.", "$HOME", "a'b\"c"} {
		dir := filepath.Join(base, name)
		must(t, os.MkdirAll(filepath.Join(dir, "d"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "d", "f"), []byte("in"), 0o644))
		link := filepath.Join(base, "link-to-"+strings.ReplaceAll(name, "/", ""))
		must(t, os.Symlink(dir, link))
		for _, spelt := range []string{dir, dir + "/", dir + "//", base + "/./" + name, base + "/plain/../" + name, link, link + "/"} {
			w, err := Open(spelt, Options{})
			if err != nil {
				t.Errorf("Open(%q): %v", spelt, err)
				continue
			}
			for _, p := range []string{"d/f", dir + "/d/f", strings.TrimRight(spelt, "/") + "/d/f"} {
				if !wellFormed(p) || strings.Contains(p, "/../") {
					continue // such a root can only be addressed from within
				}
				if text, f, err := read(t, w, p); err != nil || text != "in" || f.Info().Path != "d/f" {
					t.Errorf("in %q: %q: %q, %v", spelt, p, text, err)
				}
			}
			if err := w.Same(); err != nil {
				t.Errorf("Same: %v", err)
			}
			if n := w.Name(); n != EscapeName(filepath.Base(spelt)) || EscapeName(n) != n {
				t.Errorf("Name of %q: %q", spelt, n)
			}
			if err := w.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	ws, _ := plant(t, "f = x", "l => f", "gone => nowhere", "loop => loop")
	for dir, want := range map[string]string{
		"": "not absolute", "rel": "not absolute", "./rel": "not absolute", "~/x": "not absolute", "file://" + ws: "not absolute",
		ws + "/f": "not a directory", ws + "/l": "not a directory", ws + "/none": "does not exist", ws + "/gone": "does not exist",
		ws + "/f/x": "", ws + "/loop": "", ws + "\x00": "NUL",
	} {
		w, err := Open(dir, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): %v, want %q", dir, err, want)
		}
		if err == nil {
			w.Close()
		} else if strings.Contains(err.Error(), ws) {
			t.Errorf("Open(%q) shows the path: %v", dir, err)
		}
	}
	if _, err := Open(ws, Options{MaxPathBytes: -1}); err == nil {
		t.Error("a negative limit is accepted")
	}
}

func TestMaxPathBytes(t *testing.T) {
	ws, _ := plant(t, "abc = x", "abcd = x")
	w, err := Open(ws, Options{MaxPathBytes: 3})
	must(t, err)
	defer w.Close()
	if _, _, err := read(t, w, "abc"); err != nil {
		t.Error(err)
	}
	if _, err := w.OpenFile("abcd"); codeOf(t, err) != InvalidPath {
		t.Error(err)
	}
}

func TestSame(t *testing.T) {
	ws, out := plant(t, "f = x")
	w := open(t, ws, false)
	must(t, w.Same())
	must(t, os.Rename(ws, ws+"2"))
	if w.Same() != ErrMoved {
		t.Error("a missing root goes unnoticed")
	}
	must(t, os.Mkdir(ws, 0o755))
	if w.Same() != ErrMoved {
		t.Error("a new root goes unnoticed")
	}
	must(t, os.Remove(ws))
	must(t, os.Symlink(out, ws))
	if w.Same() != ErrMoved {
		t.Error("a root swapped for a link goes unnoticed")
	}
	// A link to the same root is the same root.
	must(t, os.Remove(ws))
	must(t, os.Symlink(ws+"2", ws))
	must(t, w.Same())
}

func TestEntries(t *testing.T) {
	ws, _ := plant(t, "b = x", "a/", "B = x", ".hidden = x", "a.txt = x", "a-b = x", "\xff\xfe = x", "ü = x", "l => nowhere", "p |", ".git/x = x", "z\nz = x")
	w := open(t, ws, false)
	d, err := w.OpenDir(".")
	must(t, err)
	defer d.Close()
	want := []Entry{{".git", KindDirectory}, {".hidden", KindFile}, {"B", KindFile}, {"a", KindDirectory}, {"a-b", KindFile}, {"a.txt", KindFile},
		{"b", KindFile}, {"l", KindSymlink}, {"p", KindOther}, {"z\nz", KindFile}, {"ü", KindFile}, {"\xff\xfe", KindFile}}
	for range 2 { // reading starts at the beginning each time
		es, more, err := d.Entries(0)
		if err != nil || more || len(es) != len(want) {
			t.Fatalf("%v, %v, %v", es, more, err)
		}
		for i := range es {
			if es[i] != want[i] {
				t.Errorf("entry %d is %v, want %v", i, es[i], want[i])
			}
		}
	}
	for max := 1; max <= len(want)+1; max++ {
		es, more, err := d.Entries(max)
		if err != nil || len(es) != min(max, len(want)) || more != (max < len(want)) {
			t.Errorf("Entries(%d): %d, %v, %v", max, len(es), more, err)
		}
	}
	// A name that no path can hold is still reachable from its folder.
	f, err := d.OpenFile("\xff\xfe")
	must(t, err)
	f.Close()
	if _, err := w.OpenFile("\xff\xfe"); codeOf(t, err) != InvalidPath {
		t.Error(err)
	}
	// What a denial shows of it is plain.
	must(t, os.Remove(filepath.Join(ws, "\xff\xfe")))
	if _, err := d.OpenFile("\xff\xfe"); codeOf(t, err) != NotFound || !strings.HasPrefix(err.Error(), "'an entry' ") {
		t.Error(err)
	}
}

func TestManyEntries(t *testing.T) {
	ws, _ := plant(t)
	const n = 2000
	for i := range n {
		must(t, os.WriteFile(filepath.Join(ws, strings.Repeat("n", i%100+1)+"-"+string(rune('a'+i%26))+time.Duration(i).String()), nil, 0o644))
	}
	d, err := open(t, ws, false).OpenDir(".")
	must(t, err)
	defer d.Close()
	es, more, err := d.Entries(0)
	if err != nil || more || len(es) != n {
		t.Fatalf("%d, %v, %v", len(es), more, err)
	}
	list, err := os.ReadDir(ws)
	must(t, err)
	for i, e := range list {
		if e.Name() != es[i].Name {
			t.Fatalf("entry %d is %q, want %q", i, es[i].Name, e.Name())
		}
	}
	for _, max := range []int{n - 1, n, n + 1} {
		if es, more, err := d.Entries(max); err != nil || len(es) != min(max, n) || more != (max < n) {
			t.Errorf("Entries(%d): %d, %v, %v", max, len(es), more, err)
		}
	}
}

func TestDir(t *testing.T) {
	ws, _ := plant(t, "a/f = inside", "a/sub/g = x", "a/in => sub/g", "a/up => ../a/f", "a/out => ../../OUT/s", "a/gone => nowhere", "a/loop => loop",
		"a/env => ../.env", ".env = x", "a/.env = x", "a/dir => sub", "a/.git/x = x", "a/null => /dev/null", "a/top => WS")
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		d, err := w.OpenDir("a")
		must(t, err)
		defer d.Close()
		f, err := d.OpenFile("f")
		must(t, err)
		b, err := io.ReadAll(f)
		if string(b) != "inside" || f.Info().Path != "a/f" || f.Info().Kind != KindFile || f.Info().Size != 6 || f.Changed() {
			t.Errorf("%q, %v, %+v", b, err, f.Info())
		}
		f.Close()
		if d.Path() != "a" || d.Info().Kind != KindDirectory {
			t.Errorf("%q %v", d.Path(), d.Info())
		}
		for name, want := range map[string]Code{"": InvalidPath, ".": InvalidPath, "..": InvalidPath, "sub/g": InvalidPath, "../f": InvalidPath, "/f": InvalidPath, "f\x00": InvalidPath,
			"none": NotFound, "sub": IsADirectory, "in": SpecialFile, "out": SpecialFile, "loop": SpecialFile, ".env": DeniedPath, ".git": DeniedPath, strings.Repeat("x", 300): InvalidPath} {
			if _, err := d.OpenFile(name); codeOf(t, err) != want {
				t.Errorf("OpenFile(%.20q): %v, want %v", name, err, want)
			}
		}
		for name, want := range map[string]Code{"..": InvalidPath, "none": NotFound, "f": NotADirectory, "dir": SpecialFile, "out": SpecialFile, ".git": DeniedPath, "top": SpecialFile} {
			if s, err := d.OpenDir(name); codeOf(t, err) != want {
				t.Errorf("OpenDir(%q): %v, want %v", name, err, want)
			} else if err == nil {
				s.Close()
			}
		}
		sub, err := d.OpenDir("sub")
		must(t, err)
		defer sub.Close()
		if f, err := sub.OpenFile("g"); err != nil || f.Info().Path != "a/sub/g" || sub.Path() != "a/sub" {
			t.Errorf("%v", err)
		} else {
			f.Close()
		}
		for name, want := range map[string]struct {
			to   string
			kind Kind
			s    LinkState
		}{
			"in": {"a/sub/g", KindFile, LinkInside}, "up": {"a/f", KindFile, LinkInside}, "dir": {"a/sub", KindDirectory, LinkInside}, "top": {".", KindDirectory, LinkInside},
			"out": {"", 0, LinkOutside}, "null": {"", 0, LinkOutside}, "gone": {"", 0, LinkBroken}, "loop": {"", 0, LinkBroken}, "env": {"", 0, LinkDenied},
			".env": {"", 0, LinkDenied}, "..": {"", 0, LinkBroken}, "none": {"", 0, LinkBroken},
		} {
			to, kind, s := d.Link(name)
			if to != want.to || kind != want.kind || s != want.s {
				t.Errorf("Link(%q) = %q, %v, %v; want %v", name, to, kind, s, want)
			}
		}
		if info, err := d.Stat("in"); err != nil || info.Kind != KindSymlink || info.Path != "a/in" {
			t.Errorf("Stat of a link: %v, %v", info, err)
		}
		if _, err := d.Stat("none"); codeOf(t, err) != NotFound {
			t.Errorf("Stat: %v", err)
		}
		if _, err := d.Stat("../x"); codeOf(t, err) != InvalidPath {
			t.Errorf("Stat: %v", err)
		}
	})
}

func TestChangedAndVersion(t *testing.T) {
	ws, _ := plant(t, "f = one", "g = one")
	w := open(t, ws, false)
	f, err := w.OpenFile("f")
	must(t, err)
	defer f.Close()
	before := f.Info().Version()
	if f.Changed() || len(before) != 8 || strings.Trim(before, "0123456789abcdef") != "" {
		t.Errorf("version %q", before)
	}
	if g, err := w.Stat("g"); err != nil || g.Version() == before {
		t.Error("two files have one version")
	}
	h, err := os.OpenFile(filepath.Join(ws, "f"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	h.WriteString("two")
	h.Close()
	if !f.Changed() {
		t.Error("a write goes unnoticed")
	}
	if now, err := w.Stat("f"); err != nil || now.Version() == before {
		t.Error("the version stays")
	}
	b := make([]byte, 3)
	if n, err := f.ReadAt(b, 3); n != 3 || err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b[:n], err)
	}
	if n, err := f.ReadAt(b, 5); n != 1 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := f.Read(nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := f.ReadAt(b, -1); err == nil {
		t.Error("a negative offset is accepted")
	}
	// A removed file stays readable and has changed nothing.
	g, err := w.OpenFile("g")
	must(t, err)
	defer g.Close()
	must(t, os.Remove(filepath.Join(ws, "g")))
	if text, err := io.ReadAll(g); string(text) != "one" || err != nil || g.Changed() {
		t.Errorf("%q, %v", text, err)
	}
}

func TestKindNames(t *testing.T) {
	for k, want := range map[Kind]string{KindFile: "file", KindDirectory: "directory", KindSymlink: "symlink", KindOther: "other", 0: "other"} {
		if k.String() != want {
			t.Errorf("%d is %q", k, k)
		}
	}
}
