package conformance

import (
	"regexp"
	"strings"
)

var metaChecks = []check{
	{"C040", Must, everywhere, "basic/index, _meta", "R-META-01", "a request without params or _meta gets -32602", metaMissing, false},
	{"C041", Must, everywhere, "basic/index, _meta", "R-META-01", "a request that names no revision gets -32602", versionMissing, false},
	{"C042", Must, everywhere, "basic/index, _meta", "R-META-01", "a request that declares no client capabilities gets -32602", capabilitiesMissing, false},
	{"C043", Must, Web, "basic/index, _meta", "R-META-02", "a request without required _meta fields gets HTTP 400", metaStatus, false},
	{"C044", Must, everywhere, "basic/index, _meta", "R-META-03", "a request without clientInfo is served", infoOptional, false},
	{"C045", Should, everywhere, "basic/index, _meta", "R-META-04", "every result names the server in its _meta", resultsNameServer, true},
	{"C046", Should, everywhere, "basic/index, _meta", "R-META-05", "clientInfo does not change an answer", infoIgnored, false},
	{"C047", Must, everywhere, "schema, MissingRequiredClientCapabilityError", "R-META-07", "-32021 says which capability is missing, as an object", capabilityErrorShape, true},
	{"C048", Must, Web, "basic/index, _meta", "R-META-08", "-32021 has HTTP status 400", capabilityErrorStatus, true},
	{"C049", Must, everywhere, "basic/index, _meta", "R-META-09", "_meta keys that are sent follow the grammar", metaGrammar, true},
	{"C050", Must, everywhere, "basic/index, _meta", "R-META-10", "_meta keys of the server's own use no reserved prefix", metaReserved, true},
	{"C051", Must, everywhere, "basic/index, OpenTelemetry trace context", "R-META-12", "a traceparent that is sent has the W3C format", traceFormat, true},
	{"C052", Should, everywhere, "basic/index, _meta", "R-META-11", "odd values at trace keys and unknown keys do not break a request", oddMeta, false},
	{"C054", Must, everywhere, "basic/versioning, Extension Negotiation", "R-VER-09", "an extension that only the client supports is ignored or refused", foreignExtension, false},
}

func metaMissing(p *probe) {
	p.modern()
	p.refused(p.send(request{method: p.vehicle(), bare: true, why: "a request without params"}), "no params", codeParams)
	p.refused(p.send(request{method: p.vehicle(), raw: "[]", why: "params that are an array"}), "params []", codeParams, codeRequest)
	for _, meta := range []string{"[]", "null", "7"} {
		p.refused(p.send(request{method: p.vehicle(), meta: meta, why: "_meta of another type"}), "_meta "+meta, codeParams, codeRequest)
	}
	p.refused(p.send(request{method: methodList, meta: "{}", why: "an empty _meta"}), "an empty _meta", codeParams)
}

func versionMissing(p *probe) {
	p.modern()
	for _, v := range []string{"", quote(keyVersion) + ":7,", quote(keyVersion) + ":null,"} {
		e := p.send(request{method: p.vehicle(), meta: "{" + v + quote(keyCapabilities) + ":{}}", why: "no revision in _meta"})
		p.refused(e, "a request without a revision", codeParams)
	}
	p.callRefused("{"+quote(keyCapabilities)+":{}}", "a call without a revision")
}

// callRefused sends a call that would succeed with a correct _meta.
func (p *probe) callRefused(meta, what string) {
	if t, args := p.quietCall(); t != nil {
		r := callOf(t, args)
		r.meta, r.why = meta, what
		p.refused(p.send(r), what, codeParams)
	}
}

func capabilitiesMissing(p *probe) {
	for _, c := range []string{"", "," + quote(keyCapabilities) + ":null", "," + quote(keyCapabilities) + ":[]"} {
		e := p.send(request{method: p.vehicle(), meta: "{" + quote(keyVersion) + ":" + quote(revision) + c + "}", why: "no capabilities in _meta"})
		p.refused(e, "a request without capabilities", codeParams)
	}
	p.callRefused("{"+quote(keyVersion)+":"+quote(revision)+"}", "a call without capabilities")
}

func metaStatus(p *probe) {
	for _, meta := range []string{"{}", "{" + quote(keyCapabilities) + ":{}}", "{" + quote(keyVersion) + ":" + quote(revision) + "}"} {
		e := p.send(request{method: p.vehicle(), meta: meta, why: "required _meta fields missing"})
		p.status(e, "required _meta fields missing", 400)
	}
}

// status demands an HTTP status.
func (p *probe) status(e *exchange, what string, want int) {
	if e.status != want {
		p.failf(e, "%s: %s instead of HTTP %d", what, e.saw(), want)
	}
}

func infoOptional(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	meta := "{" + quote(keyVersion) + ":" + quote(revision) + "," + quote(keyCapabilities) + ":{}}"
	if e := p.send(request{method: methodDiscover, meta: meta}); e.result() == nil {
		p.failf(e, "without clientInfo: %s instead of a result", e.saw())
	}
}

func resultsNameServer(p *probe) {
	p.every("result", isModern, func(r received) string {
		info := r.m.v.at("result", "_meta", keyServerInfo)
		if !info.at("name").is('"') || !info.at("version").is('"') {
			return of(r.e) + ": " + keyServerInfo + " is " + clip(info.json(), 40)
		}
		return ""
	})
}

