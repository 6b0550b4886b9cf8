package tools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/walk"
)

var listDirectory = New(Definition{
	Name:  "list_directory",
	Title: "List a directory",
	Description: "List files and folders in the workspace as an indented tree, folders first. depth sets how many levels to open (default 1). " +
		"glob finds files by name or path anywhere below path, e.g. \"**/*_test.go\". Ignored folders such as node_modules are named but not opened " +
		"unless include_ignored is true. Use this to learn the layout or find a file by name; use search_code to look inside files.",
	Input: `{"type":"object","properties":{
		"path":{"type":"string","description":"Folder relative to the workspace root. Default: the root.","minLength":1,"maxLength":4096,"default":"."},
		"depth":{"type":"integer","description":"Levels to open below path. Ignored when glob is given.","minimum":1,"maximum":10,"default":1},
		"glob":{"type":"string","description":"Only paths matching this pattern; ** crosses folders, {a,b} picks either. Searches all levels.","minLength":1,"maxLength":512},
		"include_ignored":{"type":"boolean","description":"Also open what .gitignore and the default skip list leave out.","default":false},
		"sort":{"type":"string","enum":["name","modified","size"],"default":"name","description":"Order of entries; modified and size are newest or largest first."},
		"details":{"type":"boolean","description":"Return one record per entry with type, size and time (costs about three times the tokens).","default":false},
		"limit":{"type":"integer","description":"Entries to return.","minimum":1,"maximum":2000,"default":300},
		"offset":{"type":"integer","description":"Entries to skip, from a previous next.","minimum":0,"maximum":1000000,"default":0}},
		"additionalProperties":false}`,
	Output: `{"type":"object","required":["path","total","returned"],"additionalProperties":false,"properties":{
		"path":{"type":"string"},
		"total":{"type":"integer","minimum":0},
		"total_is_exact":{"type":"boolean"},
		"returned":{"type":"integer","minimum":0},
		"ignored":{"type":"integer","minimum":0},
		"denied":{"type":"integer","minimum":0},
		"folders":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"entries":{"type":"array","items":{"type":"string"}},"more":{"type":"integer","minimum":1}},"required":["path","entries"],"additionalProperties":false}},
		"items":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"type":{"enum":["file","directory","symlink","other"]},"size":{"type":"integer","minimum":0},"modified":{"type":"string"},"state":{"enum":["ignored","denied","outside","broken"]}},"required":["path","type"],"additionalProperties":false}}}}`,
	Codes: []sandbox.Code{
		sandbox.OutsideWorkspace, sandbox.DeniedPath, sandbox.InvalidPath, sandbox.NotFound, sandbox.Unreadable, sandbox.SpecialFile,
		sandbox.NotADirectory, sandbox.InvalidGlob, sandbox.Busy, sandbox.Timeout, sandbox.RateLimited, sandbox.ResultTooLarge,
	},
}, runListDirectory)

type listIn struct {
	Path           string `json:"path"`
	Depth          int    `json:"depth"`
	Glob           string `json:"glob"`
	IncludeIgnored bool   `json:"include_ignored"`
	Sort           string `json:"sort"`
	Details        bool   `json:"details"`
	Limit          int    `json:"limit"`
	Offset         int    `json:"offset"`
}

// listing is a folder as it was walked: its entries and the order in which
// they are shown.
type listing struct {
	call    *Call
	in      *listIn
	start   string // resolved
	glob    *walk.Glob
	entries []listed
	order   []int32 // entries in the order of the answer
	stats   walk.Stats
	timeUp  bool
	held    []func() // shares of the memory budget
}

// chargeEvery is how many entries are collected for each megabyte taken from
// the memory budget.
const chargeEvery = 8192

// listed is one entry.
type listed struct {
	path     string // from the root, bytes as on disk
	name     int    // where the last part of path begins
	kind     sandbox.Kind
	state    walk.State
	to       string // where a link inside the workspace leads
	toKind   sandbox.Kind
	depth    int
	parent   int32 // index of the folder in entries, -1 for the start
	size     int64
	modified time.Time
	known    bool   // size and modified are known
	key      string // what the name is sorted by: path, its secrets masked
	hidden   int    // entries below it that the answer leaves out, when there are too many
}

func (e *listed) folder() bool { return e.kind == sandbox.KindDirectory }

func (e *listed) base() string { return e.path[e.name:] }

func (e *listed) dir() string {
	if e.name == 0 {
		return "."
	}
	return e.path[:e.name-1]
}

