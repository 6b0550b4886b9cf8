package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

var readMod = call("7", "read_file", `{"path":"go.mod"}`)

// changed returns the headers of a body with some of them replaced: "Name:
// value" adds or replaces, "Name" removes, and a name that occurs again is
// sent again.
func changed(body string, changes ...string) http.Header {
	h := headers(body)
	first := map[string]bool{}
	for _, c := range changes {
		name, value, set := strings.Cut(c, ":")
		key := http.CanonicalHeaderKey(name)
		if !first[key] {
			first[key] = true
			delete(h, key)
		}
		if set {
			h[key] = append(h[key], strings.TrimPrefix(value, " "))
		}
	}
	return h
}

// TestHeaders: the rows of the specification about headers that repeat parts
// of the body.
func TestHeaders(t *testing.T) {
	w := overHTTP(t, workspace)
	list := request("7", "tools/list", "")
	note := cancelled("1")
	for _, c := range []struct {
		name, body string
		headers    []string
		status     int
		code       int    // of an error, 0 for a result
		id         string // of the answer
	}{
		{"all as they should be", readMod, nil, 200, 0, "7"},
		{"no version", readMod, []string{"Mcp-Protocol-Version"}, 400, -32020, "7"},
		{"another version than the body", readMod, []string{"Mcp-Protocol-Version: 2025-11-25"}, 400, -32020, "7"},
		{"a body of a version that is not served", strings.Replace(list, revision, "v999.0.0", 1), []string{"Mcp-Protocol-Version: " + revision}, 400, -32020, "7"},
		{"both of a version that is not served", strings.Replace(list, revision, "v999.0.0", 1), nil, 400, -32022, "7"},
		{"two versions", readMod, []string{"Mcp-Protocol-Version: " + revision, "Mcp-Protocol-Version: 2025-11-25"}, 400, -32020, "7"},
		{"the version twice alike", readMod, []string{"Mcp-Protocol-Version: " + revision, "Mcp-Protocol-Version: " + revision}, 200, 0, "7"},
		{"no method", list, []string{"Mcp-Method"}, 400, -32020, "7"},
		{"another method", list, []string{"Mcp-Method: prompts/list"}, 400, -32020, "7"},
		{"the method in capitals", list, []string{"Mcp-Method: TOOLS/LIST"}, 400, -32020, "7"},
		{"two methods", list, []string{"Mcp-Method: tools/list", "Mcp-Method: tools/call"}, 400, -32020, "7"},
		{"no method, and one that nobody knows", request("7", "foo/bar", ""), []string{"Mcp-Method"}, 400, -32020, "7"},
		{"no name", readMod, []string{"Mcp-Name"}, 400, -32020, "7"},
		{"another name", readMod, []string{"Mcp-Name: wrong_tool_name"}, 400, -32020, "7"},
		{"a name that nobody knows, in both", call("7", "nope", `{}`), nil, 200, -32602, "7"},
		{"two names", readMod, []string{"Mcp-Name: read_file", "Mcp-Name: git_log"}, 400, -32020, "7"},
		{"a name in Base64", readMod, []string{"Mcp-Name: =?base64?cmVhZF9maWxl?="}, 200, 0, "7"},
		{"the marker in capitals is literal", readMod, []string{"Mcp-Name: =?BASE64?cmVhZF9maWxl?="}, 400, -32020, "7"},
		{"Base64 of another name", readMod, []string{"Mcp-Name: =?base64?Z2l0X2xvZw==?="}, 400, -32020, "7"},
		{"faulty padding", readMod, []string{"Mcp-Name: =?base64?cmVhZF9maWxl=?="}, 400, -32020, "7"},
		{"faulty alphabet", readMod, []string{"Mcp-Name: =?base64?!!!?="}, 400, -32020, "7"},
		{"white space around", readMod, []string{"Mcp-Name:    read_file  ", "Mcp-Method: \ttools/call\t"}, 200, 0, "7"},
		{"a name where there is none", list, []string{"Mcp-Name: whatever"}, 200, 0, "7"},
		{"a parameter that nobody asked for", readMod, []string{"Mcp-Param-Foo: bar", "Mcp-Param-Path: main.go"}, 200, 0, "7"},
		{"a session", readMod, []string{"Mcp-Session-Id: x", "Last-Event-ID: 1"}, 200, 0, "7"},
		{"neither headers nor an envelope", `{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{}}`, []string{"Mcp-Protocol-Version", "Mcp-Method"}, 400, -32602, "7"},
		{"the handshake of earlier revisions", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, []string{"Mcp-Protocol-Version", "Mcp-Method"}, 400, -32022, "0"},
		{"a notification", note, nil, 202, 0, ""},
		{"a notification without headers", note, []string{"Mcp-Protocol-Version", "Mcp-Method"}, 202, 0, ""},
		{"a notification of an earlier revision", note, []string{"Mcp-Protocol-Version: 1999-01-01"}, 400, -32022, ""},
		{"a notification of another method", note, []string{"Mcp-Method: notifications/initialized"}, 400, -32020, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := w.do(t, "POST", "/mcp", changed(c.body, c.headers...), c.body)
			if a.status != c.status {
				t.Errorf("status %d, want %d: %.300s", a.status, c.status, a.body)
			}
			for name := range a.header {
				if strings.HasPrefix(name, "Mcp-") || strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("header %s", name)
				}
			}
			if c.status == 202 {
				if a.body != "" || a.header.Get("Content-Length") != "0" {
					t.Errorf("%q, length %q", a.body, a.header.Get("Content-Length"))
				}
				return
			}
			if len(a.messages) != 1 || a.header.Get("Content-Type") != "application/json" {
				t.Fatalf("%q %.300s", a.header.Get("Content-Type"), a.body)
			}
			m, code := a.messages[0], 0
			if m.Error != nil {
				code = m.Error.Code
			}
			if code != c.code || m.id() != c.id {
				t.Errorf("code %d, id %s; want %d, %s: %.300s", code, m.id(), c.code, c.id, a.body)
			}
			if c.code == 0 && c.body == readMod && !strings.Contains(a.body, "example.com/atelier") {
				t.Errorf("%.300s", a.body)
			}
		})
	}
}

