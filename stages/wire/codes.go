package wire

import "strings"

// Code is a JSON-RPC error code.
type Code int

// The codes that this revision defines and this server may send. -32002 and -32042 of earlier revisions are withdrawn,
// the rest of -32000…-32099 is not ours to use.
const (
	ParseError                 Code = -32700
	InvalidRequest             Code = -32600
	MethodNotFound             Code = -32601
	InvalidParams              Code = -32602
	InternalError              Code = -32603
	HeaderMismatch             Code = -32020
	MissingClientCapability    Code = -32021
	UnsupportedProtocolVersion Code = -32022
)

// Fault names one reason for which a request ends in a JSON-RPC error. Several faults share a code: the HTTP status of
// InvalidParams depends on whether the envelope was accepted before the fault was found.
type Fault uint8

// One constant per row of [Faults].
const (
	FaultParse Fault = iota
	FaultRequest
	FaultEnvelope
	FaultHeader
	FaultVersion
	FaultCapability
	FaultMethod
	FaultParams
	FaultTool
	FaultArguments
	FaultInternal
)

// FaultInfo is one row of the error table.
type FaultInfo struct {
	Fault   Fault
	Code    Code
	Name    string // stable, for logs and metrics
	Status  int    // HTTP status of the answer; stdio has none
	Section string // page and section of the specification that asks for the code
	Example string // a message as it may appear
}

var faults = [...]FaultInfo{
	{FaultParse, ParseError, "parse_error", 400, "basic/index, Error Codes",
		"Parse error: the message is not valid UTF-8 JSON"},
	{FaultRequest, InvalidRequest, "invalid_request", 400, "basic/index, Error Codes",
		"Invalid request: batches are not part of this protocol revision"},
	{FaultEnvelope, InvalidParams, "invalid_envelope", 400, "basic/index, Per-Request Protocol Fields",
		"Invalid params: _meta lacks io.modelcontextprotocol/clientCapabilities"},
	{FaultHeader, HeaderMismatch, "header_mismatch", 400, "basic/transports/streamable-http, Server Validation",
		"Header mismatch: Mcp-Method is missing"},
	{FaultVersion, UnsupportedProtocolVersion, "unsupported_version", 400, "basic/versioning, Protocol Version Negotiation",
		"Unsupported protocol version"},
	{FaultCapability, MissingClientCapability, "missing_capability", 400, "basic/index, Per-Request Protocol Fields",
		"The request needs a client capability that it does not declare"},
	{FaultMethod, MethodNotFound, "method_not_found", 404, "basic/transports/streamable-http, Protocol Version Header",
		"Method not found: prompts/list"},
	{FaultParams, InvalidParams, "invalid_params", 200, "basic/index, Error Codes",
		"Invalid params: cursor is not one of this server"},
	{FaultTool, InvalidParams, "unknown_tool", 200, "server/tools, Error Handling",
		"Unknown tool: write_file"},
	{FaultArguments, InvalidParams, "invalid_arguments", 200, "schema, InvalidParamsError",
		`Invalid arguments for read_file: "path" is required.`},
	{FaultInternal, InternalError, "internal_error", 200, "basic/index, Error Codes",
		"Internal error"},
}

// Faults returns the error table in order.
func Faults() []FaultInfo { return append([]FaultInfo(nil), faults[:]...) }

// Info returns the row of f.
func (f Fault) Info() FaultInfo { return faults[f] }

// Code returns the JSON-RPC code of f.
func (f Fault) Code() Code { return faults[f].Code }

// Status returns the HTTP status of f.
func (f Fault) Status() int { return faults[f].Status }

// String returns the stable name of f.
func (f Fault) String() string { return faults[f].Name }

// Caller is text that came with the request and is echoed in an answer. Whoever writes the answer treats it as untrusted:
// bounded, escaped, redacted.
type Caller string

// Member is one member of the data object of an [Error].
//
// Value is one of: string (ours), [Caller], int, bool, []string (ours), [Object], []Object.
type Member struct {
	Name  string
	Value any
}

// Object is a JSON object with its members in order.
type Object []Member

// Error is a refusal that leaves as a JSON-RPC error. The message is the concatenation of its pieces, which are our words
// (string) or the caller's ([Caller]).
type Error struct {
	Fault  Fault
	Pieces []any
	Data   Object
}

// Refuse makes an [Error] with the message that the pieces (string or [Caller]) spell.
func Refuse(f Fault, pieces ...any) *Error { return &Error{Fault: f, Pieces: pieces} }

// With appends a member to the data object and returns e.
func (e *Error) With(name string, value any) *Error {
	e.Data = append(e.Data, Member{name, value})
	return e
}

// Error returns the code and our own words; text of the caller is shown as an ellipsis, so that it never enters a log.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Fault.String())
	b.WriteString(": ")
	for _, p := range e.Pieces {
		if s, ok := p.(string); ok {
			b.WriteString(s)
		} else {
			b.WriteString("…")
		}
	}
	return b.String()
}
