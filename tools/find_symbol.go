package tools

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/symbol"
	"mcp-devserver/tools/internal/walk"
)

var findSymbol = New(Definition{
	Name:  "find_symbol",
	Title: "Find a symbol or outline a file",
	Description: "Find where a function, method, type, class, constant or variable is defined, by name; qualified names such as Server.Start work. " +
		"With path set to a file and no name, returns the outline of that file. role references lists places that use the name instead. " +
		"include_body returns the source of each definition. Each result says which method found it: parsed with the language's grammar, or matched as text. " +
		"Prefer this to search_code for \"where is X defined\".",
	Input: `{"type":"object","properties":{
		"name":{"type":"string","description":"Symbol name, optionally qualified by its container. Omit only to outline a file.","minLength":1,"maxLength":256},
		"path":{"type":"string","description":"File or folder to look in. Default: the whole workspace.","minLength":1,"maxLength":4096,"default":"."},
		"kind":{"type":"string","enum":["any","function","method","class","interface","struct","enum","type","module","constant","variable","field"],"default":"any","description":"Only this kind of symbol."},
		"match":{"type":"string","enum":["exact","prefix","contains"],"default":"exact","description":"How name is compared. exact is case-sensitive; the others are not."},
		"role":{"type":"string","enum":["definitions","references"],"default":"definitions","description":"references finds uses by name, without type checking."},
		"include_body":{"type":"boolean","description":"Return the full source of each definition (at most 10 results).","default":false},
		"limit":{"type":"integer","description":"Symbols to return.","minimum":1,"maximum":500,"default":50},
		"offset":{"type":"integer","description":"Symbols to skip, from a previous next.","minimum":0,"maximum":1000000,"default":0}},
		"additionalProperties":false}`,
	Output: `{"type":"object","required":["mode","total","symbols"],"additionalProperties":false,"properties":{
		"mode":{"enum":["definitions","references","outline"]},
		"total":{"type":"integer","minimum":0},
		"total_is_exact":{"type":"boolean"},
		"searched":{"type":"integer","minimum":0},
		"symbols":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"kind":{"type":"string"},"path":{"type":"string"},"line":{"type":"integer","minimum":1},"end_line":{"type":"integer","minimum":1},"container":{"type":"string"},"signature":{"type":"string"},"method":{"enum":["parsed","scanned","text"]},"body":{"type":"string"}},"required":["name","path","line","method"],"additionalProperties":false}},
		"languages":{"type":"object","additionalProperties":{"type":"integer","minimum":0}},
		"similar":{"type":"array","items":{"type":"string"}}}}`,
	Codes: []sandbox.Code{
		sandbox.OutsideWorkspace, sandbox.DeniedPath, sandbox.InvalidPath, sandbox.NotFound, sandbox.Unreadable, sandbox.SpecialFile,
		sandbox.MissingName, sandbox.UnsupportedLanguage, sandbox.Busy, sandbox.Timeout, sandbox.RateLimited, sandbox.ResultTooLarge,
	},
}, runFindSymbol)

type findSymbolIn struct {
	Name        string `json:"name"`
	Path        string `json:"path"`
	Kind        string `json:"kind"`
	Match       string `json:"match"`
	Role        string `json:"role"`
	IncludeBody bool   `json:"include_body"`
	Limit       int    `json:"limit"`
	Offset      int    `json:"offset"`
}

// What find_symbol takes on.
const (
	maxSymbolFile  = 4 << 20  // bytes of a file that is analysed
	maxBodies      = 10       // definitions returned with their source
	maxBodyLines   = 200      // lines of one of them
	maxSignature   = 240      // characters
	similarScan    = 64 << 20 // bytes of source read again to find near names
	similarParse   = 8 << 20  // bytes of it parsed
	maxNearCost    = 16 << 20 // bytes that parsing a file for near names may take
	similarReturns = 5
)

