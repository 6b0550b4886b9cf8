package tools_test

import (
	"fmt"
	"slices"
	"testing"

	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools"
	"mcp-devserver/tools/internal/tooltest"
)

// Every file that is looked into counts as progress at once: a few large files
// can take as long as many small ones.
func TestProgressOfEveryFile(t *testing.T) {
	f := tooltest.New(t, "a.go = package a\nb.go = package b\nc.go = package c")
	for _, c := range []struct {
		tool, args string
		phase      tools.Phase
	}{
		{"search_code", `{"pattern":"nothing like it","path":".","output_mode":"content"}`, tools.PhaseSearch},
		{"find_symbol", `{"name":"Missing"}`, tools.PhaseParse},
	} {
		var seen []int64
		call := &tools.Call{Env: f.Env, Texts: new(answer.Texts), Progress: func(done, _ int64, p tools.Phase) {
			if p == c.phase {
				seen = append(seen, done)
			}
		}}
		for _, tool := range tools.All() {
			if tool.Name() == c.tool {
				if _, err := tool.Run(t.Context(), call, []byte(c.args)); err != nil {
					t.Errorf("%s: %v", c.tool, err)
				}
			}
		}
		if !slices.Equal(seen, []int64{1, 2, 3}) {
			t.Errorf("%s reported %v", c.tool, seen)
		}
	}
}

// However many workers there are, progress comes from one place, one file at a time, and ends with what was looked into.
func TestProgressRisesWithWorkers(t *testing.T) {
	f := tooltest.New(t, "")
	for i := range 400 {
		f.Write(fmt.Sprintf("d%02d/f%03d", i/20, i), []byte("needle\n"))
	}
	for _, workers := range []int{1, 2, 8} {
		for _, c := range []struct {
			args  string
			least int
		}{
			{`{"pattern":"needle","path":".","output_mode":"count","limit":100}`, 400},
			{`{"pattern":"needle","path":".","output_mode":"content","limit":10}`, 11},
		} {
			f.Env.Limits.SearchWorkers = workers
			var seen []int64
			call := &tools.Call{Env: f.Env, Texts: new(answer.Texts), Progress: func(done, _ int64, p tools.Phase) {
				if p == tools.PhaseSearch {
					seen = append(seen, done)
				}
			}}
			for _, tool := range tools.All() {
				if tool.Name() == "search_code" {
					if _, err := tool.Run(t.Context(), call, []byte(c.args)); err != nil {
						t.Error(err)
					}
				}
			}
			for i, n := range seen {
				if n != int64(i+1) {
					t.Fatalf("%d workers: report %d says %d", workers, i+1, n)
				}
			}
			if len(seen) < c.least || len(seen) > 400 {
				t.Errorf("%d workers, %s: %d reports", workers, c.args, len(seen))
			}
		}
	}
}
