package conformance

import (
	"context"
	"slices"
	"time"
)

var listenChecks = []check{
	{"C104", Should, streams, "basic/transports/stdio, Cancellation", "R-STDIO-07", "nothing is sent for a call after its cancellation", cancelSilences, false},
	{"C114", Should, streams, "basic/patterns/cancellation, Error Handling", "R-CANCEL-02", "a cancellation of an unknown or finished request is ignored", cancelUnknown, false},
	{"C115", Should, streams, "basic/patterns/cancellation, Error Handling", "R-CANCEL-03", "a malformed cancellation is ignored", cancelMalformed, false},
	{"C116", Must, streams, "basic/patterns/cancellation, Timing Considerations", "R-CANCEL-04", "a cancelled request gets one whole response or none", cancelRace, false},
	{"C118", Must, everywhere, "basic/patterns/cancellation, Behavior Requirements", "R-CANCEL-06", "the server cancels nothing but subscriptions", serverCancels, true},
	{"C119", Must, everywhere, "basic/patterns/subscriptions, Acknowledgment", "R-SUB-01", "subscriptions/listen is acknowledged", listenAcknowledged, false},
	{"C120", Must, everywhere, "basic/patterns/subscriptions, Acknowledgment", "R-SUB-02", "the acknowledgment is the first message of a subscription", acknowledgedFirst, false},
	{"C121", Must, everywhere, "basic/patterns/subscriptions, Receiving Notifications", "R-SUB-04", "every message of a subscription carries its id, value and type", subscriptionIDs, false},
	{"C122", Must, everywhere, "basic/patterns/subscriptions, Acknowledgment", "R-SUB-03", "the acknowledgment names only what was asked for and is supported", acknowledgedSubset, false},
	{"C123", Must, everywhere, "basic/patterns/subscriptions, Opening a Stream", "R-SUB-05", "a subscription delivers only what was asked for", nothingUnasked, true},
	{"C124", Must, everywhere, "schema, SubscriptionsListenRequestParams", "R-SUB-01", "subscriptions/listen without notifications gets -32602", listenWithoutFilter, false},
	{"C125", Should, everywhere, "basic/patterns/subscriptions, Graceful Closure", "R-SUB-07", "a subscription that the server ends closes with a result that carries its id", closingResult, false},
	{"C126", Must, everywhere, "basic/transports/streamable-http, Receiving Messages", "R-SUB-09", "progress and log messages do not travel on a subscription", nothingForeign, true},
	{"C127", Must, everywhere, "basic/patterns/subscriptions, Multiple Concurrent Subscriptions", "R-SUB-06", "several subscriptions at once are told apart", severalSubscriptions, false},
	{"C128", Must, Pipe, "basic/patterns/subscriptions, Cancellation", "R-SUB-08", "nothing is sent for a subscription that was cancelled", cancelledSubscription, false},
	{"C174", Must, everywhere, "basic/patterns/subscriptions, Receiving Notifications", "R-SUB-04", "changes are announced on subscriptions only", changesSubscribed, true},
	{"C129", Must, everywhere, "basic/patterns/subscriptions, Acknowledgment", "R-SUB-03", "the acknowledgment has its notifications member", acknowledgmentShape, false},
}

func cancelUnknown(p *probe) {
	done := p.ask(methodDiscover, "")
	for _, id := range []string{`"conformance-unknown"`, "99999", done.id} {
		e := p.send(request{method: noteCancelled, params: `"requestId":` + id, note: true})
		if len(e.messages()) > 0 {
			p.failf(e, "the cancellation of %s is answered", id)
		}
	}
	p.serves("a cancellation of an unknown request")
}

func cancelMalformed(p *probe) {
	for _, params := range []string{"", `"requestId":{}`, `"requestId":null`, `"requestId":[1]`} {
		e := p.send(request{method: noteCancelled, params: params, note: true, why: "a malformed cancellation"})
		if len(e.messages()) > 0 {
			p.failf(e, "a malformed cancellation is answered")
		}
	}
	p.serves("a malformed cancellation")
}

