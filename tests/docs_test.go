package tests

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

var update = flag.Bool("update", false, "write the generated documents")

// TestGenerated keeps the documents that are made from tables current. Run it
// with -update after a change.
func TestGenerated(t *testing.T) {
	for name, want := range map[string]string{"tools.md": toolsPage(t), "errors.md": errorsPage(), "protocol.md": protocolPage(t)} {
		path := filepath.Join("..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s is not current: run make generate", name)
		}
	}
}

type schema struct {
	Description string             `json:"description"`
	Type        string             `json:"type"`
	Enum        []string           `json:"enum"`
	Default     any                `json:"default"`
	Minimum     *json.Number       `json:"minimum"`
	Maximum     *json.Number       `json:"maximum"`
	MaxLength   *json.Number       `json:"maxLength"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
}

// members lists the names of an object's properties in published order.
func members(t *testing.T, raw []byte, all map[string]*schema) []string {
	t.Helper()
	var names []string
	for n := range all {
		names = append(names, n)
	}
	at := func(n string) int { return strings.Index(string(raw), `"`+n+`":{"type"`) }
	slices.SortFunc(names, func(a, b string) int { return at(a) - at(b) })
	return names
}

func toolsPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Tools\n\nSeven tools, all read-only, in the order in which they are published. This page is\ngenerated from their definitions; `mcp-devserver tools --json` prints the schemas.\n\n" +
		"Every success carries, in both halves, `complete`, `stopped` (`limit`, `chars` or\n`time`), `next` (a call that can be sent as it stands), `notices`, `untrusted` (nonce,\nrisk, score, signals) and `redactions` (rule and count). A denial carries `error`,\n`message`, `remedy` and sometimes `details`; [errors.md](errors.md) lists them.\n\n" +
		"Before the schema is applied, `null` for an optional argument and `\"\"` for an\noptional path, glob or revision count as absent, an integer may come as a decimal\nstring or an integral float, and a boolean as `\"true\"` or `\"false\"`; each use adds a\nnotice. Nothing else is guessed.\n")
	for _, tool := range tools.All() {
		var s schema
		if err := json.Unmarshal(tool.InputSchema(), &s); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n%s\n\n| Argument | Type | Default | What it does |\n| --- | --- | --- | --- |\n", tool.Name(), tool.Title(), tool.Description())
		for _, name := range members(t, tool.InputSchema(), s.Properties) {
			p := s.Properties[name]
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, kind(p), initial(p, slices.Contains(s.Required, name)), cell(p.Description))
		}
		b.WriteString("\nDenials: ")
		for i, c := range tool.Codes() {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "[`%s`](errors.md#%s)", c, c)
		}
		b.WriteString(".\n")
	}
	return b.String()
}

func kind(p *schema) string {
	switch {
	case len(p.Enum) > 0:
		return "`" + strings.Join(p.Enum, "` `") + "`"
	case p.Minimum != nil && p.Maximum != nil:
		return fmt.Sprintf("%s, %s to %s", p.Type, *p.Minimum, *p.Maximum)
	case p.MaxLength != nil:
		return fmt.Sprintf("%s, at most %s characters", p.Type, *p.MaxLength)
	}
	return p.Type
}

func initial(p *schema, required bool) string {
	switch {
	case required:
		return "required"
	case p.Default == nil:
		return "–"
	}
	return fmt.Sprintf("`%v`", p.Default)
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func errorsPage() string {
	var b strings.Builder
	b.WriteString("# Errors\n\nTwo vocabularies, generated from their tables. A request that could not have been\nright is a JSON-RPC error; a reasonable question whose answer is no is a result with\n`isError` and a remedy, on both transports with HTTP status 200.\n\n" +
		"## JSON-RPC errors\n\n| Code | Name | HTTP status | Asked for by | Example message |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range wire.Faults() {
		fmt.Fprintf(&b, "| %d | %s | %d | %s | %s |\n", f.Code, f.Name, f.Status, f.Section, cell(f.Example))
	}
	b.WriteString("\n## Denials\n")
	for _, c := range sandbox.Codes() {
		d := sandbox.Example(c)
		fmt.Fprintf(&b, "\n### %s\n\n> %s %s\n", c, d.Message, d.Remedy)
		if len(d.Details) > 0 {
			b.WriteString("\nDetails: ")
			for i, x := range d.Details {
				if i > 0 {
					b.WriteString(", ")
				}
				fmt.Fprintf(&b, "`%s`", x.Key)
			}
			b.WriteString(".\n")
		}
	}
	return b.String()
}

// TestLinks: every relative link in a document leads to a file, and every
// document is reached from the README.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	linked := map[string]bool{}
	pages := []string{"README.md"}
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		pages = append(pages, filepath.Join("docs", filepath.Base(d)))
	}
	for _, page := range pages {
		b, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			to := filepath.Join(filepath.Dir(page), m[1])
			linked[to] = true
			if _, err := os.Stat(filepath.Join("..", to)); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
	for _, page := range pages[1:] {
		if !linked[page] {
			t.Errorf("no document links to %s", page)
		}
	}
}
