package conformance

import (
	"net/http"
	"strings"
)

var webChecks = []check{
	{"C140", Must, Web, "basic/transports/streamable-http, Security & Endpoint", "R-HTTP-03", "a POST with a foreign Origin gets 403", foreignOrigin, false},
	{"C141", Should, Web, "basic/transports/streamable-http, Security & Endpoint", "R-HTTP-03", "the Origin null gets 403", nullOrigin, false},
	{"C142", Must, Web, "basic/transports/streamable-http, Security & Endpoint", "R-HTTP-02", "Origin is checked on every kind of request", originEverywhere, false},
	{"C143", Must, Web, "basic/transports/streamable-http, Security & Endpoint", "R-HTTP-03", "a foreign Origin reaches no tool and no list", originBlocksData, false},
	{"C144", Must, Web, "basic/transports/streamable-http, Sending Messages", "R-HTTP-06", "an accepted notification gets 202 without a body", noteAccepted, false},
	{"C145", Must, Web, "basic/transports/streamable-http, Sending Messages", "R-HTTP-07", "a notification gets 202 or an error status", noteStatus, false},
	{"C146", Must, Web, "basic/transports/streamable-http, Sending Messages", "R-HTTP-08", "a request is answered as JSON or as an event stream", answerType, true},
	{"C147", Should, Web, "basic/transports/streamable-http, Receiving Messages", "R-HTTP-12", "event streams carry X-Accel-Buffering: no", noBuffering, true},
	{"C148", Should, Web, "basic/transports/streamable-http, Receiving Messages", "R-HTTP-14", "event streams have no ids and no retry", noResuming, true},
	{"C149", Should, Web, "basic/transports/streamable-http, Receiving Messages", "R-HTTP-11", "the response ends its event stream", responseEnds, false},
	{"C150", Must, Web, "basic/transports/streamable-http, Server Validation", "R-HTTP-17", "a request without MCP-Protocol-Version is refused with -32020", versionHeaderMissing, false},
	{"C151", Must, Web, "basic/transports/streamable-http, Protocol Version Header", "R-HTTP-18", "a version header that differs from the body gets -32020", versionHeaderDiffers, false},
	{"C152", Must, Web, "basic/transports/streamable-http, Server Validation", "R-HTTP-21", "a request without Mcp-Method is refused with -32020", methodHeaderMissing, false},
	{"C153", Must, Web, "basic/transports/streamable-http, Server Validation", "R-HTTP-22", "an Mcp-Method that differs from the body gets -32020", methodHeaderDiffers, false},
	{"C154", Must, Web, "basic/transports/streamable-http, Case Sensitivity", "R-HTTP-22", "the value of Mcp-Method is case-sensitive", methodHeaderCase, false},
	{"C155", Must, Web, "basic/transports/streamable-http, Server Validation", "R-HTTP-23", "a call without Mcp-Name is refused with -32020", nameHeaderMissing, false},
	{"C156", Must, Web, "basic/transports/streamable-http, Server Validation", "R-HTTP-24", "an Mcp-Name that differs from the body gets -32020", nameHeaderDiffers, false},
	{"C157", Must, Web, "basic/transports/streamable-http, Value Encoding", "R-HTTP-25", "an Mcp-Name in Base64 is decoded before it is compared", nameEncoded, false},
	{"C158", Must, Web, "basic/transports/streamable-http, Value Encoding", "R-HTTP-25", "the marks of Base64 are case-sensitive", encodingMarks, false},
	{"C159", Must, Web, "basic/transports/streamable-http, Server Validation", "R-HTTP-26", "an Mcp-Name in broken Base64 gets -32020", encodingBroken, false},
	{"C160", Must, Web, "basic/transports/streamable-http, Case Sensitivity", "R-HTTP-27", "header names are not case-sensitive", headerNameCase, false},
	{"C161", Must, Web, "RFC 9110, 5.5", "R-HTTP-28", "white space around a header value is not part of it", headerSpace, false},
	{"C162", Must, Web, "basic/transports/streamable-http, Server Validation", "R-HTTP-29", "a refusal for headers is HTTP 400 with the request's id", headerRefusal, false},
	{"C163", Must, Web, "basic/transports/streamable-http, Server Behavior for Custom Headers", "R-HTTP-30", "an annotated argument and its header must agree", paramHeaders, false},
	{"C164", Must, Web, "basic/transports/streamable-http, Server Behavior for Custom Headers", "R-HTTP-31", "an Mcp-Param header that nothing announces is ignored", paramUnknown, false},
	{"C165", Must, Web, "basic/transports/streamable-http, Protocol Version Header", "R-HTTP-20", "an unknown method has HTTP status 404", unknownStatus, false},
	{"C166", Should, Web, "basic/transports/streamable-http, Earlier Streamable HTTP Revisions", "R-HTTP-34", "GET and DELETE get 405", otherVerbs, false},
	{"C167", Should, Web, "basic/transports/streamable-http, Earlier Streamable HTTP Revisions", "R-HTTP-35", "Mcp-Session-Id is ignored, and none is given", noSessions, false},
	{"C168", Should, Web, "basic/transports/streamable-http, Earlier Streamable HTTP Revisions", "R-HTTP-36", "Last-Event-ID is ignored", noLastEvent, false},
	{"C169", Must, Web, "basic/transports/index, Request Metadata", "R-HTTP-39", "headers never change which tool runs", bodyCounts, false},
	{"C170", Must, Web, "basic/transports/streamable-http, Cancellation", "R-HTTP-15", "a client that goes away leaves the server serving", disconnect, false},
	{"C171", Should, Web, "basic/transports/streamable-http, HTTP+SSE Transport", "R-HTTP-37", "there is no transport of the first revision", noOldTransport, false},
	{"C172", Should, Web, "basic/authorization, Token Handling", "R-AUTH-06", "a request without the token gets 401", tokenNeeded, false},
	{"C175", Must, Web, "basic/transports/streamable-http, Value Encoding", "R-HTTP-30", "an annotated argument in Base64 is decoded before it is compared", paramEncoded, false},
	{"C173", Should, Web, "basic/transports/streamable-http, Sending Messages", "R-HTTP-09", "a response or an array as a body gets an error status", bodyKinds, false},
}