func runListDirectory(ctx context.Context, c *Call, in listIn) (*listOut, error) {
	l := &listing{call: c, in: &in}
	if in.Glob != "" {
		var err error
		if l.glob, err = parseGlob(in.Glob); err != nil {
			return nil, err
		}
	}
	d, err := c.Workspace.OpenDir(in.Path)
	if err != nil {
		return nil, err
	}
	l.start = d.Path()
	d.Close()
	defer func() {
		for _, release := range l.held {
			release()
		}
	}()
	if err := l.walk(ctx); err != nil {
		return nil, err
	}
	if l.glob == nil {
		l.order = l.tree()
	} else {
		l.order = make([]int32, len(l.entries))
		for i := range l.order {
			l.order[i] = int32(i)
		}
		l.sort(l.order, false)
	}
	return l.answer(), nil
}

// parseGlob turns an unreadable glob into a denial.
func parseGlob(s string) (*walk.Glob, error) {
	g, err := walk.ParseGlob(s)
	var bad *walk.GlobError
	if errors.As(err, &bad) {
		return nil, sandbox.Refuse(sandbox.InvalidGlob, sandbox.Args{"i": bad.Position, "position": bad.Position})
	}
	return g, err
}

// walk collects the entries. When time is up, what was seen is the answer.
func (l *listing) walk(ctx context.Context) error {
	c, in := l.call, l.in
	o := walk.Options{IncludeIgnored: in.IncludeIgnored, Gitignore: c.Gitignore, Tracked: c.tracked, MaxEntries: c.Limits.WalkMaxEntries, MaxDepth: c.Limits.WalkMaxDepth}
	if l.glob == nil {
		o.MaxDepth = min(in.Depth, o.MaxDepth)
	}
	limited, cancel := context.WithTimeout(ctx, c.Limits.SearchDeadline)
	defer cancel()
	open := []int32{-1} // the folders around the entry, by depth
	seen := int64(0)
	stats, err := walk.Walk(limited, c.Workspace, in.Path, o, func(it *walk.Item) (walk.Action, error) {
		if seen++; seen&1023 == 0 {
			c.Progress(seen, 0, PhaseWalk)
		}
		if l.glob != nil && !l.glob.MatchBelow(l.start, globName(l.start, it.Path)) {
			return walk.Continue, nil
		}
		e := listed{path: it.Path, name: len(it.Path) - len(it.Name()), kind: it.Kind, state: it.State, depth: it.Depth, parent: -1, key: secrets.MaskName(it.Path)}
		if l.glob == nil {
			open = open[:it.Depth]
			e.parent = open[it.Depth-1]
			if e.folder() {
				open = append(open, int32(len(l.entries)))
			}
		}
		if e.kind == sandbox.KindSymlink {
			e.to, e.toKind, _ = it.Link()
		}
		if in.Sort != "name" {
			l.stat(&e, it.Info)
		}
		l.entries = append(l.entries, e)
		if len(l.entries)%chargeEvery == 0 {
			release, err := c.Memory.Hold(ctx, 1<<20)
			if err != nil {
				return walk.Stop, err
			}
			l.held = append(l.held, release)
		}
		return walk.Continue, nil
	})
	l.stats = stats
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		l.timeUp = true
	default:
		return err
	}
	return nil
}

// stat fills in size and time. Of a denied entry nothing is asked.
func (l *listing) stat(e *listed, info func() (sandbox.Info, error)) {
	if e.state == walk.Denied || e.known {
		return
	}
	if i, err := info(); err == nil {
		e.size, e.modified, e.known = i.Size, i.ModTime, true
	}
}

// sort orders siblings, or with glob all entries.
func (l *listing) sort(list []int32, foldersFirst bool) {
	slices.SortStableFunc(list, func(i, j int32) int {
		a, b := &l.entries[i], &l.entries[j]
		if foldersFirst && a.folder() != b.folder() {
			if a.folder() {
				return -1
			}
			return 1
		}
		switch l.in.Sort {
		case "modified":
			if n := b.modified.Compare(a.modified); n != 0 {
				return n
			}
		case "size":
			if n := cmp.Compare(b.bytes(), a.bytes()); n != 0 {
				return n
			}
		}
		return strings.Compare(a.key, b.key) // what is masked alike stays as it was met
	})
}

// bytes is the size that an entry is sorted by: only files have one.
func (e *listed) bytes() int64 {
	if e.kind != sandbox.KindFile {
		return -1
	}
	return e.size
}

