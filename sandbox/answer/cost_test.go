//go:build linux && !race

package answer

import (
	"bytes"
	"go/build"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-devserver/sandbox/internal/keywords"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/sandbox/untrusted"
)

// sources is ordinary source, the standard library's, of at least size bytes: more
// than caches hold, so that each reading of it is a cold one.
func sources(tb testing.TB, size int) string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", "*", "*", "*.go"))
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	for b.Len() < size {
		before := b.Len()
		for _, name := range files {
			if text, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, "_test.go") {
				b.Write(text)
			}
		}
		if b.Len() == before {
			tb.Fatal("no source of the standard library at GOROOT")
		}
	}
	return b.String()
}

// least is the processor time of this thread for f, the least of several.
func least(times int, f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
			panic(err)
		}
		return time.Duration(t.Nano())
	}
	best := time.Hour
	for range times {
		begun := now()
		f()
		best = min(best, now()-begun)
	}
	return best
}

// inPieces calls f for every piece of s of the size of an answer.
func inPieces(s string, f func(piece string)) {
	for s != "" {
		n := min(len(s), 40_000)
		f(s[:n])
		s = s[n:]
	}
}

// leave does to a text what the stages scan and redact do.
func leave(t secrets.Text) {
	var x Texts
	x.Content(t, None, 1)
	x.Look(func(Ref, []untrusted.Hit, string, Ref, int) {})
	x.redact(true, new(secrets.Report))
}

// TestCostOfScanning pins what it costs to find secrets and signals in ordinary source,
// beside what it costs to count the line feeds of the same bytes, which are read from
// memory each time: a 40th for the keywords, a 150th for all of it.
func TestCostOfScanning(t *testing.T) {
	s := sources(t, 8<<20)
	raw := []byte(s)
	var seen keywords.Seen
	measures := []struct {
		name string
		most float64 // times what counting takes; 0: for the log alone
		f    func()
		took time.Duration
	}{
		{name: "count line feeds", f: func() { bytes.Count(raw, []byte{'\n'}) }},
		{name: "look for keywords", most: 40, f: func() { seen.Look(s) }},
		{name: "find secrets", f: func() { secrets.Find(s) }},
		{name: "find signals", f: func() { untrusted.Scan(s) }},
		{name: "scan and redact", most: 150, f: func() { inPieces(s, func(p string) { leave(secrets.Text{Raw: p}) }) }},
		{name: "the same behind a scan of the source", most: 150, f: func() { inPieces(s, func(p string) { leave(secrets.Scan(p)) }) }},
	}
	for i := range measures {
		measures[i].took = time.Hour
	}
	ratio := func(i int) float64 { return float64(measures[i].took) / float64(measures[0].took) }
	for round := range 20 { // in turn; a busy machine disturbs some rounds, not all
		good := round >= 3
		for i := range measures {
			m := &measures[i]
			m.took = min(m.took, least(1, m.f))
			good = good && (m.most == 0 || ratio(i) <= m.most)
		}
		if good {
			break
		}
	}
	for i, m := range measures {
		t.Logf("%-36s %6.0f MB/s, 1/%.1f", m.name, float64(len(s))/1e6/m.took.Seconds(), ratio(i))
		if m.most > 0 && ratio(i) > m.most {
			t.Errorf("%s takes %.1f times what counting takes, at most %.0f", m.name, ratio(i), m.most)
		}
	}
}

// TestLookAllocations: a text without hits costs its place in the table.
func TestLookAllocations(t *testing.T) {
	piece := strings.Repeat("plain text of no interest\n", 400)
	leave(secrets.Text{Raw: piece})
	if n := testing.AllocsPerRun(100, func() { leave(secrets.Text{Raw: piece}) }); n > 3 {
		t.Errorf("%v allocations", n)
	} else {
		t.Logf("%v allocations", n)
	}
}

// BenchmarkLeave is what scan and redact do to a text, and designs that were rejected
// for it.
func BenchmarkLeave(b *testing.B) {
	s := sources(b, 1<<20)[:1<<20]
	run := func(name string, f func(piece string)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				inPieces(s, f)
			}
		})
	}
	run("one pass for both", func(p string) { leave(secrets.Text{Raw: p}) })
	// Rejected: a pass for signals, and another for secrets.
	run("a pass each", func(p string) {
		untrusted.Scan(p)
		secrets.Redact(secrets.Text{Raw: p}, true, nil)
	})
	// Rejected: the two halves are looked through after they were quoted, when each
	// text is there twice, with escapes in it.
	run("behind the quoting", func(p string) {
		untrusted.Scan(p)
		prose, structured := appendQuoted(nil, p), appendQuoted(nil, p)
		secrets.Redact(secrets.Text{Raw: string(prose)}, true, nil)
		secrets.Redact(secrets.Text{Raw: string(structured)}, true, nil)
	})
}
