package stages

import (
	"strings"
	"testing"

	"mcp-devserver/pipeline"
	"mcp-devserver/stages/wire"
)

// vector is one message and what must come back. Rows name the requirements they pin.
type vector struct {
	ids    string
	trick  string
	in     string
	mirror pipeline.Mirror // nil: a transport without headers
	id     string          // expected raw id; "" is no member
	code   int             // expected code; 0 is a result
	status int
	says   string // part of the message, of the data as JSON, or of the result as JSON
}

const silence = 1 // code of a vector without any answer

func meta(members string) string {
	return `{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":{` + members + `}}}`
}

var (
	pvOf    = func(v string) string { return `"io.modelcontextprotocol/protocolVersion":` + v }
	ccOf    = func(v string) string { return `"io.modelcontextprotocol/clientCapabilities":` + v }
	legacy  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	disco   = req("1", "server/discover", "")
	listing = req("1", "tools/list", "")
	first   = req("1", "tools/call", `,"name":"first"`)
)

var vectors = []vector{
	// Base messages.
	{"R-BASE-01", "wrong jsonrpc", strings.Replace(disco, `"2.0"`, `"1.0"`, 1), nil, "1", -32600, 400, ""},
	{"R-BASE-02", "byte that is not UTF-8", strings.Replace(disco, `{}`, "{\"x\":\"\xff\"}", 1), nil, "", -32700, 400, ""},
	{"R-BASE-02", "lone surrogate", strings.Replace(disco, `{}`, `{"x":"\ud800"}`, 1), nil, "", -32700, 400, ""},
	{"R-BASE-04 R-BASE-15", "id null", req("null", "server/discover", ""), nil, "", -32600, 400, ""},
	{"R-BASE-04 R-BASE-15", "id with a fraction", req("1.5", "server/discover", ""), nil, "", -32600, 400, ""},
	{"R-BASE-04 R-BASE-15", "id true", req("true", "server/discover", ""), nil, "", -32600, 400, ""},
	{"R-BASE-04 R-BASE-15", "id array", req("[]", "server/discover", ""), nil, "", -32600, 400, ""},
	{"R-BASE-06", "id 0", req("0", "server/discover", ""), nil, "0", 0, 200, ""},
	{"R-BASE-06", "id negative", req("-5", "server/discover", ""), nil, "-5", 0, 200, ""},
	{"R-BASE-06", "id as string 0", req(`"0"`, "server/discover", ""), nil, `"0"`, 0, 200, ""},
	{"R-BASE-06", "id empty", req(`""`, "server/discover", ""), nil, `""`, 0, 200, ""},
	{"R-BASE-06", "id beyond a double", req("9007199254740993", "server/discover", ""), nil, "9007199254740993", 0, 200, ""},
	{"R-BASE-06", "id with escapes", req(`"ünï\u00fc"`, "server/discover", ""), nil, `"ünï\u00fc"`, 0, 200, ""},
	{"R-BASE-06", "id that looks like a secret", req(`"ghp_0123456789abcdefghijABCDEFGHIJ012345"`, "tools/list", ""), nil, `"ghp_0123456789abcdefghijABCDEFGHIJ012345"`, 0, 200, ""},
	{"R-BASE-10", "id of a refused request", strings.Replace(req(`"a"`, "server/discover", ""), cc, `"x":1`, 1), nil, `"a"`, -32602, 400, ""},
	{"R-BASE-10 R-BASE-14", "half a message", `{"jsonrpc":`, nil, "", -32700, 400, ""},
	{"R-BASE-15", "scalar", `42`, nil, "", -32600, 400, ""},
	{"R-BASE-15", "no method", `{"jsonrpc":"2.0","id":1}`, nil, "1", -32600, 400, ""},
	{"R-BASE-15", "method as a number", `{"jsonrpc":"2.0","id":7,"method":5}`, nil, "7", -32600, 400, ""},
	{"R-BASE-15", "no jsonrpc", `{"id":99,"method":"x"}`, nil, "99", -32600, 400, ""},
	{"R-BASE-16 R-HTTP-20", "unknown method", req("10", "foo/bar", ""), mirror("foo/bar", ""), "10", -32601, 404, "Method not found: foo/bar"},
	{"R-BASE-16", "prompts/list", req("10", "prompts/list", ""), nil, "10", -32601, 404, ""},
	{"R-BASE-16", "resources/list", req("10", "resources/list", ""), nil, "10", -32601, 404, ""},
	{"R-BASE-16", "resources/read", req("10", "resources/read", `,"uri":"file:///x"`), nil, "10", -32601, 404, ""},
	{"R-BASE-16", "completion/complete", req("10", "completion/complete", ""), nil, "10", -32601, 404, ""},
	{"R-BASE-16 B-39", "tasks/get with a name header", req("10", "tasks/get", ""), mirror("tasks/get", "task-1"), "10", -32601, 404, ""},
	{"R-BASE-16", "methods are case-sensitive", req("10", "Server/Discover", ""), nil, "10", -32601, 404, ""},
	{"R-BASE-24", "unknown notification", `{"jsonrpc":"2.0","method":"notifications/xyz"}`, nil, "", silence, 0, ""},
	{"R-BASE-24", "initialized of earlier revisions", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, "", silence, 0, ""},
	{"R-BASE-24 R-HTTP-06", "notification over HTTP", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, pipeline.Mirror{}, "", silence, 0, ""},
	{"R-HTTP-07 B-11", "notification under another revision", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, mirror("notifications/cancelled", "", "Mcp-Protocol-Version: 1999-01-01"), "", -32022, 400, `"requested":"1999-01-01"`},
	{"B-11", "notification whose header lies", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, mirror("tools/call", ""), "", -32020, 400, "Mcp-Method"},
	{"R-BASE-27", "response", `{"jsonrpc":"2.0","id":5,"result":{}}`, nil, "", -32600, 400, ""},
	{"R-BASE-27", "error response", `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`, nil, "", -32600, 400, ""},
	{"R-BASE-28", "batch", `[` + disco + `]`, nil, "", -32600, 400, "batches"},
	{"R-BASE-28", "empty batch", `[]`, nil, "", -32600, 400, "batches"},
	{"B-36", "repeated name", strings.Replace(disco, `"method"`, `"method":"tools/list","method"`, 1), nil, "1", -32600, 400, "twice"},
	{"B-37", "method in another case is no method", strings.Replace(disco, `"method"`, `"Method":"tools/call","method"`, 1), nil, "1", 0, 200, "supportedVersions"},

	// The envelope.
	{"R-META-01", "no params", `{"jsonrpc":"2.0","id":4,"method":"server/discover"}`, nil, "4", -32602, 400, `"field":"params"`},
	{"R-META-01", "params as an array", `{"jsonrpc":"2.0","id":4,"method":"server/discover","params":[]}`, nil, "4", -32602, 400, `"field":"params"`},
	{"R-META-01", "no _meta", `{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{}}`, mirror("server/discover", ""), "4", -32602, 400, `"field":"_meta"`},
	{"R-META-01", "_meta as an array", `{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":[]}}`, nil, "4", -32602, 400, `"field":"_meta"`},
	{"R-META-01 R-META-02", "no version", meta(cc), mirror("server/discover", ""), "4", -32602, 400, "protocolVersion"},
	{"R-META-01", "version as a number", meta(pvOf("7") + "," + cc), nil, "4", -32602, 400, "protocolVersion"},
	{"R-META-01 R-META-02", "no capabilities", meta(pv), mirror("server/discover", ""), "4", -32602, 400, "clientCapabilities"},
	{"R-META-01", "capabilities null", meta(pv + "," + ccOf("null")), nil, "4", -32602, 400, "clientCapabilities"},
	{"R-META-01", "capabilities as a number", meta(pv + "," + ccOf("1")), nil, "4", -32602, 400, "clientCapabilities"},
	{"R-META-01", "capabilities as a string", meta(pv + "," + ccOf(`"x"`)), nil, "4", -32602, 400, "clientCapabilities"},
	{"R-META-01", "capabilities as an array", meta(pv + "," + ccOf("[]")), nil, "4", -32602, 400, "clientCapabilities"},
	{"R-META-03", "capabilities of a vendor", meta(pv + "," + ccOf(`{"vendor/x":{}}`)), nil, "4", 0, 200, ""},
	{"R-META-05", "clientInfo malformed", meta(pv + "," + cc + `,"io.modelcontextprotocol/clientInfo":7`), nil, "4", 0, 200, ""},
	{"R-META-11 R-META-12", "traceparent garbage", meta(pv + "," + cc + `,"traceparent":"garbage"`), nil, "4", 0, 200, ""},
	{"R-META-13", "progress token as an object", meta(pv + "," + cc + `,"progressToken":{}`), nil, "4", -32602, 400, "progressToken"},
	{"R-META-13", "progress token null", meta(pv + "," + cc + `,"progressToken":null`), nil, "4", -32602, 400, "progressToken"},
	{"R-META-13", "progress token with a fraction", meta(pv + "," + cc + `,"progressToken":1.5`), nil, "4", -32602, 400, "progressToken"},
	{"R-META-13", "progress token too long", meta(pv + "," + cc + `,"progressToken":"` + strings.Repeat("x", 1025) + `"`), nil, "4", -32602, 400, "progressToken"},
	{"R-META-13", "progress token 0", meta(pv + "," + cc + `,"progressToken":0`), nil, "4", 0, 200, ""},
	{"R-LOG-05", "log level unknown", meta(pv + "," + cc + `,"io.modelcontextprotocol/logLevel":"loud"`), nil, "4", -32602, 400, "logLevel"},
	{"R-LOG-05", "log level as a number", meta(pv + "," + cc + `,"io.modelcontextprotocol/logLevel":3`), nil, "4", -32602, 400, "logLevel"},
	{"R-LOG-05", "log level known", meta(pv + "," + cc + `,"io.modelcontextprotocol/logLevel":"debug"`), nil, "4", 0, 200, ""},
	{"B-10", "reserved key", meta(pv + "," + cc + `,"dev.mcp/trace":1`), nil, "4", -32602, 400, `"key":"dev.mcp/trace"`},
	{"B-10", "key of an extension that is not declared", meta(pv + "," + cc + `,"io.modelcontextprotocol/related-task":1`), nil, "4", -32602, 400, "reserved prefix"},
	{"B-10 R-VER-09", "key of a declared extension", meta(pv + "," + ccOf(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) + `,"io.modelcontextprotocol/related-task":1`), nil, "4", 0, 200, ""},
	{"B-10", "declared extension, key of another owner", meta(pv + "," + ccOf(`{"extensions":{"x/y":{}}}`) + `,"dev.mcp/trace":1`), nil, "4", -32602, 400, "dev.mcp/trace"},
	{"B-10", "second label only", meta(pv + "," + cc + `,"com.example.mcp/x":1,"mcp/x":1`), nil, "4", 0, 200, ""},
	{"B-10", "reserved key beside another fault", meta(`"dev.mcp/trace":1`), nil, "4", -32602, 400, "reserved prefix"},
	{"R-VER-09", "extension declared", meta(pv + "," + ccOf(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)), nil, "4", 0, 200, ""},

	// Revisions.
	{"R-VER-01 R-VER-02 R-VER-03", "earlier revision", meta(pvOf(`"2025-11-25"`) + "," + cc), mirror("server/discover", "", "Mcp-Protocol-Version: 2025-11-25"), "4", -32022, 400, `"requested":"2025-11-25"`},
	{"R-VER-01", "unknown revision", meta(pvOf(`"v999.0.0"`) + "," + cc), nil, "4", -32022, 400, `"supported":["2026-07-28"]`},
	{"R-STDIO-12", "later revision", meta(pvOf(`"2099-01-01"`) + "," + cc), nil, "4", -32022, 400, `"requested":"2099-01-01"`},
	{"R-VER-01", "trailing blank", meta(pvOf(`"2026-07-28 "`) + "," + cc), nil, "4", -32022, 400, ""},
	{"R-VER-01", "one-digit month", meta(pvOf(`"2026-7-28"`) + "," + cc), nil, "4", -32022, 400, ""},
	{"B-05", "unsupported and no capabilities", meta(pvOf(`"2025-11-25"`)), nil, "4", -32022, 400, ""},
	{"B-15", "unknown method without an envelope", `{"jsonrpc":"2.0","id":4,"method":"foo","params":{}}`, nil, "4", -32602, 400, ""},
	{"B-15", "unknown method under an unsupported revision", `{"jsonrpc":"2.0","id":4,"method":"foo","params":{"_meta":{` + pvOf(`"x"`) + `,` + cc + `}}}`, nil, "4", -32022, 400, ""},
	{"B-03", "the probe of a client of an earlier revision", meta(pvOf(`"2025-11-25"`) + "," + cc), pipeline.Mirror{"Mcp-Protocol-Version": {"2025-11-25"}}, "4", -32022, 400, ""},
	{"R-VER-05 R-VER-06", "legacy initialize on stdio", legacy, nil, "0", -32022, 400, "mcp-remote --protocol auto"},
	{"R-VER-05 R-VER-07", "legacy initialize over HTTP without headers", legacy, pipeline.Mirror{}, "0", -32022, 400, `"requested":"2025-11-25"`},
	{"B-02 B-17", "initialize that names no version", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`, nil, "0", -32022, 400, `"requested":""`},
	{"B-02", "initialize with capabilities of the wrong type", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"_meta":{` + pv + `,` + ccOf("5") + `}}}`, nil, "0", -32022, 400, ""},
	{"R-VER-08", "initialize with a modern envelope", req("500", "initialize", ""), mirror("initialize", ""), "500", -32601, 404, `"supported":["2026-07-28"]`},
	{"R-VER-08", "ping", req("500", "ping", ""), mirror("ping", ""), "500", -32601, 404, ""},
	{"R-VER-08", "logging/setLevel", req("500", "logging/setLevel", ""), mirror("logging/setLevel", ""), "500", -32601, 404, ""},
	{"R-VER-08", "resources/subscribe", req("500", "resources/subscribe", ""), mirror("resources/subscribe", ""), "500", -32601, 404, ""},
	{"R-VER-08", "resources/unsubscribe", req("500", "resources/unsubscribe", ""), mirror("resources/unsubscribe", ""), "500", -32601, 404, ""},

	// Headers against the body.
	{"R-HTTP-17", "no version header", disco, mirror("server/discover", "", "Mcp-Protocol-Version"), "1", -32020, 400, `"header":"MCP-Protocol-Version"`},
	{"R-HTTP-18", "version header differs from an unsupported body", meta(pvOf(`"v999.0.0"`) + "," + cc), mirror("server/discover", ""), "4", -32020, 400, ""},
	{"R-HTTP-21", "no method header", listing, mirror("tools/list", "", "Mcp-Method"), "1", -32020, 400, `"header":"Mcp-Method"`},
	{"R-HTTP-21", "no method header, unknown method", req("1", "foo", ""), mirror("foo", "", "Mcp-Method"), "1", -32020, 400, ""},
	{"R-HTTP-22", "another method", listing, mirror("prompts/list", ""), "1", -32020, 400, ""},
	{"R-HTTP-22", "method in another case", listing, mirror("TOOLS/LIST", ""), "1", -32020, 400, ""},
	{"R-HTTP-23", "no name header", first, mirror("tools/call", ""), "1", -32020, 400, `"header":"Mcp-Name"`},
	{"R-HTTP-24", "another name", first, mirror("tools/call", "wrong_tool_name"), "1", -32020, 400, ""},
	{"R-HTTP-24", "unknown tool in both", req("1", "tools/call", `,"name":"nope"`), mirror("tools/call", "nope"), "1", -32602, 200, "Unknown tool: nope"},
	{"R-HTTP-25", "name in Base64", first, mirror("tools/call", "=?base64?Zmlyc3Q=?="), "1", 0, 200, ""},
	{"R-HTTP-25", "markers in capitals", first, mirror("tools/call", "=?BASE64?Zmlyc3Q=?="), "1", -32020, 400, ""},
	{"R-HTTP-26", "bad padding", first, mirror("tools/call", "=?base64?Zmlyc3Q?="), "1", -32020, 400, "malformed"},
	{"R-HTTP-26", "not Base64", first, mirror("tools/call", "=?base64?!!!?="), "1", -32020, 400, "malformed"},
	{"R-HTTP-28", "blanks around", first, mirror("tools/call", "  first  "), "1", 0, 200, ""},
	{"R-HTTP-39 B-39", "two different names", first, mirror("tools/call", "", "Mcp-Name: first", "Mcp-Name: echo"), "1", -32020, 400, "twice"},
	{"B-39", "two equal names", first, mirror("tools/call", "", "Mcp-Name: first", "Mcp-Name: first"), "1", 0, 200, ""},
	{"B-04", "no headers and no _meta", `{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{}}`, pipeline.Mirror{}, "4", -32602, 400, ""},
	{"R-STDIO-10", "no header rules without headers", first, nil, "1", 0, 200, ""},

	// Discovery and listing.
	{"R-DISC-01", "extra params", req("1", "server/discover", `,"x":1,"cursor":5`), nil, "1", 0, 200, `"supportedVersions":["2026-07-28"]`},
	{"R-DISC-02 R-DISC-05 R-VER-10", "capabilities", disco, nil, "1", 0, 200, `"capabilities":{"tools":{}}`},
	{"R-DISC-04", "instructions", disco, nil, "1", 0, 200, `"instructions":"Read-only view`},
	{"R-CACHE-01 R-CACHE-02 R-CACHE-03", "cache of discover", disco, nil, "1", 0, 200, `"ttlMs":3600000,"cacheScope":"public"`},
	{"R-CACHE-01 R-CACHE-02 R-CACHE-03", "cache of the list", listing, nil, "1", 0, 200, `"ttlMs":300000,"cacheScope":"public"`},
	{"R-PAGE-04", "cursor garbage", req("13", "tools/list", `,"cursor":"garbage"`), nil, "13", -32602, 200, "cursor"},
	{"R-PAGE-04", "cursor null", req("13", "tools/list", `,"cursor":null`), nil, "13", -32602, 200, "cursor"},
	{"R-PAGE-04", "cursor as a number", req("13", "tools/list", `,"cursor":5`), nil, "13", -32602, 200, "cursor"},
	{"R-PAGE-05", "cursor empty", req("13", "tools/list", `,"cursor":""`), nil, "13", -32602, 200, "cursor"},

	// Calls.
	{"R-TOOL-13", "no arguments", first, nil, "1", 0, 200, `"isError":false`},
	{"R-TOOL-13", "arguments null", req("1", "tools/call", `,"name":"first","arguments":null`), nil, "1", 0, 200, `"isError":false`},
	{"R-TOOL-14", "unknown tool", req("11", "tools/call", `,"name":"write_file"`), nil, "11", -32602, 200, `"available":["first","echo","last"]`},
	{"R-TOOL-06", "name in another case", req("11", "tools/call", `,"name":"FIRST"`), nil, "11", -32602, 200, "Unknown tool: FIRST"},
	{"R-TOOL-15", "no name", req("11", "tools/call", ""), nil, "11", -32602, 200, "name must be a string"},
	{"R-TOOL-15", "no name under a name header", req("11", "tools/call", ""), mirror("tools/call", "first"), "11", -32602, 200, "name must be a string"},
	{"R-TOOL-15", "name as a number", req("11", "tools/call", `,"name":5`), nil, "11", -32602, 200, "name must be a string"},
	{"R-TOOL-15", "arguments as an array", req("11", "tools/call", `,"name":"first","arguments":[]`), nil, "11", -32602, 200, "must be an object, not an array"},
	{"R-TOOL-15", "arguments as a number", req("11", "tools/call", `,"name":"first","arguments":5`), nil, "11", -32602, 200, "must be an object, not a number"},
	{"R-TOOL-15", "arguments as JSON in a string", req("11", "tools/call", `,"name":"first","arguments":"{\"path\":\"a\"}"`), nil, "11", -32602, 200, "Accepted: path."},
	{"R-TOOL-16 B-01", "missing argument", echo("12", `{}`), nil, "12", -32602, 200, `Invalid arguments for echo: \"path\" is required.`},
	{"R-TOOL-16 B-01", "violations", echo("12", `{}`), nil, "12", -32602, 200, `"tool":"echo","violations":[{"pointer":"","keyword":"required","detail":"path"}],"remedy":"`},
	{"R-TOOL-16 B-01", "unknown argument", echo("12", `{"file_path":"a"}`), nil, "12", -32602, 200, `\"file_path\" is not accepted; did you mean \"path\"? Accepted: path, do, count, flag, text, glob.`},
	{"R-TOOL-16 B-01", "did_you_mean", echo("12", `{"file_path":"a"}`), nil, "12", -32602, 200, `"did_you_mean":"path"`},
	{"R-TOOL-16 B-01", "out of range", echo("12", `{"path":"a","count":101}`), nil, "12", -32602, 200, `\"count\" must be at most 100.`},
	{"R-TOOL-16", "argument in another case", echo("12", `{"PATH":"a"}`), nil, "12", -32602, 200, `"did_you_mean":"path"`},
	{"R-TOOL-17", "denial", echo("3", `{"path":"../x","do":"deny"}`), nil, "3", 0, 200, `"error":"outside_workspace"`},
	{"R-TOOL-18 R-BASE-18", "panic of a tool", echo("14", `{"path":"p4nic","do":"panic"}`), nil, "14", -32603, 200, "Internal error"},
	{"R-BASE-18 R-LOG-06", "fault of a tool", echo("14", `{"path":"a","do":"fail"}`), nil, "14", -32603, 200, `"reference":"`},
	{"R-TOOL-26", "requestState has no effect", req("1", "tools/call", `,"name":"first","requestState":"x","inputResponses":{}`), nil, "1", 0, 200, `"isError":false`},
	{"R-TOOL-26", "requestState of the wrong type", req("1", "tools/call", `,"name":"first","requestState":5`), nil, "1", -32602, 200, "requestState"},
	{"R-TOOL-26", "inputResponses null", req("1", "tools/call", `,"name":"first","inputResponses":null`), nil, "1", -32602, 200, "inputResponses"},
	{"R-SCHEMA-07", "deep arguments", echo("12", strings.Repeat("[", 10000)+strings.Repeat("]", 10000)), nil, "12", -32600, 400, "deeper"},

	// Subscriptions.
	{"R-SUB-01 R-SUB-07", "listen", req(`"L1"`, "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///x"]}`), nil, `"L1"`, 0, 200, `"io.modelcontextprotocol/subscriptionId":"L1"`},
	{"R-SUB-01", "listen to nothing", req("7", "subscriptions/listen", `,"notifications":{}`), nil, "7", 0, 200, `"io.modelcontextprotocol/subscriptionId":7`},
	{"R-SUB-01", "listen without a filter", req("7", "subscriptions/listen", ""), nil, "7", -32602, 200, "notifications"},
	{"R-SUB-01", "filter of the wrong type", req("7", "subscriptions/listen", `,"notifications":[]`), nil, "7", -32602, 200, "notifications"},
	{"B-12", "kind of the wrong type", req("7", "subscriptions/listen", `,"notifications":{"toolsListChanged":"yes"}`), nil, "7", -32602, 200, "toolsListChanged"},
	{"B-12", "resources of the wrong type", req("7", "subscriptions/listen", `,"notifications":{"resourceSubscriptions":[5]}`), nil, "7", -32602, 200, "resourceSubscriptions"},
}

func TestVectors(t *testing.T) {
	s := start(t)
	for _, v := range vectors {
		t.Run(v.ids+" "+v.trick, func(t *testing.T) {
			s.t = t
			r := s.call(pipeline.Inbound{Raw: []byte(v.in), Mirror: v.mirror})
			if v.code == silence {
				if !r.none {
					t.Fatalf("answered: %s", r.raw)
				}
				return
			}
			if r.none {
				t.Fatal("no answer")
			}
			if r.code != v.code || r.status != v.status || r.id != v.id || !strings.Contains(r.raw, v.says) {
				t.Errorf("code %d, status %d, id %q: %s", r.code, r.status, r.id, r.raw)
			}
			for _, leak := range []string{"secret/place", "p4nic", "goroutine"} {
				if strings.Contains(r.raw, leak) {
					t.Errorf("%q left: %s", leak, r.raw)
				}
			}
			if r.code == -32602 && v.status == 200 && len([]rune(r.msg)) > 200 {
				t.Errorf("message of %d characters", len([]rune(r.msg)))
			}
			if v.mirror == nil && r.code == -32020 {
				t.Error("a header fault on a transport without headers")
			}
		})
	}
	s.t = t
	if r := s.call(pipeline.Inbound{Raw: []byte(disco)}); r.code != 0 {
		t.Errorf("the line did not survive: %s", r.raw)
	}
}

// The legacy message is one line that names the revision, and such a refusal is reported so that it can be logged.
func TestLegacyIsReported(t *testing.T) {
	s := start(t)
	const named = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old-editor","version":"1"}}}`
	r := s.call(pipeline.Inbound{Raw: []byte(named)})
	if r.msg != wire.InitializeMessage || !strings.Contains(r.msg, wire.Revision) {
		t.Error(r.msg)
	}
	if err := s.Line().Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := s.seen()
	if len(seen) != 1 {
		t.Fatalf("%d reports", len(seen))
	}
	if rep := seen[0]; !rep.Legacy || rep.Fault != "unsupported_version" || rep.Method != "initialize" || rep.Client != "old-editor" {
		t.Errorf("%+v", rep)
	}
}

func TestTooLong(t *testing.T) {
	s := start(t)
	r := s.call(pipeline.Inbound{Fault: pipeline.FaultTooLong})
	if r.code != -32600 || r.id != "" || r.status != 400 {
		t.Errorf("%s", r.raw)
	}
	r = s.call(pipeline.Inbound{Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", wire.DefaultBytes) + `"}`)})
	if r.code != -32600 || r.id != "" {
		t.Errorf("%.200s", r.raw)
	}
}
