package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"mcp-devserver/pipeline/seal"
)

// Exchange is one message in the line together with its way back. It travels with every [Msg].
type Exchange struct {
	line   *Line
	ctx    context.Context // a message that crosses a channel must carry its own
	cancel context.CancelCauseFunc
	sink   Sink
	slot   int32 // the credit it holds
	unary  bool
	start  time.Time

	mu    sync.Mutex // held while sink is called before the end, so that nothing can follow the end
	ended bool

	id       string
	attached any

	peer *Peer
	next *Exchange // in peer: the next exchange with the same id
}

// Context ends when the request is cancelled, times out, is answered, or when the line is closed hard.
// context.Cause tells which.
func (x *Exchange) Context() context.Context { return x.ctx }

// Begin gives the request the id under which its peer may cancel it. id is any spelling that is equal for equal ids.
// The stage that reads ids calls it once, from a single worker, so that no cancellation overtakes its request.
func (x *Exchange) Begin(id string) {
	x.id = id
	x.peer.add(x)
}

// ID returns what Begin was given.
func (x *Exchange) ID() string { return x.id }

// Attach keeps what the stages want to know about a request after it has failed, when [Msg].Val is gone. It must not be
// called in the pool or after it: a worker that was left behind would race with what follows.
func (x *Exchange) Attach(v any) { x.attached = v }

// Attached returns what Attach was given, or nil.
func (x *Exchange) Attached() any { return x.attached }

// Started returns when the message was submitted.
func (x *Exchange) Started() time.Time { return x.start }

// Unary tells whether the client takes the response alone, so that there is no use in making a message for Offer.
func (x *Exchange) Unary() bool { return x.unary }

// Send delivers a message before the response, also to a unary client. It is false after the end, after a cancellation, and when the transport
// did not take the message.
func (x *Exchange) Send(s seal.Sealed) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.ended && x.ctx.Err() == nil && x.sink.Send(s)
}

// Offer delivers a message before the response unless that would have to wait, or the client takes none.
func (x *Exchange) Offer(s seal.Sealed) bool {
	if x.unary || !x.mu.TryLock() { // a Send is waiting, or the end has come
		return false
	}
	defer x.mu.Unlock()
	return !x.ended && x.ctx.Err() == nil && x.sink.Offer(s)
}

// End answers the request with s, or with nothing when s is nil or empty or the request was cancelled. Only the first
// call has an effect; it tells whether a response was delivered. [Drain] calls it for every message.
func (x *Exchange) End(s *seal.Sealed) bool {
	x.mu.Lock()
	if x.ended {
		x.mu.Unlock()
		return false
	}
	x.ended = true
	x.mu.Unlock()

	answer := s != nil && !s.IsZero() && !errors.Is(x.cause(), ErrCancelled)
	x.peer.remove(x) // before the response, which allows the client to use the id again
	// Deferred, so that a Sink that panics costs no credit.
	defer x.line.leave(x)
	defer x.cancel(nil)
	if answer {
		x.sink.Finish(*s)
	} else {
		x.sink.Drop()
	}
	return answer
}

// cause returns why the request has to stop, nil while it need not. A context that ended without a reason belongs to a
// client that went away.
func (x *Exchange) cause() error {
	if x.ctx.Err() == nil {
		return nil
	}
	switch err := context.Cause(x.ctx); err {
	case context.Canceled:
		return ErrCancelled
	default:
		return err
	}
}

// Peer is a connection over which one message can cancel another: it knows the requests of that connection which are
// still unanswered. The zero value is ready; a nil Peer knows none.
type Peer struct {
	mu   sync.Mutex
	byID map[string]*Exchange // the head of a list: a client may, wrongly, use an id twice
}

// Cancel ends the context of every unanswered request with this id and returns how many there were. None of them gets a
// response unless its response is already being delivered. It never waits.
func (p *Peer) Cancel(id string) int {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for x := p.byID[id]; x != nil; x = x.next {
		x.cancel(ErrCancelled)
		n++
	}
	return n
}

func (p *Peer) add(x *Exchange) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = make(map[string]*Exchange)
	}
	x.next = p.byID[x.id]
	p.byID[x.id] = x
}

// remove does nothing for an exchange that never began.
func (p *Peer) remove(x *Exchange) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	head, ok := p.byID[x.id]
	if !ok {
		return
	}
	if head == x {
		if x.next == nil {
			delete(p.byID, x.id)
		} else {
			p.byID[x.id] = x.next
		}
		x.next = nil
		return
	}
	for y := head; y.next != nil; y = y.next {
		if y.next == x {
			y.next, x.next = x.next, nil
			return
		}
	}
}
