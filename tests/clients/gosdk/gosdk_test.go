// Package gosdk drives the built server with the official Go client, pinned to
// the one revision, over both transports. It is a module of its own, so that
// the server does not depend on what it is tested with.
package gosdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	revision = "2026-07-28"
	patience = 30 * time.Second
)

// program is the built server; workspace is what it serves.
var program, workspace string

func TestMain(m *testing.M) {
	program = os.Getenv("MCP_DEVSERVER")
	if program == "" {
		fmt.Fprintln(os.Stderr, "MCP_DEVSERVER must name the built program")
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "gosdk")
	if err == nil {
		workspace = dir
		err = fill(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// slow is a call that takes seconds: each line of 160 MB is given to the engine.
var slow = map[string]any{"pattern": "[a-z]+ [0-9]+ [a-z]+(?!.|$)", "path": "large"}

func fill(dir string) error {
	files := map[string]string{"main.go": "package main\n\nfunc main() {}\n", ".env": "PASSWORD=hunter2\n"}
	for i := range 50 {
		files[fmt.Sprintf("docs/%d.md", i)] = fmt.Sprintf("page %d of the manual\n", i)
	}
	large := strings.Repeat("line of a file that holds words and 123 abcdefghij\n", 20_000)
	for i := range 160 {
		files[fmt.Sprintf("large/%d.txt", i)] = large
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// log collects what a server says beside its protocol.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
	// changed takes a token whenever something came.
	changed chan struct{}
}

func newLog() *log { return &log{changed: make(chan struct{}, 1)} }

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return l.b.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// until waits for a line with all the words.
func (l *log) until(t *testing.T, words ...string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		for line := range strings.Lines(l.String()) {
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			if all {
				return
			}
		}
		select {
		case <-l.changed:
		case <-deadline:
			t.Fatalf("no line with %q in the log:\n%s", words, l)
		}
	}
}

func server(l *log, args ...string) *exec.Cmd {
	cmd := exec.Command(program, append([]string{"serve"}, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "MCP_SANDBOX__WORKSPACE=" + workspace,
		"MCP_SANDBOX__OS_SANDBOX=auto", "MCP_SANDBOX__ALLOW_ROOT=true", "MCP_LOG__LEVEL=debug",
	}
	cmd.Stderr = l
	return cmd
}

// overHTTP starts a server and waits until it is ready.
func overHTTP(t *testing.T, l *log) (url string) {
	t.Helper()
	for range 5 { // another process may take the port between asking for it and using it
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := free.Addr().String()
		free.Close()
		cmd := server(l, "--transport", "http", "--listen", address)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		go func() { cmd.Wait(); close(gone) }()
		t.Cleanup(func() {
			cmd.Process.Signal(os.Interrupt)
			<-gone
		})
		if ready(t, "http://"+address+"/readyz", gone) {
			return "http://" + address + "/mcp"
		}
	}
	t.Fatalf("no server becomes ready: %s", l)
	return ""
}

func ready(t *testing.T, url string, gone <-chan struct{}) bool {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	deadline := time.After(patience)
	for {
		if r, err := http.Get(url); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case <-again.C:
		case <-gone:
			return false
		case <-deadline:
			t.Fatalf("not ready after %v", patience)
		}
	}
}

// each runs a test with a client over each transport; progress takes what it is told.
func each(t *testing.T, f func(t *testing.T, s *mcp.ClientSession, l *log, progress <-chan *mcp.ProgressNotificationParams)) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			l := newLog()
			var via mcp.Transport
			if transport == "stdio" {
				via = &mcp.CommandTransport{Command: server(l)}
			} else {
				via = &mcp.StreamableClientTransport{Endpoint: overHTTP(t, l)}
			}
			progress := make(chan *mcp.ProgressNotificationParams, 1000)
			c := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params },
			})
			s, err := c.Connect(t.Context(), via, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatalf("%v\n%s", err, l)
			}
			f(t, s, l, progress)
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if strings.Contains(l.String(), "earlier MCP revision") {
				t.Error("the client fell back to an earlier revision")
			}
		})
	}
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (r *mcp.CallToolResult, text string, structured map[string]any) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	content, ok := r.Content[0].(*mcp.TextContent)
	if !ok || len(r.Content) != 1 {
		t.Fatalf("content %v", r.Content)
	}
	structured, _ = r.StructuredContent.(map[string]any)
	return r, content.Text, structured
}

