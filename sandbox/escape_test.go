package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// escapes are attempts to get at OUT or at a withheld file. naked says that a
// plain os.Open of the same path hands out what must stay hidden; where it is
// false the reason stands beside it.
var escapes = []struct {
	trick string
	tree  []string
	path  string // WS and OUT are the absolute folders
	want  Code
	naked bool
}{
	{"dot dot", nil, "../OUT/s", OutsideWorkspace, true},
	{"dot dot behind a folder", []string{"a/"}, "a/../../OUT/s", OutsideWorkspace, true},
	{"dot dot behind a missing folder", nil, "gone/../../OUT/s", OutsideWorkspace, false}, // the kernel looks gone up first
	{"many dot dots", nil, strings.Repeat("../", 40) + "etc/passwd", OutsideWorkspace, false},
	{"dot dot with slashes and dots", nil, ".//..///./OUT/s", OutsideWorkspace, true},
	{"leaves and comes back", []string{"s = in"}, "../ws/s", OutsideWorkspace, false}, // what it reads lies inside
	{"absolute", nil, "OUT/s", OutsideWorkspace, true},
	{"absolute, through the root", nil, "WS/../OUT/s", OutsideWorkspace, true},
	{"absolute, doubled slash", nil, "WS//../OUT/s", OutsideWorkspace, true},
	{"absolute, dots in the root", nil, "/./WS/./../OUT/s", OutsideWorkspace, true},
	{"sibling with the same prefix", []string{"../ws-evil/s = " + outsideText}, "../ws-evil/s", OutsideWorkspace, true},
	{"sibling with the same prefix, absolute", []string{"../ws-evil/s = " + outsideText}, "WS-evil/s", OutsideWorkspace, true},
	{"URI", nil, "file://OUT/s", OutsideWorkspace, false}, // no file is called so
	{"URI with encoded dots", nil, "file://WS/%2e%2e/OUT/s", OutsideWorkspace, false},
	{"URI with an encoded slash", nil, "file://WS/..%2fOUT%2Fs", OutsideWorkspace, false},
	{"URI encoded twice", nil, "file://WS/%252e%252e/OUT/s", NotFound, false},
	{"URI of another host", nil, "file://host/x", OutsideWorkspace, false},
	{"encoded dots in a plain path", nil, "%2e%2e/OUT/s", NotFound, false},

	{"link to a file", []string{"l => ../OUT/s"}, "l", OutsideWorkspace, true},
	{"link to an absolute file", []string{"l => OUT/s"}, "l", OutsideWorkspace, true},
	{"link to a folder", []string{"d => ../OUT"}, "d/s", OutsideWorkspace, true},
	{"link to a link", []string{"d => ../OUT", "d2 => d"}, "d2/s", OutsideWorkspace, true},
	{"dot dot behind a link", []string{"d => ../OUT/sub"}, "d/../s", OutsideWorkspace, true},
	{"link, back in as text", []string{"d => ../OUT", "x = in"}, "d/../ws/x", OutsideWorkspace, false},
	{"link that comes back", []string{"d => ../ws/a", "a/s = in"}, "d/s", OutsideWorkspace, false},
	{"link with a slash", []string{"l => ../OUT"}, "l/", OutsideWorkspace, false}, // a folder
	{"link with a dot", []string{"l => ../OUT"}, "l/.", OutsideWorkspace, false},
	{"link with two slashes", []string{"l => ../OUT"}, "l//", OutsideWorkspace, false},
	{"link with dots around", []string{"l => ../OUT"}, "./l/", OutsideWorkspace, false},
	{"link to a file with a slash", []string{"l => ../OUT/s"}, "l/", OutsideWorkspace, false},
	{"link whose target ends in a slash", []string{"l => ../OUT/"}, "l/s", OutsideWorkspace, true},
	{"link up by dot dots", []string{"a/b/l => ../../../OUT/s"}, "a/b/l", OutsideWorkspace, true},
	{"link up through a link", []string{"a/up => ../..", "l => a/up/OUT/s"}, "l", OutsideWorkspace, true},
	{"deep folder linked to the top", []string{"a/b/c/", "t => a/b/c", "l => t/../../../../OUT/s"}, "l", OutsideWorkspace, true},
	{"link to the root of the system", []string{"l => /"}, "l/etc/passwd", OutsideWorkspace, false},
	{"link through proc", []string{"l => /proc/self/root/etc/passwd"}, "l", OutsideWorkspace, false},
	{"link through proc cwd", []string{"l => /proc/self/cwd"}, "l/go.mod", OutsideWorkspace, false},
	{"link to a device", []string{"z => /dev/zero"}, "z", OutsideWorkspace, false},
	{"link to the sibling with the same prefix", []string{"../ws-evil/s = " + outsideText, "l => WS-evil/s"}, "l", OutsideWorkspace, true},
	{"absolute link through the root", []string{"l => WS/../OUT/s"}, "l", OutsideWorkspace, true},

	{"withheld file", []string{".env = " + outsideText}, ".env", DeniedPath, true},
	{"withheld file, by a link", []string{".env = " + outsideText, "cfg => .env"}, "cfg", DeniedPath, true},
	{"withheld file, by an absolute link", []string{".env = " + outsideText, "cfg => WS/.env"}, "cfg", DeniedPath, true},
	{"withheld file, by a chain of links", []string{".env = " + outsideText, "a => b", "b => c/../.env", "c/"}, "a", DeniedPath, true},
	{"withheld folder", []string{".ssh/config = " + outsideText}, ".ssh/config", DeniedPath, true},
	{"withheld folder, by a link", []string{".ssh/config = " + outsideText, "k => .ssh"}, "k/config", DeniedPath, true},
	{"withheld folder, walked through", []string{".ssh/", "s = in"}, ".ssh/../s", DeniedPath, false}, // what it reads is not withheld
	{"link called like a withheld file", []string{"s = in", ".env => s"}, ".env", DeniedPath, false},
	{"repository", []string{".git/config = " + outsideText}, ".git/config", DeniedPath, true},
	{"repository below", []string{"sub/.git/config = " + outsideText}, "sub/.git/config", DeniedPath, true},
	{"repository as a file", []string{"sub/.git = " + outsideText}, "sub/.git", DeniedPath, true},
	{"repository, by an inner link", []string{".git/config = " + outsideText, "l/g => ../.git"}, "l/g/config", DeniedPath, true},
	{"withheld, absolute", []string{".env = " + outsideText}, "WS/.env", DeniedPath, true},
	{"withheld, URI", []string{".env = " + outsideText}, "file://WS/%2eenv", DeniedPath, false},
}

