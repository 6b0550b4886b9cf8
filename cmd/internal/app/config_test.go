package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func lines(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

func TestDefaultsLoad(t *testing.T) {
	c, problems := Load(nil, nil)
	if len(problems) > 0 {
		t.Fatal(lines(problems))
	}
	if c.Workers != 8 || c.MaxChars != 40_000 || c.SearchDeadline != 10*time.Second || !c.Redact || c.HTTPAddress != "127.0.0.1:8080" || c.Production() {
		t.Errorf("defaults: %+v", c)
	}
}

// TestTable walks the table: every row has a field of its own, a text, a
// default that parses, and a ceiling where it needs one.
func TestTable(t *testing.T) {
	var c Config
	fields := map[any]string{}
	for i := range settings {
		s := &settings[i]
		into := s.into(&c)
		if other := fields[into]; other != "" {
			t.Errorf("%s and %s set the same field", s.name, other)
		}
		fields[into] = s.name
		if s.about == "" || strings.HasSuffix(s.about, ".") {
			t.Errorf("%s: about %q", s.name, s.about)
		}
		if (s.kind == kindInt || s.kind == kindMS || s.kind == kindList || s.kind == kindSecrets) && s.ceiling < 1 {
			t.Errorf("%s has no ceiling", s.name)
		}
		if p := s.set(&c, s.initial, false); p != nil {
			t.Errorf("default: %s", p)
		}
		if !strings.HasPrefix(s.name, "MCP_") || s.name != strings.ToUpper(s.name) {
			t.Errorf("name %s", s.name)
		}
	}
}

func TestBadValues(t *testing.T) {
	for _, c := range []struct{ trick, line, want string }{
		{"misspelt key", "MCP_SANDBOX__MAX_FILE_BTYES=1", "MCP_SANDBOX__MAX_FILE_BTYES: no such setting; did you mean MCP_SANDBOX__MAX_FILE_BYTES?"},
		{"unknown section", "MCP_WIDGETS__COLOUR=red", "MCP_WIDGETS__COLOUR: no such setting; remove it"},
		{"letters", "MCP_LIMITS__WORKERS=abc", `MCP_LIMITS__WORKERS: found "abc": not a whole number; set 1 to 64`},
		{"unit", "MCP_SEARCH__DEADLINE_MS=5m", `MCP_SEARCH__DEADLINE_MS: found "5m": not a whole number; set 1 to 60000 milliseconds`},
		{"empty number", "MCP_LIMITS__WORKERS=", `MCP_LIMITS__WORKERS: found "": not a whole number; set 1 to 64`},
		{"spaces", "MCP_LIMITS__WORKERS= 8 ", `found " 8 ": not a whole number`},
		{"exponent", "MCP_LIMITS__WORKERS=1e3", "not a whole number"},
		{"fraction", "MCP_LIMITS__WORKERS=8.0", "not a whole number"},
		{"lone minus", "MCP_LIMITS__WORKERS=-", "out of range"},
		{"negative", "MCP_LIMITS__WORKERS=-1", "out of range; set 1 to 64"},
		{"zero", "MCP_LIMITS__WORKERS=0", "out of range"},
		{"above the ceiling", "MCP_LIMITS__WORKERS=65", "out of range"},
		{"beyond int64", "MCP_LIMITS__WORKERS=99999999999999999999", "out of range"},
		{"yes", "MCP_SECURITY__REDACT=yes", `found "yes": not a truth value; set true or false`},
		{"capitals", "MCP_SECURITY__REDACT=TRUE", "not a truth value"},
		{"one", "MCP_SECURITY__REDACT=1", "not a truth value"},
		{"word", "MCP_ENVIRONMENT=prod", `found "prod": not one of its values; set development, production`},
		{"empty text", "MCP_HTTP__PATH=", "empty; set it or leave it unset"},
		{"empty token", "MCP_HTTP__AUTH_TOKEN=", "found 0 characters: empty"},
		{"three tokens", "MCP_HTTP__AUTH_TOKEN=a,b,c", "found 3 entries: too many; set at most 2"},
		{"missing token file", "MCP_HTTP__AUTH_TOKEN_FILE=/no/such/file", "the file cannot be read"},
	} {
		_, problems := Load([]string{c.line}, nil)
		if got := lines(problems); len(problems) != 1 || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.trick, got, c.want)
		}
		if strings.Count(lines(problems), "\n") != 1 {
			t.Errorf("%s: one line per problem", c.trick)
		}
	}
}

