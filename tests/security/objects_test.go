package security

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tests/hostile"
)

// brokenObjects are repositories whose objects are too large, or are not what
// they say. Plain git dies of each, or prints what fire looks for.
var brokenObjects = []struct {
	name, setup string
	fire, says  string // plain git, and what it then prints or says; "" when it ends with an error
}{
	{"a blob that inflates", `head -c 200000000 /dev/zero > big; git add big; git commit -qm 'two big'; rm big`, `git show HEAD:big | wc -c`, "200000000"},
	{"a text that inflates", `yes inside | head -c 60000000 > big.txt; git add big.txt; git commit -qm 'two big'; : > big.txt`, `git diff | wc -c | grep -c '[0-9]\{8\}'`, "1"},
	{"a message without end", `{ echo two; yes word | head -c 20000000; } > "$OUT/m"; git commit -q --allow-empty -F "$OUT/m"`, `git log -1 --format=%B | wc -c | grep -c '[0-9]\{8\}'`, "1"},
	{"an author without end", `echo $(git hash-object -t commit -w --stdin --literally < "$OUT/author") > .git/refs/heads/main`, `git log -1 --format=%an | wc -c`, "2000001"},
	{"a tree of many names", `echo $(git commit-tree -p HEAD -m 'two many' $(git hash-object -t tree -w --stdin --literally < "$OUT/many")) > .git/refs/heads/main`, `git ls-tree HEAD | wc -l`, "60000"},
	{"a tree that leads out", `echo $(git commit-tree -p HEAD -m two $(git hash-object -t tree -w --stdin --literally < "$OUT/leads")) > .git/refs/heads/main`, `git ls-tree --name-only HEAD`, "../out/s"},
	{"an index of many entries", `cp "$OUT/index" .git/index`, `git ls-files | wc -l`, "30000"},
	{"a tree that is none", `git update-ref refs/heads/main $(git commit-tree -p HEAD -m two $(printf 'no tree at all' | git hash-object -t tree -w --stdin --literally))`, `git ls-tree HEAD`, ""},
	{"a commit that is none", `c=$(printf 'nothing' | git hash-object -t commit -w --stdin --literally); echo $c > .git/refs/heads/main`, `git log`, ""},
	{"a commit without its tree", `printf 'tree 0123456789012345678901234567890123456789\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\ntwo\n' > "$OUT/c"; echo $(git hash-object -t commit -w --stdin --literally < "$OUT/c") > .git/refs/heads/main`, `git show --stat`, ""},
	{"a parent that is a blob", `git cat-file commit HEAD | sed "s/^parent .*/parent $(git rev-parse HEAD:a.txt)/" > "$OUT/c"; echo $(git hash-object -t commit -w --stdin --literally < "$OUT/c") > .git/refs/heads/main`, `git log`, ""},
	{"a tag in a tag in a tag", `t=$(git rev-parse HEAD); y=commit; for i in $(seq 60); do t=$(printf 'object %s\ntype %s\ntag x\ntagger a <a@b> 1 +0000\n\nx\n' $t $y | git hash-object -t tag -w --stdin --literally); y=tag; done; echo $t > .git/refs/tags/deep`, `git cat-file -t deep`, "tag"},
	{"a loose object cut short", `o=$(git rev-parse HEAD:a.txt); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f; head -c 5 $f > "$OUT/x"; cp "$OUT/x" $f`, `git show HEAD:a.txt`, ""},
	{"a loose object of other content", `o=$(git rev-parse HEAD:a.txt); p=$(git rev-parse HEAD:b.txt); d=.git/objects; f=$d/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f; cp $d/$(echo $p | cut -c1-2)/$(echo $p | cut -c3-) $f`, `git fsck`, ""},
	{"a pack of rubbish", `git repack -qad; for p in .git/objects/pack/*.pack; do chmod u+w $p; head -c 40 $p > "$OUT/p"; cp "$OUT/p" $p; done`, `git log`, ""},
	{"an index of rubbish", `printf 'DIRC\0\0\0\2\377\377\377\377' > .git/index`, `git diff`, ""},
}

