package seal

import (
	"testing"
	"time"
)

// TestTiming: a step whose name is no plain word cannot put anything into a
// header.
func TestTiming(t *testing.T) {
	s := Sealed{times: []Time{
		{"parse", 1500 * time.Microsecond}, {"evil\r\nSet-Cookie: a", time.Second}, {"", 1}, {"Upper", 1}, {"a;desc=x", 1}, {"redact", 40 * time.Nanosecond},
	}}
	if got, want := s.Timing(), "parse;dur=1.500, redact;dur=0.000"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (Sealed{}).Timing(); got != "" {
		t.Errorf("%q", got)
	}
}
