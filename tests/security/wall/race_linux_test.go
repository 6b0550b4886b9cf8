package wall

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mcp-devserver/tests/hostile"
)

// TestWallRace: while another process swaps names inside the repository for links
// out of the workspace, no answer of the built server holds a byte from there.
// Behind the wall the kernel alone sees to it: marks of the repository's places
// are not compared then. Without the wall they are, and hold as well. That
// neither is needless, TestMovedRepository of the package that runs git shows:
// there git is asked without either, and tells what lies outside.
func TestWallRace(t *testing.T) {
	questions := []string{
		`"name":"git_log","arguments":{"detail":"files"}`,
		`"name":"git_log","arguments":{"path":"a.txt","start_line":1,"end_line":2}`,
		`"name":"git_diff","arguments":{"base":"HEAD~1","head":"HEAD"}`,
		`"name":"git_diff","arguments":{"staged":true}`,
		`"name":"git_diff","arguments":{"commit":"main"}`,
		`"name":"read_file","arguments":{"path":"a.txt","revision":"HEAD"}`,
		`"name":"read_file","arguments":{"path":"a.txt","revision":"nowhere"}`,
		`"name":"project_overview","arguments":{}`,
	}
	calls := 160
	if os.Getenv("MCP_TEST_THOROUGH") != "" {
		calls = 6000
	}
	for _, wall := range []string{"enforce", "off"} {
		t.Run(wall, func(t *testing.T) {
			if wall == "enforce" {
				needsWall(t)
			}
			f := hostile.New(t)
			f.Sh(hostile.TwoCommits)
			f.Sh(hostile.OutsideRepository)
			cmd := exec.Command(program(t), "serve")
			cmd.Env, cmd.Dir = settings(f.WS, "MCP_SANDBOX__OS_SANDBOX="+wall, "MCP_LIMITS__RATE_LIMIT=false", "MCP_LIMITS__QUEUE=64"), "/"
			p := overPipe(t, cmd)
			stop, rounds := hostile.Race(f.WS)
			defer stop()
			send := func(id int) {
				if _, err := io.WriteString(p.in, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,%s}}`+"\n", id, questions[id%len(questions)], envelope)); err != nil {
					t.Fatal(err)
				}
			}
			answers, refusals := 0, 0
			sent := 0
			for ; sent < 8; sent++ {
				send(sent)
			}
			for got := 0; got < calls; {
				line, err := p.out.ReadString('\n')
				if err != nil {
					t.Fatalf("%v; stderr: %s", err, p.stderr)
				}
				if !strings.Contains(line, `"id":`) {
					continue
				}
				got++
				if strings.Contains(line, "OUTSIDE") {
					t.Errorf("outside content: %.1000s", line)
				}
				if strings.Contains(line, `"isError":true`) {
					refusals++
				} else {
					answers++
				}
				if sent < calls {
					send(sent)
					sent++
				}
			}
			t.Logf("%d answers and %d refusals during %d swaps", answers, refusals, rounds())
			if refusals == 0 || answers == 0 || rounds() < 50 {
				t.Error("the two sides did not meet")
			}
		})
	}
}
