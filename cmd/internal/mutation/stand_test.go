// Package mutation proves the conformance suite: it breaks one requirement at a
// time in a live exchange with this server, and looks at which checks go red.
//
// A stand is a server to be judged: ours, reached in process, over HTTP or over
// a pair of pipes, with something in between that may change every message and
// every header. A mutant is one such change.
package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"mcp-devserver/cmd/internal/app"
	"mcp-devserver/conformance"
)

type obj = map[string]any

// rawKey marks a reply that is not to be encoded but sent as it is.
const rawKey = "\x00raw"

// message is one message of the client on its way.
type message struct {
	raw    []byte
	v      obj // nil when raw is not an object
	method string
	id     any // nil when there is none
	say    func(obj)
}

func (m *message) params() obj { p, _ := m.v["params"].(obj); return p }
func (m *message) meta() obj   { p, _ := m.params()["_meta"].(obj); return p }
func (m *message) tool() string {
	s, _ := m.params()["name"].(string)
	return s
}
func (m *message) version() string {
	s, _ := m.meta()["io.modelcontextprotocol/protocolVersion"].(string)
	return s
}

// session is what a stand knows of one connection, world what it knows of all.
type session struct {
	number int // 1 for the first connection
	count  int // messages so far
	memory map[string]any
	world  *world
}

type world struct {
	mu       sync.Mutex
	sessions int
	memory   map[string]any
}

func newWorld() *world { return &world{memory: map[string]any{}} }

func (w *world) session() *session {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions++
	return &session{number: w.sessions, memory: map[string]any{}, world: w}
}

// tamper changes messages. before may change one, or answer it in place of the
// server (true); after changes the replies.
type tamper struct {
	before func(*session, *message) ([]obj, bool)
	after  func(*session, *message, []obj) []obj
}

func decode(raw []byte) *message {
	m := &message{raw: raw}
	if v, ok := decodeAny(raw).(obj); ok && utf8.Valid(raw) {
		m.v = v
		m.method, _ = v["method"].(string)
		m.id = v["id"]
	}
	return m
}

