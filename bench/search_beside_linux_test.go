package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// besides are the patterns of the table. Each has a form for trees of Go and
// one for trees of C; look says that ripgrep needs PCRE2 for it.
var besides = []struct {
	what         string
	golang, c    string
	ignore, look bool
}{
	{"rare literal", "flushBuffer", "PM_RESUME", false, false},
	{"common literal", "return", "return", false, false},
	{"literal, any case", "writeheader", "pm_resume", true, false},
	{"whole word", `\bContext\b`, `\bmutex_lock\b`, false, false},
	{"four literals", "ErrNotFound|ErrClosed|ErrTimeout|ErrInvalid", "ERR_SYS|PME_TURN_OFF|LINK_REQ_RST|CFG_BME_EVT", false, false},
	{"literal, then a class", `func \w+\(`, `static \w+ \w+_init\(`, false, false},
	{"start of line", `^package \w+`, `^#include <linux/\w+\.h>`, false, false},
	{"classes alone", `[A-Z]{3,}_\d+`, `[A-Z]{3,}_\d+`, false, false},
	{"lookbehind", `(?<=func )New\w+\(`, `(?<=struct )net_device\b`, false, true},
	{"backreference", `\b(\w{3,})\s+\1\b`, `\b(\w{3,})\s+\1\b`, false, true},
	{"Unicode class", `\p{Greek}`, `\p{Greek}`, false, false},
	{"no match", "ZQXJ_never_present_42", "ZQXJ_never_present_42", false, false},
	{"class, then a literal", `\w+Handler\b`, `\w+_resume\b`, false, false},
	{"three words, any case", "todo|fixme|xxx", "todo|fixme|xxx", true, false},
}

// TestSearchBeside prints how long a search takes: ripgrep as a command, and this
// program as it runs, a server that is asked over its standard input: to count
// all matches, with the kernel's wall and without, and for the first hundred.
// The runs alternate, and what is printed are medians, of the wall's time and of
// the processors'; the ratios are those of pairs. BENCH_TREE names the tree,
// BENCH_RG ripgrep, BENCH_OURS the program, BENCH_LANG go or c, BENCH_RUNS how
// often, BENCH_ONLY a part of the names of the rows.
func TestSearchBeside(t *testing.T) {
	tree, rg, program := os.Getenv("BENCH_TREE"), os.Getenv("BENCH_RG"), os.Getenv("BENCH_OURS")
	if tree == "" {
		t.Skip("make bench-search TREE=folder runs this")
	}
	runs := 5
	if s := os.Getenv("BENCH_RUNS"); s != "" {
		if _, err := fmt.Sscan(s, &runs); err != nil || runs < 1 {
			t.Fatalf("BENCH_RUNS: %q", s)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	version, err := exec.Command(rg, "--version").Output()
	if err != nil {
		t.Fatalf("ripgrep: %v", err)
	}
	first, _, _ := strings.Cut(string(version), "\n")
	walled, open := serveTree(t, program, tree, "auto"), serveTree(t, program, tree, "off")
	fmt.Printf("%s; %d processors; load before %s\n", first, runtime.NumCPU(), strings.TrimSpace(string(load)))
	fmt.Println("wall ms (processor ms); ratios to ripgrep, wall and processor")
	fmt.Printf("%-22s %13s | %13s %5s %5s | %13s %5s %5s | %13s %5s | %s\n", "pattern", "ripgrep", "all, confined", "wall", "cpu", "not confined", "wall", "cpu", "first 100", "wall", "lines")
	for _, b := range besides {
		if !strings.Contains(b.what, os.Getenv("BENCH_ONLY")) {
			continue
		}
		p := b.golang
		if os.Getenv("BENCH_LANG") == "c" {
			p = b.c
		}
		args := []string{"--color=never", "--no-config", "--hidden", "--no-require-git", "--glob=!.git", "-nH", "--no-heading"}
		if b.ignore {
			args = append(args, "-i")
		}
		if b.look {
			args = append(args, "-P")
		}
		args = append(args, "-e", p, ".")
		call := func(mode string) map[string]any {
			return map[string]any{"pattern": p, "output_mode": mode, "ignore_case": b.ignore}
		}
		var theirs, all, free, page timing
		for i := 0; i <= runs; i++ { // the first fills the page cache
			a, outA := timed(t, tree, rg, args)
			c, outC := walled.timed(t, call("count"))
			d, _ := open.timed(t, call("count"))
			e, _ := walled.timed(t, call("content"))
			if i == 0 {
				theirs.lines, all.lines = lineCount(outA), total(outC)
				continue
			}
			theirs.add(a)
			all.add(c)
			free.add(d)
			page.add(e)
		}
		lines := fmt.Sprint(theirs.lines)
		if all.lines != lines {
			lines += ", ours " + all.lines
		}
		fmt.Printf("%-22s %13s | %13s %5.2f %5.2f | %13s %5.2f %5.2f | %13s %5.2f | %s\n", b.what, theirs.show(),
			all.show(), all.ratio(&theirs, sample.wallMS), all.ratio(&theirs, sample.cpuMS),
			free.show(), free.ratio(&theirs, sample.wallMS), free.ratio(&theirs, sample.cpuMS),
			page.show(), page.ratio(&theirs, sample.wallMS), lines)
	}
	load, _ = os.ReadFile("/proc/loadavg")
	fmt.Printf("load after %s; peak memory of the server %s\n", strings.TrimSpace(string(load)), walled.peak(t))
}

// served is a server of this program over one tree.
type served struct {
	pid int
	in  io.Writer
	out *bufio.Reader
}

func serveTree(t *testing.T, program, tree, wall string) *served {
	cmd := exec.Command(program, "--workspace", tree, "serve")
	cmd.Env = append(os.Environ(), "MCP_SANDBOX__OS_SANDBOX="+wall, "MCP_SANDBOX__ALLOW_ROOT=true")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return &served{cmd.Process.Pid, in, bufio.NewReaderSize(out, 1<<20)}
}

// cpu is the processor time that the server has used.
func (s *served) cpu(t *testing.T) time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^s.pid<<3|2), &at); err != nil { // the clock of another process
		t.Fatal(err)
	}
	return time.Duration(at.Nano())
}