// runFindSymbol looks through the files of a workspace in path order.
func runFindSymbol(ctx context.Context, c *Call, in findSymbolIn) (*findSymbolOut, error) {
	info, err := c.Workspace.Stat(in.Path)
	if err != nil {
		return nil, err
	}
	single := info.Kind != sandbox.KindDirectory
	if in.Name == "" && (!single || in.Role == "references") {
		return nil, sandbox.Refuse(sandbox.MissingName, sandbox.Args{})
	}
	s := &symbolSearch{c: c, in: &in, query: newSymbolQuery(&in), unread: map[string]int{}, paths: map[string]answer.Ref{}}
	o := &s.out
	o.languages = map[string]int{}
	o.argument, o.hasName = c.Texts.Argument(in.Name), in.Name != ""
	switch {
	case in.Name == "":
		o.mode = "outline"
	case in.Role == "references":
		o.mode = "references"
	default:
		o.mode = "definitions"
	}
	s.limit = min(in.Limit, c.Limits.SymbolResults)
	if in.IncludeBody && o.mode != "references" {
		s.limit = min(s.limit, maxBodies)
	}
	limited := ctx
	if d := c.Limits.SearchDeadline; d > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}

	if single {
		s.asked = in.Path
		err = s.one(limited, info.Path)
	} else {
		err = s.folder(limited, in.Path, s.visit)
	}
	if err = s.interrupted(ctx, err); err != nil {
		return nil, err
	}
	if o.mode == "definitions" && o.total == 0 && s.otherKinds == 0 && !s.timeout {
		sim := nearNames{s: s, name: s.query.last, seen: map[string]bool{}, best: map[string]int{}}
		if single {
			err = sim.file(limited, info.Path)
		} else {
			err = s.folder(limited, in.Path, sim.visit)
		}
		if err = s.interrupted(ctx, err); err != nil {
			return nil, err
		}
		for _, name := range sim.list() {
			o.similar = append(o.similar, c.Texts.Name(name))
		}
	}
	return s.finish(), nil
}

// symbolSearch is one call.
type symbolSearch struct {
	c     *Call
	in    *findSymbolIn
	query symbolQuery
	out   findSymbolOut
	limit int
	asked string // path of the one file, as the caller wrote it
	paths map[string]answer.Ref

	hits       []hit
	spent      int  // characters the hits take
	full       bool // the budget took no more
	otherKinds int
	timeout    bool
	stats      walk.Stats
	unread     map[string]int // extension → files without a scanner
	large      int
	dense      int // files whose analysis would take too much memory
	broken     int
	binary     int
	failed     int
	lower      []byte
}

// interrupted keeps what was found when the search's own time ran out.
func (s *symbolSearch) interrupted(ctx context.Context, err error) error {
	if err != nil && isContext(err) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.timeout = true
		return nil
	}
	return err
}

// folder walks the files below path that have an analyser.
func (s *symbolSearch) folder(ctx context.Context, path string, visit func(context.Context, *walk.Item, string) error) error {
	o := walk.Options{Gitignore: s.c.Gitignore, Tracked: s.c.tracked, MaxEntries: s.c.Limits.WalkMaxEntries, MaxDepth: s.c.Limits.WalkMaxDepth}
	stats, err := walk.Walk(ctx, s.c.Workspace, path, o, func(it *walk.Item) (walk.Action, error) {
		if it.Kind != sandbox.KindFile || it.State != walk.OK {
			return walk.Continue, nil
		}
		lang := symbol.Language(it.Path)
		return walk.Continue, visit(ctx, it, lang)
	})
	s.stats = stats
	return err
}

// visit looks at one file of a walk.
func (s *symbolSearch) visit(ctx context.Context, it *walk.Item, lang string) error {
	if lang == "" {
		if l, ok := languageOfFile(it.Name()); ok && l.program {
			s.unread[strings.ToLower(extension(it.Name()))]++
		}
		return nil
	}
	f, err := it.Open()
	if err != nil {
		s.failed++
		return nil
	}
	defer f.Close()
	s.out.searched++
	s.out.languages[lang]++
	s.c.Progress(int64(s.out.searched), 0, PhaseParse)
	return s.file(ctx, f, it.Path, lang)
}

// one looks at the file the caller named.
func (s *symbolSearch) one(ctx context.Context, path string) error {
	lang := symbol.Language(path)
	if lang == "" {
		return sandbox.Refuse(sandbox.UnsupportedLanguage, sandbox.Args{"ext": extension(path)})
	}
	f, err := s.c.Workspace.OpenFile(s.in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	s.out.searched++
	s.out.languages[lang]++
	return s.file(ctx, f, f.Info().Path, lang)
}

// extension is ".zig", or "" for a name without one.
func extension(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return base[i:]
	}
	return ""
}

