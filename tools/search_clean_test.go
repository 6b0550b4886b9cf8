package tools

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcp-devserver/sandbox/secrets"
)

// A text that was clean says nothing about one that differs in a byte, in either order, whoever asks.
func TestCleanTexts(t *testing.T) {
	c := cleanTexts{seed: maphash.MakeSeed()}
	padding := strings.Repeat("a line of plain words\n", 200)
	key := "AKIA" + "Q3EGRZ7TPXN5BLDW"
	texts := []string{"", "a", padding, padding + "id=" + key + "\n", padding + "id=" + key[:19] + "\n", "id=" + key + "\n" + padding, padding + "\n"}
	for i := range 400 {
		texts = append(texts, fmt.Sprintf("%d\n%s", i, padding[:i]))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				for _, s := range texts {
					got, want := c.scan(s), secrets.Scan(s)
					if got.Raw != s || !slices.Equal(got.Spans, want.Spans) {
						t.Errorf("%.20q: %v, want %v", s, got.Spans, want.Spans)
					}
				}
			}
		})
	}
	wg.Wait()
	if known := c.slots.Load()[max(maphash.String(c.seed, padding), 1)%cleanSlots].Load(); known == 0 {
		t.Error("nothing was remembered")
	}
}

func BenchmarkCleanTexts(b *testing.B) {
	s := strings.Repeat("\treturn fmt.Errorf(\"reading the key of %s: %w\", name, err) // basic, too\n", 150)
	c := cleanTexts{seed: maphash.MakeSeed()}
	b.Run("remembered", func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		b.ReportAllocs()
		for b.Loop() {
			c.scan(s)
		}
	})
	b.Run("scanned", func(b *testing.B) { // what it stands in for
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			secrets.Scan(s)
		}
	})
}
