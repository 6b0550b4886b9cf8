//go:build unix && !race

package bench

import (
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time that this process has used.
func cpu(tb testing.TB) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestWalkAllocations pins what a walk allocates.
func TestWalkAllocations(t *testing.T) {
	l := server(t)
	for _, w := range walks {
		ask(t, l, w.request)
		n := testing.AllocsPerRun(200, func() { ask(t, l, w.request) })
		t.Logf("%-16s %5.0f allocations, at most %.0f", w.name, n, w.most)
		if n > w.most {
			t.Errorf("%s: %v allocations, pinned at %v", w.name, n, w.most)
		}
	}
}

// TestWalkTime pins the processor time of the walk that reads a 10 KiB file:
// the least of many rounds is at most 200 µs.
func TestWalkTime(t *testing.T) {
	const most, perRound = 200 * time.Microsecond, 200
	l := server(t)
	var message []byte
	for _, w := range walks {
		if w.name == "read 10 KiB" {
			message = w.request
		}
	}
	least := time.Hour
	for range 40 {
		start := cpu(t)
		for range perRound {
			ask(t, l, message)
		}
		least = min(least, (cpu(t)-start)/perRound)
		if least < most/2 {
			break
		}
	}
	t.Logf("%v of processor time", least)
	if least > most {
		t.Errorf("a walk takes %v of processor time, pinned at %v", least, most)
	}
}
