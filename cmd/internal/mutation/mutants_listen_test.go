package mutation

import "slices"

var listenMutants = []mutant{
	{name: "the cancellation of an unknown request is answered", red: ids("C114"), t: replace(cancels("99999"), refusing(-32602))},
	{name: "every cancellation is answered", red: ids("C017 C114 C115"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.method == "notifications/cancelled" {
			return append(replies, failure(m.id, -32602))
		}
		return replies
	}}},
	{name: "a malformed cancellation is answered", red: ids("C115"), t: replace(func(_ *session, m *message) bool {
		_, isObject := m.params()["requestId"].(obj)
		return m.method == "notifications/cancelled" && isObject
	}, refusing(-32602))},
	{name: "a cancelled call is answered later", red: ids("C104"), also: ids("C032 C116"), t: lateAnswer()},
	{name: "a cancelled call is answered twice", red: ids("C116"), also: ids("C032"), perhaps: ids("C104"), t: tamper{after: func(s *session, m *message, replies []obj) []obj {
		if m.method == "notifications/cancelled" {
			if say, ok := s.memory["say "+string(encode(m.params()["requestId"]))].(func(obj)); ok {
				for range 2 {
					say(failure(m.params()["requestId"], -32603))
				}
			}
		}
		return replies
	}, before: remember}},
	{name: "the server cancels a call", red: ids("C118"), t: preceding("tools/call", func(m *message) []obj {
		return []obj{note("notifications/cancelled", obj{"requestId": m.id})}
	})},
	{name: "listen is not acknowledged", red: ids("C119"), t: tamper{after: func(_ *session, _ *message, replies []obj) []obj {
		return slices.DeleteFunc(replies, func(v obj) bool { return v["method"] == "notifications/subscriptions/acknowledged" })
	}}},
	{name: "changes are advertised and listen is unknown", red: ids("C119"), base: append([]tamper{changing}, rich...),
		t: replace(func(_ *session, m *message) bool {
			return m.method == "subscriptions/listen" && m.version() == "2026-07-28"
		}, refusing(-32601))},
	{name: "a change before the acknowledgment", red: ids("C120"), base: append([]tamper{changing}, rich...), t: preceding("subscriptions/listen", func(m *message) []obj {
		if on, _ := sub(m.params(), "notifications")["toolsListChanged"].(bool); !on || m.version() != "2026-07-28" {
			return nil
		}
		return []obj{onListen(m.id, "notifications/tools/list_changed", obj{})}
	})},
	{name: "another subscription id", red: ids("C121"), t: subscription(func(any) any { return "other" }, false)},
	{name: "the subscription id is a string", red: ids("C121"), t: subscription(asString, false)},
	{name: "the subscription id is left out", red: ids("C121"), t: each(func(_ *session, _ *message, v obj) {
		if p, ok := v["params"].(obj); ok && v["method"] != nil {
			delete(p, "_meta")
		}
	}, "subscriptions/listen")},
	{name: "changes are acknowledged and not advertised", red: ids("C122"), t: acknowledged(func(m *message, n obj) {
		if on, _ := sub(m.params(), "notifications")["toolsListChanged"].(bool); on {
			n["toolsListChanged"] = true
		}
	})},
	{name: "changes are acknowledged and not asked for", red: ids("C122"), base: append([]tamper{changing}, rich...), t: acknowledged(func(_ *message, n obj) { n["toolsListChanged"] = true })},
	{name: "a change that nobody asked for", red: ids("C123"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.method == "subscriptions/listen" && len(replies) == 2 && len(sub(m.params(), "notifications")) == 0 {
			return []obj{replies[0], onListen(m.id, "notifications/prompts/list_changed", obj{}), replies[1]}
		}
		return replies
	}}},
	{name: "listen needs no filter", red: ids("C124"), t: incoming(func(_ *session, m *message) {
		if m.method == "subscriptions/listen" && m.params() != nil && m.params()["notifications"] == nil {
			m.params()["notifications"] = obj{}
		}
	})},
	{name: "the closing result has no subscription id", red: ids("C125"), t: onResult(func(_ *message, r obj) { delete(sub(r, "_meta"), keySubscription) }, "subscriptions/listen")},
	{name: "the closing result has another subscription id", red: ids("C125"), t: subscription(asString, true)},
	{name: "a subscription ends without a result", red: ids("C125"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.method == "subscriptions/listen" && len(replies) == 2 {
			return replies[:1]
		}
		return replies
	}}},
	{name: "progress on a subscription", red: ids("C126"), also: ids("C110"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.method == "subscriptions/listen" && len(replies) == 2 {
			n := progressNote("other", 1)
			n["params"].(obj)["_meta"] = obj{keySubscription: m.id}
			return []obj{replies[0], n, replies[1]}
		}
		return replies
	}}},
	{name: "one subscription at a time", red: ids("C127"), t: tamper{after: func(_ *session, m *message, replies []obj) []obj {
		if m.method == "subscriptions/listen" && m.id == "many-2" {
			return replies[1:]
		}
		return replies
	}}},
	{name: "a change is announced on the answer to a call", red: ids("C174"), base: append([]tamper{changing}, rich...), t: preceding("tools/call", func(*message) []obj {
		return []obj{note("notifications/tools/list_changed", obj{})}
	})},
	{name: "the acknowledgment says nothing", red: ids("C129"), t: each(func(_ *session, _ *message, v obj) {
		if p, ok := v["params"].(obj); ok && v["method"] != nil {
			delete(p, "notifications")
		}
	}, "subscriptions/listen")},
}

func cancels(id string) func(*session, *message) bool {
	return func(_ *session, m *message) bool {
		return m.method == "notifications/cancelled" && asString(m.params()["requestId"]) == id
	}
}

// remember keeps the way back of every call.
func remember(s *session, m *message) ([]obj, bool) {
	if m.method == "tools/call" && m.say != nil {
		s.memory["say "+string(encode(m.id))] = m.say
	}
	return nil, false
}

// lateAnswer answers a cancelled call behind a later request.
func lateAnswer() tamper {
	return tamper{
		before: func(s *session, m *message) ([]obj, bool) {
			if m.method == "server/discover" {
				if f, ok := s.memory["late"].(func()); ok {
					f()
					delete(s.memory, "late")
				}
			}
			if m.method == "notifications/cancelled" {
				id := m.params()["requestId"]
				if say, ok := s.memory["say "+string(encode(id))].(func(obj)); ok {
					s.memory["late"] = func() { say(failure(id, -32603)) }
				}
			}
			return remember(s, m)
		},
	}
}

func subscription(f func(any) any, closing bool) tamper {
	return each(func(_ *session, _ *message, v obj) {
		meta := sub(v, "params", "_meta")
		if closing {
			meta = sub(resultOf(v), "_meta")
		}
		if meta[keySubscription] != nil {
			meta[keySubscription] = f(meta[keySubscription])
		}
	}, "subscriptions/listen")
}

func acknowledged(f func(m *message, n obj)) tamper {
	return each(func(_ *session, m *message, v obj) {
		if v["method"] == "notifications/subscriptions/acknowledged" {
			f(m, sub(v, "params", "notifications"))
		}
	}, "subscriptions/listen")
}
