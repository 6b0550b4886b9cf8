package httpd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mcp-devserver/cmd/internal/transporttest"
	"mcp-devserver/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hello = `{"id":"1","do":"echo","text":"hello"}`

// server is a real one on a loopback port.
type server struct {
	*Server
	line *transporttest.Line
	addr string
	ln   net.Listener
}

func start(t testing.TB, o Options) *server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, ln, o)
}

func startOn(t testing.TB, ln net.Listener, o Options) *server {
	t.Helper()
	line := transporttest.NewLine(pipeline.Options{})
	s, err := New(line.Line, o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		line.Close(t)
		if n := s.held.Load(); n != 0 {
			t.Errorf("%d bytes of bodies are still counted", n)
		}
	})
	return &server{s, line, ln.Addr().String(), ln}
}

// raw is a request as bytes: what a browser or an attacker puts on the wire, which http.Client would not.
type raw struct {
	method, target string
	headers        []string // "Name: value"; they replace the usual ones of the same name, "Name:" removes
	body           string
	chunked        bool
}

func (r raw) bytes(addr string) []byte {
	if r.method == "" {
		r.method = http.MethodPost
	}
	if r.target == "" {
		r.target = "/mcp"
	}
	lines := []string{"Host: " + addr, "Content-Type: application/json", "Accept: application/json, text/event-stream"}
	if r.chunked {
		lines = append(lines, "Transfer-Encoding: chunked")
	} else {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(r.body)))
	}
	for _, h := range r.headers {
		name, _, _ := strings.Cut(h, ":")
		lines = slices.DeleteFunc(lines, func(l string) bool {
			n, _, _ := strings.Cut(l, ":")
			return strings.EqualFold(n, name)
		})
	}
	for _, h := range r.headers {
		if !strings.HasSuffix(h, ":") {
			lines = append(lines, h)
		}
	}
	body := r.body
	if r.chunked {
		body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(r.body), r.body)
	}
	return []byte(r.method + " " + r.target + " HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n" + body)
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (s *server) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func readAnswer(t testing.TB, br *bufio.Reader, method string) answer {
	t.Helper()
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("half an answer: %v", err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

func (s *server) do(t testing.TB, r raw) answer {
	t.Helper()
	c := s.dial(t)
	defer c.Close()
	if _, err := c.Write(r.bytes(s.addr)); err != nil {
		t.Fatal(err)
	}
	return readAnswer(t, bufio.NewReader(c), r.method)
}

// events returns the data of a stream, which may hold nothing but our kind of events and comments.
func events(t testing.TB, body string) (all []string) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(block, "event: message\ndata: ")
		if !ok || strings.Contains(data, "\n") {
			t.Errorf("not an event: %q", block)
		}
		all = append(all, data)
	}
	return all
}

// The table that every transport passes.
func TestTable(t *testing.T) {
	s := start(t, Options{MaxBody: transporttest.MaxMessage})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	transporttest.Run(t, func(in string) ([]string, error) {
		req, err := http.NewRequest(http.MethodPost, "http://"+s.addr+"/mcp", strings.NewReader(in))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		if cc := resp.Header.Get("Cache-Control"); cc != "no-store" {
			return nil, fmt.Errorf("Cache-Control %q", cc)
		}
		switch kind := resp.Header.Get("Content-Type"); {
		case resp.StatusCode == http.StatusAccepted && len(b) == 0:
			return nil, nil
		case kind == "application/json":
			return []string{string(b)}, nil
		case kind == "text/event-stream":
			if resp.Header.Get("X-Accel-Buffering") != "no" {
				return nil, fmt.Errorf("a stream without X-Accel-Buffering")
			}
			return events(t, string(b)), nil
		default:
			return nil, fmt.Errorf("status %d, %q, %d bytes", resp.StatusCode, kind, len(b))
		}
	})
}

