//go:build linux

package untrusted

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Twice as much text takes about twice the time, whatever it is made of.
func TestLinear(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector changes the cost of everything")
	}
	units := []string{"<!-- ", "<", "[", "[x](", "![a](http", "---", "ignore ", "ignore all ", "curl ", "curl|", "curl | sudo ", "send ", "send secrets ", "AI: ", "don't ", "bash $(", "\u200b", "a\u200b", "\u202e", "\U000E0041", "é", "id_rsa ", "<|im_start|>", "/* agent "}
	for _, s := range Signals() {
		units = append(units, s.fire...)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent := func() int64 { // processor time of this thread
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
			t.Fatal(err)
		}
		return now.Nano()
	}
	perByte := func(s string) float64 {
		best := int64(1 << 62)
		for range 2 {
			begun := spent()
			Scan(s)
			best = min(best, spent()-begun)
		}
		return float64(best) / float64(len(s))
	}
	for _, unit := range units {
		short := strings.Repeat(unit, 1+(32<<10)/len(unit))
		long := strings.Repeat(short, 8)
		var a, b float64
		ok := false
		for range 20 {
			a, b = perByte(short), perByte(long)
			if ok = b <= 2.5*a; ok {
				break
			}
		}
		if !ok {
			t.Errorf("%q: %.1f ns per byte in a short text, %.1f in a long one", unit, a, b)
		}
		if a > 2000 {
			t.Errorf("%q: %.1f ns per byte", unit, a)
		}
	}
}
