package httpd

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
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

func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{})
		c, br := b.send(raw{headers: []string{"Accept: text/event-stream"}, body: `{"id":"1","do":"sleep","text":"40s"}`})
		got := readAnswer(t, br, "POST")
		want := ":\n\n:\n\nevent: message\ndata: {\"id\":\"1\",\"text\":\"40s\"}\n\n"
		if got.status != 200 || got.body != want {
			t.Errorf("%d %q", got.status, got.body)
		}
		begin := time.Now() // the stream has ended, the connection lives
		go c.Write(raw{body: hello}.bytes("localhost"))
		if got := readAnswer(t, br, "POST"); got.body != `{"id":"1","text":"hello"}` || time.Since(begin) != 0 {
			t.Errorf("after a stream: %d %q", got.status, got.body)
		}
		if _, err := io.ReadAll(br); err != nil || time.Since(begin) != time.Minute {
			t.Errorf("an idle connection was closed after %v: %v", time.Since(begin), err)
		}
		c.Close()
		b.end()
	})
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

func TestPipelinedRequests(t *testing.T) {
	s := start(t, Options{})
	c := s.dial(t)
	var all []byte
	for i := range 20 {
		do := []string{"echo", "send", "note", "fail"}[i%4]
		all = append(all, raw{body: fmt.Sprintf(`{"id":"%d","do":"%s","n":1,"text":"t%d"}`, i, do, i)}.bytes(s.addr)...)
	}
	if _, err := c.Write(all); err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(c)
	for i := range 20 {
		got := readAnswer(t, br, "POST")
		want := []string{
			fmt.Sprintf(`{"id":"%d","text":"t%d"}`, i, i),
			fmt.Sprintf("event: message\ndata: {\"note\":\"%d 0\"}\n\nevent: message\ndata: {\"id\":\"%d\",\"text\":\"t%d\"}\n\n", i, i, i),
			"",
			fmt.Sprintf(`{"id":"%d","error":"t%d"}`, i, i),
		}[i%4]
		if got.body != want {
			t.Errorf("request %d: %q, want %q", i, got.body, want)
		}
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

func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{DrainDelay: 2 * time.Second})
		plain, br1 := b.send(raw{body: `{"id":"1","do":"sleep","text":"5s"}`})
		stream, br2 := b.send(raw{headers: []string{"Accept: text/event-stream"}, body: `{"id":"2","do":"sleep","text":"6s"}`})
		probe, br3 := b.send(raw{method: "GET", target: "/readyz"})
		if got := readAnswer(t, br3, "GET"); got.status != 200 || got.body != `{"status":"ready"}` {
			t.Errorf("ready: %d %q", got.status, got.body)
		}
		synctest.Wait() // the two are in flight
		begin := time.Now()
		ended := make(chan error)
		go func() { ended <- b.Shutdown(t.Context()) }()
		synctest.Wait()
		late, br4 := b.send(raw{method: "GET", target: "/readyz"})
		if got := readAnswer(t, br4, "GET"); got.status != 503 || got.body != `{"status":"draining"}` {
			t.Errorf("while draining: %d %q", got.status, got.body)
		}
		go late.Write(raw{body: hello}.bytes("localhost"))
		if got := readAnswer(t, br4, "POST"); got.status != 503 || got.header.Get("Retry-After") == "" || got.body != string(refusals[draining].body) {
			t.Errorf("a new message while draining: %d %q", got.status, got.body)
		}
		if got := readAnswer(t, br1, "POST"); got.body != `{"id":"1","text":"5s"}` {
			t.Errorf("in flight: %q", got.body)
		}
		if got := readAnswer(t, br2, "POST"); got.body != "event: message\ndata: {\"id\":\"2\",\"text\":\"6s\"}\n\n" {
			t.Errorf("stream in flight: %q", got.body)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < 6*time.Second || took > 7*time.Second {
			t.Errorf("took %v", took)
		}
		if err := <-b.ended; err != nil {
			t.Error(err)
		}
		for _, c := range []net.Conn{plain, stream, probe, late} {
			c.Close()
		}
		b.line.Close(t)
	})
}

// When the time is up, requests are told why they were cancelled.
func TestShutdownHard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{})
		c, br := b.send(raw{body: `{"id":"1","do":"wait"}`})
		stuck, br2 := b.send(raw{body: `{"id":"2","do":"hang"}`})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begin := time.Now()
		ended := make(chan error)
		go func() { ended <- b.Shutdown(ctx) }()
		if got := readAnswer(t, br, "POST"); got.body != `{"id":"1","error":"shutdown"}` || time.Since(begin) != 10*time.Second {
			t.Errorf("after %v: %q", time.Since(begin), got.body)
		}
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		if took := time.Since(begin); took > 11*time.Second {
			t.Errorf("took %v", took)
		}
		if left, err := io.ReadAll(br2); len(left) > 0 {
			t.Errorf("a request that cannot be stopped: %q %v", left, err)
		}
		<-b.ended
		c.Close()
		stuck.Close()
		b.line.Close(t)
	})
}

