package tools

import (
	"testing"
	"time"

	"mcp-devserver/redos"
)

// A timeout of one line is believed when it comes again, or when a search has seen a few: that is the pattern's doing.
func TestSearchMatchesALineAgainAfterATimeout(t *testing.T) {
	s := &search{deadline: time.Now().Add(time.Minute)}
	if s.starved(redos.ErrStack) || s.starved(redos.ErrTooLong) {
		t.Error("what comes again by itself is tried again")
	}
	for n := range lineRetries {
		if !s.starved(redos.ErrTimeout) {
			t.Errorf("timeout %d is believed", n+1)
		}
	}
	if s.starved(redos.ErrTimeout) {
		t.Error("a slow pattern is tried without end")
	}
	if late := (&search{deadline: time.Now().Add(-time.Second)}); late.starved(redos.ErrTimeout) {
		t.Error("a line is matched again after the deadline")
	}
}
