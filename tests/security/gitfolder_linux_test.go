package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-devserver/tests/hostile"
)

// gitNames are names in a repository that git opens when they are there, and a
// few that it does not.
var gitNames = []string{
	".git", ".git/HEAD", ".git/config", ".git/config.worktree", ".git/index", ".git/sharedindex.0123456789012345678901234567890123456789", ".git/packed-refs", ".git/shallow", ".git/commondir", ".git/gitdir",
	".git/ORIG_HEAD", ".git/MERGE_HEAD", ".git/FETCH_HEAD", ".git/refs", ".git/refs/heads", ".git/refs/heads/main", ".git/refs/heads/side", ".git/refs/heads/deep/er/x", ".git/refs/tags/v1", ".git/refs/tags/v2", ".git/refs/remotes/origin/HEAD", ".git/refs/stash", ".git/refs/replace/0123456789012345678901234567890123456789",
	".git/objects", ".git/objects/info", ".git/objects/info/alternates", ".git/objects/info/packs", ".git/objects/info/commit-graph", ".git/objects/info/commit-graphs", ".git/objects/info/commit-graphs/commit-graph-chain", ".git/objects/pack", ".git/objects/pack/multi-pack-index",
	".git/objects/pack/pack-0123456789012345678901234567890123456789.idx", ".git/objects/pack/pack-0123456789012345678901234567890123456789.pack", ".git/objects/01", ".git/objects/01/23456789012345678901234567890123456789",
	".git/info", ".git/info/attributes", ".git/info/exclude", ".git/info/grafts", ".git/info/sparse-checkout", ".git/info/refs", ".git/logs", ".git/logs/HEAD", ".git/logs/refs/heads/main", ".git/hooks", ".git/hooks/post-index-change", ".git/worktrees", ".git/modules", ".git/reftable",
	".gitattributes", ".gitmodules", ".gitignore", ".mailmap", "docs/.gitattributes", "docs/.git", "a.txt",
}

// TestGitFolder puts a pipe, a device or a link out in the place of every name
// that git knows: it is not opened, nothing waits for it, and what is refused is
// refused at once.
func TestGitFolder(t *testing.T) {
	kinds := map[string]func(t *testing.T, f *hostile.Repository, name string) bool{
		"pipe": func(t *testing.T, _ *hostile.Repository, name string) bool { must(t, makePipe(name)); return true },
		"device": func(t *testing.T, _ *hostile.Repository, name string) bool {
			return unix.Mknod(name, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil
		},
		"link to a pipe outside": func(t *testing.T, f *hostile.Repository, name string) bool {
			must(t, makePipe(f.Out+"/pipe"))
			must(t, os.Symlink(f.Out+"/pipe", name))
			return true
		},
	}
	for kind, put := range kinds {
		t.Run(kind, func(t *testing.T) {
			for i, name := range gitNames {
				if !thorough() && (i%4 != 2 || kind != "pipe" && i%12 != 2) {
					continue // packed-refs is among those that stay
				}
				f := hostile.New(t)
				f.Sh(hostile.TwoCommits)
				full := filepath.Join(f.WS, name)
				must(t, os.MkdirAll(filepath.Dir(full), 0o755))
				must(t, os.RemoveAll(full))
				if !put(t, f, full) {
					t.Skip("no device can be made here")
				}
				opened := opens(t, full)
				s := serve(t, f.WS)
				for _, q := range []inquiry{
					{"git_log", args{"detail": "files"}}, {"git_log", args{"revision": "side"}}, {"git_log", args{"revision": "v2"}}, {"git_log", args{"revision": "ORIG_HEAD"}}, {"git_diff", args{}}, {"git_diff", args{"base": "main", "staged": true}},
					{"read_file", args{"path": "a.txt", "revision": "HEAD"}}, {"project_overview", args{}}, {"search_code", args{"pattern": "one"}},
				} {
					took, code := time.Duration(0), ""
					for try := 0; try == 0 || took > quick && try < 6; try++ {
						start := time.Now()
						x := s.call(q.tool, q.a)
						took, code = time.Since(start), x.code()
						if code == "timeout" || code == "-32603" {
							t.Fatalf("%s is a %s: %s %s: %s after %v", name, kind, q.tool, quote(q.a), code, took)
						}
					}
					if took > quick && slices.Contains([]string{"not_a_repository", "git_outside_workspace"}, code) {
						t.Errorf("%s is a %s: %s %s: %s after %v", name, kind, q.tool, quote(q.a), code, took)
					}
				}
				if opened() {
					t.Errorf("%s is a %s, and was opened", name, kind)
				}
				if name == ".git/packed-refs" {
					// Who waits for the other end of a pipe is not seen to open it.
					if said := f.Try("timeout 0.3 git for-each-ref >/dev/null; echo $?"); !opened() && !strings.Contains(said, "124") {
						t.Error("plain git does not open it either: ", said)
					}
				}
			}
		})
	}
}
