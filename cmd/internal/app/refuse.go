package app

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"mcp-devserver/cmd/internal/httpd"
	"mcp-devserver/sandbox"
)

// refusal is one row: a condition under which the server does not start.
// Always rows refuse; the others refuse in production and warn elsewhere.
type refusal struct {
	id     string
	always bool
	check  func(*Config, *facts) []Problem
}

func one(p Problem) []Problem { return []Problem{p} }

var refusals = []refusal{
	{"workspace-too-wide", true, func(c *Config, f *facts) []Problem {
		if f.workspace == "" || !tooWide(f.workspace, f.homes) {
			return nil
		}
		return one(Problem{Setting: "MCP_SANDBOX__WORKSPACE", Found: strconv.Quote(c.Workspace), Why: "it is a system folder or a whole home folder", Do: "name one project's folder"})
	}},
	{"secrets-inside", true, func(c *Config, f *facts) (out []Problem) {
		for _, s := range []struct{ name, path string }{
			{"MCP_HTTP__TLS_KEY_FILE", c.TLSKeyFile}, {"MCP_HTTP__AUTH_TOKEN_FILE", c.Origin["MCP_HTTP__AUTH_TOKEN_FILE"]},
		} {
			if s.path != "" && f.workspace != "" && inside(f.workspace, resolved(s.path)) {
				out = append(out, Problem{Setting: s.name, Found: strconv.Quote(s.path), Why: "a secret inside the workspace would be served", Do: "move it out of the workspace"})
			}
		}
		return out
	}},
	{"serves-itself", false, func(c *Config, f *facts) []Problem {
		if f.workspace == "" || f.executable == "" || !inside(f.workspace, f.executable) {
			return nil
		}
		return one(Problem{Setting: "MCP_SANDBOX__WORKSPACE", Found: strconv.Quote(c.Workspace), Why: "the server's own program lies in it", Do: "install the program elsewhere"})
	}},
	{"root", false, func(c *Config, f *facts) []Problem {
		if f.uid != 0 || c.AllowRoot {
			return nil
		}
		return one(Problem{Setting: "MCP_SANDBOX__ALLOW_ROOT", Why: "the process runs as uid 0", Do: "run as an ordinary user or set it to true"})
	}},
	{"writable", false, func(c *Config, f *facts) []Problem {
		if !f.http || !f.writable || c.AllowWritable {
			return nil
		}
		return one(Problem{Setting: "MCP_SANDBOX__ALLOW_WRITABLE", Why: "this process could write the workspace", Do: "mount it read-only or set it to true"})
	}},
	{"kernel-wall-required", true, func(c *Config, f *facts) []Problem {
		if c.OSSandbox != "enforce" || f.wall.Whole() {
			return nil
		}
		return one(Problem{Setting: "MCP_SANDBOX__OS_SANDBOX", Found: `"enforce"`, Why: "this kernel offers too little (" + f.wall.String() + ")", Do: "set auto, or external inside a container"})
	}},
	{"kernel-wall", false, func(c *Config, f *facts) []Problem {
		p := Problem{Setting: "MCP_SANDBOX__OS_SANDBOX", Found: strconv.Quote(c.OSSandbox)}
		switch {
		case c.OSSandbox == "off":
			p.Why, p.Do = "nothing stands behind the path checks", "set auto, or external inside a container"
		case c.OSSandbox == "auto" && f.wall.None():
			p.Why, p.Do = "this kernel offers nothing that could stand behind the path checks", "run in a container and set external"
		default:
			return nil
		}
		return one(p)
	}},
	{"negated-deny", true, func(c *Config, f *facts) (out []Problem) {
		for _, r := range c.Deny {
			if strings.HasPrefix(r, "!") {
				out = append(out, Problem{Setting: "MCP_SANDBOX__DENY", Found: strconv.Quote(r), Why: "rules add to the built-in ones and cannot take away", Do: "remove the negated rule"})
			}
		}
		return out
	}},
	{"deny-syntax", true, func(c *Config, f *facts) (out []Problem) {
		for _, r := range c.Deny {
			if err := sandbox.CheckRule(r); err != nil && !strings.HasPrefix(r, "!") {
				out = append(out, Problem{Setting: "MCP_SANDBOX__DENY", Found: strconv.Quote(r), Why: err.Error(), Do: "write it as in a .gitignore file"})
			}
		}
		return out
	}},
	{"content-policy", false, func(c *Config, f *facts) (out []Problem) {
		for _, s := range []struct {
			name string
			on   bool
		}{{"MCP_SECURITY__REDACT", c.Redact}, {"MCP_SECURITY__SCAN", c.Scan}} {
			if !s.on {
				out = append(out, Problem{Setting: s.name, Found: "false", Why: "answers leave unprotected", Do: "set true"})
			}
		}
		return out
	}},
	{"regex-guard", false, func(c *Config, f *facts) []Problem {
		if c.RegexGuard {
			return nil
		}
		return one(Problem{Setting: "MCP_SECURITY__REGEX_GUARD", Found: "false", Why: "one pattern can occupy a worker for its whole deadline", Do: "set true"})
	}},
	{"open-without-token", true, func(c *Config, f *facts) []Problem {
		if !f.http || !exposed(c.HTTPAddress) || len(c.AuthTokens) > 0 {
			return nil
		}
		return one(Problem{Setting: "MCP_HTTP__AUTH_TOKEN", Why: "the address " + strconv.Quote(c.HTTPAddress) + " can be reached from other machines without a token", Do: "set a token or listen on 127.0.0.1"})
	}},
	{"weak-token", false, func(c *Config, f *facts) (out []Problem) {
		for _, t := range c.AuthTokens {
			if why := weak(t); why != "" {
				out = append(out, Problem{Setting: "MCP_HTTP__AUTH_TOKEN", Found: fmt.Sprintf("%d characters", len(t)), Why: why, Do: "set at least 32 random characters"})
			}
		}
		if path := c.Origin["MCP_HTTP__AUTH_TOKEN_FILE"]; path != "" && runtime.GOOS != "windows" {
			if st, err := os.Stat(path); err == nil && st.Mode().Perm()&0o077 != 0 {
				out = append(out, Problem{Setting: "MCP_HTTP__AUTH_TOKEN_FILE", Found: st.Mode().Perm().String(), Why: "others can read the token file", Do: "chmod 600"})
			}
		}
		return out
	}},
	{"any-origin", false, func(c *Config, f *facts) (out []Problem) {
		if !f.http {
			return nil
		}
		if exposed(c.HTTPAddress) && len(c.AllowedHosts) == 0 {
			out = append(out, Problem{Setting: "MCP_HTTP__ALLOWED_HOSTS", Why: "no name is accepted for the address " + strconv.Quote(c.HTTPAddress), Do: "list the names under which clients reach the server"})
		}
		return out
	}},
	{"http-names", true, func(c *Config, f *facts) (out []Problem) {
		if !f.http {
			return nil
		}
		say := func(setting, found, why, do string) {
			out = append(out, Problem{Setting: setting, Found: strconv.Quote(found), Why: why, Do: do})
		}
		if _, _, err := net.SplitHostPort(c.HTTPAddress); err != nil {
			say("MCP_HTTP__ADDRESS", c.HTTPAddress, "not an address with a port", "set one such as 127.0.0.1:8080")
		}
		if !httpd.ValidPath(c.HTTPPath) {
			say("MCP_HTTP__PATH", c.HTTPPath, "it cannot be the path of the endpoint", "set one such as /mcp")
		}
		for _, s := range []struct {
			name  string
			list  []string
			valid func(string) bool
			why   string
			do    string
		}{
			{"MCP_HTTP__ALLOWED_ORIGINS", c.AllowedOrigins, httpd.ValidOrigin, "not an origin", "list origins such as https://app.example.com"},
			{"MCP_HTTP__ALLOWED_HOSTS", c.AllowedHosts, httpd.ValidHost, "not a host name with or without a port", "list names such as mcp.example.com"},
		} {
			for _, v := range s.list {
				switch {
				case strings.Contains(v, "*"):
					say(s.name, v, "patterns are not accepted: every name stands for itself", "list the names")
				case !s.valid(v):
					say(s.name, v, s.why, s.do)
				}
			}
		}
		return out
	}},
	{"clear-text", false, func(c *Config, f *facts) []Problem {
		if !f.http || !exposed(c.HTTPAddress) || c.TLSCertFile != "" || c.BehindProxy {
			return nil
		}
		return one(Problem{Setting: "MCP_HTTP__TLS_CERT_FILE", Why: "tokens and files would cross the network in clear text", Do: "set certificate and key, or MCP_HTTP__BEHIND_PROXY=true"})
	}},
	{"tls-pair", true, func(c *Config, f *facts) []Problem {
		if !f.http || c.TLSCertFile == "" && c.TLSKeyFile == "" {
			return nil
		}
		if c.TLSCertFile == "" || c.TLSKeyFile == "" {
			return one(Problem{Setting: "MCP_HTTP__TLS_CERT_FILE", Why: "certificate and key belong together", Do: "set both"})
		}
		if _, err := tls.LoadX509KeyPair(c.TLSCertFile, c.TLSKeyFile); err != nil {
			return one(Problem{Setting: "MCP_HTTP__TLS_CERT_FILE", Why: "certificate and key do not load as a pair", Do: "name PEM files that belong together"})
		}
		return nil
	}},
	{"proxy-names", true, func(c *Config, f *facts) (out []Problem) {
		for _, v := range c.TrustedProxies {
			if _, err := prefix(v); err != nil {
				out = append(out, Problem{Setting: "MCP_HTTP__TRUSTED_PROXIES", Found: strconv.Quote(v), Why: "neither an address nor a network", Do: "list addresses such as 10.0.0.7 or networks such as 10.0.0.0/8"})
			}
		}
		return out
	}},
	{"server-timing", false, func(c *Config, f *facts) []Problem {
		if !f.http || !c.ServerTiming {
			return nil
		}
		return one(Problem{Setting: "MCP_HTTP__SERVER_TIMING", Found: "true", Why: "times let a client measure what it may not see", Do: "set false and read the log or the metrics"})
	}},
	{"metrics-address", true, func(c *Config, f *facts) []Problem {
		if _, _, err := net.SplitHostPort(c.MetricsAddress); !c.MetricsEnabled || err == nil {
			return nil
		}
		return one(Problem{Setting: "MCP_METRICS__ADDRESS", Found: strconv.Quote(c.MetricsAddress), Why: "not an address with a port", Do: "set one such as 127.0.0.1:9464"})
	}},
	{"open-metrics", false, func(c *Config, f *facts) []Problem {
		if !c.MetricsEnabled || !exposed(c.MetricsAddress) || c.MetricsPublic {
			return nil
		}
		return one(Problem{Setting: "MCP_METRICS__ALLOW_PUBLIC", Why: "the address " + strconv.Quote(c.MetricsAddress) + " can be reached from other machines, and metrics ask for no token", Do: "protect the port and set it to true, or listen on 127.0.0.1"})
	}},
	{"no-rate-limit", false, func(c *Config, f *facts) []Problem {
		if !f.http || c.RateLimit {
			return nil
		}
		return one(Problem{Setting: "MCP_LIMITS__RATE_LIMIT", Found: "false", Why: "the specification asks servers to limit the rate of tool calls", Do: "set true"})
	}},
	{"chatty-log", false, func(c *Config, f *facts) []Problem {
		if c.LogLevel != "debug" && c.LogLevel != "trace" {
			return nil
		}
		return one(Problem{Setting: "MCP_LOG__LEVEL", Found: strconv.Quote(c.LogLevel), Why: "it is meant for development", Do: "set info"})
	}},
	{"git-binary", true, func(c *Config, f *facts) []Problem {
		if !c.GitEnabled || c.GitBinary == "" {
			return nil
		}
		switch {
		case !filepath.IsAbs(c.GitBinary):
			return one(Problem{Setting: "MCP_GIT__BINARY", Found: strconv.Quote(c.GitBinary), Why: "not an absolute path", Do: "name the program in full"})
		case f.git.path == "":
			return one(Problem{Setting: "MCP_GIT__BINARY", Found: strconv.Quote(c.GitBinary), Why: "not a program that can be run", Do: "name git, or set MCP_GIT__ENABLED=false"})
		case f.git.script:
			return one(Problem{Setting: "MCP_GIT__BINARY", Found: strconv.Quote(c.GitBinary), Why: "a script or a file of another system, which would run an interpreter", Do: "name the program itself, or set MCP_GIT__ENABLED=false"})
		}
		return nil
	}},
	{"git-inside", true, func(c *Config, f *facts) []Problem {
		if !c.GitEnabled || f.git.path == "" || f.workspace == "" || !inside(f.workspace, f.git.path) {
			return nil
		}
		return one(Problem{Setting: "MCP_GIT__BINARY", Why: "git lies inside the workspace: its content would be run", Do: "name a git outside it, or set MCP_GIT__ENABLED=false"})
	}},
	{"git", false, func(c *Config, f *facts) []Problem {
		switch {
		case !c.GitEnabled:
		case f.git.path == "":
			return one(Problem{Setting: "MCP_GIT__ENABLED", Why: "git was not found", Do: "install git or set false"})
		case f.git.script && c.GitBinary == "":
			return one(Problem{Setting: "MCP_GIT__BINARY", Why: "the git on PATH is a wrapper script, which would run an interpreter", Do: "name the program itself"})
		case f.git.script: // refused above
		case f.git.version[0] < 2 || f.git.version[0] == 2 && f.git.version[1] < 36:
			return one(Problem{Setting: "MCP_GIT__BINARY", Found: fmt.Sprintf("git %d.%d", f.git.version[0], f.git.version[1]), Why: "older than 2.36, which cannot read many objects in one run (cat-file --batch-command)", Do: "install a newer git or set MCP_GIT__ENABLED=false"})
		}
		return nil
	}},
	{"git-external", false, func(c *Config, f *facts) []Problem {
		if !c.GitEnabled || !c.GitAllowExternal {
			return nil
		}
		return one(Problem{Setting: "MCP_GIT__ALLOW_EXTERNAL", Found: "true", Why: "objects outside the workspace are served", Do: "serve the main checkout and set false"})
	}},
}