// Each row is one request and what comes back. No refused request may reach the line.
func TestLadder(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	open := start(t, Options{Hosts: []string{"mcp.example.com", "exact.example.com:8443"}, Origins: []string{"https://app.example.com"}})
	locked := start(t, Options{Tokens: []string{"another", token}})
	auth := "Authorization: Bearer " + token
	rpc := func(r refusal) string { return string(refusals[r].body) }
	cases := []struct {
		name   string
		at     *server
		r      raw
		status int
		body   string // "" accepts any
	}{
		{"a plain call", open, raw{body: hello}, 200, `{"id":"1","text":"hello"}`},
		{"chunked", open, raw{body: hello, chunked: true}, 200, `{"id":"1","text":"hello"}`},
		{"status of the stages", open, raw{body: `{"id":"1","do":"status","n":404}`}, 404, `{"id":"1","text":""}`},
		{"a notification", open, raw{body: `{"do":"note"}`}, 202, ""},
		{"headers of earlier revisions", open, raw{headers: []string{"Mcp-Session-Id: x", "Last-Event-ID: 1"}, body: hello}, 200, ""},

		// H1: DNS rebinding makes a browser send the attacker's name as Host; other sites are seen by their Origin.
		{"rebinding: the attacker's host", open, raw{headers: []string{"Host: evil.example.com"}, body: hello}, 403, rpc(badHost)},
		{"rebinding: with our port", open, raw{headers: []string{"Host: evil.example.com:8080"}, body: hello}, 403, rpc(badHost)},
		{"rebinding: host that begins like ours", open, raw{headers: []string{"Host: localhost.evil.com"}, body: hello}, 403, rpc(badHost)},
		{"rebinding: host that holds our address", open, raw{headers: []string{"Host: 127.0.0.1.nip.io"}, body: hello}, 403, rpc(badHost)},
		{"rebinding: user part", open, raw{headers: []string{"Host: localhost@evil.com"}, body: hello}, 400, ""},
		{"rebinding: dot at the end", open, raw{headers: []string{"Host: localhost."}, body: hello}, 403, rpc(badHost)},
		{"rebinding: another loopback address", open, raw{headers: []string{"Host: 127.1"}, body: hello}, 403, rpc(badHost)},
		{"rebinding: all interfaces", open, raw{headers: []string{"Host: 0.0.0.0"}, body: hello}, 403, rpc(badHost)},
		{"rebinding: mapped address", open, raw{headers: []string{"Host: [::ffff:127.0.0.1]"}, body: hello}, 403, rpc(badHost)},
		{"two hosts", open, raw{headers: []string{"Host: localhost", "Host: evil.com"}, body: hello}, 400, ""},
		{"no host", open, raw{headers: []string{"Host:"}, body: hello}, 400, ""},
		{"absolute target names another host", open, raw{target: "http://evil.example.com/mcp", body: hello}, 403, rpc(badHost)},
		{"absolute target", open, raw{target: "http://localhost/mcp", body: hello}, 200, `{"id":"1","text":"hello"}`},
		{"absolute target, with port and query, for a proxy's scheme", open, raw{target: "HTTPS://LocalHost:8443/mcp?x=http://a/b", body: hello}, 200, ""},
		{"absolute target: its authority counts, not the Host header", open, raw{target: "http://localhost/mcp", headers: []string{"Host: evil.example.com"}, body: hello}, 200, ""},
		{"absolute target names another host, and Host ours", open, raw{target: "http://evil.example.com/mcp", headers: []string{"Host: localhost"}, body: hello}, 403, rpc(badHost)},
		{"absolute target with a user", open, raw{target: "http://me@localhost/mcp", body: hello}, 404, ""},
		{"absolute target without a path", open, raw{target: "http://localhost", body: hello}, 404, ""},
		{"absolute target of another scheme", open, raw{target: "ftp://localhost/mcp", body: hello}, 404, ""},
		{"absolute target in a path", open, raw{target: "/http://localhost/mcp", body: hello}, 404, ""},
		{"absolute target without a host", open, raw{target: "http:///mcp", body: hello}, 404, ""},
		{"host: localhost", open, raw{headers: []string{"Host: localhost"}, body: hello}, 200, ""},
		{"host: LOCALHOST and a port", open, raw{headers: []string{"Host: LocalHost:1234"}, body: hello}, 200, ""},
		{"host: IPv6 loopback", open, raw{headers: []string{"Host: [::1]:8080"}, body: hello}, 200, ""},
		{"host: a configured name", open, raw{headers: []string{"Host: MCP.example.com"}, body: hello}, 200, ""},
		{"host: a configured name, any port", open, raw{headers: []string{"Host: mcp.example.com:99"}, body: hello}, 200, ""},
		{"host: a configured name and port", open, raw{headers: []string{"Host: exact.example.com:8443"}, body: hello}, 200, ""},
		{"host: another port than configured", open, raw{headers: []string{"Host: exact.example.com"}, body: hello}, 403, ""},
		{"origin: another site", open, raw{headers: []string{"Origin: http://evil.example.com"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: null, as from a sandboxed frame", open, raw{headers: []string{"Origin: null"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: begins like ours", open, raw{headers: []string{"Origin: http://localhost.evil.com"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: holds our address", open, raw{headers: []string{"Origin: http://127.0.0.1.nip.io"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: user part", open, raw{headers: []string{"Origin: http://localhost@evil.com"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: path", open, raw{headers: []string{"Origin: http://localhost/evil"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: another scheme", open, raw{headers: []string{"Origin: file://localhost"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: empty", open, raw{headers: []string{"Origin: ,"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: two", open, raw{headers: []string{"Origin: http://localhost", "Origin: http://evil.com"}, body: hello}, 403, rpc(badOrigin)},
		{"origin: loopback, any port", open, raw{headers: []string{"Origin: http://localhost:3000"}, body: hello}, 200, ""},
		{"origin: IPv6 loopback", open, raw{headers: []string{"Origin: https://[::1]:3000"}, body: hello}, 200, ""},
		{"origin: configured", open, raw{headers: []string{"Origin: https://app.example.com"}, body: hello}, 200, ""},
		{"origin: configured, another scheme", open, raw{headers: []string{"Origin: http://app.example.com"}, body: hello}, 403, ""},
		{"origin is checked on GET", open, raw{method: "GET", headers: []string{"Origin: http://evil.com"}}, 403, rpc(badOrigin)},
		{"origin is checked on preflights", open, raw{method: "OPTIONS", headers: []string{"Origin: http://evil.com", "Access-Control-Request-Method: POST"}}, 403, rpc(badOrigin)},
		{"origin is checked on /readyz", open, raw{method: "GET", target: "/readyz", headers: []string{"Origin: http://evil.com"}}, 403, rpc(badOrigin)},
		{"host is checked on /healthz", open, raw{method: "GET", target: "/healthz", headers: []string{"Host: evil.com"}}, 403, rpc(badHost)},
		{"host is checked on unknown paths", open, raw{method: "GET", target: "/x", headers: []string{"Host: evil.com"}}, 403, rpc(badHost)},
		{"host is checked on OPTIONS *", open, raw{method: "OPTIONS", target: "*", headers: []string{"Host: evil.com"}}, 403, rpc(badHost)},
		{"origin before token", locked, raw{headers: []string{"Origin: http://evil.com"}, body: hello}, 403, rpc(badOrigin)},

		// H2
		{"another path", open, raw{target: "/", body: hello}, 404, "not found\n"},
		{"slash at the end", open, raw{target: "/mcp/", body: hello}, 404, "not found\n"},
		{"two slashes", open, raw{target: "//mcp", body: hello}, 404, "not found\n"},
		{"dots", open, raw{target: "/x/../mcp", body: hello}, 404, "not found\n"},
		{"escaped", open, raw{target: "/%6dcp", body: hello}, 404, "not found\n"},
		{"upper case", open, raw{target: "/MCP", body: hello}, 404, "not found\n"},
		{"the old transport", open, raw{method: "GET", target: "/sse"}, 404, "not found\n"},
		{"well-known path", open, raw{method: "GET", target: "/.well-known/oauth-protected-resource/mcp"}, 404, "not found\n"},
		{"a query is ignored", open, raw{target: "/mcp?x=1", body: hello}, 200, ""},
		{"GET", open, raw{method: "GET"}, 405, rpc(badMethod)},
		{"DELETE", open, raw{method: "DELETE"}, 405, rpc(badMethod)},
		{"PUT", open, raw{method: "PUT", body: hello}, 405, rpc(badMethod)},
		{"HEAD", open, raw{method: "HEAD"}, 405, ""},
		{"OPTIONS", open, raw{method: "OPTIONS", headers: []string{"Origin: http://localhost:1"}}, 405, rpc(badMethod)},
		{"an invented method", open, raw{method: "POSTX", body: hello}, 405, rpc(badMethod)},
		{"method before token", locked, raw{method: "GET"}, 405, rpc(badMethod)},

		// H3
		{"no token", locked, raw{body: hello}, 401, rpc(badToken)},
		{"a wrong token", locked, raw{headers: []string{auth + "x"}, body: hello}, 401, rpc(badToken)},
		{"the beginning of a token", locked, raw{headers: []string{auth[:len(auth)-1]}, body: hello}, 401, rpc(badToken)},
		{"no scheme", locked, raw{headers: []string{"Authorization: " + token}, body: hello}, 401, rpc(badToken)},
		{"an empty token", locked, raw{headers: []string{"Authorization: Bearer "}, body: hello}, 401, rpc(badToken)},
		{"another scheme", locked, raw{headers: []string{"Authorization: Basic " + token}, body: hello}, 401, rpc(badToken)},
		{"two tokens", locked, raw{headers: []string{auth, auth}, body: hello}, 401, rpc(badToken)},
		{"a token in the query", locked, raw{target: "/mcp?access_token=" + token, body: hello}, 401, rpc(badToken)},
		{"token before types", locked, raw{headers: []string{"Content-Type: text/plain", "Accept: text/html"}, body: hello}, 401, rpc(badToken)},
		{"the token", locked, raw{headers: []string{auth}, body: hello}, 200, ""},
		{"the other token, scheme in lower case", locked, raw{headers: []string{"Authorization: bearer another"}, body: hello}, 200, ""},
		{"/healthz needs no token", locked, raw{method: "GET", target: "/healthz"}, 200, `{"status":"ok"}`},
		{"/readyz needs no token", locked, raw{method: "GET", target: "/readyz"}, 200, `{"status":"ready"}`},

		// H4: what a page of another site can send without being asked for permission is refused.
		{"simple cross-site POST: plain text", open, raw{headers: []string{"Content-Type: text/plain"}, body: hello}, 415, rpc(badType)},
		{"simple cross-site POST: form", open, raw{headers: []string{"Content-Type: application/x-www-form-urlencoded"}, body: hello}, 415, rpc(badType)},
		{"simple cross-site POST: JSON hidden in a parameter", open, raw{headers: []string{"Content-Type: text/plain; x=application/json"}, body: hello}, 415, rpc(badType)},
		{"simple cross-site POST: no type", open, raw{headers: []string{"Content-Type:"}, body: hello}, 415, rpc(badType)},
		{"two types", open, raw{headers: []string{"Content-Type: application/json", "Content-Type: text/plain"}, body: hello}, 415, rpc(badType)},
		{"a type like ours", open, raw{headers: []string{"Content-Type: application/json-rpc"}, body: hello}, 415, rpc(badType)},
		{"UTF-16", open, raw{headers: []string{"Content-Type: application/json; charset=utf-16"}, body: hello}, 415, rpc(badType)},
		{"UTF-8", open, raw{headers: []string{"Content-Type: Application/JSON; Charset=\"UTF-8\""}, body: hello}, 200, ""},
		{"gzip bomb", open, raw{headers: []string{"Content-Encoding: gzip"}, body: "\x1f\x8b\x08"}, 415, rpc(badEncoding)},
		{"two encodings", open, raw{headers: []string{"Content-Encoding: identity", "Content-Encoding: br"}, body: hello}, 415, rpc(badEncoding)},
		{"identity", open, raw{headers: []string{"Content-Encoding: Identity"}, body: hello}, 200, ""},
		{"a form that we do not have", open, raw{headers: []string{"Accept: text/html"}, body: hello}, 406, rpc(badAccept)},
		{"length over the limit", open, raw{headers: []string{"Content-Length: 8589934592"}, body: hello}, 413, rpc(tooLarge)},
		{"smuggling: both length and chunks, chunks count", open, raw{headers: []string{"Transfer-Encoding: chunked", "Content-Length: 5"}, body: "0\r\n\r\n"}, 400, `{"error":"not JSON"}`},
		{"smuggling: two lengths", open, raw{headers: []string{"Content-Length: 5", "Content-Length: 6"}, body: hello}, 400, ""},
		{"smuggling: an encoding nobody knows", open, raw{headers: []string{"Transfer-Encoding: gzip, chunked", "Content-Length:"}, body: hello}, 501, ""},
		{"a broken chunk", open, raw{headers: []string{"Transfer-Encoding: chunked", "Content-Length:"}, body: "zz\r\n"}, 400, rpc(badBody)},

		{"/healthz", open, raw{method: "HEAD", target: "/healthz"}, 200, ""},
		{"/healthz takes no POST", open, raw{target: "/healthz", body: hello}, 405, ""},
	}
	for _, c := range cases {
		got := c.at.do(t, c.r)
		if got.status != c.status || c.body != "" && got.body != c.body {
			t.Errorf("%s: %d %q, want %d %q", c.name, got.status, got.body, c.status, c.body)
		}
		if got.status >= 400 && got.status != 404 && got.header.Get("Content-Type") == "application/json" && got.body != "" && !strings.HasPrefix(got.body, `{"error"`) {
			var e struct {
				JSONRPC string
				ID      *int
				Error   struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal([]byte(got.body), &e); err != nil || e.JSONRPC != "2.0" || e.ID != nil || e.Error.Code == 0 || e.Error.Message == "" {
				t.Errorf("%s: not a JSON-RPC error: %q", c.name, got.body)
			}
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Mcp-Session-Id" || name == "Server" || name == "Location" {
				t.Errorf("%s: header %s", c.name, name)
			}
		}
		if cc := got.header.Get("Cache-Control"); cc != "no-store" && got.status != 400 && got.status != 501 {
			t.Errorf("%s: Cache-Control %q", c.name, cc)
		}
		switch got.status {
		case 401:
			if got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: no challenge", c.name)
			}
		case 405:
			if c.r.target == "" && got.header.Get("Allow") != "POST" {
				t.Errorf("%s: Allow %q", c.name, got.header.Get("Allow"))
			}
		}
	}
}

// The attacks of the ladder are real: a handler without its checks runs the call.
func TestWithoutGuardsTheAttacksSucceed(t *testing.T) {
	line := transporttest.NewLine(pipeline.Options{})
	defer line.Close(t)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s, _, err := line.Call(r.Context(), pipeline.Inbound{Raw: b})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(s.Bytes())
	}))
	defer bare.Close()
	s := &server{addr: bare.Listener.Addr().String()}
	for _, h := range []string{"Host: evil.example.com", "Host: 127.0.0.1.nip.io", "Origin: null", "Content-Type: text/plain"} {
		if got := s.do(t, raw{headers: []string{h}, body: hello}); got.status != 200 || got.body != `{"id":"1","text":"hello"}` {
			t.Errorf("%s: %d %q", h, got.status, got.body)
		}
	}
}

func TestRefusals(t *testing.T) {
	seen := map[string]bool{}
	for i := accepted + 1; i < refusalEnd; i++ {
		r := refusals[i]
		if r.status < 400 || r.code > -32600 || r.message == "" || len(r.message) > 200 || !json.Valid(r.body) {
			t.Errorf("refusal %d: %+v", i, r)
		}
		if bytes.Contains(r.body, []byte(`"id"`)) || seen[r.message] {
			t.Errorf("refusal %d has an id, or the message of another: %s", i, r.body)
		}
		seen[r.message] = true
	}
}

func TestAccept(t *testing.T) {
	cases := []struct {
		accept string
		want   forms
	}{
		{"", forms{true, true}},
		{"application/json, text/event-stream", forms{true, true}},
		{"*/*", forms{true, true}},
		{"application/*", forms{true, false}},
		{"application/json", forms{true, false}},
		{"APPLICATION/JSON", forms{true, false}},
		{"application/json; charset=utf-8", forms{true, false}},
		{"text/event-stream", forms{false, true}},
		{"text/*", forms{false, true}},
		{"text/html", forms{}},
		{"text/html, */*;q=0.1", forms{true, true}},
		{"application/json;q=0", forms{}},
		{"application/json;q=0, */*", forms{false, true}},
		{"*/*, application/json;q=0.000", forms{false, true}},
		{"*/*;q=0, application/json", forms{true, false}},
		{"application/*;q=0, */*", forms{false, true}},
		{"application/json;q=0.5;q=0", forms{}},
		{"application/json ; Q = 0", forms{}},
		{"application/json;q=0, application/json", forms{true, false}},
		{"application/json;q=2", forms{}},
		{"application/json;q=x, text/event-stream", forms{false, true}},
		{"application/json;q=NaN", forms{}},
		{",,application/json,,", forms{true, false}},
		{" , ", forms{true, true}},
		{"*", forms{}},
		{"application/", forms{}},
		{"/json", forms{}},
		{"*/json", forms{}},
	}
	for _, c := range cases {
		var h []string
		if c.accept != "" {
			h = []string{c.accept}
		}
		if got := accept(h); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.accept, got, c.want)
		}
		if got := accept(strings.Split(c.accept, ",")); c.accept != "" && got != c.want {
			t.Errorf("%q as several headers: %+v, want %+v", c.accept, got, c.want)
		}
	}
}