func decodeAny(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func encode(v any) []byte {
	if o, ok := v.(obj); ok {
		if raw, ok := o[rawKey].(string); ok {
			return []byte(raw)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// clone copies a JSON value.
func clone(v obj) obj {
	c, _ := decodeAny(encode(v)).(obj)
	return c
}

// enter runs a message through the tampers on the way in.
func enter(s *session, m *message, all []tamper) (replies []obj, answered bool) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.count++
	for _, t := range all {
		if t.before == nil {
			continue
		}
		if replies, answered = t.before(s, m); answered {
			return replies, true
		}
	}
	return nil, false
}

// leave runs replies through the tampers on the way out, in reverse order.
func leave(s *session, m *message, replies []obj, all []tamper) []obj {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].after != nil {
			replies = all[i].after(s, m, replies)
		}
	}
	return replies
}

// conversation is a connection to a local stand.
type conversation struct {
	to      *app.Conversation
	session *session
	tampers []tamper
}

func (c *conversation) Send(ctx context.Context, raw []byte, say func([]byte), done func()) error {
	m := decode(raw)
	m.say = func(v obj) { say(encode(v)) }
	finish := func(replies []obj) {
		for _, v := range leave(c.session, m, replies, c.tampers) {
			say(encode(v))
		}
		done()
	}
	if replies, answered := enter(c.session, m, c.tampers); answered {
		finish(replies)
		return nil
	}
	if m.v != nil {
		raw = encode(m.v)
		if len(m.raw) > 0 && decodeAny(m.raw) == nil { // what is no JSON stays as it is
			raw = m.raw
		}
	}
	var replies []obj
	return c.to.Send(ctx, raw, func(b []byte) {
		if v, ok := decodeAny(b).(obj); ok {
			replies = append(replies, v)
		}
	}, func() { finish(replies) })
}

func local(tb testing.TB, a *app.App, tampers []tamper) *conformance.Target {
	tb.Helper()
	w := newWorld()
	return conformance.InProcess("stand", func() conformance.Conversation {
		return &conversation{a.Dial(), w.session(), tampers}
	})
}

// server builds ours over a small workspace. It is shared: it keeps no state.
func server(tb testing.TB) *app.App {
	tb.Helper()
	a, err := newServer()
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

var workspace string

func newServer() (*app.App, error) {
	cfg, problems := app.Load([]string{
		"MCP_SANDBOX__WORKSPACE=" + workspace, "MCP_LIMITS__RATE_LIMIT=false", "MCP_GIT__ENABLED=false",
	}, nil)
	for _, p := range problems {
		if !p.Warn {
			return nil, errors.New(p.String())
		}
	}
	return app.New(cfg, app.Build{Version: "0"}, zerolog.Nop(), "test")
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		panic(err)
	}
	workspace = filepath.Join(dir, "ws")
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "src/main.go": "package main\n\nfunc main() {}\n"} {
		path := filepath.Join(workspace, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// piped changes the lines of a pipe. in and out give the lines that go on in
// place of one; last is written to stdout at the end.
type piped struct {
	in     func(s *session, line string) []string
	out    func(s *session, line string) []string
	late   bool   // messages overtake each other on the way out
	first  string // written to stdout before anything else
	last   string
	stderr string
	// dies says that the process ends at once when it reads a line.
	dies func(line string) bool
	// stays says that the process outlives its input.
	stays func(s *session) bool
}

// pipes makes a stand over pipes. Every process is a server of its own.
func pipes(tb testing.TB, p piped) *conformance.Target {
	tb.Helper()
	w := newWorld()
	return conformance.Stdio("stand", func(ctx context.Context) (*conformance.Process, error) {
		a, err := newServer()
		if err != nil {
			return nil, err
		}
		return start(a, w.session(), p), nil
	})
}

func start(a *app.App, s *session, p piped) *conformance.Process {
	ctx, kill := context.WithCancel(context.Background())
	stdin, toProxy := io.Pipe()
	toServer, fromProxy := io.Pipe()
	fromServer, toClient := io.Pipe()
	stdout, out := io.Pipe()
	stderr, errs := io.Pipe()
	ended := make(chan struct{})
	end := func() {
		kill()
		for _, c := range []io.Closer{stdin, toServer, fromServer, stdout, stderr} {
			c.Close()
		}
	}
	go func() { // the way in
		lines(stdin, func(line string) {
			if p.dies != nil && p.dies(line) {
				end()
				return
			}
			forward(s, p.in, line, fromProxy)
		})
		fromProxy.Close()
	}()
	go func() {
		_ = a.ServeStdio(ctx, toServer, toClient)
		toServer.Close()
		toClient.Close()
	}()
	go func() { // the way out
		io.WriteString(out, p.first)
		if p.late {
			slow := &lateWriter{to: out}
			lines(fromServer, func(line string) { forward(s, p.out, line, slow) })
			slow.all.Wait()
		} else {
			lines(fromServer, func(line string) { forward(s, p.out, line, out) })
		}
		io.WriteString(out, p.last)
		if p.stays != nil && p.stays(s) {
			<-ctx.Done()
		}
		out.Close()
		errs.Close()
		close(ended)
	}()
	go io.WriteString(errs, "listening\n"+p.stderr)
	return &conformance.Process{Stdin: toProxy, Stdout: stdout, Stderr: stderr, Wait: func() error { <-ended; kill(); return nil }, Kill: end}
}

func forward(s *session, f func(*session, string) []string, line string, to io.Writer) {
	all := []string{line}
	if f != nil {
		s.world.mu.Lock()
		all = f(s, line)
		s.world.mu.Unlock()
	}
	for _, l := range all {
		io.WriteString(to, l+"\n")
	}
}

func lines(r io.Reader, visit func(string)) {
	var rest []byte
	b := make([]byte, 32<<10)
	for {
		n, err := r.Read(b)
		rest = append(rest, b[:n]...)
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			visit(string(rest[:i]))
			rest = rest[i+1:]
		}
		if err != nil {
			return
		}
	}
}
