package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
)

// The states of a job.
const (
	queued uint32 = iota
	running
	answered
	abandoned
)

// job is a task as the watchdog sees it.
type job struct {
	x     *Exchange
	owner interface{ giveUp(cause error) }
	state atomic.Uint32

	// The rest belongs to the watchdog's mutex.
	due        time.Time // zero: no timeout
	ended      time.Time // when the context was found to have ended
	spare      bool      // a spare worker stands in for this one
	prev, next *job
}

// watchdog ends requests that take too long and gives up workers that do not return. It looks at its jobs four times a
// second while there are any, which costs a request two list operations and no timer of its own.
type watchdog struct {
	l    *Line
	pool pond.Pool
	wake chan struct{} // one place: look now
	quit chan struct{} // closed when there will be no more jobs

	mu          sync.Mutex
	first, last *job // in the order of due
	armed       bool // the goroutine will look again by itself
	spares      int
}

const watchPeriod = 250 * time.Millisecond

func newWatchdog(l *Line, p pond.Pool) *watchdog {
	w := &watchdog{l: l, pool: p, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	l.watchdogs = append(l.watchdogs, w)
	l.group.Go(w.loop)
	return w
}

func (w *watchdog) loop() {
	for {
		select {
		case <-w.wake:
		case <-w.quit:
			return
		}
		for pause := w.look(); pause > 0; pause = w.look() {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-w.wake:
			case <-w.quit:
				timer.Stop()
				return
			}
			timer.Stop()
		}
	}
}

func (w *watchdog) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// look handles the jobs whose time has come and returns when to look again, 0 when there is nothing left to look at.
func (w *watchdog) look() time.Duration {
	now := time.Now()
	patience := w.l.patience()
	pause := watchPeriod
	later := func(t time.Time) { pause = min(pause, max(t.Sub(now), time.Millisecond)) }

	w.mu.Lock()
	defer w.mu.Unlock()
	for j, next := w.first, (*job)(nil); j != nil; j = next {
		next = j.next
		if !j.due.IsZero() && j.ended.IsZero() {
			if now.Before(j.due) {
				later(j.due)
			} else {
				j.x.cancel(ErrTimeout)
			}
		}
		cause := j.x.cause()
		if cause == nil {
			continue
		}
		if j.ended.IsZero() {
			j.ended = now
		}
		if j.state.CompareAndSwap(queued, abandoned) {
			w.unlink(j)
			j.owner.giveUp(cause)
			continue
		}
		if limit := j.ended.Add(patience); now.Before(limit) {
			later(limit)
			continue
		}
		if j.state.CompareAndSwap(running, abandoned) {
			w.unlink(j)
			w.l.stuck.Add(1)
			if w.spares < w.l.options.Spares {
				w.spares++
				j.spare = true
				w.pool.Resize(w.pool.MaxConcurrency() + 1)
			}
			j.owner.giveUp(cause)
		}
	}
	w.armed = w.first != nil
	if !w.armed {
		return 0
	}
	return pause
}

func (w *watchdog) add(j *job, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.l.options.Timeout > 0 {
		j.due = now.Add(w.l.options.Timeout)
	}
	if j.prev = w.last; w.last == nil {
		w.first = j
	} else {
		w.last.next = j
	}
	w.last = j
	if !w.armed {
		w.armed = true
		w.poke()
	}
}

func (w *watchdog) remove(j *job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(j)
}

func (w *watchdog) unlink(j *job) {
	if j.prev == nil {
		w.first = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next == nil {
		w.last = j.prev
	} else {
		j.next.prev = j.prev
	}
	j.prev, j.next = nil, nil
}

// returned is called by a worker that had been given up.
func (w *watchdog) returned(j *job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.l.stuck.Add(-1)
	if j.spare {
		w.spares--
		w.pool.Resize(w.pool.MaxConcurrency() - 1)
	}
}