func (s *served) peak(t *testing.T) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	rest, _, _ = strings.Cut(rest, "\n")
	return strings.TrimSpace(rest)
}

// timed asks one question.
func (s *served) timed(t *testing.T, args map[string]any) (sample, []byte) {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "search_code", "arguments": args, "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}})
	if err != nil {
		t.Fatal(err)
	}
	used, began := s.cpu(t), time.Now()
	if _, err := s.in.Write(append(b, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	return sample{wall: time.Since(began), cpu: s.cpu(t) - used}, line
}

type sample struct{ wall, cpu time.Duration }

type timing struct {
	samples []sample
	lines   string
}

func (x *timing) add(s sample) { x.samples = append(x.samples, s) }

func (x *timing) median(of func(sample) float64) float64 {
	var list []float64
	for _, s := range x.samples {
		list = append(list, of(s))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func (s sample) wallMS() float64 { return s.wall.Seconds() * 1000 }
func (s sample) cpuMS() float64  { return s.cpu.Seconds() * 1000 }

// ratio is the median of the ratios of runs that followed each other.
func (x *timing) ratio(to *timing, of func(sample) float64) float64 {
	var list []float64
	for i := range x.samples {
		list = append(list, of(x.samples[i])/of(to.samples[i]))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func (x *timing) show() string {
	return fmt.Sprintf("%.0f (%.0f)", x.median(sample.wallMS), x.median(sample.cpuMS))
}

func timed(t *testing.T, dir, program string, args []string) (sample, []byte) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout = bufio.NewWriterSize(&out, 1<<20)
	began := time.Now()
	err := cmd.Run()
	s := sample{wall: time.Since(began)}
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 {
		t.Fatalf("%s: %v", program, err)
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err := cmd.Stdout.(*bufio.Writer).Flush(); err != nil {
		t.Fatal(err)
	}
	return s, out.Bytes()
}

func lineCount(b []byte) string {
	return fmt.Sprint(bytes.Count(b, []byte("\n")) - bytes.Count(b, []byte("binary file matches")))
}

// total is the number of matches of an answer, with a sign when it is a lower
// bound.
func total(b []byte) string {
	var r struct {
		Result struct {
			StructuredContent struct {
				Matches int  `json:"matches"`
				Exact   bool `json:"totals_are_exact"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return "?"
	}
	n := fmt.Sprint(r.Result.StructuredContent.Matches)
	if !r.Result.StructuredContent.Exact {
		n = "at least " + n
	}
	return n
}
