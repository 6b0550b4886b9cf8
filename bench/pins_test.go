//go:build unix && !race

package bench

import (
	"runtime/debug"
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

// TestWalkTime pins the processor time of the walk that reads a 10 KiB file, all
// threads together: the least of the rounds is at most 200 µs or, where the
// processor itself is slow, at most 1.6 times what reading and quoting the file
// takes alone (1.2 to 1.45 times were seen). Processor time does not count what
// other programs use; they slow the caches down in some rounds, not in all. A round
// is long enough to hold its share of garbage collections.
func TestWalkTime(t *testing.T) {
	const most, perRound, rounds, atLeast = 200 * time.Microsecond, 500, 60, 8
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // as the command sets it
	l := server(t)
	var message []byte
	for _, w := range walks {
		if w.name == "read 10 KiB" {
			message = w.request
		}
	}
	path := tenKiB(t)
	round := func(f func()) time.Duration {
		start := cpu(t)
		for range perRound {
			f()
		}
		return (cpu(t) - start) / perRound
	}
	walk, bare := time.Hour, time.Hour
	for n := range rounds {
		if n >= atLeast && walk <= max(most, bare*8/5) {
			break
		}
		walk = min(walk, round(func() { ask(t, l, message) }))
		bare = min(bare, round(func() { floor(t, path) }))
	}
	t.Logf("%v of processor time; reading and quoting the same file alone takes %v", walk, bare)
	if walk > max(most, bare*8/5) {
		t.Errorf("a walk takes %v of processor time, pinned at %v", walk, max(most, bare*8/5))
	}
}
