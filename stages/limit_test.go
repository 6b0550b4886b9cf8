package stages

import (
	"fmt"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(Rate{PerSecond: 2, Burst: 3})
	for i := range 3 {
		if _, ok := l.admit("a", now); !ok {
			t.Fatalf("call %d of a burst of 3 was refused", i)
		}
	}
	wait, ok := l.admit("a", now)
	if ok || wait != 500*time.Millisecond {
		t.Fatalf("the fourth call: %v, %v", wait, ok)
	}
	if _, ok := l.admit("b", now); !ok {
		t.Error("another client is held back")
	}
	if _, ok := l.admit("a", now.Add(499*time.Millisecond)); ok {
		t.Error("admitted too early: a refused call must not shorten the wait")
	}
	if _, ok := l.admit("a", now.Add(501*time.Millisecond)); !ok {
		t.Error("refused after the wait that was named")
	}
}

// A call that is refused because of what others use takes nothing from its own client.
func TestLimiterSharedRefusal(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(Rate{PerSecond: 1, Burst: 1})
	for i := range shared {
		if _, ok := l.admit(fmt.Sprint("other", i), now); !ok {
			t.Fatalf("call %d was refused", i)
		}
	}
	wait, ok := l.admit("a", now)
	if ok || wait != time.Second/shared {
		t.Fatalf("with the shared budget used up: %v, %v", wait, ok)
	}
	if wait, ok := l.admit("a", now.Add(wait)); !ok {
		t.Errorf("refused for another %v after the wait that was named", wait)
	}
}

func TestLimiterManyNames(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(Rate{PerSecond: 1, Burst: 10})
	admitted := 0
	for i := range 3 * maxClients {
		if _, ok := l.admit(fmt.Sprint("client", i), now); ok {
			admitted++
		}
	}
	if admitted != 10*shared {
		t.Errorf("%d calls under new names were admitted, want %d", admitted, 10*shared)
	}
	if l.used.Len() != maxClients || len(l.byKey) != maxClients {
		t.Errorf("%d and %d clients are remembered", l.used.Len(), len(l.byKey))
	}
}

func TestLimiterOff(t *testing.T) {
	l := newLimiter(Rate{})
	for range 1000 {
		if _, ok := l.admit("", time.Time{}); !ok {
			t.Fatal("refused without a limit")
		}
	}
}
