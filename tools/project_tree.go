package tools

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
)

// treeNode is an entry of the folder tree of an overview.
type treeNode struct {
	label    string // escaped name with its marks
	folder   bool
	children []*treeNode
	hidden   int // entries of this folder that are not among children
}

// Bounds of the tree.
const (
	treeEntries   = 150
	treeChars     = 2200 // beyond it lower levels give way
	treeTopChars  = 3600 // beyond it the first level does too
	treeNameChars = 120
)

// projectTree collects the upper levels while a walk visits them.
type projectTree struct {
	depth int
	start string // path of the folder that is summarised, "" for the root
	root  *treeNode
	nodes map[string]*treeNode // folders by path
}

func newProjectTree(start string, depth int) *projectTree {
	if start == "." {
		start = ""
	}
	root := &treeNode{folder: true}
	return &projectTree{depth: depth, start: start, root: root, nodes: map[string]*treeNode{start: root}}
}

// add takes an entry at a level that is shown, with the marks behind its name.
func (t *projectTree) add(path string, level int, folder bool, marks string) {
	if level > t.depth {
		return
	}
	dir, base := split(path)
	parent := t.nodes[dir]
	if parent == nil {
		return
	}
	n := &treeNode{label: sandbox.EscapeName(base), folder: folder}
	// What redaction could not see in a label on its own gives way here: a secret
	// that goes across a slash, or one that the cut below would go through.
	if name := secrets.Scan(path).Slice(len(path)-len(base), len(path)); len(name.Spans) > 0 &&
		(utf8.RuneCountInString(n.label) > treeNameChars || secrets.Find(base) == nil) {
		clean, _ := secrets.Redact(name, false, nil)
		n.label = sandbox.EscapeName(clean)
	}
	if end := runePrefix(n.label, treeNameChars); end < len(n.label) {
		n.label = n.label[:end] + "…"
	}
	if folder {
		n.label += "/"
		t.nodes[path] = n
	}
	n.label += marks
	parent.children = append(parent.children, n)
}

// cut notes entries of a folder that the walk left out.
func (t *projectTree) cut(path string, n int) {
	if path == "." {
		path = ""
	}
	if node := t.nodes[path]; node != nil {
		node.hidden += n
	}
}

// text draws the tree: folders first, two spaces for each level. The entries of the first level come first; the room
// that is left is shared evenly by the folders of the next one, so that one big folder does not take the place of the
// others. shown counts the entries drawn, all what was there to draw.
func (t *projectTree) text() (text string, shown, all int) {
	t.sort(t.root)
	top, chars := 0, 0
	for top < min(len(t.root.children), treeEntries) && chars <= treeTopChars {
		chars += len(t.root.children[top].label) + 1
		top++
	}
	for left := treeEntries - top; ; left = left * 3 / 4 {
		keep := map[*treeNode]int{t.root: top}
		shown, all = top, len(t.root.children)+t.root.hidden
		level := t.root.children[:top]
		room := left
		for range t.depth - 1 {
			k := share(level, room)
			var next []*treeNode
			for _, n := range level {
				take := min(k, len(n.children))
				keep[n] = take
				room -= take
				shown += take
				all += len(n.children) + n.hidden
				next = append(next, n.children[:take]...)
			}
			level = next
		}
		var b strings.Builder
		t.draw(&b, t.root, keep, "")
		if b.Len() <= treeChars || left == 0 {
			return strings.TrimSuffix(b.String(), "\n"), shown, all
		}
	}
}

// share is the largest number of entries that every folder of a level may show within room.
func share(level []*treeNode, room int) int {
	lo, hi := 0, room
	for lo < hi {
		k := (lo + hi + 1) / 2
		sum := 0
		for _, n := range level {
			sum += min(k, len(n.children))
		}
		if sum <= room {
			lo = k
		} else {
			hi = k - 1
		}
	}
	return lo
}

func (t *projectTree) sort(n *treeNode) {
	slices.SortStableFunc(n.children, func(a, b *treeNode) int {
		if a.folder != b.folder {
			if a.folder {
				return -1
			}
			return 1
		}
		return strings.Compare(a.label, b.label)
	})
	for _, c := range n.children {
		t.sort(c)
	}
}

func (t *projectTree) draw(b *strings.Builder, n *treeNode, keep map[*treeNode]int, indent string) {
	for _, c := range n.children[:keep[n]] {
		b.WriteString(indent + c.label)
		left := len(c.children) - keep[c] + c.hidden
		if keep[c] == 0 && left > 0 {
			b.WriteString("  " + itoa(int64(left)) + " entries")
		}
		b.WriteByte('\n')
		t.draw(b, c, keep, indent+"  ")
	}
	if left := len(n.children) - keep[n] + n.hidden; left > 0 && (keep[n] > 0 || n == t.root) {
		b.WriteString(indent + "… " + itoa(int64(left)) + " more\n")
	}
}