// volley sends calls, each with its cancellation behind it, and then a request
// that is answered.
func (p *probe) volley() (calls []*exchange) {
	n := 0
	for _, c := range p.run.survey.calls {
		if c.e.result() == nil {
			continue
		}
		for range 4 {
			if n++; n > 40 {
				break
			}
			r := callOf(c.tool, c.args)
			e := p.start(r)
			calls = append(calls, e)
			// Without waiting: the cancellation shall arrive in time.
			p.cancel(e)
		}
	}
	if n == 0 {
		p.skipf("%s", p.run.survey.noCall())
	}
	p.send(request{method: noteCancelled, params: `"requestId":"conformance-unknown"`, note: true})
	return calls
}

func (p *probe) cancel(e *exchange) {
	e.givenUp = true
	n := newExchange(&request{method: noteCancelled, note: true}, "", p.run.ledger)
	n.sent = []byte(`{"jsonrpc":"2.0","method":"` + noteCancelled + `","params":{"requestId":` + e.id + `}}`)
	if l, ok := p.link.(*pipe); ok {
		l.send(p.ctx, n.sent)
		return
	}
	p.link.start(p.ctx, n)
}

func cancelRace(p *probe) {
	calls := p.volley()
	p.ask(methodDiscover, "")
	for _, e := range calls {
		responses := 0
		for _, m := range e.messages() {
			if m.isResponse() {
				responses++
			}
		}
		if responses > 1 {
			p.failf(e, "a cancelled call gets %d responses", responses)
		}
	}
	p.serves("cancelled calls")
}

func cancelSilences(p *probe) {
	calls := p.volley()
	// What was answered behind the request that came after the cancellation was
	// sent after the cancellation had been read.
	before := map[*exchange]int{}
	for _, e := range calls {
		before[e] = len(e.messages())
	}
	p.send(request{method: noteCancelled, params: `"requestId":"conformance-unknown"`, note: true})
	p.ask(methodDiscover, "")
	for _, e := range calls {
		if len(e.messages()) > before[e] {
			p.failf(e, "a cancelled call is answered after its cancellation")
		}
	}
}

func serverCancels(p *probe) {
	p.every("message", isAny, func(r received) string {
		if r.m.method() != noteCancelled {
			return ""
		}
		id := r.m.v.at("params", "requestId")
		for _, e := range p.run.seen {
			if e.request.method == methodListen && e.id != "" && id != nil && idKey(e.id) == key(id) {
				return ""
			}
		}
		return "the server cancels " + clip(id.json(), 40) + ", which is no subscription"
	})
}

// ends watches a subscription for an end that may not come: for a while that is
// long beside a round trip of this server, and no claim is made if it comes later.
func (p *probe) ends(l link, e *exchange) bool {
	began := time.Now()
	p.sendOn(l, request{method: methodDiscover})
	soon, cancel := context.WithTimeout(p.ctx, min(max(150*time.Millisecond, 8*time.Since(began)), p.run.timeout))
	defer cancel()
	return e.await(soon, func() bool { return e.answered })
}

// subscribe opens a subscription and waits for its first message, and for an
// end that comes at once. It skips on a server that has nothing to tell.
func (p *probe) subscribe(r request) *exchange {
	r.method = methodListen
	e := p.start(r)
	first, cancel := context.WithTimeout(p.ctx, p.run.timeout)
	defer cancel()
	e.await(first, func() bool { return len(e.got) > 0 })
	if !e.over() {
		p.ends(p.link, e)
	}
	if e.code() == codeMethod && !p.notifies() {
		p.skipf("the server has nothing to notify of")
	}
	return e
}

