package conformance

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var baseChecks = []check{
	{"C001", Must, everywhere, "server/discover", "R-DISC-01", "server/discover is implemented", discoverAnswers, false},
	{"C002", Must, everywhere, "basic/index, Messages", "R-BASE-01", "every message is a JSON-RPC 2.0 object", messagesAreJSONRPC, true},
	{"C003", Must, everywhere, "basic/index, Result Responses", "R-BASE-06", "a response repeats the id, value and type", idsComeBack, false},
	{"C004", Must, everywhere, "basic/index, ResultType", "R-BASE-08", "every result carries resultType", resultsHaveType, true},
	{"C005", Must, everywhere, "basic/index, ResultType", "R-BASE-09", "resultType is a value of the core or of an advertised extension", resultTypesKnown, true},
	{"C006", Must, everywhere, "basic/index, Result Responses", "R-BASE-07", "a response has either an error or a result that is an object", resultOrError, true},
	{"C007", Must, everywhere, "basic/index, Error Responses", "R-BASE-11", "an error has an integer code and a string message", errorsAreWhole, true},
	{"C008", Must, everywhere, "basic/index, Error Responses", "R-BASE-10", "an error repeats the id of its request", errorsRepeatID, false},
	{"C009", Must, everywhere, "basic/index, Error Responses", "R-BASE-10", "an id is never null", idsNeverNull, true},
	{"C010", Should, everywhere, "schema, Error", "R-BASE-12", "an error message is one short line", messagesAreShort, true},
	{"C012", Must, everywhere, "basic/index, Error Codes", "R-BASE-14", "text that is not JSON is refused with -32700, and the server goes on", notJSON, false},
	{"C013", Should, everywhere, "basic/transports/index, Messages", "R-BASE-02", "a message that is not UTF-8 is refused", notUTF8, false},
	{"C014", Must, everywhere, "basic/transports/index, Messages", "R-BASE-02", "everything sent is UTF-8", outputIsUTF8, true},
	{"C015", Must, everywhere, "basic/index, Error Codes", "R-BASE-15", "JSON that is no request is refused with -32600", notARequest, false},
	{"C016", Must, everywhere, "basic/transports/index, Messages", "R-BASE-28", "an array of requests is refused, and none of them is answered", noBatches, false},
	{"C017", Must, everywhere, "basic/index, Notifications", "R-BASE-24", "notifications receive no response", notesAreSilent, false},
	{"C018", Must, everywhere, "schema, MethodNotFoundError", "R-BASE-16", "an unknown method gets -32601", unknownMethod, false},
	{"C019", Must, everywhere, "schema, MethodNotFoundError", "R-BASE-16", "a method of a capability that is not advertised gets -32601", unadvertisedMethods, false},
	{"C020", Must, everywhere, "server/tools, Capabilities", "R-DISC-05", "what is advertised is answered", advertisedMethods, false},
	{"C022", Should, everywhere, "basic/index, Requests", "R-BASE-04", "a request with the id null is refused", nullID, false},
	{"C023", Should, everywhere, "basic/index, Requests", "R-BASE-04", "an id that is neither string nor integer is refused", strangeIDs, false},
	{"C024", Should, everywhere, "basic/index, Error Codes", "R-BASE-19", "no code between -32019 and -32000 is used", noLegacyCodes, true},
	{"C025", Must, everywhere, "basic/index, Error Codes", "R-BASE-20", "of -32099 to -32020 only the codes that the specification defines are used", noReservedCodes, true},
	{"C026", Must, everywhere, "basic/index, Error Codes", "R-BASE-22", "the withdrawn codes -32002 and -32042 are not used", noWithdrawnCodes, true},
	{"C027", Should, everywhere, "basic/index, Error Codes", "R-BASE-23", "codes of the server's own lie outside the range of JSON-RPC", ownCodesOutside, true},
	{"C028", Must, streams, "basic/index, Error Codes", "R-BASE-21", "-32020 is not used where there are no headers", noHeaderCode, true},
	{"C029", Must, everywhere, "basic/index, Error Codes", "R-BASE-21", "-32022 is used only for a revision that is not served", versionCodeMeansVersion, true},
	{"C030", Must, everywhere, "basic/patterns/index", "R-BASE-26", "the server sends no requests, and its notifications have no id", serverAsksNothing, true},
	{"C031", Should, everywhere, "basic/index, Messages", "R-BASE-27", "a response that a client sends is not answered with a result", responsesIgnored, false},
	{"C032", Must, everywhere, "basic/patterns/index", "R-BASE-29", "every request gets exactly one response", oneResponseEach, true},
	{"C033", Should, everywhere, "basic/index, Composition-Keyword Resource Use", "R-SCHEMA-07", "arguments nested very deep are answered, and the server goes on", deepArguments, false},
}