// file searches one file. What is asked for is compared with the text in which secrets are masked, and nothing that
// the answer says depends on more than that.
func (s *symbolSearch) file(ctx context.Context, f *sandbox.File, path, lang string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	size := f.Info().Size
	if size > maxSymbolFile {
		s.large++
		return nil
	}
	release, err := s.c.Memory.Hold(ctx, 3*size)
	if err != nil {
		return err
	}
	defer func() { release() }()
	raw, ok := readSource(f, size)
	if !ok {
		s.binary++
		return nil
	}
	if !s.mayHold(raw) {
		return nil
	}
	text := secrets.Scan(raw)
	masked := text.Masked()
	if len(text.Spans) > 0 && !s.mayHold(masked) {
		return nil
	}
	cost := symbol.Cost(lang, masked)
	if cost > symbol.MaxCost {
		s.dense++
		return nil
	}
	release() // who waits for more must not hold what others wait for
	if release, err = s.c.Memory.Hold(ctx, min(3*size+cost, s.c.Memory.size/2)); err != nil {
		release = func() {}
		return err
	}
	if s.out.mode == "references" {
		s.references(ctx, text, masked, path, lang)
		return ctx.Err()
	}
	syms, err := symbol.Parse(ctx, lang, masked)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == symbol.ErrSyntax:
		s.broken++
	}
	slices.SortStableFunc(syms, func(a, b symbol.Symbol) int { return a.Line - b.Line })
	for i := range syms {
		sy := &syms[i]
		if s.out.mode != "outline" && !s.query.matches(sy, path) {
			continue
		}
		if s.in.Kind != "any" && s.in.Kind != string(sy.Kind) {
			s.otherKinds++
			continue
		}
		s.out.total++
		if s.wanted() {
			s.definition(sy, text, path, lang)
		}
	}
	return nil
}

// wanted reports whether the result just counted belongs to the page.
func (s *symbolSearch) wanted() bool {
	n := s.out.total - 1
	return !s.full && n >= s.in.Offset && n-s.in.Offset < s.limit
}

// mayHold is false when no name in text can match.
func (s *symbolSearch) mayHold(text string) bool {
	needle := s.query.needle
	if needle == "" {
		return true
	}
	if !s.query.fold {
		return strings.Contains(text, needle)
	}
	s.lower = append(s.lower[:0], text...)
	for i, c := range s.lower {
		if c >= 'A' && c <= 'Z' {
			s.lower[i] = c + 'a' - 'A'
		}
	}
	return bytes.Contains(s.lower, []byte(needle))
}

// pathRef is the table entry of a path; one file has one.
func (s *symbolSearch) pathRef(path string) answer.Ref {
	r, ok := s.paths[path]
	if !ok {
		if s.asked != "" {
			r = s.c.pathRef(s.asked, path)
		} else {
			r = s.c.Texts.Name(path)
		}
		s.paths[path] = r
	}
	return r
}

// references adds the lines that use the name.
func (s *symbolSearch) references(ctx context.Context, text secrets.Text, masked, path, lang string) {
	var syms []symbol.Symbol
	parsed := false
	last := 0
	use := func(u symbol.Use) bool {
		if u.Line == last {
			return true
		}
		last = u.Line
		s.out.total++
		if !s.wanted() {
			return true
		}
		if !parsed {
			syms, _ = symbol.Parse(ctx, lang, masked)
			parsed = true
		}
		start, end := lineBounds(text.Raw, u.Start)
		for start < u.Start && (text.Raw[start] == ' ' || text.Raw[start] == '\t') {
			start++
		}
		h := hit{name: masked[u.Start:u.End], line: u.Line, endLine: u.Line, method: symbol.Text, container: symbol.EnclosingIn(syms, u.Line)}
		s.add(h, text.Slice(start, end), secrets.Text{}, path)
		return true
	}
	if s.in.Match == "exact" {
		symbol.References(ctx, lang, masked, s.query.last, use)
	} else {
		symbol.Identifiers(ctx, lang, masked, s.query.compare, use)
	}
}

// lineBounds are the first byte of the line that holds at, and the byte behind its last.
func lineBounds(s string, at int) (start, end int) {
	start = strings.LastIndexByte(s[:at], '\n') + 1
	end = len(s)
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end > start && s[end-1] == '\r' {
		end--
	}
	return start, end
}

