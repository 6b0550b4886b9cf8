// Package stdio serves one client over a pair of byte streams, one message a line.
//
// # How to start
//
//	err := stdio.Serve(ctx, line, os.Stdin, os.Stdout, stdio.Options{MaxLine: 1 << 20})
//	line.Close(ctx)
//
// # What it promises
//
//   - Only messages of the line reach the output. Each is one Write with its newline, so none is ever torn or mixed.
//   - Memory is bounded whatever the client does: a line over MaxLine is skipped, not kept, and answered as a fault;
//     reading stops while the client does not read its answers.
//   - The end of the input, or of ctx, leaves the requests in flight Grace to be answered, then cancels them. A client
//     that has stopped reading cannot delay Serve beyond that.
//   - Carriage returns before a newline, blank lines, a byte order mark at the start, and a last line without a newline
//     are all taken.
//
// # Limits
//
// A Read or Write that blocks cannot be interrupted: when ctx ends before the input does, or when the client reads no
// more, a goroutine stays behind in that call until the stream is closed or the process ends. A process whose standard
// output breaks is killed by SIGPIPE unless it ignores that signal; Serve does not touch signals.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
)

// Options bound a connection. Zero values are replaced by the defaults named here.
type Options struct {
	MaxLine int           // bytes of one message from the client, newline excluded; default 1 MiB
	Queue   int           // messages waiting for the client to read; default 64
	Grace   time.Duration // for answers after the end of the input; default 4 s
}

// maxMessage is what known clients take as one line before they disconnect. Answers stay far below it, because their
// size has a budget; a message beyond it is a fault of this program.
const maxMessage = 10 << 20

// lastCall is the time that cancelled requests get to come back, and that their answers get to be written.
const lastCall = 500 * time.Millisecond

func (o Options) withDefaults() Options {
	if o.MaxLine <= 0 {
		o.MaxLine = 1 << 20
	}
	if o.Queue <= 0 {
		o.Queue = 64
	}
	if o.Grace <= 0 {
		o.Grace = 4 * time.Second
	}
	return o
}

// Serve submits every line of in to l and writes what comes back to out, until in or ctx ends, out breaks, or l is
// closed. The error is nil for each of these ends; it tells of a read or write that failed for another reason. Serve
// does not close l.
func Serve(ctx context.Context, l *pipeline.Line, in io.Reader, out io.Writer, o Options) error {
	o = o.withDefaults()
	s := &server{
		queue:   make(chan seal.Sealed, o.Queue),
		broken:  make(chan struct{}),
		written: make(chan struct{}),
	}
	// The end of ctx begins an orderly end; it does not cancel the requests.
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(pipeline.ErrShutdown)

	go s.write(out)
	ended := make(chan error, 1)
	go func() { ended <- s.read(requests, l, newFramer(in, o.MaxLine)) }()

	var err error
	grace := o.Grace
	select {
	case err = <-ended:
	case <-ctx.Done():
	case <-s.broken: // nobody is there to be answered
		cancel(pipeline.ErrCancelled)
		grace = 0
	}
	s.finish(grace, func() { cancel(pipeline.ErrShutdown) })
	return errors.Join(err, s.failure())
}

// server is the connection, and the Sink of all its requests: they share the way back.
type server struct {
	queue   chan seal.Sealed
	written chan struct{} // closed when the writer has ended

	breakOnce sync.Once
	broken    chan struct{} // closed when nothing more will be written
	cause     error         // why; written before broken is closed

	mu       sync.Mutex
	closing  bool // no more requests
	inFlight sync.WaitGroup
}

var _ pipeline.Sink = (*server)(nil)

// read submits lines until the input ends.
func (s *server) read(ctx context.Context, l *pipeline.Line, f *framer) error {
	peer := new(pipeline.Peer)
	for {
		line, long, err := f.next()
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
				return nil
			}
			return fmt.Errorf("standard input: %w", err)
		}
		m := pipeline.Inbound{Raw: line, Peer: peer}
		if long {
			m.Fault = pipeline.FaultTooLong
		}
		if !s.enter() {
			return nil
		}
		if err := l.Submit(ctx, m, s); err != nil {
			s.inFlight.Done()
			return nil // the line or the connection is ending
		}
	}
}

func (s *server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.inFlight.Add(1)
	return true
}

// write is the only writer of out.
func (s *server) write(out io.Writer) {
	defer close(s.written)
	var buf []byte
	for {
		var m seal.Sealed
		select {
		case m = <-s.queue:
		case <-s.broken:
			return
		}
		if m.IsZero() { // the queue is closed
			return
		}
		if len(m.Bytes()) >= maxMessage {
			s.breakDown(fmt.Errorf("a message of %d bytes is more than a client takes", len(m.Bytes())))
			return
		}
		buf = append(append(buf[:0], m.Bytes()...), '\n')
		if _, err := out.Write(buf); err != nil {
			s.breakDown(err)
			return
		}
		if cap(buf) > 1<<20 {
			buf = nil
		}
	}
}

func (s *server) breakDown(err error) {
	s.breakOnce.Do(func() {
		s.cause = err
		close(s.broken)
	})
}

// failure returns why writing failed, unless it was because the client has gone.
func (s *server) failure() error {
	select {
	case <-s.broken:
	default:
		return nil
	}
	gone := []error{syscall.EPIPE, io.ErrClosedPipe, os.ErrClosed}
	for _, e := range gone {
		if errors.Is(s.cause, e) {
			return nil
		}
	}
	if s.cause == nil {
		return nil
	}
	return fmt.Errorf("standard output: %w", s.cause)
}

// finish waits for the requests in flight and for the writer. Each step is bounded, because a client that does not read
// holds up both.
func (s *server) finish(grace time.Duration, cancel func()) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		s.inFlight.Wait()
		close(idle)
	}()
	limit := time.Now().Add(grace)
	if !within(grace, idle) {
		cancel()
		if !within(lastCall, idle) {
			s.breakDown(nil) // from here on Finish returns at once
			return
		}
	}
	close(s.queue) // no request is left that could send
	if !within(max(lastCall, time.Until(limit)), s.written) {
		s.breakDown(nil)
	}
}

func within(d time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// Send waits for a place in the queue.
func (s *server) Send(m seal.Sealed) bool {
	select {
	case s.queue <- m:
		return true
	case <-s.broken:
		return false
	}
}

// Offer takes a place in the queue only if there is one.
func (s *server) Offer(m seal.Sealed) bool {
	select {
	case <-s.broken:
		return false
	default:
	}
	select {
	case s.queue <- m:
		return true
	default:
		return false
	}
}

// Finish waits like Send: that is what stops the reading when the client does not read.
func (s *server) Finish(m seal.Sealed) {
	s.Send(m)
	s.inFlight.Done()
}

// Drop writes nothing.
func (s *server) Drop() { s.inFlight.Done() }
