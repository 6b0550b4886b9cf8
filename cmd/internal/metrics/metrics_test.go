package metrics

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-devserver/stages"
)

var update = flag.Bool("update", false, "write the generated files")

func newMetrics() *Metrics {
	return New(Build{Version: "1.2.3", Revision: "2026-07-28"}, func() (int, int) { return 3, 5 }, 8)
}

func text(m *Metrics) string {
	var b strings.Builder
	m.Write(&b)
	return b.String()
}

// full is a report in which everything that can be counted has happened.
func full() *stages.Report {
	return &stages.Report{
		Method: "tools/call", Tool: "read_file", Outcome: stages.OutcomeDenied, Denial: "rate_limited", Fault: "parse_error", Stopped: "limit",
		Redactions: []stages.Count{{Name: "aws-access-key", Count: 2}}, Late: 1, Signals: []stages.Count{{Name: "INJ01", Count: 3}},
		Prose: 900, Structured: 41_000, Wait: 2 * time.Millisecond,
		Stages: []stages.StageTime{{Stage: "parse", Took: time.Microsecond}, {Stage: "execute", Took: 30 * time.Millisecond}},
	}
}

func TestReport(t *testing.T) {
	m := newMetrics()
	m.Report("http")(full())
	m.Report("stdio")(&stages.Report{Method: "tools/call", Tool: "git_log", Outcome: stages.OutcomeNone})
	got := text(m)
	for _, want := range []string{
		`mcp_requests_total{method="tools/call",transport="http",outcome="denied"} 1`,
		`mcp_tool_calls_total{tool="read_file",outcome="denied"} 1`,
		`mcp_tool_duration_seconds_bucket{tool="read_file",le="0.01"} 0`,
		`mcp_tool_duration_seconds_bucket{tool="read_file",le="0.05"} 1`,
		`mcp_stage_duration_seconds_count{stage="parse"} 1`,
		`mcp_queue_wait_seconds_count 1`,
		`mcp_denials_total{tool="read_file",error="rate_limited"} 1`,
		`mcp_faults_total{fault="parse_error"} 1`,
		`mcp_redactions_total{rule="aws-access-key"} 2`,
		`mcp_late_redactions_total 1`,
		`mcp_signals_total{signal="INJ01"} 3`,
		`mcp_results_truncated_total{tool="read_file",stopped="limit"} 1`,
		`mcp_result_chars_bucket{tool="read_file",half="structured",le="40000"} 0`,
		`mcp_result_chars_sum{tool="read_file",half="text"} 900`,
		`mcp_cancelled_total{transport="stdio"} 1`,
		`mcp_rate_limited_total 1`,
		`mcp_pool_in_use 3`, `mcp_pool_waiting 5`, `mcp_pool_capacity 8`,
		`mcp_build_info{version="1.2.3",revision="2026-07-28"} 1`,
		`# TYPE mcp_queue_wait_seconds histogram`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("missing %s", want)
		}
	}
	for _, v := range vocabulary {
		if !strings.Contains(got, v.name) {
			t.Errorf("%s was not counted", v.name)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// TestForeignWords: what is no word of ours is "other", and nothing of it is
// kept.
func TestForeignWords(t *testing.T) {
	m := newMetrics()
	kept := func() (n int) {
		m.series.Range(func(any, any) bool { n++; return true })
		return n
	}
	report := m.Report("http")
	report(&stages.Report{Method: "other", Outcome: "ok"})
	before, lines := kept(), strings.Count(text(m), "\n")
	for trick, v := range map[string]string{
		"quote": `a"} 1` + "\nmcp_evil 1", "space": "a b", "control": "a\x00", "letters of another script": "аws", "brace": "a}", "backslash": `a\`, "long": strings.Repeat("x", maxWord+1), "path": "~/.ssh/id", "nothing": "",
	} {
		report(&stages.Report{Method: v, Outcome: "ok"})
		if n := kept(); n != before {
			t.Errorf("%s: %d series are kept", trick, n)
		}
	}
	for i := range 1000 {
		report(&stages.Report{Method: fmt.Sprintf("a b%d", i), Outcome: "ok"})
	}
	got := text(m)
	if n := strings.Count(got, "\n"); n != lines {
		t.Errorf("%d lines, %d before\n%s", n, lines, got)
	}
	if !strings.Contains(got, `mcp_requests_total{method="other",transport="http",outcome="ok"} 1010`) {
		t.Errorf("not all were counted\n%s", got)
	}
}

func TestServer(t *testing.T) {
	m := newMetrics()
	h := m.Server(func(host string) bool { return host == "127.0.0.1:9464" }).Handler
	for _, c := range []struct {
		name, method, host, path string
		status                   int
	}{
		{"a scrape", "GET", "127.0.0.1:9464", "/metrics", 200},
		{"a probe", "HEAD", "127.0.0.1:9464", "/metrics", 200},
		{"a name that was pointed here", "GET", "evil.example:9464", "/metrics", 403},
		{"another path", "GET", "127.0.0.1:9464", "/", 404},
		{"a profile", "GET", "127.0.0.1:9464", "/debug/pprof/", 404},
		{"a change", "POST", "127.0.0.1:9464", "/metrics", 405},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", c.name, w.Code, w.Header())
		}
		if counts := strings.Contains(w.Body.String(), "mcp_pool_capacity"); counts != (c.status == http.StatusOK) {
			t.Errorf("%s: counts %v", c.name, counts)
		}
	}
}

func TestReportAllocations(t *testing.T) {
	report, r := newMetrics().Report("http"), full()
	report(r)
	const most = 0
	if n := testing.AllocsPerRun(100, func() { report(r) }); n > most {
		t.Errorf("%.0f allocations, at most %d", n, most)
	}
}

func BenchmarkReport(b *testing.B) {
	m, r := newMetrics(), full()
	b.Run("kept series", func(b *testing.B) {
		b.ReportAllocs()
		report := m.Report("http")
		for b.Loop() {
			report(r)
		}
	})
	b.Run("series by text", func(b *testing.B) { // the rejected way, of one series of sixteen
		b.ReportAllocs()
		for b.Loop() {
			m.set.GetOrCreateCounter(requests.series([]string{r.Method, "http", r.Outcome})).Inc()
		}
	})
}

// TestGenerated keeps docs/metrics.md equal to the vocabulary. Run it with
// -update after a change.
func TestGenerated(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "metrics.md")
	want := page()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/metrics.md is not current: run make generate (%v)", err)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString(`# Metrics

` + "`MCP_METRICS__ENABLED=true`" + ` opens a second listener, ` + "`MCP_METRICS__ADDRESS`" + `, that
answers ` + "`GET /metrics`" + ` in the exposition format of Prometheus and nothing else.
It asks for no token: on an address that other machines can reach, production
wants ` + "`MCP_METRICS__ALLOW_PUBLIC=true`" + ` and a network that protects the port. On
loopback it takes requests for a loopback name only.

Labels are words from closed sets; anything else is counted as ` + "`other`" + `. No path,
pattern, name of a client or token becomes a label. What the server asks itself
at start is not counted.

The table is generated from the one in ` + "`cmd/internal/metrics/metrics.go`" + `.

| Metric | Kind | Labels | What it counts |
| --- | --- | --- | --- |
`)
	for _, v := range vocabulary {
		kind, labels := "counter", "none"
		if v.bounds != nil {
			kind = "histogram"
		}
		if len(v.labels) > 0 {
			labels = "`" + strings.Join(v.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", v.name, kind, labels, v.help)
	}
	b.WriteString("| `mcp_pool_in_use` | gauge | none | Calls that run. |\n| `mcp_pool_waiting` | gauge | none | Calls that wait for a worker. |\n| `mcp_pool_capacity` | gauge | none | Workers. |\n| `mcp_build_info` | gauge | `version`, `revision` | Always 1. |\n")
	return b.String()
}
