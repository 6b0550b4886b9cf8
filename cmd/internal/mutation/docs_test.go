package mutation

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"mcp-devserver/conformance"
)

var update = flag.Bool("update", false, "write the generated parts of docs/conformance.md")

const page = "../../../docs/conformance.md"

// TestGenerated keeps the tables in docs/conformance.md equal to the code. That
// the table of mutants is true, TestMutants shows.
func TestGenerated(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(b)
	for name, text := range map[string]string{"checks": checksTable(), "mutants": mutantsTable()} {
		begin, end := "<!-- generated: "+name+" -->\n", "<!-- end: "+name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("docs/conformance.md has no place for %s", name)
		}
		want = before + begin + text + end + after
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(b) {
		t.Error("docs/conformance.md is not current: run make generate")
	}
}

func checksTable() string {
	var b strings.Builder
	b.WriteString("| Check | Level | Transports | What holds | Page, section | Requirement |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, c := range conformance.Checks() {
		on := c.On.String()
		if strings.Count(on, ",") == 2 {
			on = "all"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", c.ID, c.Level, on, c.Title, c.Section, c.Requirement)
	}
	return b.String()
}

func mutantsTable() string {
	var b strings.Builder
	b.WriteString("| Check | Turned red by | Also red when |\n| --- | --- | --- |\n")
	for _, c := range conformance.Checks() {
		var own, also []string
		for i := range mutants {
			if slices.Contains(mutants[i].red, c.ID) {
				own = append(own, mutants[i].name)
			}
			if slices.Contains(mutants[i].also, c.ID) {
				also = append(also, mutants[i].name)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.ID, strings.Join(own, "; "), strings.Join(also, "; "))
	}
	return b.String()
}
