package wall

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-devserver/tests/hostile"
)

// TestWallRace: while another process swaps names inside the repository for links
// out of the workspace, no answer of the built server holds a byte from there.
// Behind the wall the kernel alone sees to it: marks of the repository's places
// are not compared then. Without the wall they are, and hold as well.
//
// That the attack reaches the built server is shown with both gone, and no switch in
// the server for it: on a kernel that accepts Landlock and does nothing, in a folder
// that cannot be listed anyway, the server cannot tell that no wall stands, and
// compares no marks.
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
	for _, wall := range []string{"enforce", "off", "none"} {
		t.Run(wall, func(t *testing.T) {
			if wall != "off" {
				needsWall(t)
			}
			f := hostile.New(t)
			f.Sh(hostile.TwoCommits)
			f.Sh(hostile.OutsideRepository)
			cmd, setting, most := exec.Command(program(t), "serve"), wall, calls
			if wall == "none" {
				cmd, setting, most = unwalled(t, f), "enforce", 100*calls
			}
			cmd.Env, cmd.Dir = append(cmd.Env, settings(f.WS, "MCP_SANDBOX__OS_SANDBOX="+setting, "MCP_LIMITS__RATE_LIMIT=false", "MCP_LIMITS__QUEUE=64")...), "/"
			p := overPipe(t, cmd)
			stop, rounds := hostile.Race(f.WS)
			defer stop()
			send := func(id int) {
				if _, err := io.WriteString(p.in, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,%s}}`+"\n", id, questions[id%len(questions)], envelope)); err != nil {
					t.Fatal(err)
				}
			}
			answers, refusals, outside := 0, 0, 0
			sent := 0
			for ; sent < 8; sent++ {
				send(sent)
			}
			for got := 0; got < most && (wall != "none" || outside == 0); {
				line, err := p.out.ReadString('\n')
				if err != nil {
					t.Fatalf("%v; stderr: %s", err, p.stderr)
				}
				if !strings.Contains(line, `"id":`) {
					continue
				}
				got++
				if strings.Contains(line, "OUTSIDE") {
					if outside++; wall != "none" {
						t.Errorf("outside content: %.1000s", line)
					}
				}
				if strings.Contains(line, `"isError":true`) {
					refusals++
				} else {
					answers++
				}
				if sent < most {
					send(sent)
					sent++
				}
			}
			t.Logf("%d answers, %d of them from outside, and %d refusals during %d swaps", answers, outside, refusals, rounds())
			switch {
			case wall == "none" && outside == 0:
				t.Error("without any wall the attack does not reach the server")
			case wall != "none" && (refusals == 0 || answers == 0 || rounds() < 50):
				t.Error("the two sides did not meet")
			}
		})
	}
}

// unwalled is a server over f that takes itself to be behind the kernel's wall.
func unwalled(t *testing.T, f *hostile.Repository) *exec.Cmd {
	t.Helper()
	every := users()
	u := every[len(every)-1] // no root, who can list any folder
	above := filepath.Dir(f.WS)
	for dir, mode := range map[string]os.FileMode{filepath.Dir(above): 0o711, above: 0o311} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(above, 0o700) })
	cmd := u.of(exec.Command(again(t, u, "program").Path, program(t), "serve"))
	cmd.Env = []string{roleVariable + "=program", "WALL_KERNEL=hollow Landlock"}
	return cmd
}
