package app

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
)

// TestRefusals walks the table: each row has a case that it catches, and the
// same settings without the fault pass it.
func TestRefusals(t *testing.T) {
	ws := t.TempDir()
	good := func() (*Config, *facts) {
		c, problems := Load([]string{"MCP_SANDBOX__WORKSPACE=" + ws, "MCP_SANDBOX__OS_SANDBOX=external"}, nil)
		if len(problems) > 0 {
			t.Fatal(lines(problems))
		}
		return c, &facts{http: true, workspace: ws, wall: sandbox.Wall{Landlock: 7, Filter: true}, uid: 1000, executable: "/opt/x/mcp-devserver",
			git: gitFacts{path: "/usr/bin/git", version: [2]int{2, 39}}}
	}
	reachable := func(c *Config) {
		c.HTTPAddress, c.AuthTokens, c.AllowedHosts, c.BehindProxy = "0.0.0.0:8080", []string{"q8Zr2LxT0vWc5Jn7Bd1Fh6Ks9Mp3Ay4E"}, []string{"dev.internal"}, true
	}
	inWS := filepath.Join(ws, "key.pem")
	os.WriteFile(inWS, nil, 0o600)
	open := filepath.Join(t.TempDir(), "token")
	os.WriteFile(open, nil, 0o644)
	cases := map[string][]func(*Config, *facts){
		"workspace-too-wide": {
			func(c *Config, f *facts) { f.workspace = "/" },
			func(c *Config, f *facts) { f.workspace = resolved("/usr") },
			func(c *Config, f *facts) { f.workspace, f.homes = "/srv/me", []string{"/srv/me"} },
		},
		"secrets-inside": {
			func(c *Config, f *facts) { c.TLSKeyFile = inWS },
			func(c *Config, f *facts) { c.Origin["MCP_HTTP__AUTH_TOKEN_FILE"] = inWS },
		},
		"serves-itself": {func(c *Config, f *facts) { f.executable = filepath.Join(ws, "bin", "server") }},
		"root":          {func(c *Config, f *facts) { f.uid = 0 }},
		"writable":      {func(c *Config, f *facts) { f.writable = true }},
		"kernel-wall-required": {
			func(c *Config, f *facts) { c.OSSandbox, f.wall = "enforce", sandbox.Wall{} },
			func(c *Config, f *facts) { c.OSSandbox, f.wall = "enforce", sandbox.Wall{Landlock: 7} },
			func(c *Config, f *facts) { c.OSSandbox, f.wall = "enforce", sandbox.Wall{Filter: true} },
			func(c *Config, f *facts) { c.OSSandbox, f.wall = "enforce", sandbox.Wall{Landlock: 2, Filter: true} },
		},
		"kernel-wall": {
			func(c *Config, f *facts) { c.OSSandbox, f.wall = "auto", sandbox.Wall{} },
			func(c *Config, f *facts) { c.OSSandbox = "off" },
		},
		"negated-deny":   {func(c *Config, f *facts) { c.Deny = []string{"*.sql", "!.env"} }},
		"content-policy": {func(c *Config, f *facts) { c.Redact = false }, func(c *Config, f *facts) { c.Scan = false }},
		"regex-guard":    {func(c *Config, f *facts) { c.RegexGuard = false }},
		"open-without-token": {
			func(c *Config, f *facts) { reachable(c); c.AuthTokens = nil },
			func(c *Config, f *facts) { reachable(c); c.AuthTokens, c.HTTPAddress = nil, "[::]:8080" },
		},
		"weak-token": {
			func(c *Config, f *facts) { reachable(c); c.AuthTokens = []string{"short"} },
			func(c *Config, f *facts) { reachable(c); c.AuthTokens = []string{strings.Repeat("ab", 20)} },
			func(c *Config, f *facts) {
				reachable(c)
				c.AuthTokens = []string{"change-me-change-me-abcdefghijklmnop"}
			},
			func(c *Config, f *facts) { c.Origin["MCP_HTTP__AUTH_TOKEN_FILE"] = open },
		},
		"any-origin": {
			func(c *Config, f *facts) { reachable(c); c.AllowedHosts = nil },
		},
		"http-names": {
			func(c *Config, f *facts) { c.AllowedOrigins = []string{"*"} },
			func(c *Config, f *facts) { c.AllowedHosts = []string{"*.internal"} },
			func(c *Config, f *facts) { c.AllowedOrigins = []string{"app.example.com"} },
			func(c *Config, f *facts) { c.AllowedHosts = []string{"https://mcp.example.com"} },
			func(c *Config, f *facts) { c.HTTPPath = "mcp" },
			func(c *Config, f *facts) { c.HTTPPath = "/readyz" },
			func(c *Config, f *facts) { c.HTTPPath = "/mcp?x" },
			func(c *Config, f *facts) { c.HTTPPath = "/é" },
			func(c *Config, f *facts) { c.HTTPAddress = "127.0.0.1" },
		},
		"deny-syntax":   {func(c *Config, f *facts) { c.Deny = []string{"*.sql", "[a"} }},
		"clear-text":    {func(c *Config, f *facts) { reachable(c); c.BehindProxy = false }},
		"tls-pair":      {func(c *Config, f *facts) { c.TLSCertFile = open }, func(c *Config, f *facts) { c.TLSCertFile, c.TLSKeyFile = open, open }},
		"proxy-names":   {func(c *Config, f *facts) { c.TrustedProxies = []string{"10.0.0.1", "10.0.0.0/8", "proxy.internal"} }},
		"no-rate-limit": {func(c *Config, f *facts) { c.RateLimit = false }},
		"chatty-log":    {func(c *Config, f *facts) { c.LogLevel = "debug" }},
		"git-binary": {
			func(c *Config, f *facts) { c.GitBinary = "git" },
			func(c *Config, f *facts) { c.GitBinary, f.git.path = "/no/git", "" },
			func(c *Config, f *facts) { c.GitBinary, f.git.script = "/usr/bin/git", true },
		},
		"git-inside": {func(c *Config, f *facts) { f.git.path = filepath.Join(ws, "git") }},
		"git": {
			func(c *Config, f *facts) { f.git.path = "" },
			func(c *Config, f *facts) { f.git.script = true },
			func(c *Config, f *facts) { f.git.version = [2]int{2, 35} },
			func(c *Config, f *facts) { f.git.version = [2]int{1, 99} },
		},
		"server-timing":   {func(c *Config, f *facts) { c.ServerTiming = true }},
		"metrics-address": {func(c *Config, f *facts) { c.MetricsEnabled, c.MetricsAddress = true, "9464" }},
		"open-metrics":    {func(c *Config, f *facts) { c.MetricsEnabled, c.MetricsAddress = true, ":9464" }},
		"git-external":    {func(c *Config, f *facts) { c.GitAllowExternal = true }},
	}
	for _, r := range refusals {
		c, f := good()
		if p := r.check(c, f); len(p) > 0 {
			t.Errorf("%s refuses sound settings: %s", r.id, lines(p))
		}
		if len(cases[r.id]) == 0 {
			t.Errorf("%s has no case", r.id)
		}
		for i, breakIt := range cases[r.id] {
			c, f := good()
			breakIt(c, f)
			problems := r.check(c, f)
			if len(problems) == 0 {
				t.Errorf("%s, case %d: not refused", r.id, i)
			}
			for _, p := range problems {
				if p.Setting == "" || p.Why == "" || p.Do == "" {
					t.Errorf("%s, case %d: %+v", r.id, i, p)
				}
			}
		}
	}
}

