package answer

import (
	"mcp-devserver/sandbox"
)

// Output is what a tool answers: one struct that lays itself out into both
// halves. Embed Frame and implement the two methods.
//
// Head writes the members that describe the answer and, as prose, one header
// line without a newline; it stands outside the fence. Body writes the members
// that hold content and, as prose, what stands inside the fence, ending with a
// newline unless empty. Between the two, Doc.Result puts the common members
// and lines. Neither method may keep what it is given.
type Output interface {
	common() *Frame
	Head(j *JSON, p *Prose)
	Body(j *JSON, p *Prose)
}

// Frame holds the members that every success has in common. Tools embed it.
type Frame struct {
	Complete bool
	Stopped  Word // "limit", "chars", "time" or ""
	Next     *Next
	Notices  []Notice
}

func (f *Frame) common() *Frame { return f }

// Attached is implemented by an Output with blocks of content behind the text:
// images, sound, resources. They stand outside the fence and the budget and are
// neither scanned nor redacted, which is why they are Words: one JSON object of
// ours each. No tool that reads a workspace may have any.
type Attached interface{ Attachments() []Word }

// FrameOf returns the common members of an output.
func FrameOf(o Output) *Frame { return o.common() }

// Notice is one sentence about the answer.
type Notice []Part

// Notice adds a sentence.
func (f *Frame) Notice(parts ...Part) { f.Notices = append(f.Notices, parts) }

// Next is a call that continues the answer. It leaves only if redaction
// changes nothing in it.
type Next struct {
	Tool Word
	Args []Arg
	Why  Word
}

// Arg is one argument of a Next.
type Arg struct {
	key  Word
	word Word
	n    int64
	ref  Ref
	kind uint8
}

const (
	argInt = iota
	argBool
	argWord
	argText
)

// ArgInt is a number.
func ArgInt(key Word, n int64) Arg { return Arg{key: key, n: n, kind: argInt} }

// ArgBool is a truth value.
func ArgBool(key Word, b bool) Arg {
	a := Arg{key: key, kind: argBool}
	if b {
		a.n = 1
	}
	return a
}

// ArgWord is a string of ours.
func ArgWord(key, w Word) Arg { return Arg{key: key, word: w, kind: argWord} }

// ArgText is a text of the table.
func ArgText(key Word, r Ref) Arg { return Arg{key: key, ref: r, kind: argText} }

// Mark is how an answer is marked as untrusted.
type Mark struct {
	Nonce         string
	Open, Close   Word // the fence lines, without newlines
	Risk          Word
	Score         int
	Notice        Word
	Signals       []Signal
	SignalsBeyond int // signals that fired beside those listed
}

// Signal is one place where foreign text looks like an instruction.
type Signal struct {
	ID      Word
	Path    Ref
	Line    int
	Excerpt Ref
}

// excerptMax is the published length of an excerpt in characters; what redaction
// puts in may be longer than what it takes out.
const excerptMax = 160

// Options are the settings of a layout.
type Options struct {
	// Structured includes structuredContent.
	Structured bool
}

// Result writes the members content, structuredContent and isError of a
// successful tool call into the object that j has open.
func (d *Doc) Result(out Output, m *Mark, o Options) {
	f := out.common()
	d.frame = f
	j := d.JSON()
	var behind []Word
	if a, ok := out.(Attached); ok {
		behind = a.Attachments()
	}
	d.content(j, behind)
	s := &JSON{d: d, off: !o.Structured}
	p := &Prose{d: d}

	s.put(op{code: opMark, n: 1})
	s.Object("structuredContent")
	out.Head(s, p)
	p.Word("\n")

	s.Bool("complete", f.Complete)
	if f.Stopped != "" {
		s.Word("stopped", f.Stopped)
	}
	s.put(op{code: opNext, word: "next"})
	s.put(op{code: opNotices, word: "notices"})
	d.untrusted(s, m)
	s.put(op{code: opRedactions, word: "redactions"})

	p.put(op{code: opNext})
	p.put(op{code: opNotices})
	p.put(op{code: opRedactions})
	p.signals(m)
	p.Word(m.Open)
	p.Word("\n")
	out.Body(s, p)
	// A next call or notice that may not stand outside the fence stands here.
	p.put(op{code: opNext, n: 1})
	p.put(op{code: opNotices, n: 1})
	p.Word(m.Close)

	s.End()
	s.put(op{code: opMark})
	j.Bool("isError", false)
}

