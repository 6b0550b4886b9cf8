package conformance

import (
	"slices"
	"strings"
)

var versionChecks = []check{
	{"C011", Must, everywhere, "basic/versioning, Protocol Version Negotiation", "R-VER-01", "an unsupported version returns -32022 and the supported list", unsupportedVersion, false},
	{"C056", Must, Web, "basic/transports/streamable-http, Protocol Version Header", "R-VER-02", "an unsupported version has HTTP status 400", unsupportedStatus, false},
	{"C057", Must, everywhere, "basic/versioning, Protocol Version Negotiation", "R-VER-03", "no method is served in an unsupported version", noMethodUnsupported, false},
	{"C058", Must, everywhere, "schema, UnsupportedProtocolVersionError", "R-VER-01", "-32022 repeats the version asked for and agrees with server/discover", supportedAgrees, false},
	{"C059", Must, everywhere, "basic/versioning, Protocol Version Negotiation", "R-VER-01", "versions are compared exactly, not by order or prefix", versionsExact, false},
	{"C060", Must, everywhere, "basic/versioning, Compatibility Matrix", "R-VER-06", "a legacy initialize is answered at once, with an error unless its revision is served", legacyInitialize, false},
	{"C061", Should, everywhere, "basic/versioning, Backward Compatibility", "R-VER-05", "the error to a legacy initialize names the versions served", initializeNamesVersions, false},
	{"C062", Must, Web, "basic/versioning, Compatibility Matrix", "R-VER-07", "a refused legacy initialize has HTTP status 400", initializeStatus, false},
	{"C063", Must, everywhere, "changelog, Major changes", "R-VER-08", "methods that were removed are unknown", removedMethods, false},
	{"C064", Must, everywhere, "basic/versioning, Extension Negotiation", "R-VER-10", "identifiers of extensions have a prefix", extensionNames, false},
	{"C065", Must, everywhere, "schema, DiscoverResult", "R-DISC-02", "the discover result lists versions and capabilities", discoverShape, false},
	{"C066", Must, everywhere, "server/discover", "R-DISC-02", "the revision that is served is among those listed", revisionListed, false},
	{"C067", Must, everywhere, "schema, DiscoverResult", "R-DISC-04", "instructions are a string", instructionsAreText, false},
	{"C069", Must, everywhere, "server/discover", "R-DISC-01", "the first message on a connection may be server/discover", discoverFirst, false},
}

// foreign are versions that no server serves.
var foreign = []string{"1999-01-01", "v999.0.0", "2999-12-31"}

func unsupportedVersion(p *probe) {
	for _, v := range foreign {
		e := p.send(request{method: methodList, version: v})
		if e.code() != codeVersion {
			p.failf(e, "version %s: %s instead of error -32022", v, e.saw())
			continue
		}
		list := e.response().v.at("error", "data", "supported")
		if len(list.list()) == 0 || slices.ContainsFunc(list.items, func(x *value) bool { return !x.is('"') }) {
			p.failf(e, "version %s: data.supported is %s", v, clip(list.json(), 60))
		}
	}
}

func unsupportedStatus(p *probe) {
	for _, v := range foreign {
		e := p.send(request{method: methodList, version: v})
		if e.code() != codeVersion {
			p.skipf("version %s gets %s", v, e.saw())
		}
		p.status(e, "version "+v, 400)
	}
}

func noMethodUnsupported(p *probe) {
	for _, r := range []request{
		{method: methodDiscover}, {method: methodList},
		{method: methodListen, params: `"notifications":{}`},
		{method: methodCall, params: `"name":"conformance_none","arguments":{}`, name: "conformance_none"},
		p.anyCall(),
	} {
		r.version = foreign[0]
		e := p.send(r)
		if e.result() != nil || slices.ContainsFunc(e.messages(), isAcknowledgment) {
			p.failf(e, "%s is served in version %s", r.method, r.version)
		}
	}
}

func supportedAgrees(p *probe) {
	listed := p.result(p.ask(methodDiscover, "")).at("supportedVersions")
	e := p.send(request{method: methodDiscover, version: foreign[0]})
	if e.code() != codeVersion {
		p.skipf("version %s gets %s", foreign[0], e.saw())
	}
	if len(listed.list()) == 0 {
		p.skipf("server/discover lists no versions")
	}
	data := e.response().v.at("error", "data")
	if data.at("requested").str() != foreign[0] {
		p.failf(e, "requested is %s, not %q", clip(data.at("requested").json(), 40), foreign[0])
	}
	for _, v := range data.at("supported").list() {
		if !slices.ContainsFunc(listed.list(), func(x *value) bool { return equal(x, v) }) {
			p.failf(e, "%s is supported here and not in server/discover", clip(v.json(), 40))
		}
	}
}

func versionsExact(p *probe) {
	listed := p.run.survey.discover.result().at("supportedVersions").list()
	for _, v := range []string{"2026-07-29", "2026-07-27", "2026-07-2", "2026-07-28-rc", "2027-01-01", " 2026-07-28", "2026-07-28 "} {
		if slices.ContainsFunc(listed, func(x *value) bool { return x.str() == v }) {
			continue
		}
		if e := p.send(request{method: methodDiscover, version: v}); e.result() != nil {
			p.failf(e, "version %s is served", v)
		}
	}
}

