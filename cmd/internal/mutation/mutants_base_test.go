package mutation

import (
	"bytes"
	"slices"
	"strings"
)

var mutants = slices.Concat(baseMutants, stateMutants, toolMutants, listenMutants, pipeMutants, webMutants)

// fixture gives the error of the tool that needs the client another code.
func fixture(to int) tamper { return code(-32021, to) }

var baseMutants = []mutant{
	{name: "server/discover is unknown", red: ids("C001"), t: replace(method("server/discover"), refusing(-32601))},
	{name: "jsonrpc is 1.0", red: ids("C002"), t: each(func(_ *session, _ *message, v obj) { v["jsonrpc"] = "1.0" })},
	{name: "jsonrpc is left out of errors", red: ids("C002"), t: each(func(_ *session, _ *message, v obj) {
		if errorOf(v) != nil {
			delete(v, "jsonrpc")
		}
	})},
	{name: "a number comes back as a string", red: ids("C003"), t: each(func(_ *session, _ *message, v obj) {
		if resultOf(v) != nil {
			v["id"] = asString(v["id"])
		}
	})},
	{name: "long ids are cut", red: ids("C003"), t: each(func(_ *session, _ *message, v obj) {
		if s, ok := v["id"].(string); ok && len(s) > 64 {
			v["id"] = s[:64]
		}
	})},
	{name: "line breaks in ids are lost", red: ids("C003"), t: each(func(_ *session, _ *message, v obj) {
		if s, ok := v["id"].(string); ok {
			v["id"] = strings.ReplaceAll(s, "\n", "")
		}
	})},
	{name: "negative ids lose their sign", red: ids("C003"), t: each(func(_ *session, m *message, v obj) {
		if s, ok := asString(v["id"]).(string); ok && m.id != nil && strings.HasPrefix(s, "-") {
			v["id"] = 5
		}
	})},
	{name: "resultType is left out", red: ids("C004"), also: ids("C080"), t: onResult(func(_ *message, r obj) { delete(r, "resultType") })},
	{name: "calls have no resultType", red: ids("C004"), t: onResult(func(_ *message, r obj) {
		if r["resultType"] == "complete" {
			delete(r, "resultType")
		}
	}, "tools/call")},
	{name: "the closing result has no resultType", red: ids("C004"), t: onResult(func(_ *message, r obj) { delete(r, "resultType") }, "subscriptions/listen")},
	{name: "an invented resultType", red: ids("C005"), t: onResult(func(_ *message, r obj) { r["resultType"] = "done" }, "tools/list")},
	{name: "a result and an error", red: ids("C006"), t: each(func(_ *session, _ *message, v obj) {
		if resultOf(v) != nil {
			v["error"] = obj{"code": 1, "message": "none"}
		}
	}, "server/discover")},
	{name: "errors without a message", red: ids("C007"), t: onError(-32601, func(_ *message, _, e obj) { delete(e, "message") })},
	{name: "codes are strings", red: ids("C007"), t: code2("-32021")},
	{name: "errors lose their id", red: ids("C008"), t: each(func(_ *session, _ *message, v obj) {
		if errorOf(v) != nil {
			delete(v, "id")
		}
	})},
	{name: "the id of an unreadable message is null", red: ids("C009"), t: each(func(_ *session, _ *message, v obj) {
		if errorOf(v) != nil && v["id"] == nil {
			v["id"] = nil
		}
	})},
	{name: "messages of many lines", red: ids("C010"), t: onError(-32601, func(_ *message, _, e obj) { e["message"] = "not found\n  at dispatch\n  at main" })},
	{name: "another code for a version", red: ids("C011"), t: code(-32022, -32602)},
	{name: "no list of supported versions", red: ids("C011"), t: onError(-32022, func(_ *message, _, e obj) { delete(sub(e, "data"), "supported") })},
	{name: "another code for what is no JSON", red: ids("C012"), t: code(-32700, -32600)},
	{name: "what is no JSON is not answered", red: ids("C012"), t: tamper{after: func(_ *session, _ *message, replies []obj) []obj {
		return slices.DeleteFunc(replies, func(v obj) bool { return number(errorOf(v)["code"]) == -32700 })
	}}},
	{name: "bytes that are not UTF-8 are repaired", red: ids("C013"), t: incoming(func(_ *session, m *message) {
		if bytes.Contains(m.raw, []byte{0xff}) {
			*m = *decode(bytes.ToValidUTF8(m.raw, []byte("?")))
		}
	})},
	{name: "an answer that is not UTF-8", red: ids("C014"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		for i, v := range replies {
			if m.tool() == "read_file" && resultOf(v) != nil {
				replies[i] = obj{rawKey: strings.Replace(string(encode(v)), `"text":"`, "\"text\":\"\xff", 1)}
			}
		}
		return replies
	}}},
	{name: "another code for what is no request", red: ids("C015"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		for _, v := range replies {
			if m.v == nil && number(errorOf(v)["code"]) == -32600 && !bytes.HasPrefix(m.raw, []byte("[")) {
				errorOf(v)["code"] = -32700
			}
		}
		return replies
	}}},
	{name: "jsonrpc is not looked at", red: ids("C015"), t: incoming(func(_ *session, m *message) {
		if m.v["jsonrpc"] != nil {
			m.v["jsonrpc"] = "2.0"
		}
	})},
	{name: "arrays of requests are answered", red: ids("C016"), t: replace(func(_ *session, m *message) bool { return bytes.HasPrefix(m.raw, []byte("[{")) }, func(*message) []obj {
		return []obj{success("batch-1", obj{"resultType": "complete", "supportedVersions": []any{"2026-07-28"}, "capabilities": obj{}, "ttlMs": 0, "cacheScope": "public"})}
	})},
	{name: "arrays are not answered", red: ids("C016"), t: replace(func(_ *session, m *message) bool { return bytes.HasPrefix(m.raw, []byte("[")) }, silent)},
	{name: "a notification is answered", red: ids("C017"), t: replace(method("notifications/conformance"), refusing(-32601))},
	{name: "notifications of old clients are answered", red: ids("C017"), t: replace(method("notifications/initialized"), func(*message) []obj { return []obj{success("none", obj{"resultType": "complete"})} })},
	{name: "another code for unknown methods", red: ids("C018"), t: code(-32601, -32602, "conformance/none", "server/Discover")},
	{name: "methods are compared without case", red: ids("C018"), t: incoming(func(_ *session, m *message) {
		if m.method == "server/Discover" {
			m.method, m.v["method"] = "server/discover", "server/discover"
		}
	})},
	{name: "prompts are listed without the capability", red: ids("C019"), t: replace(method("prompts/list"), func(m *message) []obj {
		return []obj{success(m.id, obj{"resultType": "complete", "prompts": []any{}, "ttlMs": 0, "cacheScope": "public"})}
	})},
	{name: "prompts are advertised and unknown", red: ids("C020"), t: capability("prompts", obj{})},
	{name: "the id null is served", red: ids("C022"), t: nulled()},
	{name: "fractions are ids", red: ids("C023"), t: idGiven(func(id any) bool { return string(encode(id)) == "1.5" })},
	{name: "anything is an id", red: ids("C023"), t: idGiven(func(id any) bool {
		switch id.(type) {
		case bool, []any, obj:
			return true
		}
		return false
	})},
	{name: "a code of the legacy range", red: ids("C024"), t: fixture(-32001)},
	{name: "an invented code of the reserved range", red: ids("C025"), t: fixture(-32050)},
	{name: "a withdrawn code", red: ids("C026"), t: fixture(-32002)},
	{name: "the other withdrawn code", red: ids("C026"), t: fixture(-32042)},
	{name: "a code of its own within the range of JSON-RPC", red: ids("C027"), t: fixture(-32500)},
	{name: "the code for headers where there are none", red: ids("C028"), t: fixture(-32020)},
	{name: "the code for versions for something else", red: ids("C029"), t: fixture(-32022)},
	{name: "the server asks the client", red: ids("C030"), t: preceding("tools/call", func(*message) []obj {
		return []obj{{"jsonrpc": "2.0", "id": "s-1", "method": "sampling/createMessage", "params": obj{}}}
	})},
	{name: "the acknowledgment has an id", red: ids("C030"), t: each(func(_ *session, m *message, v obj) {
		if v["method"] != nil {
			v["id"] = m.id
		}
	}, "subscriptions/listen")},
	{name: "a client's response is answered", red: ids("C031"), t: replace(func(_ *session, m *message) bool { return m.v["result"] != nil }, func(m *message) []obj {
		return []obj{success(m.id, obj{"resultType": "complete"})}
	})},
	{name: "two responses", red: ids("C032"), t: following("tools/list", func(m *message) []obj {
		return []obj{failure(m.id, -32603)}
	})},
	{name: "one request of many is lost", red: ids("C032"), t: replace(func(_ *session, m *message) bool { return asString(m.id) == "once-5" }, silent)},
	{name: "one tool is not answered", red: ids("C032"), t: replace(func(_ *session, m *message) bool {
		return m.tool() == "list_directory" && m.meta()["progressToken"] == nil && m.params()["requestState"] == nil
	}, silent)},
	{name: "deep arguments are not answered", red: ids("C033"), t: replace(func(_ *session, m *message) bool { return bytes.Contains(m.raw, []byte("[[[[[[[[")) }, silent)},
}

