// Package conformance finds out whether a server keeps to revision 2026-07-28
// of the Model Context Protocol, by talking to it.
//
// # How to start
//
//	target := conformance.HTTP("http://127.0.0.1:8080/mcp", conformance.HTTPOptions{})
//	report, err := conformance.Run(ctx, target, conformance.Options{})
//	report.Text(os.Stdout)
//
// [InProcess] takes a server of the same program, [Stdio] one that is started
// as a process.
//
// # What it promises
//
//   - Nothing is shared with any server of this module: constants, JSON-RPC and
//     HTTP are read and written here a second time, so that a wrong number
//     cannot agree with itself.
//   - A check says "ok" only about what it has seen. What a server does not
//     offer is "skip", with the reason.
//   - Verdicts do not depend on time: a run over the same server gives the same
//     ones, as long as it says the same. Only a server that does not answer is
//     waited for.
//   - A hostile server costs a bounded amount of time and memory: answers end
//     at [MaxAnswer] bytes, what a run keeps at a budget, work on a schema at a
//     number of steps, every exchange at a timeout, the run at [Options].Limit;
//     redirects are not followed.
//   - Tools are called only if they say that they are read-only, or if the
//     caller names them.
//
// # Limits
//
//   - What cannot be seen from outside is not checked: what a server logs,
//     whether work behind a cancelled request has stopped, how it validates
//     tokens.
//   - Schemas of tools are judged by a subset of JSON Schema 2020-12: enough for
//     type, required, enumerations, bounds, composition and local references.
//   - Where the specification contradicts itself both readings pass.
package conformance
