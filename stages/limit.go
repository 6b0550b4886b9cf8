package stages

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate bounds calls of tools over time. The zero value sets no bound.
type Rate struct {
	PerSecond float64 // calls per second and client; 0 turns the limit off
	Burst     int     // calls at once
}

// Limits on the limiter itself: how many clients it tells apart, and how many times the rate of one all of them share.
const (
	maxClients = 4096
	shared     = 8
)

// limiter holds one token bucket per client and one for all of them. Clients without a name (stdio) share one bucket.
type limiter struct {
	rate  Rate
	all   *rate.Limiter
	mu    sync.Mutex
	byKey map[string]*list.Element // of *bucket
	used  *list.List               // most recently used first
}

type bucket struct {
	key string
	*rate.Limiter
}

// newLimiter returns nil, which admits everything, when r sets no bound.
func newLimiter(r Rate) *limiter {
	if r.PerSecond <= 0 {
		return nil
	}
	r.Burst = max(r.Burst, 1)
	return &limiter{
		rate:  r,
		all:   rate.NewLimiter(rate.Limit(r.PerSecond*shared), r.Burst*shared),
		byKey: map[string]*list.Element{}, used: list.New(),
	}
}

// admit takes one call of a client, or returns how long it is to wait. A refused call takes nothing.
func (l *limiter) admit(client string, now time.Time) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	own, wait, ok := take(l.of(client), now)
	if !ok || client == "" {
		return wait, ok
	}
	if _, wait, ok = take(l.all, now); !ok {
		own.CancelAt(now) // what others use up costs this client nothing
	}
	return wait, ok
}

func take(b *rate.Limiter, now time.Time) (*rate.Reservation, time.Duration, bool) {
	r := b.ReserveN(now, 1)
	if wait := r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return nil, wait, false
	}
	return r, 0, true
}

// of returns the bucket of a client. The client that was quiet longest is forgotten when there are too many; it comes back with a
// full bucket, and the shared one bounds what many names can gain by that.
func (l *limiter) of(client string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byKey[client]; e != nil {
		l.used.MoveToFront(e)
		return e.Value.(*bucket).Limiter
	}
	if l.used.Len() >= maxClients {
		oldest := l.used.Back()
		delete(l.byKey, l.used.Remove(oldest).(*bucket).key)
	}
	b := &bucket{client, rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)}
	l.byKey[client] = l.used.PushFront(b)
	return b.Limiter
}