func code2(s string) tamper {
	return onError(-32021, func(_ *message, _, e obj) { e["code"] = s })
}

// nulled serves requests whose id is null.
func nulled() tamper {
	return replace(func(_ *session, m *message) bool {
		_, there := m.v["id"]
		return there && m.id == nil && m.method != ""
	}, func(*message) []obj {
		return []obj{success("null", obj{"resultType": "complete", "supportedVersions": []any{"2026-07-28"}, "capabilities": obj{}, "ttlMs": 0, "cacheScope": "public"})}
	})
}

// idGiven serves requests whose id is one of some kind.
func idGiven(is func(any) bool) tamper {
	return incoming(func(_ *session, m *message) {
		if m.id != nil && is(m.id) {
			m.v["id"] = "given"
		}
	})
}

var stateMutants = []mutant{
	{name: "the first request of a connection counts for all", red: ids("C021"), also: ids("C040 C041 C042"), t: incoming(func(s *session, m *message) {
		if meta := m.meta(); meta != nil && m.method != "initialize" {
			for _, k := range []string{keyVersion, keyCapabilities} {
				if meta[k] != nil && s.memory[k] == nil {
					s.memory[k] = meta[k]
				} else if meta[k] == nil && s.memory[k] != nil {
					meta[k] = s.memory[k]
				}
			}
		}
	})},
	{name: "a refused version spoils the connection", red: ids("C034"), also: ids("C029"), t: replace(func(s *session, m *message) bool {
		bad := s.memory["bad"] == true
		s.memory["bad"] = m.version() == "1999-01-01" && m.method == "server/discover"
		return bad && m.version() == "2026-07-28" && m.method == "server/discover"
	}, refusing(-32022))},
	{name: "a foreign key in _meta empties the list", red: ids("C035"), t: onResult(func(m *message, r obj) {
		if m.meta()["conformance.example/turn"] != nil {
			r["tools"] = []any{}
		}
	}, "tools/list")},
	{name: "cursors belong to a connection", red: ids("C036"), t: replace(func(s *session, m *message) bool {
		return m.params()["cursor"] == "page:4" && s.number != 1
	}, refusing(-32602))},
	{name: "another connection sees another list", red: ids("C037"), t: each(func(s *session, _ *message, v obj) {
		if all, _ := resultOf(v)["tools"].([]any); s.number > 1 && len(all) > 0 && all[0].(obj)["name"] == "project_overview" {
			all[0].(obj)["description"] = "another"
		}
	}, "tools/list")},
	{name: "discover changes from call to call", red: ids("C038"), t: each(func(s *session, _ *message, v obj) {
		if c := sub(resultOf(v), "capabilities"); c != nil && s.count%2 == 0 {
			c["experimental"] = obj{}
		}
	}, "server/discover")},
	{name: "params may be missing", red: ids("C040"), t: incoming(func(_ *session, m *message) {
		if m.v != nil && m.v["params"] == nil && m.method == "server/discover" {
			m.v["params"] = obj{"_meta": obj{keyVersion: "2026-07-28", keyCapabilities: obj{}}}
		}
	})},
	{name: "params may be an array", red: ids("C040"), t: incoming(func(_ *session, m *message) {
		if _, ok := m.v["params"].([]any); ok && m.method != "" {
			m.v["params"] = obj{"_meta": obj{keyVersion: "2026-07-28", keyCapabilities: obj{}}}
		}
	})},
	{name: "a call needs no capabilities", red: ids("C042"), t: incoming(func(_ *session, m *message) {
		if meta := m.meta(); m.method == "tools/call" && meta[keyVersion] == "2026-07-28" && meta[keyCapabilities] == nil {
			meta[keyCapabilities] = obj{}
		}
	})},
	{name: "a call needs no revision", red: ids("C041"), t: incoming(func(_ *session, m *message) {
		if meta := m.meta(); m.method == "tools/call" && meta[keyCapabilities] != nil && meta[keyVersion] == nil {
			meta[keyVersion] = "2026-07-28"
		}
	})},
	{name: "the revision may be missing", red: ids("C041"), t: incoming(func(_ *session, m *message) {
		if meta := m.meta(); meta[keyCapabilities] != nil && meta[keyVersion] == nil {
			meta[keyVersion] = "2026-07-28"
		}
	})},
	{name: "another code for a missing revision", red: ids("C041"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if meta := m.meta(); meta[keyCapabilities] != nil && meta[keyVersion] == nil && len(replies) > 0 {
			errorOf(replies[0])["code"] = -32600
		}
		return replies
	}}},
	{name: "the capabilities may be missing", red: ids("C042"), also: ids("C021"), t: incoming(func(_ *session, m *message) {
		if meta := m.meta(); meta[keyVersion] == "2026-07-28" && meta[keyCapabilities] == nil {
			meta[keyCapabilities] = obj{}
		}
	})},
	{name: "clientInfo is demanded", red: ids("C044"), t: replace(func(_ *session, m *message) bool {
		return m.meta()[keyVersion] == "2026-07-28" && m.meta()[keyInfo] == nil
	}, refusing(-32602))},
	{name: "serverInfo is left out", red: ids("C045"), t: onResult(func(_ *message, r obj) { delete(sub(r, "_meta"), "io.modelcontextprotocol/serverInfo") })},
	{name: "serverInfo is at the top", red: ids("C045"), t: onResult(func(_ *message, r obj) {
		r["serverInfo"] = obj{"name": "x", "version": "1"}
		delete(sub(r, "_meta"), "io.modelcontextprotocol/serverInfo")
	}, "server/discover")},
	{name: "an admin sees more", red: ids("C046"), t: onResult(func(m *message, r obj) {
		if sub(m.meta(), keyInfo)["name"] == "admin" {
			r["tools"] = []any{}
		}
	}, "tools/list")},
	{name: "the missing capability is an array", red: ids("C047"), t: onError(-32021, func(_ *message, _, e obj) { e["data"] = obj{"requiredCapabilities": []any{"sampling"}} })},
	{name: "a key that breaks the grammar", red: ids("C049"), t: metaKey("-bad key")},
	{name: "a key under a reserved prefix", red: ids("C050"), t: metaKey("dev.mcp/timing")},
	{name: "a traceparent of another form", red: ids("C051"), t: onResult(func(_ *message, r obj) { sub(r, "_meta")["traceparent"] = "4bf92f3577b34da6" }, "server/discover")},
	{name: "a malformed traceparent is refused", red: ids("C052"), t: replace(func(_ *session, m *message) bool { return m.meta()["traceparent"] == "garbage" }, refusing(-32602))},
	{name: "a foreign extension is not answered", red: ids("C054"), also: ids("C032"), t: replace(foreignExtension, silent)},
	{name: "a foreign extension is taken up", red: ids("C054"), also: ids("C005"), t: replace(foreignExtension, func(m *message) []obj {
		return []obj{success(m.id, obj{"resultType": "task", "ttlMs": 0, "cacheScope": "public"})}
	})},
	{name: "calls are served in any version", red: ids("C057"), t: replace(func(_ *session, m *message) bool {
		return m.method == "tools/call" && m.version() != "2026-07-28" && m.version() != ""
	}, func(m *message) []obj { return []obj{success(m.id, obj{"resultType": "complete", "content": []any{}})} })},
	{name: "requested is left out", red: ids("C058"), t: onError(-32022, func(_ *message, _, e obj) { delete(sub(e, "data"), "requested") })},
	{name: "supported names more than discover", red: ids("C058"), t: onError(-32022, func(_ *message, _, e obj) { sub(e, "data")["supported"] = []any{"2026-07-28", "2027-01-01"} })},
	{name: "later versions are served", red: ids("C059"), also: ids("C011 C069"), t: anyVersion(func(v string) bool { return v > "2026-07-28" && v[0] == '2' })},
	{name: "versions are compared by prefix", red: ids("C059"), t: anyVersion(func(v string) bool {
		return strings.HasPrefix(v, "2026-07-28") || strings.HasPrefix("2026-07-28", v)
	})},
	{name: "versions are trimmed", red: ids("C059"), t: anyVersion(func(v string) bool { return strings.TrimSpace(v) == "2026-07-28" })},
	{name: "a tool that exists runs in any version", red: ids("C057"), t: incoming(func(_ *session, m *message) {
		if m.method == "tools/call" && slices.Contains(own, m.tool()) && m.meta()[keyVersion] != nil {
			m.meta()[keyVersion] = "2026-07-28"
		}
	})},
	{name: "a legacy initialize is not answered", red: ids("C060"), t: replace(legacy, silent)},
	{name: "a legacy initialize is accepted for this revision", red: ids("C060"), t: replace(legacy, func(m *message) []obj {
		return []obj{success(m.id, obj{"resultType": "complete", "protocolVersion": "2026-07-28", "capabilities": obj{}})}
	})},
	{name: "the refusal of initialize names no version", red: ids("C061"), t: replace(legacy, refusing(-32601))},
	{name: "ping is answered", red: ids("C063"), t: replace(method("ping"), func(m *message) []obj { return []obj{success(m.id, obj{"resultType": "complete"})} })},
	{name: "initialize is always about versions", red: ids("C063"), also: ids("C029"), t: code(-32601, -32022, "initialize")},
	{name: "an extension without a prefix", red: ids("C064"), base: append([]tamper{extended}, rich...), t: capability("extensions", obj{"tasks": obj{}})},
	{name: "a capability is true", red: ids("C065"), t: capability("tools", true)},
	{name: "listChanged is a string", red: ids("C065"), t: onResult(func(_ *message, r obj) { sub(r, "capabilities", "tools")["listChanged"] = "no" }, "server/discover")},
	{name: "versions are numbers", red: ids("C065"), t: onResult(func(_ *message, r obj) { r["supportedVersions"] = []any{"2026-07-28", 20251125} }, "server/discover")},
	{name: "a version is listed and not served", red: ids("C066"), t: onResult(func(_ *message, r obj) { r["supportedVersions"] = []any{"2026-07-28", "2027-06-01"} }, "server/discover")},
	{name: "the version served is not listed", red: ids("C066"), also: ids("C058"), t: onResult(func(_ *message, r obj) { r["supportedVersions"] = []any{"2025-11-25"} }, "server/discover")},
	{name: "instructions are a list", red: ids("C067"), t: onResult(func(_ *message, r obj) { r["instructions"] = []any{"read"} }, "server/discover")},
	{name: "discover is not the first message", red: ids("C069"), t: replace(func(s *session, m *message) bool {
		return s.count == 1 && s.number > 1 && m.method == "server/discover" && m.version() == "2026-07-28"
	}, refusing(-32600))},
}

func foreignExtension(_ *session, m *message) bool {
	return m.method == "tools/list" && sub(m.meta(), keyCapabilities, "extensions") != nil
}

func legacy(_ *session, m *message) bool { return m.method == "initialize" && m.meta() == nil }

func metaKey(name string) tamper {
	return onResult(func(_ *message, r obj) {
		if meta := sub(r, "_meta"); meta != nil {
			meta[name] = "x"
		}
	})
}

// anyVersion serves more versions than are listed.
func anyVersion(served func(string) bool) tamper {
	return incoming(func(_ *session, m *message) {
		if v := m.version(); v != "" && served(v) {
			m.meta()[keyVersion] = "2026-07-28"
		}
	})
}