func discoverAnswers(p *probe) {
	for range 2 {
		if e := p.ask(methodDiscover, ""); e.result() == nil {
			p.failf(e, "server/discover: %s instead of a result", e.saw())
		}
	}
}

func messagesAreJSONRPC(p *probe) {
	p.every("message", isAny, func(r received) string {
		switch v := r.m.v; {
		case !v.is('{'):
			return of(r.e) + ": the answer is not an object"
		case v.at("jsonrpc").str() != "2.0":
			return of(r.e) + `: jsonrpc is ` + clip(v.at("jsonrpc").json(), 20) + `, not "2.0"`
		case !r.m.isResponse() && !v.at("method").is('"'):
			return of(r.e) + ": neither a response nor a notification"
		}
		return ""
	})
	for _, e := range p.run.seen {
		for _, m := range e.messages() {
			if m.err != nil && m.utf8 {
				p.failf(e, "%s: the answer is not one JSON value", of(e))
			}
		}
	}
}

func idsComeBack(p *probe) {
	for _, id := range []string{"0", "-5", `"0"`, `"5"`, "5", `""`, `"ünï"`, "9007199254740991", `"\" \\ / \n 😀"`, quote(strings.Repeat("long-", 60))} {
		e := p.send(request{method: p.vehicle(), id: id})
		m, id := e.response(), clip(id, 40)
		if m == nil {
			p.failf(e, "id %s: %s instead of a response with this id", id, e.saw())
			continue
		}
		if got := m.id(); key(got) != idKey(e.id) {
			p.failf(e, "id %s came back as %s", id, clip(got.json(), 40))
		}
	}
}

func resultsHaveType(p *probe) {
	p.every("result", isModern, func(r received) string {
		if t := r.m.v.at("result", "resultType"); !t.is('"') {
			return of(r.e) + ": resultType is " + clip(t.json(), 20)
		}
		return ""
	})
}

func resultTypesKnown(p *probe) {
	extended := len(p.run.survey.discover.result().at("capabilities", "extensions").names0()) > 0
	p.every("result with a resultType", func(r received) bool { return isResult(r) && r.m.v.at("result", "resultType").is('"') }, func(r received) string {
		switch t := r.m.v.at("result", "resultType").text; {
		case t == resultComplete, t == resultInput, extended:
			return ""
		default:
			return of(r.e) + ": resultType is " + quote(clip(t, 40))
		}
	})
}

// names0 lists the members of an object, of an absent one none.
func (v *value) names0() []string {
	if v == nil {
		return nil
	}
	return v.names
}

func resultOrError(p *probe) {
	p.every("response", func(r received) bool { return r.m.isResponse() }, func(r received) string {
		result, failure := r.m.v.at("result"), r.m.v.at("error")
		switch {
		case result != nil && failure != nil:
			return of(r.e) + ": both a result and an error"
		case result != nil && !result.is('{'):
			return of(r.e) + ": the result is not an object"
		}
		return ""
	})
}

