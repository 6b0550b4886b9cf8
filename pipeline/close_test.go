package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alitto/pond/v2"
)

func blockingPool() pond.Pool { return pond.NewPool(1) }

// One request fails, with the panic's text kept from the client; the next is served; nothing is lost.
func TestPanicInEachStage(t *testing.T) {
	stages := []string{"parse", "negotiate", "sort", "execute", "scan", "assemble", "rescue", "redact", "seal", "last"}
	for _, verb := range []string{"panic", "error-panic", "nil-panic", "goexit"} {
		for _, stage := range stages {
			t.Run(verb+" in "+stage, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFake(t, Options{}, 2, 2)
					want := "1 error panic in " + stage
					in := "1 " + verb + " " + stage
					switch stage {
					case "sort":
						want = "1 error panic in execute"
					case "redact", "seal":
						want = "1 internal panic in " + stage
					case "rescue": // Rescue is asked only if something else failed
						want = "1 ok rescue"
					case "last":
						want = "1 ok last"
					}
					if got := f.send(t, nil, in).answer(); got != want {
						t.Errorf("%q, want %q", got, want)
					}
					for _, next := range []string{"2 echo x", "3 quick x", "4 echo x"} {
						if got := f.send(t, nil, next).answer(); !strings.HasSuffix(got, "ok x") {
							t.Errorf("%s: %q", next, got)
						}
					}
					if err := f.closeFake(t, time.Second); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// stubborn fails in Do and then again wherever it is told to.
type stubborn struct{ in func() }

func (stubborn) Name() string { return "stubborn" }
func (stubborn) Do(context.Context, *Exchange, Inbound) (text, error) {
	return text{}, errors.New("first")
}
func (s stubborn) Rescue(context.Context, *Exchange, error) (text, error) {
	s.in()
	return text{}, nil
}

func TestPanicInTheLastResorts(t *testing.T) {
	strikes := map[string]func(){}
	for _, verb := range []string{"panic", "goexit"} {
		strikes[verb] = func() { hit(request{verb: verb, arg: "here"}, "here") }
	}
	for verb, strike := range strikes {
		t.Run(verb+" in Rescue", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, in := New(Options{})
				f := &fake{Line: l}
				out := Connect(l, Connect(l, in, stubborn{strike}, 1), lastSeal{t}, 1)
				Drain(l, out, renderWith(t, func(err error) string { return kind(err) }))
				for range 3 {
					if got := f.send(t, nil, "1 x").answer(); got != "panic in stubborn" {
						t.Errorf("%q", got)
					}
				}
				if err := f.closeFake(t, time.Second); err != nil {
					t.Error(err)
				}
			})
		})
		t.Run(verb+" in the last renderer", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, in := New(Options{})
				f := &fake{Line: l}
				out := Connect(l, Connect(l, in, stubborn{func() { panic("x") }}, 1), lastSeal{t}, 1)
				Drain(l, out, renderWith(t, func(error) string { strike(); return "" }))
				for range 3 {
					if got := f.send(t, nil, "1 x").answer(); got != "" {
						t.Errorf("%q", got)
					}
				}
				if err := f.closeFake(t, time.Second); err != nil {
					t.Error(err)
				}
			})
		})
		t.Run(verb+" in the observer", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, Options{Observe: func(e Event) {
					if e.Stage == "execute" {
						strike()
					}
				}}, 2, 2)
				for range 5 {
					if got := f.send(t, nil, "1 echo x").answer(); got != "1 ok x" {
						t.Errorf("%q", got)
					}
				}
				err := f.closeFake(t, time.Second)
				var p *PanicError
				if !errors.As(err, &p) || p.Stage != "Observe" {
					t.Errorf("Close: %v", err)
				}
			})
		})
	}
}

