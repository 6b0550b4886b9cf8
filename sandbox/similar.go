package sandbox

import (
	"path"
	"slices"
	"strings"

	"mcp-devserver/sandbox/secrets"
)

// notFound refuses a path that is missing, with readable names near it.
func (w *Workspace) notFound(q *query) *Denial {
	a := Args{"path": q.written}
	if secrets.FindName(q.written) == nil { // a part of a secret is one that no rule knows
		a["name"] = strings.TrimSuffix(path.Base(q.clean), path.Ext(q.clean))
	}
	if s := w.suggest(q, 3); len(s) > 0 {
		a["similar"] = s
	}
	if h := w.hint(q, NotFound); h != "" {
		a["hint"] = h
	}
	return w.Refuse(NotFound, a)
}

// hint words what commonly goes wrong in the spelling of a path.
func (w *Workspace) hint(q *query, c Code) string {
	p := q.written
	switch {
	case strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"), strings.HasPrefix(p, "file://~"):
		return "Paths are taken literally: ~ and $NAME are not expanded."
	case hasDrive(p), strings.HasPrefix(p, `\\`):
		return "Paths are relative to the workspace and use forward slashes."
	case c == OutsideWorkspace && strings.HasPrefix(p, "/"):
		rel := strings.TrimLeft(p, "/")
		if w.readable(rel) && SafeName(rel) {
			return "Paths are relative to the workspace: use " + jsonString(rel) + "."
		}
	case c == NotFound && strings.ContainsAny(p, "*?"):
		return "Wildcards belong in glob, not in path."
	}
	return ""
}

// readable reports whether a well-formed relative path names a file or folder
// that would be served.
func (w *Workspace) readable(rel string) bool {
	if rel == "" || isAbsolute(rel) {
		return false
	}
	q, err := w.parseQuiet(rel)
	if err != nil {
		return false
	}
	m, err := w.resolve(&q)
	return err == nil && (m.Kind == KindFile || m.Kind == KindDirectory)
}

// parseQuiet is parse for paths that this package made up itself: no hints,
// so no recursion.
func (w *Workspace) parseQuiet(rel string) (query, error) {
	q := query{written: rel}
	if !wellFormed(rel) || len(rel) > w.maxPath {
		return q, errNotExist
	}
	for part := range strings.SplitSeq(rel, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." || len(part) > maxComponent:
			return q, errNotExist
		default:
			q.parts = append(q.parts, part)
		}
	}
	q.clean = strings.Join(q.parts, "/")
	if q.clean == "" {
		q.clean = "."
	}
	if rule, no := w.deny.denied(q.clean); no {
		return q, &deniedError{rule}
	}
	return q, nil
}

