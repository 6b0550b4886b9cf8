package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// model is a tree in memory: the slow and obvious way to say what a path
// means. Every folder, file and link is one entry, by its absolute path.
type model struct {
	root string
	node map[string]string // "d", "f", "p", or "l" and the target
	deny func(rel string) bool
}

// lookup follows path like the kernel would, one component after the other,
// and stops where the door must: outside, or at a withheld name.
func (m *model) lookup(path string) (string, Code) {
	if m.textLeaves(path) {
		return "", OutsideWorkspace
	}
	if m.textDenied(path) {
		return "", DeniedPath
	}
	at := m.root
	todo := split(strings.TrimPrefix(path, m.root+"/"))
	if path == m.root {
		todo = nil
	}
	folder := strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.")
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "/": // what came before must be a folder
			if m.node[at] != "d" {
				return "", NotFound
			}
			continue
		case "..":
			if m.node[at] != "d" {
				return "", NotFound
			}
			if at == m.root {
				return "", OutsideWorkspace
			}
			at = filepath.Dir(at)
			continue
		}
		next := at + "/" + name
		if m.deny(strings.TrimPrefix(next, m.root+"/")) {
			return "", DeniedPath // before it is known whether it exists
		}
		kind, ok := m.node[next]
		if !ok || m.node[at] != "d" {
			return "", NotFound
		}
		target, link := strings.CutPrefix(kind, "l")
		if !link {
			at = next
			continue
		}
		if links++; links > 40 {
			return "", NotFound
		}
		if strings.HasPrefix(target, "/") {
			if target != m.root && !strings.HasPrefix(target, m.root+"/") {
				return "", OutsideWorkspace
			}
			at, target = m.root, strings.TrimPrefix(strings.TrimPrefix(target, m.root), "/")
		}
		more := split(target)
		if strings.HasSuffix(target, "/") || strings.HasSuffix(target, "/.") {
			more = append(more, "/")
		}
		todo = append(more, todo...)
	}
	switch m.node[at] {
	case "d":
		return at, IsADirectory
	case "p":
		return at, SpecialFile
	}
	if folder {
		return "", NotFound
	}
	return at, 0
}

func split(p string) []string {
	var parts []string
	for _, s := range strings.Split(p, "/") {
		if s != "" && s != "." {
			parts = append(parts, s)
		}
	}
	return parts
}

func (m *model) textLeaves(path string) bool {
	depth := 0
	if strings.HasPrefix(path, "/") {
		if path != m.root && !strings.HasPrefix(path, m.root+"/") {
			return true
		}
		path = strings.TrimPrefix(path, m.root)
	}
	for _, s := range split(path) {
		if depth++; s == ".." {
			depth -= 2
		}
		if depth < 0 {
			return true
		}
	}
	return false
}

func (m *model) textDenied(path string) bool {
	var seen []string
	for _, s := range split(strings.TrimPrefix(path, m.root)) {
		if s == ".." {
			seen = seen[:len(seen)-1]
			continue
		}
		seen = append(seen, s)
		if m.deny(strings.Join(seen, "/")) {
			return true
		}
	}
	return false
}

// pick builds trees and paths out of few words, so that they meet.
type pick struct{ b []byte }

func (p *pick) n(max int) int {
	if len(p.b) == 0 {
		return 0
	}
	v := int(p.b[0])
	p.b = p.b[1:]
	return v % max
}

func (p *pick) path(words []string, most int) string {
	n := 1 + p.n(most)
	var parts []string
	for range n {
		parts = append(parts, words[p.n(len(words))])
	}
	return strings.Join(parts, "/")
}

func FuzzResolve(f *testing.F) {
	for i := range 60 {
		b := make([]byte, 120)
		x := uint32(i)*2654435761 + 12345
		for j := range b {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			b[j] = byte(x >> 8)
		}
		f.Add(b)
	}
	f.Add([]byte("1101A2&.0020000100100200000000000000000000000000000100120")) // a withheld name below a file
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 400 {
			randomTree(t, b)
		}
	})
}

// The same with bytes of a fixed generator: more trees than a fuzzer makes in
// the time, and proof that every outcome is met.
func TestRandomTrees(t *testing.T) {
	trees := 250
	if testing.Short() {
		trees = 60
	}
	r := rand.NewChaCha8([32]byte{1})
	seen := map[Code]int{}
	for range trees {
		b := make([]byte, 160)
		r.Read(b)
		for c, n := range randomTree(t, b) {
			seen[c] += n
		}
	}
	t.Log(seen)
	for _, c := range []Code{0, OutsideWorkspace, DeniedPath, NotFound, IsADirectory, SpecialFile} {
		if seen[c] < trees/10 {
			t.Errorf("the outcome %v was met %d times only", c, seen[c])
		}
	}
}