// tree orders the entries as they are read from top to bottom.
func (l *listing) tree() []int32 {
	children := make([][]int32, len(l.entries)+1) // by parent, the start last
	for i := range l.entries {
		p := l.entries[i].parent
		if p < 0 {
			p = int32(len(l.entries))
		}
		children[p] = append(children[p], int32(i))
	}
	order := make([]int32, 0, len(l.entries))
	var down func(p int)
	down = func(p int) {
		l.sort(children[p], true)
		for _, i := range children[p] {
			order = append(order, i)
			down(int(i))
		}
	}
	down(len(l.entries))
	return order
}

// answer picks the page and fits it into the budget.
func (l *listing) answer() *listOut {
	in, c := l.in, l.call
	o := &listOut{details: in.Details, flat: l.glob != nil, total: len(l.order), exact: !l.stats.Capped && !l.timeUp, offset: in.Offset}
	for i := range l.entries {
		switch l.entries[i].state {
		case walk.Ignored:
			o.ignored++
		case walk.Denied:
			o.denied++
		}
	}
	limit := min(in.Limit, c.Limits.ListMaxEntries)
	// A long path and glob come back in next, beyond what is set aside for it.
	budget := c.Limits.ContentChars() - max(textCost(l.start)+textCost(in.Glob)-2000, 0)
	order, depth := l.order, in.Depth
	page, rest := pageOf(order, in.Offset, limit)
	fits := l.fill(page, budget)
	for fits < len(page) && l.glob == nil && depth > 1 && in.Offset == 0 {
		// Fewer levels before fewer entries: the shape of the whole says more.
		depth--
		order = l.upTo(depth)
		page, rest = pageOf(order, 0, limit)
		fits = l.fill(page, budget)
	}
	page = page[:fits]
	o.returned = len(page)
	o.Complete = o.exact && rest == 0 && fits == len(page) && len(order) == len(l.order)
	l.rows(o, page, order)
	l.next(o, page, order, depth, limit)
	l.notices(o, depth)
	o.path = c.pathRef(in.Path, l.start)
	return o
}

func pageOf(order []int32, offset, limit int) (page []int32, rest int) {
	from := min(offset, len(order))
	to := min(from+limit, len(order))
	return order[from:to], len(order) - to
}

// upTo leaves out what is deeper than depth and counts it at the folder that
// stays closed.
func (l *listing) upTo(depth int) []int32 {
	var order []int32
	for i := range l.entries {
		l.entries[i].hidden = 0
	}
	for _, i := range l.order {
		if l.entries[i].depth <= depth {
			order = append(order, i)
			continue
		}
		for p := l.entries[i].parent; p >= 0; p = l.entries[p].parent {
			if l.entries[p].depth == depth {
				l.entries[p].hidden++
				break
			}
		}
	}
	return order
}

// fill asks for sizes where they are shown and returns how many entries of the
// page fit into the budget.
func (l *listing) fill(page []int32, budget int) int {
	l.statAll(page)
	prose, structured := 0, 0
	group := ""
	for n, i := range page {
		e := &l.entries[i]
		cost := textCost(e.base()) + textCost(e.to) + 24
		path := textCost(e.path)
		if l.in.Details {
			prose += cost + path + 40
			structured += path + 110
		} else {
			prose += cost + 2*e.depth
			structured += cost + 3
			if l.glob != nil {
				prose += path
			}
			if d := e.dir(); n == 0 || d != group {
				group = d
				structured += textCost(d) + 40
				prose += 2 * e.depth
			}
		}
		if e.hidden > 0 {
			structured += path + 50
		}
		if max(prose, structured) > budget {
			return n
		}
	}
	return len(page)
}

// textCost bounds the characters that a name takes in one half.
func textCost(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return 12*utf8.RuneCountInString(s) + 4
		}
	}
	return len(s)
}

// statAll asks for what the page shows, folder by folder, beneath each open
// folder. An entry that is gone stays without.
func (l *listing) statAll(page []int32) {
	var d *sandbox.Dir
	at := ""
	defer func() {
		if d != nil {
			d.Close()
		}
	}()
	for _, i := range page {
		e := &l.entries[i]
		if e.known || e.state == walk.Denied || e.kind != sandbox.KindFile && !l.in.Details {
			continue
		}
		if dir := e.dir(); d == nil || dir != at {
			if d != nil {
				d.Close()
			}
			at = dir
			var err error
			if d, err = walk.Reach(l.call.Workspace, dir); err != nil {
				d = nil
			}
		}
		if d != nil {
			l.stat(e, func() (sandbox.Info, error) { return d.Stat(e.base()) })
		}
	}
}

