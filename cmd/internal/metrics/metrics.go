// Package metrics counts what the line reports, and serves the counts in the
// exposition format of Prometheus on a listener of its own.
//
// # How to start
//
//	m := metrics.New(metrics.Build{Version: "1.2.3", Revision: "2026-07-28"}, load, 8)
//	report := m.Report("http") // for stages.Options.Report
//	s := m.Server(hosts)
//	go s.Serve(listener)
//
// # What it promises
//
//   - A label is a word from a closed set: methods, tools, codes, rules, stages.
//     Whatever else a value may be, the label is "other". No path, pattern, token
//     or name of a client can reach one.
//   - GET /metrics is all that is served. A browser that was led to the port by a
//     name of an attacker is refused by the Host that it sends.
//   - Nothing is read from /proc, which the kernel's wall closes.
//
// # Limits
//
// There is no authentication and no TLS, as is usual for this port: who may
// reach it is a matter of the address it listens on.
package metrics

import (
	"fmt"
	"io"
	"sync"

	vm "github.com/VictoriaMetrics/metrics"

	"mcp-devserver/stages"
)

// Build is what mcp_build_info says.
type Build struct{ Version, Revision string }

// Metrics holds the counts of one process. It is safe for concurrent use.
type Metrics struct {
	set *vm.Set
	// series keeps what was looked up: finding a series by its text costs more
	// than counting in it.
	series sync.Map // of key to *vm.Counter or *vm.PrometheusHistogram
}

// key names a series by its metric and the values of its labels.
type key struct {
	m       *metric
	a, b, c string
}

// metric is one row of the vocabulary.
type metric struct {
	name   string
	labels []string
	help   string
	bounds []float64 // of a histogram; nil for a counter
}

var (
	seconds = []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 10}
	chars   = []float64{1000, 4000, 10_000, 20_000, 40_000, 100_000, 400_000}

	requests   = &metric{name: "mcp_requests_total", labels: []string{"method", "transport", "outcome"}, help: "Messages that were answered, or ended without an answer."}
	calls      = &metric{name: "mcp_tool_calls_total", labels: []string{"tool", "outcome"}, help: "Calls of tools."}
	duration   = &metric{name: "mcp_tool_duration_seconds", labels: []string{"tool"}, help: "Time that a tool ran.", bounds: seconds}
	stage      = &metric{name: "mcp_stage_duration_seconds", labels: []string{"stage"}, help: "Time inside one stage of the line.", bounds: seconds}
	wait       = &metric{name: "mcp_queue_wait_seconds", help: "Time that a call waited for a worker.", bounds: seconds}
	denials    = &metric{name: "mcp_denials_total", labels: []string{"tool", "error"}, help: "Results that refuse, by code; a refused pattern is unsafe_pattern."}
	faults     = &metric{name: "mcp_faults_total", labels: []string{"fault"}, help: "JSON-RPC errors."}
	redactions = &metric{name: "mcp_redactions_total", labels: []string{"rule"}, help: "Secrets replaced in answers."}
	late       = &metric{name: "mcp_late_redactions_total", help: "Secrets found in the finished answer only: a defect of a tool."}
	signals    = &metric{name: "mcp_signals_total", labels: []string{"signal"}, help: "Signals found in what was read."}
	truncated  = &metric{name: "mcp_results_truncated_total", labels: []string{"tool", "stopped"}, help: "Answers that are not complete, and why."}
	size       = &metric{name: "mcp_result_chars", labels: []string{"tool", "half"}, help: "Characters of each half of an answer.", bounds: chars}
	cancelled  = &metric{name: "mcp_cancelled_total", labels: []string{"transport"}, help: "Calls that ended without an answer because the client asked for it or went away."}
	limited    = &metric{name: "mcp_rate_limited_total", help: "Calls refused by the rate limit."}

	vocabulary = []*metric{requests, calls, duration, stage, wait, denials, faults, redactions, late, signals, truncated, size, cancelled, limited}
)

// Load tells how many calls run now and how many wait for a worker.
type Load func() (running, waiting int)

