package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTokens: with a token configured nothing is answered without it but the
// two questions of a load balancer.
func TestTokens(t *testing.T) {
	const one, two = "q8Zr2LxT0vWc5Jn7Bd1Fh6Ks9Mp3Ay4E", "Wn5Tz8Qk2Vb7Xm4Rc9Jd1Gf6Hs3Lp0Ye"
	w := overHTTP(t, workspace, "MCP_HTTP__AUTH_TOKEN="+one+","+two)
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"none", nil, 401},
		{"the first", []string{"Authorization: Bearer " + one}, 200},
		{"the second", []string{"Authorization: bearer " + two}, 200},
		{"both as they are configured", []string{"Authorization: Bearer " + one + "," + two}, 401},
		{"half", []string{"Authorization: Bearer " + one[:16]}, 401},
		{"longer", []string{"Authorization: Bearer " + one + "x"}, 401},
		{"empty", []string{"Authorization: Bearer "}, 401},
		{"another scheme", []string{"Authorization: Basic " + one}, 401},
		{"no scheme", []string{"Authorization: " + one}, 401},
		{"one right, one wrong", []string{"Authorization: Bearer " + one, "Authorization: Bearer x"}, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := w.do(t, "POST", "/mcp", changed(readMod, c.headers...), readMod)
			if a.status != c.status || c.status == 401 && a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%d %q %.200s", a.status, a.header.Get("WWW-Authenticate"), a.body)
			}
		})
	}
	if a := w.do(t, "POST", "/mcp?access_token="+one, headers(readMod), readMod); a.status != 401 {
		t.Errorf("a token in the address: %d", a.status)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := w.do(t, "GET", path, http.Header{}, ""); a.status != 200 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	w.terminate(t)
	if log := w.stderr.String(); strings.Contains(log, one) || strings.Contains(log, two) {
		t.Errorf("the token is in the log: %s", log)
	}
}

// TestHealth: what a load balancer asks, and that it is told when the
// workspace has gone.
func TestHealth(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w := overHTTP(t, dir)
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/healthz", 200, `{"status":"ok"}`},
		{"HEAD", "/healthz", 200, ``},
		{"GET", "/readyz", 200, `"status":"ready"`},
		{"POST", "/readyz", 405, ``},
		{"DELETE", "/healthz", 405, ``},
	} {
		a := w.do(t, c.method, c.path, http.Header{}, "")
		if a.status != c.status || !strings.Contains(a.body, c.body) || strings.Contains(a.body, dir) {
			t.Errorf("%s %s: %d %q", c.method, c.path, a.status, a.body)
		}
	}
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil { // another folder of the same name
		t.Fatal(err)
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		a := w.do(t, "GET", "/readyz", http.Header{}, "")
		if a.status == 503 {
			break
		}
		select {
		case <-again.C: // an answer is kept for a second
		case <-deadline.C:
			t.Fatalf("still ready: %s", a.body)
		}
	}
	if a := w.do(t, "GET", "/healthz", http.Header{}, ""); a.status != 200 {
		t.Errorf("alive: %d", a.status)
	}
	w.terminate(t)
}

// TestDrain: a signal lets what runs be answered and turns the rest away.
func TestDrain(t *testing.T) {
	dir, err := slow()
	if err != nil {
		t.Fatal(err)
	}
	w := overHTTP(t, dir, append(slowly, "MCP_HTTP__SHUTDOWN_GRACE_MS=1000", "MCP_LIMITS__WORKERS=1")...)
	body := slowSearch("1")
	r, err := http.NewRequestWithContext(t.Context(), "POST", w.url("/mcp"), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = headers(body)
	answers := make(chan string, 1)
	go func() {
		resp, err := w.client.Do(r)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			answers <- err.Error()
			return
		}
		answers <- string(b)
	}()
	w.busy(t)
	w.terminate(t)
	// It takes longer than the grace, and is told so.
	if got := <-answers; !strings.Contains(got, `"id":1`) || !strings.Contains(got, "shutting down") {
		t.Errorf("the search in flight: %.300s", got)
	}
	if _, err := net.Dial("tcp", w.address); err == nil {
		t.Error("the port is still open")
	}
}

