package app

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTreeAttack(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	a := testApp(t, io.Discard)
	defer a.Close(t.Context())
	a.config.Deny = []string{"swapped", "link"} // the operator's own rules are about other names
	probes, err := TreeAttack(t.Context(), a.config, a.build)
	if err != nil || len(probes) < 8 {
		t.Fatalf("%d probes, %v", len(probes), err)
	}
	for _, p := range probes {
		if !p.Held {
			t.Errorf("%s: %s", p.Trick, p.Saw)
		}
		t.Logf("%s: %s", p.Trick, p.Saw)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(temp, "gone"))
	if _, err := TreeAttack(t.Context(), a.config, a.build); err == nil || strings.Contains(err.Error(), temp) {
		t.Errorf("without a temporary folder: %v", err)
	}
}

// A probe that gets an answer, or another refusal, has got through.
func TestProbesCanFail(t *testing.T) {
	a := testApp(t, io.Discard)
	defer a.Close(t.Context())
	if err := os.WriteFile(filepath.Join(a.config.Workspace, "file"), []byte(outsideMark), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, args, code, saw string }{
		{"read_file", `{"path":"file"}`, "outside_workspace", "an answer"},
		{"read_file", `{"path":"gone"}`, "outside_workspace", "another denial"},
		{"read_file", `{"paths":"gone"}`, "outside_workspace", "an error of the protocol"},
	} {
		if p := a.refused(t.Context(), "x", c.tool, c.args, c.code); p.Held || p.Saw != c.saw {
			t.Errorf("%s: %+v", c.args, p)
		}
	}
	// The race is lost by who opens what the name leads to: here it leads out.
	root := a.config.Workspace
	for _, dir := range []string{"swapped", "away"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "file"), []byte(outsideMark), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if p := a.raced(t.Context(), root); p.Held {
		t.Errorf("%+v", p)
	}
}

// doctor names what a repository would run, and no value of its configuration.
func TestDoctorNamesWhatARepositoryWouldRun(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "core.fsmonitor", "/bin/PROGRAM"}, {"config", "filter.a=b.clean", "PROGRAM"}, {"config", "alias.lg", "!PROGRAM"},
		{"config", "credential.https://u:ghp_" + planted[4:] + "@h.helper", "PROGRAM"},
	} {
		cmd := exec.Command(git, args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
	}
	// Doctor would raise the wall around this test.
	c, problems := Load([]string{"MCP_SANDBOX__WORKSPACE=" + root, "MCP_SANDBOX__OS_SANDBOX=external"}, nil)
	if len(problems) > 0 {
		t.Fatal(lines(problems))
	}
	e := Doctor(t.Context(), c, nil, Build{}, func() (*App, error) { return New(c, Build{Version: "1"}, Logger(io.Discard, "info"), "test") })
	text := e.Text()
	for _, want := range []string{"alias.lg", "core.fsmonitor", "filter.a=b.clean", "pipe that nobody writes to: special_file", "folder exchanged for a link outside"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	for _, bad := range []string{"PROGRAM", planted[4:20]} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is shown:\n%s", bad, text)
		}
	}
}
