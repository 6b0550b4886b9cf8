// Package security attacks the whole line, tools and stages together, in
// process: one file for each attack, its cases named by the trick.
//
// # How to start
//
//	go test ./tests/security/
//
// # Limits
//
// The transports and the log lie in cmd and have attacks of their own there.
package security

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/sandbox"
	"mcp-devserver/stages"
	"mcp-devserver/tools"
)

// server is a line over one folder.
type server struct {
	t    testing.TB
	line *stages.Stages

	mu   sync.Mutex
	last stages.Report
	late int // secrets found in finished answers only, over all calls
}

// serve starts a line with the settings of an installation that has none, but
// for what change says.
func serve(t testing.TB, root string, change ...func(*tools.Env)) *server {
	t.Helper()
	ws, err := sandbox.Open(root, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t}
	env := &tools.Env{
		Workspace: ws, Limits: tools.DefaultLimits(), Memory: tools.NewMemory(48<<20, time.Second), Gitignore: true,
		Git: tools.GitOptions{Enabled: true, Binary: gitBinary(t), Timeout: 20 * time.Second, MaxCommits: 200, MaxOutputBytes: 8 << 20},
	}
	for _, f := range change {
		f(env)
	}
	s.line, err = stages.New(stages.Options{
		Tools:  tools.All(),
		Env:    env,
		Server: stages.Server{Name: "test", Version: "0"},
		Report: func(r *stages.Report) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.last = *r
			s.late += r.Late
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.line.Line().Close(context.Background())
		ws.Close()
	})
	return s
}

// patient gives patterns all the time that they need: on a busy machine one of
// two equal searches may be cut short.
func patient(e *tools.Env) {
	e.Limits.MatchTimeout, e.Limits.SearchDeadline = 20*time.Second, time.Minute
}

// lateHits returns how many secrets redaction met that no tool had found.
func (s *server) lateHits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
}

// reply is one answer.
type reply struct {
	raw        string // the whole message
	text       string // the text half
	structured json.RawMessage
	isError    bool
	nonce      string
	outside    string // the text before the fence; of a denial all of it
	inside     string
}

const envelope = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// send passes one message through the line.
func (s *server) send(message string) string {
	s.t.Helper()
	b, ok, err := s.line.Line().Call(context.Background(), pipeline.Inbound{Raw: []byte(message), Client: "test"})
	if err != nil || !ok {
		s.t.Fatalf("%.200s: no answer: %v", message, err)
	}
	got := string(b.Bytes())
	if strings.Contains(got, `"isError":true`) || strings.Contains(got, `"error":{`) {
		inspect(message, got)
	}
	return got
}

// args are the arguments of one call.
type args map[string]any

// call runs a tool.
func (s *server) call(tool string, a args) reply {
	s.t.Helper()
	r := reply{raw: s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s,"arguments":%s,%s}}`, quote(tool), quote(a), envelope))}
	var m struct {
		Result struct {
			Content    []struct{ Text string }
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.raw), &m); err != nil {
		s.t.Fatalf("%s %v: %v", tool, a, err)
	}
	if m.Error != nil {
		r.isError, r.outside = true, r.raw
		return r
	}
	r.text, r.structured, r.isError = m.Result.Content[0].Text, m.Result.Structured, m.Result.IsError
	r.outside = r.text
	if !r.isError {
		var u struct{ Untrusted struct{ Nonce string } }
		if err := json.Unmarshal(r.structured, &u); err != nil {
			s.t.Fatal(err)
		}
		r.nonce = u.Untrusted.Nonce
		before, rest, ok := strings.Cut(r.text, "--- workspace data "+r.nonce)
		_, inside, _ := strings.Cut(rest, "\n")
		end := "--- end " + r.nonce + " ---"
		if !ok || !strings.HasSuffix(inside, end) || strings.Count(r.text, r.nonce) != 2 {
			s.t.Errorf("%s %v: the fence is not whole: %.300q", tool, a, r.text)
		}
		r.outside, r.inside = before, strings.TrimSuffix(inside, end)
	}
	return r
}

func quote(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decoded is every string of the message, escapes undone, so that a needle is
// found however it was encoded.
func (r reply) decoded() string {
	var v any
	if err := json.Unmarshal([]byte(r.raw), &v); err != nil {
		return r.raw
	}
	var b strings.Builder
	b.WriteString(r.raw)
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteByte('\n')
			b.WriteString(v)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				b.WriteByte('\n')
				b.WriteString(k)
				walk(x)
			}
		}
	}
	walk(v)
	return b.String()
}

func gitBinary(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("these attacks need git: ", err)
	}
	if p, err = filepath.Abs(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// epoch is when everything in a fixture happened.
const epoch = 1_700_000_000

// repository is a folder under git in which every run gives the same objects.
type repository struct {
	t      testing.TB
	root   string
	author string
	clock  int64
	writes int64
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	r := &repository{t: t, root: filepath.Join(t.TempDir(), "ws"), author: "A. Dev", clock: epoch}
	if err := os.MkdirAll(r.root, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main", ".")
	return r
}

func (r *repository) git(arguments ...string) string {
	r.t.Helper()
	return r.feed("", arguments...)
}

// feed runs git with something to read.
func (r *repository) feed(input string, arguments ...string) string {
	r.t.Helper()
	cmd := exec.Command(gitBinary(r.t), arguments...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Dir = r.root
	when := fmt.Sprintf("@%d +0000", r.clock)
	cmd.Env = []string{"HOME=" + r.root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=" + r.author, "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=" + r.author, "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=" + when, "GIT_COMMITTER_DATE=" + when}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", arguments, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write puts files into the work tree, all of the same age, and younger than
// what was written before: a file that keeps its size has changed all the same.
func (r *repository) write(files map[string]string) {
	r.t.Helper()
	r.writes++
	writeTree(r.t, r.root, files, time.Unix(epoch+r.writes, 0))
}

func writeTree(t testing.TB, root string, files map[string]string, when time.Time) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_ = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		return os.Chtimes(p, when, when)
	})
}

// commit records the work tree under a message.
func (r *repository) commit(message string) {
	r.t.Helper()
	r.clock += 3600
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
}