func TestDiscoverAndList(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.ClientSession, _ *log, _ <-chan *mcp.ProgressNotificationParams) {
		r := s.InitializeResult()
		if r.ProtocolVersion != revision || r.ServerInfo == nil || r.ServerInfo.Name != "mcp-devserver" || r.Capabilities.Tools == nil ||
			r.Capabilities.Prompts != nil || r.Capabilities.Resources != nil || r.Instructions == "" {
			t.Errorf("discovered %+v", r)
		}
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != 7 || list.NextCursor != "" || list.Tools[0].Name != "project_overview" {
			t.Errorf("%d tools, cursor %q", len(list.Tools), list.NextCursor)
		}
	})
}

func TestCall(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.ClientSession, _ *log, _ <-chan *mcp.ProgressNotificationParams) {
		r, text, structured := call(t, s, "read_file", map[string]any{"path": "main.go"})
		if r.IsError || !strings.Contains(text, "func main") || structured["path"] != "main.go" {
			t.Errorf("%v %s %v", r.IsError, text, structured)
		}
	})
}

func TestDenial(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.ClientSession, _ *log, _ <-chan *mcp.ProgressNotificationParams) {
		for path, code := range map[string]string{"../../etc/passwd": "outside_workspace", ".env": "denied_path", "main.gp": "not_found"} {
			r, text, structured := call(t, s, "read_file", map[string]any{"path": path})
			if remedy, _ := structured["remedy"].(string); !r.IsError || structured["error"] != code || remedy == "" || !strings.HasSuffix(text, remedy) {
				t.Errorf("%s: %v %s %v", path, r.IsError, text, structured)
			}
		}
	})
}

func TestInvalidArguments(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.ClientSession, _ *log, _ <-chan *mcp.ProgressNotificationParams) {
		for _, c := range []struct {
			tool string
			args map[string]any
			says string
		}{
			{"read_file", map[string]any{"path": "main.go", "start_line": 0}, "start_line"},
			{"read_file", map[string]any{}, "path"},
			{"read_file", map[string]any{"path": "main.go", "encoding": "x"}, "encoding"},
			{"write_file", map[string]any{}, "write_file"},
		} {
			_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
			var e *jsonrpc.Error
			if !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || !strings.Contains(e.Message, c.says) || !json.Valid(e.Data) {
				t.Errorf("%s %v: %v", c.tool, c.args, err)
			}
		}
		if r, _, _ := call(t, s, "list_directory", nil); r.IsError { // the session lives
			t.Error("no answer after errors")
		}
	})
}

func TestProgress(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.ClientSession, _ *log, progress <-chan *mcp.ProgressNotificationParams) {
		p := &mcp.CallToolParams{Name: "search_code", Arguments: slow}
		p.SetProgressToken(0) // the smallest there is
		if _, err := s.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		last, n := -1.0, 0
		for len(progress) > 0 {
			got := <-progress
			if got.Progress <= last || fmt.Sprint(got.ProgressToken) != "0" || (got.Message == "started") != (n == 0) || n > 0 && !strings.HasPrefix(got.Message, "searching ") {
				t.Errorf("%+v after %v", got, last)
			}
			last = got.Progress
			n++
		}
		if n < 2 {
			t.Errorf("%d notifications came", n)
		}
	})
}

// The call is known to run, because it has reported progress. Over HTTP the
// client also posts notifications/cancelled, and ends its session if that is
// refused.
func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.ClientSession, l *log, progress <-chan *mcp.ProgressNotificationParams) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &mcp.CallToolParams{Name: "search_code", Arguments: slow}
		p.SetProgressToken("p")
		ended := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, p)
			ended <- err
		}()
		select {
		case <-progress:
		case err := <-ended:
			t.Fatalf("ended before it was cancelled: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		l.until(t, `"tool":"search_code"`, `"outcome":"none"`)
		if r, _, _ := call(t, s, "list_directory", nil); r.IsError {
			t.Error("no answer after a cancellation")
		}
	})
}

func TestFiftyCallsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.ClientSession, _ *log, _ <-chan *mcp.ProgressNotificationParams) {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": fmt.Sprintf("docs/%d.md", i)}})
				if err != nil {
					t.Error(err)
					return
				}
				if b, err := json.Marshal(r); err != nil || !bytes.Contains(b, fmt.Appendf(nil, "page %d of the manual", i)) {
					t.Errorf("call %d: %v %s", i, err, b)
				}
			})
		}
		all.Wait()
	})
}
