package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
)

// version is set by the linker for a release.
var version = "0.1.0-dev"

// errUsage marks errors of the command line.
var errUsage = errors.New("usage")

// command is what the subcommands share.
type command struct {
	environ        []string
	stdin          io.Reader
	stdout, stderr io.Writer
	workspace      string      // flag
	given          func() bool // whether the flag is there, be it empty
}

// run is the whole program but for the process around it. serve, call and doctor
// confine that process for good, unless the settings leave it to a container: a
// test that calls run itself has to say so.
func run(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &command{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "mcp-devserver",
		Short: "Read-only MCP server over one directory",
		Long: "mcp-devserver gives a language model seven read-only tools over one directory.\n" +
			"It speaks the Model Context Protocol, revision 2026-07-28, over stdio and HTTP.\n\n" +
			"Exit codes: 0 success; 1 a denial or an unexpected failure; 2 usage;\n78 the configuration was refused.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().StringVar(&c.workspace, "workspace", "", "directory to serve (MCP_SANDBOX__WORKSPACE)")
	c.given = func() bool { return root.PersistentFlags().Changed("workspace") }
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	root.AddCommand(c.serve(), c.call(), c.tools(), c.doctor(), c.conform(), c.configuration(), c.snippet(), c.version())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	code := exitCode(err)
	var silent exitError
	said := errors.As(err, &silent)
	if err != nil && !said && code == exitDenied && !errors.As(err, new(*failure)) {
		// What cobra itself refuses: an unknown command or a wrong count of
		// arguments.
		code = exitUsage
	}
	if err != nil && !said {
		fmt.Fprintln(stderr, "mcp-devserver: "+app.Clean(err.Error()))
		if code == exitUsage && !errors.Is(err, errNoVerdict) {
			fmt.Fprintln(stderr, "Run 'mcp-devserver --help' for usage.")
		}
	}
	return code
}

// failure is an unexpected error of a command, as opposed to one of its usage.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// config reads the settings and reports what refuses, one line each, on stderr.
// A server that is started also reports what only warns; http says that it will
// speak HTTP.
func (c *command) config(flags map[string]string, http, serving bool) (*app.Config, error) {
	cfg, problems, err := c.load(flags, http)
	if err != nil {
		return nil, err
	}
	refused := false
	for _, p := range problems {
		if !p.Warn {
			fmt.Fprintln(c.stderr, "refused: "+p.String())
			refused = true
		} else if serving {
			fmt.Fprintln(c.stderr, "warning: "+p.String())
		}
	}
	if refused {
		return nil, exitError(exitRefused)
	}
	return cfg, nil
}

// flags adds those of every command to the settings that flags make.
func (c *command) flags(flags map[string]string) (map[string]string, error) {
	if flags == nil {
		flags = map[string]string{}
	}
	if c.given() {
		dir := c.workspace
		if dir != "" { // an empty value is refused, like one of the variable
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, &failure{err}
			}
			dir = abs
		}
		flags["MCP_SANDBOX__WORKSPACE"] = dir
	}
	return flags, nil
}

func (c *command) load(flags map[string]string, http bool) (*app.Config, []app.Problem, error) {
	flags, err := c.flags(flags)
	if err != nil {
		return nil, nil, err
	}
	cfg, problems := app.Load(c.environ, flags)
	faulty := map[string]bool{}
	for _, p := range problems {
		faulty[p.Setting] = true
	}
	for _, p := range app.Check(cfg, http) {
		if !faulty[p.Setting] {
			problems = append(problems, p)
		}
	}
	return cfg, problems, nil
}

// build tells the version of this program.
func build() app.Build {
	b := app.Build{Version: version}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	return b
}

// isTerminal reports whether w is a terminal, on which control characters of
// foreign text must not act.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
