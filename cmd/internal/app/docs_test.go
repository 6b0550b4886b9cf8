package app

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated files")

// TestGenerated keeps .env.example and docs/configuration.md equal to the
// table of settings. Run it with -update after a change.
func TestGenerated(t *testing.T) {
	for name, want := range map[string]string{".env.example": envExample(), "docs/configuration.md": configurationPage()} {
		path := filepath.Join("..", "..", "..", name)
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
			t.Errorf("%s is not current: run go test ./cmd/internal/app -run TestGenerated -update", name)
		}
	}
}

// TestExampleLoads: the file that operators copy is accepted as it stands.
func TestExampleLoads(t *testing.T) {
	var environ []string
	for _, line := range strings.Split(envExample(), "\n") {
		if line = strings.TrimPrefix(line, "#"); strings.HasPrefix(line, "MCP_") && !strings.HasSuffix(line, "=") {
			environ = append(environ, line)
		}
	}
	if _, problems := Load(environ, nil); len(problems) > 0 || len(environ) < 30 {
		t.Errorf("%d lines: %s", len(environ), lines(problems))
	}
}

func section(name string) string {
	if s, _, ok := strings.Cut(strings.TrimPrefix(name, "MCP_"), "__"); ok {
		return s
	}
	return "GENERAL"
}

func envExample() string {
	var b strings.Builder
	b.WriteString("# Settings of mcp-devserver. Every line shows a default; take away the # to change it.\n# docs/configuration.md has ranges and reasons.\n")
	last := ""
	for i := range settings {
		s := &settings[i]
		if sec := section(s.name); sec != last {
			last = sec
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# %s\n#%s=%s\n", s.about, s.name, s.initial)
	}
	return b.String()
}

func configurationPage() string {
	var b strings.Builder
	b.WriteString(`# Configuration

Every setting is an environment variable. A flag wins over the variable, the
variable over the default. A secret can also be given as a file, by the
variable's name with ` + "`_FILE`" + ` behind it. An empty variable is a value, not the
default. Unknown keys in these sections are refused with the nearest name;
` + "`MCP_`" + ` names without two underscores that are not listed here belong to others
and are left alone.

The tables are generated from the table in ` + "`cmd/internal/app/config.go`" + `.
`)
	last := ""
	for i := range settings {
		s := &settings[i]
		if sec := section(s.name); sec != last {
			last = sec
			fmt.Fprintf(&b, "\n## %s\n\n| Variable | Default | Accepted | What it does |\n| --- | --- | --- | --- |\n", sec[:1]+strings.ToLower(sec[1:]))
		}
		def := "`" + s.initial + "`"
		if s.initial == "" {
			def = "not set"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.name, def, accepted(s), s.about)
	}
	b.WriteString(`
## What refuses to start

All problems are printed at once on stderr, one line each: the setting, what was
found (never a secret), why, and what to set. The exit code is 78 and stdout
stays empty. Rows marked *production* refuse only with
` + "`MCP_ENVIRONMENT=production`" + ` and are warnings otherwise.

| Check | Refuses |
| --- | --- |
| settings: unknown key, wrong type, out of range, both forms of a secret, a secret as a flag | always |
| workspace: not set, relative, missing, not a folder, unreadable | always |
`)
	for _, r := range refusals {
		when := "production"
		if r.always {
			when = "always"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", r.id, when)
	}
	b.WriteString("| self-attack: a probe got through the finished server | always |\n")
	return b.String()
}

func accepted(s *setting) string {
	switch s.kind {
	case kindBool:
		return "`true`, `false`"
	case kindInt:
		return fmt.Sprintf("%d to %d", s.floor(), s.ceiling)
	case kindMS:
		return fmt.Sprintf("%d to %d ms", s.floor(), s.ceiling)
	case kindEnum:
		return "`" + strings.Join(s.words, "`, `") + "`"
	case kindList, kindSecrets:
		return fmt.Sprintf("at most %d, comma-separated", s.ceiling)
	}
	return "text"
}
