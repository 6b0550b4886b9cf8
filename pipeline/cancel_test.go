package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"mcp-devserver/pipeline/seal"
)

// When answer and cancellation cross there is one complete response or none, and the line is as before.
func TestCancelRacesTheAnswer(t *testing.T) {
	f := newFake(t, Options{Observe: func(Event) {}}, 8, 64)
	p := new(Peer)
	var answered, dropped int
	for i := range 1000 {
		id := strconv.Itoa(i)
		b := f.send(t, p, id+" send x")
		for range rand.IntN(2000) { // not time, just some work of differing length
			p.Cancel("none")
		}
		f.send(t, p, "- cancel "+id)
		switch got := b.answer(); got {
		case id + " before x|" + id + " offered x|" + id + " ok x":
			answered++
		case "", id + " before x", id + " before x|" + id + " offered x":
			dropped++
		default:
			t.Errorf("request %d: %q", i, got)
		}
	}
	t.Logf("%d answered, %d dropped", answered, dropped)
	if err := f.closeFake(t, time.Minute); err != nil {
		t.Error(err)
	}
	if len(p.byID) != 0 {
		t.Errorf("%d ids left with the peer", len(p.byID))
	}
}

func TestDuplicateIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 8, 64)
		p, other := new(Peer), new(Peer)
		first := f.send(t, p, "7 sleep 1s")
		second := f.send(t, p, "7 sleep 2s")
		if a, b := first.answer(), second.answer(); a != "7 ok 1s" || b != "7 ok 2s" {
			t.Errorf("served: %q %q", a, b)
		}
		var all []*box
		for _, d := range []string{"1s", "2s", "3s"} {
			all = append(all, f.send(t, p, "7 sleep "+d))
		}
		foreign := f.send(t, other, "7 sleep 4s")
		time.Sleep(1500 * time.Millisecond) // fake time: the first is answered, two are left
		f.send(t, p, "- cancel 7")
		synctest.Wait()
		want := []string{"7 ok 1s", "", ""}
		for i, b := range all {
			if !b.over() || b.answer() != want[i] {
				t.Errorf("duplicate %d: over %v, %q, want %q", i, b.over(), b.got, want[i])
			}
		}
		if got := foreign.answer(); got != "7 ok 4s" {
			t.Errorf("the same id of another peer: %q", got)
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
		if len(p.byID)+len(other.byID) != 0 {
			t.Error("ids left with a peer")
		}
	})
}

// The order in which duplicates end does not matter to the list that they form.
func TestPeerList(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}} {
		p := new(Peer)
		var all []*Exchange
		for range 3 {
			_, cancel := context.WithCancelCause(t.Context())
			x := &Exchange{cancel: cancel, peer: p}
			x.Begin("a")
			all = append(all, x)
		}
		stranger := &Exchange{id: "a", peer: p}
		for i, k := range order {
			p.remove(stranger)
			p.remove(all[k])
			p.remove(all[k])
			if n := p.Cancel("a"); n != 2-i {
				t.Errorf("order %v: %d left after %d", order, n, i+1)
			}
		}
	}
	var none *Peer
	if none.Cancel("a") != 0 {
		t.Error("a nil peer knows a request")
	}
}

func TestClientGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		b := newBox(t)
		if err := f.Submit(ctx, Inbound{Raw: []byte("1 sleep 1h")}, b); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if got := b.answer(); got != "" {
			t.Errorf("%q", got)
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
	})
}

func TestNothingAfterTheEnd(t *testing.T) {
	l, in := New(Options{})
	b := newBox(t)
	if err := l.Submit(t.Context(), Inbound{}, b); err != nil {
		t.Fatal(err)
	}
	x := (<-in).X
	if x.Started().IsZero() || x.Context().Err() != nil {
		t.Error("a fresh exchange without start or with an ended context")
	}
	s := sealed(t, "x")
	if !x.Offer(s) || !x.Send(s) || !x.End(&s) {
		t.Error("refused before the end")
	}
	if x.Send(s) || x.Offer(s) || x.End(&s) || x.End(nil) {
		t.Error("accepted after the end")
	}
	if x.Context().Err() == nil {
		t.Error("the context outlives the answer")
	}
	if got := b.answer(); got != "x|x|x" {
		t.Errorf("%q", got)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEmptySealIsNoResponse(t *testing.T) {
	l, in := New(Options{})
	b := newBox(t)
	if err := l.Submit(t.Context(), Inbound{}, b); err != nil {
		t.Fatal(err)
	}
	if (<-in).X.End(new(seal.Sealed)) {
		t.Error("an empty value was delivered")
	}
	if got := b.answer(); got != "" {
		t.Errorf("%q", got)
	}
}

// A Send that waits for its transport makes Offer give up at once, and the end wait.
func TestOfferNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, in := New(Options{})
		s := slowSink{newBox(t), make(chan struct{})}
		if err := l.Submit(t.Context(), Inbound{}, s); err != nil {
			t.Fatal(err)
		}
		x, v := (<-in).X, sealed(t, "x")
		sent, ended := make(chan bool), make(chan bool)
		go func() { sent <- x.Send(v) }()
		synctest.Wait()
		if x.Offer(v) {
			t.Error("Offer overtook a waiting Send")
		}
		go func() { ended <- x.End(&v) }() // the box complains if this comes first
		runtime.Gosched()
		if s.over() {
			t.Error("the end overtook a waiting Send")
		}
		close(s.tap)
		if !<-sent || !<-ended {
			t.Error("not delivered")
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{Timeout: 30 * time.Second}, 1, 4)
		begin := time.Now()
		running := f.send(t, nil, "1 sleep 1h")
		synctest.Wait()
		queued := f.send(t, nil, "2 sleep 1h")
		if a, b := running.answer(), queued.answer(); a != "1 error timeout" || b != "2 error timeout" {
			t.Errorf("%q %q", a, b)
		}
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("took %v", took)
		}
		if n := f.Stuck(); n != 0 {
			t.Errorf("%d workers stuck that returned in time", n)
		}
		if got := f.send(t, nil, "3 echo x").answer(); got != "3 ok x" {
			t.Errorf("%q", got)
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
	})
}

