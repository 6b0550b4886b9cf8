package httpd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcp-devserver/cmd/internal/transporttest"
	"mcp-devserver/pipeline"
)

// A body without an announced length is cut off at the limit, and costs no more memory than that.
func TestEndlessChunkedBody(t *testing.T) {
	const limit, size = 1 << 20, 200 << 20
	s := start(t, Options{MaxBody: limit})
	c := s.dial(t)
	br := bufio.NewReader(c)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sent := 0
	chunk := []byte("10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n")
	if _, err := c.Write(raw{headers: []string{"Transfer-Encoding: chunked", "Content-Length:"}}.bytes(s.addr)); err != nil {
		t.Fatal(err)
	}
	for sent < size { // until the server has had enough
		n, err := c.Write(chunk)
		sent += n
		if err != nil {
			break
		}
	}
	runtime.ReadMemStats(&after)
	if sent > 64<<20 {
		t.Errorf("the server took %d MiB", sent>>20)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8*limit {
		t.Errorf("%d KiB allocated for a limit of %d KiB", grown>>10, limit>>10)
	}
	if resp, err := http.ReadResponse(br, nil); err == nil { // the answer may be lost in the reset
		if resp.Body.Close(); resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	if got := s.do(t, raw{body: strings.Repeat("x", limit+1), chunked: true}); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a byte too many: %d %q", got.status, got.body)
	}
	fit := `{"id":"1","do":"echo","text":"`
	fit += strings.Repeat("x", limit-len(fit)-2) + `"}`
	for _, chunked := range []bool{false, true} {
		if got := s.do(t, raw{body: fit, chunked: chunked}); got.status != http.StatusOK {
			t.Errorf("as long as allowed: %d %.100q", got.status, got.body)
		}
	}
}

// pipeListener accepts connections that a test makes, so that the clock of a bubble drives the server.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipes() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
func (l *pipeListener) dial() net.Conn {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours
}

// bubble is a server whose time is fake.
type bubble struct {
	*Server
	t     *testing.T
	line  *transporttest.Line
	pipes *pipeListener
	ended chan error
}

func inBubble(t *testing.T, o Options) *bubble {
	b := &bubble{t: t, line: transporttest.NewLine(pipeline.Options{}), pipes: newPipes(), ended: make(chan error, 1)}
	s, err := New(b.line.Line, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Server = s
	go func() { b.ended <- s.Serve(b.pipes) }()
	return b
}

func (b *bubble) end() {
	if err := b.Shutdown(b.t.Context()); err != nil {
		b.t.Error(err)
	}
	if err := <-b.ended; err != nil {
		b.t.Error(err)
	}
	b.line.Close(b.t)
}

// send writes a request and returns the connection and its reader.
func (b *bubble) send(r raw) (net.Conn, *bufio.Reader) {
	c := b.pipes.dial()
	go c.Write(r.bytes("localhost"))
	return c, bufio.NewReader(c)
}

func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{})
		begin := time.Now()
		c, br := b.send(raw{headers: []string{"Content-Length: 1000"}, body: "{"})
		var drip sync.WaitGroup
		drip.Go(func() { // a byte a second
			for {
				time.Sleep(time.Second)
				if _, err := c.Write([]byte(" ")); err != nil {
					return
				}
			}
		})
		got := readAnswer(t, br, "POST")
		if took := time.Since(begin); got.status != http.StatusRequestTimeout || took != 10*time.Second {
			t.Errorf("%d after %v", got.status, took)
		}
		c.Close()
		drip.Wait()
		b.end()
	})
}

func TestSlowHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{})
		begin := time.Now()
		c := b.pipes.dial()
		go c.Write([]byte("POST /mcp HT"))
		if _, err := io.ReadAll(c); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("cut off after %v", took)
		}
		c.Close()
		b.end()
	})
}