func errorsAreWhole(p *probe) {
	p.every("error", isError, func(r received) string {
		code, message := r.m.v.at("error", "code"), r.m.v.at("error", "message")
		if _, ok := code.integer(); !ok {
			return of(r.e) + ": the code is " + clip(code.json(), 20)
		}
		if !message.is('"') {
			return of(r.e) + ": the message is " + clip(message.json(), 20)
		}
		return ""
	})
}

func errorsRepeatID(p *probe) {
	for _, id := range []string{`"err-1"`, "401"} {
		for _, r := range []request{
			{method: "conformance/none", id: id},
			{method: p.vehicle(), id: id, version: foreign[1]},
		} {
			e := p.send(r)
			if m := e.response(); m != nil && m.v.at("error") != nil {
				if key(m.id()) != idKey(id) {
					p.failf(e, "the error to id %s carries %s", id, clip(m.id().json(), 40))
				}
			} else if m == nil {
				p.failf(e, "the error to id %s: %s", id, e.saw())
			}
		}
	}
}

func idsNeverNull(p *probe) {
	p.every("message", isAny, func(r received) string {
		if r.m.id().is('n') {
			return of(r.e) + ": the id is null"
		}
		return ""
	})
}

func messagesAreShort(p *probe) {
	p.every("error message", func(r received) bool { return isError(r) && r.m.v.at("error", "message").is('"') }, func(r received) string {
		s := r.m.v.at("error", "message").text
		if n := utf8.RuneCountInString(s); strings.ContainsAny(s, "\r\n") || n > 300 {
			return fmt.Sprintf("%s: a message of %d characters in %d lines", of(r.e), n, 1+strings.Count(s, "\n"))
		}
		return ""
	})
}

func notJSON(p *probe) {
	for _, body := range []string{`{"jsonrpc":`, `hello`, `{"jsonrpc":"2.0","id":1,}`} {
		e := p.send(request{body: []byte(body), why: "text that is not JSON"})
		p.refusedBytes(e, fmt.Sprintf("%q", body), codeParse)
	}
	p.serves("text that is not JSON")
}

func notUTF8(p *probe) {
	method := p.vehicle()
	body := strings.Replace(string((&request{method: method}).encode(`"u"`)), "conform", "conf\xffrm", 1)
	e := p.send(request{body: []byte(body), why: "a message that is not UTF-8", method: method})
	if e.result() != nil {
		p.failf(e, "a message with the byte FF is answered with a result")
	}
	p.serves("a message that is not UTF-8")
}

func outputIsUTF8(p *probe) {
	for _, e := range p.run.seen {
		for _, m := range e.messages() {
			if !m.utf8 {
				p.failf(e, "%s: the answer is not UTF-8", of(e))
			}
		}
	}
	for _, g := range p.noise() {
		if strings.HasPrefix(g, notText) {
			p.failf(nil, "%s", g)
		}
	}
}

func notARequest(p *probe) {
	for _, c := range []struct{ body, what string }{
		{`42`, "a number"},
		{`"text"`, "a string"},
		{`{"jsonrpc":"2.0","id":1}`, "an object without a method"},
		{`{"jsonrpc":"2.0","id":1,"method":5}`, "a method that is a number"},
		{strings.Replace(string((&request{method: p.vehicle()}).encode("1")), `"2.0"`, `"1.0"`, 1), "jsonrpc 1.0"},
	} {
		e := p.send(request{body: []byte(c.body), why: c.what, method: p.vehicle()})
		if p.run.target.kind == Web && e.code() == codeHeader {
			continue // there is no method that the header could agree with
		}
		p.refusedBytes(e, c.what, codeRequest)
	}
}

func noBatches(p *probe) {
	r := request{method: methodDiscover}
	for _, body := range []string{"[" + string(r.encode(`"batch-1"`)) + "," + string(r.encode(`"batch-2"`)) + "]", "[]"} {
		e := p.send(request{body: []byte(body), why: "an array of requests", method: methodDiscover})
		for _, m := range e.messages() {
			switch {
			case m.v.at("result") != nil:
				p.failf(e, "a request of an array is answered")
			case m.v.is('['):
				p.failf(e, "the answer is an array")
			}
		}
		if e.response() == nil && (p.run.target.kind != Web || e.status < 400) {
			p.failf(e, "an array of requests: %s instead of an error", e.saw())
		}
	}
}

