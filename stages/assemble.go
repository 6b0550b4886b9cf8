package stages

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"
	"unicode/utf8"

	"mcp-devserver/pipeline"
	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/sandbox/untrusted"
	"mcp-devserver/stages/wire"
)

// Envelope is a message laid out but not yet redacted: it cannot leave.
type Envelope struct {
	doc    *answer.Doc
	status int
	budget int // characters of each half; 0 when the message has no halves
	id     wire.ID
}

// assemble lays answers out, and turns failures back into messages.
type assemble struct {
	catalog    *catalog
	server     []byte // serverInfo
	page       int    // tools in one page of tools/list
	structured bool
	maxChars   int
	workers    int           // named when busy
	timeout    time.Duration // named when it passes
}

func (*assemble) Name() string { return "assemble" }

func (a *assemble) Do(_ context.Context, x *pipeline.Exchange, in Marked) (Envelope, error) {
	rec := recordOf(x)
	switch {
	case in.denial != nil:
		return a.deny(rec, in.call.id, in.denial), nil
	case in.output != nil:
		return a.success(rec, &in), nil
	}
	d := answer.NewDoc(new(answer.Texts))
	j := a.open(d, in.call.id)
	rec.report.Outcome = OutcomeOK
	switch in.call.method {
	case wire.MethodDiscover:
		describe(j)
	case wire.MethodList:
		a.list(j, in.call.offset)
	case wire.MethodListen:
		a.close(j, in.call.id)
		return Envelope{doc: d, status: 200, id: in.call.id}, nil
	}
	a.close(j, nil)
	return Envelope{doc: d, status: 200, id: in.call.id}, nil
}

// open writes what stands before the members of every result.
func (a *assemble) open(d *answer.Doc, id wire.ID) *answer.JSON {
	j := d.JSON()
	j.Object("")
	j.Word("jsonrpc", "2.0")
	j.Static("id", id)
	j.Object("result")
	j.Word("resultType", wire.ResultComplete)
	return j
}

// close writes what stands after them; subscription is the id of the listen request that the result ends, or nil.
func (a *assemble) close(j *answer.JSON, subscription wire.ID) {
	j.Object("_meta")
	if subscription != nil {
		j.Static(wire.KeySubscriptionID, subscription)
	}
	j.Static(wire.KeyServerInfo, a.server)
	j.End()
	j.End()
	j.End()
}

func describe(j *answer.JSON) {
	j.Array("supportedVersions")
	for _, v := range wire.Served() {
		j.Word("", answer.Word(v))
	}
	j.End()
	j.Object("capabilities")
	j.Object("tools")
	j.End()
	j.End()
	j.Word("instructions", Instructions)
	j.Int("ttlMs", discoverTTL)
	j.Word("cacheScope", wire.ScopePublic)
}

func (a *assemble) list(j *answer.JSON, from int) {
	to := min(from+a.page, len(a.catalog.entries))
	j.Array("tools")
	for i := from; i < to; i++ {
		j.Static("", a.catalog.entries[i].json)
	}
	j.End()
	if to < len(a.catalog.entries) {
		j.Word("nextCursor", answer.Word(encodeCursor(to, a.catalog.hash)))
	}
	j.Int("ttlMs", listTTL)
	j.Word("cacheScope", wire.ScopePublic)
}

func (a *assemble) success(rec *record, in *Marked) Envelope {
	m := &in.mark
	m.Nonce = untrusted.Nonce(in.texts.Occurs)
	m.Open, m.Close = answer.Word(untrusted.Open(m.Nonce)), answer.Word(untrusted.Close(m.Nonce))
	d := answer.NewDoc(in.texts)
	j := a.open(d, in.call.id)
	d.Result(in.output, m, answer.Options{Structured: a.structured})
	a.close(j, nil)
	rec.report.Outcome = OutcomeOK
	rec.report.Stopped = string(answer.FrameOf(in.output).Stopped)
	rec.report.Score = m.Score
	return Envelope{doc: d, status: 200, budget: a.maxChars, id: in.call.id}
}

