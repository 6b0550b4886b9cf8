package tools

import (
	"time"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/walk"
)

type listOut struct {
	answer.Frame
	path            answer.Ref
	details, flat   bool
	total           int
	exact           bool
	returned        int
	ignored, denied int
	offset          int
	rows            []listRow
	groups          []listGroup
}

// listRow is one entry as it is shown.
type listRow struct {
	name, path answer.Ref
	suffix     answer.Word // "/", "@"
	note       answer.Word // " (ignored)", " (denied)", …
	target     answer.Ref  // of a link inside the workspace
	targetDir  bool
	depth      int
	repeated   bool // a folder from an earlier page, shown for its indentation only
	kind       sandbox.Kind
	state      walk.State
	size       int64
	sized      bool
	modified   answer.Word
	hidden     int
	encoded    bool // the name cannot be sent back: it is not UTF-8 or holds a control character
}

// listGroup is a run of rows in one folder.
type listGroup struct {
	path     answer.Ref
	from, to int // rows
	more     int
}

// rows turns the page into rows and groups.
func (l *listing) rows(o *listOut, page, order []int32) {
	texts := l.call.Texts
	left := map[string]int{} // entries of a folder behind the page
	if o.flat {
		order = nil
	}
	for _, i := range order[min(l.in.Offset+len(page), len(order)):] {
		left[l.entries[i].dir()]++
	}
	var above []int32
	for n, i := range page {
		e := &l.entries[i]
		if n == 0 && !o.flat {
			for p := e.parent; p >= 0; p = l.entries[p].parent {
				above = append(above, p)
			}
			for k := len(above) - 1; k >= 0; k-- {
				r := l.row(texts, &l.entries[above[k]])
				r.repeated = true
				o.rows = append(o.rows, r)
			}
		}
		row := len(o.rows)
		dir := e.dir()
		if g := len(o.groups); g == 0 || l.entries[page[n-1]].dir() != dir {
			o.groups = append(o.groups, listGroup{path: folderName(texts, e), from: row, more: left[dir]})
		} else {
			o.groups[g-1].to = row
		}
		o.groups[len(o.groups)-1].to = row + 1
		o.rows = append(o.rows, l.row(texts, e))
	}
	// Each folder says what is left of it once, in its last group.
	last := map[string]int{}
	g := -1
	for n, i := range page {
		dir := l.entries[i].dir()
		if n == 0 || l.entries[page[n-1]].dir() != dir {
			g++
		}
		if at, ok := last[dir]; ok && at != g {
			o.groups[at].more = 0
		}
		last[dir] = g
	}
}

// folderName adds the path of the folder that holds an entry.
func folderName(texts *answer.Texts, e *listed) answer.Ref {
	if e.name == 0 {
		return texts.Name(".")
	}
	return namePart(texts, e.path, 0, e.name-1)
}

// shown is a name as it may stand in JSON: bytes that are not UTF-8 escaped.
func shown(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return sandbox.EscapeName(s)
}

func (l *listing) row(texts *answer.Texts, e *listed) listRow {
	r := listRow{kind: e.kind, state: e.state, depth: e.depth, hidden: e.hidden, encoded: !addressable(e.path)}
	if l.in.Details || l.glob != nil || e.hidden > 0 {
		r.path = texts.Name(shown(e.path))
	}
	if !l.in.Details {
		r.name = namePart(texts, e.path, e.name, len(e.path))
	}
	switch e.kind {
	case sandbox.KindDirectory:
		r.suffix = "/"
	case sandbox.KindSymlink:
		r.suffix = "@"
	case sandbox.KindOther:
		r.note = " (special)"
	}
	if e.state != walk.OK {
		r.note = " (" + answer.Word(e.state.String()) + ")"
	} else if e.to != "" {
		r.target = texts.Name(shown(e.to))
		r.targetDir = e.toKind == sandbox.KindDirectory
	}
	if e.known {
		if e.kind == sandbox.KindFile {
			r.size, r.sized = e.size, true
		}
		r.modified = answer.Word(e.modified.UTC().Format(time.RFC3339))
	}
	return r
}

