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
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-devserver/cmd/internal/transporttest"
	"mcp-devserver/pipeline"
)

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

// A connection that was opened in advance, as clients with a pool do, does not
// hold up the end.
func TestShutdownWithUnusedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Options{})
		c := b.pipes.dial()
		synctest.Wait()
		begin := time.Now()
		b.end()
		if took := time.Since(begin); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is still open")
		}
	})
}
