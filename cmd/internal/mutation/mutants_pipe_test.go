package mutation

import "strings"

// textToo adds the structured content as text, which ours leaves out.
func textToo(_ *session, line string) []string {
	v, ok := decodeAny([]byte(line)).(obj)
	if r := resultOf(v); ok && r["structuredContent"] != nil {
		content, _ := r["content"].([]any)
		r["content"] = append(content, obj{"type": "text", "text": string(encode(r["structuredContent"]))})
		return []string{string(encode(v))}
	}
	return []string{line}
}

// holdIn and holdOut make a server that keeps subscriptions open.
func holdIn(s *session, line string) []string {
	if m := decode([]byte(line)); m.method == "subscriptions/listen" && m.version() == "2026-07-28" {
		s.memory["held "+string(encode(m.id))] = true
	}
	return []string{line}
}

func holdOut(s *session, line string) []string {
	v, _ := decodeAny([]byte(line)).(obj)
	if v["result"] != nil && s.memory["held "+string(encode(v["id"]))] == true {
		return nil
	}
	return []string{line}
}

func inLine(f func(*session, *message) []string) func(*session, string) []string {
	return func(s *session, line string) []string {
		s.count++
		return f(s, decode([]byte(line)))
	}
}

func same(m *message) []string { return []string{string(m.raw)} }

var pipeMutants = []mutant{
	{name: "a banner on stdout", kind: overPipes, red: ids("C130"), p: piped{out: textToo, first: "MCP server ready\n"}},
	{name: "a log line on stdout", kind: overPipes, red: ids("C130"), p: piped{out: func(s *session, line string) []string {
		if strings.Contains(line, "isError") {
			return append([]string{"INFO call finished"}, textToo(s, line)...)
		}
		return textToo(s, line)
	}}},
	{name: "messages over several lines", kind: overPipes, red: ids("C130"), p: piped{out: func(s *session, line string) []string {
		if strings.Contains(line, "isError") {
			return append(textToo(s, line), "", "{", "}")
		}
		return textToo(s, line)
	}}},
	{name: "runs on after stdin is closed", kind: overPipes, hangs: true, red: ids("C131"), also: ids("C132"), p: piped{out: textToo, stays: func(*session) bool { return true }}},
	{name: "runs on if a call was running", kind: overPipes, hangs: true, red: ids("C132"), p: piped{out: textToo,
		in: inLine(func(s *session, m *message) []string {
			if m.method == "tools/call" && s.count == 1 {
				s.memory["busy"] = true
			}
			return same(m)
		}),
		stays: func(s *session) bool { return s.memory["busy"] == true }}},
	{name: "stderr is not UTF-8", kind: overPipes, red: ids("C133"), p: piped{out: textToo, stderr: "caf\xe9\n"}},
	{name: "a probe in another version is not understood", kind: overPipes, hangs: true, red: ids("C134"), also: ids("C069"), p: piped{out: textToo, in: inLine(func(s *session, m *message) []string {
		if s.count == 1 && m.version() > "2027" {
			return nil
		}
		return same(m)
	})}},
	{name: "a fresh process wants discover first", kind: overPipes, red: ids("C135"), also: ids("C037"), p: piped{out: textToo, in: inLine(func(s *session, m *message) []string {
		if s.count == 1 && m.method == "tools/list" {
			delete(m.v, "params")
			return []string{string(encode(m.v))}
		}
		return same(m)
	})}},
	{name: "a call ends the process", kind: overPipes, red: ids("C032"), p: piped{out: textToo, dies: func(line string) bool {
		return strings.Contains(line, `"list_directory"`) && !strings.Contains(line, `progressToken`)
	}}},
	{name: "a farewell on stdout", kind: overPipes, red: ids("C136"), also: ids("C130"), p: piped{out: textToo, last: "bye\n"}},
	{name: "a cancelled subscription goes on", kind: overPipes, red: ids("C128"), p: piped{
		in: func(s *session, line string) []string {
			if m := decode([]byte(line)); m.method == "notifications/cancelled" && m.params()["requestId"] == "stop-1" {
				s.memory["stopped"] = true
			}
			return holdIn(s, line)
		},
		out: func(s *session, line string) []string {
			all := holdOut(s, textToo(s, line)[0])
			if s.memory["stopped"] == true && strings.Contains(line, `"tools"`) && strings.Contains(line, `inputSchema`) {
				all = append(all, string(encode(onListen("stop-1", "notifications/resources/updated", obj{"uri": "conformance:///nothing"}))))
			}
			return all
		}}},
	{name: "stdio: a notification is answered", kind: overPipes, red: ids("C017"), p: piped{out: textToo, in: inLine(func(_ *session, m *message) []string {
		if m.method == "notifications/conformance" {
			return []string{`{"jsonrpc":"2.0","id":"answer","method":"conformance/none"}`}
		}
		return same(m)
	})}},
	{name: "stdio: a number comes back as a string", kind: overPipes, hangs: true, red: ids("C003"), p: piped{out: func(s *session, line string) []string {
		v, ok := decodeAny([]byte(line)).(obj)
		if ok && asString(v["id"]) == "9007199254740991" {
			v["id"] = asString(v["id"])
			line = string(encode(v))
		}
		return textToo(s, line)
	}}, also: ids("C032")},
}
