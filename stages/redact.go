package stages

import (
	"context"
	"errors"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
)

// redact seals a message: the table of its texts is redacted once, then both halves are encoded. It is the only stage that makes
// something a transport takes.
type redact struct {
	plain    bool
	timing   bool
	assemble *assemble
}

func (*redact) Name() string { return "redact" }

func (r *redact) Do(_ context.Context, x *pipeline.Exchange, e Envelope) (seal.Sealed, error) {
	rec := recordOf(x)
	var times func() []seal.Time
	if r.timing {
		begun := time.Now()
		times = func() []seal.Time { return rec.timing(x, r.Name(), begun) }
	}
	s, err := r.seal(rec, e, times)
	var large *answer.TooLargeError
	if errors.As(err, &large) {
		rec.report.Redactions, rec.report.Late = nil, 0
		s, err = r.seal(rec, r.assemble.deny(rec, e.id, sandbox.Refuse(sandbox.ResultTooLarge, nil)), times)
	}
	return s, err
}

func (r *redact) seal(rec *record, e Envelope, times func() []seal.Time) (seal.Sealed, error) {
	s, err := seal.Seal(e.doc, seal.Options{Status: e.status, Budget: e.budget, Plain: r.plain, Times: times})
	if err != nil {
		return s, err
	}
	report := e.doc.Report()
	report.Each(func(rule string, n int) { rec.report.Redactions = append(rec.report.Redactions, Count{rule, n}) })
	rec.report.Late = report.Late()
	rec.report.Prose, rec.report.Structured = e.doc.Sizes().Prose, e.doc.Sizes().Structured
	rec.report.Bytes = len(s.Bytes())
	return s, nil
}
