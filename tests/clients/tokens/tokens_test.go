// Package tokens counts what the server costs a model, by a public tokenizer
// (o200k_base, its vocabulary compiled in). It is a module of its own, so that the
// server does not depend on what it is measured with.
//
// # How to start
//
//	MCP_DEVSERVER=bin/mcp-devserver go test ./...
//
// # Limits
//
// Ceilings leave a few percent above what was measured; a change that exceeds one
// must be worth its price to every conversation.
package tokens

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

const envelope = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// ask sends messages to a server over dir and returns its answers by id.
func ask(t *testing.T, dir string, messages ...string) []json.RawMessage {
	t.Helper()
	program := os.Getenv("MCP_DEVSERVER")
	if program == "" {
		t.Fatal("MCP_DEVSERVER must name the built program")
	}
	cmd := exec.Command(program, "--workspace", dir, "serve")
	cmd.Stdin = strings.NewReader(strings.Join(messages, "\n") + "\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	answers := make([]json.RawMessage, len(messages))
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var m struct {
			ID     *int
			Result json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.ID == nil || m.Result == nil {
			t.Fatalf("%v: %.300s", err, lines.Bytes())
		}
		answers[*m.ID] = m.Result
	}
	return answers
}

func count(t *testing.T, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	ids, _, err := codec.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

// What every conversation pays: name, description and input schema of each tool.
func TestDefinitions(t *testing.T) {
	const ceiling = 2800
	var list struct {
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
	}
	answer := ask(t, fixture(t), `{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{`+envelope+`}}`)[0]
	if err := json.Unmarshal(answer, &list); err != nil || len(list.Tools) != 7 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	total := 0
	for _, tool := range list.Tools {
		var schema bytes.Buffer
		if err := json.Compact(&schema, tool.InputSchema); err != nil {
			t.Fatal(err)
		}
		n := count(t, fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":%s}`, tool.Name, tool.Description, schema.Bytes()))
		t.Logf("%-18s %5d", tool.Name, n)
		total += n
	}
	t.Logf("%-18s %5d of %d", "together", total, ceiling)
	if total > ceiling {
		t.Errorf("the definitions cost %d tokens, more than %d", total, ceiling)
	}
}

// fixture is a small repository, the same every time.
func fixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module example.org/fixture\n\ngo 1.26\n", "README.md": "# Fixture\n\nA workspace of fixed size.\n"}
	for i := range 20 {
		var b strings.Builder
		fmt.Fprintf(&b, "package part%d\n\nimport \"errors\"\n", i)
		for k := range 10 {
			fmt.Fprintf(&b, "\n// Handle%d answers request %d.\nfunc Handle%d(request string) (int, error) {\n\tif request == \"\" {\n\t\treturn 0, errors.New(\"empty request\")\n\t}\n\treturn len(request) + %d, nil\n}\n", k, k, k, k)
		}
		files[fmt.Sprintf("part%d/handle.go", i)] = b.String()
	}
	write := func() {
		for name, text := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	git := func(arguments ...string) {
		cmd := exec.Command("git", arguments...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
			"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	for i := range 5 {
		files["README.md"] += fmt.Sprintf("\nChange %d.\n", i)
		write()
		git("add", "-A")
		git("commit", "-q", "-m", fmt.Sprintf("readme: change %d", i))
	}
	for i := range 3 {
		name := fmt.Sprintf("part%d/handle.go", i)
		files[name] = strings.Replace(files[name], "empty request", "no request", 1)
	}
	write()
	return dir
}

// What one answer of each tool costs, by half.
func TestAnswers(t *testing.T) {
	cases := []struct {
		tool, arguments  string
		text, structured int
	}{
		{"project_overview", `{}`, 295, 355},
		{"list_directory", `{"depth":2}`, 300, 560},
		{"search_code", `{"pattern":"return len"}`, 1900, 2700},
		{"find_symbol", `{"name":"Handle3"}`, 580, 1000},
		{"read_file", `{"path":"part0/handle.go"}`, 740, 810},
		{"git_log", `{}`, 175, 275},
		{"git_diff", `{}`, 365, 450},
	}
	var messages []string
	for i, c := range cases {
		messages = append(messages, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, i, c.tool, c.arguments, envelope))
	}
	for i, answer := range ask(t, fixture(t), messages...) {
		c := cases[i]
		var r struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
		if err := json.Unmarshal(answer, &r); err != nil || r.IsError || len(r.Content) != 1 {
			t.Fatalf("%s: %v: %.300s", c.tool, err, answer)
		}
		text, structured := count(t, r.Content[0].Text), count(t, string(r.StructuredContent))
		t.Logf("%-18s text %5d of %5d   structured %5d of %5d", c.tool, text, c.text, structured, c.structured)
		if text > c.text || structured > c.structured {
			t.Errorf("%s %s: text %d tokens, ceiling %d; structured %d, ceiling %d", c.tool, c.arguments, text, c.text, structured, c.structured)
		}
	}
}
