package conformance

import (
	"fmt"
	"maps"
)

var pageChecks = []check{
	{"C095", Must, everywhere, "server/utilities/pagination, Response Format", "R-PAGE-01", "nextCursor is a string where it is there", cursorIsText, true},
	{"C096", Must, everywhere, "server/utilities/pagination, Pagination Model", "R-PAGE-02", "the pages end and hold every tool once", pagesComplete, false},
	{"C097", Should, everywhere, "server/utilities/pagination, Implementation Guidelines", "R-PAGE-03", "a cursor that is used twice gives the same page", cursorStable, false},
	{"C098", Should, everywhere, "server/utilities/pagination, Error Handling", "R-PAGE-04", "a cursor that no server gave gets -32602", cursorInvalid, false},
	{"C099", Should, everywhere, "server/utilities/pagination, Error Handling", "R-PAGE-04", "a cursor that is no string gets -32602", cursorType, false},
	{"C100", Must, everywhere, "server/utilities/caching, Cacheable Results", "R-CACHE-01", "discover and lists carry ttlMs and cacheScope", cacheHints, true},
	{"C101", Must, everywhere, "server/utilities/caching, TTL", "R-CACHE-02", "ttlMs is an integer of at least 0", ttlValid, true},
	{"C102", Must, everywhere, "server/utilities/caching, Cache Scope", "R-CACHE-03", "cacheScope is public or private", scopeValid, true},
	{"C103", Must, everywhere, "server/utilities/caching, Interaction with Pagination", "R-CACHE-04", "all pages of a list have the same cacheScope", scopeSame, false},
}

func cursorIsText(p *probe) {
	p.every("list", answers(methodList), func(r received) string {
		if c := r.m.v.at("result", "nextCursor"); c != nil && !c.is('"') {
			return "nextCursor is " + clip(c.json(), 20)
		}
		return ""
	})
}

// paged demands more than one page.
func (p *probe) paged() []*exchange {
	pages := p.run.survey.pages
	if len(pages) < 2 {
		p.skipf("the list has one page")
	}
	return pages
}

func pagesComplete(p *probe) {
	pages := p.paged()
	if p.run.survey.endless || len(pages) >= maxPages {
		p.failf(pages[len(pages)-1], "the list has not ended after %d pages", len(pages))
		return
	}
	seen := map[string]bool{}
	for _, e := range pages {
		if e.result() == nil {
			p.failf(e, "the cursor of a page gets %s", e.saw())
		}
		here := map[string]bool{}
		for _, t := range e.result().at("tools").list() {
			name := t.at("name").str()
			if seen[name] {
				p.failf(e, "%s is on two pages", clip(name, 60))
			}
			here[name] = true
		}
		maps.Copy(seen, here)
	}
}

func cursorStable(p *probe) {
	pages := p.paged()
	e := p.send(*pages[1].request)
	if p.result(pages[1]) != nil && !sameTools(e.result().at("tools"), pages[1].result().at("tools")) {
		p.failf(e, "the second use of a cursor gives another page (%s)", e.saw())
	}
}

func cursorInvalid(p *probe) {
	p.result(p.ask(methodList, ""))
	p.refused(p.ask(methodList, `"cursor":"conformance-no-such-cursor"`), "a cursor that no server gave", codeParams)
}

func cursorType(p *probe) {
	p.result(p.ask(methodList, ""))
	for _, c := range []string{"5", "{}"} {
		e := p.send(request{method: methodList, params: `"cursor":` + c, why: "a cursor that is no string"})
		p.refused(e, "the cursor "+c, codeParams)
	}
}

// isCacheable keeps the results that have to say how long they may be kept.
func isCacheable(r received) bool {
	return answers(methodDiscover, methodList, "prompts/list", "resources/list")(r) && r.m.v.at("result", "resultType").str() != resultInput
}

func cacheHints(p *probe) {
	p.every("cacheable result", isCacheable, func(r received) string {
		for _, name := range []string{"ttlMs", "cacheScope"} {
			if r.m.v.at("result", name) == nil {
				return of(r.e) + ": " + name + " is absent"
			}
		}
		return ""
	})
}

func ttlValid(p *probe) {
	has := func(r received) bool { return isCacheable(r) && r.m.v.at("result", "ttlMs") != nil }
	p.every("ttlMs", has, func(r received) string {
		v := r.m.v.at("result", "ttlMs")
		if n, ok := v.integer(); !ok || n < 0 {
			return fmt.Sprintf("%s: ttlMs is %s", of(r.e), clip(v.json(), 40))
		}
		return ""
	})
}

func scopeValid(p *probe) {
	has := func(r received) bool { return isCacheable(r) && r.m.v.at("result", "cacheScope") != nil }
	p.every("cacheScope", has, func(r received) string {
		if s := r.m.v.at("result", "cacheScope"); s.str() != "public" && s.str() != "private" {
			return fmt.Sprintf("%s: cacheScope is %s", of(r.e), clip(s.json(), 40))
		}
		return ""
	})
}

func scopeSame(p *probe) {
	pages := p.paged()
	first := p.result(pages[0]).at("cacheScope")
	for _, e := range pages[1:] {
		if r := e.result(); r != nil && !equal(r.at("cacheScope"), first) {
			p.failf(e, "cacheScope is %s on one page and %s on another", first.json(), r.at("cacheScope").json())
		}
	}
}
