package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// patience is how long a test waits for what must come. It is long because
// machines are busy; what must be fast says so itself.
const patience = 30 * time.Second

// atOnce bounds the end of a server that has nothing to do: milliseconds.
const atOnce = slower * time.Second

// message is one JSON-RPC message as it came.
type message struct {
	Raw     string          `json:"-"`
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

func (m *message) id() string { return string(m.ID) }

// parse reads one line of output. Whatever is not a JSON-RPC object is a fault
// of the server.
func parse(t testing.TB, line string) *message {
	t.Helper()
	m := &message{Raw: line}
	if !utf8.ValidString(line) {
		t.Errorf("output is not UTF-8: %.200q", line)
	}
	if err := json.Unmarshal([]byte(line), m); err != nil || m.JSONRPC != "2.0" {
		t.Errorf("output is not JSON-RPC: %.200q", line)
	}
	return m
}

// environment is what a server inherits: nothing of ours but where programs
// lie, and the settings NAME=value.
func environment(dir string, settings ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(os.TempDir(), "no-home"),
		"GORACE=atexit_sleep_ms=0", // the race detector otherwise delays every exit by a second
		"MCP_SANDBOX__ALLOW_ROOT=true",
		"MCP_SEARCH__MATCH_TIMEOUT_MS=1000", // the machine may be busy with other tests
	}
	if dir != "" {
		env = append(env, "MCP_SANDBOX__WORKSPACE="+dir)
	}
	return append(env, settings...)
}

// child is a server over a pipe.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	lines  chan string   // what it wrote, closed at the end of its output
	gone   chan struct{} // closed when it has ended
	stderr *tail
	code   int
}

// tail collects what a process says beside its protocol.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *tail) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *tail) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// stdio starts a server over dir with further settings.
func stdio(t *testing.T, dir string, settings ...string) *child {
	t.Helper()
	return start(t, exec.Command(program, "serve"), environment(dir, settings...))
}

func start(t *testing.T, cmd *exec.Cmd, env []string) *child {
	t.Helper()
	c := &child{t: t, cmd: cmd, lines: make(chan string, 1<<16), gone: make(chan struct{}), stderr: new(tail)}
	cmd.Env, cmd.Stderr = env, c.stderr
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, out
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				c.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		var exit *exec.ExitError
		if err := cmd.Wait(); errors.As(err, &exit) {
			c.code = exit.ExitCode()
		} else if err != nil {
			c.code = -1
		}
		close(c.gone)
	}()
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill() // an error says that it has ended
		<-c.gone
		out.Close()
		if s := c.stderr.String(); strings.Contains(s, "panic:") || strings.Contains(s, "DATA RACE") || strings.Contains(s, "goroutine ") {
			t.Errorf("stderr: %s", s)
		}
		if t.Failed() {
			t.Logf("stderr: %.4000s", c.stderr.String())
		}
	})
	return c
}

func (c *child) write(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, s); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

func (c *child) send(line string) { c.t.Helper(); c.write(line + "\n") }

// next waits for the next message.
func (c *child) next() *message {
	c.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("the output ended; stderr: %s", c.stderr)
		}
		if !strings.HasSuffix(line, "\n") {
			c.t.Errorf("the output ends within a line: %.200q", line)
		}
		return parse(c.t, strings.TrimSuffix(line, "\n"))
	case <-timer.C:
		c.t.Fatalf("nothing came")
	}
	return nil
}

// exchange sends a line and waits for n messages.
func (c *child) exchange(line string, n int) []*message {
	c.t.Helper()
	c.send(line)
	var all []*message
	for range n {
		all = append(all, c.next())
	}
	return all
}

// end closes the input, waits for the end, and returns the exit code, how long
// it took, and what came meanwhile.
func (c *child) end() (code int, took time.Duration, rest []*message) {
	c.t.Helper()
	c.in.Close()
	return c.wait()
}

// wait waits for the end of the process and of its output.
func (c *child) wait() (code int, took time.Duration, rest []*message) {
	c.t.Helper()
	began := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
		c.t.Fatalf("the server does not end; stderr: %s", c.stderr)
	}
	took = time.Since(began)
	for line := range c.lines {
		if !strings.HasSuffix(line, "\n") {
			c.t.Errorf("the output ends within a line: %.200q", line)
		}
		rest = append(rest, parse(c.t, strings.TrimSuffix(line, "\n")))
	}
	return c.code, took, rest
}

// must ends a server that has nothing left to say, within a second.
func (c *child) must() {
	c.t.Helper()
	code, took, rest := c.end()
	if code != 0 || len(rest) > 0 {
		c.t.Errorf("exit code %d, %d messages left", code, len(rest))
		for _, m := range rest[:min(3, len(rest))] {
			c.t.Logf("left: %.300s", m.Raw)
		}
	}
	if took > atOnce {
		c.t.Errorf("it took %v to end", took)
	}
}

// terminate asks a server to end, as a process manager does, and expects it to.
func terminate(t *testing.T, c *child) {
	t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, took, rest := c.wait(); code != 0 || len(rest) > 0 || took > 3*atOnce {
		t.Errorf("exit code %d after %v, %d messages left; stderr: %s", code, took, len(rest), c.stderr)
	}
}
