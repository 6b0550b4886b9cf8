package tools

import (
	"context"
	"slices"
	"strings"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/manifest"
	"mcp-devserver/tools/internal/walk"
)

var projectOverview = New(Definition{
	Name:  "project_overview",
	Title: "Summarise the project",
	Description: "One call to get oriented: languages by size, manifests and module names, likely entry points, test and CI locations, documentation files, " +
		"a shallow folder tree, and the git branch with counts of changed files. Call it first in an unfamiliar workspace, then list_directory or find_symbol for detail. " +
		"path limits it to one part of a monorepo.",
	Input: `{"type":"object","properties":{
		"path":{"type":"string","description":"Folder to summarise. Default: the workspace root.","minLength":1,"maxLength":4096,"default":"."},
		"depth":{"type":"integer","description":"Levels of folder tree to show.","minimum":1,"maximum":4,"default":2}},
		"additionalProperties":false}`,
	Output: `{"type":"object","required":["name","path","files","languages","tree"],"additionalProperties":false,"properties":{
		"name":{"type":"string"},
		"path":{"type":"string"},
		"files":{"type":"integer","minimum":0},
		"bytes":{"type":"integer","minimum":0},
		"ignored":{"type":"integer","minimum":0},
		"denied":{"type":"integer","minimum":0},
		"git":{"type":"object","properties":{"branch":{"type":"string"},"head":{"type":"string"},"detached":{"type":"boolean"},"staged":{"type":"integer","minimum":0},"modified":{"type":"integer","minimum":0},"untracked":{"type":"integer","minimum":0},"conflicted":{"type":"integer","minimum":0}},"additionalProperties":false},
		"languages":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"files":{"type":"integer","minimum":1},"bytes":{"type":"integer","minimum":0}},"required":["name","files","bytes"],"additionalProperties":false}},
		"manifests":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"kind":{"type":"string"},"name":{"type":"string"}},"required":["path","kind"],"additionalProperties":false}},
		"entry_points":{"type":"array","items":{"type":"string"}},
		"tests":{"type":"array","items":{"type":"string"}},
		"ci":{"type":"array","items":{"type":"string"}},
		"docs":{"type":"array","items":{"type":"string"}},
		"instruction_files":{"type":"array","items":{"type":"string"}},
		"tree":{"type":"string"}}}`,
	Codes: []sandbox.Code{
		sandbox.OutsideWorkspace, sandbox.DeniedPath, sandbox.InvalidPath, sandbox.NotFound, sandbox.Unreadable, sandbox.SpecialFile,
		sandbox.NotADirectory, sandbox.Busy, sandbox.Timeout, sandbox.RateLimited, sandbox.ResultTooLarge,
	},
}, runProjectOverview)

type projectOverviewIn struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
}

// Bounds of an overview, chosen so that it stays near 1,200 tokens.
const (
	overviewPerDir    = 2000 // entries of one folder that are looked at
	overviewLanguages = 8
	overviewPathChars = 1600 // of all lists of paths together
	overviewBadShown  = 8    // manifests that could not be read, named one by one
	overviewManifests = 200  // manifests read at most
)

// overview is one call.
type overview struct {
	c    *Call
	out  *projectOverviewOut
	path string
	tree *projectTree

	languages map[string]*languageSum
	vendored  map[string]int // vendored folder → files
	manifests []manifestFile
	bad       []badManifest
	entries   []string
	tests     map[string]int // pattern → files
	ci, docs  []string
	agents    []string
	cutOut    int // entries of big folders that were not looked at
	cutExact  bool
	room      int // characters left for lists of paths
	dropped   int // paths that found no room
	timeout   bool
}

type languageSum struct {
	name  string
	files int
	bytes int64
	data  bool
}

type manifestFile struct{ path, kind, name string }

type badManifest struct {
	path   string
	reason answer.Word
}

