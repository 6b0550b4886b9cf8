package tools

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"mcp-devserver/redos"
	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/walk"
)

var searchCode = New(Definition{
	Name:  "search_code",
	Title: "Search file contents",
	Description: "Search the text of workspace files with a regular expression (Perl style, lookaround allowed) or, with literal, a plain string. " +
		"Results are grouped by file as \"line: text\". Narrow with path and glob. output_mode files_with_matches returns only paths, count only numbers; " +
		"use them first when a term may be common. Up to three matches come with surrounding lines automatically. " +
		"Patterns that can backtrack exponentially, such as (a+)+, are refused with a safer form. Binary, ignored and denied files are skipped and counted.",
	Input: `{"type":"object","properties":{
		"pattern":{"type":"string","description":"Regular expression, or plain text when literal is true. Matched within one line unless multiline.","minLength":1,"maxLength":1000},
		"path":{"type":"string","description":"File or folder to search. Default: the whole workspace.","minLength":1,"maxLength":4096,"default":"."},
		"glob":{"type":"string","description":"Only files matching this pattern, e.g. \"*.ts\" or \"src/**/*.{go,sql}\".","minLength":1,"maxLength":512},
		"exclude_glob":{"type":"string","description":"Leave out files matching this pattern.","minLength":1,"maxLength":512},
		"literal":{"type":"boolean","description":"Treat pattern as plain text.","default":false},
		"ignore_case":{"type":"boolean","description":"Match upper and lower case alike.","default":false},
		"multiline":{"type":"boolean","description":"Let . and the pattern span lines.","default":false},
		"output_mode":{"type":"string","enum":["content","files_with_matches","count"],"default":"content","description":"content: matching lines. files_with_matches: paths only. count: matches per file."},
		"context_lines":{"type":"integer","description":"Lines to show around each match. Omit to let the server add some when there are few matches.","minimum":0,"maximum":10},
		"include_ignored":{"type":"boolean","description":"Also search files left out by .gitignore and the default skip list.","default":false},
		"limit":{"type":"integer","description":"Matches (or files, in the other modes) to return.","minimum":1,"maximum":1000,"default":100},
		"offset":{"type":"integer","description":"Matches or files to skip, from a previous next.","minimum":0,"maximum":1000000,"default":0},
		"skip_files":{"type":"integer","description":"Files to pass over before offset counts, from a previous next.","minimum":0,"maximum":1000000,"default":0}},
		"required":["pattern"],
		"additionalProperties":false}`,
	Output: `{"type":"object","required":["mode","matches","files","searched","results"],"additionalProperties":false,"properties":{
		"mode":{"enum":["content","files_with_matches","count"]},
		"matches":{"type":"integer","minimum":0},
		"files":{"type":"integer","minimum":0},
		"totals_are_exact":{"type":"boolean"},
		"searched":{"type":"integer","minimum":0},
		"skipped":{"type":"object","additionalProperties":{"type":"integer","minimum":0}},
		"shortened":{"enum":["none","context_dropped","lines_cut","counts_only"]},
		"results":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"count":{"type":"integer","minimum":1},"matches":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer","minimum":1},"text":{"type":"string"},"before":{"type":"array","items":{"type":"string"}},"after":{"type":"array","items":{"type":"string"}},"symbol":{"type":"string"},"column":{"type":"integer","minimum":1},"cut":{"type":"boolean"}},"required":["line","text"],"additionalProperties":false}}},"required":["path"],"additionalProperties":false}},
		"hot_folders":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"matches":{"type":"integer","minimum":1}},"required":["path","matches"],"additionalProperties":false}}}}`,
	Codes: []sandbox.Code{
		sandbox.OutsideWorkspace, sandbox.DeniedPath, sandbox.InvalidPath, sandbox.NotFound, sandbox.Unreadable, sandbox.SpecialFile,
		sandbox.InvalidPattern, sandbox.UnsafePattern, sandbox.PatternTimeout, sandbox.InvalidGlob,
		sandbox.Busy, sandbox.Timeout, sandbox.RateLimited, sandbox.ResultTooLarge,
	},
}, runSearchCode)

