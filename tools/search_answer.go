package tools

import (
	"strconv"
	"strings"

	"mcp-devserver/sandbox/answer"
)

func (s *search) answer() *searchOut {
	o := &searchOut{mode: answer.Word(s.in.OutputMode), matches: s.matches, files: s.matched, exact: s.exact(), searched: s.searched, shortened: "none"}
	if s.in.OutputMode == modeFiles {
		o.matches = s.matched // one is known of each; more are not looked for
	}
	for _, r := range [...]reason{
		{"ignored", "ignored", s.stats.Ignored},
		{"binary", "binary", s.skipped.binary},
		{"denied", "denied", s.stats.Denied},
		{"unreadable", "unreadable", s.skipped.unreadable + s.stats.Unreadable},
		{"too_large", "too large", s.skipped.tooLarge},
		{"long_lines", "long lines", s.skipped.longLines},
		{"timeout", "timed out", s.skipped.timeout},
		{"special", "special", s.stats.Special},
		{"outside", "outside", s.stats.Outside},
	} {
		if r.n > 0 {
			o.skipped = append(o.skipped, r)
		}
	}
	o.Complete = s.complete() && s.found <= s.first+s.limit
	switch {
	case s.found > s.first+s.limit:
		o.Stopped = "limit"
		o.Next = s.next(s.end, s.in.Limit)
	case s.timeUp:
		if o.Stopped = "time"; s.goesOn {
			o.Next = s.next(s.goOn, s.in.Limit)
			o.Next.Why = "goes on where time ran out"
		}
	case !o.Complete && s.skipped.timeout > 0:
		o.Stopped = "time"
	case !o.Complete:
		o.Stopped = "limit"
	}
	budget := s.call.Limits.ContentChars()
	// Long arguments come back in next, beyond what is set aside for it.
	in := s.in
	budget -= max(textCost(in.Pattern)+textCost(in.Path)+textCost(in.Glob)+textCost(in.ExcludeGlob)-2000, 0)
	if in.OutputMode == modeCount && !s.timeUp {
		room := budget / 4
		for _, h := range s.hot() {
			cost := textCost(h.path) + 40
			if room -= cost; room < 0 {
				break
			}
			budget -= cost
			o.hot = append(o.hot, hotFolder{s.call.Texts.Name(shown(h.path)), h.matches})
		}
	}
	s.fit(o, budget)
	s.notices(o)
	return o
}

// next spells the call that goes on at a place.
func (s *search) next(p place, limit int) *answer.Next {
	in, t := s.in, s.call.Texts
	args := []answer.Arg{answer.ArgText("pattern", t.Argument(in.Pattern))}
	if in.Path != "." {
		args = append(args, answer.ArgText("path", t.Argument(in.Path)))
	}
	if in.Glob != "" {
		args = append(args, answer.ArgText("glob", t.Argument(in.Glob)))
	}
	if in.ExcludeGlob != "" {
		args = append(args, answer.ArgText("exclude_glob", t.Argument(in.ExcludeGlob)))
	}
	for _, f := range [...]struct {
		key answer.Word
		set bool
	}{{"literal", in.Literal}, {"ignore_case", in.IgnoreCase}, {"multiline", in.Multiline}, {"include_ignored", in.IncludeIgnored}} {
		if f.set {
			args = append(args, answer.ArgBool(f.key, true))
		}
	}
	if in.OutputMode != modeContent {
		args = append(args, answer.ArgWord("output_mode", answer.Word(in.OutputMode)))
	}
	if in.ContextLines != nil {
		args = append(args, answer.ArgInt("context_lines", int64(*in.ContextLines)))
	}
	if limit != 100 {
		args = append(args, answer.ArgInt("limit", int64(limit)))
	}
	if p.units > 0 {
		args = append(args, answer.ArgInt("offset", int64(p.units)))
	}
	if p.files > 0 {
		args = append(args, answer.ArgInt("skip_files", int64(p.files)))
	}
	return &answer.Next{Tool: "search_code", Args: args}
}

