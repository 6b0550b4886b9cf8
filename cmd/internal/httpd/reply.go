package httpd

import (
	"bytes"
	"errors"
	"net/http"
	"sync"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
)

// Messages that wait for the handler to write them. Offer takes up to the first, Send up to the second: neither may
// wait, for one slow client would hold up the whole line.
const maxOffered, maxSent = 16, 64

// reply is the Sink of one request. The line puts messages in; the handler takes them out and writes them.
type reply struct {
	wake    chan struct{} // one place: there is something to take
	forms   forms
	release func() // gives back the memory of the request; called at the end

	mu    sync.Mutex
	notes []seal.Sealed
	final seal.Sealed
	over  bool // the end has come; final may still be empty
}

var _ pipeline.Sink = (*reply)(nil)

func (p *reply) put(m seal.Sealed, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || len(p.notes) >= limit {
		return false
	}
	p.notes = append(p.notes, m)
	p.poke()
	return true
}

func (p *reply) end(m seal.Sealed) {
	p.release()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.final, p.over = m, true
	p.poke()
}

func (p *reply) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Send makes the answer a stream even for a client that asked for JSON alone: there is no other way to put a message
// before the response. The line offers such a client nothing.
func (p *reply) Send(m seal.Sealed) bool  { return p.put(m, maxSent) }
func (p *reply) Offer(m seal.Sealed) bool { return p.put(m, maxOffered) }

func (p *reply) Finish(m seal.Sealed) { p.end(m) }
func (p *reply) Drop()                { p.end(seal.Sealed{}) }

func (p *reply) take() (notes []seal.Sealed, final seal.Sealed, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes, p.notes = p.notes, nil
	return notes, p.final, p.over
}

// respond writes what comes out of the line until the end of the request. It does not return when the client has gone:
// then there is nobody to answer, and the connection is given up.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, p *reply) {
	out := &stream{w: w, rc: http.NewResponseController(w), timeout: s.options.WriteTimeout}
	var tick <-chan time.Time
	if !p.forms.json {
		tick = out.keepAlive(s.options.KeepAlive)
	}
	defer out.stop()
	gone := r.Context().Done()
	for {
		select {
		case <-p.wake:
		case <-tick:
			out.write(http.StatusOK, []byte(":\n\n"))
			tick = out.keepAlive(s.options.KeepAlive)
			continue
		case <-gone:
			if s.stopping() { // the line will answer, and say why
				gone = nil
				continue
			}
			panic(http.ErrAbortHandler)
		}
		notes, final, over := p.take()
		for _, m := range notes {
			out.event(http.StatusOK, m)
		}
		switch {
		case over && final.IsZero():
			if r.Context().Err() != nil { // cancelled, not a notification
				panic(http.ErrAbortHandler)
			}
			if !out.begun {
				out.deadline()
				w.WriteHeader(http.StatusAccepted)
			}
			return
		case over && !out.begun && p.forms.json:
			out.deadline()
			timing(w, final)
			writeJSON(w, final.Status(), final.Bytes())
			return
		case over:
			if !out.begun {
				timing(w, final)
			}
			out.event(final.Status(), final)
			return
		case out.begun:
			tick = out.keepAlive(s.options.KeepAlive)
		}
	}
}

// timing tells the times of an answer, where they are wanted, to clients that get it whole: the headers of a stream have
// gone before.
func timing(w http.ResponseWriter, m seal.Sealed) {
	if t := m.Timing(); t != "" {
		w.Header().Set("Server-Timing", t)
	}
}

// stream writes server-sent events: without ids, because nothing can be resumed.
type stream struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	begun   bool
	timer   *time.Timer
	buf     []byte
}

func (o *stream) event(status int, m seal.Sealed) {
	o.buf = append(o.buf[:0], "event: message\ndata: "...)
	// A sealed message is one line. If it were not, each of its lines would have to be a data line of its own.
	o.buf = append(o.buf, bytes.ReplaceAll(m.Bytes(), []byte("\n"), []byte("\ndata: "))...)
	o.write(status, append(o.buf, "\n\n"...))
}

func (o *stream) write(status int, b []byte) {
	if !o.begun {
		o.begun = true
		h := o.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no") // proxies must pass each event on at once
		o.w.WriteHeader(status)
	}
	o.deadline()
	_, err := o.w.Write(b)
	if err == nil {
		err = o.rc.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		panic(http.ErrAbortHandler) // which also cancels the request
	}
}

// deadline gives one write its time. It is not supported by every ResponseWriter of a test.
func (o *stream) deadline() { _ = o.rc.SetWriteDeadline(time.Now().Add(o.timeout)) }

func (o *stream) keepAlive(d time.Duration) <-chan time.Time {
	if o.timer == nil {
		o.timer = time.NewTimer(d)
	} else {
		o.timer.Reset(d)
	}
	return o.timer.C
}

func (o *stream) stop() {
	if o.timer != nil {
		o.timer.Stop()
	}
}
