package walk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/clean"
)

// State says what stands between an item and its content.
type State uint8

const (
	OK      State = iota
	Ignored       // an ignore rule or the default skip list leaves it out
	Denied        // withheld by policy; for a link: what it leads to is
	Outside       // a link that leaves the workspace
	Broken        // a link that leads to nothing
)

// String is the name of the state in an answer; OK has none.
func (s State) String() string {
	return [...]string{"", "ignored", "denied", "outside", "broken"}[s]
}

// Item is one entry on the way. It is valid during visit only.
type Item struct {
	Path  string // relative to the workspace root, slash-separated, bytes as on disk
	Kind  sandbox.Kind
	State State
	Depth int // 1 = directly in the start folder

	name string
	pass sandbox.Passed
	dir  *sandbox.Dir
	to   string
	kind sandbox.Kind
	link sandbox.LinkState
	held *held
	only bool // a folder that is entered for the sake of tracked files
	met  *Stats
}

// Met is what the walk had met when it came to the item.
func (it *Item) Met() Stats { return *it.met }

// Name is the last part of Path.
func (it *Item) Name() string { return it.name }

// Open opens a regular file beneath the folder that the walk holds open: nothing on the way can be swapped.
func (it *Item) Open() (*sandbox.File, error) { return it.dir.OpenFile(it.name) }

// held is an open folder, closed when nobody needs it any more.
type held struct {
	dir  *sandbox.Dir
	refs atomic.Int32
}

func (h *held) release() {
	if h.refs.Add(-1) == 0 {
		h.dir.Close()
	}
}

// Kept is a file that can be opened after the visit, from any goroutine. It keeps its folder open until Release.
type Kept struct {
	held *held
	pass sandbox.Passed
}

// Keep makes the item outlast the visit.
func (it *Item) Keep() Kept {
	it.held.refs.Add(1)
	return Kept{it.held, it.pass}
}

// Open is Item.Open, for an item that was listed as a regular file.
func (k Kept) Open() (*sandbox.File, error) { return k.pass.OpenListed() }

// Release lets the folder go. It must be called once, after the last Open.
func (k Kept) Release() { k.held.release() }

// Beside reports whether both are in one folder, which they keep open together.
func (k Kept) Beside(o Kept) bool { return k.held == o.held }

// Info describes the entry itself, never what a link leads to.
func (it *Item) Info() (sandbox.Info, error) { return it.dir.Stat(it.name) }

// Link says where a symlink that is not ignored leads: to and kind are set for sandbox.LinkInside only. It was resolved
// before the visit.
func (it *Item) Link() (to string, kind sandbox.Kind, s sandbox.LinkState) {
	return it.to, it.kind, it.link
}

// Default limits of a walk.
const (
	DefaultEntries = 100_000
	DefaultDepth   = 40
)

// Options choose what a walk sees. The zero value honours no ignore file but does use the default skip list.
type Options struct {
	IncludeIgnored bool // no ignore rule, no skip list: every item but a denied one is OK
	Gitignore      bool // read .gitignore files and .git/info/exclude; what git tracks counts all the same
	MaxEntries     int  // entries visited at most; 0 = DefaultEntries
	MaxDepth       int  // levels entered at most; 0 = DefaultDepth

	// Breadth visits all of one level before the next, so that MaxEntries is spent on what lies near the start.
	Breadth bool
	// PerDir, if not 0, is how many entries of one folder are visited at most, in order.
	PerDir int
	// Tracked, if set, lists what the repository at the workspace root tracks, in the words of git ls-files: every name,
	// and those that are repositories of their own. It is asked when the index cannot be read here. The names are only
	// looked up, never opened.
	Tracked func(context.Context) (names, links []string, err error)
	// Cut, if set, is told of each folder whose entries were not all visited, and how many of those that were read
	// are left. exact is false when there are more that were not even read.
	Cut func(folder string, left int, exact bool)
}

// Action tells a walk how to go on.
type Action uint8

const (
	Continue Action = iota
	SkipDir         // do not enter this folder; for anything else the same as Continue
	Stop            // end the walk without an error
)