const evil = "http://conformance-evil.example"

func withOrigin(origin string) func(*shape) {
	return func(s *shape) { s.with("Origin", origin) }
}

func foreignOrigin(p *probe) {
	e := p.send(request{method: methodDiscover, shape: withOrigin(evil), why: "a foreign Origin"})
	p.status(e, "Origin "+evil, 403)
}

func nullOrigin(p *probe) {
	e := p.send(request{method: methodDiscover, shape: withOrigin("null"), why: "the Origin null"})
	p.status(e, "Origin null", 403)
}

func originEverywhere(p *probe) {
	for _, verb := range []string{http.MethodGet, http.MethodDelete, http.MethodOptions} {
		e := p.send(request{method: methodDiscover, why: verb + " with a foreign Origin", shape: func(s *shape) {
			s.verb = verb
			s.with("Origin", evil)
		}})
		p.status(e, verb+" with Origin "+evil, 403)
	}
}

func originBlocksData(p *probe) {
	p.result(p.ask(methodList, ""))
	for _, origin := range []string{evil, "https://conformance-evil.example", "http://localhost.conformance-evil.example", "http://127.0.0.1.conformance-evil.example"} {
		e := p.send(request{method: methodList, shape: withOrigin(origin), why: "a foreign Origin"})
		if e.result() != nil {
			p.failf(e, "tools/list is served to Origin %s", origin)
		}
	}
}

func noteAccepted(p *probe) {
	e := p.send(request{method: noteCancelled, params: `"requestId":"conformance-unknown"`, note: true})
	if e.status >= 400 {
		p.skipf("notifications are not accepted (%s)", e.saw())
	}
	if e.status != 202 || e.size > 0 || len(e.messages()) > 0 {
		p.failf(e, "an accepted notification: HTTP %d with %d bytes instead of 202 without a body", e.status, e.size)
	}
}

func noteStatus(p *probe) {
	for _, note := range []string{noteCancelled, "notifications/conformance", "notifications/initialized"} {
		e := p.send(request{method: note, params: `"requestId":"conformance-unknown"`, note: true})
		if e.status != 202 && e.status < 400 {
			p.failf(e, "%s: %s", note, e.saw())
		}
	}
}

// proper keeps correct requests that were answered with a status.
func proper(e *exchange) bool {
	return e.status != 0 && e.id != "" && e.request.body == nil && e.request.shape == nil && !e.request.note
}

func answerType(p *probe) {
	for _, e := range p.run.seen {
		if !proper(e) {
			continue
		}
		kind := strings.ToLower(strings.TrimSpace(strings.Split(e.header.Get("Content-Type"), ";")[0]))
		if kind != "application/json" && kind != "text/event-stream" {
			p.failf(e, "%s: HTTP %d with the content type %q", of(e), e.status, clip(kind, 40))
		}
	}
}