func TestClosedLine(t *testing.T) {
	line := transporttest.NewLine(pipeline.Options{})
	line.Close(t)
	s, err := New(line.Line, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(hello))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	if s.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || s.held.Load() != 0 {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

func TestReadyIsCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, ok := 0, false
		s, err := New(nil, Options{Ready: func() ([]byte, bool) {
			asked++
			return fmt.Appendf(nil, `{"asked":%d}`, asked), ok
		}})
		if err != nil {
			t.Fatal(err)
		}
		get := func() string {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/readyz", nil)
			r.Host = "localhost"
			s.ServeHTTP(w, r)
			return fmt.Sprint(w.Code, " ", w.Body)
		}
		for range 100 {
			if got := get(); got != `503 {"asked":1}` {
				t.Fatal(got)
			}
		}
		ok = true
		time.Sleep(time.Second)
		if got := get(); got != `200 {"asked":2}` {
			t.Error(got)
		}
	})
}

func TestClientKeys(t *testing.T) {
	proxy := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	cases := []struct {
		name, remote string
		forwarded    []string
		trusted      []netip.Prefix
		token        int
		want         string
	}{
		{"IPv4", "192.0.2.1:80", nil, nil, -1, "192.0.2.1"},
		{"IPv6 by network", "[2001:db8:1:2:3::4]:80", nil, nil, -1, "2001:db8:1:2::/64"},
		{"mapped IPv4", "[::ffff:192.0.2.1]:80", nil, nil, -1, "192.0.2.1"},
		{"IPv6 with a zone", "[fe80::1%eth0]:80", nil, nil, -1, "fe80::/64"},
		{"a token goes before", "192.0.2.1:80", nil, nil, 1, "token 1"},
		{"forwarded, nobody is trusted", "192.0.2.1:80", []string{"198.51.100.1"}, nil, -1, "192.0.2.1"},
		{"forwarded by a stranger", "192.0.2.1:80", []string{"198.51.100.1"}, proxy, -1, "192.0.2.1"},
		{"forwarded by the proxy", "10.0.0.1:80", []string{"198.51.100.1"}, proxy, -1, "198.51.100.1"},
		{"forged before the proxy", "10.0.0.1:80", []string{"1.1.1.1, 198.51.100.1"}, proxy, -1, "198.51.100.1"},
		{"two proxies", "10.0.0.1:80", []string{"1.1.1.1, 198.51.100.1", "10.0.0.2"}, proxy, -1, "198.51.100.1"},
		{"garbage", "10.0.0.1:80", []string{"evil"}, proxy, -1, "10.0.0.1"},
		{"no address", "pipe", nil, proxy, -1, "unknown"},
	}
	for _, c := range cases {
		s, err := New(nil, Options{TrustedProxies: c.trusted})
		if err != nil {
			t.Fatal(err)
		}
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := s.client(r, c.token); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	locked := start(t, Options{Tokens: []string{"a", "b"}})
	if got := locked.do(t, raw{headers: []string{"Authorization: Bearer b"}, body: `{"id":"1","do":"client"}`}); got.body != `{"id":"1","text":"token 1"}` {
		t.Errorf("%q", got.body)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{Path: "mcp"}, {Path: "/mcp?x"}, {Path: "/healthz"}, {Hosts: []string{"*"}}, {Hosts: []string{"a:b"}}, {Hosts: []string{""}},
		{Origins: []string{"*"}}, {Origins: []string{"null"}}, {Origins: []string{"https://a.example/path"}}, {Origins: []string{"example.com"}},
	} {
		if _, err := New(nil, o); err == nil {
			t.Errorf("accepted: %+v", o)
		}
	}
}

// HTTP/2 is off, also where TLS would negotiate it.
func TestTLS(t *testing.T) {
	donor := httptest.NewUnstartedServer(nil)
	donor.StartTLS()
	cert := donor.TLS.Certificates[0]
	pool := x509.NewCertPool()
	pool.AddCert(donor.Certificate())
	donor.Close()
	s := start(t, Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	c, err := tls.Dial("tcp", s.addr, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if p := c.ConnectionState().NegotiatedProtocol; p != "http/1.1" {
		t.Errorf("negotiated %q", p)
	}
	if _, err := c.Write(raw{body: hello}.bytes(s.addr)); err != nil {
		t.Fatal(err)
	}
	if got := readAnswer(t, bufio.NewReader(c), "POST"); got.body != `{"id":"1","text":"hello"}` {
		t.Errorf("%d %q", got.status, got.body)
	}
	if _, err := tls.Dial("tcp", s.addr, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 was accepted")
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

func BenchmarkCall(b *testing.B) {
	s := start(b, Options{})
	c := s.dial(b)
	br := bufio.NewReader(c)
	question := raw{body: hello}.bytes(s.addr)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(question); err != nil {
			b.Fatal(err)
		}
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
	}
}