// randomTree builds one tree, asks for some paths in it, and counts outcomes.
func randomTree(t *testing.T, b []byte) map[Code]int {
	seen := map[Code]int{}
	p := &pick{b}
	base := t.TempDir()
	root := filepath.Join(base, "ws")
	m := &model{root: root, node: map[string]string{root: "d"}}
	must(t, os.Mkdir(root, 0o755))
	must(t, os.Mkdir(filepath.Join(base, "OUT"), 0o755))
	must(t, os.WriteFile(filepath.Join(base, "OUT", "a"), []byte(outsideText), 0o644))
	words := []string{"a", "b", "c", ".env", ".git"}
	targets := append([]string{"..", "../..", ".", "../OUT", "../ws", root, root + "/a", base + "/OUT", root + "/..", "b/", ""}, words...)
	for range 3 + p.n(12) {
		name := p.path(words[:3+p.n(3)], 3)
		full := filepath.Join(root, name)
		if _, err := os.Lstat(full); err == nil || m.node[filepath.Dir(full)] != "d" {
			continue
		}
		switch p.n(6) {
		case 0, 1:
			must(t, os.Mkdir(full, 0o755))
			m.node[full] = "d"
		case 2:
			must(t, os.WriteFile(full, []byte(name), 0o644))
			m.node[full] = "f"
		case 3:
			must(t, makePipe(full))
			m.node[full] = "p"
		default:
			target := p.path(targets, 3)
			if strings.Trim(target, "/") == "" || strings.Contains(target[1:], base) {
				continue
			}
			must(t, os.Symlink(target, full))
			m.node[full] = "l" + target
		}
	}
	w := open(t, root, p.n(2) == 1)
	m.deny = func(rel string) bool {
		for _, s := range strings.Split(rel, "/") {
			if s == ".env" || s == ".git" {
				return true
			}
		}
		return false
	}
	var names []string // what exists, so that many paths lead somewhere
	for n := range m.node {
		names = append(names, n)
	}
	slices.Sort(names)
	ends := []string{"", "", "/a", "/b", "/..", "/../b", "/.", "/", "/.env"}
	for range 12 {
		path := p.path([]string{"..", ".", "a", "b", "c", "d", "e", "a", "b", "c", ".git"}, 4)
		if p.n(3) > 0 {
			path = strings.TrimPrefix(names[p.n(len(names))], root+"/") + ends[p.n(len(ends))]
		}
		if p.n(6) == 0 && !strings.HasPrefix(path, "/") {
			path = root + "/" + path
		}
		seen[compare(t, w, m, path)]++
	}
	return seen
}

func compare(t *testing.T, w *Workspace, m *model, path string) Code {
	want, code := m.lookup(path)
	tree := func() string { return fmt.Sprintf("%v", m.node) }
	file, err := w.OpenFile(path)
	if got := codeOf(t, err); got != code {
		t.Fatalf("OpenFile(%q): %v, want %v %q\n%s", path, err, code, want, tree())
	}
	if err != nil {
		if d, err := w.OpenDir(path); err == nil {
			defer d.Close()
			if code != IsADirectory || filepath.Join(m.root, d.Path()) != want {
				t.Fatalf("OpenDir(%q) opened %q, want %q\n%s", path, d.Path(), want, tree())
			}
		} else if code == IsADirectory {
			t.Fatalf("OpenDir(%q): %v\n%s", path, err, tree())
		}
		return code
	}
	defer file.Close()
	rel := strings.TrimPrefix(want, m.root+"/")
	text := make([]byte, 100)
	n, _ := file.Read(text)
	if file.Info().Path != rel || string(text[:n]) != rel {
		t.Fatalf("OpenFile(%q) is %q with %q, want %q\n%s", path, file.Info().Path, text[:n], rel, tree())
	}
	// The system agrees where the path leads.
	full := path
	if !filepath.IsAbs(full) {
		full = m.root + "/" + path
	}
	if real, err := filepath.EvalSymlinks(full); err != nil || real != want {
		t.Fatalf("EvalSymlinks(%q) = %q, %v; want %q\n%s", full, real, err, want, tree())
	}
	return code
}