// eventStreams visits the streams of the run.
func (p *probe) eventStreams(visit func(*exchange)) {
	n := 0
	for _, e := range p.run.seen {
		if e.sse {
			n++
			visit(e)
		}
	}
	if n == 0 {
		p.skipf("the server sent no event stream")
	}
}

func noBuffering(p *probe) {
	p.eventStreams(func(e *exchange) {
		if e.header.Get("X-Accel-Buffering") != "no" {
			p.failf(e, "%s: X-Accel-Buffering is %q", of(e), clip(e.header.Get("X-Accel-Buffering"), 20))
		}
	})
}

func noResuming(p *probe) {
	p.eventStreams(func(e *exchange) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.events) > 0 {
			p.failf(e, "%s: the line %q", of(e), e.events[0])
		}
	})
}

func responseEnds(p *probe) {
	n := 0
	try := func(e *exchange) {
		if !e.sse || e.response() == nil || len(p.faults) > 0 {
			return
		}
		n++
		if !e.waitEnd(p.ctx, p.run.timeout) {
			p.failf(e, "%s: the stream stays open after the response", of(e))
		}
	}
	try(p.ask(methodDiscover, ""))
	try(p.subscribe(request{params: `"notifications":{}`}))
	if t, args := p.quietCall(); t != nil {
		try(p.send(callOf(t, args)))
	}
	if n == 0 {
		p.skipf("no event stream held a response")
	}
}

func without(name string) func(*shape) { return func(s *shape) { s.without(name) } }

func with(name, value string) func(*shape) { return func(s *shape) { s.with(name, value) } }

func versionHeaderMissing(p *probe) {
	for _, v := range p.run.survey.discover.result().at("supportedVersions").list() {
		if v.str() <= headerlessVersion {
			p.skipf("the server also serves %s, which had no such header", clip(v.str(), 20))
		}
	}
	e := p.send(request{method: methodDiscover, shape: without(headerVersion), why: "no version header"})
	p.refused(e, "no MCP-Protocol-Version", codeHeader)
}

func versionHeaderDiffers(p *probe) {
	e := p.send(request{method: methodDiscover, shape: with(headerVersion, legacyRevision), why: "another version in the header"})
	p.refused(e, "header "+legacyRevision+", body "+revision, codeHeader)
	e = p.send(request{method: methodDiscover, version: "v999.0.0", shape: with(headerVersion, revision), why: "another version in the body"})
	p.refused(e, "header "+revision+", body v999.0.0", codeHeader)
	e = p.send(request{method: methodDiscover, shape: with(headerVersion, revision+"-rc"), why: "a longer version in the header"})
	p.refused(e, "header "+revision+"-rc, body "+revision, codeHeader)
}

func methodHeaderMissing(p *probe) {
	e := p.send(request{method: methodList, shape: without(headerMethod), why: "no Mcp-Method"})
	p.refused(e, "no Mcp-Method", codeHeader)
}

func methodHeaderDiffers(p *probe) {
	e := p.send(request{method: methodList, shape: with(headerMethod, methodDiscover), why: "another Mcp-Method"})
	p.refused(e, "Mcp-Method "+methodDiscover+" for "+methodList, codeHeader)
}

func methodHeaderCase(p *probe) {
	e := p.send(request{method: methodList, shape: with(headerMethod, "TOOLS/LIST"), why: "Mcp-Method in capitals"})
	p.refused(e, "Mcp-Method TOOLS/LIST", codeHeader)
}

// anyCall is a call that need not succeed: of a tool that answered before, or
// of none.
func (p *probe) anyCall() request {
	if t, args := p.quietCall(); t != nil {
		return callOf(t, args)
	}
	p.listed()
	return request{method: methodCall, params: `"name":"` + noTool + `","arguments":{}`, name: noTool}
}

func (p *probe) shapedCall(why string, f func(*shape)) *exchange {
	r := p.anyCall()
	r.why, r.shape = why, f
	return p.send(r)
}

func nameHeaderMissing(p *probe) {
	p.refused(p.shapedCall("no Mcp-Name", without(headerName)), "no Mcp-Name", codeHeader)
}

