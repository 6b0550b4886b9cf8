package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestGitDoor(t *testing.T) {
	ws, _ := plant(t, ".git/HEAD = ref: refs/heads/main", ".git/config = secret", ".git/info/exclude = *.o", ".git/objects/", ".git/link => ../../OUT",
		".git/in => objects", ".git/info/alternates => ../../.env", ".env = secret", ".git/commondir |", "sub/.git = gitdir: ../.git", "d => .git",
		"sub/config = [core]ignoreCase")
	eachDoor(t, func(t *testing.T, fallback bool) {
		g, err := open(t, ws, fallback).GitDoor()
		must(t, err)
		defer g.Close()
		for name, want := range map[string]string{".git/HEAD": "ref: refs/heads/main", "./.git//info/exclude": "*.o", "sub/.git": "gitdir: ../.git"} {
			if b, err := g.Read(name, 100); err != nil || string(b) != want {
				t.Errorf("Read(%s) = %q, %v", name, b, err)
			}
		}
		for name, want := range map[string]error{
			".git/config": fs.ErrPermission, ".env": fs.ErrPermission, ".git/info/alternates": ErrOutside, "d/HEAD": ErrOutside, ".git/link/HEAD": ErrOutside,
			"../OUT/HEAD": ErrOutside, "/etc/HEAD": ErrOutside, "x/HEAD": fs.ErrNotExist, ".git/HEAD/HEAD": fs.ErrNotExist, ".git/commondir": errSpecial, ".git": errSpecial,
		} {
			if b, err := g.Read(name, 100); !errors.Is(err, want) {
				t.Errorf("Read(%s) = %q, %v; want %v", name, b, err, want)
			}
		}
		flags := map[string]bool{"core.ignorecase": false}
		if err := g.Flags(".git/link/config", flags); !errors.Is(err, ErrOutside) {
			t.Errorf("Flags through a link: %v", err)
		}
		if err := g.Flags("sub/.git", flags); err != fs.ErrPermission {
			t.Errorf("Flags of another file: %v", err)
		}
		if err := g.Flags("sub/config", flags); err != nil || fmt.Sprint(flags) != "map[core.ignorecase:true]" {
			t.Errorf("Flags = %v, %v", flags, err)
		}
		if _, err := g.Read(".git/HEAD", 5); err == nil {
			t.Error("a file longer than the limit is read")
		}
		for name, kind := range map[string]Kind{".": KindDirectory, ".git": KindDirectory, ".git/objects": KindDirectory, "sub/.git": KindFile, ".git/commondir": KindOther} {
			info, uid, err := g.Stat(name)
			if err != nil || info.Kind != kind || info.Path != filepath.Clean(name) || uid != os.Getuid() {
				t.Errorf("Stat(%s) = %+v, %d, %v", name, info, uid, err)
			}
		}
		for name, want := range map[string]error{".git/link": ErrOutside, ".git/link/s": ErrOutside, ".git/in": ErrOutside, "..": ErrOutside, "d": ErrOutside, "none": fs.ErrNotExist} {
			if _, _, err := g.Stat(name); !errors.Is(err, want) {
				t.Errorf("Stat(%s): %v, want %v", name, err, want)
			}
		}
		for abs, want := range map[string]string{ws: ".", ws + "/.git": ".git", ws + "/a/../b/": "b", ws + "/../x": "", ws + "x": "", "/": ""} {
			if rel, ok := g.Beneath(abs); rel != want || ok != (want != "") {
				t.Errorf("Beneath(%s) = %q, %v", abs, rel, ok)
			}
		}
	})
}

func TestLinkText(t *testing.T) {
	ws, _ := plant(t, "l => ../OUT/s", "f = x", ".env => f")
	d, err := open(t, ws, false).OpenDir(".")
	must(t, err)
	defer d.Close()
	if text, err := d.LinkText("l"); err != nil || text != "../OUT/s" {
		t.Errorf("%q, %v", text, err)
	}
	for name, want := range map[string]Code{"f": NotFound, "none": NotFound, ".env": DeniedPath, "../OUT/s": InvalidPath} {
		if _, err := d.LinkText(name); codeOf(t, err) != want {
			t.Errorf("LinkText(%s): %v", name, err)
		}
	}
}

