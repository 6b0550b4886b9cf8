package stages

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/stages/wire"
)

// asking is a call of echo with a progress token.
func asking(token, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":` + arguments + `,"_meta":{` + pv + `,` + cc + `,"progressToken":` + token + `}}}`
}

// R-PROG-02 to R-PROG-05.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		for _, tok := range []string{`"` + token + `"`, `0`, `1.0`} {
			tp := s.submit(raw(asking(tok, `{"path":"a","do":"progress"}`)))
			<-tp.done
			if n := len(tp.before); n < 6 || n > 9 { // two seconds, four a second, and the beginning
				t.Errorf("%d notifications", n)
			}
			last := -1.0
			for i, b := range tp.before {
				var m struct {
					ID     *int `json:"id"`
					Method string
					Params struct {
						ProgressToken json.RawMessage
						Progress      float64
						Total         *float64
						Message       string
					}
				}
				if err := json.Unmarshal(b.Bytes(), &m); err != nil || m.ID != nil || m.Method != wire.NoteProgress || string(m.Params.ProgressToken) != tok {
					t.Fatalf("%s: %v", b.Bytes(), err)
				}
				if m.Params.Progress <= last || m.Params.Message == "" || m.Params.Total != nil && *m.Params.Total < m.Params.Progress {
					t.Errorf("%s after %v", b.Bytes(), last)
				}
				last = m.Params.Progress
				if i > 1 && tp.offered[i].Sub(tp.offered[i-1]) < ProgressInterval {
					t.Error("too soon")
				}
			}
		}
		tp := s.submit(raw(echo("1", `{"path":"a","do":"progress"}`)))
		<-tp.done
		if len(tp.before) > 0 {
			t.Error("progress for a request that did not ask")
		}
		quick := start(t, func(o *Options) { o.ProgressInterval = -1 })
		tp = quick.submit(raw(asking("0", `{"path":"a","do":"progress"}`)))
		<-tp.done
		if len(tp.before) != 19 { // 0 to 9, then 14 to 54 by fives
			t.Errorf("%d notifications without an interval", len(tp.before))
		}
		for _, s := range []*server{s, quick} {
			if err := s.Line().Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
}

// What comes before an answer depends on the call alone: its beginning, if it ran, however quick it was.
func TestProgressOfQuickCalls(t *testing.T) {
	started := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0,"message":"started"}}`
	s := start(t, func(o *Options) { o.Rate = Rate{PerSecond: 0.001, Burst: 9} })
	one := func(arguments string) pipeline.Inbound { return raw(asking(`"p"`, arguments)) }
	unary := one(`{"path":"a"}`)
	unary.Unary = true
	other := func(method string) pipeline.Inbound {
		return raw(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{` + pv + `,` + cc + `,"progressToken":"p"}}}`)
	}
	for _, c := range []struct {
		name string
		in   pipeline.Inbound
		want string
	}{
		{"a success", one(`{"path":"a"}`), started},
		{"a success, again", one(`{"path":"a"}`), started},
		{"a denial", one(`{"path":"a","do":"deny"}`), started},
		{"a failure", one(`{"path":"a","do":"fail"}`), started},
		{"a panic", one(`{"path":"a","do":"panic"}`), started},
		{"no token", raw(echo("1", `{"path":"a"}`)), ""},
		{"a client that takes nothing but the response", unary, ""},
		{"arguments that the schema refuses", one(`{"path":5}`), ""},
		{"discover", other(wire.MethodDiscover), ""},
		{"list", other(wire.MethodList), ""},
	} {
		tp := s.submit(c.in)
		<-tp.done
		if got := written(tp); got != c.want || tp.final.IsZero() {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for { // until the rate refuses: that call never ran
		tp := s.submit(one(`{"path":"a"}`))
		<-tp.done
		refused := open(t, tp.final).structured()["error"] == "rate_limited"
		if got := written(tp); (got == "") != refused {
			t.Errorf("refused %v: %q", refused, got)
		}
		if refused {
			break
		}
	}
}

func written(tp *tape) string {
	var all []string
	for _, b := range tp.before {
		all = append(all, string(b.Bytes()))
	}
	return strings.Join(all, "\n")
}

// crowded is a transport that has no room for what may be lost.
type crowded struct{ *tape }

func (crowded) Offer(seal.Sealed) bool { return false }

// The beginning of a call is told even to a client that does not keep up; further reports may be lost.
func TestProgressBeginsForSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		tp := newTape()
		if err := s.Line().Submit(t.Context(), raw(asking("7", `{"path":"a","do":"progress"}`)), crowded{tp}); err != nil {
			t.Fatal(err)
		}
		<-tp.done
		if got := written(tp); !strings.Contains(got, `"progress":0`) || strings.Contains(got, "\n") {
			t.Errorf("%q", got)
		}
		if err := s.Line().Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