// expand puts the absolute folders into a path.
func expand(p, ws, out string) string {
	if rest, ok := strings.CutPrefix(p, "OUT"); ok {
		return out + rest
	}
	p = strings.Replace(p, "file://OUT", "file://"+out, 1)
	return strings.NewReplacer("file://WS", "file://"+ws, "/./WS", "/."+ws, "//WS", "/"+ws, "WS", ws).Replace(p)
}

// readNaked is what a server without a guard does; devices have no end.
func readNaked(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 64))
}

func TestEscapes(t *testing.T) {
	eachDoor(t, func(t *testing.T, fallback bool) {
		for _, c := range escapes {
			t.Run(c.trick, func(t *testing.T) {
				ws, out := plant(t, c.tree...)
				p := expand(c.path, ws, out)
				w := open(t, ws, fallback)
				text, _, err := read(t, w, p)
				if got := codeOf(t, err); got != c.want {
					t.Fatalf("OpenFile(%q) = %q, %v; want %v", p, text, err, c.want)
				}
				t.Logf("refused by the door: %v", err)
				noTrace(t, ws, p, err)
				if _, err := w.Stat(p); codeOf(t, err) != c.want {
					t.Errorf("Stat: %v", err)
				}
				if _, err := w.OpenDir(p); codeOf(t, err) != c.want {
					t.Errorf("OpenDir: %v", err)
				}
				if rel, err := w.Locate(p); c.want != NotFound && codeOf(t, err) != c.want {
					t.Errorf("Locate: %q, %v", rel, err)
				}
				// The attack works where there is no guard.
				full := p
				if !filepath.IsAbs(full) {
					full = ws + "/" + p
				}
				b, err := readNaked(full)
				if got := strings.Contains(string(b), outsideText); got != c.naked {
					t.Errorf("without the guard: %q, %v; want the secret: %v", b, err, c.naked)
				}
			})
		}
	})
}

