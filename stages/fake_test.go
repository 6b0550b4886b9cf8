package stages

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

// The tools of these tests: first accepts {} and says little; echo does what its argument do says.

type echoIn struct {
	Path  string `json:"path"`
	Do    string `json:"do"`
	Count int    `json:"count"`
	Flag  bool   `json:"flag"`
	Text  string `json:"text"`
}

type echoOut struct {
	answer.Frame
	path, text answer.Ref
	count      int
	flag       bool
}

func (o *echoOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Text("path", o.path)
	j.Int("count", int64(o.count))
	j.Bool("flag", o.flag)
	p.Outside(o.path)
}

func (o *echoOut) Body(j *answer.JSON, p *answer.Prose) {
	j.Text("text", o.text)
	p.Text(o.text)
	p.Word("\n")
}

const echoOutput = `{"type":"object","required":["path","count","text"],"additionalProperties":false,"properties":{"path":{"type":"string"},"count":{"type":"integer"},"flag":{"type":"boolean"},"text":{"type":"string"}}}`

var echoCodes = []sandbox.Code{sandbox.DeniedPath, sandbox.Busy, sandbox.Timeout, sandbox.RateLimited, sandbox.ResultTooLarge, sandbox.OutsideWorkspace}

// gate lets tests hold calls and see how many run.
type gate struct {
	open    chan struct{}
	started chan struct{}
}

func newGate() *gate { return &gate{open: make(chan struct{}), started: make(chan struct{}, 1024)} }

var errSecretCause = errors.New("open /home/user/secret/place: the cause")