// Stats counts what a walk met.
type Stats struct {
	Entries    int // visited
	Ignored    int // entries with state Ignored; what is below an ignored folder is not counted
	Denied     int // names withheld by policy; what is below a denied folder is not counted, links are not either
	Unreadable int // folders that could not be opened or read
	Outside    int // links that leave the workspace, folders on another file system
	Broken     int // links that lead to nothing
	Special    int // devices, pipes, sockets
	Deep       int // folders not entered because of MaxDepth
	RulesLost  int // ignore files that could not be read, or only in part (over 1 MiB or 10,000 rules)
	IndexLost  int // repositories whose index could not be read, so that rules alone decided
	Capped     bool
}

// Complete reports whether the walk visited everything that it may.
func (s *Stats) Complete() bool { return !s.Capped && s.Deep == 0 }

type walker struct {
	ctx   context.Context
	ws    *sandbox.Workspace
	opts  Options
	visit func(*Item) (Action, error)
	stats Stats
	all   bool // nothing is ignored: asked for, or the start lies inside an ignored folder
	item  Item
	steps int
	err   error // the context's, once it has ended
}

// Walk visits everything below the folder start (a path as a caller wrote it) and returns what it counted, also
// together with an error. Within a folder the order is that of the bytes of the names, a folder counting as its name
// followed by "/" and coming before its children; so files come in bytewise order of their whole paths.
//
// Ignored and denied folders are visited, with their state, and not entered. Entries called ".git" are not visited at
// all. A start that is ignored itself, or lies below an ignored folder, is walked as with IncludeIgnored: who names it
// means it. Links are visited and never followed.
//
// The error is that of visit, of ctx, or of opening start (a *sandbox.Denial, or an unexpected fault). Nothing below
// start makes a walk fail: what cannot be opened or has gone is counted or left out.
func Walk(ctx context.Context, ws *sandbox.Workspace, start string, o Options, visit func(*Item) (Action, error)) (Stats, error) {
	if o.MaxEntries <= 0 {
		o.MaxEntries = DefaultEntries
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultDepth
	}
	w := &walker{ctx: ctx, ws: ws, opts: o, visit: visit, all: o.IncludeIgnored, steps: checkEvery}
	d, err := ws.OpenDir(start)
	if err != nil {
		return w.stats, err
	}
	top, err := w.above(d.Path())
	switch {
	case err != nil:
		d.Close()
	case o.Breadth:
		_, err = w.breadth(d, top)
	default:
		_, err = w.folder(d, top, 1, nil)
	}
	if err == nil {
		err = w.err
	}
	return w.stats, err
}

// above reads the ignore files of the parents of path, top down, and finds out whether path or one of them is ignored.
func (w *walker) above(path string) (*frame, error) {
	if path == "." || w.all {
		return nil, nil
	}
	d, err := w.ws.OpenDir(".")
	if err != nil {
		return nil, err
	}
	defer func() { d.Close() }()
	var f *frame
	for rest, more := path, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if _, _, f, err = w.read(d, f); err != nil {
			return nil, err
		}
		at := name
		if p := d.Path(); p != "." {
			at = p + "/" + name
		}
		out, only := w.decide(f, at, name, true)
		if out || only { // only: who names it means all of it
			w.all = true
			return nil, w.err
		}
		if !more {
			break
		}
		child, err := d.OpenDir(name)
		if err != nil {
			return nil, err // gone or swapped since the start was opened
		}
		d.Close()
		d = child
	}
	return f, w.err
}

// Reach opens a folder by a path that a walk gave, name by name and without following a link: unlike a path that a
// caller writes, it may hold any bytes. Errors as for Workspace.OpenDir.
func Reach(ws *sandbox.Workspace, path string) (*sandbox.Dir, error) {
	d, err := ws.OpenDir(".")
	for more := path != "."; err == nil && more; {
		var name string
		name, path, more = strings.Cut(path, "/")
		child, errChild := d.OpenDir(name)
		d.Close()
		d, err = child, errChild
	}
	return d, err
}

