package mutation

import (
	"encoding/json"
	"slices"
)

// Small tampers that mutants are made of.

// each changes every reply to requests of the methods; none means all.
func each(f func(s *session, m *message, v obj), methods ...string) tamper {
	return tamper{after: func(s *session, m *message, replies []obj) []obj {
		if len(methods) == 0 || slices.Contains(methods, m.method) {
			for _, v := range replies {
				f(s, m, v)
			}
		}
		return replies
	}}
}

// onResult changes results.
func onResult(f func(m *message, r obj), methods ...string) tamper {
	return each(func(_ *session, m *message, v obj) {
		if r := resultOf(v); r != nil {
			f(m, r)
		}
	}, methods...)
}

// onError changes errors with a code.
func onError(code int, f func(m *message, v, e obj), methods ...string) tamper {
	return each(func(_ *session, m *message, v obj) {
		if e := errorOf(v); e != nil && number(e["code"]) == code {
			f(m, v, e)
		}
	}, methods...)
}

// code gives errors another code.
func code(from, to int, methods ...string) tamper {
	return onError(from, func(_ *message, _, e obj) { e["code"] = to }, methods...)
}

// replace answers what when says so in place of the server.
func replace(when func(s *session, m *message) bool, with func(m *message) []obj) tamper {
	return tamper{before: func(s *session, m *message) ([]obj, bool) {
		if !when(s, m) {
			return nil, false
		}
		return with(m), true
	}}
}

func method(names ...string) func(*session, *message) bool {
	return func(_ *session, m *message) bool { return slices.Contains(names, m.method) }
}

func refusing(code int) func(*message) []obj {
	return func(m *message) []obj { return []obj{failure(m.id, code)} }
}

func silent(*message) []obj { return nil }

// incoming changes requests.
func incoming(f func(s *session, m *message)) tamper {
	return tamper{before: func(s *session, m *message) ([]obj, bool) {
		f(s, m)
		return nil, false
	}}
}

// following adds messages behind the replies to one method, preceding in front.
func following(name string, f func(m *message) []obj) tamper {
	return tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.method == name && len(replies) > 0 {
			return append(replies, f(m)...)
		}
		return replies
	}}
}

func preceding(name string, f func(m *message) []obj) tamper {
	return tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.method == name && len(replies) > 0 {
			return append(f(m), replies...)
		}
		return replies
	}}
}

func note(method string, params obj) obj {
	return obj{"jsonrpc": "2.0", "method": method, "params": params}
}

func onListen(id any, method string, params obj) obj {
	params["_meta"] = obj{"io.modelcontextprotocol/subscriptionId": id}
	return note(method, params)
}

// toolsOf changes the tools in a list.
func toolsOf(f func(m *message, t obj)) tamper {
	return onResult(func(m *message, r obj) {
		all, _ := r["tools"].([]any)
		for _, t := range all {
			if t, ok := t.(obj); ok {
				f(m, t)
			}
		}
	}, "tools/list")
}

func named(name string, f func(t obj)) tamper {
	return toolsOf(func(_ *message, t obj) {
		if t["name"] == name {
			f(t)
		}
	})
}

// callOf changes the result of one tool.
func resultOfTool(name string, f func(r obj)) tamper {
	return onResult(func(m *message, r obj) {
		if m.tool() == name {
			f(r)
		}
	}, "tools/call")
}

const (
	keyVersion      = "io.modelcontextprotocol/protocolVersion"
	keyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyInfo         = "io.modelcontextprotocol/clientInfo"
	keyLevel        = "io.modelcontextprotocol/logLevel"
	keySubscription = "io.modelcontextprotocol/subscriptionId"
)

// own lists the tools that are ours, which a call may name.
var own = []string{"project_overview", "list_directory", "search_code", "find_symbol", "read_file", "git_log", "git_diff"}

func asString(v any) any {
	if n, ok := v.(json.Number); ok {
		return string(n)
	}
	return v
}

func asNumber(v any) any {
	if s, ok := v.(string); ok && len(s) > 0 {
		return len(s)
	}
	return v
}
