//go:build !portable && !race

package sandbox

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpu is the processor time that this process has used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	must(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The door costs at most twice what os.ReadFile does for a file of 10 KiB, by
// processor time. What other programs do moves both; the best of several turns,
// taken one after the other, is compared.
func TestCostOfTheDoor(t *testing.T) {
	ws, _ := plant(t, "src/app/http/server.go = "+strings.Repeat("x", 10<<10))
	const name = "src/app/http/server.go"
	w := open(t, ws, false)
	if w.fallback {
		t.Log("this kernel has no openat2: components are opened one by one, which costs more and is the price of an old kernel")
	}
	buf := make([]byte, 16<<10)
	door := func() {
		f, err := w.OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := f.ReadAt(buf[:f.Info().Size], 0); n != 10<<10 || err != nil {
			t.Fatal(n, err)
		}
		f.Close()
	}
	bare := func() {
		if b, err := os.ReadFile(ws + "/" + name); err != nil || len(b) != 10<<10 {
			t.Fatal(err)
		}
	}
	turn := func(f func()) time.Duration {
		const rounds = 400
		start := cpu(t)
		for range rounds {
			f()
		}
		return (cpu(t) - start) / rounds
	}
	limit := 2.0
	if w.fallback {
		limit = 4
	}
	var doors, bares []time.Duration
	for range 15 {
		doors = append(doors, turn(door))
		bares = append(bares, turn(bare))
	}
	ratio := float64(slices.Min(doors)) / float64(slices.Min(bares))
	t.Logf("door %v, os.ReadFile %v: %.2f times", slices.Min(doors), slices.Min(bares), ratio)
	if ratio > limit {
		t.Errorf("the door costs %.2f times os.ReadFile, at most %.1f", ratio, limit)
	}
}