type searchIn struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path"`
	Glob           string `json:"glob"`
	ExcludeGlob    string `json:"exclude_glob"`
	Literal        bool   `json:"literal"`
	IgnoreCase     bool   `json:"ignore_case"`
	Multiline      bool   `json:"multiline"`
	OutputMode     string `json:"output_mode"`
	ContextLines   *int   `json:"context_lines"`
	IncludeIgnored bool   `json:"include_ignored"`
	Limit          int    `json:"limit"`
	Offset         int    `json:"offset"`
	SkipFiles      int    `json:"skip_files"`
}

// The three modes. A unit is what limit and offset count: a matching line in
// content mode, a file in the other two.
const (
	modeContent = "content"
	modeFiles   = "files_with_matches"
	modeCount   = "count"
)

// metacharacters make a pattern a regular expression. Without any it is plain
// text, which is searched for without the engine and in lines of any length.
const metacharacters = `\.+*?()|[]{}^$`

const (
	autoContext = 10 // lines on each side when there are few matches
	autoMatches = 3  // that many are few
	lineRetries = 3  // lines of one search that are matched again after a timeout
	slowNamed   = 3  // files on which a pattern took too long that are named
	symbolFiles = 20 // files whose matches are told the definition around them
)

// search is one call.
type search struct {
	call     *Call
	in       *searchIn
	re       *redos.Regex
	plain    bool // the engine is not used
	alone    bool // path names a file
	glob     *walk.Glob
	exclude  *walk.Glob
	start    string // folder that globs are relative to
	deadline time.Time
	first    int // units to skip
	limit    int // units to return
	keep     int // context lines collected around each match
	auto     bool

	files      []fileHits
	end        place // where the next page begins, when there is more than this one
	found      int   // units met, those skipped included; at most first+limit+1 but in count mode
	matches    int
	matched    int // files with a match
	searched   int
	considered int // files that the globs let through
	skipped    skipped
	lossy      int            // files with bytes that are not UTF-8 among those shown
	tooLong    bool           // some file is too long for multiline only
	folders    map[string]int // matches by folder, in count mode
	stats      walk.Stats
	met        walk.Stats // stats when the file taken over last was met
	timeUp     bool
	lateAt     string   // the file in which time ran out
	goOn       place    // where a search goes on whose time ran out
	goesOn     bool     // it came further than where it began
	last       string   // the last file that was dealt with
	slow       []string // the first files on which the pattern took too long
	unsure     int      // of those, the ones before the page that may hold matches
	symbols    int      // files that were analysed for definitions

	auto0   bool          // context is shown when there are few matches
	own     int64         // bytes that the workers hold from their start
	turn    chan struct{} // of those that wait for memory
	holding atomic.Int32  // files that memory is held for
	retried atomic.Int32  // lines that were matched again after a timeout
	known   struct {      // what workers go by: the least of what has been found
		found, pending atomic.Int64
		keep, symbols  atomic.Int32
	}
}

// skipped counts files that were not searched, by reason, beside what the walk
// counts.
type skipped struct {
	binary, unreadable, tooLarge, longLines, timeout int
}

// fileHits is a file of the page.
type fileHits struct {
	path  string
	at    place // of its first unit on the page
	count int   // 0: not known
	hits  []lineHit
}

// place is where a page begins: units to skip behind a number of files. Without
// a file that was given up it is told by units alone. With one it begins at a
// file, because the next search may get through what this one gave up, or give
// up another, and units would be counted otherwise then.
type place struct{ files, units int }

// late notes where a search goes on whose time ran out in a file, with before
// units found until there: in that file or, when it gave nothing to a search that
// began with it, behind it, because the next search would not get further either.
// That is not known when the page may begin further on in that file.
func (s *search) late(j *job, before int, added bool) {
	next := max(s.first, s.found) // number of the next unit that is wanted
	switch {
	case s.in.OutputMode != modeContent && added:
		s.goOn, s.goesOn = place{j.nth + 1, next - s.found}, !s.alone
	case j.nth == s.in.SkipFiles && s.found <= max(s.first, before):
		begun := j.out.err == nil
		s.goOn, s.goesOn = place{j.nth + 1, 0}, begun && !s.alone && next == s.found
	default:
		s.goOn, s.goesOn = place{j.nth, next - before}, true
	}
}

// place returns the place of a unit: its number, and its number in the nth file
// from 0.
func (s *search) place(unit, nth, inFile int) place {
	if s.skipped.timeout == 0 {
		return place{s.in.SkipFiles, unit}
	}
	return place{nth, inFile}
}

