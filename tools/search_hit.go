package tools

import (
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
)

// lineHit is one match with what is shown of it.
type lineHit struct {
	line          int // of the first line of the match
	height        int // lines of the file that the match touches
	lines         []secrets.Text
	column        int // of the match in its line, in characters, from 1
	at, end       int // the match in lines[0]
	cut           bool
	left, right   bool // characters are left out on that side of lines[0]
	before, after []contextLine
	symbol        string
}

type contextLine struct {
	text secrets.Text
	more int // characters left out at its end
}

// addLines appends further lines of a multi-line match, up to blockLines.
func (h *lineHit) addLines(g *segment, from, stop int) {
	for from <= stop {
		if len(h.lines) == blockLines {
			h.cut = true
			return
		}
		end := from + endOfLine(g.text.Raw[from:stop])
		t, more := head(g.text.Slice(from, end), shownChars)
		h.cut = h.cut || more > 0
		h.lines = append(h.lines, own(t))
		from = end + 1
	}
}

const (
	aroundMatch = 200 // characters shown on each side of a match in a long line
	narrowMatch = 60  // the same when lines must be cut to fit
	longLine    = 500 // characters from which a line is long
	shownChars  = 400 // of any other line
)

// setLine takes the line of a match, a long one as a window round it.
func (h *lineHit) setLine(line secrets.Text, at, end int) {
	if len(line.Raw) <= longLine || utf8.RuneCountInString(line.Raw) <= longLine {
		h.lines, h.at, h.end = []secrets.Text{own(line)}, at, end
		return
	}
	h.lines, h.at, h.end = []secrets.Text{line}, at, end
	h.narrow(aroundMatch)
	h.lines[0] = own(h.lines[0])
}

// narrow leaves n characters on each side of the match, and of the match.
func (h *lineHit) narrow(n int) {
	raw := h.lines[0].Raw
	from := h.at
	for k := 0; k < n && from > 0; k++ {
		_, size := utf8.DecodeLastRuneInString(raw[:from])
		from -= size
	}
	end := h.at + answer.RunePrefix(raw[h.at:h.end], n)
	to := end
	if end == h.end {
		to += answer.RunePrefix(raw[end:], n)
	}
	if from == 0 && to == len(raw) {
		return
	}
	h.lines[0] = h.lines[0].Slice(from, to)
	h.left, h.right = h.left || from > 0, h.right || to < len(raw)
	h.at, h.end = h.at-from, end-from
	h.cut = true
}

// own copies a text, so that it does not keep the file in memory.
func own(t secrets.Text) secrets.Text {
	t.Raw = strings.Clone(t.Raw)
	return t
}

// head returns the first n characters of a line and how many follow.
func head(t secrets.Text, n int) (secrets.Text, int) {
	i := answer.RunePrefix(t.Raw, n)
	if i == len(t.Raw) {
		return t, 0
	}
	return t.Slice(0, i), utf8.RuneCountInString(t.Raw[i:])
}

// context collects the lines before the line that begins at start (none for
// -1) and those from next on.
func (s *scan) context(g *segment, h *lineHit, start, next int) {
	if s.keep == 0 {
		return
	}
	line := func(from, end int) contextLine {
		if end > from && g.text.Raw[end-1] == '\r' && end < len(g.text.Raw) {
			end--
		}
		t, more := head(g.text.Slice(from, end), shownChars)
		return contextLine{own(t), more}
	}
	if start >= 0 {
		for at := start; at > 0 && len(h.before) < s.keep; {
			from := strings.LastIndexByte(g.text.Raw[:at-1], '\n') + 1
			h.before = append(h.before, line(from, at-1))
			at = from
		}
		for i, j := 0, len(h.before)-1; i < j; i, j = i+1, j-1 {
			h.before[i], h.before[j] = h.before[j], h.before[i]
		}
	}
	h.after = h.after[:0]
	for at := next; at < len(g.text.Raw) && len(h.after) < s.keep; {
		end := at + endOfLine(g.text.Raw[at:])
		h.after = append(h.after, line(at, end))
		at = end + 1
	}
}
