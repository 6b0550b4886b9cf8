package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// three asks for an answer by hand of each kind.
func three() []string {
	return []string{discover("1"), request(`"two"`, "tools/list", ""), call("3", "read_file", `{"path":"README.md"}`)}
}

func answered(t *testing.T, messages []*message, ids ...string) {
	t.Helper()
	seen := map[string]int{}
	for _, m := range messages {
		seen[m.id()]++
	}
	for _, id := range ids {
		if seen[id] != 1 {
			t.Errorf("id %s is answered %d times", id, seen[id])
		}
	}
	if len(messages) != len(ids) {
		t.Errorf("%d messages for %d requests", len(messages), len(ids))
	}
}

// TestPipedRequests: what a shell pipes in is answered before the end.
func TestPipedRequests(t *testing.T) {
	for name, input := range map[string]string{
		"lines":                     strings.Join(three(), "\n") + "\n",
		"no newline at the end":     strings.Join(three(), "\n"),
		"carriage returns":          strings.Join(three(), "\r\n") + "\r\n",
		"a carriage return at last": strings.Join(three(), "\r\n") + "\r",
		"blank lines":               "\n\r\n  \n" + strings.Join(three(), "\n\n\t\n") + "\n\n",
		"a byte order mark":         "\ufeff" + strings.Join(three(), "\n") + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := stdio(t, workspace)
			c.write(input)
			code, _, got := c.end()
			if code != 0 {
				t.Errorf("exit code %d", code)
			}
			answered(t, got, "1", `"two"`, "3")
		})
	}
	t.Run("a last line that is cut off", func(t *testing.T) {
		c := stdio(t, workspace)
		c.write(discover("1") + "\n" + `{"jsonrpc":"2.0","id":2,"meth`)
		code, _, got := c.end()
		answered(t, got, "1", "")
		if code != 0 || len(got) == 2 && got[1].Error == nil && got[0].Error == nil {
			t.Errorf("exit code %d, no error", code)
		}
	})
	t.Run("nothing", func(t *testing.T) { stdio(t, workspace).must() })
	t.Run("a line over the limit", func(t *testing.T) {
		c := stdio(t, workspace)
		m := c.exchange(call("1", "read_file", `{"path":"`+strings.Repeat("x", 1<<20)+`"}`), 1)[0]
		if m.ID != nil || m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("%.200s", m.Raw)
		}
		if m := c.exchange(discover("2"), 1)[0]; m.Result == nil {
			t.Errorf("%.200s", m.Raw)
		}
		c.must()
	})
}

// TestEndOfInputWhileIdle: the end of the input ends the server at once.
func TestEndOfInputWhileIdle(t *testing.T) {
	c := stdio(t, workspace)
	c.exchange(discover("1"), 1)
	c.must()
}

// TestEndOfInputWhileBusy: what runs is given a few seconds, then cancelled;
// nothing is left behind.
func TestEndOfInputWhileBusy(t *testing.T) {
	c, dir := slowly8(t)
	c.send(call("9", "git_log", `{}`))
	code, took, rest := c.end()
	if code != 0 || took > 4*time.Second+4*atOnce {
		t.Errorf("exit code %d after %v", code, took)
	}
	seen := map[string]bool{}
	for _, m := range rest {
		if seen[m.id()] {
			t.Errorf("%s is answered twice", m.id())
		}
		seen[m.id()] = true
	}
	if left := processesIn(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// processesIn lists the processes that work in a folder, as git does for us.
func processesIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(links) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && (to == dir || strings.HasPrefix(to, dir+"/")) {
			list = append(list, l)
		}
	}
	return list
}

// TestOutputClosed: a client that reads no more ends the server, though it
// still holds the input.
func TestOutputClosed(t *testing.T) {
	c := stdio(t, workspace)
	c.exchange(discover("1"), 1)
	c.out.Close()
	c.send(discover("2")) // its answer meets the closed pipe
	if code, took, _ := c.wait(); code != 0 || took > 2*atOnce {
		t.Errorf("exit code %d after %v", code, took)
	}
}