// spend charges steps of matching work and reports whether the walk may go on.
func (w *walker) spend(steps int) bool {
	w.steps += steps
	if w.steps >= checkEvery {
		w.steps = 0
		if w.err == nil {
			w.err = w.ctx.Err()
		}
	}
	return w.err == nil
}

// checkEvery is how much work may pass between two looks at the context: around 100 µs. A visited entry counts as
// entrySteps.
const (
	checkEvery = 1 << 15
	entrySteps = 1 << 10
)

// read lists a folder and gives it its frame. The entries come sorted for visiting.
func (w *walker) read(d *sandbox.Dir, parent *frame) (entries []sandbox.Entry, more bool, f *frame, err error) {
	entries, more, err = d.Entries(max(w.opts.MaxEntries, 1<<16))
	if err != nil {
		return nil, false, nil, err
	}
	slices.SortFunc(entries, order)
	if w.all {
		shownOrder(d, entries)
		return entries, more, nil, nil
	}
	f = w.enter(parent, d, func(name string) (sandbox.Kind, bool) {
		for _, k := range [...]sandbox.Kind{sandbox.KindFile, sandbox.KindDirectory} {
			if _, ok := slices.BinarySearchFunc(entries, sandbox.Entry{Name: name, Kind: k}, order); ok {
				return k, true
			}
		}
		return 0, false
	})
	shownOrder(d, entries)
	return entries, more, f, nil
}

// shownOrder puts entries whose names hold a secret where the masked name belongs, so
// that their place tells nothing about it. Of two that are masked alike, age and size
// decide, and who was made first; never the name.
func shownOrder(d *sandbox.Dir, entries []sandbox.Entry) {
	prefix := ""
	if p := d.Path(); p != "." {
		prefix = p + "/"
	}
	listing := clean.Names(prefix)
	for i := range entries {
		listing.Add(entries[i].Name)
	}
	if listing.Known() {
		return
	}
	above := secrets.FindName(prefix) != nil // a secret may go on below
	var masked map[string]string
	for _, e := range entries {
		if len(e.Name) < shortestSecret && !above {
			continue
		}
		if path := prefix + e.Name; secrets.FindName(path) != nil {
			if m := secrets.MaskName(path)[len(prefix):]; m != e.Name {
				if masked == nil {
					masked = map[string]string{}
				}
				masked[e.Name] = m
			}
		}
	}
	if masked == nil {
		listing.Remember()
		return
	}
	shown := func(e sandbox.Entry) sandbox.Entry {
		if m, ok := masked[e.Name]; ok {
			e.Name = m
		}
		return e
	}
	slices.SortFunc(entries, func(a, b sandbox.Entry) int {
		if c := order(shown(a), shown(b)); c != 0 {
			return c
		}
		x, _ := d.Stat(a.Name)
		y, _ := d.Stat(b.Name)
		return cmp.Or(x.ModTime.Compare(y.ModTime), cmp.Compare(x.Size, y.Size), cmp.Compare(x.Ino, y.Ino))
	})
}

// shortestSecret is below the length of any name that a rule finds something in.
const shortestSecret = 10

// order compares names as if folders ended in "/".
func order(a, b sandbox.Entry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return int(after(a, n)) - int(after(b, n))
}

// after is the byte that decides behind the first n of a name. Names never hold NUL or "/".
func after(e sandbox.Entry, n int) byte {
	switch {
	case len(e.Name) > n:
		return e.Name[n]
	case e.Kind == sandbox.KindDirectory:
		return '/'
	}
	return 0
}

