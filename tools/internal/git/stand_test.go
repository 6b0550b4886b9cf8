//go:build linux

package git

import (
	"context"
	"strings"
	"testing"
	"time"
)

// renamed is a repository in which git has to read what files hold to find out
// that they were renamed: between two commits, and in the index.
const renamed = `mkdir d; seq 1 200 > d/f.txt; git add .; git commit -qm one
git mv d/f.txt d/g.txt; seq 1 190 > d/g.txt; git add .; git commit -qm two
git mv d/g.txt d/h.txt; seq 2 190 > d/h.txt; git add .; `

// TestGitMeetsNoFileOfTheWorkTree: git takes attributes and a mailmap from the
// work tree, by name. A pipe of such a name would hold it, a link lead it
// elsewhere.
func TestGitMeetsNoFileOfTheWorkTree(t *testing.T) {
	const (
		trees = "git diff-tree -r -M HEAD~1 HEAD"
		index = "git diff-index --cached -M HEAD"
		blame = "git blame -L 1,2 HEAD -- d/g.txt"
	)
	for _, c := range []struct{ name, setup, plain string }{
		{"attributes are a pipe", `mkfifo .gitattributes`, trees},
		{"attributes are a pipe, renamed in the index", `mkfifo .gitattributes`, index},
		{"attributes of a folder are a pipe", `mkfifo d/.gitattributes`, trees},
		{"a folder is a link, to attributes that are a pipe", `rm -r d; mkfifo "$OUT/.gitattributes"; ln -s "$OUT" d`, trees},
		{"attributes are a pipe, asked who wrote lines", `mkfifo .gitattributes`, blame},
		{"the mailmap is a pipe", `mkfifo .mailmap`, blame},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sh(renamed + c.setup)
			if got := f.Try("timeout 0.5 " + c.plain + " >/dev/null; echo $?"); got != "124\n" {
				t.Fatalf("plain git does not wait: %s", got)
			}
			r, err := f.git(Options{Timeout: 4 * time.Second}).Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, head := context.Background(), f.head()
			base, err := r.Resolve(ctx, "HEAD~1")
			if err != nil {
				t.Fatal(err)
			}
			for what, ask := range map[string]func() ([]Change, error){
				"trees": func() ([]Change, error) { return r.TreeChanges(ctx, base, head) },
				"index": func() ([]Change, error) { return r.IndexChanges(ctx, head) },
			} {
				if list, err := ask(); err != nil || len(list) != 1 || list[0].Status != Renamed {
					t.Errorf("%s: %v, %v", what, list, err)
				}
			}
			if b, _, err := r.Blame(ctx, head, "d/g.txt", 1, 2); err != nil || len(b) == 0 {
				t.Errorf("lines: %v, %v", b, err)
			}
		})
	}
}

// TestGitComparesNoFileOfTheWorkTree: while it looks for renames git reads a file
// instead of the blob that the index has for it, if the file has the size and the
// time that the index remembers. Over a link that is any file that the size and the
// time of are known, and what is renamed to it tells what is in it.
func TestGitComparesNoFileOfTheWorkTree(t *testing.T) {
	f := newFixture(t)
	f.sh(`git config core.checkStat minimal; git config core.trustctime false
seq 1000 1099 > guess.txt; git add .; git commit -qm one
seq 1000 1100 > "$OUT/file.txt"; touch -d 2020-01-01 "$OUT/file.txt"
mkdir d; tr '[:alnum:]' q < "$OUT/file.txt" > d/file.txt; touch -d 2020-01-01 d/file.txt; git add d
git rm -q guess.txt; rm -r d; ln -s "$OUT" d`)
	if got := f.sh("git diff-index --cached -M --name-status HEAD"); !strings.HasPrefix(got, "R") {
		t.Fatalf("plain git does not look outside: %s", got)
	}
	list, err := f.repo().IndexChanges(context.Background(), f.head())
	if err != nil || len(list) != 2 || list[0].Status != Added || list[1].Status != Deleted {
		t.Errorf("%+v, %v", list, err)
	}
}
