package e2e

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// web is a server on a loopback port.
type web struct {
	*child
	address string // host:port
	client  *http.Client
	secure  *tls.Config // nil: plain HTTP
}

// underTLS makes overHTTP start servers with a certificate: the tests of HTTP
// run once more that way.
var underTLS bool

// url is the server's address with a path.
func (w *web) url(path string) string {
	if w.secure != nil {
		return "https://" + w.address + path
	}
	return "http://" + w.address + path
}

// dial opens a connection to write bytes on.
func (w *web) dial() (net.Conn, error) {
	if w.secure != nil {
		return tls.Dial("tcp", w.address, w.secure)
	}
	return net.Dial("tcp", w.address)
}

// overHTTP starts a server over dir and waits until it is ready.
func overHTTP(t *testing.T, dir string, settings ...string) *web {
	t.Helper()
	for range 5 { // another process may take the port between asking for it and using it
		w := &web{address: freePort(t), client: newClient()}
		if underTLS {
			cert, key, roots := certificate(t)
			settings = append(settings, "MCP_HTTP__TLS_CERT_FILE="+cert, "MCP_HTTP__TLS_KEY_FILE="+key)
			w.secure = &tls.Config{RootCAs: roots}
			w.client.Transport.(*http.Transport).TLSClientConfig = w.secure
		}
		w.child = start(t, exec.Command(program, "serve", "--transport", "http", "--listen", w.address), environment(dir, settings...))
		t.Cleanup(w.client.CloseIdleConnections)
		if w.ready() {
			return w
		}
	}
	t.Fatal("no server becomes ready")
	return nil
}

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableCompression: true}}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ready asks until /readyz says yes; false when the process has ended.
func (w *web) ready() bool {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		if r, err := w.client.Get(w.url("/readyz")); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case <-again.C:
		case <-w.gone:
			return false
		case <-deadline.C:
			w.t.Fatalf("not ready after %v; stderr: %s", patience, w.stderr)
		}
	}
}

// answer is a whole response.
type answer struct {
	status   int
	header   http.Header
	body     string
	messages []*message
}

// headers makes what a client of this revision sends with a body, as far as
// the body can be read.
func headers(body string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {revision},
	}
	var m map[string]any // a struct would take METHOD for method
	if json.Unmarshal([]byte(body), &m) != nil {
		return h
	}
	params, _ := m["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	if v, ok := meta["io.modelcontextprotocol/protocolVersion"].(string); ok {
		h["Mcp-Protocol-Version"] = []string{v}
	}
	if v, ok := m["method"].(string); ok {
		h["Mcp-Method"] = []string{v}
		if n, ok := params["name"].(string); ok && v == "tools/call" {
			h["Mcp-Name"] = []string{n}
		}
	}
	return h
}

// post sends one body with the headers that belong to it.
func (w *web) post(t *testing.T, body string) *answer {
	t.Helper()
	return w.do(t, "POST", "/mcp", headers(body), body)
}

func (w *web) do(t *testing.T, method, path string, h http.Header, body string) *answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url(path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = h.Clone()
	if host := h.Get("Host"); host != "" {
		r.Host = host
	}
	resp, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, resp)
}

// read takes a response apart: JSON is one message, an event stream several.
func read(t *testing.T, resp *http.Response) *answer {
	t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
	switch resp.Header.Get("Content-Type") {
	case "application/json":
		if bytes.Contains(b, []byte(`"jsonrpc"`)) {
			a.messages = []*message{parse(t, a.body)}
		}
	case "text/event-stream":
		for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
			switch line := s.Text(); {
			case line == "", line == "event: message", strings.HasPrefix(line, ":"):
			case strings.HasPrefix(line, "data: "):
				a.messages = append(a.messages, parse(t, strings.TrimPrefix(line, "data: ")))
			default:
				t.Errorf("line %q in an event stream", line)
			}
		}
	}
	return a
}

// exchanges is the HTTP side of a transcript.
type exchanges struct{ *web }

func (e exchanges) send(t *testing.T, line string, count, status int) []*message {
	t.Helper()
	a := e.post(t, line)
	if a.status != status {
		t.Errorf("status %d, want %d: %.300s\n%.300s", a.status, status, line, a.body)
	}
	if count == 0 && a.body != "" {
		t.Errorf("a notification is answered with %.300s", a.body)
	}
	return a.messages
}

func (e exchanges) tools(t *testing.T) *message {
	t.Helper()
	return e.send(t, request(`"tools"`, "tools/list", ""), 1, 200)[0]
}

func (e exchanges) end(t *testing.T) { t.Helper(); e.terminate(t) }

// terminate ends the server with connections still open, used and unused ones.
func (w *web) terminate(t *testing.T) {
	t.Helper()
	terminate(t, w.child)
	w.client.CloseIdleConnections()
}
