// Package stages is the server as eight stages of one line: parse, negotiate, validate, execute, scan, assemble, redact,
// report. It knows JSON-RPC and MCP, and no transport.
//
// # How to start
//
//	s, err := stages.New(stages.Options{Tools: tools.All(), Env: env, Server: stages.Server{Name: "mcp-devserver", Version: v}})
//	err = s.Line().Submit(ctx, pipeline.Inbound{Raw: message}, sink)
//	err = s.Line().Close(ctx)
//
// # What it promises
//
//   - Requests are independent: no answer depends on what came before or runs beside it, but for nonces and the rate.
//   - What cannot be served because it is malformed is a JSON-RPC error; what is refused for a reason that a caller can act
//     on is a result with isError and a remedy.
//   - Text that the server did not write reaches an answer through one table, which is scanned raw and redacted once, before
//     either half is encoded. Ids and progress tokens alone are echoed as they came.
//   - An unexpected failure answers -32603 with a reference; its cause goes to [Options].Observe and nowhere else.
//   - A schema with a keyword that is not enforced stops [New].
//
// # Limits
//
// A subscription is acknowledged as empty and ended at once, since nothing here ever changes. Progress is sent only to those
// who ask for it: when their call begins to run, when its tool first reports, and from then on a few times a second. Cursors
// are not secret.
package stages
