package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alitto/pond/v2"
	"go.uber.org/goleak"

	"mcp-devserver/pipeline/seal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is what the fake protocol's lines "id verb argument" say. The verbs:
//
//	echo    answers with its argument
//	quick   the same without a worker of the pool
//	sleep   answers after a duration, or fails when its context ends
//	hang    ignores its context until the line's gate opens
//	send    sends its argument before it answers
//	fail    fails with its argument
//	note    gets no reply
//	cancel  cancels the request with its argument as id; gets no reply
//	panic, error-panic, nil-panic, goexit   strike in the stage that the argument names
type request struct{ id, verb, arg string }

// fake is a line of the usual shape over the fake protocol.
type fake struct {
	*Line
	pool   pond.Pool
	gate   chan struct{} // what hang waits for
	sealed func(text string) seal.Sealed

	mu     sync.Mutex
	events []Event
	began  map[string]context.Context // by id: the context that execute saw
}

func newFake(t testing.TB, o Options, workers, queue int) *fake {
	t.Helper()
	f := &fake{
		pool: Pool(workers, queue), gate: make(chan struct{}), began: map[string]context.Context{},
		sealed: func(s string) seal.Sealed { return sealed(t, s) },
	}
	if o.Observe == nil {
		o.Observe = func(e Event) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.events = append(f.events, e)
		}
	}
	line, in := New(o)
	f.Line = line
	parsed := Connect(line, in, parse{}, 1)
	spoken := Connect(line, parsed, strike("negotiate"), 2)
	done := ConnectPool(line, spoken, execute{f}, f.pool)
	marked := Connect(line, done, strikeText("scan"), 1)
	made := Connect(line, marked, assemble{}, 1)
	clean := Connect(line, made, strikeText("redact"), 1)
	out := Connect(line, clean, sealer{f}, 1)
	Drain(line, out, func(x *Exchange, err error) *seal.Sealed {
		if r, ok := x.Attached().(request); ok && r.arg == "last" {
			hit(r, "last")
		}
		s := f.sealed(x.ID() + " internal " + kind(err))
		return &s
	})
	return f
}

// text is an answer that still knows its request, so that it can strike in late stages.
type text struct {
	r request
	s string
}

type parse struct{}

func (parse) Name() string { return "parse" }
func (parse) Do(_ context.Context, x *Exchange, in Inbound) (request, error) {
	if in.Fault == FaultTooLong {
		return request{}, errors.New("too long")
	}
	id, rest, _ := strings.Cut(string(in.Raw), " ")
	verb, arg, _ := strings.Cut(rest, " ")
	r := request{id, verb, arg}
	switch verb {
	case "cancel":
		in.Peer.Cancel(arg)
		return r, ErrNoReply
	case "note":
		return r, ErrNoReply
	}
	x.Begin(id)
	x.Attach(r)
	hit(r, "parse")
	return r, nil
}

// hit strikes when r asks for it in this stage.
func hit(r request, stage string) {
	if r.arg != stage {
		return
	}
	switch r.verb {
	case "panic":
		panic("secret text")
	case "error-panic":
		panic(ErrCancelled) // must not pass for a cancellation
	case "nil-panic":
		panic(nil)
	case "goexit":
		runtime.Goexit()
	}
}

type strike string

func (s strike) Name() string { return string(s) }
func (s strike) Do(_ context.Context, _ *Exchange, r request) (request, error) {
	hit(r, string(s))
	return r, nil
}

type strikeText string

func (s strikeText) Name() string { return string(s) }
func (s strikeText) Do(ctx context.Context, _ *Exchange, r text) (text, error) {
	hit(r.r, string(s))
	if s == "redact" && ctx.Err() != nil {
		return text{}, ctx.Err()
	}
	return r, nil
}

type execute struct{ f *fake }

func (execute) Name() string { return "execute" }

func (execute) Quick(r request) bool {
	hit(r, "sort")
	return r.verb == "quick"
}

