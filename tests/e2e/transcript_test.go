package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestTranscript sends every probe over every transport: each gets what it
// must, the next request is served, and the transports answer alike byte for
// byte, the nonce of an answer aside.
func TestTranscript(t *testing.T) {
	all := probes()
	transcripts := map[string][][]*message{}
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			s := tr.start(t, workspace, "MCP_LIMITS__RATE_LIMIT=false")
			first := s.tools(t)
			check := newInspector(t, first)
			for _, p := range all {
				got := s.send(t, p.line, p.count, p.status)
				check.probe(t, p, got)
				transcripts[tr.name] = append(transcripts[tr.name], got)
				next := s.send(t, discover(`"next"`), 1, 200)[0]
				if next.id() != `"next"` || next.Result == nil {
					t.Fatalf("%s: the next request got %.200s", p.name, next.Raw)
				}
			}
			if again := s.tools(t); again.Raw != first.Raw {
				t.Error("the list of tools changed")
			}
			s.end(t)
		})
	}
	want := transcripts[transports[0].name]
	for _, tr := range transports[1:] {
		for i, got := range transcripts[tr.name] {
			if a, b := shown(want[i]), shown(got); a != b {
				t.Errorf("%s:\n%s: %.400s\n%s: %.400s", all[i].name, transports[0].name, a, tr.name, b)
			}
		}
	}
}

