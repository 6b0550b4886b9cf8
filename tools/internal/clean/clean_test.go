package clean

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
func TestScan(t *testing.T) {
	c := memory{seed: maphash.MakeSeed()}
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
	if !c.known(hash(maphash.String(c.seed, padding))) {
		t.Error("nothing was remembered")
	}
}

// A listing is known by its prefix and all its names, in their order, and by no text of the same bytes.
func TestNames(t *testing.T) {
	m := memory{seed: maphash.MakeSeed()}
	list := func(prefix string, names ...string) *Listing {
		l := m.names(prefix)
		for _, n := range names {
			l.Add(n)
		}
		return l
	}
	list("src/", "a.go", "b.go").Remember()
	if !list("src/", "a.go", "b.go").Known() {
		t.Error("not remembered")
	}
	for _, l := range []*Listing{list("src/"), list("src/", "a.go"), list("src/", "b.go", "a.go"), list("src/", "a.gob.go"), list("", "a.go", "b.go"),
		list("src/a.go", "b.go"), list("src/", "a.go", "b.go", "c.go")} {
		if l.Known() {
			t.Errorf("%+v is known", l)
		}
	}
	if m.known(hash(maphash.String(m.seed, "src/a.gob.go"))) || m.known(hash(maphash.String(m.seed, "src/\x00a.go\x00b.go\x00"))) {
		t.Error("a text is known by a listing")
	}
}

func BenchmarkScan(b *testing.B) {
	s := strings.Repeat("\treturn fmt.Errorf(\"reading the key of %s: %w\", name, err) // basic, too\n", 150)
	c := memory{seed: maphash.MakeSeed()}
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