func (a *assemble) deny(rec *record, id wire.ID, e *sandbox.Denial) Envelope {
	d := answer.NewDoc(new(answer.Texts))
	j := a.open(d, id)
	d.Denial(e, answer.Options{Structured: a.structured})
	a.close(j, nil)
	rec.report.Outcome, rec.report.Denial = OutcomeDenied, e.Code.String()
	return Envelope{doc: d, status: 200, id: id}
}

// Rescue makes a message of every failure. What a caller of a tool can act on is a result; the rest is a JSON-RPC error, and what
// was not expected says nothing but a reference under which the log knows the cause.
func (a *assemble) Rescue(_ context.Context, x *pipeline.Exchange, err error) (Envelope, error) {
	rec := recordOf(x)
	var denial *sandbox.Denial
	var refused *wire.Error
	called := rec.report.Tool != ""
	switch {
	case errors.As(err, &refused):
	case errors.As(err, &denial):
	case called && errors.Is(err, pipeline.ErrBusy):
		denial = sandbox.Refuse(sandbox.Busy, sandbox.Args{"n": a.workers, "retry_after_ms": 1000})
	case called && errors.Is(err, context.DeadlineExceeded):
		denial = sandbox.Refuse(sandbox.Timeout, sandbox.Args{"s": int((a.timeout + time.Second - 1) / time.Second)})
	case errors.Is(err, pipeline.ErrShutdown):
		refused = wire.Refuse(wire.FaultInternal, "The server is shutting down")
	}
	if denial != nil {
		return a.deny(rec, rec.id, denial), nil
	}
	if refused == nil {
		refused = unexpected(rec, err)
	}
	rec.report.Outcome, rec.report.Fault = OutcomeError, refused.Fault.String()
	return fault(rec.id, refused), nil
}

// unexpected notes the cause of a failure for the log and returns what the client sees of it.
func unexpected(rec *record, err error) *wire.Error {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	rec.report.Reference, rec.report.Cause = hex.EncodeToString(b[:]), err
	return wire.Refuse(wire.FaultInternal, "Internal error").With("reference", rec.report.Reference)
}

// fault lays out a JSON-RPC error; without an id there is no such member.
func fault(id wire.ID, e *wire.Error) Envelope {
	t := new(answer.Texts)
	d := answer.NewDoc(t)
	j := d.JSON()
	j.Object("")
	j.Word("jsonrpc", "2.0")
	if id != nil {
		j.Static("id", id)
	}
	j.Object("error")
	j.Int("code", int64(e.Fault.Code()))
	parts := make([]answer.Part, 0, len(e.Pieces))
	for _, p := range e.Pieces {
		switch p := p.(type) {
		case string:
			parts = append(parts, answer.W(answer.Word(p)))
		case wire.Caller:
			parts = append(parts, answer.R(t.Argument(repeat(string(p), shownInMessage))))
		}
	}
	j.Parts("message", parts...)
	if len(e.Data) > 0 {
		object(t, j, "data", e.Data)
	}
	j.End()
	j.End()
	return Envelope{doc: d, status: e.Fault.Status(), id: id}
}

// How much of a caller's own text an error repeats, in characters.
const (
	shownInMessage = 64
	shownInData    = 200
)

// repeat brings a caller's text onto one line of at most n characters. Secrets give way before a cut: behind it no rule would know
// what is left of one.
func repeat(s string, n int) string {
	line := sandbox.EscapeName(s)
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	s, _ = secrets.Redact(secrets.ScanName(s), false, nil)
	s = sandbox.EscapeName(s)
	return s[:secrets.WholePlaceholders(s, len(clip(s, n)))]
}

// object writes the data of an error.
func object(t *answer.Texts, j *answer.JSON, key answer.Word, o wire.Object) {
	j.Object(key)
	for _, m := range o {
		key := answer.Word(m.Name)
		switch v := m.Value.(type) {
		case string:
			j.Word(key, answer.Word(v))
		case wire.Caller:
			j.Text(key, t.Argument(repeat(string(v), shownInData)))
		case int:
			j.Int(key, int64(v))
		case bool:
			j.Bool(key, v)
		case []string:
			j.Array(key)
			for _, s := range v {
				j.Word("", answer.Word(s))
			}
			j.End()
		case wire.Object:
			object(t, j, key, v)
		case []wire.Object:
			j.Array(key)
			for _, o := range v {
				object(t, j, "", o)
			}
			j.End()
		}
	}
	j.End()
}
