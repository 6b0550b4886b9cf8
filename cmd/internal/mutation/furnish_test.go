package mutation

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// What our server does not do, so that checks about it have something to judge:
// stands have pages, tools that need the client, annotated arguments.

func number(v any) int {
	n, _ := v.(json.Number)
	i, err := strconv.Atoi(string(n))
	if err != nil {
		if f, ok := v.(int); ok {
			return f
		}
	}
	return i
}

func resultOf(v obj) obj { r, _ := v["result"].(obj); return r }
func errorOf(v obj) obj  { e, _ := v["error"].(obj); return e }

func sub(v obj, path ...string) obj {
	for _, p := range path {
		v, _ = v[p].(obj)
	}
	return v
}

// pageSize splits our seven tools and two more into pages.
const pageSize = 4

var paging = paged(pageSize)

// paged splits the list into pages of a size.
func paged(size int) tamper {
	return tamper{
		before: func(s *session, m *message) ([]obj, bool) {
			if c, ok := m.params()["cursor"].(string); ok && m.method == "tools/list" && strings.HasPrefix(c, "page:") {
				s.memory["page "+string(encode(m.id))] = c
				delete(m.params(), "cursor")
			}
			return nil, false
		},
		after: func(s *session, m *message, replies []obj) []obj {
			if m.method != "tools/list" {
				return replies
			}
			from := 0
			if c, ok := s.memory["page "+string(encode(m.id))].(string); ok {
				from, _ = strconv.Atoi(strings.TrimPrefix(c, "page:"))
			}
			for _, v := range replies {
				r := resultOf(v)
				all, ok := r["tools"].([]any)
				if !ok {
					continue
				}
				to := min(from+size, len(all))
				if to < len(all) {
					r["nextCursor"] = fmt.Sprintf("page:%d", to)
				}
				r["tools"] = all[min(from, to):to]
			}
			return replies
		},
	}
}

// extra tools: one needs a capability of the client, one asks for input.
var extraTools = tamper{
	before: func(_ *session, m *message) ([]obj, bool) {
		if m.method != "tools/call" || m.version() != "2026-07-28" || m.meta()["io.modelcontextprotocol/clientCapabilities"] == nil {
			return nil, false
		}
		switch m.tool() {
		case "needs_sampling":
			v := failure(m.id, -32021)
			errorOf(v)["data"] = obj{"requiredCapabilities": obj{"sampling": obj{}}}
			return []obj{v}, true
		case "asks":
			return []obj{success(m.id, obj{"resultType": "input_required", "requestState": "opaque"})}, true
		}
		return nil, false
	},
	after: func(_ *session, m *message, replies []obj) []obj {
		if m.method != "tools/list" {
			return replies
		}
		for _, v := range replies {
			if all, ok := resultOf(v)["tools"].([]any); ok {
				for _, name := range []string{"needs_sampling", "asks"} {
					all = append(all, obj{
						"name": name, "description": "for tests", "annotations": obj{"readOnlyHint": true},
						"inputSchema": obj{"type": "object", "additionalProperties": false},
					})
				}
				resultOf(v)["tools"] = all
			}
		}
		return replies
	},
}

func success(id any, result obj) obj {
	result["_meta"] = obj{"io.modelcontextprotocol/serverInfo": obj{"name": "stand", "version": "0"}}
	return obj{"jsonrpc": "2.0", "id": id, "result": result}
}

func progressNote(token any, n int) obj {
	return obj{"jsonrpc": "2.0", "method": "notifications/progress", "params": obj{"progressToken": token, "progress": n}}
}

// asText adds the structured content as text.
var asText = tamper{after: func(_ *session, m *message, replies []obj) []obj {
	for _, v := range replies {
		r := resultOf(v)
		if s, ok := r["structuredContent"]; ok && m.method == "tools/call" {
			content, _ := r["content"].([]any)
			r["content"] = append(content, obj{"type": "text", "text": string(encode(s))})
		}
	}
	return replies
}}

var traced = tamper{after: func(_ *session, m *message, replies []obj) []obj {
	for _, v := range replies {
		if meta := sub(resultOf(v), "_meta"); m.method == "server/discover" && meta != nil {
			meta["traceparent"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		}
	}
	return replies
}}

// annotated asks for the argument pattern of search_code in a header.
var annotated = tamper{after: func(_ *session, m *message, replies []obj) []obj {
	if m.method != "tools/list" {
		return replies
	}
	for _, v := range replies {
		all, _ := resultOf(v)["tools"].([]any)
		for _, t := range all {
			if t, _ := t.(obj); t["name"] == "search_code" {
				sub(t, "inputSchema", "properties", "pattern")["x-mcp-header"] = "Pattern"
			}
		}
	}
	return replies
}}

// extended advertises an extension.
var extended = capability("extensions", obj{"com.example/none": obj{}})

// changing advertises that the list of tools may change, and says so when asked.
var changing = tamper{after: func(_ *session, m *message, replies []obj) []obj {
	for _, v := range replies {
		if tools := sub(resultOf(v), "capabilities", "tools"); tools != nil {
			tools["listChanged"] = true
		}
		asked, _ := sub(m.params(), "notifications")["toolsListChanged"].(bool)
		if n := sub(v, "params", "notifications"); v["method"] == "notifications/subscriptions/acknowledged" && asked {
			n["toolsListChanged"] = true
		}
	}
	return replies
}}

func capability(name string, value any) tamper {
	return tamper{after: func(_ *session, _ *message, replies []obj) []obj {
		for _, v := range replies {
			if c := sub(resultOf(v), "capabilities"); c != nil {
				c[name] = value
			}
		}
		return replies
	}}
}

// rich is the stand of most mutants. The first one is nearest to the client.
var rich = []tamper{paging, extraTools, asText, traced, annotated}

// checksParam is what a server with an annotated argument has to do over HTTP.
var checksParam = webbed{request: func(f *flow) {
	pattern, ok := sub(f.m.params(), "arguments")["pattern"].(string)
	sent := f.r.Header.Get("Mcp-Param-Pattern")
	if s, marked := strings.CutPrefix(sent, "=?base64?"); marked {
		if b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(s, "?=")); err == nil {
			sent = string(b)
		}
	}
	if f.m.method == "tools/call" && f.m.tool() == "search_code" && ok && sent != pattern {
		f.refuse(400, -32020)
	}
}}

// checksToken is what a server with a token has to do.
var checksToken = webbed{request: func(f *flow) {
	if f.r.Header.Get("Authorization") != "Bearer "+secret {
		f.refuse(401, -32600)
		f.header.Set("WWW-Authenticate", "Bearer")
	}
}}

const secret = "stand-secret"