func runProjectOverview(ctx context.Context, c *Call, in projectOverviewIn) (*projectOverviewOut, error) {
	d, err := c.Workspace.OpenDir(in.Path)
	if err != nil {
		return nil, err
	}
	path := d.Path()
	d.Close()
	out := &projectOverviewOut{name: c.Texts.Name(c.Workspace.Name())}
	out.path = c.pathRef(in.Path, path)
	out.isRoot = path == "."
	o := &overview{c: c, out: out, path: path, tree: newProjectTree(path, in.Depth), languages: map[string]*languageSum{},
		vendored: map[string]int{}, tests: map[string]int{}, cutExact: true, room: overviewPathChars}
	limited := ctx
	if t := c.Limits.SearchDeadline; t > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, t)
		defer cancel()
	}
	if err := o.walk(limited, in.Path); err != nil {
		if ctx.Err() != nil || !isContext(err) {
			return nil, err
		}
		o.timeout = true
	}
	if err := o.git(limited); err != nil {
		if ctx.Err() != nil || !isContext(err) {
			return nil, err
		}
		o.timeout = true
	}
	o.finish()
	return out, nil
}

// walk visits the folder level by level.
func (o *overview) walk(ctx context.Context, path string) error {
	w := walk.Options{Gitignore: o.c.Gitignore, Tracked: o.c.tracked, MaxEntries: o.c.Limits.WalkMaxEntries, MaxDepth: o.c.Limits.WalkMaxDepth, Breadth: true, PerDir: overviewPerDir,
		Cut: func(folder string, left int, exact bool) {
			o.cutOut += left
			o.cutExact = o.cutExact && exact
			o.tree.cut(folder, left)
		}}
	visited := 0
	stats, err := walk.Walk(ctx, o.c.Workspace, path, w, func(it *walk.Item) (walk.Action, error) {
		if visited++; visited%4096 == 0 {
			o.c.Progress(int64(visited), 0, PhaseWalk)
		}
		return walk.Continue, o.visit(ctx, it)
	})
	o.out.ignored, o.out.denied = stats.Ignored, stats.Denied
	o.out.stats = stats
	return err
}

func (o *overview) visit(ctx context.Context, it *walk.Item) error {
	vendor, own := vendoredPart(o.path, it.Path)
	if it.Kind == sandbox.KindDirectory {
		marks := ""
		switch {
		case it.State != walk.OK:
			marks = " (" + it.State.String() + ")"
		case vendor == it.Path:
			marks = " (vendored)"
			if _, ok := o.vendored[vendor]; !ok {
				o.vendored[vendor] = 0
			}
		}
		o.show(it, vendor, marks)
		return nil
	}
	marks := ""
	if it.Kind == sandbox.KindSymlink {
		marks = "@"
	}
	if it.State != walk.OK {
		marks += " (" + it.State.String() + ")"
	}
	o.show(it, vendor, marks)
	base := it.Name()
	if kind, ok := manifest.Kind(base); ok && own && it.State != walk.Ignored {
		o.manifest(ctx, it, base, kind)
	}
	if it.Kind != sandbox.KindFile || it.State != walk.OK {
		return nil
	}
	if !own {
		o.vendored[vendor]++
		return nil
	}
	o.out.files++
	o.count(it, base)
	if isEntry(it.Path) {
		o.entries = append(o.entries, it.Path)
	}
	if p, ok := testPattern(it.Path); ok && len(o.tests) < 1000 {
		o.tests[p]++
	}
	switch {
	case isCI(it.Path):
		o.ci = append(o.ci, it.Path)
	case isInstruction(it.Path):
		o.agents = append(o.agents, it.Path)
	case isDoc(it.Path):
		o.docs = append(o.docs, it.Path)
	}
	return nil
}

// show puts an entry into the tree. A vendored folder stands there closed, so that it leaves room for the project.
func (o *overview) show(it *walk.Item, vendor, marks string) {
	if vendor == "" || vendor == it.Path {
		o.tree.add(it.Path, it.Depth, it.Kind == sandbox.KindDirectory, marks)
	} else if dir, _ := split(it.Path); dir == vendor {
		o.tree.cut(vendor, 1)
	}
}

