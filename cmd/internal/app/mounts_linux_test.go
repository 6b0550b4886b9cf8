package app

import (
	"io"
	"testing"
)

// Walks enter what is mounted in the workspace where the setting says so, and not otherwise.
func TestCrossMounts(t *testing.T) {
	for value, enters := range map[string]bool{"false": false, "true": true} {
		c, problems := Load([]string{"MCP_SANDBOX__WORKSPACE=/", "MCP_SANDBOX__CROSS_MOUNTS=" + value}, nil)
		if len(problems) > 0 {
			t.Fatal(lines(problems))
		}
		a, err := New(c, Build{Version: "1"}, Logger(io.Discard, "info"), "test")
		if err != nil {
			t.Fatal(err)
		}
		root, err := a.ws.OpenDir(".")
		if err != nil {
			t.Fatal(err)
		}
		d, err := root.OpenDir("proc") // what a walk does
		if (err == nil) != enters {
			t.Errorf("%s: %v", value, err)
		}
		if err == nil {
			d.Close()
		}
		if d, err := a.ws.OpenDir("/proc"); err != nil {
			t.Errorf("%s, by its path: %v", value, err)
		} else {
			d.Close()
		}
		root.Close()
		a.Close(t.Context())
	}
}
