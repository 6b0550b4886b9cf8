// Package app puts a server together from its settings.
//
// # How to start
//
// [Load] reads the settings, [Check] says what stands against starting, [New]
// builds the workspace, the tools and the line of stages, [App.Confine] raises
// the kernel's wall. [App.ServeStdio] and [App.ServeHTTP] add a transport;
// [App.Call] asks one tool in process.
//
// # What it promises
//
//   - Every setting is one row of one table, with a default and a ceiling; an
//     unknown key in our sections is refused with the nearest name.
//   - All problems are reported at once, one line each, without any secret.
//   - Nothing is served before the checks passed, and what has to be opened
//     (listeners, secrets, time zone, workspace) is opened before the process
//     is confined, which comes before anything is served.
//   - Logs carry names, lengths, codes and counts, never a value of a request
//     or of an answer.
//
// # Limits
//
// The wall that the kernel keeps needs Linux 6.2 with Landlock, on amd64 or
// arm64, to be whole; what stands of it elsewhere, doctor and /readyz say.
// Confining is for good: a process that did it can run no other program than
// git and itself, open no listener and write no file, a coverage profile
// included.
package app

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"mcp-devserver/cmd/internal/metrics"
	"mcp-devserver/pipeline"
	"mcp-devserver/sandbox"
	"mcp-devserver/stages"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

// Name is how the server names itself.
const Name = "mcp-devserver"

// Build identifies the program.
type Build struct{ Version, Commit string }

// App is a server without a transport. It is safe for concurrent use.
type App struct {
	config *Config
	build  Build
	log    zerolog.Logger
	ws     *sandbox.Workspace
	stages *stages.Stages
	env    *tools.Env
	// attacking keeps the server's attacks on itself out of the log and the counts.
	attacking atomic.Bool
	fullSince atomic.Int64     // Unix nanoseconds; 0 while the pool has room
	metrics   *metrics.Metrics // nil when they are off
	git       string           // the program that is run; "" when there is none
	wall      sandbox.Wall
}

// memoryBytes bounds the files, blobs and diffs in flight.
const memoryBytes = 48 << 20

// New builds a server over a configuration that Check did not refuse.
// transport names where requests come from, for the log.
func New(c *Config, b Build, log zerolog.Logger, transport string) (*App, error) {
	ws, err := sandbox.Open(c.Workspace, sandbox.Options{Deny: c.Deny, MaxPathBytes: int(c.MaxPathBytes), CrossMounts: c.CrossMounts})
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	a := &App{config: c, build: b, log: log, ws: ws}
	reports := []func(*stages.Report){audit(log, transport)}
	if c.MetricsEnabled {
		a.metrics = metrics.New(metrics.Build{Version: b.Version, Revision: wire.Revision}, func() (int, int) { return a.stages.Load() }, int(c.Workers))
		reports = append(reports, a.metrics.Report(transport))
	}
	e := env(c, ws)
	a.env = e
	a.git = e.Git.Binary
	a.stages, err = stages.New(stages.Options{
		Tools:        tools.All(),
		Env:          e,
		Server:       stages.Server{Name: Name, Version: b.Version, Title: "MCP Developer Server"},
		Workers:      int(c.Workers),
		Queue:        int(c.Queue),
		CallTimeout:  c.CallTimeout,
		Read:         wire.Limits{Bytes: int(c.RequestBytes), Depth: int(c.JSONDepth)},
		Rate:         ratelimit(c),
		Unstructured: !c.Structured,
		NoScan:       !c.Scan,
		NoRedact:     !c.Redact,
		Timing:       c.ServerTiming && transport == "http",
		Report: func(r *stages.Report) {
			if a.attacking.Load() {
				return
			}
			for _, report := range reports {
				report(r)
			}
		},
	})
	if err != nil {
		ws.Close()
		return nil, err
	}
	return a, nil
}

func ratelimit(c *Config) stages.Rate {
	if !c.RateLimit {
		return stages.Rate{}
	}
	return stages.Rate{PerSecond: float64(c.RatePerSecond), Burst: int(c.RateBurst)}
}

func env(c *Config, ws *sandbox.Workspace) *tools.Env {
	l := tools.DefaultLimits()
	l.MaxChars = int(c.MaxChars)
	l.ReadMaxLines = int(c.ReadMaxLines)
	l.ReadMaxLineChars = int(c.ReadMaxLineChars)
	l.MaxFileBytes = c.MaxFileBytes
	l.UnrangedBytes = min(l.UnrangedBytes, c.MaxFileBytes)
	l.ListMaxEntries = int(c.ListMaxEntries)
	l.WalkMaxEntries = int(c.MaxWalkEntries)
	l.WalkMaxDepth = int(c.MaxDepth)
	l.SearchMaxMatches = int(c.SearchMaxMatches)
	l.SearchFileBytes = c.SearchMaxFileBytes
	l.PatternChars = int(c.MaxPatternChars)
	l.MatchTimeout = c.MatchTimeout
	l.SearchDeadline = c.SearchDeadline
	l.NoRegexGuard = !c.RegexGuard
	l.SymbolResults = int(c.SymbolMaxResults)
	g := tools.GitOptions{
		Enabled: c.GitEnabled, Timeout: c.GitTimeout, MaxCommits: int(c.GitMaxCommits), MaxOutputBytes: c.GitMaxOutput,
		ShowEmail: c.GitShowEmail, AllowExternal: c.GitAllowExternal,
	}
	if c.GitEnabled {
		if f := findGit(c.GitBinary); !f.script {
			g.Binary = f.path
		}
	}
	e := &tools.Env{
		Workspace: ws, Limits: l, Git: g, Gitignore: c.RespectGitignore,
		Memory: tools.NewMemory(memoryBytes, time.Second),
	}
	if g.Binary != "" {
		_ = e.StartGit() // what is wrong with the program, the settings have said; the tools answer git_unavailable
	}
	return e
}

// Close ends the server: what is in flight is answered until ctx ends, then
// cancelled.
func (a *App) Close(ctx context.Context) error {
	return errors.Join(a.stages.Line().Close(ctx), a.ws.Close())
}

// ToolsHash identifies the published tools.
func (a *App) ToolsHash() string { return a.stages.ToolsHash() }

// Ask sends one JSON-RPC message through the line, in process. The answer is
// nil for a notification. It takes nothing from the rate of a client.
func (a *App) Ask(ctx context.Context, message []byte) ([]byte, error) {
	s, ok, err := a.stages.Line().Call(ctx, pipeline.Inbound{Raw: message, Client: "in process"})
	if err != nil || !ok {
		return nil, err
	}
	return s.Bytes(), nil
}

// Bounds of the runtime's memory. Collecting at three times what is alive costs a
// line of reads a hundredth or two more than at five times, at which searches of a
// tree of 78,000 files took 138 MiB of memory instead of 108. Near the limit the
// collector works as hard as it must.
const (
	gcPercent   = 200
	memoryLimit = 512 << 20
)

// Tune sets the process up for the line: a quick request must find a processor
// while every worker is busy.
func Tune(c *Config) {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + int(c.Workers))
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
}
