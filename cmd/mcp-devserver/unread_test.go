package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// full is a standard error that takes what is printed before serving, and then
// blocks like a pipe that nobody reads.
type full struct{ ended chan struct{} }

func (f full) Write(p []byte) (int, error) {
	if p[0] == '{' {
		<-f.ended
	}
	return len(p), nil
}

// TestUnreadLog: a client that does not read the log is served all the same,
// and the end of its input ends the server.
func TestUnreadLog(t *testing.T) {
	const calls = 50
	var in strings.Builder
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_directory","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", i)
	}
	var out bytes.Buffer
	stderr := full{make(chan struct{})}
	defer close(stderr.ended)
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"--workspace", t.TempDir(), "serve"}, []string{"MCP_SANDBOX__OS_SANDBOX=external"}, strings.NewReader(in.String()), &out, stderr)
	}()
	select {
	case got := <-code:
		if n := strings.Count(out.String(), `"result"`); got != exitOK || n != calls {
			t.Errorf("exit %d after %d answers of %d", got, n, calls)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server waits for a reader of its log")
	}
}
