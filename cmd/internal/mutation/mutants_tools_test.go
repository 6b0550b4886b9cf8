package mutation

import (
	"slices"
	"strings"
)

var toolMutants = []mutant{
	{name: "the tools capability is left out", red: ids("C070"), also: ids("C019"), t: onResult(func(_ *message, r obj) { delete(sub(r, "capabilities"), "tools") }, "server/discover")},
	{name: "tools are an object", red: ids("C071"), t: onResult(func(_ *message, r obj) { r["tools"] = obj{} }, "tools/list")},
	{name: "tools/list is not answered with a result", red: ids("C071"), also: ids("C020"), t: replace(func(_ *session, m *message) bool {
		return m.method == "tools/list" && m.version() == "2026-07-28" && m.meta()[keyCapabilities] != nil
	}, refusing(-32603))},
	{name: "the order of the tools changes", red: ids("C072"), t: each(func(s *session, _ *message, v obj) {
		if all, _ := resultOf(v)["tools"].([]any); len(all) > 1 && s.count%2 == 0 {
			all[0], all[1] = all[1], all[0]
		}
	}, "tools/list")},
	{name: "an input schema without a type", red: ids("C073"), t: named("git_log", func(t obj) { delete(sub(t, "inputSchema"), "type") })},
	{name: "a tool without a name", red: ids("C073"), t: named("git_log", func(t obj) { delete(t, "name") })},
	{name: "a space in a name", red: ids("C074"), t: named("git_log", func(t obj) { t["name"] = "git log" })},
	{name: "a tool is there twice", red: ids("C075"), t: onResult(func(_ *message, r obj) {
		if all, _ := r["tools"].([]any); len(all) > 0 {
			r["tools"] = append(all, clone(all[0].(obj)))
		}
	}, "tools/list")},
	{name: "an unknown type in a schema", red: ids("C076"), t: named("git_log", func(t obj) { sub(t, "inputSchema", "properties")["extra"] = obj{"type": "int"} })},
	{name: "required is a string", red: ids("C076"), t: named("git_log", func(t obj) { sub(t, "inputSchema")["required"] = "path" })},
	{name: "an argument is required twice", red: ids("C076"), t: named("git_log", func(t obj) { sub(t, "inputSchema")["required"] = []any{"a", "a"} })},
	{name: "a reference leads nowhere", red: ids("C076"), t: named("git_log", func(t obj) {
		sub(t, "inputSchema", "properties")["extra"] = obj{"$ref": "#/$defs/none"}
	})},
	{name: "a header for an argument that is a number", red: ids("C078"), t: named("git_log", func(t obj) {
		sub(t, "inputSchema", "properties")["extra"] = obj{"type": "number", "x-mcp-header": "Extra"}
	})},
	{name: "two arguments with one header", red: ids("C078"), t: named("git_log", func(t obj) {
		for _, n := range []string{"extra", "more"} {
			sub(t, "inputSchema", "properties")[n] = obj{"type": "string", "x-mcp-header": strings.ToUpper("one")}
		}
	})},
	{name: "a header within an array", red: ids("C078"), t: named("git_log", func(t obj) {
		sub(t, "inputSchema", "properties")["extra"] = obj{"type": "array", "items": obj{"type": "string", "x-mcp-header": "Extra"}}
	})},
	{name: "a description is a number", red: ids("C079"), t: named("git_log", func(t obj) { t["description"] = 5 })},
	{name: "a hint is a string", red: ids("C079"), t: named("git_log", func(t obj) { sub(t, "annotations")["openWorldHint"] = "no" })},
	{name: "content is null", red: ids("C080"), also: ids("C082 C088"), t: resultOfTool("read_file", func(r obj) { r["content"] = nil })},
	{name: "an image without data", red: ids("C080"), t: resultOfTool("read_file", func(r obj) { r["content"] = append(r["content"].([]any), obj{"type": "image"}) })},
	{name: "structured content breaks its schema", red: ids("C081"), also: ids("C082"), t: resultOfTool("list_directory", func(r obj) { r["structuredContent"] = obj{"surprise": true} })},
	{name: "a denial breaks the schema", red: ids("C081"), also: ids("C082"), t: onResult(func(_ *message, r obj) {
		if r["isError"] == true {
			r["structuredContent"] = obj{"oops": 1}
		}
	}, "tools/call")},
	{name: "structured content is left out", red: ids("C081"), t: resultOfTool("list_directory", func(r obj) { delete(r, "structuredContent") })},
	{name: "structured content is not there as text", red: ids("C082"), base: []tamper{paging, extraTools, traced, annotated}},
	{name: "arguments are demanded", red: ids("C083"), t: replace(func(_ *session, m *message) bool {
		_, there := m.params()["arguments"]
		return m.method == "tools/call" && m.meta()[keyVersion] == "2026-07-28" && !there && slices.Contains(own, m.tool())
	}, refusing(-32602))},
	{name: "an unknown tool is a result", red: ids("C084"), t: replace(unknownTool, func(m *message) []obj {
		return []obj{success(m.id, obj{"resultType": "complete", "isError": true, "content": []any{obj{"type": "text", "text": "no such tool"}}})}
	})},
	{name: "an unknown tool is an unknown method", red: ids("C084"), t: replace(unknownTool, refusing(-32601))},
	{name: "another code for a missing name", red: ids("C085"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if _, ok := m.params()["name"].(string); m.method == "tools/call" && m.version() == "2026-07-28" && !ok && len(replies) > 0 {
			errorOf(replies[0])["code"] = -32603
		}
		return replies
	}}},
	{name: "arguments may be anything", red: ids("C086"), t: incoming(func(_ *session, m *message) {
		if a, there := m.params()["arguments"]; there {
			if _, ok := a.(obj); !ok {
				m.params()["arguments"] = obj{}
			}
		}
	})},
	{name: "arguments are not judged", red: ids("C087"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if _, ok := m.params()["arguments"].(obj); ok && m.method == "tools/call" && slices.Contains(own, m.tool()) && m.version() == "2026-07-28" && m.meta()[keyCapabilities] != nil {
			for i, v := range replies {
				if number(errorOf(v)["code"]) == -32602 {
					replies[i] = success(m.id, obj{"resultType": "complete", "content": []any{}})
				}
			}
		}
		return replies
	}}},
	{name: "a failure says nothing", red: ids("C088"), also: ids("C082"), t: onResult(func(_ *message, r obj) {
		if r["isError"] == true {
			r["content"] = []any{}
		}
	}, "tools/call")},
	{name: "tool names are compared without case", red: ids("C089"), t: incoming(func(_ *session, m *message) {
		if n := strings.ToLower(m.tool()); slices.Contains(own, n) {
			m.params()["name"] = n
		}
	})},
	{name: "a resource is embedded", red: ids("C090"), t: resultOfTool("read_file", func(r obj) {
		r["content"] = append(r["content"].([]any), obj{"type": "resource", "resource": obj{"uri": "file:///a", "text": "a"}})
	})},
	{name: "isError is a string", red: ids("C178"), t: onResult(func(_ *message, r obj) {
		if r["isError"] == true {
			r["isError"] = "true"
		}
	}, "tools/call")},
	{name: "list_changed without the capability", red: ids("C091"), also: ids("C174"), t: preceding("tools/call", func(*message) []obj {
		return []obj{note("notifications/tools/list_changed", obj{})}
	})},
	{name: "tools/list asks for input", red: ids("C092"), t: onResult(func(_ *message, r obj) { r["resultType"], r["requestState"] = "input_required", "x" }, "tools/list")},
	{name: "a foreign requestState breaks a call", red: ids("C093"), t: onResult(func(m *message, r obj) {
		if m.params()["requestState"] != nil {
			r["isError"] = true
		}
	}, "tools/call")},
	{name: "an input_required result that asks for nothing", red: ids("C094"), t: resultOfTool("asks", func(r obj) { delete(r, "requestState") })},
	{name: "nextCursor is null at the end", red: ids("C095"), t: onResult(func(_ *message, r obj) {
		if r["nextCursor"] == nil {
			r["nextCursor"] = nil
		}
	}, "tools/list")},
	{name: "pages overlap", red: ids("C096"), t: onResult(func(m *message, r obj) {
		if all, _ := r["tools"].([]any); m.params() != nil && r["nextCursor"] == nil && len(all) > 0 {
			all[0].(obj)["name"] = "project_overview"
		}
	}, "tools/list")},
	{name: "the pages never end", red: ids("C096"), t: onResult(func(_ *message, r obj) { r["nextCursor"] = "page:4" }, "tools/list")},
	{name: "a cursor can be used once", red: ids("C097"), t: tamper{after: func(s *session, m *message, replies []obj) []obj {
		if c, ok := s.memory["page "+string(encode(m.id))].(string); ok && m.method == "tools/list" {
			if s.memory["used "+c] == true && s.number == 1 {
				return []obj{failure(m.id, -32602)}
			}
			s.memory["used "+c] = true
		}
		return replies
	}}},
	{name: "any cursor is the first page", red: ids("C098"), t: incoming(func(_ *session, m *message) {
		if c, ok := m.params()["cursor"].(string); ok && strings.HasPrefix(c, "conformance") {
			delete(m.params(), "cursor")
		}
	})},
	{name: "another code for a cursor", red: ids("C098"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if c, ok := m.params()["cursor"].(string); ok && strings.HasPrefix(c, "conformance") && len(replies) > 0 {
			errorOf(replies[0])["code"] = -32603
		}
		return replies
	}}},
	{name: "a cursor may be a number", red: ids("C099"), t: incoming(func(_ *session, m *message) {
		if _, ok := m.params()["cursor"].(string); !ok && m.method == "tools/list" {
			delete(m.params(), "cursor")
		}
	})},
	{name: "ttlMs is left out when it is 0", red: ids("C100"), t: onResult(func(_ *message, r obj) { delete(r, "ttlMs") }, "server/discover")},
	{name: "lists have no cacheScope", red: ids("C100"), t: onResult(func(_ *message, r obj) { delete(r, "cacheScope") }, "tools/list")},
	{name: "ttlMs is negative", red: ids("C101"), t: onResult(func(_ *message, r obj) { r["ttlMs"] = -1 }, "tools/list")},
	{name: "ttlMs is a string", red: ids("C101"), t: onResult(func(_ *message, r obj) { r["ttlMs"] = "300" }, "server/discover")},
	{name: "an invented cacheScope", red: ids("C102"), t: onResult(func(_ *message, r obj) { r["cacheScope"] = "shared" }, "server/discover")},
	{name: "the last page is private", red: ids("C103"), t: onResult(func(_ *message, r obj) {
		if r["nextCursor"] == nil {
			r["cacheScope"] = "private"
		}
	}, "tools/list")},
	{name: "log messages that nobody asked for", red: ids("C105"), base: append([]tamper{capability("logging", obj{})}, rich...), t: preceding("tools/call", logged)},
	{name: "log messages without the capability", red: ids("C106"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.meta()[keyLevel] == "debug" {
			return append(logged(m), replies...)
		}
		return replies
	}}},
	{name: "log messages below the level", red: ids("C176"), base: append([]tamper{capability("logging", obj{})}, rich...), t: logging(obj{"level": "debug", "data": "x"})},
	{name: "log messages without a level", red: ids("C177"), base: append([]tamper{capability("logging", obj{})}, rich...), t: logging(obj{"data": "x"})},
	{name: "log messages without data", red: ids("C177"), base: append([]tamper{capability("logging", obj{})}, rich...), t: logging(obj{"level": "error"})},
	{name: "any log level will do", red: ids("C107"), t: incoming(func(_ *session, m *message) {
		if l := m.meta()[keyLevel]; l != nil {
			m.meta()[keyLevel] = "debug"
		}
	})},
	{name: "a log level is unknown", red: ids("C108"), t: replace(func(_ *session, m *message) bool { return m.meta()[keyLevel] == "notice" }, refusing(-32602))},
	{name: "progress for another token", red: ids("C110"), t: tokens(func(any) any { return "other" })},
	{name: "the token changes its type", red: ids("C110"), t: tokens(func(t any) any {
		if s := asString(t); s != t {
			return s
		}
		return asNumber(t)
	})},
	{name: "progress does not rise", red: ids("C111"), t: each(func(_ *session, _ *message, v obj) {
		if v["method"] == "notifications/progress" {
			v["params"].(obj)["progress"] = 1
		}
	})},
	{name: "progress after the response", red: ids("C112"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if t := m.meta()["progressToken"]; t != nil && m.method == "tools/call" {
			return append(replies, progressNote(t, 1000))
		}
		return replies
	}}},
	{name: "tokens must be strings", red: ids("C113"), t: replace(func(_ *session, m *message) bool {
		t := m.meta()["progressToken"]
		return t != nil && m.method == "server/discover" && asString(t) != t
	}, refusing(-32602))},
}

func unknownTool(_ *session, m *message) bool {
	return m.method == "tools/call" && m.version() == "2026-07-28" && m.tool() == "conformance_no_such_tool"
}

func logged(*message) []obj {
	return []obj{note("notifications/message", obj{"level": "emergency", "data": "x"})}
}

// logging sends a log message to calls that ask for errors.
func logging(params obj) tamper {
	return preceding("tools/call", func(m *message) []obj {
		if m.meta()[keyLevel] != "error" {
			return nil
		}
		return []obj{note("notifications/message", params)}
	})
}

func tokens(f func(any) any) tamper {
	return each(func(_ *session, _ *message, v obj) {
		if p, ok := v["params"].(obj); ok && v["method"] == "notifications/progress" {
			p["progressToken"] = f(p["progressToken"])
		}
	})
}