// workspaceProblem checks the setting without which nothing else makes sense.
func workspaceProblem(c *Config) *Problem {
	p := Problem{Setting: "MCP_SANDBOX__WORKSPACE", Do: "set it to the absolute path of the folder to serve, or give --workspace"}
	if c.Workspace == "" {
		p.Why = "it is not set"
		return &p
	}
	p.Found = strconv.Quote(c.Workspace)
	if !filepath.IsAbs(c.Workspace) {
		p.Why = "it is not an absolute path"
		if strings.HasPrefix(c.Workspace, "~/") {
			p.Why = "~ is not expanded here"
		}
		return &p
	}
	st, err := os.Stat(c.Workspace)
	switch {
	case os.IsNotExist(err):
		p.Why = "it does not exist"
	case err != nil:
		p.Why = "it cannot be read"
	case !st.IsDir():
		p.Why = "it is not a folder"
	default:
		d, err := os.Open(c.Workspace)
		if err != nil {
			p.Why = "it cannot be read"
			return &p
		}
		d.Close()
		return nil
	}
	return &p
}

// Check returns every reason not to start; those with Warn set are reasons in
// production only.
func Check(c *Config, http bool) []Problem {
	f := gather(c, http)
	var problems []Problem
	if p := workspaceProblem(c); p != nil {
		problems = append(problems, *p)
	}
	for _, r := range refusals {
		for _, p := range r.check(c, f) {
			p.Warn = !r.always && !c.Production()
			problems = append(problems, p)
		}
	}
	return problems
}
