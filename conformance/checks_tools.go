package conformance

import (
	"regexp"
	"slices"
	"strings"
)

var toolChecks = []check{
	{"C070", Must, everywhere, "server/tools, Capabilities", "R-TOOL-01", "a server with tools declares the capability", toolsDeclared, false},
	{"C071", Must, everywhere, "server/tools, Listing Tools", "R-TOOL-02", "tools/list returns an array of tools", toolsListed, false},
	{"C072", Should, everywhere, "server/tools, Capabilities", "R-TOOL-04", "tools come in the same order every time", toolOrder, false},
	{"C073", Must, everywhere, "schema, Tool", "R-TOOL-05", "a tool has a name and an input schema of type object", toolShape, false},
	{"C074", Should, everywhere, "server/tools, Tool Names", "R-TOOL-06", "tool names have 1 to 128 of the characters allowed", toolNames, false},
	{"C075", Should, everywhere, "server/tools, Tool Names", "R-TOOL-06", "tool names are unique", toolNamesUnique, false},
	{"C076", Must, everywhere, "basic/index, Schema Validation", "R-SCHEMA-02", "published schemas are valid schemas", schemasValid, false},
	{"C078", Must, everywhere, "server/tools, x-mcp-header", "R-HTTP-32", "x-mcp-header stands only where it may, with unique header names", headerAnnotations, false},
	{"C079", Must, everywhere, "schema, Tool", "R-TOOL-09", "descriptions, titles and annotations have their types", toolTexts, false},
	{"C080", Must, everywhere, "schema, CallToolResult", "R-TOOL-10", "the result of a call has an array of content blocks", contentBlocks, true},
	{"C081", Must, everywhere, "server/tools, Output Schema", "R-TOOL-11", "structured content conforms to the output schema", structuredConforms, false},
	{"C082", Should, everywhere, "server/tools, Structured Content", "R-TOOL-12", "structured content is also there as text", structuredAsText, false},
	{"C083", Must, everywhere, "schema, CallToolRequestParams", "R-TOOL-13", "arguments may be absent", argumentsAbsent, false},
	{"C084", Must, everywhere, "server/tools, Error Handling", "R-TOOL-14", "a call of an unknown tool gets -32602", unknownTool, false},
	{"C085", Must, everywhere, "server/tools, Error Handling", "R-TOOL-15", "a call without a tool's name gets -32602", nameMissing, false},
	{"C086", Must, everywhere, "server/tools, Error Handling", "R-TOOL-15", "arguments that are no object get -32602", argumentsNoObject, false},
	{"C087", Must, everywhere, "server/tools, Security Considerations", "R-TOOL-19", "arguments that break the published schema are refused", argumentsWrong, false},
	{"C088", Should, everywhere, "server/tools, Error Handling", "R-TOOL-17", "a failed call explains itself in text", failuresExplained, true},
	{"C089", Should, everywhere, "server/tools, Tool Names", "R-TOOL-06", "tool names are case-sensitive", namesCaseSensitive, false},
	{"C090", Should, everywhere, "server/tools, Embedded Resources", "R-TOOL-23", "resources are embedded only with the resources capability", embeddedResources, true},
	{"C091", Must, everywhere, "server/tools, List Changed Notification", "R-TOOL-24", "list_changed is sent only if it was advertised", listChangedAdvertised, true},
	{"C092", Must, everywhere, "basic/patterns/mrtr, Supported Requests", "R-TOOL-25", "input_required is returned only where it may be", inputRequiredWhere, true},
	{"C093", Should, everywhere, "basic/patterns/mrtr, Server Requirements", "R-TOOL-26", "requestState that no server gave has no effect", foreignState, false},
	{"C178", Must, everywhere, "schema, CallToolResult", "R-TOOL-10", "isError is a boolean", errorFlag, true},
	{"C094", Must, everywhere, "basic/patterns/mrtr, Server Requirements", "R-MRTR-01", "an input_required result asks for something", inputRequiredShape, true},
}

func toolsDeclared(p *probe) {
	list := p.result(p.ask(methodList, ""))
	if !list.at("tools").is('[') {
		p.skipf("tools/list gives no list")
	}
	e := p.ask(methodDiscover, "")
	if p.result(e).at("capabilities", "tools") == nil {
		p.failf(e, "tools/list is answered, but capabilities.tools is absent")
	}
}