// Refusals about outside are the same whether or not something is there.
func TestNoOracle(t *testing.T) {
	pairs := []struct{ there, absent string }{
		{"../OUT/s", "../OUT/x"},
		{"d/s", "d/x"},
		{"d/sub", "d/sux"},
		{"f", "g"},
		{"abs", "abx"},
		{"pipe", "pipf"},
		{"locked", "lockex"},
	}
	ws, out := plant(t, "d => ../OUT", "f => ../OUT/s", "g => ../OUT/x", "abs => OUT/sub", "abx => OUT/sux",
		"OUT/pipe |", "pipe => ../OUT/pipe", "pipf => ../OUT/pipf", "OUT/locked/x = 1", "locked => ../OUT/locked/x", "lockex => ../OUT/locked/y")
	must(t, os.Chmod(filepath.Join(out, "locked"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(out, "locked"), 0o755) })
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		for _, p := range pairs {
			_, e1 := w.OpenFile(p.there)
			_, e2 := w.OpenFile(p.absent)
			a := strings.ReplaceAll(e1.Error(), "'"+p.there+"'", "")
			b := strings.ReplaceAll(e2.Error(), "'"+p.absent+"'", "")
			if a != b || codeOf(t, e1) != OutsideWorkspace {
				t.Errorf("%s: %q\n%s: %q", p.there, a, p.absent, b)
			}
		}
		// Withheld names: the same for what exists and what does not.
		must(t, os.MkdirAll(filepath.Join(ws, ".ssh"), 0o755))
		for _, p := range []string{".ssh", ".ssh/x", ".ssh/x/y", ".aws", ".aws/x", ".ssh/../f", ".aws/../f", "nowhere/.env", ".kube/" + strings.Repeat("n", 255)} {
			if _, err := w.OpenFile(p); codeOf(t, err) != DeniedPath {
				t.Errorf("%s: %v", p, err)
			}
		}
	})
}

// What is inside stays readable however it is written, and is named by its
// resolved path.
func TestInside(t *testing.T) {
	tree := []string{"a/b/f = in", "a b/ünï = in", "~me/f = in", "x => a/b/f", "sub/rel => ../x", "abs => WS/a/b/f", "absdir => WS/a",
		"dd => a/b/..", "self => .", "top => WS", "slash => a/", "C:\\x = in", "back\\slash = in", "%41 = in", "long => self/self/self/self/a/b/f", "-dash = in", "sp ace = in"}
	cases := map[string]string{ // path: resolved
		"a/b/f": "a/b/f", "./a//b/./f": "a/b/f", "WS/a/b/f": "a/b/f", "WS//a/./b/f": "a/b/f", "//WS/a/b/f": "a/b/f",
		"a b/ünï": "a b/ünï", "file://WS/a%20b/%C3%BCn%C3%AF": "a b/ünï", "FILE://localhostWS/a/b/f": "a/b/f",
		"~me/f": "~me/f", "x": "a/b/f", "sub/rel": "a/b/f", "abs": "a/b/f", "absdir/b/f": "a/b/f",
		"dd/b/f": "a/b/f", "self/self/a/b/f": "a/b/f", "top/a/b/f": "a/b/f", "slash/b/f": "a/b/f",
		`./C:\x`: `C:\x`, `back\slash`: `back\slash`, "%41": "%41", "file://WS/%2541": "%41", "long": "a/b/f",
		"a/../a/b/f": "a/b/f", "absdir/../a/b/f": "a/b/f", "-dash": "-dash", "sp ace": "sp ace",
	}
	ws, out := plant(t, tree...)
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		for p, want := range cases {
			p = expand(p, ws, out)
			text, f, err := read(t, w, p)
			if err != nil || text != "in" || f.Info().Path != want {
				t.Errorf("OpenFile(%q) = %q, %v", p, text, err)
				continue
			}
			info, err := w.Stat(p)
			if err != nil || info != f.Info() {
				t.Errorf("Stat(%q) = %v, %v; the file is %v", p, info, err, f.Info())
			}
			if rel, err := w.Locate(p); err != nil || rel != want {
				t.Errorf("Locate(%q) = %q, %v", p, rel, err)
			}
		}
		for p, want := range map[string]string{"": ".", ".": ".", "./": ".", "WS": ".", "WS/": ".", "self/": ".", "top": ".", "a/": "a", "a/b/..": "a", "slash": "a", "dd/.": "a", "a/b/../..": "."} {
			d, err := w.OpenDir(expand(p, ws, out))
			if err != nil || d.Path() != want {
				t.Errorf("OpenDir(%q): %v", p, err)
				continue
			}
			d.Close()
		}
	})
}