// TestDoor: what is turned away before its body is read, on every path.
func TestDoor(t *testing.T) {
	w := overHTTP(t, workspace)
	none := []string{}
	for _, c := range []struct {
		name, method, path string
		headers            []string
		status             int
		rpc                bool // the body is a JSON-RPC error
	}{
		{"another path", "POST", "/", none, 404, false},
		{"a slash too many", "POST", "/mcp/", none, 404, false},
		{"two slashes", "POST", "//mcp", none, 404, false},
		{"capitals", "POST", "/MCP", none, 404, false},
		{"an escape", "POST", "/%6dcp", none, 404, false},
		{"the transport of an earlier revision", "GET", "/sse", none, 404, false},
		{"registration of clients", "POST", "/register", none, 404, false},
		{"a query", "POST", "/mcp?x=1", none, 200, false},
		{"GET", "GET", "/mcp", none, 405, true},
		{"DELETE", "DELETE", "/mcp", none, 405, true},
		{"PUT", "PUT", "/mcp", none, 405, true},
		{"PATCH", "PATCH", "/mcp", none, 405, true},
		{"HEAD", "HEAD", "/mcp", none, 405, false},
		{"OPTIONS", "OPTIONS", "/mcp", none, 405, true},
		{"a preflight of our own", "OPTIONS", "/mcp", []string{"Origin: http://localhost:3000", "Access-Control-Request-Method: POST"}, 405, true},
		{"a preflight of another site", "OPTIONS", "/mcp", []string{"Origin: http://evil.example.com", "Access-Control-Request-Method: POST"}, 403, true},
		{"another site", "POST", "/mcp", []string{"Origin: http://evil.example.com"}, 403, true},
		{"no site", "POST", "/mcp", []string{"Origin: null"}, 403, true},
		{"a name that begins like ours", "POST", "/mcp", []string{"Origin: http://localhost.evil.com"}, 403, true},
		{"a name that points here", "POST", "/mcp", []string{"Origin: http://127.0.0.1.nip.io"}, 403, true},
		{"a user that is called like us", "POST", "/mcp", []string{"Origin: http://localhost@evil.com"}, 403, true},
		{"a file", "POST", "/mcp", []string{"Origin: file://"}, 403, true},
		{"two sites", "POST", "/mcp", []string{"Origin: http://localhost", "Origin: http://evil.com"}, 403, true},
		{"loopback", "POST", "/mcp", []string{"Origin: http://localhost:3000"}, 200, false},
		{"loopback in version 6", "POST", "/mcp", []string{"Origin: http://[::1]:3000"}, 200, false},
		{"loopback over TLS", "POST", "/mcp", []string{"Origin: https://127.0.0.1"}, 200, false},
		{"another site, another path", "POST", "/x", []string{"Origin: http://evil.example.com"}, 403, true},
		{"another site reads", "GET", "/mcp", []string{"Origin: http://evil.example.com"}, 403, true},
		{"another site deletes", "DELETE", "/mcp", []string{"Origin: http://evil.example.com"}, 403, true},
		{"another site looks whether we are ready", "GET", "/readyz", []string{"Origin: http://evil.example.com"}, 403, true},
		{"another site looks whether we live", "GET", "/healthz", []string{"Origin: http://evil.example.com"}, 403, true},
		{"a host that points here", "POST", "/mcp", []string{"Host: evil.example.com"}, 403, true},
		{"such a host, ready", "GET", "/readyz", []string{"Host: evil.example.com:8080"}, 403, true},
		{"localhost with a dot", "POST", "/mcp", []string{"Host: localhost."}, 403, true},
		{"localhost", "POST", "/mcp", []string{"Host: localhost:1234"}, 200, false},
		{"loopback of version 6 as a host", "POST", "/mcp", []string{"Host: [::1]:80"}, 200, false},
		{"plain text", "POST", "/mcp", []string{"Content-Type: text/plain"}, 415, true},
		{"a form", "POST", "/mcp", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, true},
		{"no type", "POST", "/mcp", []string{"Content-Type"}, 415, true},
		{"another charset", "POST", "/mcp", []string{"Content-Type: application/json; charset=utf-16"}, 415, true},
		{"two types", "POST", "/mcp", []string{"Content-Type: application/json", "Content-Type: text/plain"}, 415, true},
		{"a charset", "POST", "/mcp", []string{"Content-Type: application/json; charset=UTF-8"}, 200, false},
		{"compressed", "POST", "/mcp", []string{"Content-Encoding: gzip"}, 415, true},
		{"accepts anything", "POST", "/mcp", []string{"Accept: */*"}, 200, false},
		{"accepts JSON", "POST", "/mcp", []string{"Accept: application/json"}, 200, false},
		{"accepts any application", "POST", "/mcp", []string{"Accept: application/*"}, 200, false},
		{"says nothing of what it accepts", "POST", "/mcp", []string{"Accept"}, 200, false},
		{"accepts a page", "POST", "/mcp", []string{"Accept: text/html"}, 406, true},
		{"accepts anything but JSON and streams", "POST", "/mcp", []string{"Accept: application/json;q=0"}, 406, true},
		{"forwarded by itself", "POST", "/mcp", []string{"X-Forwarded-For: 10.0.0.1", "X-Forwarded-Host: evil.example.com"}, 200, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := readMod
			if c.method == "GET" || c.method == "HEAD" {
				body = ""
			}
			a := w.do(t, c.method, c.path, changed(readMod, c.headers...), body)
			if a.status != c.status {
				t.Errorf("status %d, want %d: %.300s", a.status, c.status, a.body)
			}
			if got := len(a.messages) == 1 && a.messages[0].Error != nil; got != c.rpc {
				t.Errorf("%.300s", a.body)
			}
			if c.rpc && (a.messages[0].Error.Code != -32600 || a.messages[0].ID != nil) {
				t.Errorf("%.300s", a.body)
			}
			if c.status == 405 && a.header.Get("Allow") != "POST" {
				t.Errorf("Allow: %q", a.header.Get("Allow"))
			}
			for name := range a.header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Location" || name == "Set-Cookie" {
					t.Errorf("header %s", name)
				}
			}
			if c.status != 200 && strings.Contains(a.body, "atelier") {
				t.Errorf("%.300s", a.body)
			}
		})
	}
	if a := w.post(t, readMod); a.status != 200 {
		t.Errorf("after all that: %d", a.status)
	}
}

