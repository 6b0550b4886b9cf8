package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// An attacker changes the tree as fast as it can while the door is used. Each
// of the moves below turns something inside into a way out (or into a withheld
// file) and back.
//
// What may come of a call, and why:
//   - the text "inside": the path led to the file of the workspace when it was
//     opened;
//   - not_found: in between, nothing stood there, or what was checked was
//     gone at every attempt to open it;
//   - outside_workspace, denied_path: the call met the link while it stood;
//   - special_file: a name that was listed as a file had become a link or a
//     pipe;
//   - is_a_directory, not_a_directory: the other kind stood there.
//
// Anything else fails: a byte, name, size or time of OUT or of a withheld file.
var moves = []struct {
	name string
	tree []string
	swap [2]string // exchanged atomically, again and again
	also func(ws string)
}{
	{"folder for a link out", []string{"d/s = inside", "x => ../OUT"}, [2]string{"d", "x"}, nil},
	{"folder for an absolute link out", []string{"d/s = inside", "x => OUT"}, [2]string{"d", "x"}, nil},
	{"file for a link out", []string{"d/s = inside", "d/x => ../../OUT/s"}, [2]string{"d/s", "d/x"}, nil},
	{"parent for a link out", []string{"p/d/s = inside", "x => ../OUT", "OUT/d/s = " + outsideText, "d => p/d"}, [2]string{"p", "x"}, nil},
	{"folder for a link to a withheld one", []string{"d/s = inside", ".ssh/s = " + outsideText, "x => .ssh"}, [2]string{"d", "x"}, nil},
	{"file for a link to a withheld one", []string{"d/s = inside", ".env = " + outsideText, "d/x => ../.env"}, [2]string{"d/s", "d/x"}, nil},
	{"file for a pipe", []string{"d/s = inside", "d/x |"}, [2]string{"d/s", "d/x"}, nil},
	{"link inside for a link out", []string{"real/s = inside", "d => real", "x => ../OUT"}, [2]string{"d", "x"}, nil},
	{"link target for a link out", []string{"real/s = inside", "d => real", "x => ../OUT"}, [2]string{"real", "x"}, nil},
	{"two folders", []string{"d/s = inside", "x/s = inside", "x/t = inside"}, [2]string{"d", "x"}, nil},
	{"removed and made again", []string{"d/s = inside"}, [2]string{}, func(ws string) {
		os.Rename(ws+"/d", ws+"/e")
		os.Symlink("../OUT", ws+"/d")
		os.Remove(ws + "/d")
		os.Rename(ws+"/e", ws+"/d")
	}},
}

// attack runs one attacker until stop is called and counts its rounds.
func attack(ws string, swap [2]string, also func(string)) (rounds *atomic.Int64, stop func()) {
	var over atomic.Bool
	rounds = new(atomic.Int64)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for !over.Load() {
			if also != nil {
				also(ws)
			} else {
				unix.Renameat2(unix.AT_FDCWD, ws+"/"+swap[0], unix.AT_FDCWD, ws+"/"+swap[1], unix.RENAME_EXCHANGE)
			}
			if rounds.Add(1)%8 == 0 {
				runtime.Gosched()
			}
		}
	}()
	return rounds, func() { over.Store(true); wg.Wait() }
}

var raceCodes = map[Code]bool{0: true, NotFound: true, OutsideWorkspace: true, DeniedPath: true, SpecialFile: true, IsADirectory: true, NotADirectory: true}

func TestRaces(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 100
	}
	eachDoor(t, func(t *testing.T, fallback bool) {
		for _, m := range moves {
			t.Run(m.name, func(t *testing.T) {
				ws, out := plant(t, m.tree...)
				w := open(t, ws, fallback)
				var ids []uint64 // of everything outside
				for _, n := range []string{".", "s", "big", outsideName, "sub", "sub/s"} {
					info, err := statName(filepath.Join(out, n))
					must(t, err)
					ids = append(ids, info.Ino)
				}
				v := &victim{t: t, w: w, forbidden: ids, seen: map[Code]int{}}
				made, stop := attack(ws, m.swap, m.also)
				n := 0
				// On a busy machine one side may not get to run for a while.
				met := func() bool { return made.Load() >= 50 && v.seen[0] > 0 && len(v.seen) > 1 }
				for ; n < rounds || !met() && n < 200*rounds; n++ {
					v.once()
					if n >= rounds {
						runtime.Gosched()
					}
				}
				stop()
				t.Logf("%d rounds against %d of the attacker: %v", n, made.Load(), v.seen)
				if !met() {
					t.Error("the two sides did not meet")
				}
			})
		}
	})
}

type victim struct {
	t         *testing.T
	w         *Workspace
	forbidden []uint64
	seen      map[Code]int
}

func (v *victim) once() {
	f, err := v.w.OpenFile("d/s")
	if v.judge("OpenFile", err) {
		v.content("OpenFile", f)
		f.Close()
	}
	info, err := v.w.Stat("d/s")
	if v.judge("Stat", err) {
		v.info("Stat", info)
	}
	_, err = v.w.OpenFile("d/outside-mane") // its refusal may suggest near names
	if v.judge("OpenFile of a missing name", err) {
		v.t.Error("an outside name was opened")
	}
	if rel, err := v.w.Locate("d/s"); v.judge("Locate", err) && strings.Contains(rel, "OUT") {
		v.t.Errorf("Locate: %q", rel)
	}
	root, err := v.w.OpenDir(".")
	must(v.t, err)
	defer root.Close()
	if to, _, s := root.Link("d"); s == LinkInside && (strings.HasPrefix(to, "..") || strings.Contains(to, "OUT")) {
		v.t.Errorf("Link: %q", to)
	}
	v.dir(v.w.OpenDir("d"))
	v.dir(root.OpenDir("d"))
}

