package conformance

// What the specification fixes, written down once more: this package must not
// learn it from the server that it judges.
const (
	revision = "2026-07-28"

	keyVersion      = "io.modelcontextprotocol/protocolVersion"
	keyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyClientInfo   = "io.modelcontextprotocol/clientInfo"
	keyLogLevel     = "io.modelcontextprotocol/logLevel"
	keyServerInfo   = "io.modelcontextprotocol/serverInfo"
	keySubscription = "io.modelcontextprotocol/subscriptionId"

	codeParse         = -32700
	codeRequest       = -32600
	codeMethod        = -32601
	codeParams        = -32602
	codeInternal      = -32603
	codeHeader        = -32020
	codeCapability    = -32021
	codeVersion       = -32022
	codeOldResource   = -32002
	codeOldElicit     = -32042
	legacyFirst       = -32019 // of the range that is closed to new codes
	legacyLast        = -32000
	reservedFirst     = -32099 // of the range that belongs to the specification
	reservedLast      = -32020
	jsonrpcFirst      = -32768
	methodDiscover    = "server/discover"
	methodList        = "tools/list"
	methodCall        = "tools/call"
	methodListen      = "subscriptions/listen"
	methodInitialize  = "initialize"
	noteCancelled     = "notifications/cancelled"
	noteProgress      = "notifications/progress"
	noteMessage       = "notifications/message"
	noteAcknowledged  = "notifications/subscriptions/acknowledged"
	noteToolsChanged  = "notifications/tools/list_changed"
	headerVersion     = "MCP-Protocol-Version"
	headerMethod      = "Mcp-Method"
	headerName        = "Mcp-Name"
	headerParam       = "Mcp-Param-"
	encodedPrefix     = "=?base64?"
	encodedSuffix     = "?="
	resultComplete    = "complete"
	resultInput       = "input_required"
	annotationHeader  = "x-mcp-header"
	dialect           = "https://json-schema.org/draft/2020-12/schema"
	maxSafe           = 1<<53 - 1
	legacyRevision    = "2025-11-25" // the last one with a handshake
	headerlessVersion = "2025-03-26" // a request without the version header may be of this one
)

// logLevels are the eight that exist.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// unadvertised maps a capability to a request that a server without it does
// not know.
var unadvertised = []struct{ capability, method, params string }{
	{"prompts", "prompts/list", ""},
	{"resources", "resources/list", ""},
	{"resources", "resources/read", `"uri":"conformance:///nothing"`},
	{"completions", "completion/complete", `"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"a","value":"b"}`},
}

// removed are methods of earlier revisions that no longer exist.
var removed = []struct{ method, params string }{
	{"ping", ""},
	{"logging/setLevel", `"level":"info"`},
	{"resources/subscribe", `"uri":"conformance:///nothing"`},
	{"resources/unsubscribe", `"uri":"conformance:///nothing"`},
	{methodInitialize, `"protocolVersion":"` + legacyRevision + `","capabilities":{}`},
}
