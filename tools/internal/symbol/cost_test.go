//go:build !race

package symbol

import (
	"runtime"
	"strings"
	"testing"
)

// TestCostBoundsMemory: what Parse allocates in all stays near the estimate of what it holds at one time, whatever the
// text; grown slices are counted several times over. Nested and dotted names may not multiply.
func TestCostBoundsMemory(t *testing.T) {
	const size = 96 << 10
	check := func(lang, trick, src string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		syms, err := Parse(lang, src)
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
		if syms, err := Parse(lang, src); len(syms) != maxSymbols || err != ErrSyntax {
			t.Errorf("%s: %d symbols, %v", lang, len(syms), err)
		}
	}
	if syms, err := Parse("c", strings.Repeat(";", 4<<20)); syms != nil || err != ErrLarge {
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
