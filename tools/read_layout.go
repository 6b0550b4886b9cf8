package tools

import (
	"strconv"

	"mcp-devserver/sandbox/answer"
)

type readFileOut struct {
	answer.Frame
	path         answer.Ref
	revision     answer.Ref
	version      answer.Word
	first, last  int // lines returned; 0, 0 for an empty file
	total        int
	size         int64
	encoding     encoding
	lineEnding   answer.Word
	finalNewline bool
	lossy        bool
	cut          []int
	text         answer.Ref
	open         bool // text ends without a newline
	numbers      bool
}

// chunkLines is how many lines of a file share one line number in the
// structured half.
const chunkLines = 10

func (o *readFileOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Text("path", o.path)
	if o.revision != answer.None {
		j.Text("revision", o.revision)
	}
	if o.version != "" {
		j.Word("version", o.version)
	}
	j.Int("start_line", int64(o.first))
	j.Int("end_line", int64(o.last))
	j.Int("total_lines", int64(o.total))
	j.Int("size_bytes", o.size)
	j.Word("encoding", answer.Word(o.encoding))
	j.Word("line_ending", o.lineEnding)
	if o.total > 0 {
		j.Bool("final_newline", o.finalNewline)
	}
	if o.lossy {
		j.Bool("lossy", true)
	}
	if len(o.cut) > 0 {
		j.Array("cut_lines")
		for _, n := range o.cut {
			j.Int("", int64(n))
		}
		j.End()
	}

	p.Outside(o.path)
	if o.revision != answer.None {
		p.Word(" at ")
		p.Outside(o.revision)
	}
	if o.total == 0 {
		p.Word(" · empty")
	} else {
		p.Word(" · lines ")
		p.Int(int64(o.first))
		p.Word("-")
		p.Int(int64(o.last))
		p.Word(" of ")
		p.Int(int64(o.total))
	}
	p.Word(" · ")
	p.Word(answer.Word(o.encoding))
	if o.lossy {
		p.Word(" (lossy)")
	}
	p.Word(" ")
	p.Word(o.lineEnding)
	if o.total > 0 && !o.finalNewline {
		p.Word(", no final newline")
	}
	p.Word(" · ")
	p.Word(answer.Word(sizeWords(o.size)))
	if o.version != "" {
		p.Word(" · version ")
		p.Word(o.version)
	}
	for i, n := range o.cut {
		if i == 0 {
			p.Word(" · cut lines: ")
		} else {
			p.Word(", ")
		}
		p.Int(int64(n))
	}
}

func (o *readFileOut) Body(j *answer.JSON, p *answer.Prose) {
	j.Array("chunks")
	n := o.last - o.first + 1
	step := chunkLines
	if !o.numbers {
		step = n
	}
	for i := 0; o.total > 0 && i < n; i += step {
		j.Object("")
		j.Int("line", int64(o.first+i))
		j.Lines("text", o.text, i, min(i+step, n))
		j.End()
	}
	j.End()

	if !p.Safe(o.path) {
		p.Word("path: ")
		p.Name(o.path)
		p.Word("\n")
	}
	switch {
	case o.total == 0:
	case o.numbers:
		p.Numbered(o.text, o.first)
	default:
		p.Text(o.text)
		if o.open {
			p.Word("\n")
		}
	}
}

func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