// A worker that never returns: its request is answered, it is counted, and a spare does its work.
func TestStuckWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{Timeout: 30 * time.Second, Patience: 5 * time.Second, Spares: 3}, 2, 8)
		hung := []*box{f.send(t, nil, "1 hang"), f.send(t, nil, "2 hang")}
		synctest.Wait()
		behind := f.send(t, nil, "3 sleep 2s")
		time.Sleep(29 * time.Second)
		if n := f.Stuck(); n != 0 {
			t.Errorf("%d stuck before their time", n)
		}
		if got := behind.answer(); got != "3 error timeout" {
			t.Errorf("behind stuck workers: %q", got)
		}
		for i, b := range hung {
			if got := b.answer(); got != strconv.Itoa(i+1)+" error timeout" {
				t.Errorf("hung request: %q", got)
			}
		}
		if n := f.Stuck(); n != 2 {
			t.Errorf("%d stuck, want 2", n)
		}
		if got := f.send(t, nil, "4 echo x").answer(); got != "4 ok x" {
			t.Errorf("on a spare: %q", got)
		}
		// Three more, for which there is one spare left: then the pool has no worker.
		more := []*box{f.send(t, nil, "5 hang"), f.send(t, nil, "6 hang")}
		for _, b := range more {
			b.answer()
		}
		last := f.send(t, nil, "7 hang")
		last.answer()
		if n := f.Stuck(); n != 5 {
			t.Errorf("%d stuck, want 5", n)
		}
		if n := f.pool.MaxConcurrency(); n != 5 {
			t.Errorf("the pool grew to %d, want 2 + 3 spares", n)
		}
		if got := f.send(t, nil, "8 echo x").answer(); got != "8 error timeout" {
			t.Errorf("without a worker: %q", got)
		}
		close(f.gate) // the disk answers
		synctest.Wait()
		if n, m := f.Stuck(), f.pool.MaxConcurrency(); n != 0 || m != 2 {
			t.Errorf("%d stuck, %d workers after they returned", n, m)
		}
		for _, id := range []string{"9", "10", "11"} {
			if got := f.send(t, nil, id+" echo x").answer(); got != id+" ok x" {
				t.Errorf("after they returned: %q", got)
			}
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
	})
}

// Close does not wait for a disk that never answers.
func TestCloseLeavesStuckWorkersBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{Spares: 1}, 2, 8)
		var all []*box
		for i := range 6 {
			all = append(all, f.send(t, nil, strconv.Itoa(i)+" hang"))
		}
		synctest.Wait()
		begin := time.Now()
		if err := f.closeFake(t, time.Second); !errors.Is(err, ErrShutdown) {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(begin); took != time.Second+hardPatience {
			t.Errorf("Close took %v", took)
		}
		for i, b := range all {
			if got := b.answer(); got != strconv.Itoa(i)+" error shutdown" {
				t.Errorf("request %d: %q", i, got)
			}
		}
		if f.Stuck() == 0 {
			t.Error("nobody is counted")
		}
		close(f.gate) // so that the test leaves no goroutine
		synctest.Wait()
		if n := f.Stuck(); n != 0 {
			t.Errorf("%d still stuck", n)
		}
	})
}

type slowSink struct {
	*box
	tap chan struct{}
}

func (s slowSink) Send(v seal.Sealed) bool {
	<-s.tap
	return s.box.Send(v)
}

type badSink struct{ *box }

func (badSink) Finish(seal.Sealed) { panic("broken sink") }

type lastSeal struct{ t testing.TB }

func (lastSeal) Name() string { return "seal" }
func (s lastSeal) Do(_ context.Context, _ *Exchange, r text) (seal.Sealed, error) {
	return sealed(s.t, r.s), nil
}

func renderWith(t testing.TB, f func(error) string) func(*Exchange, error) *seal.Sealed {
	return func(_ *Exchange, err error) *seal.Sealed {
		s := sealed(t, f(err))
		return &s
	}
}