// notifies tells whether the server advertises changes that it tells of.
func (p *probe) notifies() bool {
	found := false
	p.run.survey.discover.result().at("capabilities").walk(func(path []string, v *value) {
		if n := len(path); n > 0 && (path[n-1] == "listChanged" || path[n-1] == "subscribe") && v.is('t') {
			found = true
		}
	})
	return found
}

func isAcknowledgment(m *message) bool { return m.method() == noteAcknowledged }

// acknowledgment demands one, for checks of what is in it.
func (p *probe) acknowledgment(e *exchange) *message {
	all := e.messages()
	i := slices.IndexFunc(all, isAcknowledgment)
	if i < 0 {
		p.skipf("subscriptions/listen is not acknowledged (%s)", e.saw())
	}
	return all[i]
}

const askAll = `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["conformance:///nothing"]}`

func listenAcknowledged(p *probe) {
	for _, filter := range []string{`"notifications":{}`, askAll} {
		e := p.subscribe(request{params: filter})
		if !slices.ContainsFunc(e.messages(), isAcknowledgment) {
			p.failf(e, "subscriptions/listen: %s instead of an acknowledgment", e.saw())
		}
	}
}

func acknowledgedFirst(p *probe) {
	e := p.subscribe(request{params: askAll})
	p.acknowledgment(e)
	if m := e.messages()[0]; !isAcknowledgment(m) {
		p.failf(e, "something comes before the acknowledgment")
	}
}

func subscriptionIDs(p *probe) {
	for _, id := range []string{`"L1"`, "4711"} {
		e := p.subscribe(request{id: id, params: askAll})
		p.acknowledgment(e)
		for _, m := range e.messages() {
			if m.isResponse() {
				continue // another check
			}
			if got := m.subscription(); got == nil || key(got) != idKey(id) {
				p.failf(e, "%s of the subscription %s carries %s", quote(clip(m.method(), 60)), id, clip(got.json(), 40))
			}
		}
	}
}

func acknowledgedSubset(p *probe) {
	capabilities := p.run.survey.discover.result().at("capabilities")
	e := p.subscribe(request{params: askAll})
	honoured := p.acknowledgment(e).v.at("params", "notifications")
	for _, c := range []struct{ filter, capability, flag string }{
		{"toolsListChanged", "tools", "listChanged"},
		{"promptsListChanged", "prompts", "listChanged"},
		{"resourcesListChanged", "resources", "listChanged"},
		{"resourceSubscriptions", "resources", "subscribe"},
	} {
		v := honoured.at(c.filter)
		if (v.is('t') || len(v.list()) > 0) && !capabilities.at(c.capability, c.flag).is('t') {
			p.failf(e, "%s is acknowledged, but %s.%s is not advertised", c.filter, c.capability, c.flag)
		}
	}
	none := p.subscribe(request{params: `"notifications":{}`})
	got := p.acknowledgment(none).v.at("params", "notifications")
	for _, name := range got.names0() {
		if v := got.members[name]; v.is('t') || len(v.list()) > 0 {
			p.failf(none, "%s is acknowledged, but was not asked for", clip(name, 40))
		}
	}
}

// noteFilters maps a notification to the member of the filter that asks for it.
var noteFilters = map[string]string{
	noteToolsChanged:                       "toolsListChanged",
	"notifications/prompts/list_changed":   "promptsListChanged",
	"notifications/resources/list_changed": "resourcesListChanged",
	"notifications/resources/updated":      "resourceSubscriptions",
}

func nothingUnasked(p *probe) {
	p.every("message on a subscription", onSubscription, func(r received) string {
		filter := noteFilters[r.m.method()]
		if filter == "" {
			return ""
		}
		v, err := parseValue(r.e.sent)
		if asked := v.at("params", "notifications", filter); err == nil && !asked.is('t') && len(asked.list()) == 0 {
			return r.m.method() + " was not asked for"
		}
		return ""
	})
}