// next spells the call that goes on.
func (l *listing) next(o *listOut, page, order []int32, depth, limit int) {
	in, c := l.in, l.call
	args := func(path answer.Ref, depth, offset int) []answer.Arg {
		a := []answer.Arg{answer.ArgText("path", path)}
		if in.Glob != "" {
			a = append(a, answer.ArgText("glob", c.Texts.Argument(in.Glob)))
		} else if depth != 1 {
			a = append(a, answer.ArgInt("depth", int64(depth)))
		}
		if in.IncludeIgnored {
			a = append(a, answer.ArgBool("include_ignored", true))
		}
		if in.Sort != "name" {
			a = append(a, answer.ArgWord("sort", answer.Word(in.Sort)))
		}
		if in.Details {
			a = append(a, answer.ArgBool("details", true))
		}
		if in.Limit != 300 {
			a = append(a, answer.ArgInt("limit", int64(in.Limit)))
		}
		if offset > 0 {
			a = append(a, answer.ArgInt("offset", int64(offset)))
		}
		return a
	}
	end := in.Offset + len(page)
	switch {
	case len(page) > 0 && end < len(order):
		o.Complete, o.Stopped = false, "limit"
		if len(page) < limit {
			o.Stopped = "chars"
		}
		o.Next = &answer.Next{Tool: "list_directory", Args: args(c.Texts.Name(l.start), depth, end)}
	case len(order) < len(l.order):
		o.Complete, o.Stopped = false, "chars"
		for _, i := range page {
			if e := &l.entries[i]; e.hidden > 0 && addressable(e.path) {
				o.Next = &answer.Next{Tool: "list_directory", Why: "opens the first folder whose entries are left out",
					Args: args(c.Texts.Name(e.path), max(in.Depth-e.depth, 1), 0)}
				break
			}
		}
	case l.timeUp:
		o.Complete, o.Stopped = false, "time"
	case !o.exact:
		o.Complete, o.Stopped = false, "limit"
	}
}

// addressable reports whether a path from the disk can be sent back.
func addressable(path string) bool {
	if !utf8.ValidString(path) {
		return false
	}
	for _, r := range path {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			return false
		}
	}
	return true
}

func (l *listing) notices(o *listOut, depth int) {
	if l.glob == nil && depth < l.in.Depth {
		o.Notice(answer.W("only "), answer.N(int64(depth)), answer.W(" of "), answer.N(int64(l.in.Depth)), answer.W(" levels fit; the counts say how many entries below a folder are left out"))
	}
	if l.timeUp {
		o.Notice(answer.W("time ran out before every folder was read; total is what was seen"))
	} else if l.stats.Capped {
		o.Notice(answer.W("the walk stopped after "), answer.N(int64(l.stats.Entries)), answer.W(" entries; total is what was seen"))
	}
	if l.glob != nil && l.stats.Deep > 0 {
		o.exact, o.Complete = false, false
		if o.Stopped == "" {
			o.Stopped = "limit"
		}
		o.Notice(answer.N(int64(l.stats.Deep)), answer.W(" folders lie too deep and were not opened"))
	}
	if l.glob != nil && len(l.entries) == 0 && o.exact {
		o.Notice(answer.W("the glob matched none of "), answer.N(int64(l.stats.Entries)),
			answer.W(" entries; without / it is compared with names, with / it is relative to path"))
	}
	if n := l.stats.Unreadable; n > 0 {
		o.Notice(answer.N(int64(n)), answer.W(" folders could not be opened"))
	}
	if l.stats.IndexLost > 0 {
		o.Notice(answer.W("the index of a repository could not be read; files that are tracked although an ignore rule matches them may be missing"))
	}
	if l.stats.RulesLost > 0 {
		o.Notice(answer.W("an ignore file was too large or unreadable; some of its rules were not applied"))
	}
	lost := 0
	for i := range o.rows {
		if o.rows[i].encoded && !o.rows[i].repeated {
			lost++
		}
	}
	if lost > 0 {
		o.Notice(answer.N(int64(lost)), answer.W(" names shown are not UTF-8 or hold control characters and cannot be sent back"))
	}
	if l.in.Offset > 0 && l.in.Offset >= len(l.order) {
		o.Notice(answer.W("offset is past the last entry"))
	}
}
