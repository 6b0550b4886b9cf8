package answer

import (
	"fmt"
	"strings"

	"mcp-devserver/sandbox"
)

// TooLargeError says that a half of the message exceeds the budget.
type TooLargeError struct{ Sizes Sizes }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("answer: halves of %d and %d characters exceed the budget", e.Sizes.Prose, e.Sizes.Structured)
}

// Encode appends the message to dst, as one line of JSON without a final
// newline. Each half of a result may have at most budget characters after
// escaping (0: no limit); beyond it the error is a *TooLargeError and what was
// appended must be thrown away. It panics unless Redact ran, and uses the layout
// up: a Doc is encoded once.
func (d *Doc) Encode(dst []byte, budget int) ([]byte, error) {
	if !d.sealed || d.layout == nil {
		panic("answer: encoded before redaction, or twice")
	}
	defer d.release()
	e := encoder{d: d, dst: dst}
	e.run(d.json)
	d.sizes = e.sizes
	if budget > 0 && (e.sizes.Prose > budget || e.sizes.Structured > budget) {
		return e.dst, &TooLargeError{e.sizes}
	}
	return e.dst, nil
}

type encoder struct {
	d       *Doc
	dst     []byte
	closers []byte // closing bracket of every open value
	comma   bool   // the next member needs a comma
	mark    int    // where the structured half began
	sizes   Sizes
	at      place
}

// place remembers where the last opLines stopped, so that chunks of one text,
// written in order, cost one pass over it.
type place struct {
	ref       Ref
	line, off int
}

// key begins a member.
func (e *encoder) key(k Word) {
	if e.comma {
		e.dst = append(e.dst, ',')
	}
	e.comma = true
	if k != "" {
		e.dst = append(e.dst, '"')
		e.dst = append(e.dst, k...)
		e.dst = append(e.dst, '"', ':')
	}
}

func (e *encoder) run(ops []op) {
	for i := 0; i < len(ops); i++ {
		o := &ops[i]
		switch o.code {
		case opOpen:
			e.key(o.word)
			if o.array {
				e.dst, e.closers = append(e.dst, '['), append(e.closers, ']')
			} else {
				e.dst, e.closers = append(e.dst, '{'), append(e.closers, '}')
			}
			e.comma = false
		case opClose:
			e.dst = append(e.dst, e.closers[len(e.closers)-1])
			e.closers = e.closers[:len(e.closers)-1]
			e.comma = true
		case opInt:
			e.key(o.word)
			e.dst = appendInt(e.dst, o.n)
		case opBool:
			e.key(o.word)
			if o.n != 0 {
				e.dst = append(e.dst, "true"...)
			} else {
				e.dst = append(e.dst, "false"...)
			}
		case opStatic:
			e.key(o.word)
			i++
			e.dst = append(e.dst, ops[i].word...)
		case opText:
			e.key(o.word)
			s := e.clean(o.ref)
			if o.n > 0 {
				s = s[:RunePrefix(s, int(o.n))]
			}
			e.quote(s)
		case opLines:
			e.key(o.word)
			e.quote(e.lines(o.ref, int(o.n), int(o.m)))
		case opString:
			e.key(o.word)
			e.dst = append(e.dst, '"')
		case opStringEnd:
			e.dst = append(e.dst, '"')
		case opProse:
			e.key(o.word)
			at := len(e.dst)
			e.dst = append(e.dst, '"')
			e.prose(e.d.prose)
			e.dst = append(e.dst, '"')
			e.sizes.Prose = characters(e.dst[at:]) - 2
		case opMark:
			if o.n == 1 {
				e.mark = len(e.dst)
			} else {
				e.sizes.Structured = characters(e.dst[e.mark:])
			}
		case opRedactions:
			e.redactions(o)
		case opNext:
			e.next(o)
		case opNotices:
			e.notices(o)
		default:
			e.part(o)
		}
	}
}

func (e *encoder) clean(r Ref) string { return e.d.texts.list[r-1].clean }

func (e *encoder) quote(s string) {
	e.dst = append(e.dst, '"')
	e.dst = appendString(e.dst, s)
	e.dst = append(e.dst, '"')
}

func (e *encoder) add(s string) { e.dst = appendString(e.dst, s) }

// part writes a piece of an open string.
func (e *encoder) part(o *op) {
	switch o.code {
	case opPartWord:
		e.add(string(o.word))
	case opPartInt:
		e.dst = appendInt(e.dst, o.n)
	case opPartText:
		e.add(e.clean(o.ref))
	case opPartName:
		e.add(sandbox.EscapeName(e.clean(o.ref)))
	case opPartOutside:
		t := &e.d.texts.list[o.ref-1]
		switch {
		case e.d.texts.outside(o.ref):
			e.add(t.clean)
		case t.kind == Argument:
			e.add(string(appendQuoted(nil, sandbox.EscapeName(t.clean))))
		default:
			e.add("(name inside the fence)")
		}
	case opPartNumbered:
		n := o.n
		each(e.clean(o.ref), func(line string) {
			e.dst = appendInt(e.dst, n)
			e.dst = append(e.dst, '\\', 't')
			e.add(line)
			e.dst = append(e.dst, '\\', 'n')
			n++
		})
	case opPartLines:
		e.add(e.lines(o.ref, int(o.n), int(o.m)))
	case opPartIndented:
		each(e.clean(o.ref), func(line string) {
			e.add(string(o.word))
			e.add(line)
			e.dst = append(e.dst, '\\', 'n')
		})
	default:
		panic("answer: unknown operation")
	}
}

