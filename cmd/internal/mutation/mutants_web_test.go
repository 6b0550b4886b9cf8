package mutation

import (
	"net/http"
	"strings"
)

// status gives answers with a code another status.
func status(code, to int) webbed {
	return webbed{response: func(f *flow) {
		for _, v := range f.replies {
			if e := errorOf(v); e != nil && number(e["code"]) == code {
				f.status = to
			}
		}
	}}
}

func onRequest(f func(*flow)) webbed  { return webbed{request: f} }
func onResponse(f func(*flow)) webbed { return webbed{response: f} }

func originDropped(when func(*flow) bool) webbed {
	return onRequest(func(f *flow) {
		if when(f) {
			f.r.Header.Del("Origin")
		}
	})
}

func web1(name, red, also string, w webbed) mutant {
	return mutant{name: name, kind: overHTTP, red: ids(red), also: ids(also), w: w}
}

func hanging(m mutant) mutant {
	m.hangs = true
	return m
}

// header makes a request agree with its body where a server does not look.
func trusting(name string, value func(*flow) string) webbed {
	return onRequest(func(f *flow) {
		if v := value(f); v != "" {
			f.r.Header.Set(name, v)
		}
	})
}

func present(name string, value func(*flow) string) func(*flow) string {
	return func(f *flow) string {
		if f.r.Header.Get(name) == "" {
			return ""
		}
		return value(f)
	}
}

func absent(name string, value func(*flow) string) func(*flow) string {
	return func(f *flow) string {
		if f.r.Header.Get(name) != "" {
			return ""
		}
		return value(f)
	}
}

func bodyMethod(f *flow) string  { return f.m.method }
func bodyName(f *flow) string    { return f.m.tool() }
func bodyVersion(f *flow) string { return f.m.version() }

func encodedName(f *flow) bool {
	return strings.HasPrefix(strings.ToLower(f.r.Header.Get("Mcp-Name")), "=?base64?")
}

