package stages

import (
	"context"
	"strings"

	"mcp-devserver/pipeline"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/untrusted"
)

// Marked is an outcome whose foreign texts have been looked at.
type Marked struct {
	Outcome
	mark answer.Mark // all but the nonce and the fence
}

// Bounds of what one answer tells about signals.
const (
	maxSignals   = 20
	excerptChars = 80 // redaction may make an excerpt longer; the published schema allows 160
)

// scan looks for text that speaks to a model as if it were an instruction. It reads the texts as they are, before redaction, which
// could hide a signal, and changes none of them.
type scan struct{ off bool }

func (scan) Name() string { return "scan" }

func (s scan) Do(ctx context.Context, x *pipeline.Exchange, in Outcome) (Marked, error) {
	m := Marked{Outcome: in}
	if in.output == nil {
		return m, nil
	}
	var all []untrusted.Hit
	if !s.off {
		all = m.look(recordOf(x))
	}
	m.mark.Score = untrusted.Score(all)
	m.mark.Risk = answer.Word(untrusted.Band(m.mark.Score))
	m.mark.Notice = untrusted.Notice
	return m, nil
}

// place is one signal before it is listed.
type place struct {
	ref        answer.Ref
	path       answer.Ref
	line       int
	start, end int
	id         string
}

func (m *Marked) look(rec *record) (all []untrusted.Hit) {
	var places []place
	m.texts.Look(func(r answer.Ref, hits []untrusted.Hit, raw string, path answer.Ref, line int) {
		all = append(all, hits...)
		at, counted := 0, line
		for _, h := range hits {
			if line > 0 {
				counted += strings.Count(raw[at:h.Start], "\n")
				at = h.Start
			}
			rec.report.signal(h.Signal.ID)
			places = append(places, place{r, path, counted, h.Start, h.End, h.Signal.ID})
		}
	})
	for i, p := range places { // not inside Look: both change the table
		m.texts.Flag(p.ref)
		if i >= maxSignals {
			m.mark.SignalsBeyond++
			continue
		}
		m.mark.Signals = append(m.mark.Signals, answer.Signal{
			ID: answer.Word(p.id), Path: p.path, Line: p.line, Excerpt: m.texts.Excerpt(p.ref, p.start, p.end, excerptChars)})
	}
	return all
}