func (d *Doc) content(j *JSON, behind []Word) {
	j.Array("content")
	j.Object("")
	j.Word("type", "text")
	j.put(op{code: opProse, word: "text"})
	j.End()
	for _, w := range behind {
		j.Static("", []byte(w))
	}
	j.End()
}

func (d *Doc) untrusted(s *JSON, m *Mark) {
	s.Object("untrusted")
	s.Word("nonce", Word(m.Nonce))
	s.Word("risk", m.Risk)
	s.Int("score", int64(m.Score))
	s.Word("notice", m.Notice)
	if len(m.Signals) > 0 {
		s.Array("signals")
		for i := range m.Signals {
			g := &m.Signals[i]
			s.Object("")
			s.Word("id", g.ID)
			if g.Path != None {
				s.Text("path", g.Path)
			}
			if g.Line > 0 {
				s.Int("line", int64(g.Line))
			}
			if g.Excerpt != None {
				s.put(op{code: opText, word: "excerpt", ref: g.Excerpt, n: excerptMax})
			}
			s.End()
		}
		s.End()
	}
	s.End()
}

// signals writes the line outside the fence: ids, places and risk only.
func (p *Prose) signals(m *Mark) {
	p.Word("signals: ")
	if len(m.Signals) == 0 {
		p.Word("none\n")
		return
	}
	for i := range m.Signals {
		g := &m.Signals[i]
		if i > 0 {
			p.Word(", ")
		}
		p.Word(g.ID)
		if g.Path != None && p.Safe(g.Path) {
			p.Word(" ")
			p.Outside(g.Path)
			if g.Line > 0 {
				p.Word(":")
				p.Int(int64(g.Line))
			}
		} else if g.Line > 0 {
			p.Word(" line ")
			p.Int(int64(g.Line))
		}
	}
	if m.SignalsBeyond > 0 {
		p.Word(" and ")
		p.Int(int64(m.SignalsBeyond))
		p.Word(" more")
	}
	p.Word(" · risk ")
	p.Word(m.Risk)
	p.Word(" (")
	p.Int(int64(m.Score))
	p.Word(")\n")
}

// Denial writes the members content, structuredContent and isError of a
// refused tool call into the object that j has open. Its text alone carries
// message and remedy. Everything in it meets redaction.
func (d *Doc) Denial(e *sandbox.Denial, o Options) {
	j := d.JSON()
	d.content(j, nil)
	message, remedy := d.texts.Worded(e.Message), d.texts.Worded(e.Remedy)
	p := &Prose{d: d}
	p.Name(message)
	p.Word(" ")
	p.Name(remedy)
	s := &JSON{d: d, off: !o.Structured}
	s.put(op{code: opMark, n: 1})
	s.Object("structuredContent")
	s.Word("error", Word(e.Code.String()))
	s.Text("message", message)
	s.Text("remedy", remedy)
	if len(e.Details) > 0 {
		s.Object("details")
		for _, x := range e.Details {
			switch v := x.Value.(type) {
			case string:
				s.Text(Word(x.Key), d.texts.Worded(v))
			case int:
				s.Int(Word(x.Key), int64(v))
			case int64:
				s.Int(Word(x.Key), v)
			case []string:
				s.Array(Word(x.Key))
				for _, w := range v {
					s.Text("", d.texts.Name(w))
				}
				s.End()
			}
		}
		s.End()
	}
	s.put(op{code: opRedactions, word: "redactions", n: 1})
	s.End()
	s.put(op{code: opMark})
	j.Bool("isError", true)
}

// Safe reports whether Outside would write r as it is, as far as can be told
// before redaction: a body shows the name that the header cannot.
func (p *Prose) Safe(r Ref) bool {
	e := &p.d.texts.list[r-1]
	return e.kind == Argument || !e.flagged && sandbox.SafeName(e.text.Raw)
}
