package pipeline

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"mcp-devserver/pipeline/seal"
)

// Connect puts a stage behind in, with so many workers, and returns the channel that the next stage reads. It is a
// function because a Go method cannot have type parameters of its own.
func Connect[In, Out any](l *Line, in <-chan Msg[In], s Stage[In, Out], workers int) <-chan Msg[Out] {
	if workers < 1 {
		panic("pipeline: Connect of " + s.Name() + " without workers")
	}
	st := newStep(l, s)
	out := make(chan Msg[Out], l.capacity)
	hire(l, workers, in, crew[In]{
		handle: func(m Msg[In]) {
			r, e := st.run(m, 0)
			l.observe(e)
			out <- r
		},
		rescue: func(m Msg[In]) {
			r, e := st.fail(m.X, newPanic(st.name, nil), Panicked)
			l.observe(e)
			out <- r
		},
		lose:   func(m Msg[In]) { out <- Msg[Out]{X: m.X, Err: newPanic(st.name, nil)} },
		finish: func() { close(out) },
	})
	return out
}

// Drain ends the line. It delivers what arrives; last renders the failures that no stage rescued, and returns nil for no
// response. ErrNoReply and ErrCancelled never reach it.
func Drain(l *Line, in <-chan Msg[seal.Sealed], last func(*Exchange, error) *seal.Sealed) {
	render := func(x *Exchange, err error) (s *seal.Sealed) {
		defer func() {
			if recover() != nil {
				s = nil
			}
		}()
		return last(x, err)
	}
	hire(l, 1, in, crew[seal.Sealed]{
		handle: func(m Msg[seal.Sealed]) {
			x, s := m.X, &m.Val
			switch {
			case m.Err == nil:
			case silent(m.Err):
				s = nil
			default:
				s = render(x, m.Err)
			}
			e := Event{Stage: StageEnd, X: x, Err: m.Err}
			if !x.End(s) {
				e.Outcome = Dropped
			}
			e.Took = l.since(x.start)
			l.observe(e)
		},
		rescue: func(m Msg[seal.Sealed]) { m.X.End(nil) },
		lose:   func(Msg[seal.Sealed]) {},
		finish: func() {},
	})
}

// crew is what the workers behind one channel do. Each of handle, rescue and lose passes its message on as its last act,
// or not at all.
type crew[In any] struct {
	handle func(Msg[In]) // guards every call of foreign code against panics
	rescue func(Msg[In]) // after handle did not return: the message fails
	lose   func(Msg[In]) // after rescue did not return either; calls no foreign code
	finish func()        // after the last worker
}

// hire starts workers. A goroutine that ends in the middle of a message, by runtime.Goexit in a stage or by a panic in
// the line itself, fails that message and is replaced.
func hire[In any](l *Line, workers int, in <-chan Msg[In], c crew[In]) {
	var left atomic.Int32
	left.Store(int32(workers))
	var work func()
	work = func() {
		var m Msg[In]
		held, clean := false, false
		defer func() {
			if !clean {
				l.group.Go(work)
			} else if left.Add(-1) == 0 {
				c.finish()
			}
		}()
		defer func() {
			if held {
				c.lose(m)
			}
		}()
		defer func() {
			if held {
				c.rescue(m)
				held = false
			}
		}()
		for m = range in {
			held = true
			c.handle(m)
			held = false
		}
		clean = true
	}
	for range workers {
		l.group.Go(work)
	}
}

// step is a stage with its guards.
type step[In, Out any] struct {
	l       *Line
	stage   Stage[In, Out]
	name    string
	rescuer Rescuer[Out] // nil when the stage is none
}

func newStep[In, Out any](l *Line, s Stage[In, Out]) *step[In, Out] {
	r, _ := s.(Rescuer[Out])
	return &step[In, Out]{l: l, stage: s, name: s.Name(), rescuer: r}
}

// run takes one message through the stage. The event is empty when the message only passed by.
func (s *step[In, Out]) run(m Msg[In], wait time.Duration) (Msg[Out], Event) {
	x := m.X
	if m.Err == nil && !m.settled {
		m.Err = x.cause()
	}
	if m.Err != nil {
		if s.rescuer == nil || silent(m.Err) {
			return Msg[Out]{X: x, Err: m.Err}, Event{}
		}
		return s.fail(x, m.Err, Failed)
	}

	begun := s.l.clock()
	out, err := s.do(x.usable(m.settled), x, m.Val)
	took := s.l.since(begun)
	if err != nil {
		outcome := Failed
		if _, ok := err.(*PanicError); ok {
			outcome = Panicked
		}
		r, e := s.fail(x, x.blame(err), outcome)
		e.Took += took
		e.Wait = wait
		return r, e
	}
	return Msg[Out]{X: x, Val: out, settled: m.settled || s.rescuer != nil},
		Event{Stage: s.name, X: x, Took: took, Wait: wait}
}

// fail makes a failed message, or a rescued one.
func (s *step[In, Out]) fail(x *Exchange, err error, o Outcome) (Msg[Out], Event) {
	e := Event{Stage: s.name, X: x, Outcome: o, Err: err}
	if s.rescuer != nil && !silent(err) {
		begun := s.l.clock()
		out, again := s.rescue(x.usable(true), x, err)
		e.Took = s.l.since(begun)
		if again == nil {
			e.Outcome = Rescued
			return Msg[Out]{X: x, Val: out, settled: true}, e
		}
		err = again
		e.Err = again
	}
	return Msg[Out]{X: x, Err: err}, e
}

func (s *step[In, Out]) do(ctx context.Context, x *Exchange, in In) (out Out, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(s.name, v)
		}
	}()
	return s.stage.Do(ctx, x, in)
}

func (s *step[In, Out]) rescue(ctx context.Context, x *Exchange, cause error) (out Out, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(s.name, v)
		}
	}()
	return s.rescuer.Rescue(ctx, x, cause)
}

// usable returns the context for a stage. A settled message is finished even if its own context has ended.
func (x *Exchange) usable(settled bool) context.Context {
	if settled && x.ctx.Err() != nil {
		return context.WithoutCancel(x.ctx)
	}
	return x.ctx
}

// blame replaces the bare report that a context ended by the reason why it did.
func (x *Exchange) blame(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if cause := x.cause(); cause != nil {
			return cause
		}
	}
	return err
}