func infoIgnored(p *probe) {
	first := p.result(p.ask(methodList, "")).at("tools")
	for _, info := range []string{`{"name":"some-editor","version":"4.2.0"}`, `{"name":"admin","version":"0"}`, `{"name":"","version":""}`} {
		meta := "{" + quote(keyVersion) + ":" + quote(revision) + "," + quote(keyCapabilities) + ":{}," + quote(keyClientInfo) + ":" + info + "}"
		if e := p.send(request{method: methodList, meta: meta}); !sameTools(e.result().at("tools"), first) {
			p.failf(e, "clientInfo %s changes tools/list (%s)", info, e.saw())
		}
	}
}

func capabilityErrorShape(p *probe) {
	p.every("error -32021", func(r received) bool { return isCoded(r) && r.m.code() == codeCapability }, func(r received) string {
		if need := r.m.v.at("error", "data", "requiredCapabilities"); !need.is('{') || len(need.names) == 0 {
			return of(r.e) + ": requiredCapabilities is " + clip(need.json(), 40)
		}
		return ""
	})
}

func capabilityErrorStatus(p *probe) {
	p.every("error -32021", func(r received) bool { return isCoded(r) && r.m.code() == codeCapability && r.e != nil }, func(r received) string {
		if r.e.status != 400 {
			return of(r.e) + ": " + r.e.saw()
		}
		return ""
	})
}

var (
	metaPrefix = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
	metaName   = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`)
	tracePart  = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)
)

// metaKeys visits every key of every _meta that was sent.
func (p *probe) metaKeys(visit func(r received, name string, v *value)) {
	n := 0
	var search func(r received, v *value)
	search = func(r received, v *value) {
		for _, item := range v.items {
			search(r, item)
		}
		for _, name := range v.names {
			m := v.members[name]
			switch name {
			case "structuredContent", "inputSchema", "outputSchema": // data of a tool
			case "_meta":
				for _, k := range m.names {
					n++
					visit(r, k, m.members[k])
				}
			default:
				search(r, m)
			}
		}
	}
	for _, r := range p.everything() {
		if r.m.v != nil {
			search(r, r.m.v)
		}
	}
	if n == 0 {
		p.skipf("the server sent no _meta keys")
	}
}

func metaGrammar(p *probe) {
	told := map[string]bool{}
	p.metaKeys(func(r received, name string, _ *value) {
		prefix, rest, slashed := strings.Cut(name, "/")
		if !slashed {
			prefix, rest = "", name
		}
		if (slashed && !metaPrefix.MatchString(prefix) || !metaName.MatchString(rest)) && !told[name] {
			told[name] = true
			p.failf(r.e, "%s: the key %s", of(r.e), quote(clip(name, 80)))
		}
	})
}

func metaReserved(p *probe) {
	extended := len(p.run.survey.discover.result().at("capabilities", "extensions").names0()) > 0
	known := map[string]bool{keyVersion: true, keyCapabilities: true, keyClientInfo: true, keyLogLevel: true, keyServerInfo: true, keySubscription: true}
	told := map[string]bool{}
	p.metaKeys(func(r received, name string, _ *value) {
		prefix, _, slashed := strings.Cut(name, "/")
		labels := strings.Split(prefix, ".")
		if !slashed || len(labels) < 2 || labels[1] != "mcp" && labels[1] != "modelcontextprotocol" || known[name] || told[name] {
			return
		}
		if extended && prefix == "io.modelcontextprotocol" {
			return
		}
		told[name] = true
		p.failf(r.e, "%s: the key %s", of(r.e), quote(clip(name, 80)))
	})
}

func traceFormat(p *probe) {
	n := 0
	p.metaKeys(func(r received, name string, v *value) {
		if name == "traceparent" {
			n++
			if !v.is('"') || !tracePart.MatchString(v.text) {
				p.failf(r.e, "%s: traceparent is %s", of(r.e), clip(v.json(), 80))
			}
		}
	})
	if n == 0 {
		p.skipf("the server sent no traceparent")
	}
}

func oddMeta(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	for _, more := range []string{
		`"traceparent":"garbage","tracestate":"=","baggage":";"`,
		`"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`,
		`"com.example/unknown":{"a":[1,2,3]}`,
	} {
		if e := p.send(request{method: methodDiscover, more: more}); e.result() == nil {
			p.failf(e, "with %s: %s instead of a result", more, e.saw())
		}
	}
}

func foreignExtension(p *probe) {
	const none = "com.example/conformance"
	if p.run.survey.discover.result().at("capabilities", "extensions", none) != nil {
		p.skipf("the server supports every extension")
	}
	meta := "{" + quote(keyVersion) + ":" + quote(revision) + "," + quote(keyCapabilities) + `:{"extensions":{` + quote(none) + ":{}}}}"
	e := p.send(request{method: methodList, meta: meta})
	switch r := e.result(); {
	case e.response() == nil:
		p.failf(e, "with an unknown extension: %s instead of an answer", e.saw())
	case r != nil && r.at("tools") == nil && r.at("resultType").str() != resultComplete:
		p.failf(e, "with an unknown extension: neither the core's answer nor an error")
	}
}
