// Package answer holds the finished structure of a reply before it leaves: a
// table of foreign texts, and the layout of both halves over that table.
//
// # How to start
//
// A tool puts every string that it did not write itself into a [Texts] table
// and keeps the [Ref]s in its output struct, whose methods make it an
// [Output]. The assemble stage lays the struct out in a [Doc]; the redact
// stage hands the Doc to package seal, which redacts the table once and then
// encodes the message.
//
// # What it promises
//
//   - Layouts accept numbers, [Word]s and Refs only, so a foreign string can
//     reach the wire through the table alone, and the table is redacted before
//     anything is encoded (ADR-007).
//   - Both halves of a result are laid out by one struct from one table: what
//     one half shows redacted, the other does too.
//   - Outside the fence stand Words, numbers, the caller's own arguments as
//     JSON strings, and names that match sandbox.SafeName and fired no signal.
//   - The encoded message is one line of valid UTF-8 JSON.
//
// # Limits
//
// A Word is a promise of its author; the compiler checks only that a
// conversion was written. A Doc serves one message and one goroutine.
package answer

import (
	"sync"

	"mcp-devserver/sandbox/secrets"
)

type opcode uint8

const (
	opOpen       opcode = iota // { or [ ; word is the key
	opClose                    // } or ]
	opInt                      // member: number n
	opBool                     // member: n != 0
	opText                     // member: string of the table, at most n characters if n > 0
	opLines                    // member: lines n..m of a text of the table
	opStatic                   // member: JSON of ours, verbatim, in the opRaw that follows
	opRaw                      //
	opString                   // member: a string made of parts, until opStringEnd
	opStringEnd                //
	opProse                    // member: the whole prose half as a string
	opRedactions               // member: the redaction report
	opNext                     // member or line: the next call
	opNotices                  // members: all notices
	opMark                     // budget mark: the structured half begins (n=1) or ends (n=0)

	// The following stand in prose and in strings made of parts.
	opPartWord     // ours
	opPartInt      // a number
	opPartText     // as it is
	opPartName     // escaped, on one line
	opPartOutside  // outside the fence: bare when harmless, quoted when an argument
	opPartNumbered // every line with its number from n and a tab
	opPartIndented // every line after word
	opPartLines    // lines n..m
)

type op struct {
	word  Word
	n, m  int64
	ref   Ref
	code  opcode
	array bool
}

// Doc is one message: operations of the JSON stream and of the prose that is
// one string inside it.
type Doc struct {
	texts  *Texts
	json   []op
	prose  []op
	layout *layout
	frame  *Frame
	report secrets.Report
	sizes  Sizes
	sealed bool
	// nextLost is set by redaction when the next call would not survive it.
	nextLost bool
}

// Sizes are the lengths of the two halves in characters after JSON escaping.
type Sizes struct{ Prose, Structured int }

// NewDoc starts a message over a table.
func NewDoc(t *Texts) *Doc {
	l := layouts.Get().(*layout)
	return &Doc{texts: t, layout: l, json: l.json[:0], prose: l.prose[:0]}
}

// layout is the memory of a Doc's operations, which the next Doc uses again.
type layout struct{ json, prose []op }

var layouts = sync.Pool{New: func() any { return new(layout) }}

// maxKept bounds the operations that are kept for the next Doc.
const maxKept = 16 << 10

func (d *Doc) release() {
	l := d.layout
	d.layout = nil
	if cap(d.json)+cap(d.prose) > maxKept {
		return
	}
	clear(d.json) // so that no text of this answer is kept alive
	clear(d.prose)
	l.json, l.prose = d.json, d.prose
	d.json, d.prose = nil, nil
	layouts.Put(l)
}

// Texts returns the table of the message.
func (d *Doc) Texts() *Texts { return d.texts }

// JSON returns the writer of the message.
func (d *Doc) JSON() *JSON { return &JSON{d: d} }

// Redact rewrites the table of texts; it runs once, and nothing can be encoded
// before it. With enabled false (a setting) texts leave as they are.
func (d *Doc) Redact(enabled bool) {
	if d.sealed {
		panic("answer: redacted twice")
	}
	d.sealed = true
	d.texts.redact(enabled, &d.report)
	if d.frame != nil && d.frame.Next != nil {
		for _, a := range d.frame.Next.Args {
			if a.ref != None && d.texts.list[a.ref-1].changed {
				d.nextLost = true
			}
		}
	}
}

// Report returns what Redact replaced.
func (d *Doc) Report() *secrets.Report { return &d.report }

// Sizes returns the sizes of the halves of the message last encoded.
func (d *Doc) Sizes() Sizes { return d.sizes }

// JSON writes the members of a JSON value. Keys are ours. In an array the key
// is "". A disabled writer drops everything (structured output off).
type JSON struct {
	d   *Doc
	off bool
}

func (j *JSON) put(o op) {
	if !j.off {
		j.d.json = append(j.d.json, o)
	}
}

