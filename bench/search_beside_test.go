package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
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

// TestSearchBeside prints how long whole commands take: ripgrep, and this
// program counting all matches and answering the first hundred. The runs
// alternate, and what is printed are medians, of the wall's time and of the
// processors'. BENCH_TREE names the tree, BENCH_RG ripgrep, BENCH_OURS the
// program, BENCH_LANG go or c, BENCH_RUNS how often.
func TestSearchBeside(t *testing.T) {
	tree, rg, ours := os.Getenv("BENCH_TREE"), os.Getenv("BENCH_RG"), os.Getenv("BENCH_OURS")
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
	fmt.Printf("%s; load before %s\n", first, strings.TrimSpace(string(load)))
	fmt.Println("wall ms (processor ms); lines")
	fmt.Printf("%-22s %16s %16s %6s %6s %16s %6s  %s\n", "pattern", "ripgrep", "ours, all", "wall", "cpu", "ours, first 100", "wall", "lines")
	for _, b := range besides {
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
		call := func(mode string) []string {
			in, err := json.Marshal(map[string]any{"pattern": p, "output_mode": mode, "ignore_case": b.ignore})
			if err != nil {
				t.Fatal(err)
			}
			return []string{"--workspace", tree, "call", "search_code", "--json", string(in)}
		}
		var theirs, all, page timing
		for i := 0; i <= runs; i++ { // the first fills the page cache
			a, outA := timed(t, tree, rg, args)
			b, outB := timed(t, tree, ours, call("count"))
			c, _ := timed(t, tree, ours, call("content"))
			if i == 0 {
				theirs.lines, all.lines = lineCount(outA), total(outB)
				continue
			}
			theirs.add(a)
			all.add(b)
			page.add(c)
		}
		lines := fmt.Sprint(theirs.lines)
		if all.lines != lines {
			lines += ", ours " + all.lines
		}
		fmt.Printf("%-22s %16s %16s %6.2f %6.2f %16s %6.2f  %s\n", b.what, theirs.show(), all.show(), all.wall()/theirs.wall(), all.cpu()/theirs.cpu(), page.show(), page.wall()/theirs.wall(), lines)
	}
	load, _ = os.ReadFile("/proc/loadavg")
	fmt.Printf("load after %s\n", strings.TrimSpace(string(load)))
}

type sample struct{ wall, cpu time.Duration }

type timing struct {
	samples []sample
	lines   string
}

func (x *timing) add(s sample) { x.samples = append(x.samples, s) }

func (x *timing) median(of func(sample) time.Duration) float64 {
	var list []time.Duration
	for _, s := range x.samples {
		list = append(list, of(s))
	}
	slices.Sort(list)
	return list[len(list)/2].Seconds() * 1000
}

func (x *timing) wall() float64 { return x.median(func(s sample) time.Duration { return s.wall }) }
func (x *timing) cpu() float64  { return x.median(func(s sample) time.Duration { return s.cpu }) }
func (x *timing) show() string  { return fmt.Sprintf("%.0f (%.0f)", x.wall(), x.cpu()) }

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
		StructuredContent struct {
			Matches int  `json:"matches"`
			Exact   bool `json:"totals_are_exact"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return "?"
	}
	n := fmt.Sprint(r.StructuredContent.Matches)
	if !r.StructuredContent.Exact {
		n = "at least " + n
	}
	return n
}
