// Package wire holds everything that MCP revision 2026-07-28 fixes about the bytes: the revision string, method and
// header names, _meta keys, error codes with their HTTP statuses, the grammar of ids, and the strict reading of a message.
// A change of revision is a change of this package.
//
// # How to start
//
//	msg, err := wire.Decode(raw, wire.Limits{Bytes: 1 << 20, Depth: 32})
//
// Decode tells requests from notifications and refuses everything else with a *[Error] whose [Fault] names a row of the
// table in [Faults]. Members of an object are visited with [Members], which compares names exactly as they were sent.
//
// # What it promises
//
// What Decode accepts is one JSON object that every correct reader understands in the same way: UTF-8, no lone surrogate,
// no name twice in any object, exact case, bounded depth and size. Ids and progress tokens are kept as the token that
// was sent, so that they can be echoed byte for byte.
//
// # Limits
//
// The package knows no tool, no schema and no transport. It never quotes what it read: text of a caller appears in an
// [Error] only as [Caller], which the stage that writes the message puts under redaction.
package wire