// count adds a file to its language.
func (o *overview) count(it *walk.Item, base string) {
	info, err := it.Info()
	if err != nil {
		return // gone since its name was read
	}
	o.out.bytes += info.Size
	l, ok := languageOfFile(base)
	if !ok {
		return
	}
	sum := o.languages[l.name]
	if sum == nil {
		sum = &languageSum{name: l.name, data: l.data}
		o.languages[l.name] = sum
	}
	sum.files++
	sum.bytes += info.Size
}

// vendoredPart is the outermost folder of a path below start that holds other people's code; own is true when there is
// none. Who asks about such a folder is told about it as about any other.
func vendoredPart(start, path string) (folder string, own bool) {
	at := 0
	if start != "." {
		at = len(start) + 1
	}
	for {
		i := strings.IndexByte(path[at:], '/')
		end := len(path)
		if i >= 0 {
			end = at + i
		}
		if vendoredFolders[path[at:end]] {
			return path[:end], false
		}
		if i < 0 {
			return "", true
		}
		at = end + 1
	}
}

// manifest reads the name out of a manifest. What cannot be read is reported and stops nothing.
func (o *overview) manifest(ctx context.Context, it *walk.Item, base, kind string) {
	fail := func(reason answer.Word) { o.bad = append(o.bad, badManifest{it.Path, reason}) }
	switch {
	case len(o.manifests)+len(o.bad) >= overviewManifests:
		return
	case it.State == walk.Denied:
		return // counted, and marked in the tree
	case it.State == walk.Outside:
		fail("it is a link that leaves the workspace")
		return
	case it.State == walk.Broken:
		fail("it is a link that leads to nothing")
		return
	case it.Kind == sandbox.KindSymlink:
		o.manifests = append(o.manifests, manifestFile{path: it.Path, kind: kind})
		return
	case it.Kind != sandbox.KindFile:
		fail("it is not a file")
		return
	}
	f, err := it.Open()
	if err != nil {
		fail("it could not be opened")
		return
	}
	defer f.Close()
	size := f.Info().Size
	if size > manifest.MaxBytes {
		fail("it is longer than 1 MiB")
		return
	}
	release, err := o.c.Memory.Hold(ctx, 3*size)
	if err != nil {
		fail("the server had no room to read it")
		return
	}
	defer release()
	raw, ok := readSource(f, size)
	if !ok {
		fail("it is not text")
		return
	}
	// A credential elsewhere in the manifest must neither show nor change what is said about it.
	text := strings.ReplaceAll(secrets.Scan(raw).Masked(), string(rune(secrets.Mask)), "*")
	name, err := manifest.Name(base, text)
	if err != nil {
		switch err {
		case manifest.ErrEmpty:
			fail("it is empty")
		case manifest.ErrJSON:
			fail("it is not valid JSON")
		case manifest.ErrTOML:
			fail("it is not valid TOML")
		case manifest.ErrXML:
			fail("it is not valid XML")
		default:
			fail("it names no module")
		}
		return
	}
	o.manifests = append(o.manifests, manifestFile{it.Path, kind, name})
}

