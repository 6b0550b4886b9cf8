package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
)

func (c *command) serve() *cobra.Command {
	var transport, listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve clients over stdio or HTTP",
		Long: "serve speaks MCP over stdin and stdout until stdin ends, or over HTTP until a\nsignal asks for the end. Logs and problems go to stderr.\n\n" +
			"Exit codes: 0 the client closed stdin, or a signal asked for the end;\n1 an unexpected failure; 2 usage; 78 the configuration was refused.",
		Example: `  mcp-devserver --workspace . serve
  mcp-devserver --workspace . serve --transport http --listen 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			// A client or a collector of logs that went away shows as a failed
			// write, not as a signal.
			signal.Ignore(syscall.SIGPIPE)
			switch transport {
			case "stdio":
				if cmd.Flags().Changed("listen") {
					return fmt.Errorf("%w: --listen needs --transport http", errUsage)
				}
				return c.serveStdio(ctx)
			case "http":
				return c.serveHTTP(ctx, listen, cmd.Flags().Changed("listen"))
			}
			return fmt.Errorf("%w: --transport takes stdio or http", errUsage)
		},
	}
	cmd.Flags().StringVar(&transport, "transport", "stdio", "stdio or http")
	cmd.Flags().StringVar(&listen, "listen", "", "address for HTTP (MCP_HTTP__ADDRESS)")
	return cmd
}

// Both ways to serve pass the same phases, so that nothing is opened late: main
// has shut the descriptors; read the settings and secrets, open the listener,
// prepare, build the server over the open workspace, confine, serve. What a
// later phase opened by name outside the workspace, the kernel would refuse.

func (c *command) serveStdio(ctx context.Context) error {
	cfg, err := c.config(nil, false, true)
	if err != nil {
		return err
	}
	return c.prepared(cfg, "stdio", func(a *app.App) error { return a.ServeStdio(ctx, c.stdin, c.stdout) })
}

func (c *command) serveHTTP(ctx context.Context, listen string, given bool) error {
	flags := map[string]string{}
	if given {
		flags["MCP_HTTP__ADDRESS"] = listen
	}
	cfg, err := c.config(flags, true, true)
	if err != nil {
		return err
	}
	var pair *tls.Certificate
	if cfg.TLSCertFile != "" {
		p, err := tls.LoadX509KeyPair(cfg.TLSCertFile, cfg.TLSKeyFile)
		if err != nil {
			return &failure{err}
		}
		pair = &p
	}
	l, err := c.listen("MCP_HTTP__ADDRESS", cfg.HTTPAddress)
	if err != nil {
		return err
	}
	defer l.Close()
	return c.prepared(cfg, "http", func(a *app.App) error { return a.ServeHTTP(ctx, l, pair) })
}

// prepared takes the phases that both ways share, up to serving.
func (c *command) prepared(cfg *app.Config, transport string, serve func(*app.App) error) error {
	var counts net.Listener
	if cfg.MetricsEnabled {
		var err error
		if counts, err = c.listen("MCP_METRICS__ADDRESS", cfg.MetricsAddress); err != nil {
			return err
		}
		defer counts.Close()
	}
	prepare(cfg)
	log := app.NewLossy(c.stderr)
	defer log.Flush(lastWords)
	a, err := app.New(cfg, build(), app.Logger(log, cfg.LogLevel), transport)
	if err != nil {
		return &failure{err}
	}
	if err := a.Confine(); err != nil {
		return served(err)
	}
	if counts != nil {
		stop, err := a.ServeMetrics(counts)
		if err != nil {
			return served(err)
		}
		defer stop()
	}
	return served(serve(a))
}

// listen opens the address of a setting, or says that it cannot be.
func (c *command) listen(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintf(c.stderr, "refused: %s: found %q: it cannot be listened on; set another address or port\n", setting, address)
		return nil, exitError(exitRefused)
	}
	return l, nil
}

// lastWords is the time that the log gets to be read at the end.
const lastWords = 500 * time.Millisecond

func prepare(cfg *app.Config) {
	app.Tune(cfg)
	os.Unsetenv("MCP_HTTP__AUTH_TOKEN")
	_ = time.Now().Local().Format(time.RFC3339) // reads the time zone
	app.DropDescriptors()
}

func served(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*app.SelfAttackError)) || errors.As(err, new(*app.WallError)) {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return &failure{err}
}
