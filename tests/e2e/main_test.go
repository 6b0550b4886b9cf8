// Package e2e tests the built program as its users run it: a child process
// over a real pipe, and over a real socket.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// program is the built binary; workspace is the repository that it serves.
var program, workspace string

func TestMain(m *testing.M) {
	if role := os.Getenv("E2E_ROLE"); role == "parent" {
		parent()
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Join(dir, "bin", "mcp-devserver")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := []string{"build", "-o", program}
	if underRace {
		build = append(build, "-race")
	}
	workspace = filepath.Join(dir, "atelier")
	for _, c := range [][]string{
		append([]string{"go"}, append(build, "mcp-devserver/cmd/mcp-devserver")...),
		{"bash", filepath.Join("testdata", "workspace.sh"), workspace},
	} {
		cmd := exec.Command(c[0], c[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", c[0], err, out)
			return 1
		}
	}
	return m.Run()
}