func (e execute) Do(ctx context.Context, x *Exchange, r request) (text, error) {
	e.f.mu.Lock()
	e.f.began[r.id] = ctx
	e.f.mu.Unlock()
	hit(r, "execute")
	switch r.verb {
	case "sleep":
		d, err := time.ParseDuration(r.arg)
		if err != nil {
			return text{}, err
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return text{}, fmt.Errorf("sleep: %w", ctx.Err())
		}
	case "hang":
		<-e.f.gate
		if x.Send(e.f.sealed("late")) || x.Offer(e.f.sealed("late")) {
			panic("a worker that was given up could still send")
		}
	case "send":
		if !x.Send(e.f.sealed(r.id + " before " + r.arg)) {
			return text{}, errors.New("not sent")
		}
		x.Offer(e.f.sealed(r.id + " offered " + r.arg))
	case "fail":
		return text{}, errors.New(r.arg)
	}
	return text{r, r.id + " ok " + r.arg}, nil
}

type assemble struct{}

func (assemble) Name() string { return "assemble" }
func (assemble) Do(_ context.Context, _ *Exchange, r text) (text, error) {
	hit(r.r, "assemble")
	return r, nil
}

func (assemble) Rescue(_ context.Context, x *Exchange, err error) (text, error) {
	r, _ := x.Attached().(request)
	hit(r, "rescue")
	if r.arg == "last" || r.arg == "rescue" {
		return text{}, err
	}
	return text{r, x.ID() + " error " + kind(err)}, nil
}

// kind is the word by which the fake answers report a failure.
func kind(err error) string {
	var p *PanicError
	switch {
	case errors.As(err, &p):
		return "panic in " + p.Stage
	case errors.Is(err, ErrBusy):
		return "busy"
	case errors.Is(err, ErrTimeout):
		return "timeout"
	case errors.Is(err, ErrShutdown):
		return "shutdown"
	}
	return err.Error()
}

type sealer struct{ f *fake }

func (sealer) Name() string { return "seal" }
func (s sealer) Do(_ context.Context, _ *Exchange, r text) (seal.Sealed, error) {
	hit(r.r, "seal")
	return s.f.sealed(r.s), nil
}

// box is a Sink that checks the promises made to it.
type box struct {
	t     testing.TB
	mu    sync.Mutex
	got   []string // everything delivered, in order
	ended int
	done  chan struct{}
	block chan struct{} // when set, Finish waits for it
}

func newBox(t testing.TB) *box { return &box{t: t, done: make(chan struct{})} }

func (b *box) put(s seal.Sealed) bool {
	if !b.mu.TryLock() {
		b.t.Error("two calls of one sink at once")
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	if b.ended > 0 {
		b.t.Errorf("delivered after the end: %s", s.Bytes())
	}
	b.got = append(b.got, unseal(s))
	return true
}

func (b *box) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended++; b.ended > 1 {
		b.t.Error("ended twice")
		return
	}
	close(b.done)
}

func (b *box) Send(s seal.Sealed) bool  { return b.put(s) }
func (b *box) Offer(s seal.Sealed) bool { return b.put(s) }
func (b *box) Finish(s seal.Sealed) {
	if b.block != nil {
		<-b.block
	}
	b.put(s)
	b.end()
}
func (b *box) Drop() { b.end() }

// answer waits for the end and returns what was delivered, "" for nothing.
func (b *box) answer() string {
	<-b.done
	return strings.Join(b.got, "|")
}

// over tells whether the end has come.
func (b *box) over() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

func (f *fake) send(t testing.TB, p *Peer, line string) *box {
	t.Helper()
	b := newBox(t)
	if err := f.Submit(context.Background(), Inbound{Raw: []byte(line), Peer: p}, b); err != nil {
		t.Fatalf("Submit(%q): %v", line, err)
	}
	return b
}

// fill starts n requests that each take d, with the ids 0 to n-1.
func (f *fake) fill(t testing.TB, p *Peer, n int, d time.Duration) []*box {
	t.Helper()
	all := make([]*box, n)
	for i := range all {
		all[i] = f.send(t, p, strconv.Itoa(i)+" sleep "+d.String())
	}
	return all
}

// closeFake closes the line within d and demands that no credit was lost.
func (f *fake) closeFake(t testing.TB, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	err := f.Close(ctx)
	if n := f.InFlight(); n != 0 {
		t.Errorf("%d requests left in flight", n)
	}
	return err
}
