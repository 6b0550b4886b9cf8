package conformance

import "slices"

var stateChecks = []check{
	{"C021", Must, everywhere, "basic/index, Statelessness", "R-STATE-01", "requests do not share connection state", noSharedState, false},
	{"C034", Must, everywhere, "basic/versioning, Protocol Version Negotiation", "R-VER-04", "each request is accepted or refused by its own revision", versionsAlternate, false},
	{"C035", Should, everywhere, "basic/index, Statelessness", "R-STATE-02", "requests of several conversations may run at once", interleaved, false},
	{"C036", Should, everywhere, "basic/index, Statelessness", "R-STATE-03", "a cursor works on another connection", cursorTravels, false},
	{"C037", Must, everywhere, "server/tools, Capabilities", "R-STATE-05", "tools/list does not depend on the connection or on other requests", listIsStable, false},
	{"C038", Should, everywhere, "server/discover", "R-DISC-01", "server/discover gives the same answer every time", discoverIsStable, false},
}

func noSharedState(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	p.modern()
	for _, method := range []string{methodList, methodDiscover} {
		e := p.send(request{method: method, meta: "{}", why: "a request without its required _meta"})
		if e.result() != nil {
			p.failf(e, "%s without its _meta is answered after a complete request", method)
		}
	}
	declared := request{method: methodList, meta: `{` + quote(keyVersion) + `:` + quote(revision) + `}`, why: "a request without capabilities"}
	if e := p.send(declared); e.result() != nil {
		p.failf(e, "the client's capabilities are taken from an earlier request")
	}
}

func versionsAlternate(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	for range 3 {
		if e := p.send(request{method: methodDiscover, version: "1999-01-01"}); e.result() != nil {
			p.failf(e, "revision 1999-01-01 is served behind a request of %s", revision)
		}
		if e := p.ask(methodDiscover, ""); e.result() == nil {
			p.failf(e, "behind a request of 1999-01-01: %s instead of a result", e.saw())
		}
	}
}

func interleaved(p *probe) {
	serial := p.result(p.ask(methodList, "")).at("tools")
	p.result(p.ask(methodDiscover, ""))
	var all []*exchange
	for i, id := range ids("mix-", 24) {
		r := request{method: []string{methodList, methodDiscover}[i%2], id: id}
		if i%3 == 0 {
			r.more = `"conformance.example/turn":` + id
		}
		all = append(all, p.start(r))
	}
	for _, e := range all {
		p.wait(e)
		switch {
		case e.result() == nil:
			p.failf(e, "%s among others: %s instead of a result", e.request.method, e.saw())
		case e.request.method == methodList && !sameTools(e.result().at("tools"), serial):
			p.failf(e, "tools/list among others differs from tools/list alone")
		case e.request.method == methodDiscover && e.result().at("supportedVersions") == nil:
			p.failf(e, "server/discover among others gets the answer of another request")
		}
	}
}

// sameTools compares two lists without their order, which is a matter of its
// own.
func sameTools(a, b *value) bool {
	if !a.is('[') || !b.is('[') || len(a.items) != len(b.items) {
		return equal(a, b)
	}
	byName := map[string]*value{}
	for _, t := range a.items {
		byName[t.at("name").str()] = t
	}
	return !slices.ContainsFunc(b.items, func(t *value) bool { return !equal(byName[t.at("name").str()], t) })
}

func cursorTravels(p *probe) {
	next := p.result(p.ask(methodList, "")).at("nextCursor")
	if !next.is('"') {
		p.skipf("the list has one page")
	}
	r := request{method: methodList, params: `"cursor":` + quote(next.text)}
	here, there := p.send(r), p.sendOn(p.fresh(), r)
	if there.result() == nil || !sameTools(p.result(here).at("tools"), there.result().at("tools")) {
		p.failf(there, "a cursor of one connection on another: %s", there.saw())
	}
}

func listIsStable(p *probe) {
	first := p.result(p.ask(methodList, "")).at("tools")
	if t, args := p.quietCall(); t != nil {
		p.send(callOf(t, args))
	}
	again := p.ask(methodList, "")
	if !sameTools(p.result(again).at("tools"), first) {
		p.failf(again, "tools/list differs after other requests")
	}
	other := p.sendOn(p.fresh(), request{method: methodList})
	if !sameTools(other.result().at("tools"), first) {
		p.failf(other, "tools/list differs on another connection (%s)", other.saw())
	}
}

// quietCall is callable without its demand.
func (p *probe) quietCall() (*tool, *value) {
	for _, c := range p.run.survey.calls {
		if c.e.result() != nil {
			return c.tool, c.args
		}
	}
	return nil, nil
}

func discoverIsStable(p *probe) {
	first := p.result(p.ask(methodDiscover, ""))
	for range 2 {
		e := p.ask(methodDiscover, "")
		for _, name := range []string{"supportedVersions", "capabilities"} {
			if r := e.result(); r != nil && !equal(r.at(name), first.at(name)) {
				p.failf(e, "%s differs from the answer before", name)
			}
		}
	}
}