// TestCallAnswersAlike: the command line gives the result that a client gets.
func TestCallAnswersAlike(t *testing.T) {
	c := stdio(t, workspace)
	all := append(answers(), denials()...)
	compared := 0
	for i := 0; i < len(all); i += 5 {
		var m struct {
			Params struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if err := json.Unmarshal([]byte(all[i].line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Params.Name == "" {
			continue
		}
		compared++
		want := masked(string(c.exchange(all[i].line, 1)[0].Result))
		cmd := exec.Command(program, "call", "--json", m.Params.Name, string(m.Params.Arguments))
		cmd.Env = environment(workspace)
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != 0 && all[i].denial == "" || code != 1 && all[i].denial != "" {
			t.Errorf("%s: exit code %d, %v", all[i].name, code, err)
		}
		if got := masked(strings.TrimSuffix(string(out), "\n")); got != want {
			t.Errorf("%s: %.300s\nover stdio: %.300s", all[i].name, got, want)
		}
	}
	if compared < 10 {
		t.Errorf("%d calls were compared", compared)
	}
	c.must()
}

func shown(messages []*message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(masked(m.Raw) + "\n")
	}
	return b.String()
}

// inspector holds every message against what is true of all of them.
type inspector struct{ output map[string]*jsonschema.Schema }

// newInspector takes the answer to tools/list.
func newInspector(t *testing.T, m *message) *inspector {
	var list struct {
		Tools []struct {
			Name         string `json:"name"`
			InputSchema  any    `json:"inputSchema"`
			OutputSchema any    `json:"outputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(m.Result, &list); err != nil || len(list.Tools) != 7 {
		t.Fatalf("%d tools: %v", len(list.Tools), err)
	}
	in := &inspector{map[string]*jsonschema.Schema{}}
	for _, tool := range list.Tools {
		compile(t, tool.Name, tool.InputSchema)
		in.output[tool.Name] = compile(t, tool.Name, tool.OutputSchema)
	}
	return in
}

func compile(t *testing.T, name string, schema any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, schema); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// probe checks the messages that came back for one probe.
func (in *inspector) probe(t *testing.T, p probe, got []*message) {
	t.Helper()
	if len(got) != p.count {
		t.Fatalf("%s: %d messages", p.name, len(got))
	}
	if p.count == 0 {
		return
	}
	for _, m := range got[:len(got)-1] {
		in.any(t, p, m)
		if m.Method == "" || m.ID != nil {
			t.Errorf("%s: %.300s before the answer", p.name, m.Raw)
		}
	}
	m := got[len(got)-1]
	in.any(t, p, m)
	code := 0
	if m.Error != nil {
		code = m.Error.Code
	}
	if code != p.code || m.id() != p.id || m.denial() != p.denial {
		t.Errorf("%s: code %d, id %q, denial %q; want %d, %q, %q\n%.500s", p.name, code, m.id(), m.denial(), p.code, p.id, p.denial, m.Raw)
	}
	for _, s := range p.has {
		if !strings.Contains(m.Raw, s) {
			t.Errorf("%s: no %q in %.800s", p.name, s, m.Raw)
		}
	}
	for _, secret := range []string{"9Xq2mVt7Lw4Rz8Kd", "hunter2", workspace + `"`, "root:x:", "ada@example.com"} {
		if strings.Contains(m.Raw, secret) && !strings.Contains(p.line, secret) {
			t.Errorf("%s: %q in %.500s", p.name, secret, m.Raw)
		}
	}
	in.structured(t, p, m)
}

var metaKey = regexp.MustCompile(`^([A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)*/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// any checks what holds of every message.
func (in *inspector) any(t *testing.T, p probe, m *message) {
	t.Helper()
	kinds := 0
	for _, is := range []bool{m.Result != nil, m.Error != nil, m.Method != ""} {
		if is {
			kinds++
		}
	}
	fault := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s: %.400s", p.name, fmt.Sprintf(format, args...), m.Raw)
	}
	if kinds != 1 {
		fault("not exactly one of result, error and method")
	}
	if strings.ContainsAny(m.Raw, "\n\r") {
		fault("more than one line")
	}
	if m.id() == "null" || strings.Contains(m.Raw, `"id":null`) {
		fault("id is null")
	}
	if e := m.Error; e != nil {
		if n := len([]rune(e.Message)); n == 0 || n > 200 || strings.ContainsAny(e.Message, "\n\r\x1b") {
			fault("message of %d characters", n)
		}
		if !slices.Contains([]int{-32700, -32600, -32601, -32602, -32603, -32020, -32022}, e.Code) {
			fault("code %d", e.Code)
		}
	}
	if m.Result != nil {
		var r struct {
			ResultType string         `json:"resultType"`
			Meta       map[string]any `json:"_meta"`
			TTL        *int           `json:"ttlMs"`
			Content    *[]any         `json:"content"`
		}
		if err := json.Unmarshal(m.Result, &r); err != nil || r.ResultType != "complete" {
			fault("resultType %q, %v", r.ResultType, err)
		}
		for k := range r.Meta {
			if !metaKey.MatchString(k) {
				fault("_meta key %q", k)
			}
		}
		info, _ := r.Meta["io.modelcontextprotocol/serverInfo"].(map[string]any)
		if name, _ := info["name"].(string); name != "mcp-devserver" {
			fault("the server does not say who it is")
		}
		if v, _ := info["version"].(string); v == "" {
			fault("the server does not say its version")
		}
		if strings.Contains(p.line, `"tools/call"`) && (r.TTL != nil || r.Content == nil || len(*r.Content) == 0) {
			fault("hints %v, content %v", r.TTL, r.Content)
		}
	}
	if m.Method == "notifications/message" {
		fault("a log message that nobody may send")
	}
}

var toolName = regexp.MustCompile(`"name":"(\w+)"`)

// structured validates the structured half with a validator of its own kind.
func (in *inspector) structured(t *testing.T, p probe, m *message) {
	t.Helper()
	if m.Result == nil || !strings.Contains(p.line, `"tools/call"`) {
		return
	}
	var r struct {
		Structured any `json:"structuredContent"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Errorf("%s: %v", p.name, err)
		return
	}
	name := toolName.FindStringSubmatch(p.line)[1]
	if err := in.output[name].Validate(r.Structured); err != nil {
		t.Errorf("%s: %v", p.name, err)
	}
}
