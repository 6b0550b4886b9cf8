package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
	"mcp-devserver/sandbox"
)

func (c *command) call() *cobra.Command {
	var asJSON, raw bool
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON]",
		Short: "Ask one tool and print its answer",
		Long: "call asks one tool, through the same stages as a client, and prints the text\nhalf of the answer. JSON holds the arguments; - reads them from stdin.\n\n" +
			"Exit codes: 0 success; 1 a denial; 2 arguments that the tool does not take;\n78 the configuration was refused.",
		Example: `  mcp-devserver --workspace . call project_overview
  mcp-devserver --workspace . call read_file '{"path":"README.md","end_line":20}'`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments := ""
			if len(args) == 2 {
				arguments = args[1]
			}
			if arguments == "-" {
				b, err := io.ReadAll(io.LimitReader(c.stdin, 8<<20))
				if err != nil {
					return &failure{err}
				}
				arguments = string(b)
			}
			cfg, err := c.config(nil, false, false)
			if err != nil {
				return err
			}
			prepare(cfg)
			a, err := app.New(cfg, build(), app.Logger(c.stderr, "warn"), "in process")
			if err != nil {
				return &failure{err}
			}
			if err := a.Confine(); err != nil {
				return served(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			defer a.Close(context.WithoutCancel(ctx))
			reply, err := a.Call(ctx, args[0], strings.TrimSpace(arguments))
			if err != nil {
				return &failure{err}
			}
			out := c.stdout
			text := reply.Text
			if reply.Invalid {
				out = c.stderr
			}
			if asJSON {
				out, text = c.stdout, string(reply.Result)
			} else if isTerminal(out) && !raw {
				text = visible(text)
			}
			fmt.Fprintln(out, text)
			switch {
			case reply.Invalid:
				return exitError(exitUsage)
			case reply.Denied:
				return exitError(exitDenied)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result as JSON")
	cmd.Flags().BoolVar(&raw, "raw", false, "do not escape control characters on a terminal")
	return cmd
}

// visible escapes what would act on a terminal, line by line; tabs stay.
func visible(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		parts := strings.Split(l, "\t")
		for k := range parts {
			parts[k] = sandbox.EscapeName(parts[k])
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}