// TestAddresses: loopback unless told otherwise, and no other address without
// a token.
func TestAddresses(t *testing.T) {
	refused := func(setting []string, says string, args ...string) {
		t.Helper()
		c := start(t, exec.Command(program, append([]string{"serve"}, args...)...), environment(workspace, setting...))
		code, _, rest := c.wait()
		if code == 0 || len(rest) > 0 || !strings.Contains(c.stderr.String(), says) {
			t.Errorf("%v: exit code %d, stderr %s", args, code, c.stderr)
		}
	}
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "example.com:0"} {
		refused(nil, "refused: MCP_HTTP__AUTH_TOKEN: ", "--transport", "http", "--listen", address)
		refused([]string{"MCP_HTTP__ADDRESS=" + address}, "refused: MCP_HTTP__AUTH_TOKEN: ", "--transport", "http")
	}
	token := "MCP_HTTP__AUTH_TOKEN=q8Zr2LxT0vWc5Jn7Bd1Fh6Ks9Mp3Ay4E"
	refused([]string{token, "MCP_ENVIRONMENT=production"}, "refused: MCP_HTTP__ALLOWED_HOSTS: ", "--transport", "http", "--listen", "0.0.0.0:0")
	refused([]string{token, "MCP_ENVIRONMENT=production"}, "refused: MCP_HTTP__TLS_CERT_FILE: ", "--transport", "http", "--listen", "0.0.0.0:0")
	refused(nil, "--listen needs --transport http", "--listen", "127.0.0.1:0")
	refused(nil, "MCP_HTTP__ADDRESS", "--transport", "http", "--listen", "127.0.0.1:99999")

	w := overHTTP(t, workspace)
	refused(nil, "refused: MCP_HTTP__ADDRESS: ", "--transport", "http", "--listen", w.address) // it is taken
	_, port, err := net.SplitHostPort(w.address)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			if c, err := net.DialTimeout("tcp", net.JoinHostPort(n.IP.String(), port), patience); err == nil {
				c.Close()
				t.Errorf("it listens on %s", n.IP)
			}
		}
	}
	w.terminate(t)
}

// TestParallelClients: as many at once as a pool of clients makes, each with
// its own answer.
func TestParallelClients(t *testing.T) {
	w := overHTTP(t, workspace, "MCP_LIMITS__RATE_LIMIT=false")
	want := masked(w.post(t, readMod).body)
	type got struct {
		id   string
		body string
	}
	results := make(chan got)
	for i := range 64 {
		go func() {
			id := fmt.Sprint(1000 + i)
			results <- got{id, w.post(t, strings.Replace(readMod, `"id":7`, `"id":`+id, 1)).body}
		}()
	}
	for range 64 {
		g := <-results
		if body := masked(g.body); body != strings.Replace(want, `"id":7`, `"id":`+g.id, 1) {
			t.Errorf("id %s: %.300s", g.id, body)
		}
	}
	w.terminate(t)
}

// TestMetrics: the counts of what was asked, on a port of their own, behind the
// kernel's wall as everything else.
func TestMetrics(t *testing.T) {
	w := overHTTP(t, workspace, "MCP_METRICS__ENABLED=true", "MCP_METRICS__ADDRESS=127.0.0.1:0")
	if a := w.do(t, "POST", "/mcp", headers(readMod), readMod); a.status != 200 {
		t.Fatalf("%d %.200s", a.status, a.body)
	}
	if a := w.do(t, "GET", "/metrics", http.Header{}, ""); a.status != 404 {
		t.Errorf("the port of the endpoint answers, too: %d", a.status)
	}
	said := regexp.MustCompile(`"address":"([^"]*)".*"metrics are listening"`).FindStringSubmatch(w.stderr.String())
	if said == nil {
		t.Fatalf("no address in %s", w.stderr.String())
	}
	resp, err := http.Get("http://" + said[1] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if want := `mcp_tool_calls_total{tool="read_file",outcome="ok"} 1` + "\n"; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("%v, no %q in %s", err, want, b)
	}
	w.terminate(t)
}

// TestServerTiming: who asks for it reads how long each stage took, beside the
// answer and in no half of it.
func TestServerTiming(t *testing.T) {
	every := regexp.MustCompile(`^wait;dur=\d+\.\d{3}(, (parse|negotiate|validate|execute|scan|assemble|redact);dur=\d+\.\d{3}){7}, total;dur=\d+\.\d{3}$`)
	for setting, wanted := range map[string]bool{"false": false, "true": true} {
		w := overHTTP(t, workspace, "MCP_HTTP__SERVER_TIMING="+setting)
		for _, form := range []string{"application/json", "text/event-stream"} {
			a := w.do(t, "POST", "/mcp", changed(readMod, "Accept: "+form), readMod)
			if got := a.header.Get("Server-Timing"); a.status != 200 || every.MatchString(got) != wanted || (got != "") != wanted {
				t.Errorf("%s, %s: %d %q", setting, form, a.status, got)
			}
		}
		w.terminate(t)
	}
}
