package stages

import (
	"context"

	"mcp-devserver/pipeline"
	"mcp-devserver/stages/wire"
)

// Parsed is a message whose bytes are sound: a request, or over HTTP a notification whose headers are still to be checked.
type Parsed struct {
	wire.Message
	Mirror pipeline.Mirror // nil on a transport without headers
	client string
	rec    *record
}

// parse reads messages strictly. It has one worker, so that a cancellation never overtakes the request that it names.
type parse struct{ limits wire.Limits }

func (parse) Name() string { return "parse" }

func (p parse) Do(_ context.Context, x *pipeline.Exchange, in pipeline.Inbound) (Parsed, error) {
	rec := &record{}
	x.Attach(rec)
	if in.Fault == pipeline.FaultTooLong {
		return Parsed{}, wire.Refuse(wire.FaultRequest, "Invalid request: the message is larger than the limit").With("limit_bytes", p.limits.Bytes)
	}
	m, err := wire.Decode(in.Raw, p.limits)
	rec.id = m.ID
	rec.report.Method = known(m.Method)
	if err != nil {
		return Parsed{}, err
	}
	if m.ID != nil {
		x.Begin(m.ID.Key())
	} else {
		if m.Method == wire.NoteCancelled && in.Mirror == nil {
			rec.report.Cancelled, rec.report.Reason = cancel(in.Peer, m.Params)
		}
		if in.Mirror == nil {
			return Parsed{}, pipeline.ErrNoReply
		}
	}
	return Parsed{Message: m, Mirror: in.Mirror, client: in.Client, rec: rec}, nil
}

// cancel ends the requests that a notification names, if it is well-formed and there are any. Over HTTP it has no effect: ids of
// different clients meet there, and closing the connection is the way to cancel.
func cancel(peer *pipeline.Peer, params []byte) (requests int, reason string) {
	_, _ = wire.Members(params, func(name, value []byte) error {
		switch string(name) {
		case "requestId":
			if wire.Token(value) {
				requests = peer.Cancel(wire.ID(value).Key())
			}
		case "reason":
			if s, ok := wire.String(value); ok {
				reason = repeat(s, 200)
			}
		}
		return nil
	})
	return requests, reason
}

// known maps a method to one of a closed set, which may stand in logs and metrics.
func known(method string) string {
	switch method {
	case wire.MethodDiscover, wire.MethodList, wire.MethodCall, wire.MethodListen, wire.MethodInitialize, wire.NoteCancelled, "":
		return method
	}
	return "other"
}

// clip cuts s to n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
