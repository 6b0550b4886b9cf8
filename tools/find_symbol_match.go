package tools

import (
	"context"
	"slices"
	"strings"

	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/symbol"
	"mcp-devserver/tools/internal/walk"
)

// symbolQuery is a name as asked for.
type symbolQuery struct {
	whole      string
	last       string   // the name itself
	qualifiers []string // containers before it, outermost first
	mode       string
	fold       bool
	needle     string // stands in every text that holds a match; "" when no such text is known
}

func newSymbolQuery(in *findSymbolIn) symbolQuery {
	q := symbolQuery{whole: in.Name, mode: in.Match, fold: in.Match != "exact"}
	parts := symbol.SplitName(in.Name)
	q.last, q.qualifiers = parts[len(parts)-1], parts[:len(parts)-1]
	if q.fold {
		q.whole, q.last = symbol.Fold(q.whole), symbol.Fold(q.last)
		for i := range q.qualifiers {
			q.qualifiers[i] = symbol.Fold(q.qualifiers[i])
		}
	}
	// Of names made of several tokens (operator==) only the first word stands in the text as it is.
	q.needle = q.last
	for i, c := range []byte(q.last) {
		if c >= 0x80 && q.fold {
			q.needle = ""
			break
		}
		if i > 0 && !(c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80) {
			q.needle = q.last[:i]
			break
		}
	}
	return q
}

func (q *symbolQuery) folded(s string) string {
	if q.fold {
		return symbol.Fold(s)
	}
	return s
}

// compare compares the last part of a name.
func (q *symbolQuery) compare(name string) bool {
	name = q.folded(name)
	switch q.mode {
	case "prefix":
		return strings.HasPrefix(name, q.last)
	case "contains":
		return strings.Contains(name, q.last)
	}
	return name == q.last
}

// matches reports whether a definition in the file path has the name asked for.
func (q *symbolQuery) matches(s *symbol.Symbol, path string) bool {
	name := symbol.SplitName(s.Name)
	last := name[len(name)-1]
	if !q.compare(last) && !(len(last) > 1 && strings.IndexByte("#$~", last[0]) >= 0 && q.compare(last[1:])) {
		return q.mode == "exact" && s.Qualified() == q.whole
	}
	if len(q.qualifiers) == 0 {
		return true
	}
	var inner []string
	if s.Container != "" {
		inner = symbol.SplitName(s.Container)
	}
	inner = append(inner, name[:len(name)-1]...)
	var pkg []string
	if s.Package != "" {
		pkg = strings.Split(s.Package, ".")
	}
	if q.suffix(pkg, inner) {
		return true
	}
	file := strings.Split(secrets.MaskName(path), "/")
	base := file[len(file)-1]
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	if q.suffix(file[:len(file)-1], inner) { // the folder is the package
		return true
	}
	file[len(file)-1] = base
	return q.suffix(file, inner)
}

// suffix: the qualifiers are the last parts of outer followed by inner.
func (q *symbolQuery) suffix(outer, inner []string) bool {
	n := len(q.qualifiers)
	if n > len(outer)+len(inner) {
		return false
	}
	for k := 1; k <= n; k++ {
		var have string
		if k <= len(inner) {
			have = inner[len(inner)-k]
		} else {
			have = outer[len(outer)-(k-len(inner))]
		}
		if q.folded(have) != q.qualifiers[n-k] {
			return false
		}
	}
	return true
}

// nearNames looks through the files once more, for names close to one that was not found.
type nearNames struct {
	s       *symbolSearch
	name    string
	scanned int64
	parsed  int64
	seen    map[string]bool // identifier → near
	best    map[string]int  // qualified name → rank
}

func (n *nearNames) visit(ctx context.Context, it *walk.Item, lang string) error {
	if lang == "" || n.scanned > similarScan || n.parsed > similarParse {
		return nil
	}
	f, err := it.Open()
	if err != nil {
		return nil
	}
	defer f.Close()
	size := f.Info().Size
	if size > maxSymbolFile {
		return nil
	}
	text, ok := readSource(f, size)
	return n.text(ctx, text, ok, lang)
}

func (n *nearNames) file(ctx context.Context, path string) error {
	f, err := n.s.c.Workspace.OpenFile(n.s.in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Info().Size > maxSymbolFile {
		return nil
	}
	text, ok := readSource(f, f.Info().Size)
	return n.text(ctx, text, ok, symbol.Language(path))
}

func (n *nearNames) text(ctx context.Context, raw string, ok bool, lang string) error {
	if err := ctx.Err(); err != nil || !ok {
		return err
	}
	release, err := n.s.c.Memory.Hold(ctx, int64(3*len(raw)))
	if err != nil {
		return err
	}
	defer release()
	n.scanned += int64(len(raw))
	masked := secrets.Scan(raw).Masked()
	near := false
	symbol.Words(masked, func(w string) bool {
		hit, known := n.seen[w]
		if !known {
			hit = n.rank(w) >= 0
			if len(n.seen) < 1<<17 {
				n.seen[w] = hit
			}
		}
		near = near || hit
		return !near
	})
	if !near {
		return nil
	}
	n.parsed += int64(len(raw))
	if symbol.Cost(lang, masked) > maxNearCost {
		return nil
	}
	syms, _ := symbol.Parse(ctx, lang, masked)
	for i := range syms {
		if r := n.rank(syms[i].Name); r >= 0 {
			name := syms[i].Qualified()
			if old, ok := n.best[name]; !ok || r < old {
				n.best[name] = r
			}
		}
	}
	return nil
}

// rank is how far a name is from the one asked for, or -1.
func (n *nearNames) rank(name string) int {
	limit := min(2, max(1, len(n.name)/3))
	if d := symbol.Distance(name, n.name, limit); d <= limit {
		return d
	}
	a, b := symbol.Fold(name), symbol.Fold(n.name)
	if len(b) >= 3 && strings.Contains(a, b) || len(a) >= 3 && len(a)*2 >= len(b) && strings.Contains(b, a) {
		return 3
	}
	return -1
}

func (n *nearNames) list() []string {
	names := make([]string, 0, len(n.best))
	for name := range n.best {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := n.best[a] - n.best[b]; d != 0 {
			return d
		}
		if d := len(a) - len(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names[:min(len(names), similarReturns)]
}
