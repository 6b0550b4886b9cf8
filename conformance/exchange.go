package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// MaxAnswer is the number of bytes after which an answer is cut.
const MaxAnswer = 16 << 20

// What can keep an exchange from ending with an answer.
var (
	errTimeout  = errors.New("no answer in time")
	errTooLarge = fmt.Errorf("the answer was cut at %d MiB", MaxAnswer>>20)
	errGone     = errors.New("the server closed the connection")
	errHungUp   = errors.New("the client went away, on purpose")
	errCut      = errors.New("the stream ended without a response")
)

// field is one header line.
type field struct{ name, value string }

// exchange is one message sent, and everything that came back for it.
type exchange struct {
	request *request
	id      string // as sent, JSON; "" when there is none that an answer could repeat
	sent    []byte
	method  string // HTTP method and target, "" on other transports
	fields  []field
	pv      string // the revision that the message names

	givenUp  bool // the client takes no interest in the answer any more
	ledger   *ledger
	patience time.Duration // for its answer
	due      time.Duration // of a message without an id that has to be answered: for that answer

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	got      []*message
	late     []*message // after the response
	answered bool
	ended    bool // nothing more can come
	err      error
	status   int
	header   http.Header
	size     int    // of the body of an HTTP answer that is no stream
	body     []byte // as much of it as a report shows
	sse      bool
	events   []string // SSE lines that this revision has no use for
	stop     func()   // gives up; on HTTP by closing the connection
}

func newExchange(r *request, id string, l *ledger) *exchange {
	return &exchange{request: r, id: id, ledger: l, changed: make(chan struct{}), stop: func() {}}
}

// update changes an exchange and wakes whoever waits for it.
func (e *exchange) update(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	close(e.changed)
	e.changed = make(chan struct{})
}

// add takes a message in.
func (e *exchange) add(m *message) {
	if !e.ledger.take(m) {
		e.end(errFull)
		return
	}
	e.update(func() {
		if e.answered {
			e.late = append(e.late, m)
			return
		}
		e.got = append(e.got, m)
		e.answered = m.isResponse()
	})
}

// end says that nothing more will come, and why.
func (e *exchange) end(err error) {
	e.update(func() {
		if e.ended {
			return
		}
		e.ended = true
		if !e.answered {
			e.err = err
		}
	})
}

// await blocks until ready, the end, or the end of ctx; it tells whether ready
// was reached.
func (e *exchange) await(ctx context.Context, ready func() bool) bool {
	for {
		e.mu.Lock()
		ok, ended, changed := ready(), e.ended, e.changed
		e.mu.Unlock()
		if ok || ended {
			return ok
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// within waits for a response and draws no conclusion if there is none yet.
func (e *exchange) within(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e.await(ctx, func() bool { return e.answered })
}

// over tells whether there is nothing to wait for any more.
func (e *exchange) over() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answered || e.ended
}

// awaitEither blocks until one of two exchanges is over.
func awaitEither(ctx context.Context, a, b *exchange) {
	for {
		a.mu.Lock()
		over, changedA := a.answered || a.ended, a.changed
		a.mu.Unlock()
		b.mu.Lock()
		over, changedB := over || b.answered || b.ended, b.changed
		b.mu.Unlock()
		if over {
			return
		}
		select {
		case <-changedA:
		case <-changedB:
		case <-ctx.Done():
			return
		}
	}
}

// wait blocks until there is a response or can be none any more.
func (e *exchange) wait(ctx context.Context, limit time.Duration) {
	e.within(ctx, limit)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.answered && !e.ended && e.err == nil {
		e.err = errTimeout
	}
}

// waitEnd blocks until nothing more can come, and tells whether that was so.
func (e *exchange) waitEnd(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e.await(ctx, func() bool { return e.ended })
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended
}

// messages returns what came, in order.
func (e *exchange) messages() []*message {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append(append([]*message(nil), e.got...), e.late...)
}

func (e *exchange) lateOnes() []*message {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*message(nil), e.late...)
}

// response returns the response, nil when there was none.
func (e *exchange) response() *message {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.answered {
		return nil
	}
	return e.got[len(e.got)-1]
}

// result returns the result object, nil when there is none.
func (e *exchange) result() *value {
	if m := e.response(); m != nil && m.v.at("result").is('{') {
		return m.v.at("result")
	}
	return nil
}

// code returns the code of the error response, 0 when there is none.
func (e *exchange) code() int64 {
	if m := e.response(); m != nil {
		return m.code()
	}
	return 0
}

// unauthorized tells whether credentials are missing: those that were sent, if
// any, are not enough.
func (e *exchange) unauthorized() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status == http.StatusUnauthorized || e.status == http.StatusForbidden && e.header.Get("WWW-Authenticate") != ""
}

func (e *exchange) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// saw describes what came back, in a few words that are the same every time.
func (e *exchange) saw() string {
	m := e.response()
	e.mu.Lock()
	defer e.mu.Unlock()
	http := ""
	if e.status != 0 {
		http = fmt.Sprintf("HTTP %d, ", e.status)
	}
	switch {
	case m != nil && m.v.at("error") != nil:
		if _, ok := m.v.at("error", "code").integer(); ok {
			return fmt.Sprintf("%serror %d", http, m.code())
		}
		return http + "an error without a code"
	case m != nil:
		if m.v.at("result", "isError").is('t') {
			return http + "a result with isError"
		}
		return http + "a result"
	case e.status != 0 && e.err == nil:
		return fmt.Sprintf("HTTP %d without a JSON-RPC message", e.status)
	case e.err != nil:
		return http + e.err.Error()
	}
	return http + "nothing"
}