// A sink is code of a transport, so part of the line itself: its panic comes back from Close, and costs no credit.
func TestPanicInASink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{InFlight: 1, Reserve: 1}, 1, 1)
		for range 5 {
			if err := f.Submit(t.Context(), Inbound{Raw: []byte("1 quick x")}, badSink{newBox(t)}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if got := f.send(t, nil, "2 quick x").answer(); got != "2 ok x" {
			t.Errorf("%q", got)
		}
		err := f.closeFake(t, time.Second)
		var p *PanicError
		if !errors.As(err, &p) || p.Stage != "the line" || !strings.Contains(p.Error(), "broken sink") || len(p.Stack) == 0 {
			t.Errorf("Close: %v", err)
		}
	})
}

// Why a task guards itself: the pool counts a panic and tells nobody, so the request would never be answered.
func TestPoolAloneLosesPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pool(1, 1)
		if err := p.Go(func() { panic("lost") }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if p.FailedTasks() != 1 || p.RunningWorkers() != 0 {
			t.Errorf("%d failed, %d running", p.FailedTasks(), p.RunningWorkers())
		}
	})
}

func TestCloseAnswersWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 8, 64)
		all := f.fill(t, nil, 20, 3*time.Second)
		synctest.Wait()
		begin := time.Now()
		var wg sync.WaitGroup
		for range 3 { // any number of callers
			wg.Go(func() {
				if err := f.closeFake(t, time.Minute); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := f.Submit(t.Context(), Inbound{}, newBox(t)); !errors.Is(err, ErrClosed) {
			t.Errorf("Submit while closing: %v", err)
		}
		wg.Wait()
		if took := time.Since(begin); took != 9*time.Second {
			t.Errorf("three rounds of 3 s took %v", took)
		}
		for i, b := range all {
			if got := b.answer(); got != fmt.Sprint(i, " ok 3s") {
				t.Errorf("request %d: %q", i, got)
			}
		}
	})
}

// What is cancelled by a hard close is still answered, with the right reason, through stages that look at the context.
func TestCloseHard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 8, 64)
		all := f.fill(t, nil, 72, time.Hour)
		synctest.Wait()
		begin := time.Now()
		err := f.closeFake(t, 4*time.Second)
		if !errors.Is(err, ErrShutdown) || !strings.Contains(err.Error(), "72 requests") {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("Close took %v", took)
		}
		for i, b := range all {
			if got := b.answer(); got != fmt.Sprint(i, " error shutdown") {
				t.Errorf("request %d: %q", i, got)
			}
		}
	})
}

func TestCloseWakesAWaitingSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{InFlight: 1, Reserve: 1}, 1, 1)
		tap := make(chan struct{})
		for range 2 {
			b := newBox(t)
			b.block = tap
			if err := f.Submit(t.Context(), Inbound{Raw: []byte("1 quick x")}, b); err != nil {
				t.Fatal(err)
			}
		}
		waiting := make(chan error)
		go func() { waiting <- f.Submit(t.Context(), Inbound{}, newBox(t)) }()
		synctest.Wait()
		go func() { waiting <- f.closeFake(t, time.Second) }()
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		close(tap)
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	})
}

// Closing with a hundred tasks in the pool's queue loses none, and no goroutine of any round is left (see TestMain).
func TestCloseThousandTimes(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		f := newFake(t, Options{InFlight: 128, Observe: func(Event) {}}, 8, 100)
		all := make([]*box, 100)
		for i := range all {
			all[i] = f.send(t, nil, "1 echo x")
		}
		if err := f.closeFake(t, time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			if got := b.answer(); got != "1 ok x" {
				t.Fatalf("%q", got)
			}
		}
	}
}

func TestStoppedPool(t *testing.T) {
	f := newFake(t, Options{}, 1, 1)
	f.pool.StopAndWait()
	if got := f.send(t, nil, "1 echo x").answer(); got != "1 error shutdown" {
		t.Errorf("%q", got)
	}
	if err := f.closeFake(t, time.Minute); err != nil {
		t.Error(err)
	}
}
