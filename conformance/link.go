package conformance

import (
	"context"
	"errors"
)

// Transport is a set of ways to reach a server.
type Transport uint8

// The transports.
const (
	Local Transport = 1 << iota // in process: no framing, no headers
	Pipe                        // stdio
	Web                         // Streamable HTTP

	everywhere = Local | Pipe | Web
	streams    = Local | Pipe // where all messages share one channel
)

// String lists the transports of a set.
func (t Transport) String() string {
	s := ""
	for _, n := range []struct {
		bit  Transport
		name string
	}{{Local, "in process"}, {Pipe, "stdio"}, {Web, "http"}} {
		if t&n.bit != 0 {
			if s != "" {
				s += ", "
			}
			s += n.name
		}
	}
	return s
}

// link is a connection to a server: a conversation in process, a process, or
// HTTP connections to one address.
type link interface {
	// start sends a message and returns at once. Messages that are started one
	// after the other are sent in this order.
	start(ctx context.Context, e *exchange)
	// strays returns what the server sent that belongs to no exchange, and
	// what it wrote that is no message at all.
	strays() (lost []*message, garbage []string)
	alive() bool
	close()
}

// Target is a server under test.
type Target struct {
	name string
	kind Transport
	open func(context.Context, *ledger) (link, error)
	web  *web // of HTTP
}

// Name describes the target for a report.
func (t *Target) Name() string { return t.name }

// Transport tells how the target is reached.
func (t *Target) Transport() Transport { return t.kind }

// Conversation is a server in the same process, with what a connection has: a
// cancellation names requests of the same conversation only.
type Conversation interface {
	// Send hands over one message and returns without waiting for its answer.
	// say gets every message of the answer, in order; done is called after the
	// last one, exactly once, also when there is no answer.
	Send(ctx context.Context, message []byte, say func([]byte), done func()) error
}

// InProcess makes a target of a server in the same process. Each call of dial
// begins a conversation.
func InProcess(name string, dial func() Conversation) *Target {
	return &Target{name: "in process (" + name + ")", kind: Local, open: func(context.Context, *ledger) (link, error) {
		return &local{to: dial()}, nil
	}}
}

type local struct{ to Conversation }

func (l *local) start(ctx context.Context, e *exchange) {
	ctx, cancel := context.WithCancel(ctx)
	e.stop = cancel
	say := func(b []byte) {
		if len(b) > MaxAnswer {
			e.end(errTooLarge)
			return
		}
		e.add(newMessage(b))
	}
	done := func() {
		e.end(nil)
		cancel()
	}
	if err := l.to.Send(ctx, append([]byte(nil), e.sent...), say, done); err != nil {
		e.end(errors.New("the message was not taken"))
		cancel()
	}
}

func (l *local) strays() ([]*message, []string) { return nil, nil }
func (l *local) alive() bool                    { return true }
func (l *local) close()                         {}