func nameHeaderDiffers(p *probe) {
	e := p.shapedCall("another Mcp-Name", with(headerName, "conformance_other_name"))
	p.refused(e, "another Mcp-Name", codeHeader)
	e = p.shapedCall("another Mcp-Name, in Base64", with(headerName, encoded("conformance_other_name")))
	p.refused(e, "another Mcp-Name, in Base64", codeHeader)
	if name := p.anyCall().name; strings.ToUpper(name) != name {
		e = p.shapedCall("Mcp-Name in capitals", with(headerName, strings.ToUpper(name)))
		p.refused(e, "Mcp-Name in capitals", codeHeader)
	}
	e = p.send(request{method: methodCall, params: `"name":"` + noTool + `","arguments":{}`, name: noTool, shape: with(headerName, "conformance_other_name"), why: "another Mcp-Name of an unknown tool"})
	p.refused(e, "another Mcp-Name of an unknown tool", codeHeader)
}

func nameEncoded(p *probe) {
	r := p.anyCall()
	plain := p.send(r)
	e := p.shapedCall("Mcp-Name in Base64", with(headerName, encoded(r.name)))
	if e.code() == codeHeader || e.response() == nil || e.code() != plain.code() {
		p.failf(e, "Mcp-Name in Base64: %s, and as it is %s", e.saw(), plain.saw())
	}
}

func encodingMarks(p *probe) {
	r := p.anyCall()
	e := p.shapedCall("marks of Base64 in capitals", with(headerName, strings.Replace(encoded(r.name), "base64", "BASE64", 1)))
	p.refused(e, "Mcp-Name "+strings.Replace(encoded(r.name), "base64", "BASE64", 1), codeHeader)
}

func encodingBroken(p *probe) {
	for _, v := range []string{encodedPrefix + "!!!!" + encodedSuffix, encodedPrefix + "YQ=" + encodedSuffix} {
		p.refused(p.shapedCall("Mcp-Name in broken Base64", with(headerName, v)), "Mcp-Name "+v, codeHeader)
	}
}

// respelled writes the names of all Mcp headers anew.
func respelled(f func(string) string) func(*shape) {
	return func(s *shape) {
		for i, h := range s.fields {
			if strings.HasPrefix(strings.ToLower(h.name), "mcp-") {
				s.fields[i].name = f(h.name)
			}
		}
	}
}

func headerNameCase(p *probe) {
	p.result(p.ask(methodList, ""))
	for _, f := range []func(string) string{strings.ToLower, strings.ToUpper} {
		e := p.send(request{method: methodList, shape: respelled(f)})
		if e.result() == nil {
			p.failf(e, "headers as in %s: %s instead of a result", f("Mcp-Method"), e.saw())
		}
	}
}

func headerSpace(p *probe) {
	p.result(p.ask(methodList, ""))
	e := p.send(request{method: methodList, shape: func(s *shape) {
		s.raw = true
		for i, h := range s.fields {
			if strings.HasPrefix(strings.ToLower(h.name), "mcp-") {
				s.fields[i].value = "  " + h.value + " \t"
			}
		}
	}})
	if e.result() == nil {
		p.failf(e, "white space around header values: %s instead of a result", e.saw())
	}
}

func headerRefusal(p *probe) {
	e := p.send(request{method: methodList, id: `"header-1"`, shape: with(headerMethod, "conformance/other"), why: "another Mcp-Method"})
	if e.code() != codeHeader {
		p.skipf("another Mcp-Method gets %s", e.saw())
	}
	p.status(e, "another Mcp-Method", 400)
	if call := p.shapedCall("no Mcp-Name", without(headerName)); call.code() == codeHeader {
		p.status(call, "no Mcp-Name", 400)
	}
	if id := e.response().id(); key(id) != `sheader-1` {
		p.failf(e, "the refusal carries the id %s", clip(id.json(), 40))
	}
}

func paramHeaders(p *probe) {
	for _, c := range p.run.survey.calls {
		fields := mirrored(c.tool, c.args)
		if len(fields) == 0 || c.e.result() == nil {
			continue
		}
		name := fields[0].name
		r := callOf(c.tool, c.args)
		r.shape, r.why = without(name), "no "+name
		p.refused(p.send(r), "no "+name, codeHeader)
		r = callOf(c.tool, c.args)
		r.shape, r.why = with(name, "conformance-other"), "another "+name
		p.refused(p.send(r), "another "+name, codeHeader)
		return
	}
	p.skipf("no tool that can be called has an annotated argument")
}

