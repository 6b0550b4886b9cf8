package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcp-devserver/pipeline/seal"
)

func TestAnswers(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"a plain request", "1 echo hello", "1 ok hello"},
		{"a quick one", "2 quick hello", "2 ok hello"},
		{"messages before the response", "3 send x", "3 before x|3 offered x|3 ok x"},
		{"a failure is rescued", "4 fail why", "4 error why"},
		{"a notification", "- note", ""},
		{"a cancellation of nothing", "- cancel 99", ""},
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 8, 64)
		for _, c := range cases {
			if got := f.send(t, &Peer{}, c.in).answer(); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
	})
}

func TestFaultReachesTheFirstStage(t *testing.T) {
	f := newFake(t, Options{}, 1, 1)
	s, ok, err := f.Call(t.Context(), Inbound{Fault: FaultTooLong})
	if err != nil || !ok || unseal(s) != " error too long" {
		t.Errorf("%q %v %v", s.Bytes(), ok, err)
	}
	if err := f.closeFake(t, time.Minute); err != nil {
		t.Error(err)
	}
}

// A full pool refuses at once; what needs no worker passes it; cancelling takes no time wherever the request is.
func TestFullPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 8, 64)
		p, begin := new(Peer), time.Now()
		all := f.fill(t, p, 72, time.Minute)
		synctest.Wait()
		if got := f.send(t, p, "busy echo x").answer(); got != "busy error busy" {
			t.Errorf("73rd request: %q", got)
		}
		if got := f.send(t, p, "d quick x").answer(); got != "d ok x" {
			t.Errorf("quick request behind a full pool: %q", got)
		}
		f.send(t, p, "- cancel 3").answer()  // running
		f.send(t, p, "- cancel 60").answer() // queued
		synctest.Wait()
		if !all[3].over() || all[3].answer() != "" {
			t.Errorf("a running request outlived its cancellation: %q", all[3].got)
		}
		if f.context("3").Err() == nil {
			t.Error("the context of a cancelled request goes on")
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("something waited %v", waited)
		}
		for i, b := range all {
			want := strconv.Itoa(i) + " ok 1m0s"
			if i == 3 || i == 60 {
				want = ""
			}
			if got := b.answer(); got != want {
				t.Errorf("request %d: %q, want %q", i, got, want)
			}
		}
		if f.context("60") != nil {
			t.Error("a request that was cancelled in the queue was executed")
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
	})
}

func (f *fake) context(id string) context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.began[id]
}

// Without credits a request still passes on the reserve, but only a quick one is served.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{InFlight: 4, Reserve: 2}, 8, 64)
		all := f.fill(t, nil, 4, time.Minute)
		synctest.Wait()
		for range 10 { // more than the reserve: it comes back each time
			if got := f.send(t, nil, "a echo x").answer(); got != "a error busy" {
				t.Errorf("slow request on the reserve: %q", got)
			}
			if got := f.send(t, nil, "b quick x").answer(); got != "b ok x" {
				t.Errorf("quick request on the reserve: %q", got)
			}
			synctest.Wait() // the credit is given back after the response
		}
		for _, b := range all {
			b.answer()
		}
		synctest.Wait()
		if got := f.send(t, nil, "c echo x").answer(); got != "c ok x" {
			t.Errorf("after the load: %q", got)
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
	})
}

// Reading stops, and only stops, while responses are not taken away.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{InFlight: 3, Reserve: 2}, 8, 64)
		tap := make(chan struct{})
		var all []*box
		for i := range 5 {
			b := newBox(t)
			b.block = tap
			if err := f.Submit(t.Context(), Inbound{Raw: fmt.Appendf(nil, "%d quick x", i)}, b); err != nil {
				t.Fatal(err)
			}
			all = append(all, b)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late := newBox(t)
		if err := f.Submit(ctx, Inbound{Raw: []byte("6 quick x")}, late); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Submit without any credit: %v", err)
		}
		if late.over() {
			t.Error("the sink of a refused message was touched")
		}
		waiting := make(chan error)
		go func() { waiting <- f.Submit(t.Context(), Inbound{Raw: []byte("7 quick x")}, late) }()
		synctest.Wait()
		close(tap)
		if err := <-waiting; err != nil {
			t.Errorf("Submit once credits came back: %v", err)
		}
		for i, b := range append(all, late) {
			if got := b.answer(); !strings.HasSuffix(got, " ok x") {
				t.Errorf("request %d: %q", i, got)
			}
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
	})
}