// Every malformed or unfit path has its own refusal.
func TestRefusals(t *testing.T) {
	ws, _ := plant(t, "a.txt = x", "dir/f = x", "p |", "loop => loop", "l1 => l2", "l2 => l1", "broken => gone", "tofile => a.txt/", "pl => p")
	chain := func(i int) string { return fmt.Sprintf("dir/chain%d", i) } // chain N takes N links
	must(t, os.Symlink("f", filepath.Join(ws, chain(1))))
	for i := 2; i <= 41; i++ {
		must(t, os.Symlink(filepath.Base(chain(i-1)), filepath.Join(ws, chain(i))))
	}
	type one struct {
		path string
		file Code
		dir  Code
	}
	cases := []one{
		{"a\x00b", InvalidPath, InvalidPath}, {"a\nb", InvalidPath, InvalidPath}, {"a\x1bb", InvalidPath, InvalidPath},
		{"a\x7f", InvalidPath, InvalidPath}, {"a\u0085b", InvalidPath, InvalidPath}, {"\xff", InvalidPath, InvalidPath},
		{"é\xc3", InvalidPath, InvalidPath}, {"../\x00", InvalidPath, InvalidPath},
		{strings.Repeat("a", 256), InvalidPath, InvalidPath}, {strings.Repeat("a/", 2049), InvalidPath, InvalidPath},
		{"file://WS/%00", OutsideWorkspace, OutsideWorkspace}, {"file:///%zz", InvalidPath, InvalidPath}, {"file:///%4", InvalidPath, InvalidPath},
		{"file:///a%0ab", InvalidPath, InvalidPath},
		{strings.Repeat("a", 255), NotFound, NotFound}, {"gone", NotFound, NotFound}, {"gone/x", NotFound, NotFound},
		{"a.txt/x", NotFound, NotFound}, {"a.txt/../dir", NotFound, NotFound}, {"a.txt/", NotFound, NotADirectory},
		{"a.txt/.", NotFound, NotADirectory}, {"tofile", NotFound, NotFound}, {"a.txt", 0, NotADirectory}, {"dir", IsADirectory, 0}, {"dir/", IsADirectory, 0},
		{".", IsADirectory, 0}, {"", IsADirectory, 0},
		{"p", SpecialFile, SpecialFile}, {"pl", SpecialFile, SpecialFile}, {"p/", SpecialFile, SpecialFile}, {"p/x", NotFound, NotFound},
		{"loop", NotFound, NotFound}, {"l1/x", NotFound, NotFound}, {"broken", NotFound, NotFound},
		{chain(1), 0, NotADirectory}, {chain(40), 0, NotADirectory}, {chain(41), NotFound, NotFound},
		{`C:\x`, OutsideWorkspace, OutsideWorkspace}, {"c:/x", OutsideWorkspace, OutsideWorkspace}, {`\\host\share`, OutsideWorkspace, OutsideWorkspace},
		{"~/x", NotFound, NotFound}, {"$HOME/x", NotFound, NotFound}, {"/", OutsideWorkspace, OutsideWorkspace},
	}
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		for _, c := range cases {
			f, err := w.OpenFile(c.path)
			if codeOf(t, err) != c.file {
				t.Errorf("OpenFile(%.40q): %v, want %v", c.path, err, c.file)
			}
			if err == nil {
				f.Close()
			} else {
				noTrace(t, ws, c.path, err)
			}
			d, err := w.OpenDir(c.path)
			if codeOf(t, err) != c.dir {
				t.Errorf("OpenDir(%.40q): %v, want %v", c.path, err, c.dir)
			}
			if err == nil {
				d.Close()
			} else {
				noTrace(t, ws, c.path, err)
			}
		}
	})
}