func paramEncoded(p *probe) {
	for _, c := range p.run.survey.calls {
		fields := mirrored(c.tool, c.args)
		if len(fields) == 0 || c.e.result() == nil {
			continue
		}
		f := fields[0]
		if strings.HasPrefix(f.value, encodedPrefix) {
			p.skipf("the annotated argument can be written in Base64 only")
		}
		r := callOf(c.tool, c.args)
		r.shape, r.why = with(f.name, encoded(f.value)), f.name+" in Base64"
		if e := p.send(r); e.result() == nil {
			p.failf(e, "%s in Base64: %s, and as it is a result", f.name, e.saw())
		}
		return
	}
	p.skipf("no tool that can be called has an annotated argument")
}

func paramUnknown(p *probe) {
	p.result(p.ask(methodList, ""))
	e := p.send(request{method: methodList, shape: func(s *shape) { s.with(headerParam+"Conformance", "x") }})
	if e.result() == nil {
		p.failf(e, "an unknown Mcp-Param header: %s instead of a result", e.saw())
	}
}

func unknownStatus(p *probe) {
	for _, method := range []string{"conformance/none", "ping"} {
		e := p.ask(method, "")
		p.status(e, method, 404)
		if e.code() != codeMethod && e.status == 404 {
			p.failf(e, "%s: %s instead of error -32601", method, e.saw())
		}
	}
}

func otherVerbs(p *probe) {
	for _, verb := range []string{http.MethodGet, http.MethodDelete} {
		e := p.send(request{method: methodDiscover, why: verb, shape: func(s *shape) { s.verb = verb }})
		p.status(e, verb, 405)
	}
}

func noSessions(p *probe) {
	plain := p.ask(methodDiscover, "")
	p.result(plain)
	e := p.send(request{method: methodDiscover, shape: with("Mcp-Session-Id", "conformance-session")})
	if e.result() == nil {
		p.failf(e, "with Mcp-Session-Id: %s instead of a result", e.saw())
	}
	for _, x := range []*exchange{plain, e} {
		if id := x.header.Get("Mcp-Session-Id"); id != "" {
			p.failf(x, "the answer carries an Mcp-Session-Id")
		}
	}
}

func noLastEvent(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	e := p.send(request{method: methodDiscover, shape: with("Last-Event-ID", "conformance-1")})
	if e.result() == nil {
		p.failf(e, "with Last-Event-ID: %s instead of a result", e.saw())
	}
}

func bodyCounts(p *probe) {
	p.listed()
	other := p.listed()[0].name
	e := p.send(request{method: methodCall, params: `"name":"` + noTool + `","arguments":{}`, shape: with(headerName, other), why: "a tool in the header, none in the body"})
	if e.result() != nil {
		p.failf(e, "the tool that Mcp-Name names runs, and not that of the body")
	}
	e = p.send(request{method: "conformance/none", shape: with(headerMethod, methodList), why: "a method in the header, none in the body"})
	if e.result() != nil {
		p.failf(e, "the method that Mcp-Method names is answered, and not that of the body")
	}
}

func disconnect(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	for range 5 {
		r := request{method: methodList}
		if t, args := p.quietCall(); t != nil {
			r = callOf(t, args)
		}
		r.why, r.shape = "a client that goes away", func(s *shape) { s.raw, s.hangUp = true, true }
		p.start(r).waitEnd(p.ctx, p.run.timeout)
	}
	p.serves("clients that went away")
}

func noOldTransport(p *probe) {
	e := p.send(request{method: methodDiscover, why: "GET /sse", shape: func(s *shape) {
		s.verb, s.path = http.MethodGet, "/sse"
		s.with("Accept", "text/event-stream")
	}})
	if e.sse && e.status < 300 {
		p.failf(e, "GET /sse opens an event stream")
	}
}

func tokenNeeded(p *probe) {
	if p.run.target.web.token == "" {
		p.skipf("no token was given")
	}
	p.result(p.ask(methodDiscover, ""))
	for what, f := range map[string]func(*shape){"no token": without("Authorization")} {
		e := p.send(request{method: methodDiscover, shape: f, why: what})
		p.status(e, what, 401)
	}
	e := p.send(request{method: methodDiscover, shape: with("Authorization", "Bearer conformance-wrong"), why: "a wrong token"})
	p.status(e, "a wrong token", 401)
}

func bodyKinds(p *probe) {
	for _, c := range []struct{ body, what string }{
		{`{"jsonrpc":"2.0","id":"none","result":{"resultType":"complete"}}`, "a response"},
		{`[]`, "an array"},
	} {
		e := p.send(request{body: []byte(c.body), why: c.what, method: methodDiscover})
		if e.status < 400 && e.failure() == nil {
			p.failf(e, "%s as a body: HTTP %d instead of an error status", c.what, e.status)
		}
	}
}