func runSearchCode(ctx context.Context, c *Call, in searchIn) (*searchOut, error) {
	s, err := newSearch(c, &in)
	if err != nil {
		return nil, err
	}
	s.deadline = time.Now().Add(c.Limits.SearchDeadline)
	if t, ok := ctx.Deadline(); ok && t.Before(s.deadline) {
		s.deadline = t
	}
	limited, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	if err := s.run(limited); err != nil {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			s.timeUp = true
		default:
			return nil, err
		}
	}
	if s.skipped.timeout > 0 && s.searched+s.matches == 0 {
		return nil, sandbox.Refuse(sandbox.PatternTimeout, sandbox.Args{"files_tried": s.skipped.timeout})
	}
	return s.answer(), nil
}

// newSearch checks the arguments that no file is needed for.
func newSearch(c *Call, in *searchIn) (*search, error) {
	s := &search{call: c, in: in, turn: make(chan struct{}, 1), first: in.Offset, limit: min(in.Limit, c.Limits.SearchMaxMatches)}
	if n := utf8.RuneCountInString(in.Pattern); n > c.Limits.PatternChars {
		return nil, sandbox.Refuse(sandbox.InvalidPattern, sandbox.Args{"i": c.Limits.PatternChars + 1, "reason": "longer than this server allows"})
	}
	s.plain = in.Literal || !strings.ContainsAny(in.Pattern, metacharacters)
	var err error
	s.re, err = redos.Compile(in.Pattern, redos.Options{Literal: s.plain, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline,
		MatchTimeout: c.Limits.MatchTimeout, NoGuard: c.Limits.NoRegexGuard})
	var syntax *redos.SyntaxError
	var unsafe *redos.UnsafeError
	switch {
	case errors.As(err, &syntax):
		return nil, sandbox.Refuse(sandbox.InvalidPattern, sandbox.Args{"i": syntax.Position, "reason": syntax.Reason})
	case errors.As(err, &unsafe):
		a := sandbox.Args{}
		if secrets.Find(in.Pattern) == nil { // else a fragment could be part of a secret
			a["fragment"] = unsafe.Fragment
			if unsafe.Suggestion != "" {
				a["suggestion"] = unsafe.Suggestion
			}
		}
		return nil, sandbox.Refuse(sandbox.UnsafePattern, a)
	case err != nil:
		return nil, err
	}
	if in.Glob != "" {
		if s.glob, err = parseGlob(in.Glob); err != nil {
			return nil, err
		}
	}
	if in.ExcludeGlob != "" {
		if s.exclude, err = parseGlob(in.ExcludeGlob); err != nil {
			return nil, err
		}
	}
	switch in.OutputMode {
	case modeContent:
		s.auto = in.ContextLines == nil && in.Offset == 0 && in.SkipFiles == 0
		s.auto0 = s.auto
		if s.auto {
			s.keep = autoContext
		} else if in.ContextLines != nil {
			s.keep = *in.ContextLines
		}
	case modeCount:
		s.folders = map[string]int{}
	}
	return s, nil
}

