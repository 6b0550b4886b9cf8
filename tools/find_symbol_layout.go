package tools

import (
	"slices"
	"strings"

	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/symbol"
)

// hit is one result.
type hit struct {
	name, container       string
	kind, method          answer.Word
	line, endLine, first  int // first: line on which the body begins
	long                  bool
	path                  answer.Ref
	nameRef, containerRef answer.Ref
	signature, body       answer.Ref
}

type findSymbolOut struct {
	answer.Frame
	mode      answer.Word
	argument  answer.Ref
	hasName   bool
	total     int
	exact     bool
	searched  int
	languages map[string]int
	hits      []hit
	similar   []answer.Ref
}

// languageNames are the languages looked at, most files first.
func (o *findSymbolOut) languageNames() []string {
	names := make([]string, 0, len(o.languages))
	for l := range o.languages {
		names = append(names, l)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := o.languages[b] - o.languages[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

func (o *findSymbolOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Word("mode", o.mode)
	j.Int("total", int64(o.total))
	j.Bool("total_is_exact", o.exact)
	j.Int("searched", int64(o.searched))
	langs := o.languageNames()
	j.Object("languages")
	for _, l := range langs {
		j.Int(answer.Word(l), int64(o.languages[l]))
	}
	j.End()

	if !o.exact {
		p.Word("at least ")
	}
	p.Int(int64(o.total))
	one, many := answer.Word(" definition of "), answer.Word(" definitions of ")
	switch o.mode {
	case "references":
		one, many = " line uses ", " lines use "
	case "outline":
		one, many = " symbol in this file", " symbols in this file"
	}
	if o.total == 1 {
		p.Word(one)
	} else {
		p.Word(many)
	}
	if o.hasName && o.mode != "outline" {
		p.Outside(o.argument)
	}
	o.methods(p)
	if len(o.hits) < o.total {
		p.Word(" · ")
		p.Int(int64(len(o.hits)))
		p.Word(" shown")
	}
	p.Word(" · searched ")
	p.Int(int64(o.searched))
	if o.searched == 1 {
		p.Word(" file")
	} else {
		p.Word(" files")
	}
	for i, l := range langs {
		if i == 0 {
			p.Word(": ")
		} else {
			p.Word(", ")
		}
		p.Word(answer.Word(l))
		p.Word(" ")
		p.Int(int64(o.languages[l]))
	}
}

// methods says how the results were found, with numbers when in more than one way.
func (o *findSymbolOut) methods(p *answer.Prose) {
	counts := map[answer.Word]int{}
	for i := range o.hits {
		counts[o.hits[i].method]++
	}
	first := true
	for _, m := range []answer.Word{symbol.Parsed, symbol.Scanned, symbol.Text} {
		if counts[m] == 0 {
			continue
		}
		if first {
			p.Word(" (")
		} else {
			p.Word(", ")
		}
		first = false
		if len(counts) > 1 {
			p.Int(int64(counts[m]))
			p.Word(" ")
		}
		p.Word(m)
	}
	if !first {
		p.Word(")")
	}
}

func (o *findSymbolOut) Body(j *answer.JSON, p *answer.Prose) {
	if len(o.similar) > 0 {
		j.Array("similar")
		p.Word("similar: ")
		for i, r := range o.similar {
			j.Text("", r)
			if i > 0 {
				p.Word(", ")
			}
			p.Name(r)
		}
		j.End()
		p.Word("\n")
	}
	mixed := false
	for i := range o.hits {
		mixed = mixed || o.hits[i].method != o.hits[0].method
	}
	j.Array("symbols")
	for i := range o.hits {
		h := &o.hits[i]
		j.Object("")
		j.Text("name", h.nameRef)
		if h.kind != "" {
			j.Word("kind", h.kind)
		}
		j.Text("path", h.path)
		j.Int("line", int64(h.line))
		j.Int("end_line", int64(h.endLine))
		if h.containerRef != answer.None {
			j.Text("container", h.containerRef)
		}
		if h.signature != answer.None {
			j.Text("signature", h.signature)
		}
		j.Word("method", h.method)
		if h.body != answer.None {
			j.Text("body", h.body)
		}
		j.End()
		o.line(p, h, mixed)
	}
	j.End()
}

// line is one result in prose: path:40-71  method Server.Start  signature.
func (o *findSymbolOut) line(p *answer.Prose, h *hit, mixed bool) {
	if o.mode == "outline" {
		for range depth(h.container) {
			p.Word("  ")
		}
	} else {
		p.Name(h.path)
		p.Word(":")
	}
	p.Int(int64(h.line))
	if h.endLine > h.line {
		p.Word("-")
		p.Int(int64(h.endLine))
	}
	p.Word("  ")
	if h.kind != "" {
		p.Word(h.kind)
		p.Word(" ")
		p.Name(h.nameRef)
	} else if h.containerRef != answer.None {
		p.Word("in ")
		p.Name(h.containerRef)
	} else {
		p.Word("at top level")
	}
	if mixed {
		p.Word(" (")
		p.Word(h.method)
		p.Word(")")
	}
	if h.signature != answer.None {
		p.Word("  ")
		p.Name(h.signature)
	}
	p.Word("\n")
	if h.body != answer.None {
		p.Numbered(h.body, h.first)
	}
}

func depth(container string) int {
	if container == "" {
		return 0
	}
	return min(strings.Count(container, ".")+1, 8)
}
