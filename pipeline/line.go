package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/sourcegraph/conc"
)

// Options are the bounds of a line. Zero values are replaced by the defaults named here.
type Options struct {
	// InFlight is the number of credits: the requests that may be in the line at once. It should be the pool's workers
	// and queue and some more, so that the pool fills before the credits end. Default 104.
	InFlight int
	// Reserve is the number of further credits with which a request passes every stage but the pool's workers: it is
	// answered when it is quick, and ErrBusy when it is not. Default 16.
	Reserve int
	// Timeout bounds the time in the pool, queue included. Default: none.
	Timeout time.Duration
	// Patience is the time that a worker gets to return after the context of its request has ended. Default 5 s, and
	// never more than 500 ms once the line has been closed hard.
	Patience time.Duration
	// Spares is the number of workers that may stand in for workers left behind. Default 8.
	Spares int
	// Observe is called for every stage that a request runs through, concurrently, on the goroutine of the stage. It
	// must be quick.
	Observe func(Event)
}

const hardPatience = 500 * time.Millisecond

func (o Options) withDefaults() Options {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&o.InFlight, 8+64+32)
	set(&o.Reserve, 16)
	set(&o.Spares, 8)
	if o.Patience <= 0 {
		o.Patience = 5 * time.Second
	}
	return o
}

// Line is a row of connected stages. Connect everything, Drain last, before the first Submit.
type Line struct {
	options Options
	// capacity is that of every channel: one place for every credit, so that no send can block.
	capacity int

	// A credit is an index into slots. Those from InFlight on are the reserve.
	credits, reserve chan int32
	slots            []atomic.Pointer[Exchange]

	gate   sync.RWMutex // Submit and Close are the only users of intake
	shut   bool
	intake chan Msg[Inbound]

	group     conc.WaitGroup // owns every goroutine of the line; those of the pool are the pool's
	watchdogs []*watchdog
	stuck     atomic.Int64

	closeOnce     sync.Once
	closing       chan struct{} // closed when Close begins
	done          chan struct{} // closed when every goroutine has ended
	hardOnce      sync.Once
	hard          atomic.Bool
	cut           int // requests in flight when the line was closed hard; written before done is closed
	plumbingPanic atomic.Pointer[PanicError]
	observerPanic atomic.Pointer[PanicError]
}

// New makes a line without stages and the channel that the first of them reads.
func New(o Options) (*Line, <-chan Msg[Inbound]) {
	o = o.withDefaults()
	n := o.InFlight + o.Reserve
	l := &Line{
		options:  o,
		capacity: n,
		credits:  make(chan int32, o.InFlight),
		reserve:  make(chan int32, o.Reserve),
		slots:    make([]atomic.Pointer[Exchange], n),
		intake:   make(chan Msg[Inbound], n),
		closing:  make(chan struct{}),
		done:     make(chan struct{}),
	}
	for i := range n {
		l.release(int32(i))
	}
	return l, l.intake
}

// Pool makes a pool as [ConnectPool] needs it: at most workers tasks at once, at most queue waiting, and a full queue
// refuses. It starts nothing, and an idle pool holds no goroutine, so it needs no stop.
func Pool(workers, queue int) pond.Pool {
	return pond.NewPool(workers, pond.WithQueueSize(queue), pond.WithNonBlocking(true))
}

// Submit puts a message on the line. When it returns nil, s will get exactly one Finish or Drop; when it returns an
// error, s is not touched: ErrClosed, or why ctx ended.
//
// The request is cancelled when ctx ends. Submit does not wait for workers, only, until ctx ends, for a credit when even
// the reserve is spent: that is when responses are not being taken away.
func (l *Line) Submit(ctx context.Context, in Inbound, s Sink) error {
	slot, err := l.admit(ctx)
	if err != nil {
		return err
	}
	x := &Exchange{line: l, sink: s, slot: slot, unary: in.Unary, start: time.Now(), peer: in.Peer}

	l.gate.RLock()
	defer l.gate.RUnlock()
	if l.shut {
		l.release(slot)
		return ErrClosed
	}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	l.slots[slot].Store(x)
	l.intake <- Msg[Inbound]{X: x, Val: in}
	return nil
}

// admit takes a credit.
func (l *Line) admit(ctx context.Context) (int32, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	select {
	case slot := <-l.credits:
		return slot, nil
	default:
	}
	select {
	case slot := <-l.reserve:
		return slot, nil
	default:
	}
	select {
	case slot := <-l.credits:
		return slot, nil
	case slot := <-l.reserve:
		return slot, nil
	case <-l.closing:
		return 0, ErrClosed
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (l *Line) reserved(x *Exchange) bool { return int(x.slot) >= l.options.InFlight }

func (l *Line) leave(x *Exchange) {
	l.slots[x.slot].Store(nil)
	l.release(x.slot)
}

func (l *Line) release(slot int32) {
	if int(slot) < l.options.InFlight {
		l.credits <- slot
	} else {
		l.reserve <- slot
	}
}

// InFlight returns the number of requests in the line.
func (l *Line) InFlight() int { return l.capacity - len(l.credits) - len(l.reserve) }

// Stuck returns the number of workers that did not return in time and still have not. A healthy line has none.
func (l *Line) Stuck() int { return int(l.stuck.Load()) }

// Close ends the line; it may be called more than once and from several goroutines. It works in two steps:
//
//  1. Nothing more is taken in, and what is in flight is answered.
//  2. When ctx ends first, every request left is cancelled with ErrShutdown, and Close waits on: for the stages to
//     return, and for Patience, by now at most 500 ms, for workers that do not.
//
// The error is nil when the first step was enough. It wraps ErrShutdown when it was not, and a *PanicError when the line
// itself or its observer panicked.
func (l *Line) Close(ctx context.Context) error {
	l.closeOnce.Do(func() {
		close(l.closing)
		l.gate.Lock()
		l.shut = true
		close(l.intake) // closing cascades from stage to stage
		l.gate.Unlock()
		go func() {
			if r := l.group.WaitAndRecover(); r != nil {
				l.plumbingPanic.Store(&PanicError{Stage: "the line", Value: r.Value, Stack: r.Stack})
			}
			close(l.done)
		}()
	})
	select {
	case <-l.done:
	case <-ctx.Done():
		l.hardOnce.Do(l.cutShort)
		<-l.done
	}
	var errs []error
	if l.cut > 0 {
		errs = append(errs, fmt.Errorf("%w with %d requests in flight", ErrShutdown, l.cut))
	}
	for _, p := range []*PanicError{l.plumbingPanic.Load(), l.observerPanic.Load()} {
		if p != nil {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

func (l *Line) cutShort() {
	l.hard.Store(true)
	for i := range l.slots {
		if x := l.slots[i].Load(); x != nil {
			x.cancel(ErrShutdown)
			l.cut++
		}
	}
	for _, w := range l.watchdogs {
		w.poke()
	}
}

func (l *Line) patience() time.Duration {
	if l.hard.Load() {
		return min(l.options.Patience, hardPatience)
	}
	return l.options.Patience
}