// raw writes bytes to a fresh connection and reads the response.
func (w *web) raw(t *testing.T, request string) (*answer, error) {
	t.Helper()
	c, err := w.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, err
	}
	return read(t, resp), nil
}

// TestRawRequests: what no HTTP library would send.
func TestRawRequests(t *testing.T) {
	w := overHTTP(t, workspace)
	const types = "Content-Type: application/json\r\nMCP-Protocol-Version: " + revision + "\r\nmcp-method: tools/call\r\nMCP-NAME: read_file\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(readMod))
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"names of headers in any case", "POST /mcp HTTP/1.1\r\nhost: localhost\r\n" + types + length + "\r\n" + readMod, 200},
		{"two hosts", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.com\r\n" + types + length + "\r\n" + readMod, 400},
		{"no host", "POST /mcp HTTP/1.1\r\n" + types + length + "\r\n" + readMod, 400},
		{"another host in the line", "POST http://evil.example.com/mcp HTTP/1.1\r\nHost: localhost\r\n" + types + length + "\r\n" + readMod, 403},
		{"a promise of much", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + types + "Content-Length: 8589934592\r\n\r\n0123456789", 413},
		{"a promise of less", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + types + "Content-Length: 10\r\n\r\n" + readMod, 400},
		{"two lengths", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + types + length + "Content-Length: 3\r\n\r\n" + readMod, 400},
		{"OPTIONS for everything", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
		{"a connection elsewhere", "CONNECT evil.example.com:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := w.raw(t, c.request)
			if err != nil || a.status != c.status {
				t.Errorf("%v, status %+v, want %d", err, a, c.status)
			}
		})
	}
	// One byte too many: what is not read would reset the connection.
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	a, err := w.raw(t, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"+types+"Transfer-Encoding: chunked\r\n\r\n"+strings.Repeat(chunk, 16)+"1\r\nx\r\n")
	if err != nil || a.status != 413 {
		t.Errorf("chunks beyond the limit: %v %+v", err, a)
	}
	if a := w.post(t, readMod); a.status != 200 {
		t.Errorf("after all that: %d", a.status)
	}
}