// fit lays the page out within the budget: whole, then without context, then
// with narrow lines, then as counts, then with fewer files.
func (s *search) fit(o *searchOut, budget int) {
	if s.in.OutputMode != modeContent {
		s.counts(o, budget)
		return
	}
	if s.keep > 0 {
		s.untangle()
	}
	fits := func() bool { return s.cost() <= budget }
	if !fits() && s.keep > 0 {
		widths := []int{0}
		if s.auto {
			widths = []int{5, 2, 0}
		}
		for _, n := range widths {
			if s.trim(n); fits() {
				break
			}
		}
		if s.keep == 0 {
			o.shortened = "context_dropped"
		}
	}
	if !fits() {
		o.shortened = "lines_cut"
		for i := range s.files {
			for k := range s.files[i].hits {
				h := &s.files[i].hits[k]
				h.narrow(narrowMatch)
				if len(h.lines) > 1 {
					h.lines, h.cut = h.lines[:1], true
				}
			}
		}
	}
	if !fits() {
		o.shortened = "counts_only"
		n := s.fitting(budget)
		for i := range s.files {
			f := &s.files[i]
			if f.count == 0 {
				f.count = len(f.hits) // at least so many
			}
			f.hits = nil
		}
		s.counts(o, budget)
		o.Complete, o.Stopped = false, "chars"
		if n > 0 {
			o.Next = s.next(s.files[0].at, n)
			o.Next.Why = "shows the first matches themselves"
		}
		return
	}
	s.show(o)
}

// untangle gives each context line to one match only.
func (s *search) untangle() {
	for i := range s.files {
		hits := s.files[i].hits
		for k := 1; k < len(hits); k++ {
			prev, h := &hits[k-1], &hits[k]
			end := prev.line + prev.height // first line behind the match
			if n := h.line - end; n < len(prev.after) {
				prev.after = prev.after[:max(n, 0)]
			}
			end += len(prev.after)
			if n := h.line - end; n < len(h.before) {
				h.before = h.before[len(h.before)-max(n, 0):]
			}
		}
	}
}

// trim leaves at most n context lines on each side.
func (s *search) trim(n int) {
	s.keep = n
	for i := range s.files {
		for k := range s.files[i].hits {
			h := &s.files[i].hits[k]
			h.before = h.before[max(len(h.before)-n, 0):]
			h.after = h.after[:min(len(h.after), n)]
		}
	}
}

// cost bounds the characters that the page takes in the larger half.
func (s *search) cost() int {
	n := 0
	for i := range s.files {
		f := &s.files[i]
		n += fileCost(f.path)
		for k := range f.hits {
			n += hitCost(&f.hits[k])
		}
	}
	return n
}

func fileCost(path string) int { return textCost(path) + 60 }

func hitCost(h *lineHit) int {
	n := 110 + textCost(h.symbol)
	for _, t := range h.lines {
		n += answer.Cost(t) + 12
	}
	for _, side := range [...][]contextLine{h.before, h.after} {
		for _, c := range side {
			n += answer.Cost(c.text) + 14
			if c.more > 0 {
				n += 24
			}
		}
	}
	if h.cut {
		n += 60
	}
	return n
}

// fitting is how many matches from the start of the page fit.
func (s *search) fitting(budget int) int {
	n, used := 0, 0
	for i := range s.files {
		used += fileCost(s.files[i].path)
		for k := range s.files[i].hits {
			if used += hitCost(&s.files[i].hits[k]); used > budget {
				return n
			}
			n++
		}
	}
	return n
}

// counts shows files only, as many as fit.
func (s *search) counts(o *searchOut, budget int) {
	used := 0
	for i := range s.files {
		f := &s.files[i]
		if used += fileCost(f.path); used > budget {
			o.Complete, o.Stopped = false, "chars"
			if s.in.OutputMode != modeContent {
				o.Next = s.next(f.at, s.in.Limit)
			}
			return
		}
		o.results = append(o.results, searchResult{path: s.call.Texts.Name(shown(f.path)), count: f.count})
	}
}

// show puts the lines into texts: one text for each run of lines that follow
// each other, so that a secret over several lines stays one.
func (s *search) show(o *searchOut) {
	t := s.call.Texts
	for i := range s.files {
		f := &s.files[i]
		res := searchResult{path: t.Name(shown(f.path)), count: f.count}
		var (
			j       joiner
			first   int  // line number of the text under way
			next    int  // number of the line that would continue it
			size    int  // lines in it
			from    int  // hits from here on lie in it
			cut     bool // some line of it is not whole
			symbols = map[string]answer.Ref{}
		)
		flush := func(to int) {
			if from == to {
				return
			}
			text := j.text()
			if cut {
				text = seen(text)
			}
			ref := t.Content(text, res.path, first)
			for k := from; k < to; k++ {
				for _, r := range [...]*run{&res.hits[k].before, &res.hits[k].match, &res.hits[k].after} {
					r.text = ref
				}
			}
			j, from, size, cut = joiner{}, to, 0, false
		}
		put := func(line int, texts ...contextLine) run {
			r := run{from: size, to: size + len(texts), line: line}
			for _, c := range texts {
				j.add(c.text)
				if c.more > 0 {
					cut = true
					j.word(" … [+" + strconv.Itoa(c.more) + " chars]")
				}
				j.word("\n")
			}
			size += len(texts)
			return r
		}
		for k := range f.hits {
			h := &f.hits[k]
			begin := h.line - len(h.before)
			if k == 0 || begin != next {
				flush(k)
				first = begin
			}
			sh := shownHit{line: h.line, column: h.column, cut: h.cut, left: h.left, right: h.right}
			if h.symbol != "" {
				if symbols[h.symbol] == answer.None {
					symbols[h.symbol] = t.Name(h.symbol)
				}
				sh.symbol = symbols[h.symbol]
			}
			cut = cut || h.cut
			sh.before = put(begin, h.before...)
			lines := make([]contextLine, len(h.lines))
			for i, l := range h.lines {
				lines[i].text = l
			}
			sh.match = put(h.line, lines...)
			sh.after = put(h.line+h.height, h.after...)
			next = h.line + h.height + len(h.after)
			res.hits = append(res.hits, sh)
		}
		flush(len(f.hits))
		o.results = append(o.results, res)
	}
}