func TestForms(t *testing.T) {
	s := start(t, Options{})
	const sse = "text/event-stream"
	cases := []struct {
		name, accept, in string
		status           int
		kind             string
		want             []string
	}{
		{"a stream is asked for", "text/event-stream", hello, 200, sse, []string{`{"id":"1","text":"hello"}`}},
		{"a stream is asked for, and an error comes", "text/event-stream", `{"id":"1","do":"status","n":404}`, 404, sse, []string{`{"id":"1","text":""}`}},
		{"a stream is asked for a notification", "text/event-stream", `{"do":"note"}`, 202, "", nil},
		{"something precedes", "*/*", `{"id":"1","do":"send","n":2}`, 200, sse, []string{`{"note":"1 0"}`, `{"note":"1 1"}`, `{"id":"1","text":""}`}},
		{"something must precede, whatever was asked", "application/json", `{"id":"1","do":"send","n":1}`, 200, sse, []string{`{"note":"1 0"}`, `{"id":"1","text":""}`}},
		{"something may precede, but no stream is wanted", "application/json", `{"id":"1","do":"offer","n":2}`, 200, "application/json", []string{`{"id":"1","text":""}`}},
		{"a failure after a stream began", "*/*", `{"id":"1","do":"send","n":1}`, 200, sse, []string{`{"note":"1 0"}`, `{"id":"1","text":""}`}},
	}
	for _, c := range cases {
		got := s.do(t, raw{headers: []string{"Accept: " + c.accept}, body: c.in})
		body := []string{got.body}
		switch {
		case got.body == "":
			body = nil
		case c.kind == sse:
			body = events(t, got.body)
		}
		if got.status != c.status || got.header.Get("Content-Type") != c.kind || !slices.Equal(body, c.want) {
			t.Errorf("%s: %d %q %q, want %d %q %q", c.name, got.status, got.header.Get("Content-Type"), body, c.status, c.kind, c.want)
		}
	}
}

