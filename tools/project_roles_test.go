package tools

import (
	"strings"
	"testing"
)

func TestFileRoles(t *testing.T) {
	for _, c := range []struct {
		path                         string
		entry, ci, instructions, doc bool
		test                         string
	}{
		{path: "main.go", entry: true},
		{path: "cmd/x/main.go", entry: true},
		{path: "examples/x/main.go"},
		{path: "testdata/main.go"},
		{path: "bin/run", entry: true},
		{path: "bin/.keep"},
		{path: "src/bin/tool.rs", entry: true},
		{path: "a/b/c/d/bin/x"},
		{path: "index.js", entry: true},
		{path: "src/index.tsx", entry: true},
		{path: "lib/deep/index.js"},
		{path: "public/index.php", entry: true},
		{path: "lib/index.php"},
		{path: "pkg/__main__.py", entry: true},
		{path: ".github/workflows/a.yaml", ci: true},
		{path: ".github/a.yml"},
		{path: ".gitlab-ci.yml", ci: true},
		{path: "Jenkinsfile", ci: true},
		{path: "sub/Jenkinsfile"},
		{path: "AGENTS.md", instructions: true},
		{path: "a/b/CLAUDE.md", instructions: true},
		{path: ".cursorrules", instructions: true},
		{path: ".cursor/rules/go.mdc", instructions: true},
		{path: "a/.cursor/rules/go.mdc", instructions: true},
		{path: ".github/copilot-instructions.md", instructions: true},
		{path: "x/copilot-instructions.md"},
		{path: ".github/instructions/go.instructions.md", instructions: true},
		{path: "agents.md"},
		{path: "README", doc: true},
		{path: "x/Readme.rst", doc: true},
		{path: "README.go"},
		{path: "readmes/a.md"},
		{path: "a_test.go", test: "*_test.go"},
		{path: "pkg/a_test.go", test: "pkg/*_test.go"},
		{path: "pkg/sub/a_test.go", test: "pkg/**/*_test.go"},
		{path: "_test.go"},
		{path: "tests/test_a.py", test: "tests/test_*.py"},
		{path: "src/a.spec.ts", test: "src/*.spec.ts"},
		{path: "app/src/test/java/A.java", test: "app/src/test/**/*.java"},
		{path: "src/test/kotlin/A.kt", test: "src/test/**/*.kt"},
		{path: "app/latest/A.java"},
		{path: "A/FooTests.cs", test: "A/*Tests.cs"},
		{path: "A/FooTest.php", test: "A/*Test.php"},
		{path: "web/__tests__/a.js", test: "web/__tests__/**/*.js"},
		{path: "tests/it.rs", test: "tests/**/*.rs"},
		{path: "spec/a_spec.rb", test: "spec/*_spec.rb"},
		{path: "attests/a.rs"},
		{path: "pkg/a_test.txt"},
	} {
		if isEntry(c.path) != c.entry || isCI(c.path) != c.ci || isInstruction(c.path) != c.instructions || isDoc(c.path) != c.doc {
			t.Errorf("%s: entry %v, ci %v, instructions %v, doc %v", c.path, isEntry(c.path), isCI(c.path), isInstruction(c.path), isDoc(c.path))
		}
		if got, ok := testPattern(c.path); got != c.test || ok != (c.test != "") {
			t.Errorf("%s: test pattern %q", c.path, got)
		}
	}
}

func TestVendoredPart(t *testing.T) {
	for path, want := range map[string]string{"a/b.go": "", "vendor": "vendor", "vendor/x/vendor/y": "vendor", "a/third_party/b.c": "a/third_party", "vendored/x": ""} {
		if got, own := vendoredPart(".", path); got != want || own != (want == "") {
			t.Errorf("%s: %q, %v", path, got, own)
		}
	}
}

// TestTreeSharesItsRoom: a folder with very many entries leaves the others theirs.
func TestTreeSharesItsRoom(t *testing.T) {
	tree := newProjectTree(".", 2)
	for _, d := range []string{"a", "b", "c"} {
		tree.add(d, 1, true, "")
	}
	for i := range 500 {
		tree.add("a/f"+itoa(int64(i)), 2, false, "")
	}
	tree.cut("a", 60_000)
	tree.add("b/x", 2, false, " (ignored)")
	tree.add("c/d", 2, true, "")
	tree.add("c/d/e", 3, false, "")
	tree.add("missing/parent", 2, false, "")
	text, shown, all := tree.text()
	if shown > treeEntries || all != 3+500+60_000+2 {
		t.Errorf("%d of %d", shown, all)
	}
	for _, want := range []string{"a/\n  f0\n", "b/\n  x (ignored)\n", "c/\n  d/"} {
		if !strings.Contains(text.Raw, want) {
			t.Errorf("no %q in\n%s", want, text.Raw)
		}
	}
	if !strings.Contains(text.Raw, " more\n") {
		t.Errorf("what is left out is not counted:\n%s", text.Raw)
	}
}
