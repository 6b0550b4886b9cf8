package wire

import (
	"bytes"
	"strings"
)

// _meta keys that this revision defines under a reserved prefix.
const (
	KeyVersion        = "io.modelcontextprotocol/protocolVersion"
	KeyCapabilities   = "io.modelcontextprotocol/clientCapabilities"
	KeyClientInfo     = "io.modelcontextprotocol/clientInfo"
	KeyLogLevel       = "io.modelcontextprotocol/logLevel"
	KeyServerInfo     = "io.modelcontextprotocol/serverInfo"
	KeySubscriptionID = "io.modelcontextprotocol/subscriptionId"
)

// _meta keys without a prefix.
const (
	KeyProgressToken = "progressToken"
	KeyTraceParent   = "traceparent"
)

// Defined reports whether key is one of the six that this revision defines under its reserved prefix.
func Defined(key string) bool {
	switch key {
	case KeyVersion, KeyCapabilities, KeyClientInfo, KeyLogLevel, KeyServerInfo, KeySubscriptionID:
		return true
	}
	return false
}

// Reserved reports whether the prefix of a _meta key belongs to the protocol: its second label is mcp or modelcontextprotocol.
// "mcp/x" has one label only and "com.example.mcp/x" has another second one: neither is reserved.
func Reserved(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	_, rest, ok := strings.Cut(prefix, ".")
	if !ok {
		return false
	}
	second, _, _ := strings.Cut(rest, ".")
	return second == "mcp" || second == "modelcontextprotocol"
}

// OwnPrefix is the prefix under which declared extensions of the protocol put their keys.
const OwnPrefix = "io.modelcontextprotocol/"

// Meta is what a request says about itself. Raw members are parts of the message, nil when absent.
type Meta struct {
	Version       []byte // raw
	Capabilities  []byte // raw
	Extensions    bool   // the capabilities declare at least one extension
	ProgressToken []byte // raw
	LogLevel      []byte // raw
	Client        string // name of the client, for logs only: at most 64 printable ASCII characters, "" when there is none
	TraceID       string // trace id of a well-formed traceparent, "" otherwise
	Foreign       string // first reserved key that this revision does not define, "" when there is none
	Outside       string // the same, keys directly under [OwnPrefix] not counted: declared extensions may use those
}

// DecodeMeta reads the value of params._meta; ok is false when it is not an object. It judges nothing else: the order of the
// checks belongs to the stage that negotiates.
func DecodeMeta(raw []byte) (m Meta, ok bool) {
	ok, _ = Members(raw, func(name, value []byte) error {
		switch string(name) {
		case KeyVersion:
			m.Version = value
		case KeyCapabilities:
			m.Capabilities = value
			m.Extensions = extensions(value)
		case KeyClientInfo:
			m.Client = ClientName(value)
		case KeyLogLevel:
			m.LogLevel = value
		case KeyProgressToken:
			m.ProgressToken = value
		case KeyTraceParent:
			if s, ok := String(value); ok {
				m.TraceID = traceID(s)
			}
		default:
			if bytes.IndexByte(name, '/') < 0 {
				return nil
			}
			key := string(name)
			if !Reserved(key) || Defined(key) {
				return nil
			}
			if m.Foreign == "" {
				m.Foreign = key
			}
			if m.Outside == "" && !strings.HasPrefix(key, OwnPrefix) {
				m.Outside = key
			}
		}
		return nil
	})
	return m, ok
}

// extensions reports whether capabilities hold a non-empty object named extensions.
func extensions(capabilities []byte) (any bool) {
	_, _ = Members(capabilities, func(name, value []byte) error {
		if string(name) == "extensions" {
			_, _ = Members(value, func(_, _ []byte) error { any = true; return nil })
		}
		return nil
	})
	return any
}

// ClientName returns the name in clientInfo if it may stand in a log line.
func ClientName(raw []byte) (name string) {
	_, _ = Members(raw, func(n, value []byte) error {
		if string(n) != "name" {
			return nil
		}
		s, ok := String(value)
		if !ok || len(s) > 64 {
			return nil
		}
		for i := 0; i < len(s); i++ {
			if s[i] < 0x20 || s[i] > 0x7e {
				return nil
			}
		}
		name = s
		return nil
	})
	return name
}

// traceID returns the trace id of a W3C traceparent (version-traceid-parentid-flags), "" when s is not one.
func traceID(s string) string {
	if len(s) < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" || len(s) > 55 && s[:2] == "00" {
		return ""
	}
	id := s[3:35]
	if !lowerHex(s[:2]) || !lowerHex(id) || !lowerHex(s[36:52]) || !lowerHex(s[53:55]) || strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

func lowerHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