func (o *listOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Text("path", o.path)
	j.Int("total", int64(o.total))
	j.Bool("total_is_exact", o.exact)
	j.Int("returned", int64(o.returned))
	j.Int("ignored", int64(o.ignored))
	j.Int("denied", int64(o.denied))

	p.Outside(o.path)
	p.Word(" · ")
	switch {
	case o.total == 0:
		p.Word("empty")
		if o.flat {
			p.Word(" (no path matches)")
		}
	case o.returned == o.total:
		p.Int(int64(o.total))
		p.Word(" entries")
	default:
		if o.offset == 0 {
			p.Int(int64(o.returned))
		} else {
			p.Word("entries ")
			p.Int(int64(o.offset + min(1, o.returned)))
			p.Word("-")
			p.Int(int64(o.offset + o.returned))
		}
		p.Word(" of ")
		if !o.exact {
			p.Word("at least ")
		}
		p.Int(int64(o.total))
		if o.offset == 0 {
			p.Word(" entries")
		}
	}
	if o.ignored > 0 {
		p.Word(" · ")
		p.Int(int64(o.ignored))
		p.Word(" ignored")
	}
	if o.denied > 0 {
		p.Word(" · ")
		p.Int(int64(o.denied))
		p.Word(" denied")
	}
	if o.total > 0 && o.returned == o.total && !o.exact {
		p.Word(" · there may be more")
	}
}

func (o *listOut) Body(j *answer.JSON, p *answer.Prose) {
	if o.details {
		o.items(j)
	}
	if !o.details || o.leaves() {
		o.folders(j)
	}
	g := 0
	for i := range o.rows {
		o.rows[i].prose(o, p)
		for g < len(o.groups) && o.groups[g].to == i+1 {
			if n := o.groups[g].more; n > 0 && !o.flat {
				p.Word(indent(o.rows[i].depth) + "… ")
				p.Int(int64(n))
				p.Word(" more\n")
			}
			g++
		}
	}
}

// leaves reports whether some folder is not shown whole.
func (o *listOut) leaves() bool {
	for i := range o.groups {
		if o.groups[i].more > 0 {
			return true
		}
	}
	for i := range o.rows {
		if o.rows[i].hidden > 0 {
			return true
		}
	}
	return false
}

// folders groups names by folder; with details it only says what is left out.
func (o *listOut) folders(j *answer.JSON) {
	j.Array("folders")
	for _, g := range o.groups {
		if o.details && g.more == 0 {
			continue
		}
		j.Object("")
		j.Text("path", g.path)
		j.Array("entries")
		for i := g.from; i < g.to && !o.details; i++ {
			r := &o.rows[i]
			if r.suffix == "" && r.note == "" {
				j.Text("", r.name)
				continue
			}
			parts := []answer.Part{answer.R(r.name), answer.W(r.suffix + r.note)}
			if r.target != answer.None {
				parts = append(parts, answer.W(" -> "), answer.R(r.target))
				if r.targetDir {
					parts = append(parts, answer.W("/"))
				}
			}
			j.Parts("", parts...)
		}
		j.End()
		if g.more > 0 {
			j.Int("more", int64(g.more))
		}
		j.End()
	}
	for i := range o.rows {
		if r := &o.rows[i]; r.hidden > 0 && r.path != answer.None {
			j.Object("")
			j.Text("path", r.path)
			j.Array("entries")
			j.End()
			j.Int("more", int64(r.hidden))
			j.End()
		}
	}
	j.End()
}

func (o *listOut) items(j *answer.JSON) {
	j.Array("items")
	for i := range o.rows {
		r := &o.rows[i]
		if r.repeated {
			continue
		}
		j.Object("")
		j.Text("path", r.path)
		kind := answer.Word(r.kind.String())
		if r.encoded {
			kind = "other" // the name cannot be sent back
		}
		j.Word("type", kind)
		if r.sized {
			j.Int("size", r.size)
		}
		if r.modified != "" {
			j.Word("modified", r.modified)
		}
		if r.state != walk.OK {
			j.Word("state", answer.Word(r.state.String()))
		}
		j.End()
	}
	j.End()
}

const spaces = "                                                                                "

// indent is the prefix of an entry at a depth that counts from 1.
func indent(depth int) answer.Word { return answer.Word(spaces[:min(2*max(depth-1, 0), len(spaces))]) }

func (r *listRow) prose(o *listOut, p *answer.Prose) {
	switch {
	case o.details:
		if r.repeated {
			return
		}
		p.Name(r.path)
	case o.flat:
		p.Name(r.path)
	default:
		p.Word(indent(r.depth))
		p.Name(r.name)
	}
	p.Word(r.suffix + r.note)
	if r.target != answer.None {
		p.Word(" -> ")
		p.Name(r.target)
		if r.targetDir {
			p.Word("/")
		}
	}
	switch {
	case r.repeated:
		p.Word("  (continued)")
	case o.details:
		if r.sized {
			p.Word("  ")
			p.Int(r.size)
			p.Word(" bytes")
		}
		if r.modified != "" {
			p.Word("  " + r.modified)
		}
	case r.sized:
		p.Word("  " + answer.Word(sizeWords(r.size)))
	}
	if r.hidden > 0 {
		p.Word("  (")
		p.Int(int64(r.hidden))
		p.Word(" entries left out)")
	}
	p.Word("\n")
}