// Every answer is the one that the request gets alone, whatever is under way beside it.
func TestInterleaved(t *testing.T) {
	const requests, clients = 10_000, 50
	f := newFake(t, Options{Observe: func(Event) {}}, 8, 64)
	verbs := []string{"echo", "quick", "send", "fail", "panic", "note"}
	var wg sync.WaitGroup
	var busy sync.Map
	for c := range clients {
		wg.Go(func() {
			p := new(Peer)
			for i := c; i < requests; i += clients {
				id, verb := strconv.Itoa(i), verbs[i%len(verbs)]
				arg, want := "x"+id, id+" ok x"+id
				switch verb {
				case "send":
					want = id + " before " + arg + "|" + id + " offered " + arg + "|" + want
				case "fail":
					want = id + " error " + arg
				case "panic":
					arg = []string{"parse", "execute", "scan", "assemble", "redact"}[i%5]
					want = id + " error panic in " + arg
					if arg == "redact" {
						want = id + " internal panic in " + arg
					}
				case "note":
					want = ""
				}
				b := newBox(t)
				if err := f.Submit(context.Background(), Inbound{Raw: []byte(id + " " + verb + " " + arg), Peer: p}, b); err != nil {
					t.Error(err)
					return
				}
				got := b.answer()
				if got == id+" error busy" && verb != "quick" {
					busy.Store(id, true)
					continue
				}
				if got != want {
					t.Errorf("%s %s: %q, want %q", id, verb, got, want)
				}
			}
		})
	}
	wg.Wait()
	n := 0
	busy.Range(func(any, any) bool { n++; return true })
	if n > 0 {
		t.Errorf("%d requests were refused by a pool with %d places and %d clients", n, 72, clients)
	}
	if err := f.closeFake(t, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 1, 1)
		s, ok, err := f.Call(t.Context(), Inbound{Raw: []byte("1 send x")})
		if unseal(s) != "1 ok x" || !ok || err != nil {
			t.Errorf("request: %q %v %v", s.Bytes(), ok, err)
		}
		if _, ok, err = f.Call(t.Context(), Inbound{Raw: []byte("- note")}); ok || err != nil {
			t.Errorf("notification: %v %v", ok, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err = f.Call(ctx, Inbound{Raw: []byte("2 sleep 1h")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("impatient caller: %v", err)
		}
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
		if _, _, err = f.Call(t.Context(), Inbound{}); !errors.Is(err, ErrClosed) {
			t.Errorf("closed line: %v", err)
		}
	})
}

func TestSubmitRefusesAnEndedContext(t *testing.T) {
	f := newFake(t, Options{}, 1, 1)
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := f.Submit(ctx, Inbound{Raw: []byte("1 echo x")}, newBox(t)); !errors.Is(err, why) {
		t.Error(err)
	}
	if err := f.closeFake(t, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{}, 1, 1)
		f.send(t, nil, "1 sleep 2s")
		synctest.Wait()
		queued := f.send(t, nil, "2 sleep 3s")
		synctest.Wait()
		refused := f.send(t, nil, "3 echo x")
		queued.answer()
		refused.answer()
		f.send(t, nil, "- note").answer()
		if err := f.closeFake(t, time.Second); err != nil {
			t.Error(err)
		}
		var got []string
		for _, e := range f.events {
			if e.Stage == "execute" || e.Stage == StageEnd || e.Outcome != Done {
				got = append(got, fmt.Sprintf("%s %s %s took %v wait %v", e.X.ID(), e.Stage, e.Outcome, e.Took, e.Wait))
			}
		}
		want := []string{
			"3 execute busy took 0s wait 0s",
			"3 assemble rescued took 0s wait 0s",
			"3 end done took 0s wait 0s",
			"1 execute done took 2s wait 0s",
			"1 end done took 2s wait 0s",
			"2 execute done took 3s wait 2s",
			"2 end done took 5s wait 0s",
			" parse failed took 0s wait 0s",
			" end dropped took 0s wait 0s",
		}
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Errorf("got\n%s\nwant\n%s", g, w)
		}
	})
}

func TestWiringMistakes(t *testing.T) {
	cases := map[string]func(*Line, <-chan Msg[Inbound]){
		"no workers":      func(l *Line, in <-chan Msg[Inbound]) { Connect(l, in, parse{}, 0) },
		"a blocking pool": func(l *Line, in <-chan Msg[Inbound]) { ConnectPool(l, in, parse{}, blockingPool()) },
	}
	for name, wire := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "parse") {
					t.Errorf("%v", v)
				}
			}()
			wire(New(Options{}))
		})
	}
}

func TestMirror(t *testing.T) {
	m := Mirror{"Mcp-Method": {"a"}, "Mcp-Name": {"a", "a"}, "Smuggled": {"a", "b"}, "Case": {"a", "A"}, "Empty": {""}, "None": {}}
	cases := []struct {
		name            string
		value           string
		found, conflict bool
	}{
		{"Mcp-Method", "a", true, false},
		{"Mcp-Name", "a", true, false},
		{"Smuggled", "", true, true},
		{"Case", "", true, true},
		{"Empty", "", true, false},
		{"None", "", false, false},
		{"Absent", "", false, false},
	}
	for _, c := range cases {
		if v, f, x := m.Value(c.name); v != c.value || f != c.found || x != c.conflict {
			t.Errorf("%s: %q %v %v", c.name, v, f, x)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for o := Done; o <= Dropped; o++ {
		if s := o.String(); seen[s] || s == "" || strings.Contains(s, "(") {
			t.Errorf("outcome %d is called %q", o, s)
		} else {
			seen[s] = true
		}
	}
	if Outcome(200).String() != "outcome(200)" {
		t.Error("no name for an unknown outcome")
	}
	if !errors.Is(ErrTimeout, context.DeadlineExceeded) || ErrTimeout.Error() == "" {
		t.Error("ErrTimeout is no deadline")
	}
}

var _ Sink = (*box)(nil)
var _ seal.Sealed
