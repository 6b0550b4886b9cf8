package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// parent is this test binary as an editor that starts a server and is killed:
// it holds the pipes of the server, which inherits descriptor 3 beside them.
func parent() {
	cmd := exec.Command(os.Getenv("E2E_PROGRAM"), "serve")
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "witness")}
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		if out, err = cmd.StdoutPipe(); err == nil {
			if err = cmd.Start(); err == nil {
				fmt.Fprintln(in, discover("1"))
				if _, err = bufio.NewReader(out).ReadString('\n'); err == nil {
					fmt.Println("ready")
					select {}
				}
			}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// TestParentKilled: a server does not outlive the program that started it,
// even when that had no time to say goodbye.
func TestParentKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(self)
	cmd.Env = append(environment(workspace), "E2E_ROLE=parent", "E2E_PROGRAM="+program)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if err := cmd.Wait(); err == nil {
		t.Error("the parent ended by itself")
	}
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	// The pipe ends when the last process that holds it has ended.
	if _, err := io.ReadAll(r); err != nil {
		t.Fatalf("the server lives on: %v", err)
	}
	if took := time.Since(killed); took > atOnce {
		t.Errorf("the server lived %v longer than its parent", took)
	}
}