// TestOthersPrefix: clients use the prefix for settings of their own.
func TestOthersPrefix(t *testing.T) {
	_, problems := Load([]string{"MCP_TOOL_TIMEOUT=900000", "MCP_TIMEOUT=1", "MCP_SERVER_NAME=x", "PATH=/bin", "MCPX__A=1"}, nil)
	if len(problems) > 0 {
		t.Error(lines(problems))
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	_, problems := Load([]string{"MCP_LIMITS__WORKERS=x", "MCP_SEARCH__NOPE=1", "MCP_SECURITY__SCAN=maybe"}, nil)
	if len(problems) != 3 {
		t.Error(lines(problems))
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	secret := "do-not-print-me"
	_, problems := Load([]string{"MCP_HTTP__AUTH_TOKEN=" + secret + ",b,c", "MCP_HTTP__TOKEN=" + secret}, map[string]string{"MCP_HTTP__AUTH_TOKEN": secret})
	if len(problems) == 0 || strings.Contains(lines(problems), secret) {
		t.Error(lines(problems))
	}
}

func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	os.WriteFile(file, []byte("from-file\n"), 0o600)
	c, problems := Load([]string{"MCP_HTTP__ADDRESS=127.0.0.1:1", "MCP_HTTP__AUTH_TOKEN_FILE=" + file, "MCP_LIMITS__WORKERS=4"},
		map[string]string{"MCP_HTTP__ADDRESS": "127.0.0.1:2"})
	if len(problems) > 0 {
		t.Fatal(lines(problems))
	}
	if c.HTTPAddress != "127.0.0.1:2" || c.Origin["MCP_HTTP__ADDRESS"] != "flag" || c.AuthTokens[0] != "from-file" ||
		c.Origin["MCP_HTTP__AUTH_TOKEN"] != "file" || c.Workers != 4 || c.Origin["MCP_LIMITS__WORKERS"] != "env" || c.Origin["MCP_LOG__LEVEL"] != "default" {
		t.Errorf("%+v", c.Origin)
	}
	_, problems = Load([]string{"MCP_HTTP__AUTH_TOKEN=x", "MCP_HTTP__AUTH_TOKEN_FILE=" + file}, nil)
	if got := lines(problems); !strings.Contains(got, "both it and MCP_HTTP__AUTH_TOKEN_FILE are set") {
		t.Error(got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		d    int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"btyes", "bytes", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(c.a, c.b); got != c.d {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.d)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("MCP_LIMITS__WORKERS=8")
	f.Add("MCP_HTTP__ALLOWED_HOSTS=a,,b")
	f.Add("MCP___=")
	f.Fuzz(func(t *testing.T, line string) {
		c, problems := Load([]string{line}, nil)
		for _, p := range problems {
			if strings.ContainsFunc(p.String(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%q is not one plain line", p.String())
			}
		}
		if len(problems) == 0 && (c.Workers < 1 || c.Workers > 64) {
			t.Errorf("workers %d", c.Workers)
		}
	})
}

// TestFloors: below its floor a limit is refused; with all of them at their
// floors the server still starts, because it can attack itself.
func TestFloors(t *testing.T) {
	environ := []string{"MCP_SANDBOX__WORKSPACE=" + t.TempDir(), "MCP_LIMITS__RATE_PER_SECOND=1", "MCP_LIMITS__WORKERS=1", "MCP_LIMITS__QUEUE=1"}
	for name, floor := range floors {
		if _, problems := Load([]string{fmt.Sprintf("%s=%d", name, floor-1)}, nil); len(problems) != 1 || problems[0].Why != "out of range" {
			t.Errorf("%s below its floor: %s", name, lines(problems))
		}
		environ = append(environ, fmt.Sprintf("%s=%d", name, floor))
	}
	c, problems := Load(environ, nil)
	if len(problems) > 0 {
		t.Fatal(lines(problems))
	}
	a, err := New(c, Build{Version: "1"}, Logger(io.Discard, "error"), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer a.end()
	if err := a.ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFaultyKeepsDefault: a value that is refused leaves the default behind,
// so that what is judged next is not judged by a zero.
func TestFaultyKeepsDefault(t *testing.T) {
	c, problems := Load([]string{"MCP_LIMITS__WORKERS=many", "MCP_SANDBOX__OS_SANDBOX=maybe"}, nil)
	if len(problems) != 2 || c.Workers != 8 || c.OSSandbox != "auto" {
		t.Errorf("%d workers, sandbox %q, %s", c.Workers, c.OSSandbox, lines(problems))
	}
}
