//go:build !race

package tools_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

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
