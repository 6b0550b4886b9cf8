package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// byGit is what "git diff-files" lists, by status, modes and name.
func byGit(f *fixture) (list []string) {
	out := f.sh("git diff-files --raw --no-abbrev -z")
	rawTokens(out, func(string) {}, func(c Change) { list = append(list, shown(c)) })
	return slices.Compact(list)
}

func shown(c Change) string {
	return fmt.Sprintf("%c %o %o %s %s %s", c.Status, c.OldMode, c.NewMode, c.OldID, c.NewID, c.Path)
}

func byUs(t *testing.T, r *Repo) (list []string) {
	t.Helper()
	changes, err := r.FileChanges(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		list = append(list, shown(c))
	}
	return list
}

// TestFileChangesAgainstGit: what differs by the status of files is what git
// says.
func TestFileChangesAgainstGit(t *testing.T) {
	old := "find . -path ./.git -prune -o -exec touch -h -d 2020-01-01 {} +; git update-index -q --refresh || :; "
	for name, setup := range map[string]string{
		"nothing":                             ``,
		"edited":                              `echo three >> a.txt`,
		"same size":                           `printf 'one\nTWO\n' > a.txt`,
		"touched":                             `touch a.txt d/x.txt`,
		"replaced":                            `cp -p a.txt t; mv t a.txt`,
		"change of status alone, not trusted": `git config core.trustctime false; chmod 600 a.txt; chmod 644 a.txt`,
		"replaced, minimal check":             `git config core.checkStat minimal; cp -p a.txt t; mv t a.txt`,
		"touched, minimal check":              `git config core.checkStat minimal; touch a.txt`,
		"removed":                             `rm gone.txt; rm -r d`,
		"executable":                          `chmod +x b.txt`,
		"executable, modes off":               `git config core.fileMode false; chmod +x b.txt; touch b.txt`,
		"executable, modes off late":          `printf '[core]\n\tfilemode = no\n' > .git/inc; git config include.path inc; chmod +x b.txt; touch b.txt`,
		"link":                                `ln -sf b.txt link`,
		"link of the same length":             `ln -sf b.txt link; touch -h -d 2020-01-01 link`,
		"file to link":                        `rm b.txt; ln -s a.txt b.txt`,
		"link to file":                        `rm link; echo x > link`,
		"link to file, links off":             `git config core.symlinks false; rm link; printf a.txt > link`,
		"file to folder":                      `rm b.txt; mkdir b.txt; echo x > b.txt/y`,
		"folder to file":                      `rm -r d; echo d > d`,
		"folder to link out":                  `cp -rp d "$OUT/d"; rm -r d; ln -s "$OUT/d" d`,
		"to be added":                         `echo n > n.txt; git add -N n.txt`,
		"to be added, executable":             `echo n > n.txt; chmod +x n.txt; git add -N n.txt`,
		"to be added, gone":                   `echo n > n.txt; git add -N n.txt; rm n.txt`,
		"assumed to be the same":              `git update-index --assume-unchanged a.txt b.txt; echo x >> a.txt; rm b.txt`,
		"not in the work tree":                `git update-index --skip-worktree a.txt b.txt; echo x >> a.txt; rm b.txt`,
		"sparse":                              `git sparse-checkout set --cone --sparse-index d`,
		"sparse, and there all the same":      `git sparse-checkout set --cone d; mkdir -p docs; echo x > docs/new; mkdir q; git sparse-checkout set --cone q; mkdir -p d; echo y > d/x.txt`,
		"sparse, and there as expected":       `git config sparse.expectFilesOutsideOfPatterns true; git sparse-checkout set --cone q; mkdir -p d; echo y > d/x.txt`,
		"not in the work tree, sparse off":    `git config core.sparseCheckout false; git update-index --skip-worktree a.txt b.txt; echo x >> a.txt; rm b.txt`,
		"split index":                         `git update-index --split-index; echo x >> a.txt; rm b.txt`,
		"index of version 4":                  `git update-index --index-version 4; echo x >> a.txt; rm b.txt`,
		"empty file":                          `: > e.txt; git add e.txt; touch -d 2020-01-01 e.txt; git update-index -q --refresh || :; echo x > e.txt`,
		"content of an index entry":           `git update-index --cacheinfo 100644,$(git rev-parse HEAD:a.txt),b.txt`,
		"conflict":                            `git checkout -q -b side; echo side > b.txt; git commit -qam side; git checkout -q main; echo main > b.txt; git commit -qam main; git merge side >/dev/null || :`,
		"conflict, file gone":                 `git checkout -q -b side; echo side > b.txt; git commit -qam side; git checkout -q main; echo main > b.txt; git commit -qam main; git merge side >/dev/null || :; rm b.txt`,
		"conflict, removed by theirs":         `git checkout -q -b side; git rm -q b.txt; git commit -qam side; git checkout -q main; echo main > b.txt; git commit -qam main; git merge side >/dev/null || :`,
		"names":                               `printf x > "$(printf 'a\tb\nc')"; printf x > 'é "q"'; mkdir -p 'x y/z'; printf x > 'x y/z/w'; git add .; git commit -qm n; echo y >> "$(printf 'a\tb\nc')"; echo y >> 'é "q"'; echo y >> 'x y/z/w'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sh(worktreeBase + old + setup)
			want := byGit(f)
			got := byUs(t, f.repo())
			var conflicts []string
			for _, w := range want { // git tells an unmerged name twice
				if strings.HasPrefix(w, "U ") {
					conflicts = append(conflicts, w[strings.LastIndexByte(w, ' '):])
				}
			}
			want = slices.DeleteFunc(want, func(w string) bool {
				return !strings.HasPrefix(w, "U ") && slices.Contains(conflicts, w[strings.LastIndexByte(w, ' '):])
			})
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%q\ngit: %q", got, want)
			}
		})
	}
}

// TestRacilyClean: a file that may have changed behind the back of the index is
// read here, and not by git; it is listed only if it has.
func TestRacilyClean(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `touch -d 2030-01-01 a.txt b.txt docs/d.txt; git update-index -q --refresh || :; printf 'one\ntw2\n' > a.txt; touch -d 2030-01-01 a.txt
		echo '*.txt filter=y' > .git/info/attributes; git config filter.y.clean "$PROG"`)
	if got := byUs(t, f.repo()); len(got) != 1 || !strings.HasSuffix(got[0], " a.txt") {
		t.Errorf("%q", got)
	}
	if f.fired() {
		t.Error("the filter ran")
	}
}

func TestRacy(t *testing.T) {
	at := time.Unix(1_700_000_000, 500_000_000)
	e := func(t time.Time) *IndexEntry {
		return &IndexEntry{modified: stamp{uint32(t.Unix()), uint32(t.Nanosecond())}}
	}
	for _, c := range []struct {
		name    string
		file    time.Time
		written time.Time
		want    bool
	}{
		{"older", at.Add(-time.Second), at, false},
		{"older by half a second", at.Add(-500 * time.Millisecond).Add(1), at, false},
		{"within one tick", at.Add(-tick / 2), at, true},
		{"of the same time", at, at, true},
		{"younger", at.Add(time.Hour), at, true},
		{"whole seconds in the index, the same one", at.Truncate(time.Second), at, true},
		{"whole seconds in the index, the one before", at.Truncate(time.Second).Add(-time.Second), at, false},
		{"whole seconds on disk, the same one", at, at.Truncate(time.Second), true},
		{"an index of unknown age", at, time.Time{}, true},
	} {
		if got := e(c.file).racy(c.written); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !(&IndexEntry{}).racy(at) {
		t.Error("an entry that remembers nothing")
	}
}

// TestForgedIndex: names that git would refuse to write into an index are not
// looked up, wherever they lead.
func TestForgedIndex(t *testing.T) {
	for _, forged := range []string{"../out/s", "/tmp/./xx", "a/../../x", "./abcde", "a//bcdef", ".git/cfg"} {
		f := newFixture(t)
		f.sh(twoCommits)
		place := strings.Repeat("z", len(forged))
		f.write(place, "x")
		f.sh(`git add .; echo secret > "$OUT/s"`)
		b, err := os.ReadFile(f.ws + "/.git/index")
		if err != nil {
			t.Fatal(err)
		}
		b = []byte(strings.Replace(string(b), place, forged, 1))
		if err := os.WriteFile(f.ws+"/.git/index", b, 0o644); err != nil {
			t.Fatal(err)
		}
		r := f.repo()
		for _, w := range byUs(t, r) {
			if !strings.HasPrefix(w, "D ") && strings.HasSuffix(w, " "+forged) {
				t.Errorf("%s: %s", forged, w)
			}
		}
	}
}

// FuzzIndexEntries: whatever a listing of the index holds, reading it ends, and an
// entry is whole or an error.
func FuzzIndexEntries(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add([]byte("100644 " + id + " 0\ta\x00  ctime: 1:2\n  mtime: 3:4\n  dev: 5\tino: 6\n  uid: 7\tgid: 8\n  size: 9\tflags: 20004000\n120000 " + id + " 2\tb c\x00"))
	f.Add([]byte("100644 " + id + " 0\ta\x00  what: ever\n  ctime: x:y\n  size:\n"))
	f.Add([]byte("100644 " + id + " 0\ta"))
	f.Add([]byte("  ctime: 1:2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bufio.NewReaderSize(bytes.NewReader(b), 64)
		for n := 0; ; n++ {
			e, err := readEntry(in)
			if err != nil {
				if err != io.EOF && err != errFormat {
					t.Fatal(err)
				}
				return
			}
			if e.Path == "" || !isID(e.ID) || e.Stage < 0 || e.Stage > 3 || n > len(b) {
				t.Fatalf("%+v", e)
			}
		}
	})
}