// New makes the counts. capacity is the number of workers.
func New(b Build, load Load, capacity int) *Metrics {
	vm.ExposeMetadata(true) // a line with the type of each metric
	m := &Metrics{set: vm.NewSet()}
	m.set.NewGauge("mcp_pool_in_use", func() float64 { n, _ := load(); return float64(n) })
	m.set.NewGauge("mcp_pool_waiting", func() float64 { _, n := load(); return float64(n) })
	m.set.NewGauge("mcp_pool_capacity", func() float64 { return float64(capacity) })
	m.set.NewGauge(fmt.Sprintf("mcp_build_info{version=%q,revision=%q}", word(b.Version), word(b.Revision)), func() float64 { return 1 })
	for _, v := range vocabulary {
		if len(v.labels) == 0 && v.bounds == nil {
			m.count(v, 0) // a series that is absent reads as a gap, not as none
		}
	}
	return m
}

// Report returns the function that counts the messages of one transport. It is
// safe for concurrent use and waits for nobody.
func (m *Metrics) Report(transport string) func(*stages.Report) {
	return func(r *stages.Report) {
		m.count(requests, 1, r.Method, transport, r.Outcome)
		for _, s := range r.Stages {
			m.observe(stage, s.Took.Seconds(), s.Stage)
			if r.Tool != "" && s.Stage == "execute" {
				m.observe(duration, s.Took.Seconds(), r.Tool)
				m.observe(wait, r.Wait.Seconds())
			}
		}
		if r.Fault != "" {
			m.count(faults, 1, r.Fault)
		}
		for _, c := range r.Redactions {
			m.count(redactions, c.Count, c.Name)
		}
		m.count(late, r.Late)
		for _, c := range r.Signals {
			m.count(signals, c.Count, c.Name)
		}
		if r.Tool == "" {
			return
		}
		m.count(calls, 1, r.Tool, r.Outcome)
		if r.Denial != "" {
			m.count(denials, 1, r.Tool, r.Denial)
		}
		if r.Denial == "rate_limited" {
			m.count(limited, 1)
		}
		if r.Stopped != "" {
			m.count(truncated, 1, r.Tool, r.Stopped)
		}
		if r.Outcome == stages.OutcomeNone {
			m.count(cancelled, 1, transport)
		} else {
			m.observe(size, float64(r.Prose), r.Tool, "text")
			m.observe(size, float64(r.Structured), r.Tool, "structured")
		}
	}
}

// Write writes every series, in the exposition format, sorted by name.
func (m *Metrics) Write(w io.Writer) {
	m.set.WritePrometheus(w)
}

func (m *Metrics) count(of *metric, n int, labels ...string) {
	if n > 0 || len(labels) == 0 {
		m.find(of, labels).(*vm.Counter).Add(n)
	}
}

func (m *Metrics) observe(of *metric, v float64, labels ...string) {
	m.find(of, labels).(*vm.PrometheusHistogram).Update(v)
}

func (m *Metrics) find(of *metric, labels []string) any {
	k := key{m: of}
	for i, p := range []*string{&k.a, &k.b, &k.c}[:len(labels)] {
		*p = labels[i]
	}
	if s, ok := m.series.Load(k); ok {
		return s
	}
	for i := range labels {
		labels[i] = word(labels[i])
	}
	var s any
	if name := of.series(labels); of.bounds != nil {
		s = m.set.GetOrCreatePrometheusHistogramExt(name, of.bounds)
	} else {
		s = m.set.GetOrCreateCounter(name)
	}
	if labels == nil || known(k, labels) {
		m.series.Store(k, s)
	}
	return s
}

// known tells that the labels are the values themselves, so that keeping the
// key keeps nothing of a caller.
func known(k key, labels []string) bool {
	for i, v := range []string{k.a, k.b, k.c}[:len(labels)] {
		if v != labels[i] {
			return false
		}
	}
	return true
}

// series writes the name of one series.
func (of *metric) series(labels []string) string {
	if len(labels) == 0 {
		return of.name
	}
	b := append([]byte(of.name), '{')
	for i, l := range labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%s=%q", of.labels[i], l)
	}
	return string(append(b, '}'))
}

// maxWord bounds a label. The longest word of ours has half as many characters.
const maxWord = 64

// word returns a value if it can be one of ours.
func word(s string) string {
	if s == "" || len(s) > maxWord {
		return "other"
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.', c == '/', c == '+':
		default:
			return "other"
		}
	}
	return s
}
