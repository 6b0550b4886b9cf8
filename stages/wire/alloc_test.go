//go:build !race

package wire

import "testing"

func TestDecodeAllocates(t *testing.T) {
	in := []byte(call)
	if n := testing.AllocsPerRun(200, func() { _, _ = Decode(in, Limits{}) }); n > 3 {
		t.Errorf("%v allocations for one message", n)
	}
}
