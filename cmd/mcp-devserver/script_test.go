package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcp-devserver": main})
}

// TestScripts runs testdata/script: one file per behaviour that a user of the
// command line can see. The command is this test binary, run again as a child.
//
// Beside the commands of testscript a script has:
//
//	exits CODE PROGRAM ARGS…   run a program that must end with exactly CODE
//	repository DIR             make DIR a git repository with one commit
//	lines STREAM N             STREAM (stdout or stderr) holds N lines
//	each STREAM PREFIX…        every line of STREAM begins with one of PREFIX
//	json STREAM                every line of STREAM is a JSON object
//	value STREAM               STREAM is one JSON value
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector otherwise delays every exit by a second
			if testing.CoverMode() != "" {
				// Behind the kernel's wall the command could not write its counts.
				e.Setenv("MCP_SANDBOX__OS_SANDBOX", "external")
			}
			e.Setenv("BELL", "no\apes")
			e.Setenv("ESCAPES", "red\x1b[31m\nrefused: second line")
			// A name that testscript itself would expand.
			if err := os.Mkdir(filepath.Join(e.WorkDir, "$HOME"), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(e.WorkDir, "$HOME", "a.txt"), []byte("dollar\n"), 0o644); err != nil {
				return err
			}
			// A credential in pieces, so that no scanner takes this file for a leak.
			planted := "host: example.com\ntoken: ghp_" + "9Xq2mVt7Lw4Rz8Kd" + "3Bn6Yc1Jf5Hs0PgTeWuA\n"
			if err := os.WriteFile(filepath.Join(e.WorkDir, "config.yml"), []byte(planted), 0o644); err != nil {
				return err
			}
			after := `{"jsonrpc":"2.0","id":"after","method":"server/discover","params":{"_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
			return os.WriteFile(filepath.Join(e.WorkDir, "long"), []byte(strings.Repeat("x", 5000)+"\n"+after+"\n"), 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "repository": repository, "lines": lines, "each": each, "json": jsonLines, "value": value,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func repository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repository DIR")
	}
	dir := ts.MkAbs(args[0])
	for _, a := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "Begin"},
	} {
		ts.Check(ts.Exec("git", append([]string{"-C", dir}, a...)...))
	}
}

// stream returns what the last program wrote.
func stream(ts *testscript.TestScript, name string) string {
	if name != "stdout" && name != "stderr" {
		ts.Fatalf("unknown stream %q", name)
	}
	return ts.ReadFile(name)
}

func linesOf(s string) []string {
	if s = strings.TrimSuffix(s, "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func lines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: lines STREAM N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := len(linesOf(stream(ts, args[0]))); (got == want) == neg {
		ts.Fatalf("%s holds %d lines", args[0], got)
	}
}

func each(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: each STREAM PREFIX…")
	}
	list := linesOf(stream(ts, args[0]))
	if len(list) == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
	for _, l := range list {
		ok := false
		for _, p := range args[1:] {
			ok = ok || strings.HasPrefix(l, p)
		}
		if !ok {
			ts.Fatalf("%s holds %q", args[0], l)
		}
	}
}

func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: json STREAM")
	}
	for _, l := range linesOf(stream(ts, args[0])) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			ts.Fatalf("%s holds %q: %v", args[0], l, err)
		}
	}
}

func value(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: value STREAM")
	}
	d := json.NewDecoder(strings.NewReader(stream(ts, args[0])))
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s holds more than one value", args[0])
	}
}

// TestExitCodes: every kind of error has its code, and nothing else decides.
func TestExitCodes(t *testing.T) {
	wrapped := &failure{errors.New("x")}
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"none", nil, exitOK},
		{"a denial", exitError(exitDenied), exitDenied},
		{"usage", errors.Join(errUsage, errors.New("x")), exitUsage},
		{"refused", errors.Join(errRefused, errors.New("x")), exitRefused},
		{"refused, said before", exitError(exitRefused), exitRefused},
		{"a failure", wrapped, exitDenied},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestFailureIsSaid: an unexpected failure is one line on stderr, code 1, and
// without control characters of its cause.
func TestFailureIsSaid(t *testing.T) {
	var out, err bytes.Buffer
	code := run([]string{"--workspace", t.TempDir(), "call", "read_file", "-"}, nil, iotest{}, &out, &err)
	if code != exitDenied || out.Len() != 0 || err.String() != "mcp-devserver: broken \\u{1b}[31m pipe\n" {
		t.Errorf("code %d, stdout %q, stderr %q", code, out.String(), err.String())
	}
}

type iotest struct{}

func (iotest) Read([]byte) (int, error) { return 0, errors.New("broken \x1b[31m pipe") }

// TestVisible: what could act on a terminal is escaped, layout stays.
func TestVisible(t *testing.T) {
	in := "1\tred \x1b[31m\n\tbell \a\r\n\u202eabc\u200b é 日本"
	want := "1\tred \\u{1b}[31m\n\tbell \\u{7}\\u{d}\n\\u{202e}abc\\u{200b} é 日本"
	if got := visible(in); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
