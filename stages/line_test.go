package stages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bomb stands for a stage that panics over one request, the one with id 666.
type bomb[In, Out any] struct{ pipeline.Stage[In, Out] }

func (b bomb[In, Out]) Do(ctx context.Context, x *pipeline.Exchange, in In) (Out, error) {
	if x.ID() == wire.ID("666").Key() {
		panic("boom: /home/user/secret/place")
	}
	out, err := b.Stage.Do(ctx, x, in)
	if x.ID() == wire.ID("667").Key() { // parse gives the id only now
		panic("boom: /home/user/secret/place")
	}
	return out, err
}

// quickBomb keeps what the execute stage is beside.
type quickBomb struct {
	bomb[Call, Outcome]
	pipeline.Sorter[Call]
}

// rescueBomb keeps what the assemble stage is beside.
type rescueBomb struct {
	bomb[Marked, Envelope]
	pipeline.Rescuer[Envelope]
}

type rescuePanics struct{ *assemble }

func (r rescuePanics) Rescue(context.Context, *pipeline.Exchange, error) (Envelope, error) {
	panic("boom: /home/user/secret/place")
}

func testRow(t testing.TB) row {
	t.Helper()
	c, err := newCatalog(fakeTools(newGate()), nil, true, 40_000)
	if err != nil {
		t.Fatal(err)
	}
	a := &assemble{catalog: c, server: Server{Name: "mcp-devserver", Version: "1.2.3"}.json(), page: 3, structured: true, maxChars: 40_000, workers: 8, timeout: time.Second}
	return row{parse{}, negotiate{}, &validate{catalog: c, now: time.Now}, &execute{env: &tools.Env{Limits: tools.DefaultLimits()}}, scan{}, a, &redact{assemble: a}}
}

// R-BASE-18: a panic in any stage costs one request, answers -32603 with its id, tells nothing, and reaches the report.
func TestPanicInEachStage(t *testing.T) {
	for name, plant := range map[string]func(*row){
		"parse":     func(r *row) { r.parse = bomb[pipeline.Inbound, Parsed]{r.parse} },
		"negotiate": func(r *row) { r.negotiate = bomb[Parsed, Spoken]{r.negotiate} },
		"validate":  func(r *row) { r.validate = bomb[Spoken, Call]{r.validate} },
		"execute":   func(r *row) { r.execute = quickBomb{bomb[Call, Outcome]{r.execute}, r.execute.(*execute)} },
		"scan":      func(r *row) { r.scan = bomb[Outcome, Marked]{r.scan} },
		"assemble":  func(r *row) { r.assemble = rescueBomb{bomb[Marked, Envelope]{r.assemble}, r.assemble.(*assemble)} },
		"redact":    func(r *row) { r.redact = bomb[Envelope, seal.Sealed]{r.redact} },
		"rescue": func(r *row) {
			r.scan = bomb[Outcome, Marked]{r.scan}
			r.assemble = rescuePanics{r.assemble.(*assemble)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var causes []error
			l, in := pipeline.New(pipeline.Options{Observe: observer(func(r *Report) {
				mu.Lock()
				defer mu.Unlock()
				if r.Cause != nil {
					causes = append(causes, r.Cause)
				}
			}, false)})
			r := testRow(t)
			plant(&r)
			r.connect(l, in, pipeline.Pool(2, 8))
			s := &server{Stages: &Stages{line: l}, t: t}
			id := "666"
			if name == "parse" {
				id = "667"
			}
			for range 3 {
				got := s.call(raw(echo(id, `{"path":"a"}`)))
				if got.code != -32603 || got.id != id || got.status != 200 || strings.Contains(got.raw, "secret/place") || got.data["reference"] == "" {
					t.Errorf("%+v", got)
				}
				if next := s.call(raw(echo("2", `{"path":"a"}`))); next.code != 0 {
					t.Errorf("the next request: %s", next.raw)
				}
			}
			if err := l.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if len(causes) != 3 || !strings.Contains(causes[0].Error(), "panic") {
				t.Errorf("causes %v", causes)
			}
		})
	}
}

var nonces = regexp.MustCompile(`[0-9a-f]{16}`)

