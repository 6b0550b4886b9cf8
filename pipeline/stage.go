// Package pipeline carries requests through typed stages that are joined by channels.
//
// A line is a row of stages. Each stage reads one channel and owns the next one, so the wiring of a server is a list of
// Connect calls that the compiler checks: a stage that expects a Call cannot be fed an Outcome, and [Drain] takes nothing
// but [seal.Sealed]. The package knows no protocol, file or socket.
//
// # How to start
//
//	line, in := pipeline.New(pipeline.Options{})
//	parsed := pipeline.Connect(line, in, parse, 1)
//	done := pipeline.ConnectPool(line, parsed, execute, pipeline.Pool(8, 64))
//	sealed := pipeline.Connect(line, done, finish, 1)
//	pipeline.Drain(line, sealed, last)
//
//	err := line.Submit(ctx, pipeline.Inbound{Raw: message}, sink)
//	err = line.Close(ctx)
//
// # What it promises
//
//   - Every message that Submit accepted gets exactly one Finish or Drop on its Sink, and nothing after it.
//   - A stage that panics, or ends its goroutine, fails one request. The line lives.
//   - No send between two stages can block: every channel holds as many messages as there are credits, and a message is
//     admitted only with a credit in hand. So the line cannot deadlock, and a slow request never delays a quick one
//     except in the stage where both need a worker.
//   - A request that finds no worker and no place in the pool's queue fails with [ErrBusy] at once.
//   - Cancelling takes effect when it is read, wherever in the line the request is.
//   - Close answers what is in flight; when its context ends first it cancels the rest, and still leaves no request
//     without its Finish or Drop.
//
// # Limits
//
//   - Goroutines cannot be killed. A worker that ignores the end of its context is left behind after
//     [Options].Patience: its request is failed, a spare takes its place, and [Line.Stuck] counts it until it returns.
//     Only the pool has this guard; a stage given to Connect must return.
//   - A stage with several workers does not keep the order of messages.
//   - A Sink whose Finish blocks holds up every request of the line, by design: that is the back-pressure of a pipe.
package pipeline

import (
	"context"
	"errors"

	"mcp-devserver/pipeline/seal"
)

// Stage is one step of the line: a function with a name. It sees no channel, must be safe for as many concurrent calls
// as it has workers, and returns when ctx ends.
type Stage[In, Out any] interface {
	Name() string
	Do(ctx context.Context, x *Exchange, in In) (Out, error)
}

// Rescuer is what a stage may also be: it turns a failed request back into a message. It is asked for every failure of
// an earlier stage and of its own Do, with a context that may already have ended. [ErrNoReply] and [ErrCancelled] are
// never rescued.
//
// A message that has passed a Rescuer is settled: later stages run even if its context has ended.
type Rescuer[Out any] interface {
	Rescue(ctx context.Context, x *Exchange, err error) (Out, error)
}

// Sorter is what a stage given to [ConnectPool] may also be: a message for which Quick answers true is handled at once,
// without a worker of the pool. Its Do must not block then.
type Sorter[In any] interface{ Quick(in In) bool }

// Msg is a request between two stages. Once Err is set, Val has no meaning.
type Msg[T any] struct {
	X       *Exchange
	Val     T
	Err     error
	settled bool
}

// Inbound is one message as a transport read it.
type Inbound struct {
	// Raw is the message without its framing. The line keeps it; the transport must not reuse the memory.
	Raw []byte
	// Mirror holds the headers that repeat parts of the message. It is nil when the transport has no headers, and not
	// nil, though perhaps empty, when it has: then the mirrored values must be there.
	Mirror Mirror
	// Peer is the connection that a cancellation may refer to; nil when ending the context is the only way to cancel.
	Peer *Peer
	// Client names who sends, for rates: the same client, the same string. Empty when there is only one.
	Client string
	// Unary says that the client takes the response and nothing else: [Exchange.Offer] delivers nothing then.
	Unary bool
	// Fault says why Raw could not be read.
	Fault Fault
}

// Fault is a fault of framing that a transport cannot answer by itself, because only a stage can build the answer.
type Fault uint8

// The faults.
const (
	FaultNone    Fault = iota
	FaultTooLong       // the message is longer than the transport reads; Raw is empty
)

// Mirror holds header values by canonical name ("Mcp-Method"), every occurrence of a header in order, with the white
// space around each value removed.
type Mirror map[string][]string

// Value returns the value of a header. found is false when it is absent. conflict is true when it occurs more than once
// with differing values: then no value can be trusted, for something between client and server may have read another.
func (m Mirror) Value(name string) (value string, found, conflict bool) {
	all := m[name]
	if len(all) == 0 {
		return "", false, false
	}
	for _, v := range all[1:] {
		if v != all[0] {
			return "", true, true
		}
	}
	return all[0], true, false
}

// Sink is the way back to the client, one per message, made by the transport. The line calls Send and Offer any number
// of times, then exactly one of Finish and Drop, never two of them at once, and nothing afterwards.
type Sink interface {
	// Send delivers a message that precedes the response, in order. False: it was not taken.
	Send(seal.Sealed) bool
	// Offer is Send for a message that may be lost. It never blocks.
	Offer(seal.Sealed) bool
	// Finish delivers the response.
	Finish(seal.Sealed)
	// Drop says that there will be no response: the message was a notification, or it was cancelled.
	Drop()
}

// Errors that the line itself puts into [Msg].Err or returns.
var (
	// ErrBusy: no worker, no place in the pool's queue, or no credit but a reserved one.
	ErrBusy = errors.New("pipeline: busy")
	// ErrCancelled: the client cancelled the request or went away.
	ErrCancelled = errors.New("pipeline: cancelled")
	// ErrClosed: Submit was called on a line that is closing.
	ErrClosed = errors.New("pipeline: closed")
	// ErrNoReply is returned by a stage for a message that gets no response. It skips everything that follows.
	ErrNoReply = errors.New("pipeline: no reply")
	// ErrShutdown: the line was closed hard while the request was in it.
	ErrShutdown = errors.New("pipeline: shut down")
	// ErrTimeout: the request was in the pool for longer than Options.Timeout. It is a context.DeadlineExceeded.
	ErrTimeout error = timeoutError{}
)

type timeoutError struct{}

func (timeoutError) Error() string        { return "pipeline: timeout" }
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// silent tells whether a failure ends without a response.
func silent(err error) bool { return errors.Is(err, ErrNoReply) || errors.Is(err, ErrCancelled) }
