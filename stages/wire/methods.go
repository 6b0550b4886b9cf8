package wire

// Revision is the one protocol revision that is served.
const Revision = "2026-07-28"

// Served returns the revisions that are served, newest first.
func Served() []string { return []string{Revision} }

// Methods a client may call.
const (
	MethodDiscover = "server/discover"
	MethodList     = "tools/list"
	MethodCall     = "tools/call"
	MethodListen   = "subscriptions/listen"
)

// MethodInitialize opened a session in earlier revisions. It is known only to be refused with words that help.
const MethodInitialize = "initialize"

// Notifications: the first comes from clients, the others are ours.
const (
	NoteCancelled    = "notifications/cancelled"
	NoteProgress     = "notifications/progress"
	NoteAcknowledged = "notifications/subscriptions/acknowledged"
)

// Methods returns the methods that are served.
func Methods() []string { return []string{MethodDiscover, MethodList, MethodCall, MethodListen} }

// Headers that mirror the body of a request over HTTP, in the spelling of the specification.
const (
	HeaderVersion = "MCP-Protocol-Version"
	HeaderMethod  = "Mcp-Method"
	HeaderName    = "Mcp-Name"
)

// HeaderKey returns the canonical spelling under which a transport keeps a header of the three.
func HeaderKey(header string) string {
	if header == HeaderVersion {
		return "Mcp-Protocol-Version"
	}
	return header
}

// ResultComplete is the only value of resultType that this server sends.
const ResultComplete = "complete"

// Values of cacheScope.
const (
	ScopePublic  = "public"
	ScopePrivate = "private"
)

// InitializeMessage answers a client of an earlier revision. Most clients show nothing but the message, so it names the
// revision and a way out.
const InitializeMessage = "This server speaks only MCP " + Revision + " and has no initialize handshake. Use a newer client, or a bridge: " +
	"mcp-remote --protocol auto, or mcp-proxy --upstreamProtocol auto."

// LogLevel reports whether s is one of the eight levels of RFC 5424 in the spelling of the specification.
func LogLevel(s string) bool {
	switch s {
	case "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency":
		return true
	}
	return false
}