// Object opens an object; End closes it.
func (j *JSON) Object(key Word) { j.put(op{code: opOpen, word: key}) }

// Array opens an array; End closes it.
func (j *JSON) Array(key Word) { j.put(op{code: opOpen, word: key, array: true}) }

// End closes what was opened last.
func (j *JSON) End() { j.put(op{code: opClose}) }

// Int writes a number.
func (j *JSON) Int(key Word, n int64) { j.put(op{code: opInt, word: key, n: n}) }

// Bool writes a truth value.
func (j *JSON) Bool(key Word, b bool) {
	o := op{code: opBool, word: key}
	if b {
		o.n = 1
	}
	j.put(o)
}

// Word writes a string of ours.
func (j *JSON) Word(key, w Word) {
	j.put(op{code: opString, word: key})
	j.put(op{code: opPartWord, word: w})
	j.put(op{code: opStringEnd})
}

// Text writes a string of the table.
func (j *JSON) Text(key Word, r Ref) { j.put(op{code: opText, word: key, ref: r}) }

// Lines writes lines from to to (exclusive, from 0) of a text of the table,
// joined by newlines, without a final one.
func (j *JSON) Lines(key Word, r Ref, from, to int) {
	j.put(op{code: opLines, word: key, ref: r, n: int64(from), m: int64(to)})
}

// Parts writes one string made of parts.
func (j *JSON) Parts(key Word, parts ...Part) {
	j.put(op{code: opString, word: key})
	for _, p := range parts {
		j.put(p.op())
	}
	j.put(op{code: opStringEnd})
}

// Static writes JSON of ours, verbatim: a schema, an echoed id that parse has
// checked. It must be one valid JSON value.
func (j *JSON) Static(key Word, value []byte) {
	j.put(op{code: opStatic, word: key})
	j.put(op{code: opRaw, word: Word(value)})
}

// Prose writes the text half of a result.
type Prose struct{ d *Doc }

func (p *Prose) put(o op) { p.d.prose = append(p.d.prose, o) }

// Word writes words of ours.
func (p *Prose) Word(w Word) { p.put(op{code: opPartWord, word: w}) }

// Int writes a number.
func (p *Prose) Int(n int64) { p.put(op{code: opPartInt, n: n}) }

// Text writes a text as it is: only inside the fence.
func (p *Prose) Text(r Ref) { p.put(op{code: opPartText, ref: r}) }

// Name writes a name on one line, its control characters escaped: only inside
// the fence.
func (p *Prose) Name(r Ref) { p.put(op{code: opPartName, ref: r}) }

// Outside writes a text where no fence protects: as it is when it is a harmless
// name, as a JSON string when the caller sent it, else as the words "(name
// inside the fence)".
func (p *Prose) Outside(r Ref) { p.put(op{code: opPartOutside, ref: r}) }

// Numbered writes a text line by line, each line after its number, counted
// from first, and a tab. The text's final newline ends the last line and
// starts no other.
func (p *Prose) Numbered(r Ref, first int) {
	p.put(op{code: opPartNumbered, ref: r, n: int64(first)})
}

// Indented writes a text line by line, each line after prefix and ended by a
// newline: only inside the fence.
func (p *Prose) Indented(r Ref, prefix Word) {
	p.put(op{code: opPartIndented, ref: r, word: prefix})
}

// Lines writes lines from to to (exclusive, from 0) of a text, joined by
// newlines, without a final one: only inside the fence.
func (p *Prose) Lines(r Ref, from, to int) {
	p.put(op{code: opPartLines, ref: r, n: int64(from), m: int64(to)})
}

// Part is a piece of a string: a Word, a number or a text of the table.
type Part struct {
	word  Word
	n     int64
	ref   Ref
	isInt bool
}

// W is a part of our words.
func W(w Word) Part { return Part{word: w} }

// N is a part that is a number.
func N(n int64) Part { return Part{n: n, isInt: true} }

// R is a part that is a text of the table; it is escaped like a name.
func R(r Ref) Part { return Part{ref: r} }

func (p Part) op() op {
	switch {
	case p.isInt:
		return op{code: opPartInt, n: p.n}
	case p.ref != None:
		return op{code: opPartName, ref: p.ref}
	}
	return op{code: opPartWord, word: p.word}
}

// Cost returns the number of characters that t takes in one half of an answer:
// after redaction and JSON escaping. Tools use it to stay within the budget.
func Cost(t secrets.Text) int {
	if len(t.Spans) == 0 {
		return escapedLen(t.Raw)
	}
	n, at := 0, 0
	for _, s := range t.Spans {
		hidden := t.Raw[s.Start:s.End]
		n += escapedLen(t.Raw[at:s.Start])
		per := escapedLen(secrets.Placeholder(s.Rule.ID()))
		n += per
		for i := 0; i < len(hidden); i++ {
			if hidden[i] == '\n' {
				n += per + 2
			}
		}
		at = s.End
	}
	return n + escapedLen(t.Raw[at:])
}
