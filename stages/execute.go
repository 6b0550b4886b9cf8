package stages

import (
	"context"
	"errors"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

// Outcome is what a request came to: the output of a tool, a denial, or the answer to another method.
type Outcome struct {
	call   Call
	output answer.Output   // of a tool that succeeded
	denial *sandbox.Denial // of a tool that refused
	texts  *answer.Texts   // that output refers to
}

// execute runs tools, in the pool. The other methods need no work and never wait for a worker.
type execute struct {
	env      *tools.Env
	interval time.Duration // between two progress notifications
}

func (*execute) Name() string { return "execute" }

// Quick reports whether a call is answered without a worker.
func (*execute) Quick(c Call) bool { return c.tool == nil || c.denial != nil }

func (e *execute) Do(ctx context.Context, x *pipeline.Exchange, c Call) (Outcome, error) {
	o := Outcome{call: c, denial: c.denial}
	switch {
	case c.denial != nil:
		return o, nil
	case c.method == wire.MethodListen:
		s, err := acknowledgement(c.id)
		if err != nil {
			return o, err
		}
		x.Send(s)
		return o, nil
	case c.tool == nil:
		return o, nil
	}
	o.texts = new(answer.Texts)
	call := &tools.Call{Env: e.env, Texts: o.texts, Progress: ignore}
	if c.token != nil && !x.Unary() {
		p := newProgress(x, c.token, e.interval)
		if err := p.begin(); err != nil {
			return o, err
		}
		call.Progress = p.report
	}
	out, err := c.tool.Run(ctx, call, c.args)
	var denial *sandbox.Denial
	switch {
	case errors.As(err, &denial):
		o.denial = denial
		return o, nil
	case err != nil:
		return o, err
	}
	frame := answer.FrameOf(out)
	for _, n := range c.notices {
		frame.Notice(answer.W(answer.Word(n)))
	}
	o.output = out
	return o, nil
}

func ignore(int64, int64, tools.Phase) {}

// acknowledgement opens a subscription, of nothing: no kind of change ever happens here.
func acknowledgement(id wire.ID) (seal.Sealed, error) {
	d := answer.NewDoc(new(answer.Texts))
	j := d.JSON()
	j.Object("")
	j.Word("jsonrpc", "2.0")
	j.Word("method", wire.NoteAcknowledged)
	j.Object("params")
	j.Object("notifications")
	j.End()
	j.Object("_meta")
	j.Static(wire.KeySubscriptionID, id)
	j.End()
	j.End()
	j.End()
	return seal.Seal(d, seal.Options{Notification: true})
}
