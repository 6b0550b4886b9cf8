//go:build linux && !race

package secrets

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	_ "mcp-devserver/sandbox/untrusted" // its keywords are read in the same pass
)

// spent is the least processor time of this thread for f, of several, per byte of s.
func spent(times int, s string, f func(s string)) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() int64 {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
			panic(err)
		}
		return t.Nano()
	}
	best := int64(time.Hour)
	for range times {
		begun := now()
		f(s)
		best = min(best, now()-begun)
	}
	return float64(best) / float64(len(s))
}

// TestCostOfHostileText: text made to be expensive costs a small multiple of what
// source costs. A keyword repeated without end is a storm, in which rules are not
// asked; what comes in between may have to be judged each time.
func TestCostOfHostileText(t *testing.T) {
	const size = 1 << 20
	find := func(s string) { Find(s) }
	plain := source(t, size)
	ordinary := spent(9, plain, find)
	worst := map[float64]float64{}
	check := func(name, unit string, limit float64) {
		s := strings.Repeat(unit, size/len(unit)+1)[:size]
		got := spent(1, s, find)
		for round := 0; got > limit*ordinary && round < 4; round++ { // a busy machine disturbs some, not all
			got = min(got, spent(2, s, find))
			ordinary = max(ordinary, spent(3, plain, find)) // as busy as it is now
		}
		if got > limit*ordinary { // a storm needs a while to be recognised
			s = strings.Repeat(s, 10)
			got = spent(2, s, find)
		}
		if worst[limit] = max(worst[limit], got/ordinary); got > limit*ordinary {
			t.Errorf("%s: %.2f ns per byte, source %.2f: more than %.0f times", name, got, ordinary, limit)
		}
	}
	var all strings.Builder
	for _, k := range engine().keys {
		all.WriteString(k.text)
		check(k.text, k.text, 4)
		check(k.text+" and a space", k.text+" ", 16)
		check(k.text+" assigned", k.text+"=", 16)
	}
	check("every keyword", all.String(), 4)
	check("BEGIN lines", keyBegin+"\n", 16)
	check("BEGIN lines of many labels", keyBegin+"\n-----BEGIN A PRIVATE"+" KEY-----\n-----END B PRIVATE"+" KEY-----\n", 16)
	check("open names", "password_secret_token_key", 4)
	check("escaped names", `"\u0070aspwapikcrede":"`, 16)
	check("escaped names of much", `"\u0070pppttttaaaakkkssseeecccaaapppt":"aB3`, 16)
	check("escaped names that all but hold", `"\u0070assworpasswopassphraspasswphra":"aB3dE7gH9k",`, 16)
	check("escaped names of values", `"\u0070pppttttaaaakkkssseeecccaaapppt":"aB3dE7gH9k",`, 16)
	check("quotes", "token=\"", 16)
	check("at signs", "a://b:c@", 16)
	check("dots", "eyJhbGciOiJIUzI1NiIsInR5.", 16)
	t.Logf("source %.2f ns per byte; the most, by limit: %.1f", ordinary, worst)
}
