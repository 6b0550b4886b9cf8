package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestExternalData: what git keeps elsewhere is found, and a repository opens no
// folder by naming it.
func TestExternalData(t *testing.T) {
	base := resolved(t.TempDir())
	tree := func(names ...string) {
		t.Helper()
		for _, n := range names {
			full := filepath.Join(base, n)
			if n[len(n)-1] == '/' {
				if err := os.MkdirAll(full, 0o755); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name, text string) {
		t.Helper()
		tree(name)
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// An ordinary repository keeps all in itself.
	tree("plain/.git/HEAD", "plain/.git/objects/pack/")
	// A linked work tree: its own git directory, the common one, an object
	// store that is borrowed, and one borrowed by that.
	tree("main/.git/HEAD", "main/.git/objects/pack/", "main/.git/worktrees/w/HEAD", "store/pack/", "deep/pack/")
	write("w/.git", "gitdir: "+base+"/main/.git/worktrees/w\n")
	write("main/.git/worktrees/w/commondir", "../..\n")
	write("main/.git/objects/info/alternates", "# borrowed\n"+base+"/store\n../objects\n")
	write("store/info/alternates", "../deep\n")
	// Hostile ones name folders that hold nothing of git's, or everything.
	tree("private/diary")
	write("liar/.git", "gitdir: ../private\n")
	write("empty/.git", "nonsense\n")
	tree("thief/.git/HEAD", "thief/.git/objects/pack/")
	write("thief/.git/objects/info/alternates", base+"/private\n/\n"+base+"\n../../..\n")
	tree("pack/")
	write("HEAD", "")
	write("above/.git", "gitdir: ..\n")
	if err := os.Symlink("loop", filepath.Join(base, "loop")); err != nil {
		t.Skip("no links on this system")
	}
	tree("linked/")
	if err := os.Symlink("../main/.git", filepath.Join(base, "linked", ".git")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"plain":  nil,
		"w":      {"main/.git/worktrees/w", "main/.git", "main/.git/objects", "store", "deep"},
		"linked": {"main/.git", "main/.git/objects", "store", "deep"},
		"liar":   nil, "empty": nil, "above": nil, "thief": nil, "loop": nil, "missing": nil,
	} {
		got := externalData(filepath.Join(base, name))
		for i, g := range got {
			got[i], _ = filepath.Rel(base, g)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