func notesAreSilent(p *probe) {
	for _, r := range []request{
		{method: "notifications/conformance"},
		{method: noteCancelled, params: `"requestId":"conformance-unknown"`},
		{method: "notifications/initialized"},
	} {
		r.note = true
		e := p.send(r)
		for _, m := range e.messages() {
			// Over HTTP a refused notification may carry an error without an id.
			if m.isResponse() && !(p.run.target.kind == Web && e.status >= 400 && m.id() == nil) {
				p.failf(e, "%s is answered", r.method)
			}
		}
	}
}

func unknownMethod(p *probe) {
	for _, method := range []string{"conformance/none", "server/Discover"} {
		p.refused(p.ask(method, ""), method, codeMethod)
	}
}

func unadvertisedMethods(p *probe) {
	capabilities := p.result(p.ask(methodDiscover, "")).at("capabilities")
	tried := false
	for _, u := range unadvertised {
		if capabilities.at(u.capability) != nil {
			continue
		}
		tried = true
		r := request{method: u.method, params: u.params}
		if u.method == "resources/read" {
			r.name = "conformance:///nothing"
		}
		p.refused(p.send(r), u.method, codeMethod)
	}
	if capabilities.at("tools") == nil {
		tried = true
		p.refused(p.ask(methodList, ""), methodList, codeMethod)
	}
	if !tried {
		p.skipf("the server advertises every capability")
	}
}

func advertisedMethods(p *probe) {
	capabilities := p.result(p.ask(methodDiscover, "")).at("capabilities")
	tried := false
	for _, c := range []struct{ capability, method string }{{"tools", methodList}, {"prompts", "prompts/list"}, {"resources", "resources/list"}} {
		if capabilities.at(c.capability) == nil {
			continue
		}
		tried = true
		if e := p.ask(c.method, ""); e.result() == nil {
			p.failf(e, "%s is advertised, but %s gets %s", c.capability, c.method, e.saw())
		}
	}
	if !tried {
		p.skipf("the server advertises no list")
	}
}

func nullID(p *probe) {
	method := p.vehicle()
	e := p.send(request{body: (&request{method: method}).encode("null"), why: "the id null", method: method})
	if e.result() != nil {
		p.failf(e, "a request with the id null is answered with a result")
	} else {
		p.refusedBytes(e, "the id null", codeRequest, codeParse)
	}
}

func strangeIDs(p *probe) {
	for _, id := range []string{"1.5", "true", "[]", "{}"} {
		method := p.vehicle()
		e := p.send(request{body: (&request{method: method}).encode(id), why: "the id " + id, method: method})
		p.refusedBytes(e, "the id "+id, codeRequest, codeParse)
	}
}

func noLegacyCodes(p *probe) {
	p.every("error code", isCoded, func(r received) string {
		if c := r.m.code(); c >= legacyFirst && c <= legacyLast && c != codeOldResource {
			return fmt.Sprintf("%s: error %d", of(r.e), c)
		}
		return ""
	})
}

func noReservedCodes(p *probe) {
	p.every("error code", isCoded, func(r received) string {
		c := r.m.code()
		if c >= reservedFirst && c <= reservedLast && c != codeHeader && c != codeCapability && c != codeVersion && c != codeOldElicit {
			return fmt.Sprintf("%s: error %d", of(r.e), c)
		}
		return ""
	})
}

func noWithdrawnCodes(p *probe) {
	p.every("error code", isCoded, func(r received) string {
		if c := r.m.code(); c == codeOldResource || c == codeOldElicit {
			return fmt.Sprintf("%s: error %d", of(r.e), c)
		}
		return ""
	})
}