var webMutants = []mutant{
	web1("HTTP 200 for a missing envelope", "C043", "", onResponse(func(f *flow) {
		if f.m.version() == "" || f.m.meta()[keyCapabilities] == nil {
			if f.status == 400 && len(f.replies) > 0 && number(errorOf(f.replies[0])["code"]) == -32602 {
				f.status = 200
			}
		}
	})),
	web1("HTTP 200 for a missing capability", "C048", "", status(-32021, 200)),
	web1("HTTP 200 for an unsupported version", "C056", "C062", status(-32022, 200)),
	web1("HTTP 200 for a legacy initialize", "C062", "", onResponse(func(f *flow) {
		if f.m.method == "initialize" && f.m.meta() == nil {
			f.status = 200
		}
	})),
	web1("a foreign Origin is accepted", "C140 C142 C143", "C141", originDropped(func(*flow) bool { return true })),
	web1("a foreign Origin may discover", "C140", "", originDropped(func(f *flow) bool {
		return f.r.Method == "POST" && f.m.method == "server/discover" && f.r.Header.Get("Origin") != "null"
	})),
	web1("HTTP 400 for a foreign Origin", "C140 C142", "C141", onResponse(func(f *flow) {
		if f.status == 403 {
			f.status = 400
		}
	})),
	web1("the Origin null is accepted", "C141", "", originDropped(func(f *flow) bool { return f.r.Header.Get("Origin") == "null" })),
	web1("Origin is checked on POST only", "C142", "", originDropped(func(f *flow) bool { return f.r.Method != "POST" })),
	web1("Origin is compared by prefix", "C143", "", originDropped(func(f *flow) bool {
		o := f.r.Header.Get("Origin")
		return strings.HasPrefix(o, "http://localhost") || strings.HasPrefix(o, "http://127.0.0.1")
	})),
	web1("an accepted notification has a body", "C144", "", onResponse(func(f *flow) {
		if f.status == 202 {
			f.plain = []byte("ok")
		}
	})),
	web1("HTTP 200 for a notification", "C144 C145", "", onResponse(func(f *flow) {
		if f.status == 202 {
			f.status = 200
		}
	})),
	web1("answers are text/plain", "C146", "", onResponse(func(f *flow) {
		if f.m.method == "tools/list" && f.status == 200 {
			f.header.Set("Content-Type", "text/plain")
		}
	})),
	web1("streams may be buffered", "C147", "", onResponse(func(f *flow) { f.header.Del("X-Accel-Buffering"); f.header.Set("X-Accel-Buffering", "yes") })),
	web1("events have ids", "C148", "", onResponse(func(f *flow) { f.events = "id: 1\nretry: 100\n" })),
	hanging(web1("streams stay open after the response", "C149", "", onResponse(func(f *flow) { f.open = f.m.method == "subscriptions/listen" }))),
	web1("the version header may be missing", "C150", "", trusting("Mcp-Protocol-Version", absent("Mcp-Protocol-Version", func(f *flow) string {
		if f.m.method == "initialize" {
			return ""
		}
		return f.m.version()
	}))),
	web1("the version header is not compared", "C151", "", trusting("Mcp-Protocol-Version", present("Mcp-Protocol-Version", bodyVersion))),
	web1("an unsupported version in the body comes first", "C151", "", onResponse(func(f *flow) {
		if f.m.version() == "v999.0.0" && f.r.Header.Get("Mcp-Protocol-Version") == "2026-07-28" {
			f.replies = []obj{failure(f.m.id, -32022)}
			errorOf(f.replies[0])["data"] = obj{"supported": []any{"2026-07-28"}, "requested": "v999.0.0"}
		}
	})),
	web1("Mcp-Method may be missing", "C152", "", trusting("Mcp-Method", absent("Mcp-Method", bodyMethod))),
	web1("Mcp-Method is not compared", "C153 C154", "", trusting("Mcp-Method", present("Mcp-Method", bodyMethod))),
	web1("Mcp-Method is compared without case", "C154", "", onRequest(func(f *flow) {
		if strings.EqualFold(f.r.Header.Get("Mcp-Method"), f.m.method) {
			f.r.Header.Set("Mcp-Method", f.m.method)
		}
	})),
	web1("Mcp-Name may be missing", "C155", "", trusting("Mcp-Name", absent("Mcp-Name", bodyName))),
	web1("Mcp-Name is not compared", "C156", "C158 C159", trusting("Mcp-Name", present("Mcp-Name", bodyName))),
	web1("an unknown tool comes before its header", "C156", "", onResponse(func(f *flow) {
		if f.m.tool() == "conformance_no_such_tool" && f.status == 400 && f.r.Header.Get("Mcp-Name") == "conformance_other_name" {
			f.replies, f.status = []obj{failure(f.m.id, -32602)}, 200
		}
	})),
	web1("Base64 is not decoded", "C157", "", onRequest(func(f *flow) {
		if encodedName(f) {
			f.refuse(400, -32020)
		}
	})),
	web1("the marks of Base64 are compared without case", "C158", "", onRequest(func(f *flow) {
		if v := f.r.Header.Get("Mcp-Name"); encodedName(f) {
			f.r.Header.Set("Mcp-Name", strings.Replace(v, "BASE64", "base64", 1))
		}
	})),
	web1("broken Base64 is let through", "C159", "", onRequest(func(f *flow) {
		if v := f.r.Header.Get("Mcp-Name"); strings.Contains(v, "!!!!") {
			f.r.Header.Set("Mcp-Name", f.m.tool())
		}
	})),
	web1("header names are compared with case", "C160", "", onRequest(func(f *flow) {
		if strings.Contains(f.raw, "\r\nmcp-method:") {
			f.refuse(400, -32020)
		}
	})),
	web1("white space counts in headers", "C161", "", onRequest(func(f *flow) {
		if strings.Contains(f.raw, "Mcp-Method:  ") {
			f.refuse(400, -32020)
		}
	})),
	web1("Mcp-Name is compared without case", "C156", "", onRequest(func(f *flow) {
		if strings.EqualFold(f.r.Header.Get("Mcp-Name"), f.m.tool()) {
			f.r.Header.Set("Mcp-Name", f.m.tool())
		}
	})),
	web1("Base64 is decoded and not compared", "C156", "", onRequest(func(f *flow) {
		if v := f.r.Header.Get("Mcp-Name"); strings.HasPrefix(v, "=?base64?Y29uZm9ybWFuY2") {
			f.r.Header.Set("Mcp-Name", f.m.tool())
		}
	})),
	web1("the version header is compared by prefix", "C151", "", onRequest(func(f *flow) {
		if v := f.r.Header.Get("Mcp-Protocol-Version"); strings.HasPrefix(v, "2026-07-28") {
			f.r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		}
	})),
	web1("HTTP 200 for a call without its header", "C162", "", onResponse(func(f *flow) {
		for _, v := range f.replies {
			if number(errorOf(v)["code"]) == -32020 && f.m.method == "tools/call" {
				f.status = 200
			}
		}
	})),
	web1("a stream of one tool ends without a response", "C032", "", onResponse(func(f *flow) {
		if f.m.tool() == "list_directory" && f.status == 200 && f.m.meta()["progressToken"] == nil {
			f.replies, f.text = nil, ":\n\n"
			f.header = http.Header{"Content-Type": {"text/event-stream"}, "X-Accel-Buffering": {"no"}}
		}
	})),
	web1("Mcp-Param in Base64 is not decoded", "C175", "", onRequest(func(f *flow) {
		if strings.HasPrefix(f.r.Header.Get("Mcp-Param-Pattern"), "=?base64?") {
			f.refuse(400, -32020)
		}
	})),
	web1("an https Origin is not looked at", "C143", "", originDropped(func(f *flow) bool { return strings.HasPrefix(f.r.Header.Get("Origin"), "https://") })),
	web1("HTTP 200 for notifications/initialized", "C145", "", onResponse(func(f *flow) {
		if f.m.method == "notifications/initialized" {
			f.status = 200
		}
	})),
	web1("HTTP 200 for headers that differ", "C162", "", onResponse(func(f *flow) {
		if f.m.id == "header-1" {
			f.status = 200
		}
	})),
	web1("the refusal for headers has no id", "C162", "", onResponse(func(f *flow) {
		if f.m.id == "header-1" {
			delete(f.replies[0], "id")
		}
	})),
	web1("annotated arguments are not compared", "C163", "", onRequest(func(f *flow) {
		if p, ok := sub(f.m.params(), "arguments")["pattern"].(string); ok {
			f.r.Header.Set("Mcp-Param-Pattern", p)
		}
	})),
	web1("an annotated argument needs no header", "C163", "", onRequest(func(f *flow) {
		if p, ok := sub(f.m.params(), "arguments")["pattern"].(string); ok && f.r.Header.Get("Mcp-Param-Pattern") == "" {
			f.r.Header.Set("Mcp-Param-Pattern", p)
		}
	})),
	web1("an unknown Mcp-Param is refused", "C164", "", onRequest(func(f *flow) {
		if f.r.Header.Get("Mcp-Param-Conformance") != "" {
			f.refuse(400, -32020)
		}
	})),
	web1("HTTP 200 for an unknown method", "C165", "", status(-32601, 200)),
	web1("GET opens a stream", "C166", "", onRequest(func(f *flow) {
		if f.r.Method == http.MethodGet && f.r.Header.Get("Origin") == "" && f.r.URL.Path == "/mcp" {
			f.done, f.status, f.header = true, 200, http.Header{"Content-Type": {"text/plain"}}
		}
	})),
	web1("a session is given", "C167", "", onResponse(func(f *flow) { f.header.Set("Mcp-Session-Id", "s-1") })),
	web1("an unknown session is refused", "C167", "", onRequest(func(f *flow) {
		if f.r.Header.Get("Mcp-Session-Id") != "" {
			f.refuse(404, -32600)
		}
	})),
	web1("Last-Event-ID is refused", "C168", "", onRequest(func(f *flow) {
		if f.r.Header.Get("Last-Event-ID") != "" {
			f.refuse(400, -32600)
		}
	})),
	web1("the header picks the tool", "C169", "C156", onRequest(func(f *flow) {
		if n := f.r.Header.Get("Mcp-Name"); f.m.tool() == "conformance_no_such_tool" && n != "" {
			f.m.params()["name"] = n
		}
	})),
	web1("a client that goes away takes the next answer along", "C170", "", onRequest(func(f *flow) {
		if f.r.Close && !strings.Contains(f.raw, "Mcp-Method:  ") {
			if f.world.memory["gone"] == nil { // later ones may be read after the next request
				f.world.memory["gone"] = true
			}
		} else if f.world.memory["gone"] == true {
			f.world.memory["gone"] = false
			f.done, f.status, f.header = true, 500, http.Header{"Content-Type": {"application/json"}}
		}
	})),
	web1("the first revision's stream is there", "C171", "", onRequest(func(f *flow) {
		if f.r.URL.Path == "/sse" {
			f.done, f.status, f.stream = true, 200, true
			f.header = http.Header{"Content-Type": {"text/event-stream"}, "X-Accel-Buffering": {"no"}}
		}
	})),
	web1("the token is not needed", "C172", "", onRequest(func(f *flow) { f.r.Header.Set("Authorization", "Bearer "+secret) })),
	web1("a wrong token will do", "C172", "", onRequest(func(f *flow) {
		if f.r.Header.Get("Authorization") != "" {
			f.r.Header.Set("Authorization", "Bearer "+secret)
		}
	})),
	web1("HTTP 202 for a response", "C173", "", onResponse(func(f *flow) {
		if f.m.v["result"] != nil {
			f.status, f.replies, f.plain = 202, nil, nil
		}
	})),
	web1("over HTTP: resultType is left out", "C004", "", onResponse(func(f *flow) {
		for _, v := range f.replies {
			if r := resultOf(v); r["resultType"] == "complete" {
				delete(r, "resultType")
			}
		}
	})),
}
