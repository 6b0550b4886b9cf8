//go:build !race

package symbol

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestCostBoundsMemory: what Parse allocates in all stays near the estimate of what it holds at one time, whatever the
// text; grown slices are counted several times over. Nested and dotted names may not multiply.
func TestCostBoundsMemory(t *testing.T) {
	const size = 96 << 10
	check := func(lang, trick, src string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		syms, err := Parse(context.Background(), lang, src)
		runtime.ReadMemStats(&after)
		cost := Cost(lang, src)
		if got := int64(after.TotalAlloc - before.TotalAlloc); got > 3*cost+1<<20 {
			t.Errorf("%s: %s: %d KiB allocated for %d KiB of text, estimated at %d KiB (%d symbols, %v)", lang, trick, got>>10, len(src)>>10, cost>>10, len(syms), err)
		}
	}
	for _, lang := range Languages() {
		for trick, unit := range hostile {
			src := beginnings[trick] + strings.Repeat(unit, size/len(unit))
			if lang == "php" {
				src = "<?php " + src
			}
			check(lang, trick, src)
		}
	}
}

// A text of too many definitions yields the first ones, one that is too dense none; both say so.
func TestLimits(t *testing.T) {
	for lang, unit := range map[string]string{"go": "var a=1\n", "python": "class a: b=1\n", "typescript": "class a{}\n", "ruby": "A=1\n", "shell": "a(){ :;}\n", "c": "#define a\n"} {
		src := strings.Repeat(unit, 60_000)
		if lang == "go" {
			src = "package a\n" + src
		}
		if syms, err := Parse(context.Background(), lang, src); len(syms) != maxSymbols || err != ErrSyntax {
			t.Errorf("%s: %d symbols, %v", lang, len(syms), err)
		}
	}
	if syms, err := Parse(context.Background(), "c", strings.Repeat(";", 4<<20)); syms != nil || err != ErrLarge {
		t.Errorf("%d symbols, %v", len(syms), err)
	}
}

// A container is not spelled out without end.
func TestWithin(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, c := range []struct{ container, name, want string }{
		{"", "a", "a"}, {"a", "b", "a.b"}, {"a", long, "a"}, {"", long, long[:maxContainer]}, {"", "x" + long, "x" + long[:maxContainer-2]},
	} {
		if got := within(c.container, c.name); got != c.want {
			t.Errorf("%q in %q: %q", c.name, c.container, got)
		}
	}
}

// Time: a hostile text costs a few times what an ordinary one of its language does, byte for byte. Both are measured in
// one run, the least of several, so that a busy machine does not decide.
func TestTimePerByte(t *testing.T) {
	const size, times = 64 << 10, 12
	ordinary := map[string]string{}
	for _, c := range defCases {
		if !c.loose {
			ordinary[c.lang] += c.src + "\n"
		}
	}
	for _, lang := range Languages() {
		unit := ordinary[lang]
		if unit == "" {
			unit = "a = b(c) + d;\n"
		}
		plain := strings.Repeat(unit, size/len(unit)+1)
		took := func(src string) time.Duration {
			began := time.Now()
			Parse(context.Background(), lang, src)
			return time.Since(began) * size / time.Duration(len(src))
		}
		least := took(plain)
		for trick, unit := range hostile {
			src := beginnings[trick] + strings.Repeat(unit, size/len(unit))
			if lang == "php" {
				src = "<?php " + src
			}
			got := took(src)
			for try := 0; try < 10 && got > times*least; try++ {
				got = min(got, took(src))
				least = max(least, min(took(plain), 2*least)) // the machine may have become slower since
			}
			if got > times*least {
				t.Errorf("%s: %s: %v for %d bytes, ordinary text takes %v", lang, trick, got, size, least)
			}
		}
	}
}

// A text is given up soon after the context has ended: in the middle of it, not at its end.
func TestParseStops(t *testing.T) {
	for lang, unit := range map[string]string{"go": "var a = 1\n", "python": "a = 1\n", "typescript": "let a = 1\n", "ruby": "A = 1\n", "shell": "a() { :; }\n", "php": "$a = 1;\n"} {
		src := strings.Repeat(unit, (1<<20)/len(unit))
		ctx := &countdown{Context: context.Background(), left: 3}
		if syms, err := Parse(ctx, lang, src); syms != nil || err != context.Canceled {
			t.Errorf("%s: %d symbols, %v", lang, len(syms), err)
		}
		if looks := -ctx.left; looks > 3 {
			t.Errorf("%s: went on over %d looks at the context", lang, looks)
		}
		ctx = &countdown{Context: context.Background(), left: 3}
		References(ctx, lang, src, "a", func(Use) bool { t.Errorf("%s: a use after the context has ended", lang); return false })
	}
}

// countdown is a context that ends when it has been looked at left times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