// finish chooses what is shown.
func (o *overview) finish() {
	out := o.out
	sums := make([]*languageSum, 0, len(o.languages))
	for _, s := range o.languages {
		sums = append(sums, s)
	}
	slices.SortFunc(sums, func(a, b *languageSum) int {
		switch {
		case a.data != b.data:
			if a.data {
				return 1
			}
			return -1
		case a.bytes > b.bytes:
			return -1
		case a.bytes < b.bytes:
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	out.languages = sums[:min(len(sums), overviewLanguages)]

	byShown(o.manifests, func(m *manifestFile) string { return m.path }, nil)
	slices.SortStableFunc(o.manifests, func(a, b manifestFile) int {
		if x, y := aside(a.path), aside(b.path); x != y {
			if x {
				return 1
			}
			return -1
		}
		return nearer(a.path, b.path)
	})
	for i, m := range o.manifests {
		if i >= 15 || !o.fits(len(m.path)+len(m.kind)+len(m.name)+30) {
			o.dropped += len(o.manifests) - i
			break
		}
		r := manifestRef{path: o.c.Texts.Name(m.path), kind: answer.Word(m.kind)}
		if m.name != "" {
			r.name = o.c.Texts.Name(m.name)
		}
		out.manifests = append(out.manifests, r)
	}
	out.entries = o.paths(o.entries, 12)
	patterns := make([]string, 0, len(o.tests))
	for p := range o.tests {
		patterns = append(patterns, p)
	}
	byShown(patterns, same, nil)
	slices.SortStableFunc(patterns, func(a, b string) int { return o.tests[b] - o.tests[a] })
	out.tests = o.names(patterns, 8)
	out.ci = o.paths(o.ci, 8)
	out.docs = o.paths(o.docs, 8)
	out.agents = o.paths(o.agents, 10)

	text, shown, all := o.tree.text()
	out.tree = o.c.Texts.Part(text)
	o.notices()
	if shown < all {
		out.Notice(answer.W("the tree shows "), answer.N(int64(shown)), answer.W(" of "), answer.N(int64(all)), answer.W(" entries; call list_directory for the rest"))
	}
}

// nearer puts what lies higher up first; the order among equals is that of byShown.
func nearer(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") }

func same(s *string) string { return *s }

// fits takes n characters of the room for lists of paths.
func (o *overview) fits(n int) bool {
	if n > o.room {
		return false
	}
	o.room -= n
	return true
}

func (o *overview) paths(list []string, limit int) []answer.Ref {
	byShown(list, same, nil)
	slices.SortStableFunc(list, nearer)
	return o.names(list, limit)
}

func (o *overview) names(list []string, limit int) []answer.Ref {
	var out []answer.Ref
	for i, p := range list {
		if i >= limit || !o.fits(len(p)+4) {
			o.dropped += len(list) - i
			break
		}
		out = append(out, o.c.Texts.Name(p))
	}
	return out
}

// notices says what the overview leaves out.
func (o *overview) notices() {
	out := o.out
	out.Complete = out.stats.Complete() && o.cutOut == 0 && o.cutExact && !o.timeout
	if !out.Complete {
		out.Stopped = "limit"
		if o.timeout {
			out.Stopped = "time"
			out.Notice(answer.W("time ran out; set path to one part"))
		}
	}
	if o.cutOut > 0 || !o.cutExact {
		least := answer.Word("")
		if !o.cutExact {
			least = "at least "
		}
		out.Notice(answer.W(least), answer.N(int64(o.cutOut)), answer.W(" entries of very large folders are counted in the tree only"))
	}
	if out.stats.Capped && out.stats.Entries >= o.c.Limits.WalkMaxEntries {
		out.Notice(answer.W("the walk stopped at "), answer.N(int64(out.stats.Entries)), answer.W(" entries; set path to one part"))
	}
	if n := out.stats.Unreadable; n > 0 {
		out.Notice(answer.N(int64(n)), answer.W(" folders could not be read"))
	}
	byShown(o.bad, func(b *badManifest) string { return b.path }, nil)
	slices.SortStableFunc(o.bad, func(a, b badManifest) int { return nearer(a.path, b.path) })
	for i, b := range o.bad {
		if i >= overviewBadShown {
			out.Notice(answer.N(int64(len(o.bad)-i)), answer.W(" further manifests could not be used"))
			break
		}
		out.Notice(answer.W("manifest "), answer.R(o.c.Texts.Name(b.path)), answer.W(" could not be used: "), answer.W(b.reason))
	}
	vendored := make([]string, 0, len(o.vendored))
	for p := range o.vendored {
		vendored = append(vendored, p)
	}
	byShown(vendored, same, func(a, b *string) int { return o.vendored[*a] - o.vendored[*b] })
	slices.SortStableFunc(vendored, nearer)
	for i, p := range vendored {
		if i >= 5 {
			out.Notice(answer.N(int64(len(vendored)-i)), answer.W(" further vendored folders are not counted"))
			break
		}
		out.Notice(answer.W("vendored, not counted: "), answer.R(o.c.Texts.Name(p)), answer.W(" ("), answer.N(int64(o.vendored[p])), answer.W(" files)"))
	}
	if o.dropped > 0 {
		out.Notice(answer.N(int64(o.dropped)), answer.W(" further manifests, entry points, tests or documents are not listed; set path, or call list_directory with a glob"))
	}
}