// suggest gathers names for a missing path: the same path in another spelling
// first, then near names.
func (w *Workspace) suggest(q *query, max int) []string {
	var out []string
	add := func(p string) {
		if p = path.Clean(p); p != "." && len(out) < max && !slices.Contains(out, p) && w.readable(p) {
			out = append(out, p)
		}
	}
	for _, p := range respell(q.clean) {
		add(p)
	}
	for _, p := range w.Similar(q.clean, max) {
		if len(out) < max && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// respell gives what a path probably was before a caller decorated it.
func respell(p string) []string {
	var out []string
	try := func(s string) {
		if s != "" && s != p && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	try(p) // no-op: keeps p itself out
	if strings.Contains(p, `\`) {
		try(strings.ReplaceAll(p, `\`, "/"))
	}
	s := strings.Trim(p, "\"'` ")
	s = strings.TrimPrefix(s, "@")
	try(s)
	if i := strings.IndexAny(s, "#?"); i > 0 {
		try(s[:i])
	}
	if i := strings.IndexByte(s, ':'); i > 0 {
		try(s[:i])
	}
	return out
}

const (
	similarEntries = 4096 // names looked at for one missing path
	similarFolders = 32
)

// Similar lists at most max readable paths near the missing path rel, nearest
// first: names within a small edit distance in the deepest folder that exists,
// then files of the same name elsewhere.
func (w *Workspace) Similar(rel string, max int) []string {
	q, err := w.parseQuiet(path.Clean(rel))
	if err != nil || max <= 0 || q.clean == "." {
		return nil
	}
	dir, missing, rest := w.deepest(q.parts)
	if dir == nil {
		return nil
	}
	defer dir.Close()
	type scored struct {
		path  string
		score int
	}
	var found []scored
	budget := similarEntries
	limit := 1 + len(missing)/3
	lower := strings.ToLower(missing)
	entries, _, err := dir.Entries(budget)
	if err != nil {
		return nil
	}
	budget -= len(entries)
	for _, e := range entries {
		if e.Kind != KindFile && e.Kind != KindDirectory || !wellFormed(e.Name) {
			continue
		}
		d, ok := distance(lower, strings.ToLower(e.Name), limit)
		if !ok && len(missing) >= 3 && strings.HasPrefix(strings.ToLower(e.Name), lower) {
			d, ok = limit+1, true
		}
		if !ok {
			continue
		}
		if _, no := dir.Denied(e.Name); no {
			continue
		}
		p := join(dir.Path(), e.Name)
		if secrets.FindName(p) != nil {
			continue // that a secret is near would tell something about it
		}
		if rest != "" {
			if p += "/" + rest; e.Kind != KindDirectory || !w.readable(p) {
				continue
			}
		}
		found = append(found, scored{p, d})
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		if a.score != b.score {
			return a.score - b.score
		}
		return strings.Compare(a.path, b.path)
	})
	var out []string
	for _, f := range found {
		if len(out) < max {
			out = append(out, f.path)
		}
	}
	if len(out) < max {
		out = w.sameName(path.Base(q.clean), out, max, budget)
	}
	return out
}

// sameName adds files called name (in any case), folder by folder from the
// root, within a budget of entries.
func (w *Workspace) sameName(name string, out []string, max, budget int) []string {
	root, err := w.OpenDir(".")
	if err != nil {
		return out
	}
	queue := []*Dir{root}
	for folders := 0; len(queue) > 0; folders++ {
		d := queue[0]
		queue = queue[1:]
		if folders < similarFolders && budget > 0 && len(out) < max {
			entries, _, err := d.Entries(budget)
			if err == nil {
				budget -= len(entries)
				for _, e := range entries {
					if e.Kind != KindFile && e.Kind != KindDirectory {
						continue
					}
					if _, no := d.Denied(e.Name); no || skipFolder(e) {
						continue
					}
					p := join(d.Path(), e.Name)
					if strings.EqualFold(e.Name, name) && len(out) < max && !slices.Contains(out, p) && secrets.FindName(p) == nil {
						out = append(out, p)
					}
					if e.Kind == KindDirectory && folders+len(queue) < similarFolders {
						if sub, err := d.OpenDir(e.Name); err == nil {
							queue = append(queue, sub)
						}
					}
				}
			}
		}
		d.Close()
	}
	return out
}

// skipFolder leaves out folders that hold other people's files.
func skipFolder(e Entry) bool {
	switch e.Name {
	case "node_modules", "vendor", ".venv", "venv", "__pycache__", "target", "dist", "build":
		return e.Kind == KindDirectory
	}
	return !wellFormed(e.Name)
}

// deepest opens the deepest existing folder on the way to parts and tells the
// component that is missing there and what follows it.
func (w *Workspace) deepest(parts []string) (dir *Dir, missing, rest string) {
	for n := len(parts) - 1; n >= 0; n-- {
		p := strings.Join(parts[:n], "/")
		if p == "" {
			p = "."
		}
		q, err := w.parseQuiet(p)
		if err != nil {
			continue
		}
		m, err := w.resolve(&q)
		if err != nil || m.Kind != KindDirectory {
			continue
		}
		d, err := w.openDirBeneath(&m)
		if err != nil {
			continue
		}
		return d, parts[n], strings.Join(parts[n+1:], "/")
	}
	return nil, "", ""
}

// distance is the edit distance of a and b in bytes (insert, delete, replace,
// swap of neighbours), if it is at most limit.
func distance(a, b string, limit int) (int, bool) {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(b) > maxComponent || len(a) > maxComponent {
		return 0, false
	}
	var rows [3][maxComponent + 1]int
	prev2, prev, cur := rows[0][:len(b)+1], rows[1][:len(b)+1], rows[2][:len(b)+1]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			best = min(best, d)
		}
		if best > limit {
			return 0, false
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)], prev[len(b)] <= limit
}