func ownCodesOutside(p *probe) {
	p.every("error code", isCoded, func(r received) string {
		c := r.m.code()
		standard := c == codeParse || c >= codeInternal && c <= codeRequest
		if c >= jsonrpcFirst && c < reservedFirst && !standard {
			return fmt.Sprintf("%s: error %d", of(r.e), c)
		}
		return ""
	})
}

func noHeaderCode(p *probe) {
	p.every("error code", isCoded, func(r received) string {
		if r.m.code() == codeHeader {
			return of(r.e) + ": error -32020"
		}
		return ""
	})
}

func versionCodeMeansVersion(p *probe) {
	served := func(r received) bool {
		return isCoded(r) && r.e != nil && r.e.request.body == nil && !r.e.request.note && !r.e.request.bare && r.e.request.meta == "" &&
			r.e.pv == revision && r.e.request.shape == nil
	}
	p.every("error to a request of this revision", served, func(r received) string {
		if r.m.code() == codeVersion {
			return of(r.e) + ": error -32022 for " + revision
		}
		return ""
	})
}

func serverAsksNothing(p *probe) {
	p.every("message", isAny, func(r received) string {
		if r.m.v.at("method") != nil && r.m.id() != nil {
			return fmt.Sprintf("%s: %s with an id", of(r.e), quote(clip(r.m.method(), 60)))
		}
		return ""
	})
}

func responsesIgnored(p *probe) {
	e := p.send(request{body: []byte(`{"jsonrpc":"2.0","id":"none","result":{"resultType":"complete"}}`), note: true, why: "a response"})
	for _, m := range e.messages() {
		if m.v.at("result") != nil {
			p.failf(e, "a response sent by the client is answered with a result")
		}
	}
	p.serves("a response sent by a client")
}

func oneResponseEach(p *probe) {
	asked := 0
	for _, e := range p.run.seen {
		r := e.request
		if e.id == "" || r.note || r.shape != nil {
			continue
		}
		asked++
		for _, m := range e.lateOnes() {
			if m.isResponse() {
				p.failf(e, "%s: a second response", of(e))
			}
		}
		if unanswered(e) {
			p.failf(e, "%s: %s instead of a response", of(e), e.saw())
		}
	}
	lost := p.run.lost
	if more, _ := p.run.link.strays(); len(more) > 0 {
		lost = append(lost[:len(lost):len(lost)], more...)
	}
	for _, m := range lost {
		if m.isResponse() {
			p.failf(nil, "a response with the id %s, which no request had", clip(m.id().json(), 40))
		}
	}
	batch := []*exchange{}
	for _, id := range ids("once-", 24) {
		batch = append(batch, p.start(request{method: []string{methodDiscover, methodList, "conformance/none"}[len(batch)%3], id: id}))
	}
	for _, e := range batch {
		p.wait(e)
		if e.response() == nil {
			p.failf(e, "%s: %s instead of a response", of(e), e.saw())
		}
		asked++
	}
	if asked == 0 {
		p.skipf("no request was sent")
	}
}

// unanswered: a correct request whose answer can no longer come. What took too
// long, or was too much, may have been an answer; an HTTP status of an error may
// come from what stands before the server.
func unanswered(e *exchange) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.request
	odd := r.why != "" || r.body != nil || r.method == methodListen || e.givenUp || e.pv != revision
	slow := errors.Is(e.err, errTimeout) || errors.Is(e.err, errTooLarge) || errors.Is(e.err, errFull)
	return !odd && e.ended && len(e.got) == 0 && !slow && e.status < 400
}

func deepArguments(p *probe) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	t := p.listed()[0]
	e := p.send(request{method: methodCall, name: t.name, params: `"name":` + quote(t.name) + `,"arguments":{"a":` + deep + `}`, why: "very deep arguments"})
	if e.response() == nil && (p.run.target.kind != Web || e.status < 400) {
		p.failf(e, "arguments nested 5000 deep: %s instead of an answer", e.saw())
	}
	p.serves("arguments nested 5000 deep")
}
