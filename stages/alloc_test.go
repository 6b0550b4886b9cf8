//go:build !race

package stages

import (
	"context"
	"testing"
)

// requests is how many the interleaving test sends.
const requests = 10_000

// The pins leave a little room over what was measured; a jump means that something began to copy.
func TestAllocations(t *testing.T) {
	w := newWalk(t)
	ctx := context.Background()
	asked := w.call
	asked.token = []byte(`"p"`)
	for _, c := range []struct {
		stage string
		most  float64
		f     func()
	}{
		{"parse", 6, func() { _, _ = w.row.parse.Do(ctx, w.x, w.in) }},
		{"negotiate", 3, func() { _, _ = w.row.negotiate.Do(ctx, w.x, w.parsed) }},
		{"validate", 18, func() { _, _ = w.row.validate.Do(ctx, w.x, w.spoken) }},
		{"execute", 9, func() { _, _ = w.row.execute.Do(ctx, w.x, w.call) }},
		{"execute, with progress", 16, func() { _, _ = w.row.execute.Do(ctx, w.x, asked) }},
		{"scan", 2, func() { _, _ = w.row.scan.Do(ctx, w.x, w.outcome) }},
		{"assemble and redact", 16, func() {
			e, _ := w.row.assemble.Do(ctx, w.x, w.marked) // a document is sealed once
			_, _ = w.row.redact.Do(ctx, w.x, e)
		}},
		{"assemble", 24, func() { _, _ = w.row.assemble.Do(ctx, w.x, w.marked) }},
	} {
		if n := testing.AllocsPerRun(100, c.f); n > c.most {
			t.Errorf("%s: %v allocations, at most %v", c.stage, n, c.most)
		} else {
			t.Logf("%s: %v allocations", c.stage, n)
		}
	}
}
