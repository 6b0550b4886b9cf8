package security

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	full "github.com/santhosh-tekuri/jsonschema/v6"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/stages"
	"mcp-devserver/tools"
)

// refuser is a line with one tool that refuses with the code it is asked for, in the
// words of the table's example.
func refuser(t *testing.T) (*server, *tools.Tool) {
	t.Helper()
	ws, err := sandbox.Open(t.TempDir(), sandbox.Options{})
	must(t, err)
	type in struct {
		Code int `json:"code"`
	}
	type out struct{ answer.Output }
	tool := tools.New(tools.Definition{Name: "refuse", Title: "Refuse", Description: "Refuses.",
		Input:  `{"type":"object","properties":{"code":{"type":"integer","description":"Which.","minimum":0,"maximum":99}},"required":["code"],"additionalProperties":false}`,
		Output: `{"type":"object","required":[],"additionalProperties":false,"properties":{}}`,
		Codes:  sandbox.Codes(),
	}, func(_ context.Context, _ *tools.Call, a in) (out, error) {
		return out{}, sandbox.Example(sandbox.Code(a.Code))
	})
	s := &server{t: t}
	s.line, err = stages.New(stages.Options{Tools: []*tools.Tool{tool}, Server: stages.Server{Name: "test", Version: "0"},
		Env: &tools.Env{Workspace: ws, Limits: tools.DefaultLimits(), Memory: tools.NewMemory(1<<20, time.Second)}})
	must(t, err)
	t.Cleanup(func() {
		_ = s.line.Line().Close(context.Background())
		ws.Close()
	})
	return s, tool
}

// validator compiles a published schema with a complete implementation.
func validator(t *testing.T, schema []byte) *full.Schema {
	t.Helper()
	doc, err := full.UnmarshalJSON(strings.NewReader(string(schema)))
	must(t, err)
	c := full.NewCompiler()
	must(t, c.AddResource("mem:///s.json", doc))
	v, err := c.Compile("mem:///s.json")
	must(t, err)
	return v
}

func conforms(t *testing.T, v *full.Schema, structured []byte) error {
	t.Helper()
	doc, err := full.UnmarshalJSON(strings.NewReader(string(structured)))
	must(t, err)
	return v.Validate(doc)
}

// maxErrorText is where one client cuts the text of an error.
const maxErrorText = 11_000

// Every kind of denial teaches in every client: message and remedy are in whatever it
// shows, and a client that validates the structured half of errors too accepts it.
func TestEveryDenialReachesEveryClient(t *testing.T) {
	s, tool := refuser(t)
	schema := validator(t, tool.OutputSchema())
	for _, code := range sandbox.Codes() {
		want := sandbox.Example(code)
		r := s.call("refuse", args{"code": int(code)})
		if !r.isError || len(r.text) > maxErrorText || strings.Contains(r.text, "--- workspace data") {
			t.Errorf("%s: %.300s", code, r.raw)
		}
		if err := conforms(t, schema, r.structured); err != nil {
			t.Errorf("%s: %v\n%s", code, err, r.structured)
		}
		if !strings.Contains(string(r.structured), `"error":"`+code.String()+`"`) {
			t.Errorf("%s: the code is missing in %s", code, r.structured)
		}
		if r.text != want.Message+" "+want.Remedy {
			t.Errorf("%s: the text alone says %q", code, r.text)
		}
		for _, v := range views {
			shown := plain(v.denial(r))
			for _, needle := range []string{want.Message, want.Remedy} {
				if !strings.Contains(shown, needle) {
					t.Errorf("%s: a client that shows %s: no %q in %.400s", code, v.name, needle, shown)
				}
			}
		}
	}
}

