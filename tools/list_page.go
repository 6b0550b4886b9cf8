package tools

import (
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/walk"
)

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
