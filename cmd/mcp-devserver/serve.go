package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
)

func (c *command) serve() *cobra.Command {
	var transport string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a client over stdio",
		Long: "serve speaks MCP over stdin and stdout until stdin ends. Logs and problems go to\nstderr.\n\n" +
			"Exit codes: 0 the client closed stdin, or a signal asked for the end;\n1 an unexpected failure; 2 usage; 78 the configuration was refused.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if transport != "stdio" {
				return fmt.Errorf("%w: --transport takes stdio", errUsage)
			}
			return c.serveStdio(cmd)
		},
	}
	cmd.Flags().StringVar(&transport, "transport", "stdio", "stdio")
	return cmd
}

// serveStdio opens everything first, then confines nothing late: settings and
// secrets, the time zone, the descriptors, the workspace. The wall that the
// kernel keeps belongs between prepare and serving.
func (c *command) serveStdio(cmd *cobra.Command) error {
	cfg, err := c.config(nil, false, true)
	if err != nil {
		return err
	}
	prepare(cfg)
	// A client that went away shows as a failed write, not as a signal.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a, err := app.New(cfg, build(), app.Logger(c.stderr, cfg.LogLevel), "stdio")
	if err != nil {
		return &failure{err}
	}
	return served(a.ServeStdio(ctx, c.stdin, c.stdout))
}

func prepare(cfg *app.Config) {
	app.Tune(cfg)
	os.Unsetenv("MCP_HTTP__AUTH_TOKEN")
	_ = time.Now().Local().Format(time.RFC3339) // reads the time zone
	app.ShutDescriptors()
}

func served(err error) error {
	if err == nil {
		return nil
	}
	var attack *app.SelfAttackError
	if errors.As(err, &attack) {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return &failure{err}
}