func changesSubscribed(p *probe) {
	p.every("message", isAny, func(r received) string {
		if noteFilters[r.m.method()] == "" || r.e != nil && r.e.request.method == methodListen {
			return ""
		}
		return of(r.e) + ": " + r.m.method()
	})
}

func onSubscription(r received) bool {
	return r.e != nil && r.e.request.method == methodListen && r.e.request.body == nil && !r.m.isResponse()
}

func listenWithoutFilter(p *probe) {
	p.acknowledgment(p.subscribe(request{params: `"notifications":{}`}))
	for _, params := range []string{"", `"notifications":5`} {
		e := p.subscribe(request{params: params, why: "no filter of notifications"})
		p.refused(e, "subscriptions/listen without a filter", codeParams)
	}
}

func closingResult(p *probe) {
	for _, id := range []string{`"close-1"`, "4712"} {
		e := p.subscribe(request{id: id, params: `"notifications":{}`})
		p.acknowledgment(e)
		e.mu.Lock()
		ended := e.ended && !e.answered
		e.mu.Unlock()
		switch r := e.result(); {
		case ended:
			p.failf(e, "the subscription %s ends without a result", id)
		case e.response() == nil:
			p.skipf("the server keeps subscriptions open")
		case r == nil:
			p.failf(e, "the subscription %s ends with %s", id, e.saw())
		case r.at("_meta", keySubscription) == nil || key(r.at("_meta", keySubscription)) != idKey(id):
			p.failf(e, "the result that ends %s carries %s", id, clip(r.at("_meta", keySubscription).json(), 40))
		}
	}
}

func nothingForeign(p *probe) {
	p.every("message on a subscription", onSubscription, func(r received) string {
		if m := r.m.method(); m == noteProgress || m == noteMessage {
			return m + " on a subscription"
		}
		return ""
	})
}

func severalSubscriptions(p *probe) {
	var all []*exchange
	for _, id := range []string{`"many-1"`, `"many-2"`, "4713"} {
		all = append(all, p.start(request{method: methodListen, id: id, params: `"notifications":{}`}))
	}
	first, cancel := context.WithTimeout(p.ctx, p.run.timeout)
	defer cancel()
	for _, e := range all {
		e.await(first, func() bool { return slices.ContainsFunc(e.got, isAcknowledgment) })
	}
	if !slices.ContainsFunc(all, func(e *exchange) bool { return slices.ContainsFunc(e.messages(), isAcknowledgment) }) {
		p.skipf("subscriptions/listen is not acknowledged (%s)", all[0].saw())
	}
	for _, e := range all {
		n := 0
		for _, m := range e.messages() {
			if isAcknowledgment(m) {
				n++
			}
		}
		if n != 1 {
			p.failf(e, "one of three subscriptions at once gets %d acknowledgments", n)
		}
	}
}

func cancelledSubscription(p *probe) {
	l := p.fresh()
	e := p.startOn(l, request{method: methodListen, id: `"stop-1"`, params: askAll})
	first, cancel := context.WithTimeout(p.ctx, p.run.timeout)
	defer cancel()
	e.await(first, func() bool { return len(e.got) > 0 })
	p.acknowledgment(e)
	if p.ends(l, e) {
		p.skipf("the server ends subscriptions at once")
	}
	e.stop()
	p.sendOn(l, request{method: noteCancelled, params: `"requestId":"conformance-unknown"`, note: true})
	n := len(e.messages())
	p.sendOn(l, request{method: methodList})
	p.sendOn(l, request{method: noteCancelled, params: `"requestId":"conformance-unknown"`, note: true})
	if len(e.messages()) > n {
		p.failf(e, "a message of a subscription after it was cancelled")
	}
}

func acknowledgmentShape(p *probe) {
	e := p.subscribe(request{params: `"notifications":{}`})
	if v := p.acknowledgment(e).v.at("params", "notifications"); !v.is('{') {
		p.failf(e, "notifications is %s", clip(v.json(), 40))
	}
}
