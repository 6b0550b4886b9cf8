package hostile

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// OutsideRepository is a script, after TwoCommits: a repository outside in whose
// every commit, author, branch, name and file stands "OUTSIDE", and links to its
// parts in the folder "links" of the workspace.
const OutsideRepository = `
git init -q -b main "$OUT/r"; cd "$OUT/r"; git config user.name OUTSIDE; git config user.email o@example.com
for i in 1 2 3; do echo "OUTSIDE $i" > a.txt; echo "OUTSIDE $i" > OUTSIDE-name; git add .; GIT_AUTHOR_NAME=OUTSIDE git commit -qm "OUTSIDE $i"; done
git branch OUTSIDE; git repack -qad; git pack-refs --all; mkdir "$OUT/heads"; git rev-parse HEAD > "$OUT/heads/main"; cp "$OUT/heads/main" "$OUT/heads/OUTSIDE"
cd "$WS"; git repack -qad; mkdir links
ln -s "$OUT/r/.git" links/git; ln -s "$OUT/r/.git/objects" links/objects; ln -s "$OUT/r/.git/objects/pack" links/pack; ln -s "$OUT/heads" links/heads; ln -s "$OUT/r/.git/index" links/index
touch .git/packed-refs; ln -s "$OUT/r/.git/packed-refs" links/packed; mkdir -p .git/objects/info; : > .git/objects/info/alternates; echo "$OUT/r/.git/objects" > "$OUT/alternates"; ln -s "$OUT/alternates" links/alternates`

// Swaps are names of a repository that give way to links out of the workspace.
var Swaps = [][2]string{
	{".git", "links/git"}, {".git/objects", "links/objects"}, {".git/objects/pack", "links/pack"}, {".git/refs/heads", "links/heads"},
	{".git/index", "links/index"}, {".git/packed-refs", "links/packed"}, {".git/objects/info/alternates", "links/alternates"},
}

// Swap exchanges the two names of one of Swaps in the repository at root; a second
// time puts them back.
func Swap(root string, s [2]string) error {
	return unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, s[0]), unix.AT_FDCWD, filepath.Join(root, s[1]), unix.RENAME_EXCHANGE)
}

// together are the names, by their place in Swaps, that give way at one time: each
// by itself, and those that only together show all of what lies outside.
var together = [][]int{{0}, {1, 3}, {1}, {2, 3}, {2}, {3}, {6, 3}, {4}, {6, 5}, {5}, {6}}

// Race swaps names of the repository at root, which OutsideRepository has made,
// until stop is called. Each state is held for a while, so that a git has time to
// read. rounds tells how many swaps there were.
func Race(root string) (stop func(), rounds func() int64) {
	var over atomic.Bool
	var count atomic.Int64
	var attacker sync.WaitGroup
	attacker.Go(func() {
		swap := func(set []int) {
			for _, i := range set {
				_ = Swap(root, Swaps[i])
				count.Add(1)
			}
		}
		for i := 0; !over.Load(); i = (i + 1) % len(together) {
			<-time.After(time.Duration(rand.IntN(8000)) * time.Microsecond)
			swap(together[i])
			<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond)
			swap(together[i])
		}
	})
	return func() { over.Store(true); attacker.Wait() }, count.Load
}
