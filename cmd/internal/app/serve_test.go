package app

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
)

func testApp(t *testing.T) *App {
	t.Helper()
	c, problems := Load([]string{"MCP_SANDBOX__WORKSPACE=" + t.TempDir()}, nil)
	if len(problems) > 0 {
		t.Fatal(lines(problems))
	}
	a, err := New(c, Build{Version: "1"}, Logger(io.Discard, "error"), "test")
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
	if err := testApp(t).ServeStdio(ctx, strings.NewReader("{}\n"), &out); err != nil || out.Len() > 0 {
		t.Errorf("stdio: %v, wrote %q", err, out.String())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := testApp(t).ServeHTTP(ctx, l, nil); err != nil {
		t.Errorf("http: %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is still open")
	}
}
