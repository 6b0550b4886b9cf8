package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trackedFiles lists what git takes for files of its work tree, each once.
func trackedFiles(tb testing.TB, dir string) []string {
	tb.Helper()
	files := gitFiles(tb, dir)
	slices.Sort(files)
	return slices.Compact(files)
}

// Some of the files of generated trees are added by force: the walk sees what git sees, whatever the version of the index.
func TestTrackedMatchesGit(t *testing.T) {
	forced := 0
	for batch, version := range []string{"2", "3", "4", "2"} {
		r := rand.New(rand.NewPCG(11, uint64(batch)))
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		git(t, dir, "config", "index.version", version)
		files := map[string]string{}
		for n := 0; n < 60; n++ {
			top := fmt.Sprintf("t%03d/", n)
			randomTree(r, top, 0, files)
			files[top+".gitignore"] = randomIgnoreFile(r, 1+r.IntN(6), pathsBelow(files, top))
		}
		for name := range files {
			for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
				delete(files, name[:i])
			}
		}
		write(t, dir, files)
		before := gitFiles(t, dir)
		names := make([]string, 0, len(files))
		for name := range files {
			names = append(names, name)
		}
		slices.Sort(names)
		args := []string{"--literal-pathspecs", "add", "-f", "--"}
		for _, name := range names {
			if !strings.HasSuffix(name, "/") && r.IntN(4) == 0 {
				args = append(args, name)
			}
		}
		git(t, dir, args...)
		if version == "3" {
			git(t, dir, "--literal-pathspecs", "update-index", "--skip-worktree", args[len(args)-1]) // needs the wider entry
		}
		want, ws := trackedFiles(t, dir), open(t, dir)
		got := walkFiles(t, ws, ".")
		slices.Sort(got)
		for _, d := range difference(want, got) {
			t.Fatalf("batch %d: git and the walk differ (+ git has it, - it has not): %q", batch, d)
		}
		forced += len(want) - len(before)
	}
	if forced < 50 {
		t.Errorf("only %d files are tracked against a rule", forced)
	}
}

// A repository below the root, one that is a submodule, and one whose index only git can read.
func TestTrackedElsewhere(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, map[string]string{".gitignore": "*.log\n/in\n/sub\n", "a.log": "", "b.log": "", "in/deep/x": "", "in/deep/.gitignore": "!y\n", "in/deep/y": "", "in/z": "",
		"nested/.gitignore": "*.o\n", "nested/a.o": "", "nested/b.o": "", "sub/.gitignore": "*.o\n", "sub/c.o": "", "sub/d.o": ""})
	git(t, filepath.Join(dir, "nested"), "init", "-q")
	git(t, filepath.Join(dir, "nested"), "add", "-f", "a.o")
	sub := filepath.Join(dir, "sub")
	git(t, sub, "init", "-q", "--separate-git-dir", filepath.Join(dir, ".git", "modules-sub"))
	if err := os.WriteFile(filepath.Join(sub, ".git"), []byte("gitdir: ../.git/modules-sub\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, sub, "add", "-f", "c.o")
	git(t, sub, "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm", "c")
	git(t, dir, "add", "-f", "a.log", "in/deep/x", "sub")
	want := []string{".gitignore", "a.log", "in/deep/x", "nested/.gitignore", "nested/a.o", "sub/.gitignore", "sub/c.o"}
	// The file that leads to the data of a submodule is no file of the work tree.
	ws := open(t, dir)
	if got := walkFiles(t, ws, "."); !slices.Equal(got, want) {
		t.Errorf("walk sees %q", got)
	}

	git(t, dir, "update-index", "--split-index")
	lost := []string{".gitignore", "nested/.gitignore", "nested/a.o"}
	o := Options{Gitignore: true}
	got, stats := seen(t, dir, o)
	if !slices.Equal(got, lost) || stats.IndexLost != 1 {
		t.Errorf("split index, no help: %q, %d lost", got, stats.IndexLost)
	}
	o.Tracked = func(context.Context) ([]string, []string, error) {
		return []string{"sub", "a.log", "in/deep/x"}, []string{"sub"}, nil
	}
	if got, stats = seen(t, dir, o); !slices.Equal(got, want) || stats.IndexLost != 0 {
		t.Errorf("split index, listed by git: %q, %d lost", got, stats.IndexLost)
	}
	o.Tracked = func(context.Context) ([]string, []string, error) { return nil, nil, errors.New("no git") }
	if got, stats = seen(t, dir, o); !slices.Equal(got, lost) || stats.IndexLost != 1 {
		t.Errorf("split index, no git: %q, %d lost", got, stats.IndexLost)
	}
}

func seen(t *testing.T, dir string, o Options) (files []string, stats Stats) {
	t.Helper()
	stats, err := Walk(context.Background(), open(t, dir), ".", o, func(it *Item) (Action, error) {
		if it.State == OK && it.Kind.String() == "file" {
			files = append(files, it.Path)
		}
		return Continue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, stats
}

// sampleIndex is the index of a small repository in a version of the format.
func sampleIndex(tb testing.TB, version string) []byte {
	dir := tb.TempDir()
	git(tb, dir, "init", "-q")
	git(tb, dir, "config", "index.version", version)
	write(tb, dir, map[string]string{"a/b": "1", "a/c": "2", "a-b": "3", "z": "4"})
	git(tb, dir, "add", ".")
	b, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestIndexDamaged(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		good := sampleIndex(t, version)
		x, err := parseIndex(good)
		if err != nil || x.len() != 4 || !x.has("a", true) || x.has("a", false) || !x.has("a/c", false) || x.has("a/", false) || x.has("a/b", true) || !x.has("z", false) || x.has("zz", false) {
			t.Fatalf("version %s: %v", version, err)
		}
		for n := range good {
			if _, err := parseIndex(good[:n]); err == nil {
				t.Errorf("version %s: cut to %d of %d bytes it is read", version, n, len(good))
			}
		}
		ahead := bytes.Replace(good, []byte("TREE"), []byte("sdir"), 1)
		if bytes.Equal(ahead, good) {
			t.Log("no extension in this index")
			ahead = append(slices.Clone(good[:len(good)-20]), append([]byte("sdir\x00\x00\x00\x00"), good[len(good)-20:]...)...)
		}
		if _, err := parseIndex(ahead); err != errIndexAsk {
			t.Errorf("version %s: an extension that must be understood: %v", version, err)
		}
	}
	good := sampleIndex(t, "2")
	for trick, at := range map[string]int{"signature": 0, "version": 7, "more entries than bytes": 8, "one entry more": 11, "length of the name": 12 + 61} {
		b := slices.Clone(good)
		b[at] += 7
		if _, err := parseIndex(b); err == nil {
			t.Errorf("%s: read", trick)
		}
	}
	swapped := bytes.Replace(good, []byte("a/c\x00"), []byte("Z/c\x00"), 1)
	if _, err := parseIndex(swapped); err == nil {
		t.Error("names out of order: read")
	}
}

// Whatever the bytes: no panic, and what was read is in order.
func FuzzIndex(f *testing.F) {
	for _, v := range []string{"2", "4"} {
		f.Add(sampleIndex(f, v))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := parseIndex(b)
		if err != nil {
			return
		}
		for i := 1; i < x.len(); i++ {
			if x.name(i-1) > x.name(i) || !x.has(x.name(i), false) {
				t.Fatalf("%q then %q", x.name(i-1), x.name(i))
			}
		}
	})
}