// heavy are the names of those that take long to make.
var heavy = []string{"a blob that inflates", "a text that inflates", "a message without end", "an author without end", "a tree of many names", "an index of many entries"}

// raw writes what no command of git writes into the folder outside.
func raw(f *hostile.Repository) {
	tree := strings.TrimSpace(f.Sh("git rev-parse HEAD^{tree}"))
	blob, err := hex.DecodeString(strings.TrimSpace(f.Sh("git rev-parse HEAD:a.txt")))
	must(f.T, err)
	var many, leads, index bytes.Buffer
	for i := range 60000 {
		fmt.Fprintf(&many, "100644 f%06d\x00%s", i, blob)
	}
	for _, e := range []string{"100644 ../out/s", "100644 ..", "100644 .git", "120000 /etc/passwd", "100644 a\nb", "100644 "} {
		fmt.Fprintf(&leads, "%s\x00%s", e, blob)
	}
	index.WriteString("DIRC\x00\x00\x00\x02")
	index.Write(binary.BigEndian.AppendUint32(nil, 30000))
	for i := range 30000 {
		var e [62]byte
		binary.BigEndian.PutUint32(e[24:], 0o100644)
		copy(e[40:], blob)
		binary.BigEndian.PutUint16(e[60:], 7)
		fmt.Fprintf(&index, "%sf%06d\x00\x00\x00", e[:], i) // 72 bytes, a multiple of eight
	}
	sum := sha1.Sum(index.Bytes())
	index.Write(sum[:])
	for name, b := range map[string][]byte{
		"many": many.Bytes(), "leads": leads.Bytes(), "index": index.Bytes(), "s": []byte("OUTSIDE"),
		"author": []byte("tree " + tree + "\nauthor " + strings.Repeat("a", 2_000_000) + " <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\n\ntwo\n"),
	} {
		must(f.T, os.WriteFile(filepath.Join(f.Out, name), b, 0o644))
	}
}

// TestBrokenObjects asks the whole server about each of them: it answers or
// refuses in time, within its memory, without a fault of its own, and goes on.
func TestBrokenObjects(t *testing.T) {
	for _, c := range brokenObjects {
		if !thorough() && slices.Contains(heavy, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			f := hostile.New(t)
			f.Sh(hostile.TwoCommits)
			raw(f)
			f.Sh(c.setup)
			said := f.Try(c.fire + " || echo it fails")
			if c.says != "" && !strings.Contains(said, c.says) || c.says == "" && !strings.Contains(said, "it fails") {
				t.Errorf("plain git does not mind: %.300s", said)
			}
			s := serve(t, f.WS)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for _, q := range slices.Concat(inquiries, []inquiry{
				{"read_file", args{"path": "big", "revision": "HEAD"}},
				{"read_file", args{"path": "big.txt", "revision": "HEAD", "tail": 3}},
				{"read_file", args{"path": "../out/s", "revision": "HEAD"}},
				{"git_log", args{"path": "big.txt", "start_line": 1, "end_line": 3}},
				{"git_log", args{"revision": "deep"}},
				{"git_diff", args{"base": "HEAD~1", "path": "big.txt"}},
			}) {
				start := time.Now()
				x := s.call(q.tool, q.a)
				if took := time.Since(start); took > 25*time.Second {
					t.Errorf("%s %s took %v", q.tool, quote(q.a), took)
				}
				if x.code() == "-32603" || strings.Contains(x.decoded(), "OUTSIDE") {
					t.Errorf("%s %s: %.500s", q.tool, quote(q.a), x.raw)
				}
			}
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 400<<20 {
				t.Errorf("the heap has grown by %d MiB", grown>>20)
			}
			if x := s.call("read_file", args{"path": "b.txt"}); x.isError {
				t.Errorf("afterwards: %s", x.text)
			}
		})
	}
}
