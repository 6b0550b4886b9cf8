package tests

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcp-devserver/conformance"
	"mcp-devserver/tools"
)

// requirement is one row of testdata/requirements.txt.
type requirement struct {
	id, level, where, what, code string
	named                        []string // package:Test, as written in the row
	note                         string
	tests                        []string // all tests found for it
}

func requirements(t *testing.T) []*requirement {
	t.Helper()
	b, err := os.ReadFile("testdata/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []*requirement
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "|")
		if len(f) != 7 {
			t.Fatalf("%d columns in %q", len(f), line)
		}
		r := &requirement{id: f[0], level: f[1], where: f[2], what: f[3], code: f[4], note: f[6]}
		for _, n := range strings.Split(f[5], ",") {
			if n = strings.TrimSpace(n); n != "" {
				r.named = append(r.named, n)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

var (
	requirementID = regexp.MustCompile(`R-[A-Z]+-\d\d`)
	testFunc      = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// evidence collects, over every test file of the tree, which functions exist
// and which files name which requirement.
func evidence(t *testing.T) (functions map[string]bool, naming map[string][]string) {
	t.Helper()
	functions, naming = map[string]bool{}, map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		dir := filepath.ToSlash(filepath.Dir(rel))
		for _, m := range testFunc.FindAllStringSubmatch(string(b), -1) {
			functions[dir+":"+m[1]] = true
		}
		for _, id := range requirementID.FindAllString(string(b), -1) {
			if !slices.Contains(naming[id], rel) {
				naming[id] = append(naming[id], rel)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return functions, naming
}

// TestRequirements: every row leads to code that exists and to tests that
// exist, and a MUST has at least one.
func TestRequirements(t *testing.T) {
	rows := proven(t)
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.id] {
			t.Errorf("%s stands twice", r.id)
		}
		seen[r.id] = true
		if !slices.Contains([]string{"MUST", "SHOULD", "MAY"}, r.level) || !slices.Contains([]string{"B", "S", "H"}, r.where) {
			t.Errorf("%s: level %q, where %q", r.id, r.level, r.where)
		}
		if _, err := os.Stat(filepath.Join("..", r.code)); err != nil && r.code != "docs/protocol.md" {
			t.Errorf("%s is said to be in %s, which does not exist", r.id, r.code)
		}
		if len(r.tests) == 0 && (r.level == "MUST" || r.level == "SHOULD" && r.note == "") {
			t.Errorf("%s (%s) has no test: %s", r.id, r.level, r.what)
		}
	}
	if len(rows) < 190 {
		t.Errorf("only %d rows", len(rows))
	}
}

// proven returns the rows with the tests that were found for them.
func proven(t *testing.T) []*requirement {
	t.Helper()
	functions, naming := evidence(t)
	checks := map[string][]string{}
	for _, c := range conformance.Checks() {
		for _, id := range requirementID.FindAllString(c.Requirement, -1) {
			checks[id] = append(checks[id], c.ID)
		}
	}
	rows := requirements(t)
	for _, r := range rows {
		for _, n := range r.named {
			if !functions[n] {
				t.Errorf("%s names the test %s, which does not exist", r.id, n)
			}
			r.tests = append(r.tests, n)
		}
		r.tests = append(r.tests, naming[r.id]...)
		if c := checks[r.id]; len(c) > 0 {
			r.tests = append(r.tests, "conform "+strings.Join(c, " "))
		}
	}
	return rows
}

func protocolPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Protocol\n\nRevision 2026-07-28 of the Model Context Protocol, and no other: every request carries\nits own envelope, nothing is negotiated and nothing is remembered. Schemas of tools are\nJSON Schema 2020-12 only; a schema in another dialect, with an unknown keyword or with a\nreference that leaves it does not get registered.\n\n" +
		"Authorization (OAuth) is not implemented. Over HTTP a static bearer token can be asked\nfor (`MCP_HTTP__AUTH_TOKEN`); over stdio the process that starts the server is the only\nclient it has.\n\n" +
		"## Order of the checks\n\n" +
		"| Step | Checked | On failure |\n| --- | --- | --- |\n" +
		"| 1 | Origin and Host | 403 |\n| 2 | path, then method POST | 404, 405 |\n| 3 | token, when one is set | 401 |\n| 4 | Content-Type, encodings, Accept, size of the body | 415, 406, 413 |\n" +
		"| 5 | UTF-8, one JSON value | -32700, no id |\n| 6 | one request object: no name twice, depth, `jsonrpc`, `method`, `id` | -32600 |\n" +
		"| 7 | `initialize` without a modern envelope | -32022 |\n| 8 | `_meta`, reserved keys, `protocolVersion` is a string | -32602 |\n" +
		"| 9 | HTTP: `MCP-Protocol-Version` equals the body's | -32020 |\n| 10 | the revision is served | -32022 |\n| 11 | HTTP: `Mcp-Method`, `Mcp-Name` | -32020 |\n" +
		"| 12 | `clientCapabilities`, `progressToken`, `logLevel` | -32602 |\n| 13 | the method is known | -32601 |\n| 14 | its parameters, the tool, the arguments | -32602 |\n" +
		"| 15 | rate, a place in the pool | a result with a remedy |\n\nSteps 1 to 4 exist on HTTP only. Errors up to step 12 have HTTP status 400, step 13 has 404,\neverything later 200.\n\n" +
		"## Progress\n\n" +
		"A call with a progress token is told that it has begun, as soon as it has passed every\ncheck of the table and has a worker; then what its tool reports first; then at most four\nreports a second. So even a call that takes a millisecond has a notification before its\nanswer, and whether it has does not depend on how busy the machine is. A call that is\nrefused before it runs, and the other methods, have none.\n\n" +
		"Over HTTP a token therefore makes the answer an event stream, with status 200 and\nwithout the `Server-Timing` header. A client whose `Accept` does not admit\n`text/event-stream` gets the answer alone, as JSON. Over stdio the first notification\nwaits for a client that reads slowly, as answers do; later ones are left out then.\n\n" +
		"## Requirements\n\nEvery requirement that the specification puts on a server like this one, where it is met,\nand what proves it. `conform` names checks of `mcp-devserver conform`; B is both transports,\nS stdio, H HTTP. The table is made from `tests/testdata/requirements.txt`.\n")
	section := ""
	for _, r := range proven(t) {
		if s := strings.Split(r.id, "-")[1]; s != section {
			section = s
			fmt.Fprintf(&b, "\n### %s\n\n| Id | Level | On | Requirement | Code | Tests |\n| --- | --- | --- | --- | --- | --- |\n", s)
		}
		what := r.what
		if r.note != "" {
			what += " (" + r.note + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.id, r.level, r.where, cell(what), r.code, strings.Join(r.tests, ", "))
	}
	return b.String()
}

// TestSchemasAskForNoHeader: no parameter of ours is mirrored in a header,
// where a proxy would log it; every tool is described, and every object of
// arguments is closed.
func TestSchemasAskForNoHeader(t *testing.T) {
	for _, tool := range tools.All() {
		if strings.Contains(string(tool.InputSchema()), "x-mcp-header") {
			t.Errorf("%s mirrors a parameter", tool.Name())
		}
		if tool.Description() == "" || tool.Title() == "" {
			t.Errorf("%s is not described", tool.Name())
		}
		var s struct {
			Type       string `json:"type"`
			Additional *bool  `json:"additionalProperties"`
		}
		if err := json.Unmarshal(tool.InputSchema(), &s); err != nil || s.Type != "object" || s.Additional == nil || *s.Additional {
			t.Errorf("%s: arguments are not a closed object (%v)", tool.Name(), err)
		}
	}
}
