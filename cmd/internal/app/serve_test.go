package app

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func testApp(t *testing.T, log io.Writer) *App {
	t.Helper()
	c, problems := Load([]string{"MCP_SANDBOX__WORKSPACE=" + t.TempDir()}, nil)
	if len(problems) > 0 {
		t.Fatal(lines(problems))
	}
	a, err := New(c, Build{Version: "1"}, Logger(log, "info"), "test")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestEarlyEnd: a signal that comes while the server still attacks itself is an
// orderly end, not an attack that got through. Clients that probe with a
// process of its own end it as soon as it has answered, or before.
func TestEarlyEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := testApp(t, io.Discard).ServeStdio(ctx, strings.NewReader("{}\n"), &out); err != nil || out.Len() > 0 {
		t.Errorf("stdio: %v, wrote %q", err, out.String())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := testApp(t, io.Discard).ServeHTTP(ctx, l, nil); err != nil {
		t.Errorf("http: %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is still open")
	}
}

// stuck is a log that cannot be written, which stops the line that reports to it.
type stuck struct{ reached, free chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	close(s.reached)
	<-s.free
	return len(p), nil
}

// TestEndWithStuckStage: a part of the line that does not return does not keep
// the process alive.
func TestEndWithStuckStage(t *testing.T) {
	w := stuck{make(chan struct{}), make(chan struct{})}
	a := testApp(t, w)
	asked := make(chan struct{})
	go func() {
		a.Call(t.Context(), "list_directory", "")
		close(asked)
	}()
	<-w.reached
	ended := make(chan error, 1)
	go func() { ended <- a.end() }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the stuck stage is not reported")
		}
	case <-time.After(10 * stuckFor):
		t.Error("the end waits for a stage that does not return")
	}
	close(w.free)
	<-asked
}
