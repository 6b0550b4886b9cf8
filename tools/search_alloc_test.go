//go:build !race

package tools_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools"
	"mcp-devserver/tools/internal/tooltest"
)

// runSearch runs search_code alone, without the stages.
func runSearch(t *testing.T, f *tooltest.Fixture, args string) {
	t.Helper()
	for _, tool := range tools.All() {
		if tool.Name() == "search_code" {
			call := &tools.Call{Env: f.Env, Texts: new(answer.Texts), Progress: func(int64, int64, tools.Phase) {}}
			if _, err := tool.Run(t.Context(), call, []byte(args)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSearchAllocations pins what a file costs that is walked, opened, read and searched in vain.
func TestSearchAllocations(t *testing.T) {
	const files, most = 1000, 6
	f := tooltest.New(t, "")
	for i := range files {
		f.Write(fmt.Sprintf("d%02d/f%04d.go", i/50, i), []byte(strings.Repeat("package main\n", 100)))
	}
	for _, workers := range []int{1, 2, 8} {
		f.Env.Limits.SearchWorkers = workers
		search := func() {
			runSearch(t, f, `{"pattern":"needle","path":".","output_mode":"count","limit":100}`)
		}
		n := testing.AllocsPerRun(5, search) / files
		t.Logf("%d workers: %.2f allocations per file", workers, n)
		if n > most {
			t.Errorf("%d workers: %.2f allocations per file, pinned at %d", workers, n, most)
		}
	}
}

// TestSearchAllocatesNoFiles: what large files are read into is used again for the next one, and their text is not copied.
func TestSearchAllocatesNoFiles(t *testing.T) {
	const files, size = 24, 2 << 20
	f := tooltest.New(t, "")
	for i := range files {
		f.Write(fmt.Sprintf("f%02d", i), []byte(strings.Repeat("some text in a line\n", size/20)+"needle\n"))
	}
	f.Env.Limits.SearchWorkers = 2
	search := func() {
		runSearch(t, f, `{"pattern":"needle","path":".","output_mode":"count","limit":100}`)
	}
	search()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	search()
	runtime.ReadMemStats(&after)
	n := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d KiB for %d MiB of files", n>>10, files*size>>20)
	if n > files*size/4 {
		t.Errorf("%d bytes allocated for %d bytes of files", n, files*size)
	}
}

// TestSearchMemoryAllocated: calls at once share one budget, and what they hold beyond it is bounded, also where a pattern spans lines
// and the engine needs several times the bytes of a file.
func TestSearchMemoryAllocated(t *testing.T) {
	const calls, files, budget, most = 8, 4, 48 << 20, 224 << 20
	f := tooltest.New(t, "")
	for i := range files {
		f.Write(fmt.Sprintf("f%02d", i), []byte(strings.Repeat("some text in a line\n", 4<<20/20)))
	}
	f.Env.Memory = tools.NewMemory(budget, time.Minute)
	f.Env.Limits.SearchDeadline, f.Env.Limits.MatchTimeout = time.Minute, time.Minute
	f.Env.Limits.SearchWorkers = 2
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // as the command sets it
	runtime.GC()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	before := heap[0].Value.Uint64()
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			r := f.Call("search_code", `{"pattern":"line\\nsome \\w+ out","multiline":true,"output_mode":"count"}`)
			if r.IsError || r.Structured["searched"] != float64(files) || r.Structured["complete"] != true {
				t.Errorf("%s", r.Text)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	peak := uint64(0)
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case <-tick.C:
			metrics.Read(heap)
			peak = max(peak, heap[0].Value.Uint64())
			continue
		case <-done:
			tick.Stop()
		}
		break
	}
	t.Logf("%d MiB at most", (peak-before)>>20)
	if peak > before+most {
		t.Errorf("%d MiB held by %d calls over files of %d MiB", (peak-before)>>20, calls, files*4)
	}
}
