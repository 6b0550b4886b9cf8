package mutation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"mcp-devserver/conformance"
)

// unusual is a server that keeps to the specification in a way that ours does
// not. An accusation against one is a defect of a check.
type unusual struct {
	name string
	kind kind
	base []tamper // rich, if nil
	t    tamper
	w    webbed
	p    piped
	// but lists the checks that complain with reason: advice that is not kept.
	but []string
	// seen lists checks that have to be ok, lest everything be skipped.
	seen []string
	call []string
}

var unusuals = []unusual{
	{name: "members that no one asked for", seen: ids("C002 C065 C073 C080 C081"), t: tamper{after: func(_ *session, _ *message, replies []obj) []obj {
		for _, v := range replies {
			if r := resultOf(v); r != nil {
				r["com.example/extra"], r["extra"] = obj{"a": []any{1}}, nil
				if meta := sub(r, "_meta"); meta != nil {
					meta["com.example/trace"] = "x"
					meta["plain"] = obj{}
					sub(meta, "io.modelcontextprotocol/serverInfo")["icons"] = []any{}
				}
				if c := sub(r, "capabilities"); c != nil {
					c["experimental"] = obj{"x": obj{}}
					sub(c, "tools")["extra"] = 1
				}
				for _, kind := range []string{"tools", "content"} {
					all, _ := r[kind].([]any)
					for _, t := range all {
						t.(obj)["extra"] = "x"
						t.(obj)["_meta"] = obj{"com.example/note": 1}
					}
				}
			}
			if e := errorOf(v); e != nil {
				e["extra"] = true
				if e["data"] == nil {
					e["data"] = []any{"more", obj{"about": "it"}}
				}
			}
		}
		return replies
	}}},
	{name: "pretty-printed, members in another order", t: respelt(func(v obj) string {
		var b strings.Builder
		scrambled(&b, v, "\r\n\t ")
		return b.String() + " \n"
	})},
	{name: "every character is escaped", t: respelt(func(v obj) string { return escaped(string(encode(v))) })},
	{name: "schemas that accept anything", seen: ids("C073 C080"), t: toolsOf(func(_ *message, t obj) {
		t["inputSchema"] = obj{"type": "object"}
		delete(t, "outputSchema")
	})},
	{name: "schemas with references, anchors and a dialect of their own", seen: ids("C076"), t: toolsOf(func(_ *message, t obj) {
		s := t["inputSchema"].(obj)
		s["$defs"] = obj{
			"a b":    obj{"$anchor": "spaced", "type": "string"},
			"nested": obj{"$id": "https://example.com/nested", "$defs": obj{"x": obj{"type": "null"}}, "properties": obj{"y": obj{"$ref": "#/$defs/x"}}},
			"old":    obj{"type": []any{"string", "null"}, "default": nil, "format": "made-up", "x-vendor": obj{"required": "no"}},
		}
		props, _ := s["properties"].(obj)
		if props == nil {
			return
		}
		props["odd"] = obj{"anyOf": []any{obj{"$ref": "#/$defs/a%20b"}, obj{"$ref": "#spaced"}, obj{"$ref": "#/$defs/nested"}, true}}
		props["required"] = obj{"type": "boolean", "enum": []any{true}}
		props["$ref"] = obj{"description": "a property that is called so"}
	})},
	{name: "no tools", base: []tamper{}, seen: ids("C071 C100"), t: tamper{before: func(_ *session, m *message) ([]obj, bool) {
		if m.method == "tools/call" && m.version() == "2026-07-28" {
			return []obj{failure(m.id, -32602)}, true
		}
		return nil, false
	}, after: func(_ *session, m *message, replies []obj) []obj {
		for _, v := range replies {
			if r := resultOf(v); r["tools"] != nil {
				r["tools"] = []any{}
			}
		}
		return replies
	}}},
	{name: "no capability at all", base: []tamper{}, seen: ids("C019"), t: tamper{before: func(_ *session, m *message) ([]obj, bool) {
		if strings.HasPrefix(m.method, "tools/") && m.version() == "2026-07-28" && m.meta()[keyCapabilities] != nil {
			return []obj{failure(m.id, -32601)}, true
		}
		return nil, false
	}, after: func(_ *session, m *message, replies []obj) []obj {
		for _, v := range replies {
			if r := resultOf(v); r["capabilities"] != nil {
				r["capabilities"] = obj{}
			}
		}
		return replies
	}}},
	{name: "one tool on each of sixty pages", base: []tamper{paged(1), many(60), asText}, seen: ids("C096 C097 C103")},
	{name: "six hundred tools", base: []tamper{many(600), asText}, seen: ids("C072 C073 C080")},
	{name: "a last page that is empty", base: []tamper{emptyLast, asText}, seen: ids("C096")},
	{name: "tools that fail without a progress token", seen: ids("C080 C110 C111"), t: replace(func(_ *session, m *message) bool {
		a, proper := m.params()["arguments"].(obj)
		return m.method == "tools/call" && slices.Contains(own, m.tool()) && m.version() == "2026-07-28" && m.meta()["progressToken"] == nil && m.meta()[keyCapabilities] != nil && proper && len(a) == 0
	}, func(m *message) []obj {
		return []obj{success(m.id, obj{"resultType": "complete", "isError": true, "content": []any{obj{"type": "text", "text": "a progress token is needed"}}})}
	})},
	{name: "no tool says that it is read-only", seen: ids("C001 C073"), t: toolsOf(func(_ *message, t obj) { delete(t, "annotations") })},
	{name: "all tools are called, one by one", call: []string{"*"}, seen: ids("C080 C081"), t: toolsOf(func(_ *message, t obj) { delete(t, "annotations") })},
	{name: "prompts, resources and completions", base: append([]tamper{offering}, rich...), seen: ids("C020"), t: tamper{}},
	{name: "arguments that break the schema are a result with isError", seen: ids("C087"), t: onInvalid(func(m *message, _ obj) obj {
		if _, ok := m.params()["arguments"].(obj); !ok && m.params()["arguments"] != nil {
			return nil
		}
		return success(m.id, obj{"resultType": "complete", "isError": true, "content": []any{obj{"type": "text", "text": "no"}}})
	})},
	{name: "errors with codes of the server's own", seen: ids("C027"), t: onInvalid(func(m *message, v obj) obj {
		if _, ok := m.params()["arguments"].(obj); ok {
			errorOf(v)["code"] = 1234
		}
		return nil
	})},
	{name: "nothing to notify of", base: []tamper{paging, asText}, seen: ids("C032"), t: replace(func(_ *session, m *message) bool {
		return m.method == "subscriptions/listen" && m.version() == "2026-07-28" && m.meta()[keyCapabilities] != nil
	}, refusing(-32601))},
	{name: "ttlMs with an exponent", t: onResult(func(_ *message, r obj) {
		if r["ttlMs"] != nil {
			r["ttlMs"] = json.Number("3e5")
		}
	}), seen: ids("C101")},
	{name: "content of every kind", seen: ids("C080 C082"), base: []tamper{offering, paging}, t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		for _, v := range replies {
			if r := resultOf(v); m.method == "tools/call" && r["content"] != nil {
				r["content"] = append(r["content"].([]any), obj{"type": "image", "data": "AA==", "mimeType": "image/png"}, obj{"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
					obj{"type": "resource_link", "uri": "file:///a", "name": "a"}, obj{"type": "resource", "resource": obj{"uri": "file:///a", "blob": "AA=="}},
					obj{"type": "text", "text": string(encode(r["structuredContent"])), "annotations": obj{"audience": []any{"user"}, "priority": 0.5}})
			}
		}
		return replies
	}}},
	{name: "structured content that is no object", seen: ids("C081"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		for _, v := range replies {
			r := resultOf(v)
			all, _ := r["tools"].([]any)
			for _, t := range all {
				if t.(obj)["outputSchema"] != nil {
					t.(obj)["outputSchema"] = obj{"type": "array", "items": obj{"type": "integer"}}
				}
			}
			if r["structuredContent"] != nil {
				r["structuredContent"] = []any{1, 2}
				r["content"] = []any{obj{"type": "text", "text": "[1, 2.0]"}}
			}
		}
		return replies
	}}},
	{name: "a further revision", seen: ids("C011 C066"), t: tamper{before: func(s *session, m *message) ([]obj, bool) {
		if m.version() == "2027-03-04" {
			s.memory["other "+string(encode(m.id))] = true
			m.meta()[keyVersion] = "2026-07-28"
		}
		return nil, false
	}, after: func(_ *session, _ *message, replies []obj) []obj {
		for _, v := range replies {
			if r := resultOf(v); r["supportedVersions"] != nil {
				r["supportedVersions"] = []any{"2026-07-28", "2027-03-04"}
			}
			if d := sub(errorOf(v), "data"); d["supported"] != nil {
				d["supported"] = []any{"2027-03-04", "2026-07-28"}
			}
		}
		return replies
	}}},

	{name: "HTTP: chunked, with parameters and other cases in its headers", kind: overHTTP, seen: ids("C146"), w: onResponse(func(f *flow) {
		f.chunked = true
		if f.header.Get("Content-Type") == "application/json" {
			f.header["content-type"] = []string{"Application/JSON; charset=utf-8"}
			f.header.Del("Content-Type")
		}
		f.header["x-odd"] = []string{"1"}
	})},
	{name: "HTTP: every answer is a stream with comments, CRLF and data in pieces", kind: overHTTP, seen: ids("C146 C147 C149"), w: onResponse(func(f *flow) {
		if len(f.replies) == 0 || f.status != 200 {
			return
		}
		f.header = map[string][]string{"Content-Type": {"text/event-stream;charset=utf-8"}, "X-Accel-Buffering": {"no"}}
		f.text = "\ufeff:\r\n: keep-alive\r\n\r\n"
		for _, v := range f.replies {
			f.text += ": next\r\nevent: message\r\n"
			var b strings.Builder
			scrambled(&b, v, "\n")
			for part := range strings.SplitSeq(b.String(), "\n") {
				f.text += "data:" + part + "\r\n"
			}
			f.text += "\r\n"
		}
		f.text += ":\r"
		f.chunked = true
	})},
	{name: "HTTP: streams with ids and retry", kind: overHTTP, but: ids("C148"), w: onResponse(func(f *flow) { f.events = "id: 7\nretry: 100\n" })},
	{name: "HTTP: faults of a call are 400 and 500", kind: overHTTP, seen: ids("C084 C086"), w: onResponse(func(f *flow) {
		for _, v := range f.replies {
			switch number(errorOf(v)["code"]) {
			case -32602:
				f.status = 400
			case -32603:
				f.status = 500
			}
		}
	})},
	{name: "HTTP: refusals without a body", kind: overHTTP, seen: ids("C012 C015 C140 C144"), w: onResponse(func(f *flow) {
		if f.status >= 400 && (f.m.method == "" || f.r.Header.Get("Origin") != "" || f.m.id == nil) {
			f.replies, f.plain = nil, []byte("no\n")
			f.header = map[string][]string{"Content-Type": {"text/plain"}}
		}
	})},
	{name: "HTTP: subscriptions stay open, with keep-alives", kind: overHTTP, seen: ids("C119 C120 C121 C127"), w: onResponse(func(f *flow) {
		if f.m.method == "subscriptions/listen" && len(f.replies) == 2 {
			f.replies = f.replies[:1]
			f.open = true
		}
	})},

	{name: "stdio: answers in another order, each a little later", kind: overPipes, seen: ids("C012 C015 C017 C104 C116 C130"), p: piped{out: textToo, late: true}},
	{name: "stdio: a talkative stderr", kind: overPipes, seen: ids("C133"), p: piped{out: textToo, stderr: strings.Repeat("größe ok\n", 5000)}},
	{name: "stdio: CRLF and spaces around messages", kind: overPipes, seen: ids("C130"), p: piped{out: func(s *session, line string) []string {
		return []string{"  " + textToo(s, line)[0] + " \r"}
	}}},
	{name: "stdio: every character is escaped", kind: overPipes, seen: ids("C003 C130"), p: piped{out: func(s *session, line string) []string {
		return []string{escaped(textToo(s, line)[0])}
	}}},
}

