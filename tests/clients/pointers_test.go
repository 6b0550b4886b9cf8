// Package clients holds tests that drive the built server with clients of
// others; make clients runs them. The test of this file only keeps the document
// about clients true.
package clients

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var pointer = regexp.MustCompile("`([a-z0-9/_.]+\\.(?:go|mjs)): ([^`]+)`")

// TestPointers: every test that docs/clients.md names exists.
func TestPointers(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := pointer.FindAllStringSubmatch(string(b), -1)
	if len(all) < 20 {
		t.Fatalf("only %d tests are named", len(all))
	}
	for _, m := range all {
		if err := declared(m[1], m[2]); err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
	}
	if declared("tests/clients/pointers_test.go", "TestAbsent") == nil {
		t.Error("a test that is not there was found")
	}
}

func declared(file, name string) error {
	src, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	if strings.Contains(string(src), "func "+name+"(") || strings.Contains(string(src), "test('"+name+"'") {
		return nil
	}
	return fs.ErrNotExist
}