// TestOutputClosedWhileBusy: nobody is left to be answered, so nothing runs on.
func TestOutputClosedWhileBusy(t *testing.T) {
	c, _ := slowly8(t)
	c.out.Close()
	c.send(discover("2"))
	if code, took, _ := c.wait(); code != 0 || took > 5*atOnce {
		t.Errorf("exit code %d after %v", code, took)
	}
}

func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			c := stdio(t, workspace)
			c.exchange(discover("1"), 1)
			if err := c.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if code, took, rest := c.wait(); code != 0 || len(rest) > 0 || took > atOnce {
				t.Errorf("exit code %d after %v, %d messages left", code, took, len(rest))
			}
		})
	}
	t.Run("while busy", func(t *testing.T) {
		c, _ := slowly8(t)
		c.exchange(discover("9"), 1)
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code, took, _ := c.wait(); code != 0 || took > 4*time.Second+4*atOnce {
			t.Errorf("exit code %d after %v", code, took)
		}
	})
}

// TestRefusedConfiguration: a server that does not start says so on stderr
// alone, in one line, with the code that stands for it.
func TestRefusedConfiguration(t *testing.T) {
	for name, c := range map[string]struct{ dir, setting, says string }{
		"no workspace":      {"", "", "MCP_SANDBOX__WORKSPACE: it is not set"},
		"a missing one":     {filepath.Join(workspace, "none"), "", "it does not exist"},
		"a file":            {filepath.Join(workspace, "go.mod"), "", "it is not a folder"},
		"the whole machine": {"/", "MCP_GIT__ENABLED=false", "a system folder"},
		"a mistyped name":   {workspace, "MCP_SANDBOX__MAX_FILE_BTYES=1", "did you mean MCP_SANDBOX__MAX_FILE_BYTES?"},
		"a number in words": {workspace, "MCP_LIMITS__WORKERS=many", "not a whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			p := stdio(t, c.dir, c.setting)
			code, took, rest := p.wait() // the input stays open
			if code != 78 || len(rest) > 0 || took > 5*atOnce {
				t.Errorf("exit code %d after %v, %d messages", code, took, len(rest))
			}
			said := p.stderr.String()
			if !strings.HasPrefix(said, "refused: ") || !strings.Contains(said, c.says) {
				t.Errorf("stderr: %q", said)
			}
			for line := range strings.Lines(said) {
				if refused := strings.HasPrefix(line, "refused: "); refused != strings.Contains(line, c.says) || !refused && !strings.HasPrefix(line, "warning: ") {
					t.Errorf("stderr: %q", line)
				}
			}
		})
	}
}

// TestOnlyMessagesOnOutput: with everything logged and everything hostile sent,
// the output is the protocol and nothing else, and the log is fit to be shown:
// one JSON object a line, no control characters, no value of a request.
func TestOnlyMessagesOnOutput(t *testing.T) {
	c := stdio(t, workspace, "MCP_LOG__LEVEL=trace", "MCP_LIMITS__RATE_LIMIT=false")
	var got, want int
	for _, p := range probes() {
		want += p.count
		c.send(p.line)
		if want-got >= 32 { // the queue takes 64
			for ; got < want; got++ {
				c.next()
			}
		}
	}
	code, _, rest := c.end()
	if got += len(rest); got != want {
		t.Errorf("%d messages, want %d", got, want)
	}
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	checkLog(t, c.stderr.String())
}

func checkLog(t *testing.T, log string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	if len(lines) < 50 {
		t.Errorf("only %d lines of log", len(lines))
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "warning: ") {
			continue
		}
		if !json.Valid([]byte(l)) || !utf8.ValidString(l) {
			t.Errorf("log line %.200q", l)
		}
		for _, r := range l {
			if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Errorf("control character in log line %.200q", l)
			}
		}
	}
	for _, value := range []string{"hunter2", "9Xq2mVt7", "zebra", "servr", "server.go", "passwd", "Ignore all previous", "--output", workspace} {
		if strings.Contains(log, value) {
			t.Errorf("%q is in the log", value)
		}
	}
	if !strings.Contains(log, fmt.Sprintf("%q:%q", "tool", "read_file")) {
		t.Error("no call of a tool is in the log")
	}
}