// TestUnusual: correct servers are not accused.
func TestUnusual(t *testing.T) {
	set := servers(t)
	reports := make([]*conformance.Report, len(unusuals))
	var all sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, u := range unusuals {
		if raceEnabled && i%7 != 0 {
			continue
		}
		places <- struct{}{}
		target := (&mutant{kind: u.kind, base: u.base, t: u.t, w: u.w, p: u.p}).target(t, set)
		all.Go(func() {
			reports[i] = judgeCalling(t, target, patience, u.call)
			<-places
		})
	}
	all.Wait()
	for i, u := range unusuals {
		r := reports[i]
		if r == nil {
			continue
		}
		for _, c := range r.Results {
			if (c.Verdict == conformance.Fail) != slices.Contains(u.but, c.ID) || slices.Contains(u.seen, c.ID) && c.Verdict != conformance.OK {
				t.Errorf("%s: %s %s %s: %q %q", u.name, c.Verdict, c.ID, c.Title, c.Faults, c.Reason)
			}
		}
		if r.OutOfTime || r.Flooded || len(r.Results) == 0 {
			t.Errorf("%s: %s", u.name, r.Summary())
		}
	}
}

// respelt writes replies in another spelling of the same JSON.
func respelt(f func(obj) string) tamper {
	return tamper{after: func(_ *session, _ *message, replies []obj) []obj {
		for i, v := range replies {
			replies[i] = obj{rawKey: f(v)}
		}
		return replies
	}}
}