// run searches the file or folder that path names.
func (s *search) run(ctx context.Context) error {
	c, in := s.call, s.in
	release, err := c.Memory.Hold(ctx, workerBytes)
	if err != nil {
		return err
	}
	defer release()
	s.own = workerBytes
	s.known.keep.Store(int32(s.keep))
	info, err := c.Workspace.Stat(in.Path)
	if err != nil {
		return err
	}
	if info.Kind == sandbox.KindFile {
		s.start, s.alone = path.Dir(info.Path), true
		if !s.wanted(info.Path) {
			return nil
		}
		f, err := c.Workspace.OpenFile(in.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		if s.considered++; s.considered <= in.SkipFiles {
			return nil
		}
		j := &job{path: f.Info().Path}
		sc := &scan{search: s, exact: true, keep: s.keep, names: true}
		sc.file(ctx, f, j.path, &j.out)
		return s.take(ctx, j)
	}
	s.start = info.Path
	crew, done := s.newCrew(ctx)
	defer done()
	o := walk.Options{IncludeIgnored: in.IncludeIgnored, Gitignore: c.Gitignore, Tracked: c.tracked, MaxEntries: c.Limits.WalkMaxEntries, MaxDepth: c.Limits.WalkMaxDepth}
	if wrong := crew.run(func() {
		s.stats, err = walk.Walk(ctx, c.Workspace, in.Path, o, func(it *walk.Item) (walk.Action, error) { return s.visit(crew, it), nil })
	}); wrong != nil {
		err = wrong
	}
	if s.full() {
		s.stats = s.met // the walk is ahead of the search by as much as time will have it
	}
	return err
}

// wanted applies both globs to a file. exclude_glob also leaves out what lies
// in a folder that it matches.
func (s *search) wanted(p string) bool {
	if s.glob == nil && s.exclude == nil {
		return true
	}
	p = globName(s.start, p)
	if s.glob != nil && !s.glob.MatchBelow(s.start, p) {
		return false
	}
	return s.exclude == nil || !s.exclude.MatchBelow(s.start, p)
}

func (s *search) visit(crew *crew, it *walk.Item) walk.Action {
	if it.State != walk.OK {
		return walk.Continue
	}
	if it.Kind == sandbox.KindDirectory {
		if s.exclude != nil && s.exclude.MatchBelow(s.start, globName(s.start, it.Path)) {
			return walk.SkipDir
		}
		return walk.Continue
	}
	// A link inside the workspace leads to a file that is searched where it is.
	if it.Kind != sandbox.KindFile || !s.wanted(it.Path) {
		return walk.Continue
	}
	s.considered++
	s.call.Progress(int64(s.considered), 0, PhaseSearch) // a few files can take long, too
	if s.considered <= s.in.SkipFiles {
		return walk.Continue
	}
	if !crew.add(it.Path, it.Keep(), it.Met()) {
		return walk.Stop
	}
	return walk.Continue
}

// full reports whether one unit more than the page holds was found.
func (s *search) full() bool { return s.in.OutputMode != modeCount && s.found > s.first+s.limit }

// add takes over what one file gave. Units are numbered through in path order.
func (s *search) add(j *job) {
	p, r := j.path, &j.out.fileResult
	s.skipped.longLines += r.longLines
	if r.count == 0 {
		return
	}
	s.matched++
	s.matches += r.count
	before, units := s.found, 1
	if s.in.OutputMode == modeContent {
		units = r.count
	}
	s.found += units
	if stop := s.first + s.limit; before <= stop && s.found > stop {
		s.end = s.place(stop, j.nth, stop-before)
	}
	at := s.place(max(before, s.first), j.nth, max(s.first-before, 0))
	if s.in.OutputMode == modeContent {
		if len(r.hits) > 0 {
			f := fileHits{path: p, at: at, hits: r.hits}
			if r.whole {
				f.count = r.count
			}
			s.files = append(s.files, f)
			if r.lossy {
				s.lossy++
			}
		}
		if s.auto && s.found > autoMatches {
			s.keep, s.auto = 0, false
			for i := range s.files {
				for k := range s.files[i].hits {
					h := &s.files[i].hits[k]
					h.before, h.after = nil, nil
				}
			}
		}
		return
	}
	if before >= s.first && before < s.first+s.limit {
		f := fileHits{path: p, at: at}
		if s.in.OutputMode == modeCount {
			f.count = r.count
		}
		s.files = append(s.files, f)
	}
	if s.folders != nil {
		s.folders[path.Dir(p)] += r.count
	}
}

// hot returns the folders with most matches, at most five.
func (s *search) hot() []folderCount {
	var list []folderCount
	for p, n := range s.folders {
		list = append(list, folderCount{p, n})
	}
	byShown(list, func(f *folderCount) string { return f.path }, nil)
	slices.SortStableFunc(list, func(a, b folderCount) int { return cmp.Compare(b.matches, a.matches) })
	return list[:min(len(list), 5)]
}

type folderCount struct {
	path    string
	matches int
}

// complete reports whether the search went through everything it was to go
// through.
func (s *search) complete() bool {
	return !s.full() && !s.timeUp && s.stats.Complete() && s.skipped.timeout == 0
}

// exact reports whether the totals are what is in the files. Those that cannot
// be read, are too large or have lines that are too long may hold more; what is
// no text, ignored or withheld does not count.
func (s *search) exact() bool {
	return s.complete() && s.in.SkipFiles == 0 && s.skipped.tooLarge == 0 && s.skipped.longLines == 0 && s.skipped.unreadable+s.stats.Unreadable == 0
}
