package git

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"mcp-devserver/sandbox/secrets"
)

// Commits come from one process in batches; a process for each is the
// alternative.
func BenchmarkCommits(b *testing.B) {
	f := newFixture(b)
	f.sh(`for i in $(seq 1 50); do git commit -q --allow-empty -m $i; done`)
	ids := strings.Fields(f.sh("git rev-list HEAD"))
	ctx := context.Background()
	g := f.git(Options{})
	read := func(b *testing.B, r *Repo, ids []string) {
		n := 0
		if err := r.Commits(ctx, ids, func(*Commit) error { n++; return nil }); err != nil || n != len(ids) {
			b.Fatal(n, err)
		}
	}
	b.Run("batch", func(b *testing.B) {
		for b.Loop() {
			r, err := g.Open(ctx)
			if err != nil {
				b.Fatal(err)
			}
			read(b, r, ids)
			r.Close()
		}
	})
	b.Run("process-each", func(b *testing.B) {
		for b.Loop() {
			r, err := g.Open(ctx)
			if err != nil {
				b.Fatal(err)
			}
			for _, id := range ids {
				read(b, r, []string{id})
				_ = r.drop()
			}
			r.Close()
		}
	})
}

// A rewrite of every seventh of n lines: past the number of edits that the
// library searches exactly, anchors keep the patch short.
func rewritten(n int) (a, b string) {
	var x, y strings.Builder
	for i := range n {
		fmt.Fprintf(&x, "line %d\n", i)
		if i%7 == 3 {
			fmt.Fprintf(&y, "changed %d\n", i)
		} else {
			fmt.Fprintf(&y, "line %d\n", i)
		}
	}
	return x.String(), y.String()
}

func BenchmarkPatch(b *testing.B) {
	for _, n := range []int{100, 5000, 100000} {
		x, y := rewritten(n)
		b.Run(fmt.Sprintf("anchored/%d", n), func(b *testing.B) {
			for b.Loop() {
				p, err := MakePatch(context.Background(), secrets.Text{Raw: x}, secrets.Text{Raw: y}, 3)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(p.Added), "added")
			}
		})
		b.Run(fmt.Sprintf("library-alone/%d", n), func(b *testing.B) {
			for b.Loop() {
				added := 0
				for _, e := range udiff.Lines(x, y) {
					added += strings.Count(e.New, "\n")
				}
				b.ReportMetric(float64(added), "added")
			}
		})
	}
}

// A patch allocates in proportion to its size and the number of lines, not to
// the square of anything.
func TestPatchAllocations(t *testing.T) {
	x, y := rewritten(1000)
	n := testing.AllocsPerRun(20, func() {
		if _, err := MakePatch(context.Background(), secrets.Text{Raw: x}, secrets.Text{Raw: y}, 3); err != nil {
			t.Fatal(err)
		}
	})
	if n > 1500 {
		t.Errorf("%v allocations", n)
	}
}
