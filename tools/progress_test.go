package tools_test

import (
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