// folder visits the entries of d and closes it. Without queue it enters folders as it meets them, with one it appends
// them.
func (w *walker) folder(d *sandbox.Dir, parent *frame, depth int, queue *[]waiting) (Action, error) {
	h := &held{dir: d}
	h.refs.Store(1)
	defer h.release()
	entries, more, f, err := w.read(d, parent)
	if err != nil {
		if depth == 1 {
			return Stop, err
		}
		w.stats.Unreadable++
		return Continue, nil
	}
	prefix := ""
	if p := d.Path(); p != "." {
		prefix = p + "/"
	}
	for i, e := range entries {
		if e.Name == ".git" {
			continue
		}
		if w.stats.Entries >= w.opts.MaxEntries || (w.opts.PerDir > 0 && i >= w.opts.PerDir) {
			w.stats.Capped = true
			w.cut(d.Path(), len(entries)-i, !more)
			if w.stats.Entries >= w.opts.MaxEntries && queue == nil {
				return Stop, nil
			}
			return Continue, nil
		}
		it := &w.item
		*it = Item{Path: prefix + e.Name, Kind: e.Kind, Depth: depth, name: e.Name, dir: d, held: h, met: &w.stats}
		w.judge(it, d, f)
		if !w.spend(entrySteps) {
			return Stop, w.err
		}
		w.stats.Entries++
		act, err := w.visit(it)
		if err != nil || act == Stop {
			return Stop, err
		}
		if e.Kind != sandbox.KindDirectory || it.State != OK || act == SkipDir {
			continue
		}
		below := f
		if it.only && !f.only {
			below = &frame{parent: f, base: it.Path, git: f.git, repo: f.repo, only: true}
		}
		if depth >= w.opts.MaxDepth {
			w.stats.Deep++
			continue
		}
		if queue != nil {
			*queue = append(*queue, waiting{prefix + e.Name, below, depth + 1})
			continue
		}
		child, err := d.OpenDir(e.Name)
		if err != nil {
			w.lost(err)
			continue
		}
		act, err = w.folder(child, below, depth+1, nil)
		if err != nil || act == Stop {
			return Stop, err
		}
	}
	if more {
		w.stats.Capped = true
		w.cut(d.Path(), 0, false)
	}
	return Continue, nil
}

// waiting is a folder that a breadth-first walk has seen and not entered.
type waiting struct {
	path  string
	frame *frame
	depth int
}

func (w *walker) breadth(d *sandbox.Dir, top *frame) (Action, error) {
	var queue []waiting
	act, err := w.folder(d, top, 1, &queue)
	for i := 0; err == nil && act == Continue && i < len(queue); i++ {
		if w.stats.Entries >= w.opts.MaxEntries {
			w.stats.Capped = true
			for _, left := range queue[i:] {
				w.cut(left.path, 0, false)
			}
			break
		}
		next := queue[i]
		queue[i] = waiting{}
		if !w.spend(entrySteps) {
			return Stop, w.err
		}
		child, errOpen := Reach(w.ws, next.path)
		if errOpen != nil {
			w.lost(errOpen)
			continue
		}
		act, err = w.folder(child, next.frame, next.depth, &queue)
	}
	return act, err
}

func (w *walker) cut(folder string, left int, exact bool) {
	if w.opts.Cut != nil {
		w.opts.Cut(folder, left, exact)
	}
}

// judge sets the state of an item and counts it.
func (w *walker) judge(it *Item, d *sandbox.Dir, f *frame) {
	var denied bool
	if it.pass, denied = d.Pass(it.name); denied {
		it.State = Denied
		w.stats.Denied++
		return
	}
	if it.Kind == sandbox.KindOther {
		w.stats.Special++
		return
	}
	if !w.all {
		var out bool
		if out, it.only = w.decide(f, it.Path, it.name, it.Kind == sandbox.KindDirectory); out {
			it.State = Ignored
			w.stats.Ignored++
			return
		}
	}
	if it.Kind == sandbox.KindSymlink {
		switch it.to, it.kind, it.link = d.Link(it.name); it.link {
		case sandbox.LinkOutside:
			it.State = Outside
			w.stats.Outside++
		case sandbox.LinkBroken:
			it.State = Broken
			w.stats.Broken++
		case sandbox.LinkDenied:
			it.State = Denied
		}
	}
}

// lost counts a folder that could not be entered. One that has gone meanwhile is nobody's loss.
func (w *walker) lost(err error) {
	switch c, _ := code(err); c {
	case sandbox.NotFound, sandbox.NotADirectory:
	case sandbox.OutsideWorkspace:
		w.stats.Outside++
	default:
		w.stats.Unreadable++
	}
}