// prose runs the text half inside the string that is open.
func (e *encoder) prose(ops []op) {
	for i := range ops {
		o := &ops[i]
		switch o.code {
		case opRedactions:
			e.proseRedactions()
		case opNext:
			e.proseNext(o.n == 1)
		case opNotices:
			e.proseNotices(o.n == 1)
		default:
			e.part(o)
		}
	}
}

// redactions writes the report; with n set it is left out when empty.
func (e *encoder) redactions(o *op) {
	any := false
	e.d.report.Each(func(string, int) { any = true })
	if o.n == 1 && !any {
		return
	}
	e.key(o.word)
	e.dst = append(e.dst, '[')
	e.comma = false
	e.d.report.Each(func(rule string, n int) {
		e.key("")
		e.dst = append(e.dst, `{"rule":`...)
		e.quote(rule)
		e.dst = append(e.dst, `,"count":`...)
		e.dst = appendInt(e.dst, int64(n))
		e.dst = append(e.dst, '}')
	})
	e.dst = append(e.dst, ']')
	e.comma = true
}

func (e *encoder) proseRedactions() {
	first := true
	e.d.report.Each(func(rule string, n int) {
		if first {
			e.add("redacted: ")
		} else {
			e.add(", ")
		}
		first = false
		e.dst = appendInt(e.dst, int64(n))
		e.add(" ")
		e.add(rule)
	})
	if !first {
		e.add(" (the text on disk differs there)\n")
	}
}

func (e *encoder) next(o *op) {
	n := e.d.frame.Next
	if n == nil || e.d.nextLost {
		return
	}
	e.key(o.word)
	e.dst = append(e.dst, `{"tool":`...)
	e.quote(string(n.Tool))
	e.dst = append(e.dst, `,"arguments":`...)
	e.dst = e.appendArgs(e.dst, n)
	if n.Why != "" {
		e.dst = append(e.dst, `,"why":`...)
		e.quote(string(n.Why))
	}
	e.dst = append(e.dst, '}')
}

func (e *encoder) appendArgs(dst []byte, n *Next) []byte {
	dst = append(dst, '{')
	for i, a := range n.Args {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, a.key...)
		dst = append(dst, '"', ':')
		switch a.kind {
		case argInt:
			dst = appendInt(dst, a.n)
		case argBool:
			if a.n != 0 {
				dst = append(dst, "true"...)
			} else {
				dst = append(dst, "false"...)
			}
		case argWord:
			dst = appendQuoted(dst, string(a.word))
		case argText:
			dst = appendQuoted(dst, e.clean(a.ref))
		}
	}
	return append(dst, '}')
}

// proseNext writes the line "more:", outside the fence when everything in it
// may stand there, else inside.
func (e *encoder) proseNext(inside bool) {
	n := e.d.frame.Next
	if n == nil || e.d.nextLost {
		return
	}
	safe := true
	for _, a := range n.Args {
		if a.kind == argText && e.d.texts.list[a.ref-1].kind != Argument && !e.d.texts.outside(a.ref) {
			safe = false
		}
	}
	if safe == inside {
		return
	}
	e.add("more: ")
	e.add(string(n.Tool))
	e.add(" ")
	e.add(string(e.appendArgs(nil, n)))
	e.add("\n")
}

const lostNext = "the ready-made next call was left out because redaction would change it"

func (e *encoder) notices(o *op) {
	f := e.d.frame
	if len(f.Notices) == 0 && !e.d.nextLost {
		return
	}
	e.key(o.word)
	e.dst = append(e.dst, '[')
	e.comma = false
	for _, n := range f.Notices {
		e.key("")
		e.dst = append(e.dst, '"')
		e.sentence(n)
		e.dst = append(e.dst, '"')
	}
	if e.d.nextLost {
		e.key("")
		e.quote(lostNext)
	}
	e.dst = append(e.dst, ']')
	e.comma = true
}

func (e *encoder) sentence(n Notice) {
	for _, p := range n {
		o := p.op()
		e.part(&o)
	}
}

func (e *encoder) proseNotices(inside bool) {
	for _, n := range e.d.frame.Notices {
		safe := true
		for _, p := range n {
			if p.ref != None && !e.d.texts.outside(p.ref) {
				safe = false
			}
		}
		if safe == inside {
			continue
		}
		e.add("notice: ")
		e.sentence(n)
		e.add("\n")
	}
	if e.d.nextLost && !inside {
		e.add("notice: " + lostNext + "\n")
	}
}

// each visits the lines of s without their newlines; a final newline ends the
// last line and starts no other.
func each(s string, f func(line string)) {
	for len(s) > 0 {
		line, rest, _ := strings.Cut(s, "\n")
		f(line)
		s = rest
	}
}

// lines returns lines from to to (exclusive) of a text, without a final
// newline.
func (e *encoder) lines(r Ref, from, to int) string {
	s := e.clean(r)
	if e.at.ref != r || e.at.line > from {
		e.at = place{ref: r}
	}
	e.at.skip(s, from)
	start := e.at.off
	e.at.skip(s, to)
	end := e.at.off
	if end > start && s[end-1] == '\n' {
		end--
	}
	return s[start:end]
}

// skip moves to the start of line n, or to the end of s.
func (p *place) skip(s string, n int) {
	for p.line < n {
		i := strings.IndexByte(s[p.off:], '\n')
		if i < 0 {
			p.off, p.line = len(s), n
			return
		}
		p.off += i + 1
		p.line++
	}
}
