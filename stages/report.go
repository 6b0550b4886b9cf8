package stages

import (
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/stages/internal/schema"
)

// Outcomes of a request.
const (
	OutcomeOK     = "ok"
	OutcomeDenied = "denied" // a result with isError
	OutcomeError  = "error"  // a JSON-RPC error
	OutcomeNone   = "none"   // no response: a notification, or cancelled
)

// Report tells what became of one message, for metrics and the audit log. It holds no value of an argument and nothing that was
// read: every string is from a closed set but for those marked.
type Report struct {
	Method  string // a method of this revision, "initialize", "" or "other"
	Tool    string // a registered tool, or ""
	Args    []Arg  // arguments that the tool publishes
	Unknown int    // arguments that it does not

	Outcome string
	Fault   string // name of the JSON-RPC error
	Denial  string // code of the denial
	Stopped string // why a success is not complete

	Redactions []Count // by rule
	Late       int     // secrets that were found in the finished answer only: a defect of a tool
	Signals    []Count // by signal
	Score      int     // risk, 0 to 100

	Prose, Structured int // characters of each half
	Bytes             int // of the message

	Legacy    bool   // a handshake of an earlier revision was refused
	Cancelled int    // requests that a cancellation ended
	Reason    string // of the cancellation: text of the client, one escaped line of at most 200 characters
	Client    string // name the client gives itself: at most 64 printable ASCII characters of its own choice
	TraceID   string // 32 hex digits, or ""

	Reference string // under which an unexpected failure was answered
	Cause     error  // of that failure; may hold paths and must meet redaction before it is logged

	Total  time.Duration // since the message was submitted
	Wait   time.Duration // for a worker
	Stages []StageTime   // in the order in which they were passed
}

// Arg is the name of an argument and the length of its value as text.
type Arg struct {
	Name   string
	Length int
}

// Count says how often something named happened.
type Count struct {
	Name  string
	Count int
}

// StageTime is the time that a request spent in one stage.
type StageTime struct {
	Stage string
	Took  time.Duration
}

// note keeps the names and lengths of the arguments.
func (r *Report) note(args schema.Value, input *schema.Schema) {
	args.Each(func(name string, length int) {
		if !input.Has(name) {
			r.Unknown++
			return
		}
		r.Args = append(r.Args, Arg{name, length})
	})
}

func (r *Report) signal(id string) {
	for i := range r.Signals {
		if r.Signals[i].Name == id {
			r.Signals[i].Count++
			return
		}
	}
	r.Signals = append(r.Signals, Count{id, 1})
}

// observer collects the times of the stages and hands the finished report over, once for each message.
func observer(report func(*Report), timing bool) func(pipeline.Event) {
	if report == nil {
		if !timing {
			return nil
		}
		report = func(*Report) {}
	}
	return func(e pipeline.Event) {
		rec := recordOf(e.X)
		rec.mu.Lock()
		defer rec.mu.Unlock()
		if e.Stage != pipeline.StageEnd {
			rec.times = append(rec.times, StageTime{e.Stage, e.Took})
			rec.wait += e.Wait
			return
		}
		r := rec.report // later events of a worker that was left behind find their own copy
		r.Total, r.Wait, r.Stages = e.Took, rec.wait, rec.times
		rec.times = nil
		switch {
		case e.Outcome == pipeline.Dropped:
			r.Outcome = OutcomeNone
		case r.Outcome == "":
			r.Outcome = OutcomeError
		}
		report(&r)
	}
}

// last renders what failed after assemble, when no stage is left to make a message of it.
func last(x *pipeline.Exchange, err error) *seal.Sealed {
	rec := recordOf(x)
	e := fault(rec.id, unexpected(rec, err))
	rec.report.Outcome, rec.report.Fault = OutcomeError, "internal_error"
	s, err := seal.Seal(e.doc, seal.Options{Status: e.status})
	if err != nil {
		return nil
	}
	return &s
}