// A client that does not read its answer loses it after the time for one write, and holds up nobody meanwhile.
func TestClientDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{})
		begin := time.Now()
		c, _ := b.send(raw{body: `{"id":"1","do":"size","n":100000}`})
		synctest.Wait()
		other, br := b.send(raw{body: hello})
		if got := readAnswer(t, br, "POST"); got.status != 200 || time.Since(begin) != 0 {
			t.Errorf("another client: %d after %v", got.status, time.Since(begin))
		}
		other.Close()
		b.end()
		if took := time.Since(begin); took < 30*time.Second || took > 31*time.Second {
			t.Errorf("cut off after %v", took)
		}
		c.Close()
	})
}

// The same holds for the answers that need no line: a client that asks for ever and reads nothing loses its connection.
func TestClientDoesNotReadRefusals(t *testing.T) {
	asked := map[string][]byte{
		"no such path":   []byte("GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"health":         []byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"foreign host":   []byte("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
		"wrong method":   []byte("GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"wrong type":     raw{headers: []string{"Content-Type: text/plain"}, body: hello}.bytes("localhost"),
		"a notification": raw{body: `{"do":"note"}`}.bytes("localhost"),
	}
	for name, request := range asked {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := inBubble(t, Options{})
				begin := time.Now()
				c := b.pipes.dial()
				for {
					if _, err := c.Write(request); err != nil {
						break
					}
				}
				if took := time.Since(begin); took < 30*time.Second || took > 31*time.Second {
					t.Errorf("cut off after %v", took)
				}
				c.Close()
				b.end()
			})
		})
	}
}

// Clients that go away free their workers, with an answer in JSON pending as with a stream.
func TestDisconnectFreesWorkers(t *testing.T) {
	s := start(t, Options{})
	for _, accept := range []string{"application/json", "text/event-stream"} {
		var all []net.Conn
		for i := range 20 {
			c := s.dial(t)
			r := raw{headers: []string{"Accept: " + accept}, body: fmt.Sprintf(`{"id":"%d","do":"wait"}`, i)}
			if _, err := c.Write(r.bytes(s.addr)); err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		for range 8 {
			<-s.line.Entered
		}
		for _, c := range all {
			c.Close()
		}
		for range 8 {
			<-s.line.Left
		}
		// The queued twelve may or may not begin before their cancellation is seen.
		if got := s.do(t, raw{body: hello}); got.status != 200 || got.body != `{"id":"1","text":"hello"}` {
			t.Errorf("after the clients left: %d %q", got.status, got.body)
		}
		drain(s.line.Entered)
		drain(s.line.Left)
	}
}

func drain(c chan string) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}

// net/http takes a closed sending side for a client that has gone. Then no answer comes, rather than an empty one.
func TestHalfClosedClient(t *testing.T) {
	s := start(t, Options{})
	c := s.dial(t)
	if _, err := c.Write(raw{body: `{"id":"1","do":"wait"}`}.bytes(s.addr)); err != nil {
		t.Fatal(err)
	}
	<-s.line.Entered
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	<-s.line.Left
	if b, err := io.ReadAll(c); len(b) > 0 {
		t.Errorf("%q %v", b, err)
	}
}

// Bodies share a budget, of which a request takes what it has sent, not what it has announced.
func TestBodyBudget(t *testing.T) {
	s := start(t, Options{BodyBudget: 64 << 10, MaxBody: 1 << 20})
	var liars []net.Conn
	for range 20 {
		c := s.dial(t)
		if _, err := c.Write(raw{headers: []string{"Content-Length: 1000000", "Expect: 100-continue"}}.bytes(s.addr)); err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(got, "100") {
			t.Fatalf("%q %v", got, err)
		}
		liars = append(liars, c)
		if len(liars) == 3 {
			break
		}
	}
	if n := s.held.Load(); n > 3*16<<10 {
		t.Errorf("%d bytes taken for announcements", n)
	}
	if got := s.do(t, raw{body: hello}); got.status != 200 {
		t.Errorf("beside them: %d %q", got.status, got.body)
	}
	big := raw{body: `{"id":"1","do":"echo","text":"` + strings.Repeat("x", 100<<10) + `"}`}
	if got := s.do(t, big); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || got.body != string(refusals[noRoom].body) {
		t.Errorf("over the budget: %d %.100q", got.status, got.body)
	}
	for _, c := range liars {
		c.Close()
	}
}

func TestConnectionLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{MaxConnections: 2})
		first, _ := b.send(raw{body: `{"id":"1","do":"wait"}`})
		second, br := b.send(raw{body: hello})
		if got := readAnswer(t, br, "POST"); got.status != 200 {
			t.Error(got)
		}
		third := make(chan net.Conn)
		go func() { third <- b.pipes.dial() }()
		synctest.Wait()
		select {
		case <-third:
			t.Error("a third connection was accepted")
		default:
		}
		second.Close()
		c := <-third
		go c.Write(raw{body: hello}.bytes("localhost"))
		if got := readAnswer(t, bufio.NewReader(c), "POST"); got.status != 200 {
			t.Error(got)
		}
		first.Close()
		c.Close()
		b.end()
	})
}

func TestLongHeaders(t *testing.T) {
	s := start(t, Options{})
	c := s.dial(t)
	go c.Write(raw{headers: []string{"X: " + strings.Repeat("x", 64<<10)}, body: hello}.bytes(s.addr))
	if got, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(got, " 431 ") {
		t.Errorf("%q %v", got, err)
	}
}

// Whatever the header says, only the loopback names and the configured ones pass.
func FuzzHostAndOrigin(f *testing.F) {
	for _, s := range []string{
		"localhost", "localhost:80", "[::1]:1", "127.0.0.1", "evil.com", "localhost.evil.com", "localhost@evil.com", "localhost:80@evil.com",
		"[::1", "[::1]x", "[::1%25lo]", "localhost:", "localhost:0", "localhost:99999", "localhost:+1", "http://localhost", "https://[::1]:3",
		"null", "http://localhost/x", "http://localhost\\.evil.com", "http://localhost#.evil.com", "ok.example.com", "https://ok.example.com", "\x00",
	} {
		f.Add(s)
	}
	hosts, err1 := parseHosts([]string{"ok.example.com"})
	origins, err2 := parseOrigins([]string{"https://ok.example.com"})
	if err := errors.Join(err1, err2); err != nil {
		f.Fatal(err)
	}
	ours := func(s string) bool {
		s = strings.ToLower(s)
		for _, n := range []string{"localhost", "127.0.0.1", "[::1]", "ok.example.com"} {
			if rest, ok := strings.CutPrefix(s, n); ok && (rest == "" || rest[0] == ':' && strings.Trim(rest[1:], "0123456789") == "" && rest != ":") {
				return true
			}
		}
		return false
	}
	f.Fuzz(func(t *testing.T, s string) {
		if hosts.host(s) && !ours(s) {
			t.Errorf("host %q", s)
		}
		if origins.origin([]string{s}) {
			rest, ok := strings.CutPrefix(strings.ToLower(s), "http://")
			if !ok {
				rest, ok = strings.CutPrefix(strings.ToLower(s), "https://")
			}
			if !ok || !ours(rest) {
				t.Errorf("origin %q", s)
			}
		}
	})
}

// No Accept or Content-Type makes the parsers fail, and each header alone decides as it does among empty ones.
func FuzzTypes(f *testing.F) {
	for _, s := range []string{"", "*/*", "application/json;q=0", "text/event-stream, */*;q=0.1", "application/json; charset=\"utf-8\"", "a/b;q=;q", ";;,,", "application/json;charset=utf-16"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, again := accept([]string{s}), accept([]string{"", s, ","}); got != again {
			t.Errorf("accept %q: %+v, with empty parts %+v", s, got, again)
		}
		all := accept([]string{s, "application/json", "text/event-stream"})
		if !all.json || !all.stream {
			t.Errorf("accept %q takes away what other headers admit", s)
		}
		if isJSON([]string{s}) && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(s)), "application/json") {
			t.Errorf("content type %q", s)
		}
	})
}
