package tools_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mcp-devserver/tools/internal/tooltest"
)

// letters are words that fold in ways of their own: the Kelvin sign to k, the long s to s, the capital sharp s to its
// small form, and the dotted capital I to nothing.
var letters = []string{"foo", "Foo", "BAR", "bar", "k", "K", "\u212a", "s", "S", "ſ", "straße", "STRAẞE", "İ", "i", "I", "ı", "é", "É", "µ", "μ", "Ω", "\u2126", "ab", "aa", "x1", "42", " ", "\t", "."}

// grammar makes patterns that mean the same to grep -P: classes are spelled out, since those of grep reach beyond ASCII,
// and nothing matches the empty text.
func grammar(r *rand.Rand, depth int) string {
	if depth == 0 {
		if r.IntN(2) == 0 {
			return strings.ReplaceAll(letters[r.IntN(len(letters))], ".", `\.`)
		}
		atoms := []string{"[a-f]", "[^a-f]", "[A-Z]", "[0-9]+", "[A-Za-z0-9_]+", "[ \t]", ".", "[kſ]", "[^sS]", "[ß-é]", `\x{212a}`, "[a-z]{2,3}"}
		return atoms[r.IntN(len(atoms))]
	}
	a := grammar(r, depth-1)
	switch r.IntN(10) {
	case 0:
		return "(?:" + a + "|" + grammar(r, depth-1) + ")"
	case 1:
		return "(" + a + ")" + []string{"+", "{2}", "{1,3}", "+?"}[r.IntN(4)]
	case 2:
		return "(" + a + ")" + grammar(r, 0) + `\1`
	case 3:
		return a + []string{"(?=bar)", "(?![a-k])", "(?=.*[0-9])", "(?!.*foo)"}[r.IntN(4)]
	case 4:
		return []string{"(?<=a)", "(?<!b)", "(?<=[^f])", "(?<![A-Z]s)", "(?<=oo)"}[r.IntN(5)] + a
	case 5:
		return []string{"^" + a, a + "$", "^" + a + ".*" + grammar(r, 0)}[r.IntN(3)]
	case 6:
		return "(?>" + a + "|" + grammar(r, 0) + ")" + grammar(r, 0)
	case 7:
		return "(?i:" + a + ")" + grammar(r, 0)
	}
	return a + grammar(r, depth-1)
}

func plant(f *tooltest.Fixture, r *rand.Rand) {
	for i := range 25 {
		var b strings.Builder
		for range 1 + r.IntN(25) {
			for range r.IntN(6) {
				b.WriteString(letters[r.IntN(len(letters))])
			}
			b.WriteByte('\n')
		}
		f.Write(fmt.Sprintf("d%d/f%02d.txt", r.IntN(4), i), []byte(b.String()))
	}
}

// Hundreds of random patterns find the lines that grep -P finds, with case and without.
func TestSearchRandomPatternsAgainstGrep(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	compared, found := 0, 0
	for range 3 / slower {
		f := tooltest.New(t, "")
		plant(f, r)
		for range 110 {
			p, ignore := grammar(r, 1+r.IntN(3)), r.IntN(2) == 0
			flags := []string{"-P", "-e", p}
			if ignore {
				flags = append(flags, "-i")
			}
			call := map[string]any{"pattern": p, "limit": 500, "ignore_case": ignore, "context_lines": 0}
			if r := f.Call("search_code", args(call)); r.Code == "unsafe_pattern" {
				continue
			}
			want := grep(t, f.Root, flags...)
			slices.SortFunc(want, pathOrder)
			got := all(t, f, call)
			if !slices.Equal(got, want) {
				t.Errorf("%s, ignore_case %v: %d matches, grep has %d; first differences %v", p, ignore, len(got), len(want), differences(got, want))
			}
			compared++
			found += len(want)
		}
	}
	if compared < 250/slower || found < 1000/slower {
		t.Errorf("%d patterns compared, %d lines", compared, found)
	}
}

// The same for patterns that span lines: grep reads each file as one text and prints the places of its matches.
func TestSearchRandomBlocksAgainstGrep(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	f := tooltest.New(t, "")
	plant(f, r)
	compared, found := 0, 0
	for range 150 {
		p := grammar(r, r.IntN(3)) + []string{`\n`, `[ \t]*\n`, `\n+`, `[^x]{1,9}`, `.+\n`}[r.IntN(5)] + grammar(r, r.IntN(2))
		call := map[string]any{"pattern": p, "multiline": true, "limit": 500, "context_lines": 0}
		if r := f.Call("search_code", args(call)); r.Code == "unsafe_pattern" {
			continue
		}
		want := blocks(t, f, p)
		if got := all(t, f, call); !slices.Equal(got, want) {
			t.Errorf("%q: %d matches, grep has %d; first differences %v", p, len(got), len(want), differences(got, want))
		}
		compared++
		found += len(want)
	}
	if compared < 100 || found < 300 {
		t.Errorf("%d patterns compared, %d matches", compared, found)
	}
}

// blocks returns "path:line" for each match of grep in whole texts; those that share a line are one.
func blocks(t *testing.T, f *tooltest.Fixture, p string) (out []string) {
	t.Helper()
	cmd := exec.Command("grep", "-rzobP", "-e", "(?ms)"+p, ".")
	cmd.Dir = f.Root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	list, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("grep %q: %v", p, err)
	}
	type match struct{ start, end int }
	matches := map[string][]match{}
	for m := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		name, rest, ok := strings.Cut(string(m), ":")
		if !ok {
			continue
		}
		var at int
		fmt.Sscan(rest, &at)
		_, text, _ := strings.Cut(rest, ":")
		name = strings.TrimPrefix(name, "./")
		matches[name] = append(matches[name], match{at, at + len(text)})
	}
	for name, ms := range matches {
		text, err := os.ReadFile(f.Root + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		last := 0 // the last line of the match before
		for _, m := range ms {
			first := 1 + bytes.Count(text[:m.start], []byte{'\n'})
			if first > last {
				out = append(out, fmt.Sprintf("%s:%d", name, first))
			}
			last = max(last, 1+bytes.Count(text[:max(m.end-1, m.start)], []byte{'\n'}))
		}
	}
	slices.SortFunc(out, pathOrder)
	return out
}

// differences are at most five lines that only one side has.
func differences(got, want []string) (out []string) {
	for _, x := range got {
		if !slices.Contains(want, x) {
			out = append(out, "ours "+x)
		}
	}
	for _, x := range want {
		if !slices.Contains(got, x) {
			out = append(out, "grep "+x)
		}
	}
	return out[:min(len(out), 5)]
}
