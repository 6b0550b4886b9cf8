package tools_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-devserver/tools/internal/tooltest"
)

const (
	trackedFiles = `
		printf '*.log\n/gen/\n' > .gitignore; mkdir gen other; echo needle > a.log; echo needle > b.log; echo needle > gen/x; echo needle > gen/y; echo other > other/z
		git add -f .gitignore a.log gen/x other; git commit -qm first`
	trackedCall = `{"pattern":"needle","output_mode":"count"}`
	trackedWant = "a.log=1 | gen/x=1"
	indexLost   = "the index of a repository could not be read"
)

// What git tracks is searched although a rule matches it, and only that. An index of a kind that git alone reads is listed
// by git; without git the answer says what may be missing.
func TestSearchTrackedFiles(t *testing.T) {
	for _, c := range []struct {
		kind, init, then string
		onlyGit          bool
		holds            string // a mark in the index that shows that it is of that kind
	}{
		{"version 2", "", "", false, "DIRC\x00\x00\x00\x02"},
		{"version 3", "", "git update-index --skip-worktree other/z", false, "DIRC\x00\x00\x00\x03"},
		{"version 4", "", "git update-index --index-version 4", false, "DIRC\x00\x00\x00\x04"},
		{"split", "", "git update-index --split-index", true, "link"},
		{"sparse", "", "git sparse-checkout set --cone --sparse-index gen", true, "sdir"},
		{"SHA-256", "--object-format=sha256", "", true, ""},
	} {
		t.Run(c.kind, func(t *testing.T) {
			f := tooltest.New(t, "")
			gitSh(t, f, "git init -q -b main "+c.init+" .\n"+trackedFiles+"\n"+c.then)
			b, err := os.ReadFile(filepath.Join(f.Root, ".git/index"))
			if err != nil || !bytes.Contains(b, []byte(c.holds)) {
				t.Fatalf("not the index that was wanted: %v\n%q", err, b)
			}
			r := f.Call("search_code", trackedCall)
			if got := strings.Join(strings.Fields(found(r)), " "); got != trackedWant || strings.Contains(r.Text, indexLost) {
				t.Errorf("%q\n%s", got, r.Text)
			}
			f.Env.Git.Enabled = false
			r = f.Call("search_code", trackedCall)
			if got := strings.Contains(r.Outside, indexLost); got != c.onlyGit {
				t.Errorf("without git: lost %v\n%s", got, r.Text)
			}
			if got := strings.Join(strings.Fields(found(r)), " "); (got == trackedWant) == c.onlyGit {
				t.Errorf("without git: %q", got)
			}
			if r = f.Call("list_directory", `{}`); strings.Contains(r.Outside, indexLost) != c.onlyGit {
				t.Errorf("list_directory without git: %s", r.Text)
			}
		})
	}
}

// A folder of the default skip list is left out of a repository as well, but for what was committed in it.
func TestSearchTrackedInSkippedFolder(t *testing.T) {
	f := gitRepo(t, `
		mkdir -p node_modules/p test/fixtures/node_modules/q; echo needle > node_modules/p/i.js
		echo needle > test/fixtures/node_modules/q/i.js; echo needle > test/fixtures/node_modules/q/new.js
		git add test/fixtures/node_modules/q/i.js; git commit -qm first`)
	want := "test/fixtures/node_modules/q/i.js=1"
	if got := strings.TrimSpace(found(f.Call("search_code", trackedCall))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An extension that may change what the entries mean makes the index unreadable for git as well; rules alone decide, and
// the answer says so.
func TestSearchUnknownIndexExtension(t *testing.T) {
	f := gitRepo(t, trackedFiles)
	name := filepath.Join(f.Root, ".git/index")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b[:len(b)-sha1.Size], "zzzz"...)
	b = binary.BigEndian.AppendUint32(b, 3)
	b = append(b, "abc"...)
	sum := sha1.Sum(b)
	if err := os.WriteFile(name, append(b, sum[:]...), 0o644); err != nil {
		t.Fatal(err)
	}
	r := f.Call("search_code", trackedCall)
	if got := found(r); got != "" || !strings.Contains(r.Outside, indexLost) {
		t.Errorf("%q\n%s", got, r.Text)
	}
}
