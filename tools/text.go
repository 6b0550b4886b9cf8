package tools

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
)

// globName is a path as globs see it: what lies below start, a folder that the
// caller named, has its secrets masked, so that no glob tells what they are.
func globName(start, path string) string {
	spans := secrets.FindName(path)
	if spans == nil {
		return path
	}
	n := 0
	if rest, ok := strings.CutPrefix(path, start); ok && strings.HasPrefix(rest, "/") {
		n = len(start)
	}
	return path[:n] + secrets.Text{Raw: path, Spans: spans}.Masked()[n:]
}

// namePart adds bytes from to to of a path as a name. A secret that goes across
// a slash is found on the whole path and hidden in the part.
func namePart(t *answer.Texts, path string, from, to int) answer.Ref {
	if spans := secrets.FindName(path); spans != nil && utf8.ValidString(path) {
		return t.Part(secrets.Text{Raw: path, Spans: spans}.Slice(from, to))
	}
	return t.Name(shown(path[from:to]))
}

// byShown sorts a list by the names that an answer shows, so that the place of a name
// tells nothing about a secret in it. Of two that are shown alike, tie decides, then
// the order they came in.
func byShown[T any](list []T, name func(*T) string, tie func(a, b *T) int) {
	type keyed struct {
		key string
		at  int
	}
	keys := make([]keyed, len(list))
	for i := range list {
		keys[i] = keyed{secrets.MaskName(name(&list[i])), i}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		if c := strings.Compare(a.key, b.key); c != 0 || tie == nil {
			return c
		}
		return tie(&list[a.at], &list[b.at])
	})
	sorted := make([]T, len(list))
	for i, k := range keys {
		sorted[i] = list[k.at]
	}
	copy(list, sorted)
}

// joiner builds one text out of pieces of a source, in order, and carries the
// secrets found on the source along. A secret that goes on from one piece into
// the next stays one secret.
type joiner struct {
	raw   strings.Builder
	spans []secrets.Span
	open  bool // the last span ran up to the end of its piece
}

// add appends a piece.
func (j *joiner) add(t secrets.Text) {
	at := j.raw.Len()
	for i, s := range t.Spans {
		if i == 0 && s.Start == 0 && j.open && j.spans[len(j.spans)-1].Rule == s.Rule {
			j.spans[len(j.spans)-1].End = at + s.End
			continue
		}
		j.spans = append(j.spans, secrets.Span{Start: at + s.Start, End: at + s.End, Rule: s.Rule})
	}
	n := len(t.Spans)
	j.open = n > 0 && t.Spans[n-1].End == len(t.Raw)
	j.raw.WriteString(t.Raw)
}

// word appends text of ours. A newline leaves an open secret open: it goes on
// in the next piece.
func (j *joiner) word(s string) {
	if s != "\n" {
		j.open = false
	}
	j.raw.WriteString(s)
}

func (j *joiner) text() secrets.Text { return secrets.Text{Raw: j.raw.String(), Spans: j.spans} }

// seen adds to a text that cuts have shortened what the rules see in it only
// now: a word that was too long for a token may have the right length, and what
// was far apart stands together. It is hidden like the rest.
func seen(t secrets.Text) secrets.Text {
	t.Spans = secrets.Join(t.Spans, secrets.Find(t.Raw))
	return t
}

// sizeWords words a number of bytes for people: "812 bytes", "180 KB", "1.2 MB".
func sizeWords(n int64) string {
	const unit = 1000
	switch {
	case n < unit:
		return itoa(n) + " bytes"
	case n < unit*unit:
		return itoa((n+unit/2)/unit) + " KB"
	}
	div, suffix := int64(unit*unit), " MB"
	if n >= unit*unit*unit {
		div, suffix = unit*unit*unit, " GB"
	}
	tenths := (n*10 + div/2) / div
	if tenths%10 == 0 || tenths >= 1000 {
		return itoa(tenths/10) + suffix
	}
	return itoa(tenths/10) + "." + itoa(tenths%10) + suffix
}

// word chooses between the forms for one and for any other number.
func word(n int, one, many answer.Word) answer.Word {
	if n == 1 {
		return one
	}
	return many
}