// definition adds one definition.
func (s *symbolSearch) definition(sy *symbol.Symbol, text secrets.Text, path, lang string) {
	h := hit{name: sy.Qualified(), container: sy.Container, kind: answer.Word(sy.Kind), line: sy.Line, endLine: sy.EndLine, method: answer.Word(symbol.MethodOf(lang))}
	var body secrets.Text
	if s.in.IncludeBody {
		start, _ := lineBounds(text.Raw, sy.Start)
		_, end := lineBounds(text.Raw, max(sy.End-1, sy.Start))
		h.first = sy.Line - strings.Count(text.Raw[start:sy.SigStart], "\n")
		if sy.EndLine-h.first < maxBodyLines {
			body = text.Slice(start, end)
		} else {
			h.long = true
		}
	}
	s.add(h, text.Slice(sy.SigStart, sy.SigEnd), body, path)
}

// add puts a result on the page, if the budget takes it; a body that does not fit stays out alone.
func (s *symbolSearch) add(h hit, signature, body secrets.Text, path string) {
	sig := oneLine(signature)
	cost := answer.Cost(sig) + len(h.name)*2 + len(path)*2 + len(h.container) + 130
	budget := s.c.Limits.ContentChars()
	if s.spent+cost > budget && len(s.hits) > 0 {
		s.full = true
		return
	}
	s.spent += cost
	h.path = s.pathRef(path)
	h.nameRef = s.c.Texts.Name(h.name)
	if h.container != "" {
		h.containerRef = s.c.Texts.Name(h.container)
	}
	if sig.Raw != "" {
		h.signature = s.c.Texts.Content(sig, h.path, h.line)
	}
	if body.Raw != "" {
		cost := answer.Cost(body) + (strings.Count(body.Raw, "\n")+1)*8
		if s.spent+cost > budget {
			h.long = true
		} else {
			s.spent += cost
			h.body = s.c.Texts.Content(body, h.path, h.first)
		}
	}
	s.hits = append(s.hits, h)
}

// finish words what the search met.
func (s *symbolSearch) finish() *findSymbolOut {
	o := &s.out
	o.hits = s.hits
	o.exact = !s.timeout && s.stats.Complete()
	page := min(max(o.total-s.in.Offset, 0), s.limit)
	o.Complete = len(o.hits) == max(o.total-s.in.Offset, 0) && o.exact
	switch {
	case s.timeout:
		o.Stopped = "time"
	case s.full || len(o.hits) < page:
		o.Stopped = "chars"
	case !o.Complete:
		o.Stopped = "limit"
	}
	if end := s.in.Offset + len(o.hits); end < o.total && len(o.hits) > 0 {
		o.Next = s.nextPage(end)
	}
	omitted := 0
	for i := range o.hits {
		h := &o.hits[i]
		if !h.long {
			continue
		}
		omitted++
		o.Complete = false
		if o.Stopped == "" {
			o.Stopped = "limit"
		}
		if o.Next == nil {
			o.Next = &answer.Next{Tool: "read_file", Why: "shows a body that was too long", Args: []answer.Arg{
				answer.ArgText("path", h.path), answer.ArgInt("start_line", int64(h.first)), answer.ArgInt("end_line", int64(h.endLine))}}
		}
	}
	s.notices(omitted)
	return o
}

func (s *symbolSearch) nextPage(offset int) *answer.Next {
	in := s.in
	n := &answer.Next{Tool: "find_symbol"}
	if in.Name != "" {
		n.Args = append(n.Args, answer.ArgText("name", s.out.argument))
	}
	if in.Path != "." {
		n.Args = append(n.Args, answer.ArgText("path", s.c.Texts.Argument(in.Path)))
	}
	for _, a := range []struct{ key, value, normal string }{{"kind", in.Kind, "any"}, {"match", in.Match, "exact"}, {"role", in.Role, "definitions"}} {
		if a.value != a.normal {
			n.Args = append(n.Args, answer.ArgWord(answer.Word(a.key), answer.Word(a.value))) // one of the schema's own words
		}
	}
	if in.IncludeBody {
		n.Args = append(n.Args, answer.ArgBool("include_body", true))
	}
	if in.Limit != 50 {
		n.Args = append(n.Args, answer.ArgInt("limit", int64(in.Limit)))
	}
	n.Args = append(n.Args, answer.ArgInt("offset", int64(offset)))
	return n
}
