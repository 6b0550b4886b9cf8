package tools

import (
	"strings"

	"mcp-devserver/sandbox/answer"
)

type searchOut struct {
	answer.Frame
	mode      answer.Word
	matches   int
	files     int
	exact     bool
	searched  int
	skipped   []reason
	shortened answer.Word
	results   []searchResult
	hot       []hotFolder
}

// reason is why files were not searched, and how many.
type reason struct {
	key, word answer.Word
	n         int
}

type hotFolder struct {
	path    answer.Ref
	matches int
}

// searchResult is one file.
type searchResult struct {
	path  answer.Ref
	count int
	hits  []shownHit
}

// shownHit is one match: runs of lines in texts that hold each line once.
type shownHit struct {
	line, column     int
	cut, left, right bool
	symbol           answer.Ref
	before, after    run
	match            run
}

// run is lines from to to of a text; the first has the number line.
type run struct {
	text     answer.Ref
	from, to int
	line     int
}

func (o *searchOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Word("mode", o.mode)
	j.Int("matches", int64(o.matches))
	j.Int("files", int64(o.files))
	j.Bool("totals_are_exact", o.exact)
	j.Int("searched", int64(o.searched))
	j.Object("skipped")
	for _, r := range o.skipped {
		j.Int(r.key, int64(r.n))
	}
	j.End()
	j.Word("shortened", o.shortened)

	if !o.exact {
		p.Word("at least ")
	}
	if o.mode == modeFiles {
		p.Int(int64(o.files))
		p.Word(word(o.files, " file matches (", " files match ("))
	} else {
		p.Int(int64(o.matches))
		p.Word(word(o.matches, " match in ", " matches in "))
		p.Int(int64(o.files))
		p.Word(word(o.files, " file (", " files ("))
	}
	p.Int(int64(o.searched))
	p.Word(" searched")
	for i, r := range o.skipped {
		if i == 0 {
			p.Word("; skipped ")
		} else {
			p.Word(", ")
		}
		p.Int(int64(r.n))
		p.Word(" " + r.word)
	}
	p.Word(")")
	if o.shortened != "none" {
		p.Word(" · shortened: " + answer.Word(strings.ReplaceAll(string(o.shortened), "_", " ")))
	}
}

func (o *searchOut) Body(j *answer.JSON, p *answer.Prose) {
	j.Array("results")
	for i := range o.results {
		o.results[i].json(j)
	}
	j.End()
	if len(o.hot) > 0 {
		j.Array("hot_folders")
		for _, h := range o.hot {
			j.Object("")
			j.Text("path", h.path)
			j.Int("matches", int64(h.matches))
			j.End()
		}
		j.End()
		p.Word("folders with most matches:\n")
		for _, h := range o.hot {
			p.Word("  ")
			p.Name(h.path)
			p.Word("/: ")
			p.Int(int64(h.matches))
			p.Word("\n")
		}
		p.Word("files:\n")
	}
	for i := range o.results {
		if i > 0 && len(o.results[i].hits)+len(o.results[i-1].hits) > 0 {
			p.Word("\n")
		}
		o.results[i].prose(p)
	}
}

func (r *searchResult) json(j *answer.JSON) {
	j.Object("")
	j.Text("path", r.path)
	if r.count > 0 {
		j.Int("count", int64(r.count))
	}
	if len(r.hits) > 0 {
		j.Array("matches")
		for i := range r.hits {
			r.hits[i].json(j)
		}
		j.End()
	}
	j.End()
}

func (h *shownHit) json(j *answer.JSON) {
	j.Object("")
	j.Int("line", int64(h.line))
	j.Lines("text", h.match.text, h.match.from, h.match.to)
	for _, side := range [...]struct {
		key answer.Word
		run run
	}{{"before", h.before}, {"after", h.after}} {
		if side.run.from == side.run.to {
			continue
		}
		j.Array(side.key)
		for n := side.run.from; n < side.run.to; n++ {
			j.Lines("", side.run.text, n, n+1)
		}
		j.End()
	}
	if h.symbol != answer.None {
		j.Text("symbol", h.symbol)
	}
	if h.cut {
		j.Int("column", int64(h.column))
		j.Bool("cut", true)
	}
	j.End()
}

func (r *searchResult) prose(p *answer.Prose) {
	p.Name(r.path)
	if r.count > 0 && len(r.hits) == 0 {
		p.Word(": ")
		p.Int(int64(r.count))
	}
	p.Word("\n")
	symbol := answer.None
	for i := range r.hits {
		h := &r.hits[i]
		if h.symbol != answer.None && (symbol == answer.None || r.hits[i-1].symbol != h.symbol) {
			p.Word("@ ")
			p.Name(h.symbol)
			p.Word("\n")
		}
		symbol = h.symbol
		h.before.prose(p, "- ")
		for n := h.match.from; n < h.match.to; n++ {
			p.Int(int64(h.match.line + n - h.match.from))
			first := n == h.match.from
			if first && h.cut {
				p.Word(" (column ")
				p.Int(int64(h.column))
				p.Word(")")
			}
			p.Word(": ")
			if first && h.left {
				p.Word("… ")
			}
			p.Lines(h.match.text, n, n+1)
			if first && h.right {
				p.Word(" …")
			}
			p.Word("\n")
		}
		h.after.prose(p, "- ")
	}
}

func (r run) prose(p *answer.Prose, sign answer.Word) {
	for n := r.from; n < r.to; n++ {
		p.Int(int64(r.line + n - r.from))
		p.Word(sign)
		p.Lines(r.text, n, n+1)
		p.Word("\n")
	}
}
