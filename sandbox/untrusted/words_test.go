package untrusted

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-devserver/sandbox/internal/keywords"
)

// agree compares the ways to scan plain text.
func agree(t *testing.T, s string) {
	t.Helper()
	var seen keywords.Seen
	seen.Look(s)
	want := scanWords(s)
	for name, got := range map[string][]Hit{"Scan": Scan(s), "ScanIn": ScanIn(s, &seen)} {
		if !slices.Equal(got, want) {
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					at := len(s)
					for _, l := range [][]Hit{got, want} {
						if i < len(l) {
							at = min(at, l[i].Start)
						}
					}
					end := at
					for _, l := range [][]Hit{got, want} {
						if i < len(l) {
							end = max(end, l[i].End)
						}
					}
					t.Fatalf("%s: %v, word by word %v, %q in %q", name, ids(got[i:min(len(got), i+3)]), ids(want[i:min(len(want), i+3)]), s[at:end], s[max(0, at-80):min(len(s), end+80)])
				}
			}
		}
	}
}

// Looking at rare words alone finds what looking at every word finds: in examples, in
// ordinary text, and in words of phrases thrown together.
func TestRareWordsSuffice(t *testing.T) {
	var all strings.Builder
	for _, s := range Signals() {
		for _, e := range append(append([]string(nil), s.fire...), s.quiet...) {
			if isASCII(e) {
				agree(t, e)
				all.WriteString(e + "\n\n")
			}
		}
	}
	agree(t, all.String())
	files, _ := filepath.Glob(filepath.Join("..", "..", "*.md"))
	dirs := []string{"*", "docs", "*/*"}
	if raceEnabled {
		dirs = dirs[:2]
	}
	for _, dir := range dirs {
		more, _ := filepath.Glob(filepath.Join("..", "..", dir, "*.*"))
		files = append(files, more...)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil {
			agree(t, strings.Map(func(r rune) rune { return min(r, '~') }, string(text)))
		}
	}

	rounds := 20_000
	if raceEnabled {
		rounds = 500
	}
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{" ", " ", " ", " ", "\n", ". ", ", ", ": ", "'", "-", "--- ", "<", "[", "](", "| ", "$(", "`", "://", "@", "\n\n", "the ", "a ", "x ", "64 -d "}
	var names []string
	for w := range vocabulary {
		names = append(names, w)
	}
	names = append(names, others...)
	slices.Sort(names)
	for range rounds {
		var b strings.Builder
		for range 6 + random.IntN(30) {
			switch random.IntN(8) {
			case 0:
				p := &phrases[random.IntN(len(phrases))] // a phrase, with luck
				for _, set := range append([]step{{0, p.first}}, p.rest...) {
					if n := random.IntN(set.gap + 2); n > 0 {
						b.WriteString(strings.Repeat("so ", n-1))
					}
					var of []string
					for w, n := range vocabulary {
						if set.words.has(n) {
							of = append(of, w)
						}
					}
					slices.Sort(of)
					b.WriteString(of[random.IntN(len(of))] + parts[random.IntN(5)])
				}
			case 1, 2, 3, 4:
				b.WriteString(parts[random.IntN(len(parts))])
			default:
				b.WriteString(names[random.IntN(len(names))] + parts[random.IntN(6)])
			}
		}
		agree(t, b.String())
	}
}

// Every phrase is looked for at words that are not among the commonest.
func TestPivotsAreRare(t *testing.T) {
	for i := range phrases {
		p := &phrases[i]
		words, _ := p.pivotStep()
		sum := 0
		var list []string
		for w, n := range vocabulary {
			if words.has(n) {
				sum += frequency(w)
				list = append(list, w)
			}
		}
		if sum > 700 {
			t.Errorf("phrase %d is looked for at %v: %d in a million bytes", i, list, sum)
		}
	}
}
