package app

import (
	"io"
	"strings"

	"github.com/rs/zerolog"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/stages"
)

// Logger writes JSON lines, for stderr; never to stdout, which belongs to the
// protocol. level is a value of MCP_LOG__LEVEL.
func Logger(w io.Writer, level string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger()
}

// Clean makes foreign text, such as the cause of a failure, fit for a log: it
// meets the redaction rules and stays on one line.
func Clean(s string) string {
	clean, _ := secrets.Redact(secrets.ScanName(strings.ToValidUTF8(s, "\uFFFD")), false, &secrets.Report{})
	return sandbox.EscapeName(clean)
}

// audit writes one line for every message: names, lengths, codes and counts,
// never a value.
func audit(log zerolog.Logger, transport string) func(*stages.Report) {
	return func(r *stages.Report) {
		if r.Cause != nil {
			log.Error().Str("transport", transport).Str("reference", r.Reference).Str("cause", Clean(r.Cause.Error())).Msg("internal error")
		}
		if r.Legacy {
			log.Warn().Str("transport", transport).Str("client", Clean(r.Client)).
				Msg("a client asked for the handshake of an earlier MCP revision; this server speaks only 2026-07-28")
		}
		level := zerolog.InfoLevel
		if r.Tool == "" {
			level = zerolog.DebugLevel
		}
		e := log.WithLevel(level)
		if log.GetLevel() > level {
			return
		}
		e.Str("transport", transport).Str("method", r.Method).Str("outcome", r.Outcome).Dur("took", r.Total).Int("bytes", r.Bytes)
		if r.Tool != "" {
			args := zerolog.Dict()
			for _, a := range r.Args {
				args.Int(a.Name, a.Length)
			}
			e.Str("tool", r.Tool).Dict("arguments", args)
			if r.Unknown > 0 {
				e.Int("unknown_arguments", r.Unknown)
			}
		}
		text := func(key, v string) {
			if v != "" {
				e.Str(key, v)
			}
		}
		text("fault", r.Fault)
		text("denial", r.Denial)
		text("stopped", r.Stopped)
		text("client", Clean(r.Client))
		text("trace_id", r.TraceID)
		text("reference", r.Reference)
		if r.Cancelled > 0 {
			e.Int("cancelled", r.Cancelled).Str("reason", Clean(r.Reason))
		}
		counts(e, "redactions", r.Redactions)
		counts(e, "signals", r.Signals)
		if r.Late > 0 {
			e.Int("late_redactions", r.Late)
		}
		if log.GetLevel() <= zerolog.DebugLevel {
			times := zerolog.Dict()
			for _, s := range r.Stages {
				times.Dur(s.Stage, s.Took)
			}
			e.Dict("stages", times).Dur("wait", r.Wait)
		}
		e.Msg("request")
	}
}

func counts(e *zerolog.Event, key string, list []stages.Count) {
	if len(list) == 0 {
		return
	}
	d := zerolog.Dict()
	for _, c := range list {
		d.Int(c.Name, c.Count)
	}
	e.Dict(key, d)
}