func toolsListed(p *probe) {
	if p.run.survey.discover.result() != nil && p.run.survey.discover.result().at("capabilities", "tools") == nil && p.run.survey.pages[0].code() == codeMethod {
		p.skipf("the server has no tools")
	}
	e := p.ask(methodList, "")
	if !e.result().at("tools").is('[') {
		p.failf(e, "tools/list: no array of tools (%s)", e.saw())
	}
}

func toolOrder(p *probe) {
	names := func(e *exchange) (s string) {
		for _, t := range p.result(e).at("tools").list() {
			s += t.at("name").str() + " "
		}
		return s
	}
	first := names(p.ask(methodList, ""))
	for range 8 {
		if e := p.ask(methodList, ""); names(e) != first {
			p.failf(e, "the order of the tools changes")
			return
		}
	}
}

// published visits what tools/list gave, also what is no proper tool.
func (p *probe) published(visit func(e *exchange, name string, v *value)) {
	n := 0
	for _, e := range p.run.survey.pages {
		for _, v := range e.result().at("tools").list() {
			n++
			visit(e, clip(v.at("name").str(), 60), v)
		}
	}
	if n == 0 {
		p.skipf("the server lists no tools")
	}
}

func toolShape(p *probe) {
	p.published(func(e *exchange, name string, v *value) {
		if !v.at("name").is('"') {
			p.failf(e, "a tool whose name is %s", clip(v.at("name").json(), 40))
		}
		if s := v.at("inputSchema"); !s.is('{') || s.at("type").str() != "object" {
			p.failf(e, "%s: the input schema's type is not object", name)
		}
	})
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func toolNames(p *probe) {
	p.published(func(e *exchange, name string, v *value) {
		if n := v.at("name"); n.is('"') && !toolName.MatchString(n.text) {
			p.failf(e, "the name %s", quote(name))
		}
	})
}

func toolNamesUnique(p *probe) {
	type place struct {
		page *exchange
		name string
	}
	seen := map[place]bool{}
	p.published(func(e *exchange, name string, v *value) {
		if n := v.at("name"); n.is('"') {
			at := place{e, n.text}
			if seen[at] {
				p.failf(e, "%s is there twice", quote(name))
			}
			seen[at] = true
		}
	})
}

func schemasValid(p *probe) {
	p.published(func(e *exchange, name string, v *value) {
		for _, which := range []string{"inputSchema", "outputSchema"} {
			if s := v.at(which); s.is('{') {
				for _, wrong := range lint(s) {
					p.failf(e, "%s, %s: %s", name, which, wrong)
				}
			} else if s != nil && which == "outputSchema" {
				p.failf(e, "%s: outputSchema is %s", name, clip(s.json(), 20))
			}
		}
	})
}

func headerAnnotations(p *probe) {
	found := false
	p.published(func(e *exchange, name string, v *value) {
		t := &tool{name: name, v: v}
		good, misplaced := t.headers()
		found = found || len(good)+len(misplaced) > 0
		for _, m := range misplaced {
			p.failf(e, "%s: x-mcp-header at %s cannot be reached through properties", name, clip(m, 80))
		}
		seen := map[string]bool{}
		for _, a := range good {
			lower := strings.ToLower(a.header)
			kind := a.schema.at("type").str()
			switch {
			case !fieldName.MatchString(a.header):
				p.failf(e, "%s: the header name %s", name, quote(clip(a.header, 40)))
			case seen[lower]:
				p.failf(e, "%s: the header name %s twice", name, quote(clip(a.header, 40)))
			case kind != "string" && kind != "integer" && kind != "boolean":
				p.failf(e, "%s: x-mcp-header on a parameter of type %s", name, quote(clip(kind, 20)))
			}
			seen[lower] = true
		}
	})
	if !found {
		p.skipf("no tool uses x-mcp-header")
	}
}

var fieldName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func toolTexts(p *probe) {
	p.published(func(e *exchange, name string, v *value) {
		for _, text := range []string{"title", "description"} {
			if s := v.at(text); s != nil && !s.is('"') {
				p.failf(e, "%s: %s is %s", name, text, clip(s.json(), 20))
			}
		}
		a := v.at("annotations")
		if a != nil && !a.is('{') {
			p.failf(e, "%s: annotations is %s", name, clip(a.json(), 20))
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if h := a.at(hint); h != nil && !h.isBool() {
				p.failf(e, "%s: %s is %s", name, hint, clip(h.json(), 20))
			}
		}
	})
}

// isOutcome keeps finished results of calls.
func isOutcome(r received) bool {
	return answers(methodCall)(r) && r.m.v.at("result", "resultType").str() != resultInput
}

func contentBlocks(p *probe) {
	p.every("result of a call", isOutcome, func(r received) string {
		content := r.m.v.at("result", "content")
		if !content.is('[') {
			return of(r.e) + ": content is " + clip(content.json(), 20)
		}
		for _, b := range content.items {
			var ok bool
			switch b.at("type").str() {
			case "text":
				ok = b.at("text").is('"')
			case "image", "audio":
				ok = b.at("data").is('"') && b.at("mimeType").is('"')
			case "resource_link":
				ok = b.at("uri").is('"') && b.at("name").is('"')
			case "resource":
				r := b.at("resource")
				ok = r.at("uri").is('"') && (r.at("text").is('"') || r.at("blob").is('"'))
			}
			if !ok {
				return of(r.e) + ": the block " + clip(b.json(), 60)
			}
		}
		return ""
	})
}

func errorFlag(p *probe) {
	p.every("result of a call", isOutcome, func(r received) string {
		if f := r.m.v.at("result", "isError"); f != nil && !f.isBool() {
			return of(r.e) + ": isError is " + clip(f.json(), 20)
		}
		return ""
	})
}

// structured visits results of calls that have structured content; tools with
// an output schema are also asked for a failure.
func (p *probe) structured(visit func(e *exchange, t *tool, r *value)) {
	n := 0
	look := func(t *tool, e *exchange) {
		if r := e.result(); r != nil && r.at("structuredContent") != nil {
			n++
			visit(e, t, r)
		}
	}
	for _, c := range p.run.survey.calls {
		look(c.tool, c.e)
		for _, name := range c.args.names {
			if !c.args.members[name].is('"') {
				continue
			}
			other := object()
			for _, n := range c.args.names {
				other.set(n, c.args.members[n])
			}
			other.set(name, text("../conformance-nothing"))
			if len(violations(c.tool.input(), other)) == 0 {
				look(c.tool, p.send(callOf(c.tool, other)))
			}
		}
	}
	if n == 0 {
		if len(p.run.survey.calls) == 0 {
			p.skipf("%s", p.run.survey.noCall())
		}
		p.skipf("no call returned structured content")
	}
}

func structuredConforms(p *probe) {
	judged := 0
	for _, c := range p.run.survey.calls {
		if r := c.e.result(); r != nil && c.tool.output().is('{') && !r.at("isError").is('t') && r.at("resultType").str() == resultComplete {
			judged++
			if r.at("structuredContent") == nil {
				p.failf(c.e, "%s has an output schema, but its result has no structured content", c.tool.name)
			}
		}
	}
	if judged == 0 && !slices.ContainsFunc(p.run.survey.calls, func(c surveyed) bool { return c.tool.output() != nil && c.e.result() != nil }) {
		p.skipf("no tool with an output schema could be called")
	}
	p.structuredOrNone(func(e *exchange, t *tool, r *value) {
		if t.output().is('{') {
			for _, v := range violations(t.output(), r.at("structuredContent")) {
				p.failf(e, "%s: %s", t.name, v)
			}
		}
	})
}

// structuredOrNone is structured for a check that has something else to say.
func (p *probe) structuredOrNone(visit func(e *exchange, t *tool, r *value)) {
	if len(p.faults) > 0 {
		return
	}
	p.structured(visit)
}

func structuredAsText(p *probe) {
	p.structured(func(e *exchange, t *tool, r *value) {
		for _, b := range r.at("content").list() {
			if v, err := parseValue([]byte(b.at("text").str())); err == nil && equal(v, r.at("structuredContent")) {
				return
			}
		}
		p.failf(e, "%s: no text block holds the structured content as JSON", t.name)
	})
}

func argumentsAbsent(p *probe) {
	for _, c := range p.run.survey.calls {
		if len(c.tool.required()) == 0 && len(violations(c.tool.input(), object())) == 0 {
			e := p.send(request{method: methodCall, params: `"name":` + quote(c.tool.name), name: c.tool.name})
			if e.result() == nil && p.send(callOf(c.tool, object())).result() != nil {
				p.failf(e, "%s without arguments: %s instead of a result", c.tool.name, e.saw())
			}
			return
		}
	}
	p.skipf("no tool can be called without arguments")
}

const noTool = "conformance_no_such_tool"

func unknownTool(p *probe) {
	p.listed()
	e := p.send(request{method: methodCall, params: `"name":"` + noTool + `","arguments":{}`, name: noTool})
	p.refused(e, "an unknown tool", codeParams)
}

func nameMissing(p *probe) {
	p.listed()
	for _, c := range []struct{ params, what string }{{"", "no name"}, {`"name":5,"arguments":{}`, "a name that is a number"}} {
		e := p.send(request{method: methodCall, params: c.params, why: c.what, shape: withoutName})
		if p.run.target.kind == Web && e.code() == codeHeader {
			continue // a missing header is as good a reason
		}
		p.refused(e, c.what, codeParams)
	}
}

func withoutName(s *shape) { s.without(headerName) }

func argumentsNoObject(p *probe) {
	t := p.listed()[0]
	for _, a := range []string{"[]", "5", `"text"`} {
		e := p.send(request{method: methodCall, params: `"name":` + quote(t.name) + `,"arguments":` + a, name: t.name, why: "arguments that are no object"})
		p.refused(e, "arguments "+a, codeParams)
	}
}

func argumentsWrong(p *probe) {
	tried := false
	for _, c := range p.run.survey.calls {
		args, what, ok := c.tool.wrong()
		if !ok {
			continue
		}
		tried = true
		r := callOf(c.tool, args)
		r.why = what
		e := p.send(r)
		if v := e.result(); v != nil && !v.at("isError").is('t') && v.at("resultType").str() != resultInput {
			p.failf(e, "%s: %s, and the call succeeds", c.tool.name, what)
		}
	}
	if !tried {
		p.skipf("no tool that can be called has a schema that refuses anything")
	}
}

func failuresExplained(p *probe) {
	failed := func(r received) bool { return isOutcome(r) && r.m.v.at("result", "isError").is('t') }
	p.every("result with isError", failed, func(r received) string {
		for _, b := range r.m.v.at("result", "content").list() {
			if strings.TrimSpace(b.at("text").str()) != "" {
				return ""
			}
		}
		return of(r.e) + ": isError without a text"
	})
}

func namesCaseSensitive(p *probe) {
	known := map[string]bool{}
	for _, t := range p.listed() {
		known[t.name] = true
	}
	for _, t := range p.listed() {
		other := strings.ToUpper(t.name)
		if known[other] || !slices.ContainsFunc(p.run.survey.calls, func(c surveyed) bool { return c.tool == t }) {
			continue
		}
		e := p.send(request{method: methodCall, params: `"name":` + quote(other) + `,"arguments":{}`, name: other})
		p.refused(e, quote(other), codeParams)
		return
	}
	p.skipf("no tool can be called, or none has a lower-case letter")
}

func embeddedResources(p *probe) {
	with := p.run.survey.discover.result().at("capabilities", "resources") != nil
	p.every("result of a call", isOutcome, func(r received) string {
		for _, b := range r.m.v.at("result", "content").list() {
			if b.at("type").str() == "resource" && !with {
				return of(r.e) + ": an embedded resource"
			}
		}
		return ""
	})
}

func listChangedAdvertised(p *probe) {
	with := p.run.survey.discover.result().at("capabilities", "tools", "listChanged").is('t')
	p.every("message", isAny, func(r received) string {
		if r.m.method() == noteToolsChanged && !with {
			return of(r.e) + ": " + noteToolsChanged
		}
		return ""
	})
}

func inputRequiredWhere(p *probe) {
	p.every("result", answers(methodDiscover, methodList, methodListen), func(r received) string {
		if r.m.v.at("result", "resultType").str() == resultInput {
			return of(r.e) + " returns input_required"
		}
		return ""
	})
}

func foreignState(p *probe) {
	t, args := p.callable()
	r := callOf(t, args)
	r.params += `,"requestState":"conformance","inputResponses":{}`
	for round := 0; ; round++ {
		plain := p.send(callOf(t, args))
		if p.result(plain).at("resultType").str() == resultInput {
			p.skipf("%s asks the client for input", t.name)
		}
		e := p.send(r)
		v := e.result()
		switch {
		case e.response() == nil:
			p.failf(e, "%s with requestState: %s instead of an answer", t.name, e.saw())
		case v == nil || v.at("isError").is('t') == plain.result().at("isError").is('t'):
		case round < 2: // a tool may fail now and then, for reasons of its own
			continue
		default:
			p.failf(e, "%s with requestState: %s, without it %s", t.name, e.saw(), plain.saw())
		}
		return
	}
}

func inputRequiredShape(p *probe) {
	asks := func(r received) bool { return isResult(r) && r.m.v.at("result", "resultType").str() == resultInput }
	p.every("input_required result", asks, func(r received) string {
		v := r.m.v.at("result")
		if v.at("inputRequests") == nil && v.at("requestState") == nil {
			return of(r.e) + ": neither inputRequests nor requestState"
		}
		return ""
	})
}
