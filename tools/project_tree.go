package tools

import (
	"slices"
	"strings"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
)

// treeNode is an entry of the folder tree of an overview.
type treeNode struct {
	label    secrets.Text // escaped name with its marks
	key      string       // what it is sorted by: the name, its secrets masked
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
	// A secret may go across a slash, and the cut may go through one: it is found on
	// the whole path.
	n := &treeNode{label: escaped(secrets.ScanName(path).Slice(len(path)-len(base), len(path))), folder: folder}
	if end := answer.RunePrefix(n.label.Raw, treeNameChars); end < len(n.label.Raw) {
		n.label = n.label.Slice(0, end)
		n.label.Raw += "…"
		n.label = seen(n.label)
	}
	if folder {
		n.label.Raw += "/"
		t.nodes[path] = n
	}
	n.label.Raw += marks
	n.key = n.label.Masked()
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
func (t *projectTree) text() (text secrets.Text, shown, all int) {
	t.sort(t.root)
	top, chars := 0, 0
	for top < min(len(t.root.children), treeEntries) && chars <= treeTopChars {
		chars += len(t.root.children[top].label.Raw) + 1
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
		var j joiner
		t.draw(&j, t.root, keep, "")
		if text := j.text(); len(text.Raw) <= treeChars || left == 0 {
			return text.Slice(0, len(strings.TrimSuffix(text.Raw, "\n"))), shown, all
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

// escaped is a name as EscapeName makes it, with its secrets where they come to lie.
func escaped(t secrets.Text) secrets.Text {
	var j joiner
	at := 0
	for _, s := range t.Spans {
		j.word(sandbox.EscapeName(t.Raw[at:s.Start]))
		raw := sandbox.EscapeName(t.Raw[s.Start:s.End])
		j.add(secrets.Text{Raw: raw, Spans: []secrets.Span{{End: len(raw), Rule: s.Rule}}})
		j.word("")
		at = s.End
	}
	j.word(sandbox.EscapeName(t.Raw[at:]))
	return j.text()
}

func (t *projectTree) sort(n *treeNode) {
	slices.SortStableFunc(n.children, func(a, b *treeNode) int {
		if a.folder != b.folder {
			if a.folder {
				return -1
			}
			return 1
		}
		return strings.Compare(a.key, b.key) // what is masked alike stays as it was met
	})
	for _, c := range n.children {
		t.sort(c)
	}
}

func (t *projectTree) draw(j *joiner, n *treeNode, keep map[*treeNode]int, indent string) {
	for _, c := range n.children[:keep[n]] {
		j.word(indent)
		j.add(c.label)
		j.word("") // two names are two secrets
		left := len(c.children) - keep[c] + c.hidden
		if keep[c] == 0 && left > 0 {
			j.word("  " + itoa(int64(left)) + " entries")
		}
		j.word("\n")
		t.draw(j, c, keep, indent+"  ")
	}
	if left := len(n.children) - keep[n] + n.hidden; left > 0 && (keep[n] > 0 || n == t.root) {
		j.word(indent + "… " + itoa(int64(left)) + " more\n")
	}
}
