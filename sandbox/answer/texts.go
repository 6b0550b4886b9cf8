package answer

import (
	"strings"
	"sync"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/internal/keywords"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/sandbox/untrusted"
)

// Word is text of this program: a constant, or a value that it computed
// itself (an object id, a date, a size). Nothing that was read from the
// workspace or sent by a caller may become a Word; such text belongs in
// Texts. Words are neither scanned nor redacted.
type Word string

// Ref names one text of a Texts table. The zero Ref, None, names no text.
type Ref int32

// None is the absent text.
const None Ref = 0

// Kind says where a text came from, which decides how it is scanned and how
// it may stand outside the fence.
type Kind uint8

const (
	// Content was cut out of a source (a file, a blob, a message) whose
	// secrets were found before the cut. A secret that the rules find in it
	// beside those is counted as late.
	Content Kind = iota
	// Name is a whole short text of a third party: a file name, a ref, an
	// author. Rules meet it for the first time when it is redacted.
	Name
	// Argument was sent by the caller of this very request. It is redacted,
	// but not scanned for instructions.
	Argument
	// Excerpt repeats part of another text (for a signal). It is redacted,
	// but not scanned again.
	Excerpt
)

// Texts is the table of everything in one answer that this program did not
// write itself. It is filled in execute, read by scan, and rewritten once, by
// redaction, before either half of the answer is encoded. The zero value is
// ready. It is not safe for concurrent use.
type Texts struct {
	list []entry
}

type entry struct {
	text    secrets.Text
	clean   string // what may leave; valid once the table is redacted
	path    Ref
	line    int32
	kind    Kind
	sourced bool // an Excerpt of Content, whose secrets were found on the source
	flagged bool // a signal fired in it
	changed bool // redaction replaced something
	worded  bool // placeholders stand in it already
	found   secrets.Found
}

// Content adds a text that was cut out of a source, together with the secrets
// found on that source. path is the name of the source (or None) and line the
// number of the text's first line, counting from 1 (0 when lines mean
// nothing); both serve the signals.
func (t *Texts) Content(s secrets.Text, path Ref, line int) Ref {
	return t.add(entry{text: s, kind: Content, path: path, line: int32(min(line, 1<<31-1))})
}

// Name adds a whole short text of a third party.
func (t *Texts) Name(s string) Ref { return t.add(entry{text: secrets.Text{Raw: s}, kind: Name}) }

// Part adds a part of a longer name of a third party, with the secrets found on
// the whole name: a folder of a path, its last component.
func (t *Texts) Part(s secrets.Text) Ref { return t.add(entry{text: s, kind: Name}) }

// Worded adds a text of ours in which names of others stand, redacted already where
// they had to be cut: a denial. The placeholders in it count.
func (t *Texts) Worded(s string) Ref {
	return t.add(entry{text: secrets.Text{Raw: s}, kind: Name, worded: true})
}

// Argument adds a text that the caller of this request sent.
func (t *Texts) Argument(s string) Ref {
	return t.add(entry{text: secrets.Text{Raw: s}, kind: Argument})
}

// Excerpt adds a piece of the text r, bytes start to end of its raw form, with
// r's secrets, source and line. At most limit characters are kept, cut at the
// end.
func (t *Texts) Excerpt(r Ref, start, end, limit int) Ref {
	e := t.list[r-1]
	if e.kind != Content && !e.sourced {
		// The rules have not met r yet, and must before it is cut.
		e.text = secrets.ScanName(e.text.Raw)
	}
	end = start + RunePrefix(e.text.Raw[start:end], limit)
	line := e.line
	if line > 0 {
		line += int32(strings.Count(e.text.Raw[:start], "\n"))
	}
	return t.add(entry{text: e.text.Slice(start, end), kind: Excerpt, sourced: e.kind == Content || e.sourced, path: e.path, line: line})
}

func (t *Texts) add(e entry) Ref {
	if !utf8.ValidString(e.text.Raw) {
		// Decoding is the tools' business and they flag what they had to
		// replace; this is the last guard for valid UTF-8 on the wire.
		e.text = secrets.Scan(strings.ToValidUTF8(e.text.Raw, "\uFFFD"))
	}
	t.list = append(t.list, e)
	return Ref(len(t.list))
}

// Each visits the texts in the order in which they were added, in their raw
// form. path and line are those given to Content.
func (t *Texts) Each(visit func(r Ref, raw string, kind Kind, path Ref, line int)) {
	for i := range t.list {
		e := &t.list[i]
		visit(Ref(i+1), e.text.Raw, e.kind, e.path, int(e.line))
	}
}

// Look reads the contents and names in their raw form and visits those in which a
// signal fires. It looks for the keywords of the rules for secrets in the same pass,
// and redaction need not read again what it leaves as it is.
func (t *Texts) Look(visit func(r Ref, hits []untrusted.Hit, raw string, path Ref, line int)) {
	seen := looks.Get().(*keywords.Seen)
	for i := range t.list {
		e := &t.list[i]
		if e.kind != Content && e.kind != Name {
			continue
		}
		seen.Look(e.text.Raw)
		if len(e.text.Spans) == 0 {
			e.found = secrets.FindIn(e.text.Raw, seen)
		}
		if hits := untrusted.ScanIn(e.text.Raw, seen); len(hits) > 0 {
			visit(Ref(i+1), hits, e.text.Raw, e.path, int(e.line))
		}
	}
	looks.Put(seen)
}

var looks = sync.Pool{New: func() any { return new(keywords.Seen) }}

// Flag marks r as a text in which a signal fired: it no longer appears
// outside the fence.
func (t *Texts) Flag(r Ref) { t.list[r-1].flagged = true }

// Occurs reports whether s stands in the raw form of any text.
func (t *Texts) Occurs(s string) bool {
	for i := range t.list {
		if strings.Contains(t.list[i].text.Raw, s) {
			return true
		}
	}
	return false
}

// Len returns the number of texts.
func (t *Texts) Len() int { return len(t.list) }

// redact rewrites the table. With enabled false nothing is replaced.
func (t *Texts) redact(enabled bool, r *secrets.Report) {
	for i := range t.list {
		e := &t.list[i]
		if !enabled {
			e.clean = e.text.Raw
			continue
		}
		// A name without parts meets the rules whole, like any text, below.
		if (e.kind == Name || e.kind == Argument) && (len(e.text.Spans) > 0 || strings.IndexByte(e.text.Raw, '/') >= 0) {
			e.text.Spans = secrets.Join(e.text.Spans, secrets.FindName(e.text.Raw))
		}
		if e.worded {
			secrets.Placed(e.text.Raw, r)
		}
		sourced := e.kind == Content || e.kind == Excerpt && e.sourced
		e.clean, e.changed = secrets.RedactFound(e.text, &e.found, sourced, r)
	}
}

// outside reports whether the text may stand outside the fence as it is.
func (t *Texts) outside(r Ref) bool {
	e := &t.list[r-1]
	return !e.flagged && !e.changed && sandbox.SafeName(e.clean)
}

// RunePrefix returns the length in bytes of the first n characters of s.
func RunePrefix(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
