// Package tooltest runs a tool the way the stages do and checks what every
// answer must satisfy. It serves tests only.
//
// A fixture is a workspace built from lines; Call runs one tool over it, lays
// out and redacts the answer, and fails the test when the two halves disagree
// with the published output schema, exceed the budget, lose the fence, or when
// redaction found a secret that the tool had not found on the source.
package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/untrusted"
	"mcp-devserver/tools"
)

// Fixture is a workspace in a temporary folder.
type Fixture struct {
	T    testing.TB
	Root string // absolute path of the workspace
	Out  string // absolute path of a folder beside it, outside
	Env  *tools.Env
}

// New builds a workspace named "ws" from lines of the form
//
//	path                an empty file (or a folder when it ends in /)
//	path = text         a file; \n, \r, \t, \\ and \xNN in text are escapes
//	path => target      a symbolic link; ROOT/ and OUT/ at the start of target
//	                    stand for the absolute paths of the two folders
//
// A path that begins with OUT/ lies outside. Empty lines are skipped.
func New(t testing.TB, lines string) *Fixture {
	t.Helper()
	base := t.TempDir()
	f := &Fixture{T: t, Root: filepath.Join(base, "ws"), Out: filepath.Join(base, "out")}
	for _, d := range []string{f.Root, f.Out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.Add(lines)
	ws, err := sandbox.Open(f.Root, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	f.Env = &tools.Env{
		Workspace: ws,
		Limits:    tools.DefaultLimits(),
		Memory:    tools.NewMemory(48<<20, time.Second),
		Gitignore: true,
		Git:       tools.GitOptions{Enabled: true, Binary: GitBinary(), MaxCommits: 200, MaxOutputBytes: 8 << 20},
	}
	// A busy machine is no part of what a test compares. Tests of these limits set their own.
	f.Env.Limits.MatchTimeout, f.Env.Limits.SearchDeadline = time.Minute, time.Minute
	f.Env.Git.Timeout = time.Minute
	return f
}

// GitBinary returns the absolute path of git, or "" when there is none.
func GitBinary() string {
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		p := filepath.Join(d, "git")
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// Add builds more of the tree.
func (f *Fixture) Add(lines string) {
	f.T.Helper()
	for _, line := range strings.Split(lines, "\n") {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			continue
		}
		if name, target, ok := strings.Cut(line, " => "); ok {
			if rest, ok := strings.CutPrefix(target, "ROOT/"); ok {
				target = filepath.Join(f.Root, rest)
			} else if rest, ok := strings.CutPrefix(target, "OUT/"); ok {
				target = filepath.Join(f.Out, rest)
			}
			p := f.place(name)
			if err := os.Symlink(target, p); err != nil {
				f.T.Fatal(err)
			}
			continue
		}
		name, text, _ := strings.Cut(line, " = ")
		p := f.place(name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(p, 0o755); err != nil {
				f.T.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(p, []byte(unescape(text)), 0o644); err != nil {
			f.T.Fatal(err)
		}
	}
}

// Write puts one file into the workspace.
func (f *Fixture) Write(name string, data []byte) {
	f.T.Helper()
	if err := os.WriteFile(f.place(name), data, 0o644); err != nil {
		f.T.Fatal(err)
	}
}

func (f *Fixture) place(name string) string {
	p := filepath.Join(f.Root, name)
	if rest, ok := strings.CutPrefix(name, "OUT/"); ok {
		p = filepath.Join(f.Out, rest)
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		f.T.Fatal(err)
	}
	return p
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'x':
			var c byte
			for _, h := range []byte(s[i+1 : i+3]) {
				c = c<<4 | byte(strings.IndexByte("0123456789abcdef", h))
			}
			b.WriteByte(c)
			i += 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Result is one answer.
type Result struct {
	Text       string         // the text half
	Structured map[string]any // the structured half
	JSON       []byte         // the structured half as written
	IsError    bool
	Code       string // of a denial
	Redactions map[string]int
	Nonce      string // of the fence
	Inside     string // the text between the fence lines
	Outside    string // the text before the fence
}

// Call runs one tool with arguments in JSON ("" means {}), which must fit the
// published schema; defaults of the schema are filled in.
func (f *Fixture) Call(name, args string) *Result {
	f.T.Helper()
	r, err := f.CallContext(context.Background(), name, args)
	if err != nil {
		f.T.Fatalf("%s %s: unexpected fault: %v", name, args, err)
	}
	return r
}

// CallContext is Call with a context; the error is an unexpected fault.
func (f *Fixture) CallContext(ctx context.Context, name, args string) (*Result, error) {
	f.T.Helper()
	var tool *tools.Tool
	for _, t := range tools.All() {
		if t.Name() == name {
			tool = t
		}
	}
	if tool == nil {
		f.T.Fatalf("no tool named %s", name)
	}
	texts := &answer.Texts{}
	call := &tools.Call{Env: f.Env, Texts: texts, Progress: func(int64, int64, tools.Phase) {}}
	out, err := tool.Run(ctx, call, f.arguments(tool, args))
	d := answer.NewDoc(texts)
	j := d.JSON()
	j.Object("")
	if err != nil {
		denial, ok := err.(*sandbox.Denial)
		if !ok {
			return nil, err
		}
		listed := false
		for _, c := range tool.Codes() {
			listed = listed || c == denial.Code
		}
		if !listed {
			f.T.Errorf("%s %s: denial %s is not among the published codes", name, args, denial.Code)
		}
		d.Denial(denial, answer.Options{Structured: true})
	} else {
		d.Result(out, Mark(texts), answer.Options{Structured: true})
	}
	j.End()
	d.Redact(true)
	raw, err := d.Encode(nil, f.Env.Limits.MaxChars)
	if err != nil {
		f.T.Fatalf("%s %s: %v", name, args, err)
	}
	if n := d.Report().Late(); n > 0 {
		f.T.Errorf("%s %s: %d secrets were found only in the finished answer", name, args, n)
	}
	return f.parse(tool, args, raw), nil
}

func (f *Fixture) parse(tool *tools.Tool, args string, raw []byte) *Result {
	f.T.Helper()
	var msg struct {
		Content []struct{ Type, Text string }
		SC      json.RawMessage `json:"structuredContent"`
		IsError bool            `json:"isError"`
	}
	if err := json.Unmarshal(raw, &msg); err != nil {
		f.T.Fatalf("%s %s: not JSON: %v\n%s", tool.Name(), args, err, raw)
	}
	if bytes.ContainsRune(raw, '\n') {
		f.T.Errorf("%s %s: the message is not one line", tool.Name(), args)
	}
	r := &Result{Text: msg.Content[0].Text, JSON: msg.SC, IsError: msg.IsError, Redactions: map[string]int{}}
	if err := json.Unmarshal(msg.SC, &r.Structured); err != nil {
		f.T.Fatal(err)
	}
	r.Code, _ = r.Structured["error"].(string)
	if list, ok := r.Structured["redactions"].([]any); ok {
		for _, x := range list {
			m := x.(map[string]any)
			r.Redactions[m["rule"].(string)] = int(m["count"].(float64))
		}
	}
	if err := schema(f.T, tool).Validate(decode(f.T, msg.SC)); err != nil {
		f.T.Errorf("%s %s: structuredContent breaks the output schema: %v\n%s", tool.Name(), args, err, msg.SC)
	}
	if msg.IsError {
		if !strings.Contains(r.Text, r.Structured["remedy"].(string)) {
			f.T.Errorf("%s %s: the text of a denial must hold its remedy: %q", tool.Name(), args, r.Text)
		}
		home, _ := os.UserHomeDir()
		for _, place := range []string{filepath.Dir(f.Root), os.TempDir() + "/", home + "/"} {
			if len(place) > 2 && strings.Contains(string(raw), place) && !strings.Contains(args, place) {
				f.T.Errorf("%s %s: a denial tells where something lies: %s", tool.Name(), args, raw)
			}
		}
		return r
	}
	r.Nonce = r.Structured["untrusted"].(map[string]any)["nonce"].(string)
	open, end := untrusted.Open(r.Nonce), untrusted.Close(r.Nonce)
	before, inside, ok := strings.Cut(r.Text, open+"\n")
	if !ok || !strings.HasSuffix(inside, end) {
		f.T.Fatalf("%s %s: no fence: %q", tool.Name(), args, r.Text)
	}
	r.Outside, r.Inside = before, strings.TrimSuffix(inside, end)
	return r
}

// Mark scans a table and marks it, as the scan and assemble stages do.
func Mark(texts *answer.Texts) *answer.Mark {
	var hits []untrusted.Hit
	texts.Look(func(r answer.Ref, h []untrusted.Hit, _ string, _ answer.Ref, _ int) {
		texts.Flag(r)
		hits = append(hits, h...)
	})
	score := untrusted.Score(hits)
	nonce := untrusted.Nonce(texts.Occurs)
	return &answer.Mark{
		Nonce: nonce, Open: answer.Word(untrusted.Open(nonce)), Close: answer.Word(untrusted.Close(nonce)),
		Risk: answer.Word(untrusted.Band(score)), Score: score, Notice: untrusted.Notice,
	}
}

// arguments fills in the defaults of the schema, after checking the rest.
func (f *Fixture) arguments(tool *tools.Tool, args string) []byte {
	f.T.Helper()
	if args == "" {
		args = "{}"
	}
	var m map[string]any
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		f.T.Fatalf("arguments %s: %v", args, err)
	}
	if err := compile(f.T, tool.InputSchema()).Validate(decode(f.T, []byte(args))); err != nil {
		f.T.Fatalf("%s: arguments %s break the input schema: %v", tool.Name(), args, err)
	}
	var s struct {
		Properties map[string]struct {
			Default any `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(tool.InputSchema(), &s); err != nil {
		f.T.Fatal(err)
	}
	for name, p := range s.Properties {
		if _, ok := m[name]; !ok && p.Default != nil {
			m[name] = p.Default
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		f.T.Fatal(err)
	}
	return b
}

func schema(t testing.TB, tool *tools.Tool) *jsonschema.Schema {
	return compile(t, tool.OutputSchema())
}

func compile(t testing.TB, raw []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///s.json", decode(t, raw)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decode(t testing.TB, raw []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