func TestMirror(t *testing.T) {
	s := start(t, Options{})
	cases := []struct {
		name, ask string
		headers   []string
		want      string
	}{
		{"absent", "Mcp-Method", nil, "absent"},
		{"present", "Mcp-Method", []string{"mcp-method: tools/call"}, "value tools/call"},
		{"any spelling of the name", "Mcp-Protocol-Version", []string{"MCP-PROTOCOL-VERSION: 2026-07-28"}, "value 2026-07-28"},
		{"white space", "Mcp-Name", []string{"Mcp-Name:  \t tool \t "}, "value tool"},
		{"empty", "Mcp-Name", []string{"Mcp-Name: "}, "value "},
		{"twice the same", "Mcp-Name", []string{"Mcp-Name: a", "mcp-name: a"}, "value a"},
		{"smuggled: twice, differing", "Mcp-Name", []string{"Mcp-Name: a", "Mcp-Name: b"}, "conflict"},
		{"a list stays one value", "Mcp-Name", []string{"Mcp-Name: a, b"}, "value a, b"},
		{"of a parameter", "Mcp-Param-Path", []string{"Mcp-Param-Path: x"}, "value x"},
		{"other headers are not passed on", "Authorization", []string{"Authorization: Bearer x"}, "absent"},
	}
	for _, c := range cases {
		got := s.do(t, raw{headers: c.headers, body: `{"id":"1","do":"mirror","text":"` + c.ask + `"}`})
		if want := `{"id":"1","text":"` + c.want + `"}`; got.body != want {
			t.Errorf("%s: %q, want %q", c.name, got.body, want)
		}
	}
}
