package walk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where a repository keeps its configuration, and what of it counts.
func TestIgnoreCaseOfRepositories(t *testing.T) {
	tree := map[string]string{".gitignore": "*.O\n/Bin/\nKEEP\n", "a.o": "", "bin/x": "", "keep": "", "src/b.O": "", "src/c.c": ""}
	dir := t.TempDir()
	for _, c := range []struct {
		trick  string
		config []string
		files  map[string]string
		sees   string
	}{
		{"unset", nil, nil, ".gitignore a.o bin/x keep src/c.c"},
		{"set", []string{"core.ignorecase=true"}, nil, ".gitignore src/c.c"},
		{"of the work tree", []string{"core.ignorecase=false", "extensions.worktreeConfig=true"}, map[string]string{".git/config.worktree": "[core]\nignorecase\n"}, ".gitignore src/c.c"},
		{"of a work tree that does not count", nil, map[string]string{".git/config.worktree": "[core]\nignorecase\n"}, ".gitignore a.o bin/x keep src/c.c"},
		{"exclude file", []string{"core.ignorecase=true"}, map[string]string{".git/info/exclude": "/SRC\n"}, ".gitignore"},
	} {
		root := filepath.Join(dir, strings.ReplaceAll(c.trick, " ", "-"))
		write(t, root, tree)
		git(t, root, "init", "-q")
		for _, kv := range c.config {
			k, v, _ := strings.Cut(kv, "=")
			git(t, root, "config", k, v)
		}
		write(t, root, c.files)
		want := strings.Fields(c.sees)
		if list := gitFiles(t, root); !slices.Equal(list, want) {
			t.Errorf("%s: git sees %q", c.trick, list)
		}
		if got := walkFiles(t, open(t, root), "."); !slices.Equal(got, want) {
			t.Errorf("%s: walk sees %q, want %q", c.trick, got, want)
		}
		// The same as a repository of its own within a folder that is served.
		for i := range want {
			want[i] = filepath.Base(root) + "/" + want[i]
		}
		if got := walkFiles(t, open(t, dir), filepath.Base(root)); c.trick != "exclude file" && !slices.Equal(got, want) {
			t.Errorf("%s: walk from above sees %q, want %q", c.trick, got, want)
		}
	}
	// What is tracked under another case is tracked.
	root := filepath.Join(dir, "set")
	git(t, root, "add", "-f", "a.o", "bin/x")
	for from, to := range map[string]string{"a.o": "A.O", "bin": "biN"} {
		if err := os.Rename(filepath.Join(root, from), filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
	}
	if got := walkFiles(t, open(t, root), "."); !slices.Equal(got, []string{".gitignore", "A.O", "biN/x", "src/c.c"}) {
		t.Errorf("walk sees %q of what is tracked", got)
	}
}