// scrambled writes a value with space everywhere and members in an order that
// is neither sorted nor that of the specification.
func scrambled(b *strings.Builder, v any, space string) {
	switch v := v.(type) {
	case obj:
		names := []string{}
		for n := range v {
			names = append(names, n)
		}
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(reversed(b), reversed(a)) })
		b.WriteString("{" + space)
		for i, n := range names {
			if i > 0 {
				b.WriteString(space + "," + space)
			}
			b.WriteString(string(encode(n)) + space + ":" + space)
			scrambled(b, v[n], space)
		}
		b.WriteString(space + "}")
	case []any:
		b.WriteString("[" + space)
		for i, item := range v {
			if i > 0 {
				b.WriteString(space + "," + space)
			}
			scrambled(b, item, space)
		}
		b.WriteString(space + "]")
	default:
		b.Write(encode(v))
	}
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// escaped writes every character within the strings of a JSON text as \uXXXX.
func escaped(text string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
			b.WriteByte(c)
		case inside && c == '\\':
			b.WriteString(text[i : i+2])
			i++
		case inside && c < 0x80:
			fmt.Fprintf(&b, `\u%04x`, c)
		case inside:
			r := []rune(text[i:min(i+4, len(text))])[0]
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04X`, u)
			}
			i += len(string(r)) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// many adds tools that answer nothing in particular.
func many(n int) tamper {
	return tamper{
		before: func(_ *session, m *message) ([]obj, bool) {
			if m.method != "tools/call" || m.version() != "2026-07-28" || m.meta()[keyCapabilities] == nil || !strings.HasPrefix(m.tool(), "extra.") {
				return nil, false
			}
			if a, there := m.params()["arguments"]; there {
				if _, ok := a.(obj); !ok {
					return []obj{failure(m.id, -32602)}, true
				}
			}
			return []obj{success(m.id, obj{"resultType": "complete", "content": []any{}})}, true
		},
		after: func(_ *session, m *message, replies []obj) []obj {
			for _, v := range replies {
				if all, ok := resultOf(v)["tools"].([]any); ok && m.method == "tools/list" {
					for i := range n {
						all = append(all, obj{"name": fmt.Sprintf("extra.%d", i), "annotations": obj{"readOnlyHint": true}, "inputSchema": obj{"type": "object"}})
					}
					resultOf(v)["tools"] = all
				}
			}
			return replies
		},
	}
}

// emptyLast ends the list with a page that holds nothing.
var emptyLast = tamper{
	before: func(_ *session, m *message) ([]obj, bool) {
		if m.method == "tools/list" && m.params()["cursor"] == "end" {
			return []obj{success(m.id, obj{"resultType": "complete", "tools": []any{}, "ttlMs": 300000, "cacheScope": "public"})}, true
		}
		return nil, false
	},
	after: func(_ *session, m *message, replies []obj) []obj {
		for _, v := range replies {
			if all, _ := resultOf(v)["tools"].([]any); len(all) > 0 && m.method == "tools/list" {
				resultOf(v)["nextCursor"] = "end"
			}
		}
		return replies
	},
}

// offering has prompts, resources and completions.
var offering = tamper{
	before: func(_ *session, m *message) ([]obj, bool) {
		if m.version() != "2026-07-28" || m.meta()[keyCapabilities] == nil {
			return nil, false
		}
		list := func(name string) ([]obj, bool) {
			return []obj{success(m.id, obj{"resultType": "complete", name: []any{}, "ttlMs": 0, "cacheScope": "private"})}, true
		}
		switch m.method {
		case "prompts/list":
			return list("prompts")
		case "resources/list":
			return list("resources")
		case "resources/templates/list":
			return list("resourceTemplates")
		case "resources/read", "prompts/get", "completion/complete":
			return []obj{failure(m.id, -32602)}, true
		}
		return nil, false
	},
	after: func(s *session, m *message, replies []obj) []obj {
		for _, name := range []string{"prompts", "resources", "completions"} {
			replies = capability(name, obj{}).after(s, m, replies)
		}
		return replies
	},
}

// onInvalid changes the refusals of calls of our tools with arguments that
// break their schema.
func onInvalid(f func(m *message, v obj) obj) tamper {
	return tamper{after: func(_ *session, m *message, replies []obj) []obj {
		for i, v := range replies {
			if m.method == "tools/call" && slices.Contains(own, m.tool()) && m.version() == "2026-07-28" && number(errorOf(v)["code"]) == -32602 && sub(errorOf(v), "data")["tool"] != nil {
				if other := f(m, v); other != nil {
					replies[i] = other
				}
			}
		}
		return replies
	}}
}

// lateWriter sends lines on, each after a delay that its bytes decide.
type lateWriter struct {
	mu  sync.Mutex
	all sync.WaitGroup
	to  io.Writer
}

func (w *lateWriter) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(keySubscription)) || bytes.Contains(line, []byte(`"progressToken"`)) { // these have an order
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.to.Write(line)
	}
	h := fnv.New32a()
	h.Write(line)
	held := slices.Clone(line)
	w.all.Go(func() {
		<-time.After(time.Duration(h.Sum32()%4) * time.Millisecond)
		w.mu.Lock()
		defer w.mu.Unlock()
		_, _ = w.to.Write(held)
	})
	return len(line), nil
}