// What is no result at all reaches a client as one line: it names what was wrong and
// what would be right, and carries the id of the request.
func TestEveryErrorSaysEnoughInItsMessage(t *testing.T) {
	s := serve(t, clientTree(t).root)
	call := func(name, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"x7","method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, name, arguments, envelope)
	}
	for _, c := range []struct {
		name, message string
		code          int
		says          []string
	}{
		{"unknown argument", call("read_file", `{"file_path":"a"}`), -32602, []string{"read_file", "file_path", "path", "start_line"}},
		{"missing argument", call("search_code", `{}`), -32602, []string{"search_code", "pattern"}},
		{"wrong type", call("list_directory", `{"depth":"deep"}`), -32602, []string{"list_directory", "depth"}},
		{"out of range", call("git_log", `{"limit":0}`), -32602, []string{"git_log", "limit"}},
		{"not one of", call("search_code", `{"pattern":"a","output_mode":"lines"}`), -32602, []string{"output_mode", "content"}},
		{"unknown tool", call("write_file", `{}`), -32602, []string{"write_file"}},
		{"handshake of an earlier revision", `{"jsonrpc":"2.0","id":"x7","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			-32022, []string{"2026-07-28", "initialize", "mcp-remote", "mcp-proxy"}},
	} {
		var m struct {
			ID    string
			Error struct {
				Code    int
				Message string
				Data    map[string]any
			}
		}
		must(t, json.Unmarshal([]byte(s.send(c.message)), &m))
		if m.ID != "x7" || m.Error.Code != c.code || strings.Contains(m.Error.Message, "\n") {
			t.Errorf("%s: %+v", c.name, m)
		}
		for _, needle := range c.says {
			if !strings.Contains(m.Error.Message, needle) {
				t.Errorf("%s: the message alone does not say %q: %s", c.name, needle, m.Error.Message)
			}
		}
	}
}

// The definitions are such that no client drops a tool: plain objects at the root, no
// combinators or unions in what a caller sends.
func TestDefinitionsSuitEveryClient(t *testing.T) {
	var look func(t *testing.T, at string, v any)
	look = func(t *testing.T, at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if list, ok := v["type"].([]any); ok {
				t.Errorf("%s: a union of types %v", at, list)
			}
			for k, x := range v {
				if slices.Contains([]string{"anyOf", "oneOf", "allOf", "not", "if", "$ref"}, k) {
					t.Errorf("%s: %s", at, k)
				}
				look(t, at+"/"+k, x)
			}
		case []any:
			for _, x := range v {
				look(t, at, x)
			}
		}
	}
	for _, tool := range tools.All() {
		var in, out map[string]any
		must(t, json.Unmarshal(tool.InputSchema(), &in))
		must(t, json.Unmarshal(tool.OutputSchema(), &out))
		look(t, tool.Name(), in)
		if in["type"] != "object" || out["type"] != "object" {
			t.Errorf("%s: roots of type %v and %v", tool.Name(), in["type"], out["type"])
		}
	}
}

// Clients cut long answers: what says how to go on, what was hidden and that it is data
// stands before the content in both halves, and fits into what all of them keep.
func TestWhatMattersComesFirst(t *testing.T) {
	const kept = 8_000
	s := serve(t, clientTree(t).root)
	for _, c := range answers {
		r := s.call(c.tool, c.a)
		if len(r.outside) > kept {
			t.Errorf("%s %v: the fence opens behind %d characters", c.tool, c.a, len(r.outside))
		}
		whole := string(r.structured)
		for _, member := range []string{`"complete":`, `"untrusted":`, `"redactions":`} {
			if at := strings.Index(whole, member); at < 0 || at > kept {
				t.Errorf("%s %v: %s stands at %d of %d", c.tool, c.a, member, at, len(whole))
			}
		}
		if at := strings.Index(whole, `"next":`); c.more && (at < 0 || at > kept) {
			t.Errorf("%s %v: next stands at %d", c.tool, c.a, at)
		}
		marked := strings.Index(whole, `"untrusted":`)
		for _, m := range []string{"chunks", "folders", "items", "results", "symbols", "commits", "lines", "files"} {
			if at := strings.Index(whole, `"`+m+`":[`); at >= 0 && at < marked {
				t.Errorf("%s %v: %s stands before the mark", c.tool, c.a, m)
			}
		}
	}
}
