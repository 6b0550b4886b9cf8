//go:build unix

package conformance

import (
	"context"
	"testing"
	"time"
)

// TestChildHoldsStdout: a process has ended when it has ended, although a child
// that it left behind still holds its stdout; and the child goes with it.
func TestChildHoldsStdout(t *testing.T) {
	target := Stdio("forks", Command([]string{"sh", "-c", "sleep 600 & cat >/dev/null"}))
	l, err := target.open(context.Background(), newLedger())
	if err != nil {
		t.Fatal(err)
	}
	p := l.(*pipe)
	p.closeInput()
	if !p.exits(time.Minute) {
		t.Fatal("the process is said to run")
	}
	l.close()
	select {
	case <-p.gone: // the last holder of stdout is dead, or this side is closed
	case <-time.After(time.Minute):
		t.Error("its child keeps stdout open")
	}
	if l.alive() {
		t.Error("said to be alive")
	}
}
