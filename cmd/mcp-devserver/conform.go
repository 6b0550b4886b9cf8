package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
	"mcp-devserver/conformance"
)

// conformFlags are the flags of conform.
type conformFlags struct {
	stdio, http, token, format, explain string
	headers, only, call                 []string
	strict, list                        bool
	timeout                             time.Duration
}

func (c *command) conform() *cobra.Command {
	var f conformFlags
	cmd := &cobra.Command{
		Use:   "conform",
		Short: "Check a server against the protocol's revision",
		Long: "conform checks a server against revision 2026-07-28 of the Model Context\nProtocol: the server that serve would start, in process, or any other over stdio\nor HTTP. " +
			"It calls only tools that say they are read-only, and those named by --call.\n\n" +
			"Exit codes: 0 conformant; 1 not conformant; 2 could not run.",
		Example: `  mcp-devserver --workspace . conform
  mcp-devserver conform --stdio "mcp-devserver --workspace . serve"
  mcp-devserver conform --http http://127.0.0.1:8080/mcp --strict
  mcp-devserver conform --http http://127.0.0.1:8080/mcp --explain C017`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return c.runConform(ctx, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.stdio, "stdio", "", `command that starts a server on stdin and stdout: "CMD ARGS"`)
	flags.StringVar(&f.http, "http", "", "address of a server's endpoint")
	flags.StringArrayVar(&f.headers, "header", nil, `further header of every HTTP request, "Name: value"; repeatable`)
	flags.StringVar(&f.token, "token", "", "bearer token of every HTTP request")
	flags.BoolVar(&f.strict, "strict", false, "a SHOULD that does not hold is a failure")
	flags.StringSliceVar(&f.only, "only", nil, "run these checks only: C001,C017")
	flags.StringVar(&f.explain, "explain", "", "run one check and show what was sent and what came back")
	flags.BoolVar(&f.list, "list", false, "list the checks and run none")
	flags.StringSliceVar(&f.call, "call", nil, "also call these tools, which do not say that they are read-only; * means all")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Second, "time for one answer; the first one gets 30s if that is more, the whole run 24 times as much")
	flags.StringVar(&f.format, "format", "text", "text, json, junit or html")
	return cmd
}

func (c *command) runConform(ctx context.Context, f *conformFlags) error {
	if f.list {
		for _, i := range conformance.Checks() {
			fmt.Fprintf(c.stdout, "%s  %-8s  %-23s  %-11s  %s\n", i.ID, "["+i.Level+"]", i.On, i.Requirement, i.Title)
		}
		return nil
	}
	write := map[string]func(*conformance.Report, io.Writer) error{
		"text": (*conformance.Report).Text, "json": (*conformance.Report).JSON,
		"junit": (*conformance.Report).JUnit, "html": (*conformance.Report).HTML,
	}[f.format]
	switch {
	case write == nil:
		return fmt.Errorf("%w: --format takes text, json, junit or html", errUsage)
	case f.stdio != "" && f.http != "":
		return fmt.Errorf("%w: --stdio and --http exclude each other", errUsage)
	case f.http == "" && (f.token != "" || len(f.headers) > 0):
		return fmt.Errorf("%w: --token and --header need --http", errUsage)
	case f.timeout < 100*time.Millisecond || f.timeout > 10*time.Minute:
		return fmt.Errorf("%w: --timeout takes 100ms to 10m", errUsage)
	}
	if f.explain != "" && f.format != "text" {
		return fmt.Errorf("%w: --explain writes text", errUsage)
	}
	if f.explain != "" {
		f.only = []string{f.explain}
		write = (*conformance.Report).Explain
	}
	target, closeTarget, err := c.target(ctx, f)
	if err != nil {
		return err
	}
	defer closeTarget()
	o := conformance.Options{Timeout: f.timeout, Strict: f.strict, Only: f.only, Call: f.call}
	if isTerminal(c.stderr) {
		fmt.Fprint(c.stderr, "waiting for the server's first answer")
		defer fmt.Fprint(c.stderr, "\r\x1b[K")
		o.Progress = func(done, total int, r conformance.Result) {
			fmt.Fprintf(c.stderr, "\r\x1b[K%d/%d %s", done, total, r.ID)
			if done == total {
				fmt.Fprint(c.stderr, "\r\x1b[K")
			}
		}
	}
	report, err := conformance.Run(ctx, target, o)
	if err != nil {
		return couldNotRun(err)
	}
	if report.Legacy != "" && f.explain != "" {
		write = (*conformance.Report).Text
	}
	if err := write(report, c.stdout); err != nil {
		return couldNotRun(err)
	}
	if !report.Conformant() {
		return exitError(exitDenied)
	}
	return nil
}

// couldNotRun is the third outcome: there is no verdict.
func couldNotRun(err error) error { return fmt.Errorf("%w: %w", errNoVerdict, err) }

// target builds the server to check.
func (c *command) target(ctx context.Context, f *conformFlags) (*conformance.Target, func(), error) {
	nothing := func() {}
	switch {
	case f.http != "":
		t, err := conformance.HTTP(f.http, conformance.HTTPOptions{Header: f.headers, Token: f.token})
		if err != nil {
			return nil, nil, fmt.Errorf("%w: --http, --header: %w", errUsage, err)
		}
		return t, nothing, nil
	case f.stdio != "":
		argv, err := conformance.Split(f.stdio)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: --stdio: %w", errUsage, err)
		}
		return conformance.Stdio(strings.Join(argv, " "), conformance.Command(argv)), nothing, nil
	}
	cfg, err := c.config(nil, false, false)
	if err != nil {
		var code exitError
		if errors.As(err, &code) { // the reasons were said
			return nil, nil, exitError(exitUsage)
		}
		return nil, nil, err
	}
	app.Tune(cfg)
	a, err := app.New(cfg, build(), app.Logger(c.stderr, "error"), "in process")
	if err != nil {
		return nil, nil, couldNotRun(err)
	}
	return conformance.InProcess("mcp-devserver "+version, func() conformance.Conversation { return a.Dial() }),
		func() { a.Close(context.WithoutCancel(ctx)) }, nil
}