func TestRemediesNameTheCall(t *testing.T) {
	ws, _ := plant(t, "a.txt = x", "dir/f = x", "src/main.go = x", "src/sub/deep.go = x", ".env = x", "notes (old).md = x", `q"uote = x`)
	w := open(t, ws, false)
	long := strings.Repeat("d/", 150)
	must(t, os.MkdirAll(filepath.Join(ws, long), 0o755))
	for _, c := range []struct {
		path string
		dir  bool
		want string // part of the text
	}{
		{"dir", false, `Call list_directory {"path":"dir"}.`},
		{"dir/", false, `Call list_directory {"path":"dir"}.`},
		{long, false, "Call list_directory with this path."},
		{"a.txt", true, `Call read_file {"path":"a.txt"}.`},
		{"a.txt/.", true, `Call read_file {"path":"a.txt"}.`},
		{`q"uote`, true, `{"path":"q\"uote"}`},
		{"a.txt/", false, "Did you mean a.txt?"},
		{`src\main.go`, false, "Did you mean src/main.go?"},
		{`"a.txt"`, false, "Did you mean a.txt?"},
		{"`a.txt`", false, "Did you mean a.txt?"},
		{" a.txt ", false, "Did you mean a.txt?"},
		{"@a.txt", false, "Did you mean a.txt?"},
		{"a.txt:12", false, "Did you mean a.txt?"},
		{"a.txt#L12", false, "Did you mean a.txt?"},
		{"src/mian.go", false, "Did you mean src/main.go?"},
		{"SRC/MAIN.GO", false, "Did you mean src/main.go?"},
		{"scr/main.go", false, "Did you mean src/main.go?"},
		{"deep.go", false, "Did you mean src/sub/deep.go?"},
		{"src/deep.go", false, "Did you mean src/sub/deep.go?"},
		{"notes (new).md", false, `Call list_directory.`},
		{"src/*.go", false, "Wildcards belong in glob"},
		{"~/a", false, "~ and $NAME are not expanded"},
		{"file://~/x", false, "~ and $NAME are not expanded"},
		{"$HOME/a", false, "~ and $NAME are not expanded"},
		{`C:\x`, false, "forward slashes"},
		{`\\host\x`, false, "forward slashes"},
		{"/src/main.go", false, `use "src/main.go"`},
		{"nomatch-at-all", false, `Call list_directory with glob "**/nomatch-at-all*".`},
	} {
		var err error
		if c.dir {
			_, err = w.OpenDir(c.path)
		} else {
			_, err = w.OpenFile(c.path)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.50q: %v, want %s", c.path, err, c.want)
		}
		if strings.Contains(err.Error(), ".env ") || strings.Contains(err.Error(), ".env?") {
			t.Errorf("%q: a withheld name is suggested: %v", c.path, err)
		}
	}
	// A withheld name is never near anything.
	for _, p := range []string{".emv", "env", ".enx"} {
		if s := w.Similar(p, 5); len(s) != 0 {
			t.Errorf("Similar(%q) = %q", p, s)
		}
	}
	if s := w.Similar("src/main.g", 5); len(s) == 0 || s[0] != "src/main.go" {
		t.Errorf("Similar: %q", s)
	}
	if s := w.Similar("../OUT/s", 5); s != nil {
		t.Errorf("Similar outside: %q", s)
	}
}

func TestLocate(t *testing.T) {
	ws, _ := plant(t, "a/f = x", "l => a", "out => ../OUT", "file = x", "gone => a/missing/x")
	for p, want := range map[string]string{
		"a/f": "a/f", "l/f": "a/f", "l/none": "a/none", "none/b/c": "none/b/c", "none/../f": "f", "none/b/../c": "none/c",
		"file/x": "file/x", "file/../a": "a", "file/x/../../l/y": "a/y", "l/none/../f": "a/f", ".": ".", "gone": "a/missing/x", "gone/y": "a/missing/x/y",
		"none/": "none",
	} {
		eachDoor(t, func(t *testing.T, fallback bool) {
			rel, err := open(t, ws, fallback).Locate(p)
			if err != nil || rel != want {
				t.Errorf("Locate(%q) = %q, %v; want %q", p, rel, err, want)
			}
		})
	}
	for p, want := range map[string]Code{
		"out": OutsideWorkspace, "out/none": OutsideWorkspace, "none/../../x": OutsideWorkspace, "none/.env": DeniedPath, "l/.git/x": DeniedPath, "a\x00": InvalidPath,
	} {
		eachDoor(t, func(t *testing.T, fallback bool) {
			if rel, err := open(t, ws, fallback).Locate(p); codeOf(t, err) != want {
				t.Errorf("Locate(%q) = %q, %v; want %v", p, rel, err, want)
			}
		})
	}
}