// R-STATE-02, R-BASE-29, R-BASE-05: many requests at once get the answers that each gets alone.
func TestInterleaving(t *testing.T) {
	kinds := []func(id string) pipeline.Inbound{
		func(id string) pipeline.Inbound { return raw(req(id, "server/discover", "")) },
		func(id string) pipeline.Inbound { return raw(req(id, "tools/list", "")) },
		func(id string) pipeline.Inbound { return raw(echo(id, `{"path":"a.go","text":"x"}`)) },
		func(id string) pipeline.Inbound {
			return raw(echo(id, `{"path":"b.go","text":"token `+token+`","count":"3"}`))
		},
		func(id string) pipeline.Inbound { return raw(echo(id, `{"path":"../x","do":"deny"}`)) },
		func(id string) pipeline.Inbound { return raw(echo(id, `{"path":"c","do":"ten"}`)) },
		func(id string) pipeline.Inbound { return raw(echo(id, `{"file":"c"}`)) },
		func(id string) pipeline.Inbound { return raw(req(id, "tools/call", `,"name":"nope"`)) },
		func(id string) pipeline.Inbound { return raw(req(id, "foo/bar", "")) },
		func(id string) pipeline.Inbound {
			return raw(req(id, "subscriptions/listen", `,"notifications":{}`))
		},
		func(id string) pipeline.Inbound {
			return raw(strings.Replace(req(id, "tools/list", ""), "2026-07-28", "2025-11-25", 1))
		},
		func(id string) pipeline.Inbound {
			return raw(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list","params":{}}`)
		},
	}
	plain := func(r reply, id string) string {
		return nonces.ReplaceAllString(strings.Replace(r.raw, `"id":`+id, `"id":0`, 1), "N")
	}
	s := start(t)
	alone := make([]string, len(kinds))
	for i, k := range kinds {
		alone[i] = strings.ReplaceAll(plain(s.call(k("0")), "0"), `subscriptionId":0`, `subscriptionId":ID`)
	}
	const clients = 6 // below the workers, so that no call is refused as busy
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 7))
			for n := range requests / clients {
				i := r.IntN(len(kinds))
				id := fmt.Sprint(c*1_000_000 + n + 1)
				got := strings.ReplaceAll(plain(s.call(kinds[i](id)), id), `subscriptionId":`+id, `subscriptionId":ID`)
				if got != alone[i] {
					t.Errorf("kind %d, id %s:\n%.400s\nalone:\n%.400s", i, id, got, alone[i])
					return
				}
			}
		})
	}
	wg.Wait()
}

// R-BASE-05, B-38: two requests under one id are served independently.
func TestSameIDTwice(t *testing.T) {
	s := start(t)
	one, two := s.submit(raw(echo("7", `{"path":"a","do":"wait"}`))), s.submit(raw(echo("7", `{"path":"b","do":"wait"}`)))
	<-s.gate.started
	<-s.gate.started
	if running, waiting := s.Load(); running != 2 || waiting != 0 {
		t.Errorf("%d running, %d waiting", running, waiting)
	}
	close(s.gate.open)
	<-one.done
	<-two.done
	a, b := open(t, one.final), open(t, two.final)
	if a.id != "7" || b.id != "7" || a.structured()["path"] != "a" || b.structured()["path"] != "b" {
		t.Errorf("%s\n%s", a.raw, b.raw)
	}
}

// Whatever arrives gets at most one answer, which is one line of this protocol, and the line lives.
func FuzzLine(f *testing.F) {
	for _, v := range vectors {
		if len(v.in) < 2000 {
			f.Add([]byte(v.in), v.mirror != nil)
		}
	}
	s := start(f)
	f.Fuzz(func(t *testing.T, in []byte, headers bool) {
		s.t = t
		m := pipeline.Inbound{Raw: append([]byte(nil), in...)}
		if headers {
			m.Mirror = mirror("tools/call", "echo")
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		sealed, ok, err := s.Line().Call(ctx, m)
		if err != nil && strings.Contains(string(in), "wait") {
			return // a tool of these tests that waits until it is told
		}
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			open(t, sealed)
		}
	})
}

// R-META-09, R-META-10, R-BASE-19 to R-BASE-23: over everything the vectors provoke.
func TestClosedSets(t *testing.T) {
	s := start(t)
	key := regexp.MustCompile(`^([a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*/)?[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$`)
	codes := map[int]bool{0: true, -32700: true, -32600: true, -32601: true, -32602: true, -32603: true, -32020: true, -32022: true}
	for _, v := range vectors {
		r := s.call(pipeline.Inbound{Raw: []byte(v.in), Mirror: v.mirror})
		if !codes[r.code] {
			t.Errorf("%s %s: code %d", v.ids, v.trick, r.code)
		}
		m, _ := r.result["_meta"].(map[string]any)
		for k := range m {
			if !key.MatchString(k) || wire.Reserved(k) && !wire.Defined(k) {
				t.Errorf("_meta key %q", k)
			}
		}
	}
}
