package tools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"mcp-devserver/sandbox"
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