func TestWorkspaceSetting(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o644)
	spaced := filepath.Join(dir, "~My Folder")
	os.Mkdir(spaced, 0o755)
	for _, c := range []struct{ value, why string }{
		{"", "not set"}, {"rel/ative", "not an absolute"}, {"~/x", "~ is not expanded"}, {filepath.Join(dir, "none"), "does not exist"}, {file, "not a folder"},
	} {
		p := workspaceProblem(&Config{Workspace: c.value})
		if p == nil || !strings.Contains(p.Why, c.why) {
			t.Errorf("%q: %v", c.value, p)
		}
	}
	for _, ok := range []string{dir, dir + "/", spaced} {
		if p := workspaceProblem(&Config{Workspace: ok}); p != nil {
			t.Errorf("%q: %s", ok, p)
		}
	}
}

// TestWarnings: a weak setting warns in development and refuses in production.
func TestWarnings(t *testing.T) {
	for _, env := range []string{"development", "production"} {
		c, _ := Load([]string{"MCP_ENVIRONMENT=" + env, "MCP_SANDBOX__WORKSPACE=" + t.TempDir(), "MCP_SECURITY__REDACT=false"}, nil)
		found := false
		for _, p := range Check(c, false) {
			if p.Setting == "MCP_SECURITY__REDACT" {
				found = true
				if p.Warn != (env == "development") {
					t.Errorf("%s: warn is %v", env, p.Warn)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing said", env)
		}
	}
}

func TestFindGit(t *testing.T) {
	g := findGit("")
	if g.path == "" || g.script || g.version[0] < 2 {
		t.Errorf("the machine's git: %+v", g)
	}
	wrapper := filepath.Join(t.TempDir(), "git")
	for _, text := range []string{"#!/bin/sh\nexit 0\n", "exit 0\n", "#!", ""} {
		if text == "exit 0\n" && runtime.GOOS != "linux" {
			continue
		}
		os.WriteFile(wrapper, []byte(text), 0o755)
		g := findGit(wrapper)
		if !g.script {
			t.Errorf("%q is taken for a program", text)
		}
		// Named by the operator it refuses the start, whatever the environment.
		c := &Config{GitEnabled: true, GitBinary: wrapper}
		for _, r := range refusals {
			if r.id == "git-binary" && (!r.always || len(r.check(c, &facts{git: g})) == 0) {
				t.Errorf("%q does not refuse the start", text)
			}
		}
	}
	if g := findGit(filepath.Join(t.TempDir(), "none")); g.path != "" {
		t.Error("a missing program was found")
	}
}
