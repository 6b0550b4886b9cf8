package stages

import (
	"context"
	"testing"

	"mcp-devserver/pipeline"
	"mcp-devserver/tools"
)

// walk takes one request through the stages without a line, and keeps what each of them gets.
type walk struct {
	row
	x        *pipeline.Exchange
	in       pipeline.Inbound
	parsed   Parsed
	spoken   Spoken
	call     Call
	outcome  Outcome
	marked   Marked
	envelope Envelope
}

var tenCall = echo("1", `{"path":"src/main.go","do":"ten"}`)

// an exchange can only be had from a line: this stage hands its own out.
type lend struct {
	parse
	x chan *pipeline.Exchange
}

func (l lend) Do(_ context.Context, x *pipeline.Exchange, _ pipeline.Inbound) (Parsed, error) {
	l.x <- x
	return Parsed{}, pipeline.ErrNoReply
}

func newWalk(tb testing.TB) *walk {
	tb.Helper()
	w := &walk{row: testRow(tb), in: raw(tenCall)}
	r := w.row
	got := make(chan *pipeline.Exchange, 1)
	r.parse = lend{x: got}
	l, in := pipeline.New(pipeline.Options{})
	r.connect(l, in, pipeline.Pool(1, 1))
	if _, _, err := l.Call(context.Background(), w.in); err != nil {
		tb.Fatal(err)
	}
	w.x = <-got
	if err := l.Close(context.Background()); err != nil {
		tb.Fatal(err)
	}
	w.through(tb)
	return w
}

func (w *walk) through(tb testing.TB) {
	ctx := context.Background()
	var err error
	check := func() {
		if err != nil {
			tb.Fatal(err)
		}
	}
	w.parsed, err = w.row.parse.Do(ctx, w.x, w.in)
	check()
	w.spoken, err = w.row.negotiate.Do(ctx, w.x, w.parsed)
	check()
	w.call, err = w.row.validate.Do(ctx, w.x, w.spoken)
	check()
	w.outcome, err = w.row.execute.Do(ctx, w.x, w.call)
	check()
	w.marked, err = w.row.scan.Do(ctx, w.x, w.outcome)
	check()
	w.envelope, err = w.row.assemble.Do(ctx, w.x, w.marked)
	check()
	_, err = w.row.redact.Do(ctx, w.x, w.envelope)
	check()
}

func BenchmarkStage(b *testing.B) {
	w := newWalk(b)
	ctx := context.Background()
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("parse", func() error { _, err := w.row.parse.Do(ctx, w.x, w.in); return err })
	run("negotiate", func() error { _, err := w.row.negotiate.Do(ctx, w.x, w.parsed); return err })
	run("validate", func() error { _, err := w.row.validate.Do(ctx, w.x, w.spoken); return err })
	run("execute", func() error { _, err := w.row.execute.Do(ctx, w.x, w.call); return err })
	asked := w.call
	asked.token = []byte(`"p"`)
	run("execute, with progress", func() error { _, err := w.row.execute.Do(ctx, w.x, asked); return err })
	run("scan", func() error { _, err := w.row.scan.Do(ctx, w.x, w.outcome); return err })
	run("assemble", func() error { _, err := w.row.assemble.Do(ctx, w.x, w.marked); return err })
	run("redact", func() error { // a document is sealed once, so it is laid out again
		e, err := w.row.assemble.Do(ctx, w.x, w.marked)
		if err != nil {
			return err
		}
		_, err = w.row.redact.Do(ctx, w.x, e)
		return err
	})
	run("all without a line", func() error { w.through(b); return nil })
}

func BenchmarkLine(b *testing.B) {
	for name, in := range map[string]string{"discover": disco, "list": listing, "call": echo("1", `{"path":"a"}`), "call with progress": asking(`"p"`, `{"path":"a"}`), "call 10 KiB": tenCall} {
		for _, parallel := range []bool{false, true} {
			suffix := map[bool]string{false: "", true: " in parallel"}[parallel]
			b.Run(name+suffix, func(b *testing.B) {
				s, err := New(Options{Tools: fakeTools(newGate()), Env: &tools.Env{Limits: tools.DefaultLimits()}, Server: Server{Name: "mcp-devserver", Version: "1"}})
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = s.Line().Close(context.Background()) }()
				one := func() {
					if _, ok, err := s.Line().Call(context.Background(), raw(in)); err != nil || !ok {
						b.Error("no answer", err)
					}
				}
				b.ReportAllocs()
				if !parallel {
					for b.Loop() {
						one()
					}
					return
				}
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						one()
					}
				})
			})
		}
	}
}