// TestGitDoorLooks: names of the work tree are looked at without following a
// link, whatever the denylist says; refs are read for where they lead.
func TestGitDoorLooks(t *testing.T) {
	ws, _ := plant(t, "a/b/f = text", ".env = secret", "p |", "l => a", "out => ../OUT", "a/in => b", ".git/refs/heads/x = ref: refs/heads/y\n", ".git/refs/heads/id_rsa = ref:\t hooks/p \n", ".git/refs/heads/n = 0123\n", ".git/refs/heads/p |")
	must(t, os.Chmod(filepath.Join(ws, "a/b/f"), 0o755))
	eachDoor(t, func(t *testing.T, fallback bool) {
		g, err := open(t, ws, fallback).GitDoor()
		must(t, err)
		defer g.Close()
		for name, want := range map[string]Look{"a/b/f": {Kind: KindFile, Size: 4, Perm: 0o755}, ".env": {Kind: KindFile, Size: 6, Perm: 0o644}, "p": {Kind: KindOther}, "l": {Kind: KindSymlink, Size: 1}, "a/b": {Kind: KindDirectory}} {
			l, err := g.Look(name)
			if err != nil || l.Kind != want.Kind || want.Size > 0 && l.Size != want.Size || want.Perm > 0 && l.Perm != want.Perm || l.Modified.IsZero() || l.Changed.IsZero() {
				t.Errorf("Look(%s) = %+v, %v", name, l, err)
			}
		}
		for name, want := range map[string]error{
			"l/b/f": ErrOutside, "out/s": ErrOutside, "a/in/f": ErrOutside, "../OUT/s": ErrOutside, "/etc/passwd": ErrOutside, "a//b": ErrOutside, "./p": ErrOutside, "a/..": ErrOutside, "": ErrOutside,
			"none": fs.ErrNotExist, "none/x": fs.ErrNotExist, "a/b/f/x": fs.ErrNotExist, "a/b/none": fs.ErrNotExist,
		} {
			if l, err := g.Look(name); !errors.Is(err, want) {
				t.Errorf("Look(%s) = %+v, %v; want %v", name, l, err, want)
			}
		}
		to, err := g.Symrefs(".git/refs/heads", []string{"x", "id_rsa", "n", "none", "../../refs/heads/x"})
		if err != nil || len(to) != 2 || to[0] != "refs/heads/y" || to[1] != "hooks/p" {
			t.Errorf("%q, %v", to, err)
		}
		if _, err := g.Symrefs(".git/refs/heads", []string{"p"}); err == nil {
			t.Error("a pipe is read")
		}
		if _, err := g.Symrefs("out", []string{"s"}); !errors.Is(err, ErrOutside) {
			t.Errorf("a folder outside: %v", err)
		}
		mark := func(name string) Mark {
			t.Helper()
			m, err := g.Mark(name)
			must(t, err)
			return m
		}
		for _, name := range []string{"a", "a/b", "a/b/f", "."} {
			before := mark(name)
			if !before.Same(mark(name)) {
				t.Errorf("%s has not changed", name)
			}
			for before.Young() > 0 {
				<-time.After(before.Young())
				before = mark(name)
			}
			full := filepath.Join(ws, name)
			if name == "." {
				must(t, os.Mkdir(filepath.Join(ws, "new"), 0o755))
				must(t, os.Remove(filepath.Join(ws, "new")))
			} else {
				must(t, os.Rename(full, full+"2"))
				must(t, os.Rename(full+"2", full))
			}
			if before.Same(mark(name)) {
				t.Errorf("%s was renamed and back, and has the same mark", name)
			}
		}
	})
}