func (s *search) notices(o *searchOut) {
	in := s.in
	none := s.matched == 0
	if none && !o.exact {
		o.Notice(answer.W("nothing was found in what was searched, but not everything was: absence is not proven"))
	}
	name := func(p string) answer.Part { return answer.R(s.call.Texts.Name(shown(p))) }
	switch {
	case !s.timeUp:
	case s.lateAt != "":
		o.Notice(answer.W("time ran out in "), name(s.lateAt), answer.W("; its rest and what follows it in the order of paths was not searched, and totals are lower bounds"))
	case s.last != "":
		o.Notice(answer.W("time ran out behind "), name(s.last), answer.W("; what follows it in the order of paths was not searched, and totals are lower bounds"))
	default:
		o.Notice(answer.W("time ran out before a file was searched"))
	}
	if n := s.skipped.timeout; n > 0 {
		parts := []answer.Part{answer.W("the pattern took too long on "), answer.N(int64(n)), answer.W(word(n, " file, which counts as not searched: ", " files, which count as not searched: "))}
		for i, p := range s.slow {
			if i > 0 {
				parts = append(parts, answer.W(", "))
			}
			parts = append(parts, name(p))
		}
		if n > len(s.slow) {
			parts = append(parts, answer.W(" …"))
		}
		o.Notice(parts...)
	}
	if n := s.unsure; n > 0 {
		o.Notice(answer.N(int64(n)), answer.W(word(n, " of them lies", " of them lie")+" before this page: if a search that got through gave offset, matches are missing here; send the call again"))
	}
	if in.SkipFiles > 0 {
		o.Notice(answer.N(int64(min(in.SkipFiles, s.considered))), answer.W(" files were passed over as skip_files asks; totals are of the others"))
	}
	if s.stats.Capped {
		o.Notice(answer.W("the walk stopped after "), answer.N(int64(s.stats.Entries)), answer.W(" entries; narrow path to search the rest"))
	}
	if s.stats.Deep > 0 {
		o.Notice(answer.N(int64(s.stats.Deep)), answer.W(" folders lie too deep and were not searched"))
	}
	if s.considered == 0 && in.Glob+in.ExcludeGlob != "" && s.complete() {
		o.Notice(answer.W("0 files considered: the glob matched no file; * stays in one folder, ** crosses folders, and a glob is no regular expression"))
	} else if none && s.complete() {
		switch {
		case !in.Literal && strings.Contains(in.Pattern, `\|`):
			o.Notice(answer.W(`\| is a literal bar here; write | for alternatives`))
		case !in.Literal && !s.plain:
			o.Notice(answer.W("the pattern was read as a regular expression; set literal to true if . ( ) [ ] and the like stand for themselves"))
		case in.Literal && strings.ContainsAny(in.Pattern, metacharacters):
			o.Notice(answer.W("the pattern was read as plain text; leave out literal to use it as a regular expression"))
		case !in.Multiline && strings.Contains(in.Pattern, "\n"):
			o.Notice(answer.W("the pattern holds a newline, which one line never has; set multiline to true"))
		}
	}
	if s.lossy > 0 {
		o.Notice(answer.N(int64(s.lossy)), answer.W(" files shown hold bytes that are not UTF-8 or UTF-16; they appear as U+FFFD"))
	}
	if s.tooLong {
		o.Notice(answer.W("multiline searches files up to " + answer.Word(sizeWords(wholeFile)) + " only"))
	}
	if s.stats.IndexLost > 0 {
		o.Notice(answer.W("the index of a repository could not be read; files that are tracked although an ignore rule matches them may be missing"))
	}
	if s.stats.RulesLost > 0 {
		o.Notice(answer.W("an ignore file was too large or unreadable; some of its rules were not applied"))
	}
}
