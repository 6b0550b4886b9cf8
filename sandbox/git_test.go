package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestGitDoor(t *testing.T) {
	ws, _ := plant(t, ".git/HEAD = ref: refs/heads/main", ".git/config = secret", ".git/info/exclude = *.o", ".git/objects/", ".git/link => ../../OUT",
		".git/in => objects", ".git/info/alternates => ../../.env", ".env = secret", ".git/commondir |", "sub/.git = gitdir: ../.git", "d => .git")
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
