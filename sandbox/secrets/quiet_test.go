package secrets

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofTests are parts of a path that say that a file holds test data, where made-up
// credentials are at home.
var ofTests = regexp.MustCompile(`(?i)(^|[/._-])(tests?|testing|testdata|testutils?|test_data|fixtures?|specs?|e2e|mocks?|fakes?|integration|__tests__|inttest|smoketest|examples?|samples?|playground|vendor|node_modules)([/._-]|$)|(?-i)[a-z](Tests?|IT|Spec|Fixtures)([/.]|$)`)

// TestQuiet counts what is redacted in trees of ordinary source, outside of their
// tests: at most one place in 100,000 lines over all of them. SECRETS_TREES names the
// trees (make quiet); every place is printed, so that somebody can look at it.
func TestQuiet(t *testing.T) {
	trees := filepath.SplitList(os.Getenv("SECRETS_TREES"))
	if len(trees) == 0 {
		t.Skip("SECRETS_TREES names no tree")
	}
	lines, hits := 0, 0
	for _, tree := range trees {
		files, ownLines, ownHits := 0, 0, 0
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(tree, path)
			if d.Name() == ".git" || rel != "." && ofTests.MatchString(filepath.ToSlash(rel)) {
				if d.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if !d.Type().IsRegular() {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil || len(b) > 8<<20 || strings.IndexByte(string(b[:min(len(b), 8<<10)]), 0) >= 0 {
				return nil
			}
			text := string(b)
			files++
			ownLines += strings.Count(text, "\n")
			for _, p := range Find(text) {
				ownHits++
				from := strings.LastIndexByte(text[:p.Start], '\n') + 1
				line, _, _ := strings.Cut(text[from:], "\n")
				t.Logf("%s:%d: %s: %.160s", rel, strings.Count(text[:p.Start], "\n")+1, p.Rule.ID(), strings.TrimSpace(line))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		lines, hits = lines+ownLines, hits+ownHits
		t.Logf("%s: %d files, %d lines, %d places, %.2f in 100,000 lines", filepath.Base(tree), files, ownLines, ownHits, 1e5*float64(ownHits)/float64(max(ownLines, 1)))
	}
	t.Logf("together: %d lines, %d places, %.2f in 100,000 lines", lines, hits, 1e5*float64(hits)/float64(max(lines, 1)))
	if hits*100_000 > lines {
		t.Errorf("more than one place in 100,000 lines")
	}
}