// legacy is the first message of a client of an earlier revision.
func legacy() request {
	return request{
		id: `"legacy"`, method: methodInitialize, bare: true, why: "the handshake of an earlier revision",
		params: `"protocolVersion":"` + legacyRevision + `","capabilities":{},"clientInfo":{"name":"old-editor","version":"1.0.0"}`,
		shape: func(s *shape) {
			s.without(headerVersion)
			s.without(headerMethod)
		},
	}
}

// handshake returns how a legacy initialize was answered, and skips if it was
// accepted.
func (p *probe) handshake() *exchange {
	e := p.run.survey.legacy
	p.sent = append(p.sent, e)
	if p.run.dual() {
		p.skipf("the server also serves an earlier revision")
	}
	return e
}

// modern skips on a channel where a request without the required _meta may
// belong to an earlier revision that the server serves too. Over HTTP the
// version header tells them apart.
func (p *probe) modern() {
	if p.run.target.kind != Web && p.run.dual() {
		p.skipf("the server also serves an earlier revision, whose requests have no such _meta")
	}
}

func legacyInitialize(p *probe) {
	e := p.handshake()
	switch {
	case e.result() != nil:
		p.failf(e, "a legacy initialize is accepted for %s, which has no handshake", revision)
	case e.response() == nil:
		p.failf(e, "a legacy initialize: %s instead of an error", e.saw())
	}
}

func initializeNamesVersions(p *probe) {
	e := p.handshake()
	m := e.response()
	if m == nil || m.v.at("error") == nil {
		p.skipf("a legacy initialize gets %s", e.saw())
	}
	if !strings.Contains(m.v.at("error").json(), revision) {
		p.failf(e, "the error does not name %s", revision)
	}
}

func initializeStatus(p *probe) {
	e := p.handshake()
	if e.result() != nil {
		p.skipf("a legacy initialize gets %s", e.saw())
	}
	p.status(e, "a legacy initialize", 400)
}

func removedMethods(p *probe) {
	for _, r := range removed {
		e := p.ask(r.method, r.params)
		p.refused(e, r.method, codeMethod)
	}
}

func extensionNames(p *probe) {
	ext := p.result(p.ask(methodDiscover, "")).at("capabilities", "extensions")
	if len(ext.names0()) == 0 {
		p.skipf("the server advertises no extension")
	}
	for _, name := range ext.names {
		prefix, rest, ok := strings.Cut(name, "/")
		if !ok || !metaPrefix.MatchString(prefix) || !metaName.MatchString(rest) {
			p.failf(p.sent[0], "the extension %s", quote(clip(name, 80)))
		}
	}
}

func discoverShape(p *probe) {
	e := p.ask(methodDiscover, "")
	r := p.result(e)
	versions := r.at("supportedVersions")
	if len(versions.list()) == 0 || slices.ContainsFunc(versions.items, func(v *value) bool { return !v.is('"') }) {
		p.failf(e, "supportedVersions is %s", clip(versions.json(), 60))
	}
	capabilities := r.at("capabilities")
	if !capabilities.is('{') {
		p.failf(e, "capabilities is %s", clip(capabilities.json(), 60))
		return
	}
	for _, flag := range [][2]string{{"tools", "listChanged"}, {"prompts", "listChanged"}, {"resources", "listChanged"}, {"resources", "subscribe"}} {
		if f := capabilities.at(flag[0], flag[1]); f != nil && !f.isBool() {
			p.failf(e, "capabilities.%s.%s is %s", flag[0], flag[1], clip(f.json(), 40))
		}
	}
	for _, name := range capabilities.names {
		if c := capabilities.members[name]; !c.is('{') {
			p.failf(e, "capabilities.%s is %s", clip(name, 40), clip(c.json(), 40))
		}
	}
}

func revisionListed(p *probe) {
	e := p.ask(methodDiscover, "")
	list := p.result(e).at("supportedVersions")
	if !list.is('[') {
		p.skipf("supportedVersions is no list")
	}
	if !slices.ContainsFunc(list.items, func(v *value) bool { return v.str() == revision }) {
		p.failf(e, "%s is served and not listed", revision)
	}
	for _, v := range list.items {
		s := v.str()
		if s < revision || s == revision { // earlier ones are spoken after a handshake
			continue
		}
		if other := p.send(request{method: methodDiscover, version: s}); other.result() == nil {
			p.failf(other, "%s is listed, but gets %s", clip(s, 40), other.saw())
		}
	}
}

func instructionsAreText(p *probe) {
	e := p.ask(methodDiscover, "")
	v := p.result(e).at("instructions")
	if v == nil {
		p.skipf("the server gives no instructions")
	}
	if !v.is('"') {
		p.failf(e, "instructions is %s", clip(v.json(), 40))
	}
}

func discoverFirst(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	e := p.sendOn(p.fresh(), request{method: methodDiscover})
	if e.result() == nil {
		p.failf(e, "first on a connection: %s instead of a result", e.saw())
	}
	probe := p.sendOn(p.fresh(), request{method: methodDiscover, version: foreign[2]})
	if probe.result() != nil || probe.response() == nil {
		p.failf(probe, "first on a connection, version %s: %s instead of an error", foreign[2], probe.saw())
	}
}
