package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"mcp-devserver/pipeline/seal"
)

// What the plumbing costs: eight stages that do nothing, one answer, beside the ways to do it that were not chosen.
//
//	go test ./pipeline -run xxx -bench Plumbing -benchmem -count 8
//
// Wall time per request. With 64 in flight both cores work, so compare rows of one column only.

type nop[In, Out any] struct{ v Out }

func (nop[In, Out]) Name() string { return "nop" }
func (n nop[In, Out]) Do(context.Context, *Exchange, In) (Out, error) {
	return n.v, nil
}

type payload [3]string

// nopLine is the row of a real server, with a pool where it has one.
func nopLine(tb testing.TB, pool bool, observe func(Event)) *Line {
	l, in := New(Options{Observe: observe})
	p := Connect(l, in, nop[Inbound, payload]{}, 1)
	p = Connect(l, p, nop[payload, payload]{}, 1)
	p = Connect(l, p, nop[payload, payload]{}, 1)
	if pool {
		p = ConnectPool(l, p, nop[payload, payload]{}, Pool(8, 64))
	} else {
		p = Connect(l, p, nop[payload, payload]{}, 8)
	}
	p = Connect(l, p, nop[payload, payload]{}, 1)
	p = Connect(l, p, nop[payload, payload]{}, 1)
	out := Connect(l, p, nop[payload, seal.Sealed]{sealed(tb, "{}")}, 1)
	Drain(l, out, nil)
	tb.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return l
}

// rival is a way to take one request through eight steps and to wait for its answer.
type rival struct {
	name string
	make func(testing.TB) func()
}

var rivals = []rival{
	{"line", func(tb testing.TB) func() { return caller1(nopLine(tb, true, nil)) }},
	{"line-observed", func(tb testing.TB) func() {
		var n atomic.Int64
		return caller1(nopLine(tb, true, func(e Event) { n.Add(int64(e.Took)) }))
	}},
	{"line-without-pool", func(tb testing.TB) func() { return caller1(nopLine(tb, false, nil)) }},
	{"direct", func(tb testing.TB) func() { return direct }},
	{"goroutine-per-request", func(tb testing.TB) func() {
		slots := make(chan struct{}, 8)
		return func() {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				slots <- struct{}{}
				direct()
				<-slots
				close(done)
			}()
			<-done
			cancel()
			_ = ctx
		}
	}},
	{"bare-channels", bareChannels(64, false)},
	{"bare-unbuffered", bareChannels(0, false)},
	{"bare-select", bareChannels(64, true)},
}

func caller1(l *Line) func() {
	return func() {
		if _, ok, err := l.Call(context.Background(), Inbound{}); !ok || err != nil {
			panic("no answer")
		}
	}
}

//go:noinline
func step1(p payload) (payload, error) { return p, nil }

func direct() {
	var p payload
	for range 8 {
		p, _ = step1(p)
	}
}

// bareChannels is eight goroutines in a row without guards, errors, credits or a pool.
func bareChannels(depth int, selects bool) func(testing.TB) func() {
	type msg struct {
		v    payload
		done chan struct{}
	}
	return func(tb testing.TB) func() {
		first := make(chan msg, depth)
		stop := make(chan struct{})
		in := first
		var wg sync.WaitGroup
		for range 8 {
			from, to := in, make(chan msg, depth)
			wg.Go(func() {
				defer close(to)
				for {
					var m msg
					var ok bool
					if selects {
						select {
						case m, ok = <-from:
						case <-stop:
						}
					} else {
						m, ok = <-from
					}
					if !ok {
						return
					}
					m.v, _ = step1(m.v)
					if selects {
						select {
						case to <- m:
						case <-stop:
						}
					} else {
						to <- m
					}
				}
			})
			in = to
		}
		wg.Go(func() {
			for m := range in {
				m.done <- struct{}{}
			}
		})
		tb.Cleanup(func() {
			close(first)
			wg.Wait()
		})
		return func() {
			m := msg{done: make(chan struct{}, 1)}
			first <- m
			<-m.done
		}
	}
}

func BenchmarkPlumbing(b *testing.B) {
	for _, r := range rivals {
		b.Run(r.name+"/1-in-flight", func(b *testing.B) {
			f := r.make(b)
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
		b.Run(r.name+"/64-in-flight", func(b *testing.B) {
			f := r.make(b)
			b.ReportAllocs()
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						f()
					}
				})
			}
			wg.Wait()
		})
	}
}

// The plumbing of a request allocates this much and no more.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, c := range []struct {
		name string
		pool bool
		want float64
	}{{"with the pool", true, 8}, {"without", false, 5}} {
		f := caller1(nopLine(t, c.pool, nil))
		if got := testing.AllocsPerRun(1000, f); got > c.want {
			t.Errorf("%s: %v allocations, want at most %v", c.name, got, c.want)
		}
	}
}