func fakeTools(g *gate) []*tools.Tool {
	first := tools.New(tools.Definition{Name: "first", Title: "First", Description: "Says little.",
		Input: `{"type":"object","properties":{"path":{"type":"string","minLength":1,"default":"."}},"additionalProperties":false}`, Output: echoOutput, Codes: echoCodes},
		func(ctx context.Context, c *tools.Call, in echoIn) (*echoOut, error) {
			return &echoOut{Frame: answer.Frame{Complete: true}, path: c.Texts.Argument(in.Path), text: c.Texts.Content(secrets.Scan("x"), answer.None, 1)}, nil
		})
	echo := tools.New(tools.Definition{Name: "echo", Title: "Echo", Description: "Does as it is told.",
		Input: `{"type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096},"do":{"type":"string","enum":["","deny","fail","panic","wait","progress","big","ten","stubborn"],"default":""},
			"count":{"type":"integer","minimum":0,"maximum":100,"default":1},"flag":{"type":"boolean","default":false},"text":{"type":"string","default":"hello"},"glob":{"type":"string","minLength":1}},
			"required":["path"],"additionalProperties":false}`, Output: echoOutput, Codes: echoCodes},
		func(ctx context.Context, c *tools.Call, in echoIn) (*echoOut, error) { return runEcho(ctx, c, in, g) })
	last := tools.New(tools.Definition{Name: "last", Title: "Last", Description: "Needs a path.",
		Input: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`, Output: echoOutput, Codes: echoCodes},
		func(ctx context.Context, c *tools.Call, in echoIn) (*echoOut, error) { return nil, errSecretCause })
	return []*tools.Tool{first, echo, last}
}

func runEcho(ctx context.Context, c *tools.Call, in echoIn, g *gate) (*echoOut, error) {
	switch in.Do {
	case "deny":
		return nil, sandbox.Refuse(sandbox.OutsideWorkspace, sandbox.Args{"path": in.Path, "ws": "project"})
	case "fail":
		return nil, errSecretCause
	case "panic":
		panic("the tool panics over " + in.Path)
	case "wait":
		g.started <- struct{}{}
		select {
		case <-g.open:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "progress":
		for i := range int64(10) {
			c.Progress(i, 10, tools.PhaseWalk)
			time.Sleep(100 * time.Millisecond) // of synctest
			c.Progress(i, 10, tools.PhaseWalk)
		}
		for i := range int64(10) {
			c.Progress(i*5, 0, tools.PhaseSearch)
			time.Sleep(100 * time.Millisecond)
		}
	case "big":
		in.Text = strings.Repeat("x", 100_000)
	case "ten":
		in.Text = tenKiB
	}
	o := &echoOut{Frame: answer.Frame{Complete: true}, path: c.Texts.Argument(in.Path), count: in.Count, flag: in.Flag}
	o.text = c.Texts.Content(secrets.Scan(in.Text), o.path, 1)
	return o, nil
}

var tenKiB = strings.Repeat("func main() { fmt.Println(\"a line of an ordinary file\") } // 64 b\n", 160)

type server struct {
	*Stages
	t       testing.TB
	gate    *gate
	cut     bool // the test closes the line hard
	mu      sync.Mutex
	reports []Report
}

func (s *server) seen() []Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Report(nil), s.reports...)
}

func start(t testing.TB, change ...func(*Options)) *server {
	t.Helper()
	s := &server{t: t, gate: newGate()}
	o := Options{Tools: fakeTools(s.gate), Env: &tools.Env{Limits: tools.DefaultLimits()}, Server: Server{Name: "mcp-devserver", Version: "1.2.3", Title: "T"},
		Report: func(r *Report) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.reports = append(s.reports, *r)
		}}
	for _, c := range change {
		c(&o)
	}
	var err error
	if s.Stages, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Line().Close(context.Background()); err != nil && !s.cut {
			t.Error(err)
		}
	})
	return s
}

// reply is one answer, taken apart.
type reply struct {
	none   bool
	raw    string
	status int
	id     string // raw token, "" when there is no member
	code   int    // 0 for a result
	msg    string
	data   map[string]any
	result map[string]any
}

func (r reply) text() string {
	c, _ := r.result["content"].([]any)
	if len(c) != 1 {
		return ""
	}
	s, _ := c[0].(map[string]any)["text"].(string)
	return s
}

func (r reply) structured() map[string]any {
	m, _ := r.result["structuredContent"].(map[string]any)
	return m
}

func (s *server) call(in pipeline.Inbound) reply {
	s.t.Helper()
	sealed, ok, err := s.Line().Call(context.Background(), in)
	if err != nil {
		s.t.Fatal(err)
	}
	if !ok {
		return reply{none: true}
	}
	return open(s.t, sealed)
}

func open(t testing.TB, sealed seal.Sealed) reply {
	t.Helper()
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  map[string]any  `json:"result"`
		Error   *struct {
			Code    *int            `json:"code"`
			Message *string         `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	d := json.NewDecoder(strings.NewReader(string(sealed.Bytes())))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%s: %v", sealed.Bytes(), err)
	}
	r := reply{raw: string(sealed.Bytes()), status: sealed.Status(), id: string(m.ID), result: m.Result}
	switch {
	case m.Version != "2.0", strings.ContainsAny(r.raw, "\r\n"), (m.Result == nil) == (m.Error == nil), r.id == "null":
		t.Fatalf("not one response of this protocol: %s", r.raw)
	case m.Error != nil:
		if m.Error.Code == nil || m.Error.Message == nil || len([]rune(*m.Error.Message)) > 260 {
			t.Fatalf("not an error of this protocol: %s", r.raw)
		}
		r.code, r.msg = *m.Error.Code, *m.Error.Message
		if m.Error.Data != nil {
			if err := json.Unmarshal(m.Error.Data, &r.data); err != nil {
				t.Fatal(err)
			}
		}
	default:
		if m.Result["resultType"] != "complete" {
			t.Fatalf("resultType: %s", r.raw)
		}
		meta, _ := m.Result["_meta"].(map[string]any)
		info, _ := meta[wire.KeyServerInfo].(map[string]any)
		if info["name"] != "mcp-devserver" || info["version"] != "1.2.3" {
			t.Fatalf("serverInfo: %s", r.raw)
		}
	}
	return r
}

const (
	pv = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	cc = `"io.modelcontextprotocol/clientCapabilities":{}`
)

// req writes a request with a full envelope; members may be "" or begin with a comma.
func req(id, method, members string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"_meta":{` + pv + `,` + cc + `}` + members + `}}`
}

func echo(id, args string) string {
	return req(id, "tools/call", `,"name":"echo","arguments":`+args)
}

// mirror is the full correct set of headers, with replacements: "Name: value", or "Name" to leave one out.
func mirror(method, name string, changes ...string) pipeline.Mirror {
	m := pipeline.Mirror{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if name != "" {
		m["Mcp-Name"] = []string{name}
	}
	cleared := map[string]bool{}
	for _, c := range changes {
		key, value, ok := strings.Cut(c, ": ")
		if !cleared[key] {
			delete(m, key)
			cleared[key] = true
		}
		if ok {
			m[key] = append(m[key], value)
		}
	}
	return m
}
