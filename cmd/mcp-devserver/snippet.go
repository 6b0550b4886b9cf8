package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
)

// client is one row: where a client keeps its servers and how it writes one.
type client struct {
	name string
	file string
	// modern clients speak the revision of this server; the others reach it
	// through a bridge.
	modern bool
	// half clients show the model structuredContent alone, which costs more
	// tokens than the text does.
	half  bool
	write func(launch) string
}

// launch is a program that a client starts.
type launch struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

var clients = []client{
	{"claude-code", ".mcp.json in the project", true, true, under("mcpServers")},
	{"claude-desktop", "claude_desktop_config.json", false, false, under("mcpServers")},
	{"cursor", ".cursor/mcp.json in the project", false, false, under("mcpServers")},
	{"vscode", ".vscode/mcp.json in the project", false, true, func(l launch) string {
		return indented(map[string]any{"servers": map[string]any{app.Name: struct {
			Type string `json:"type"`
			launch
		}{"stdio", l}}})
	}},
	{"codex", "~/.codex/config.toml", false, true, toml},
	{"gemini", "~/.gemini/settings.json", false, false, under("mcpServers")},
	{"zed", "settings.json of Zed", false, false, under("context_servers")},
	{"jetbrains", "Settings, Tools, AI Assistant, Model Context Protocol, as JSON", false, false, under("mcpServers")},
}

// bridge is a program that lets a client of an earlier revision use a server
// over HTTP.
const bridge = "mcp-remote@0.15.1"

func (c *command) snippet() *cobra.Command {
	var names []string
	for _, k := range clients {
		names = append(names, k.name)
	}
	var direct bool
	cmd := &cobra.Command{
		Use:   "snippet CLIENT",
		Short: "Print what a client's configuration needs",
		Long: "snippet prints the entry for a client's configuration on stdout, and on stderr where\nit belongs. It changes no file. Clients: " + strings.Join(names, ", ") + ".\n\n" +
			"A client that opens with the handshake of an earlier revision gets an entry that\nstarts a bridge; --direct prints the one for a release that needs none.\n\n" +
			"Exit codes: 0 printed; 2 no such client; 78 the workspace cannot be served.",
		Example: "  mcp-devserver --workspace . snippet claude-code > .mcp.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, k := range clients {
				if k.name != args[0] {
					continue
				}
				cfg, err := c.config(nil, false, false)
				if err != nil {
					return err
				}
				program, err := os.Executable()
				if err != nil {
					return &failure{err}
				}
				entry, notes := k.entry(cfg, program, direct)
				fmt.Fprint(c.stdout, entry)
				for _, n := range notes {
					fmt.Fprintln(c.stderr, n)
				}
				return nil
			}
			return fmt.Errorf("%w: no client %q; there are %s", errUsage, args[0], strings.Join(names, ", "))
		},
	}
	cmd.Flags().BoolVar(&direct, "direct", false, "start the server itself, without a bridge")
	return cmd
}

// entry returns what goes into the client's configuration, and what its owner
// should know beside it.
func (k *client) entry(cfg *app.Config, program string, direct bool) (entry string, notes []string) {
	notes = []string{"Where it belongs: " + k.file}
	env := map[string]string{"MCP_SANDBOX__WORKSPACE": cfg.Workspace}
	if k.half {
		env["MCP_OUTPUT__STRUCTURED"] = "false"
	}
	if k.modern || direct {
		return k.write(launch{Command: program, Args: []string{"serve"}, Env: env}), notes
	}
	var run []string
	for _, name := range []string{"MCP_SANDBOX__WORKSPACE", "MCP_OUTPUT__STRUCTURED"} {
		if v, ok := env[name]; ok {
			run = append(run, name+"="+shell(v))
		}
	}
	run = append(run, shell(program), "serve", "--transport", "http", "--listen", cfg.HTTPAddress)
	notes = append(notes,
		"It starts a bridge, for the client opens with the handshake of an earlier revision. Keep the server running:",
		"  "+strings.Join(run, " "))
	return k.write(launch{Command: "npx", Args: []string{"-y", bridge, "http://" + cfg.HTTPAddress + cfg.HTTPPath, "--protocol", "auto"}}), notes
}

// under writes an entry in JSON below a key of its own.
func under(key string) func(launch) string {
	return func(l launch) string {
		return indented(map[string]any{key: map[string]any{app.Name: l}})
	}
}

func indented(v any) string {
	b, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		panic(err) // maps of strings, all valid UTF-8 or replaced
	}
	return string(b) + "\n"
}

func toml(l launch) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[mcp_servers.%s]\ncommand = %s\nargs = [", app.Name, quoted(l.Command))
	for i, a := range l.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(a))
	}
	b.WriteString("]\n")
	if len(l.Env) > 0 {
		fmt.Fprintf(&b, "\n[mcp_servers.%s.env]\n", app.Name)
		for _, name := range []string{"MCP_SANDBOX__WORKSPACE", "MCP_OUTPUT__STRUCTURED"} {
			if v, ok := l.Env[name]; ok {
				fmt.Fprintf(&b, "%s = %s\n", name, quoted(v))
			}
		}
	}
	return b.String()
}

// quoted writes a basic string of TOML: the escapes are those of JSON.
func quoted(s string) string { return strings.TrimSuffix(indented(s), "\n") }

// shell quotes a word where a shell would read it otherwise.
func shell(s string) string {
	if s = filepath.ToSlash(s); strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@=+,") == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