// dir reads a folder as a walk does.
func (v *victim) dir(d *Dir, err error) {
	if !v.judge("OpenDir", err) {
		return
	}
	defer d.Close()
	es, _, err := d.Entries(0)
	must(v.t, err)
	for _, e := range es {
		if e.Name == outsideName || e.Name == "big" {
			v.t.Errorf("a listing shows %q", e.Name)
		}
	}
	if info, err := d.Stat("s"); v.judge("Dir.Stat", err) && info.Kind == KindFile {
		v.info("Dir.Stat", info)
	}
	f, err := d.OpenFile("s")
	if v.judge("Dir.OpenFile", err) {
		v.content("Dir.OpenFile", f)
		f.Close()
	}
	passed, _ := d.Pass("s")
	f, err = passed.OpenListed()
	if v.judge("Passed.OpenListed", err) {
		v.content("Passed.OpenListed", f)
		f.Close()
	}
}

func (v *victim) judge(call string, err error) bool {
	c := Code(0)
	if err != nil {
		d, ok := errors.AsType[*Denial](err)
		if !ok {
			v.t.Fatalf("%s: a fault: %v", call, err)
		}
		c = d.Code
		if strings.Contains(err.Error(), outsideName) {
			v.t.Errorf("%s: %v", call, err)
		}
	}
	v.seen[c]++
	if !raceCodes[c] {
		v.t.Errorf("%s: %v", call, err)
	}
	return err == nil
}

func (v *victim) content(call string, f *File) {
	b, err := io.ReadAll(f)
	if err != nil || string(b) != "inside" {
		v.t.Fatalf("%s read %q, %v", call, b, err)
	}
	v.info(call, f.Info())
}

func (v *victim) info(call string, i Info) {
	if i.Size == outsideSize || i.ModTime.Equal(outsideTime) || i.Size == int64(len(outsideText)) {
		v.t.Fatalf("%s shows size %d, time %v", call, i.Size, i.ModTime)
	}
	for _, ino := range v.forbidden {
		if i.Ino == ino {
			v.t.Fatalf("%s shows an outside inode", call)
		}
	}
}

// The same attacker against the doors that are usually built: each of them
// leaks, so the test above proves something.
func TestRacesLeakWithoutTheDoor(t *testing.T) {
	inside := func(ws, p string) bool { return p == ws || strings.HasPrefix(p, ws+"/") }
	naive := map[string]func(ws string) []byte{
		"compare the string, then open": func(ws string) []byte {
			p := filepath.Join(ws, "d/s")
			if !inside(ws, p) {
				return nil
			}
			b, _ := os.ReadFile(p)
			return b
		},
		"resolve links, compare, then open what was asked": func(ws string) []byte {
			p := filepath.Join(ws, "d/s")
			real, err := filepath.EvalSymlinks(p)
			if err != nil || !inside(ws, real) {
				return nil
			}
			b, _ := os.ReadFile(p)
			return b
		},
		"resolve links, compare, then open what was resolved": func(ws string) []byte {
			real, err := filepath.EvalSymlinks(filepath.Join(ws, "d/s"))
			if err != nil || !inside(ws, real) {
				return nil
			}
			b, _ := os.ReadFile(real)
			return b
		},
		"refuse links by lstat, then open": func(ws string) []byte {
			for _, p := range []string{"d", "d/s"} {
				if info, err := os.Lstat(filepath.Join(ws, p)); err != nil || info.Mode()&os.ModeSymlink != 0 {
					return nil
				}
			}
			b, _ := os.ReadFile(filepath.Join(ws, "d/s"))
			return b
		},
	}
	const limit = 2_000_000 // a few dozen are enough
	for name, door := range naive {
		t.Run(name, func(t *testing.T) {
			ws, _ := plant(t, "d/s = inside", "x => ../OUT")
			_, stop := attack(ws, [2]string{"d", "x"}, nil)
			defer stop()
			for n := 1; n <= limit; n++ {
				if string(door(ws)) == outsideText {
					t.Logf("leaked in round %d", n)
					return
				}
			}
			t.Error("no leak: the attacker of these tests is too weak to prove anything")
		})
	}
}

// os.Root keeps the kernel below the root, but it follows links inside, so the
// denylist must hold on what it opens: with the check on the name alone, the
// withheld file is handed out.
func TestRootAloneLeaksWithheldFiles(t *testing.T) {
	ws, _ := plant(t, "d/s = inside", ".ssh/s = "+outsideText, "x => .ssh")
	w := open(t, ws, false)
	r, err := os.OpenRoot(ws)
	must(t, err)
	defer r.Close()
	_, stop := attack(ws, [2]string{"d", "x"}, nil)
	defer stop()
	for n := 1; n <= 2_000_000; n++ {
		real, err := filepath.EvalSymlinks(filepath.Join(ws, "d/s"))
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(ws, real)
		must(t, err)
		if _, no := w.Denied(rel); no {
			continue
		}
		if b, _ := r.ReadFile(rel); string(b) == outsideText {
			t.Logf("leaked in round %d", n)
			return
		}
	}
	t.Error("no leak")
}
