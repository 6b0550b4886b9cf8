package git

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox/secrets"
)

// MaxPatch is the longest patch of one file, in bytes.
const MaxPatch = 100 << 10

// Patch is a unified diff of one file.
type Patch struct {
	Text           secrets.Text // hunks only, without a final newline
	Added, Deleted int          // lines
	TooLarge       bool         // the text would be longer than MaxPatch and is empty
}

// MakePatch computes the hunks between two scanned texts. The spans found on the
// whole texts are carried into the hunks line by line, so that no choice of
// context cuts a secret out of the reach of its rule; a line common to both
// sides is covered if either side covers it.
//
// contextLines < 0 asks for the counts alone.
func MakePatch(ctx context.Context, before, after secrets.Text, contextLines int) (Patch, error) {
	edits, err := diffText(ctx, splitText(before.Raw), splitText(after.Raw))
	if err != nil {
		return Patch{}, err
	}
	return writePatch(before, after, edits, contextLines), nil
}

// writePatch writes edits as hunks. The edits may have been found on other
// spellings of the two texts, as long as their lines are the same in number.
func writePatch(before, after secrets.Text, edits []edit, contextLines int) Patch {
	a, b := splitText(before.Raw), splitText(after.Raw)
	var p Patch
	for _, e := range edits {
		p.Deleted += e.A1 - e.A0
		p.Added += e.B1 - e.B0
	}
	if contextLines < 0 || len(edits) == 0 {
		return p
	}
	w := patchWriter{a: a, b: b, old: before.Spans, new: after.Spans, context: contextLines}
	for i := 0; i < len(edits); {
		j := i + 1
		for j < len(edits) && edits[j].A0-edits[j-1].A1 <= 2*contextLines {
			j++
		}
		w.hunk(edits[i:j])
		if w.out.Len() > MaxPatch {
			p.TooLarge = true
			return p
		}
		i = j
	}
	raw := w.out.String()
	p.Text = secrets.Text{Raw: strings.TrimSuffix(raw, "\n"), Spans: w.spans}
	return p
}

type patchWriter struct {
	a, b     text
	old, new []secrets.Span
	context  int
	out      strings.Builder
	spans    []secrets.Span
	heading  int // line of the old side last found to open a section, plus one
	searched int // old lines below this have been searched for a heading
}

// hunk writes one hunk that holds the given edits.
func (w *patchWriter) hunk(edits []edit) {
	if w.out.Len() > MaxPatch {
		return
	}
	first, last := edits[0], edits[len(edits)-1]
	lead := min(w.context, first.A0)
	trail := min(w.context, w.a.lines()-last.A1)
	a0, a1 := first.A0-lead, last.A1+trail
	b0, b1 := first.B0-lead, last.B1+trail
	w.out.WriteString("@@ -")
	w.extent(a0, a1)
	w.out.WriteString(" +")
	w.extent(b0, b1)
	w.out.WriteString(" @@")
	w.section(a0)
	w.out.WriteByte('\n')
	at, bt := a0, b0
	for _, e := range edits {
		for ; at < e.A0; at, bt = at+1, bt+1 {
			w.line(' ', at, bt)
		}
		for ; at < e.A1; at++ {
			w.line('-', at, -1)
		}
		for ; bt < e.B1; bt++ {
			w.line('+', -1, bt)
		}
		if w.out.Len() > MaxPatch {
			return
		}
	}
	for ; at < a1; at, bt = at+1, bt+1 {
		w.line(' ', at, bt)
	}
}

// extent writes "start,count" as unified diffs do: the count is left out when
// it is 1, and the start of nothing is the line before.
func (w *patchWriter) extent(i, j int) {
	start := i + 1
	if i == j {
		start = i
	}
	w.out.WriteString(strconv.Itoa(start))
	if j-i != 1 {
		w.out.WriteString("," + strconv.Itoa(j-i))
	}
}

// maxHeading bounds a section heading, in bytes, as git does.
const maxHeading = 80

// section writes the last line above the hunk that begins like a definition.
func (w *patchWriter) section(a0 int) {
	for i := a0 - 1; i >= w.searched; i-- {
		if l := w.a.line(i); isHeading(l[0]) {
			w.heading = i + 1
			break
		}
	}
	w.searched = max(w.searched, a0)
	if w.heading == 0 {
		return
	}
	l := w.a.line(w.heading - 1)
	n := min(len(l), maxHeading)
	for n > 0 && n < len(l) && !utf8.RuneStart(l[n]) {
		n--
	}
	n = len(strings.TrimRight(l[:n], " \t\r\n\v\f"))
	w.out.WriteByte(' ')
	from := w.a.start[w.heading-1]
	w.copy(from, from+n, -1)
}

func isHeading(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
}

// line writes one line: ai or bi names it; both name the same text.
func (w *patchWriter) line(mark byte, ai, bi int) {
	w.out.WriteByte(mark)
	if ai < 0 {
		w.copyNew(w.b.start[bi], w.b.start[bi+1])
	} else {
		other := -1
		if bi >= 0 {
			other = w.b.start[bi]
		}
		w.copy(w.a.start[ai], w.a.start[ai+1], other)
	}
	s := w.a
	i := ai
	if ai < 0 {
		s, i = w.b, bi
	}
	if l := s.line(i); l[len(l)-1] != '\n' {
		w.out.WriteString("\n\\ No newline at end of file\n")
	}
}

// copy writes bytes [i, j) of the old side with their spans; other is where the
// same bytes lie on the new side, or -1.
func (w *patchWriter) copy(i, j, other int) {
	at := w.out.Len()
	end := bare(w.a.s, i, j)
	spans := clip(w.old, i, end, at)
	if other >= 0 {
		spans = union(spans, clip(w.new, other, other+end-i, at))
	}
	w.spans = append(w.spans, spans...)
	w.out.WriteString(w.a.s[i:j])
}

func (w *patchWriter) copyNew(i, j int) {
	w.spans = append(w.spans, clip(w.new, i, bare(w.b.s, i, j), w.out.Len())...)
	w.out.WriteString(w.b.s[i:j])
}

// bare is where line [i, j) ends without its newline: a span must leave the
// newline to the patch.
func bare(s string, i, j int) int {
	if j > i && s[j-1] == '\n' {
		return j - 1
	}
	return j
}

// clip cuts spans to [i, j) and moves them to at.
func clip(spans []secrets.Span, i, j, at int) []secrets.Span {
	var out []secrets.Span
	k := sort.Search(len(spans), func(k int) bool { return spans[k].End > i })
	for ; k < len(spans) && spans[k].Start < j; k++ {
		s := spans[k]
		s.Start, s.End = max(s.Start, i)-i+at, min(s.End, j)-i+at
		if s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}

// union merges two sorted lists of spans; where they overlap, one span covers
// both and keeps the rule of the earlier.
func union(a, b []secrets.Span) []secrets.Span {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	all := append(append([]secrets.Span(nil), a...), b...)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start < all[j].Start })
	out := all[:1]
	for _, s := range all[1:] {
		if k := len(out) - 1; s.Start < out[k].End {
			out[k].End = max(out[k].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out
}
