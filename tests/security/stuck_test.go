package security

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/stages"
	"mcp-devserver/tools"
)

// nothing is the answer of a tool that never gives one.
type nothing struct{ answer.Frame }

func (*nothing) Head(*answer.JSON, *answer.Prose) {}
func (*nothing) Body(*answer.JSON, *answer.Prose) {}

// TestDeadMount: a disk that does not answer takes every worker, and heeds no
// deadline. Each such call is answered, its worker is counted, and a spare
// reads on.
func TestDeadMount(t *testing.T) {
	w := plantTree(t, "ok.txt = fine\n")
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{})
		dead := tools.New(tools.Definition{
			Name: "read_dead_mount", Title: "x", Description: "x",
			Input: `{"type":"object","properties":{},"additionalProperties":false}`, Output: `{"type":"object","properties":{},"additionalProperties":false}`,
			Codes: []sandbox.Code{sandbox.Timeout},
		}, func(context.Context, *tools.Call, struct{}) (*nothing, error) {
			<-disk
			return &nothing{}, nil
		})
		ws, err := sandbox.Open(w.ws, sandbox.Options{})
		must(t, err)
		defer ws.Close()
		const workers = 8
		s := &server{t: t}
		s.line, err = stages.New(stages.Options{
			Tools:   append(tools.All(), dead),
			Env:     &tools.Env{Workspace: ws, Limits: tools.DefaultLimits(), Memory: tools.NewMemory(48<<20, time.Second)},
			Server:  stages.Server{Name: "test", Version: "0"},
			Workers: workers, CallTimeout: 30 * time.Second,
		})
		must(t, err)
		defer func() { _ = s.line.Line().Close(context.Background()) }()
		line := s.line.Line()

		answers := make(chan reply, workers)
		for range workers {
			go func() { answers <- s.call("read_dead_mount", args{}) }()
		}
		synctest.Wait()
		if n := line.Stuck(); n != 0 {
			t.Errorf("%d workers are stuck before their time", n)
		}
		for range workers {
			if r := <-answers; r.code() != "timeout" {
				t.Errorf("a dead disk: %q, %s", r.code(), r.text)
			}
		}
		time.Sleep(10 * time.Second)
		if n := line.Stuck(); n != workers {
			t.Errorf("%d workers are counted as stuck, want %d", n, workers)
		}
		for range 3 {
			if r := s.call("read_file", args{"path": "ok.txt"}); r.isError || !strings.Contains(r.text, "fine") {
				t.Errorf("beside a dead disk: %s", r.text)
			}
		}
		close(disk) // it answers at last
		synctest.Wait()
		if n := line.Stuck(); n != 0 {
			t.Errorf("%d workers are still stuck", n)
		}
		if r := s.call("list_directory", args{}); r.isError || !strings.Contains(r.text, "ok.txt") {
			t.Errorf("afterwards: %s", r.text)
		}
	})
}