// TestStreams: a subscription is a stream of two events; every other answer is
// one when the client takes nothing else.
func TestStreams(t *testing.T) {
	w := overHTTP(t, workspace)
	stream := func(a *answer, n int) {
		t.Helper()
		if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || a.header.Get("X-Accel-Buffering") != "no" || len(a.messages) != n {
			t.Errorf("%d %v %.300s", a.status, a.header, a.body)
		}
	}
	listen := request(`"L1"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	a := w.post(t, listen)
	stream(a, 2)
	if m := a.messages[0]; m.Method != "notifications/subscriptions/acknowledged" || !strings.Contains(m.Raw, `"notifications":{}`) {
		t.Errorf("%.300s", m.Raw)
	}
	if m := a.messages[1]; m.id() != `"L1"` || m.Result == nil {
		t.Errorf("%.300s", m.Raw)
	}
	stream(w.do(t, "POST", "/mcp", changed(listen, "Accept: application/json"), listen), 2)
	stream(w.do(t, "POST", "/mcp", changed(readMod, "Accept: text/event-stream"), readMod), 1)
}

// busy waits until all workers are: a call finds no place.
func (w *web) busy(t *testing.T) {
	t.Helper()
	body := call("1", "read_file", `{"path":"a.txt"}`)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		r, err := http.NewRequestWithContext(short, "POST", w.url("/mcp"), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = headers(body)
		resp, err := w.client.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		stop()
		if errors.Is(err, context.DeadlineExceeded) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the workers do not become busy")
}

// TestDisconnect: clients that go away free the workers that were busy for them.
func TestDisconnect(t *testing.T) {
	dir, err := slow()
	if err != nil {
		t.Fatal(err)
	}
	w := overHTTP(t, dir, slowly...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	const clients = 20
	for i := range clients {
		body := slowSearch(fmt.Sprint(i))
		r, err := http.NewRequestWithContext(ctx, "POST", w.url("/mcp"), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = headers(body)
		go func() {
			resp, err := w.client.Do(r)
			if err == nil {
				resp.Body.Close()
			}
			ended <- err
		}()
	}
	w.busy(t)
	waiting := make(chan *answer, 1)
	cancel()
	for range clients {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a slow search ended: %v", err)
		}
	}
	began := time.Now()
	go func() { waiting <- w.post(t, call("1", "read_file", `{"path":"a.txt"}`)) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-waiting:
		if took := time.Since(began); a.status != 200 || took > soon || !strings.Contains(a.body, "here") {
			t.Errorf("%d after %v: %.300s", a.status, took, a.body)
		}
	case <-timer.C:
		t.Fatal("the workers are not free")
	}
	w.terminate(t)
}
