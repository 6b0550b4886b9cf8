package secrets

import (
	"bytes"
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// source is ordinary Go source of the given size: the standard library's.
func source(tb testing.TB, size int) string {
	var b strings.Builder
	for _, dir := range []string{"net/http", "go/types", "encoding/json", "os", "strings", "time", "fmt"} {
		files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", dir, "*.go"))
		if err != nil {
			tb.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			b.Write(text)
		}
	}
	s := b.String()
	if s == "" {
		tb.Fatal("no source of the standard library at GOROOT")
	}
	for len(s) < size {
		s += s
	}
	return s[:size]
}

func BenchmarkFind(b *testing.B) {
	s := source(b, 1<<20)
	raw := []byte(s)
	b.Run("lines", func(b *testing.B) { // the yardstick: counting line feeds
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			bytes.Count(raw, []byte{'\n'})
		}
	})
	b.Run("automaton", func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		b.ReportAllocs()
		for b.Loop() {
			Find(s)
		}
	})
	// Rejected: one lane, each step of which waits for the one before. Texts too short
	// for lanes are read so.
	b.Run("one-lane", func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			findInPieces(s)
		}
	})
	b.Run("redact", func(b *testing.B) { // scan and redact, as an answer does
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			Redact(Scan(s), true, nil)
		}
	})
	// Rejected: the prefixes alone, without any assignment rule, as one expression.
	b.Run("one-regexp", func(b *testing.B) {
		var alt []string
		for _, r := range rules {
			if r.shape == "" || r.anyCase {
				continue
			}
			for k := range strings.FieldsSeq(r.keys) {
				alt = append(alt, regexp.QuoteMeta(k)+strings.NewReplacer("{16384}", "*").Replace(loose(r.shape)))
			}
		}
		re := regexp.MustCompile(strings.Join(alt, "|"))
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			re.FindAllStringIndex(s, -1)
		}
	})
	b.Run("keys", func(b *testing.B) {
		text := strings.Repeat(armoured(keyBegin, keyEnd, "\n", body(26))+"\n", 600)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			Find(text)
		}
	})
}

// findInPieces reads s in one lane.
func findInPieces(s string) {
	const piece = 350 // bytes: too short for lanes
	for ; len(s) > piece; s = s[piece:] {
		Find(s[:piece])
	}
	Find(s)
}

// loose drops counts, which make a regexp of this size fail to compile.
func loose(shape string) string {
	return regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(shape, "+")
}

func BenchmarkRedact(b *testing.B) {
	s := source(b, 40<<10)
	with := Scan(s[:20<<10] + "\ntoken = \"" + Rules()[ruleIndex("github-token")].Fire[1].Text + "\"\n" + s[20<<10:])
	b.Run("nothing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Redact(Text{Raw: s}, true, nil)
		}
	})
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Redact(with, true, nil)
		}
	})
}

func TestFindAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools")
	}
	clean, _ := Redact(Scan(source(t, 1<<20)), false, nil)
	if n := testing.AllocsPerRun(5, func() {
		if Find(clean) != nil {
			t.Fatal("hit")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// perByte is the least time of several runs over s, per byte.
func perByte(s string) float64 {
	best := time.Duration(1 << 62)
	for range 3 {
		begun := time.Now()
		Find(s)
		best = min(best, time.Since(begun))
	}
	return float64(best.Nanoseconds()) / float64(len(s))
}

// Twice as much text takes about twice the time, whatever it is made of.
func TestLinear(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector changes the cost of everything")
	}
	for _, k := range engine().keys {
		for _, unit := range []string{k.text, k.text + "=", k.text + "a9.", "'" + k.text + ":"} {
			short := strings.Repeat(unit, 1+(12<<10)/len(unit))
			long := strings.Repeat(short, 8)
			var a, b float64
			ok := false
			for range 20 {
				a, b = perByte(short), perByte(long)
				if ok = b <= 2*a; ok {
					break
				}
			}
			if !ok {
				t.Errorf("%q: %.1f ns per byte in a short text, %.1f in a long one", unit, a, b)
			}
		}
	}
}
