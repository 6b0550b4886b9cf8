package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
)

// tape is a transport of one request.
type tape struct {
	mu      sync.Mutex
	before  []seal.Sealed
	offered []time.Time
	final   seal.Sealed
	ends    int
	done    chan struct{}
}

func newTape() *tape { return &tape{done: make(chan struct{})} }

func (t *tape) Send(s seal.Sealed) bool { return t.Offer(s) }
func (t *tape) Offer(s seal.Sealed) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = append(t.before, s)
	t.offered = append(t.offered, time.Now())
	return true
}
func (t *tape) Finish(s seal.Sealed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.final = s
	if t.ends++; t.ends == 1 {
		close(t.done)
	}
}
func (t *tape) Drop() { t.Finish(seal.Sealed{}) }

func (s *server) submit(in pipeline.Inbound) *tape {
	s.t.Helper()
	tp := newTape()
	if err := s.Line().Submit(context.Background(), in, tp); err != nil {
		s.t.Fatal(err)
	}
	return tp
}

// R-CANCEL-08, B-24, and the queue: a full server answers busy at once, and what needs no worker never waits.
func TestBusyAndTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Workers, o.Queue, o.CallTimeout = 2, 3, 7*time.Second })
		var held []*tape
		for i := range 5 {
			held = append(held, s.submit(raw(echo(fmt.Sprint(i), `{"path":"a","do":"wait"}`))))
		}
		synctest.Wait()
		begin := time.Now()
		if r := s.call(raw(echo("50", `{"path":"a"}`))); r.structured()["error"] != "busy" || r.result["isError"] != true || r.id != "50" || !strings.Contains(r.text(), "2 calls") {
			t.Error(r.raw)
		}
		for _, m := range []string{"tools/list", "server/discover"} {
			if r := s.call(raw(req("51", m, ""))); r.code != 0 {
				t.Error(r.raw)
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("answers waited %v", took)
		}
		for i, h := range held {
			<-h.done
			if r := open(t, h.final); r.structured()["error"] != "timeout" || r.id != fmt.Sprint(i) || !strings.Contains(r.text(), "7 s") {
				t.Error(r.raw)
			}
		}
		if took := time.Since(begin); took != 7*time.Second {
			t.Errorf("time-outs after %v", took)
		}
		if err := s.Line().Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// R-STDIO-06, R-STDIO-07, R-CANCEL-01 to R-CANCEL-03.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		peer := new(pipeline.Peer)
		on := func(m string) pipeline.Inbound { return pipeline.Inbound{Raw: []byte(m), Peer: peer} }
		note := func(params string) pipeline.Inbound {
			return on(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + params + `}`)
		}
		wait := `{"path":"a","do":"wait"}`
		seven, text, kept := s.submit(on(echo("7", wait))), s.submit(on(echo(`"7"`, wait))), s.submit(on(echo("8", wait)))
		synctest.Wait()
		for _, p := range []string{`{}`, `{"requestId":{}}`, `{"requestId":null}`, `{"requestId":999}`, `5`, `{"requestId":7.5}`} {
			if r := s.call(note(p)); !r.none {
				t.Error(r.raw)
			}
		}
		over := pipeline.Inbound{Raw: note(`{"requestId":8}`).Raw, Peer: peer, Mirror: pipeline.Mirror{}}
		if r := s.call(over); !r.none {
			t.Error(r.raw)
		}
		if r := s.call(note(`{"requestId":7.0,"reason":"escape\u001b[2J"}`)); !r.none { // the same number
			t.Error(r.raw)
		}
		synctest.Wait()
		select {
		case <-seven.done:
			if !seven.final.IsZero() {
				t.Errorf("a cancelled call was answered: %s", seven.final.Bytes())
			}
		default:
			t.Error("the call still runs")
		}
		close(s.gate.open)
		<-text.done
		<-kept.done
		if open(t, text.final).id != `"7"` || open(t, kept.final).id != "8" {
			t.Error("another call was cancelled")
		}
		if r := s.call(note(`{"requestId":7}`)); !r.none { // finished long ago
			t.Error(r.raw)
		}
		reason := ""
		for _, rep := range s.seen() {
			if rep.Cancelled == 1 {
				reason = rep.Reason
			}
		}
		if !strings.HasPrefix(reason, "escape") || strings.Contains(reason, "\u001b") {
			t.Errorf("reason %q", reason)
		}
		if err := s.Line().Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// R-SUB-02 to R-SUB-04: the acknowledgement comes first and names nothing.
func TestListen(t *testing.T) {
	s := start(t)
	for _, id := range []string{`"L1"`, `7`} {
		tp := s.submit(raw(req(id, "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"promptsListChanged":false}`)))
		<-tp.done
		if len(tp.before) != 1 || !tp.before[0].Notification() {
			t.Fatal("no acknowledgement")
		}
		want := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
		if got := string(tp.before[0].Bytes()); got != want {
			t.Error(got)
		}
		if r := open(t, tp.final); r.id != id || !strings.Contains(r.raw, `"io.modelcontextprotocol/subscriptionId":`+id) {
			t.Error(r.raw)
		}
	}
}

func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.cut = true
		held := s.submit(raw(echo("5", `{"path":"a","do":"wait"}`)))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
		defer cancel()
		if err := s.Line().Close(ctx); !errors.Is(err, pipeline.ErrShutdown) {
			t.Error(err)
		}
		<-held.done
		if r := open(t, held.final); r.code != -32603 || r.msg != "The server is shutting down" || r.id != "5" {
			t.Error(r.raw)
		}
	})
}
