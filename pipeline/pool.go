package pipeline

import (
	"errors"
	"sync"
	"time"

	"github.com/alitto/pond/v2"
)

// ConnectPool is [Connect] with the workers of a pool, which must not block when its queue is full; [Pool] makes one. A
// message that finds neither worker nor place fails with ErrBusy, so what is behind it never waits. A stage that is a
// [Sorter] handles its quick messages without the pool. The order of messages is not kept.
//
// The line uses nothing of the pool but Go and Resize. It waits for its own tasks when it closes and does not stop the
// pool, which may be shared.
func ConnectPool[In, Out any](l *Line, in <-chan Msg[In], s Stage[In, Out], p pond.Pool) <-chan Msg[Out] {
	if !p.NonBlocking() {
		panic("pipeline: the pool of " + s.Name() + " blocks when it is full, and the line with it")
	}
	pl := &pooled[In, Out]{step: newStep(l, s), pool: p, out: make(chan Msg[Out], l.capacity)}
	pl.sorter, _ = s.(Sorter[In])
	pl.watch = newWatchdog(l, p)
	hire(l, 1, in, crew[In]{
		handle: pl.dispatch,
		rescue: func(m Msg[In]) {
			r, e := pl.fail(m.X, newPanic(pl.name, nil), Panicked)
			l.observe(e)
			pl.out <- r
		},
		lose: func(m Msg[In]) { pl.out <- Msg[Out]{X: m.X, Err: newPanic(pl.name, nil)} },
		finish: func() {
			pl.tasks.Wait()
			close(pl.watch.quit)
			close(pl.out)
		},
	})
	return pl.out
}

type pooled[In, Out any] struct {
	*step[In, Out]
	sorter Sorter[In] // nil when the stage is none
	pool   pond.Pool
	watch  *watchdog
	out    chan Msg[Out]
	tasks  sync.WaitGroup // those that still owe a message to out
}

func (p *pooled[In, Out]) dispatch(m Msg[In]) {
	if m.Err == nil && !m.settled {
		m.Err = m.X.cause()
	}
	quick := m.Err != nil
	if !quick && p.sorter != nil {
		var err error
		if quick, err = p.quick(m.Val); err != nil {
			p.refuse(m.X, err, Panicked)
			return
		}
	}
	switch {
	case quick:
		r, e := p.run(m, 0)
		p.l.observe(e)
		p.out <- r
		return
	case p.l.reserved(m.X):
		p.refuse(m.X, ErrBusy, Busy)
		return
	}

	t := &task[In, Out]{p: p, m: m, queued: time.Now()}
	t.job.x = m.X
	t.job.owner = t
	p.tasks.Add(1)
	p.watch.add(&t.job, t.queued)
	err := p.pool.Go(t.work)
	if err == nil {
		return
	}
	// The pool has not taken the task, but the watchdog may have given it up already.
	if t.job.state.CompareAndSwap(queued, answered) {
		p.watch.remove(&t.job)
		p.tasks.Done()
		if errors.Is(err, pond.ErrQueueFull) {
			p.refuse(m.X, ErrBusy, Busy)
		} else { // the pool has been stopped
			p.refuse(m.X, ErrShutdown, Failed)
		}
	}
}

func (p *pooled[In, Out]) refuse(x *Exchange, err error, o Outcome) {
	r, e := p.fail(x, err, o)
	p.l.observe(e)
	p.out <- r
}

func (p *pooled[In, Out]) quick(in In) (q bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(p.name, v)
		}
	}()
	return p.sorter.Quick(in), nil
}

// task is one message on its way through the pool. Whoever moves job.state to answered or abandoned, and nobody else,
// passes the message on.
type task[In, Out any] struct {
	job    job
	p      *pooled[In, Out]
	m      Msg[In]
	queued time.Time
}

// work runs on a goroutine of the pool, which would count a panic and lose it, and which replaces a goroutine that ends.
func (t *task[In, Out]) work() {
	if !t.job.state.CompareAndSwap(queued, running) {
		return // given up in the queue
	}
	held := true
	defer func() {
		if held {
			t.settle(Msg[Out]{X: t.m.X, Err: newPanic(t.p.name, nil)}, Event{})
		}
	}()
	defer func() {
		if held {
			r, e := t.p.fail(t.m.X, newPanic(t.p.name, nil), Panicked)
			held = false
			t.settle(r, e)
		}
	}()
	var wait time.Duration
	if t.p.l.options.Observe != nil {
		wait = time.Since(t.queued)
	}
	r, e := t.p.run(t.m, wait)
	held = false
	t.settle(r, e)
}

func (t *task[In, Out]) settle(r Msg[Out], e Event) {
	if !t.job.state.CompareAndSwap(running, answered) {
		t.p.watch.returned(&t.job)
		return
	}
	t.p.watch.remove(&t.job)
	defer t.p.tasks.Done()
	defer func() { t.p.out <- r }() // deferred, because an observer might end the goroutine
	t.p.l.observe(e)
}

// giveUp fails the message of a worker that does not return, or of a task that is still queued. The Rescuer of this very
// stage is not asked: that would be foreign code on the watchdog's goroutine.
func (t *task[In, Out]) giveUp(cause error) {
	t.p.out <- Msg[Out]{X: t.m.X, Err: cause}
	t.p.tasks.Done()
	t.p.l.observe(Event{
		Stage: t.p.name, X: t.m.X, Outcome: Abandoned, Err: cause,
		Took: t.p.l.since(t.queued),
	})
}
