package conformance

import (
	"math/big"
	"slices"
)

var progressChecks = []check{
	{"C105", Must, everywhere, "server/utilities/logging, Per-request log level", "R-LOG-03", "no log message is sent to a request that did not ask", noLogUnasked, true},
	{"C106", Must, everywhere, "server/utilities/logging, Capabilities", "R-LOG-02", "log messages are sent only if logging is declared", logDeclared, true},
	{"C107", Should, everywhere, "server/utilities/logging, Error Handling", "R-LOG-05", "a log level that does not exist gets -32602", logLevelUnknown, false},
	{"C108", Must, everywhere, "basic/index, _meta", "R-LOG-05", "a request with a log level is served", logLevelKnown, false},
	{"C176", Should, everywhere, "server/utilities/logging, Per-request log level", "R-LOG-04", "log messages are at or above the level asked for", logAbove, true},
	{"C177", Must, everywhere, "schema, LoggingMessageNotificationParams", "R-LOG-02", "a log message has a level that exists, and data", logShape, true},
	{"C110", Must, everywhere, "basic/patterns/progress, Behavior Requirements", "R-PROG-02", "progress names the token of a running request, unchanged", progressToken, true},
	{"C111", Must, everywhere, "basic/patterns/progress, Progress Flow", "R-PROG-03", "progress rises with each notification", progressRises, true},
	{"C112", Must, everywhere, "basic/patterns/progress, Implementation Notes", "R-PROG-04", "no progress is sent after the response", progressEnds, true},
	{"C113", Must, everywhere, "basic/patterns/progress, Progress Flow", "R-PROG-01", "a request with a progress token is served", tokenServed, false},
}

func isLog(r received) bool { return r.m.method() == noteMessage }

func noLogUnasked(p *probe) {
	p.every("message", isAny, func(r received) string {
		if !isLog(r) {
			return ""
		}
		if r.e == nil {
			return noteMessage + " belongs to no request"
		}
		v, err := parseValue(r.e.sent)
		if err != nil || v.at("params", "_meta", keyLogLevel) == nil {
			return of(r.e) + ": " + noteMessage + " was not asked for"
		}
		return ""
	})
}

func logDeclared(p *probe) {
	if p.run.survey.discover.result().at("capabilities", "logging") != nil {
		return
	}
	p.every("message", isAny, func(r received) string {
		if isLog(r) {
			return of(r.e) + ": " + noteMessage + " without the capability"
		}
		return ""
	})
}

func logLevelUnknown(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	for _, level := range []string{`"loud"`, "3"} {
		e := p.send(request{method: methodDiscover, more: quote(keyLogLevel) + ":" + level, why: "a log level that does not exist"})
		p.refused(e, "the log level "+level, codeParams)
	}
}

func logLevelKnown(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	for _, level := range logLevels {
		if e := p.send(request{method: methodDiscover, more: quote(keyLogLevel) + ":" + quote(level)}); e.result() == nil {
			p.failf(e, "the log level %s: %s instead of a result", level, e.saw())
		}
	}
}

func logAbove(p *probe) {
	p.provoke()
	p.every("log message", isLog, func(r received) string {
		if r.e == nil {
			return "" // another check
		}
		v, err := parseValue(r.e.sent)
		asked := slices.Index(logLevels, v.at("params", "_meta", keyLogLevel).str())
		if given := slices.Index(logLevels, r.m.v.at("params", "level").str()); err == nil && given >= 0 && given < asked {
			return of(r.e) + ": level " + logLevels[given] + ", asked for " + logLevels[asked]
		}
		return ""
	})
}

func logShape(p *probe) {
	p.provoke()
	p.every("log message", isLog, func(r received) string {
		params := r.m.v.at("params")
		switch {
		case !slices.Contains(logLevels, params.at("level").str()):
			return of(r.e) + ": the level is " + clip(params.at("level").json(), 40)
		case params.at("data") == nil:
			return of(r.e) + ": no data"
		}
		return ""
	})
}

func isProgress(r received) bool { return r.m.method() == noteProgress }

// provoke calls tools with a token and with a log level, once in a run: that is
// when a server may send progress and log messages.
func (p *probe) provoke() {
	if p.run.provoked {
		return
	}
	p.run.provoked = true
	for i, c := range p.run.survey.calls {
		token := `"conformance-` + string(rune('a'+i%26)) + `"`
		if i%2 == 1 {
			token = "7" + string(rune('0'+i%10))
		}
		r := callOf(c.tool, c.args)
		r.more = `"progressToken":` + token
		p.send(r)
		if i < 3 {
			r.more = quote(keyLogLevel) + `:"error"`
			p.send(r)
		}
	}
}

func progressToken(p *probe) {
	p.provoke()
	p.every("progress notification", isProgress, func(r received) string {
		token := r.m.v.at("params", "progressToken")
		if r.e == nil {
			return "progress for the token " + clip(token.json(), 40) + ", which no running request gave"
		}
		if asked := r.e.token(); asked == nil || key(asked) != key(token) {
			return of(r.e) + ": progress for the token " + clip(token.json(), 40)
		}
		return ""
	})
}

func progressRises(p *probe) {
	p.provoke()
	n, most := 0, 0
	for _, e := range p.run.seen {
		last, here := (*big.Rat)(nil), 0
		for _, m := range e.messages() {
			if m.method() != noteProgress {
				continue
			}
			n++
			here++
			now, ok := m.v.at("params", "progress").number()
			switch {
			case !ok:
				p.failf(e, "%s: progress is %s", of(e), clip(m.v.at("params", "progress").json(), 40))
			case last != nil && now.Cmp(last) <= 0:
				p.failf(e, "%s: progress does not rise", of(e))
			}
			if ok {
				last = now
			}
		}
		most = max(most, here)
	}
	switch {
	case n == 0:
		p.skipf("the server sent no progress")
	case most == 1:
		p.skipf("no request got more than one progress notification")
	}
}

func progressEnds(p *probe) {
	p.provoke()
	n := 0
	for _, e := range p.run.seen {
		for _, m := range e.messages() {
			if m.method() == noteProgress {
				n++
			}
		}
		for _, m := range e.lateOnes() {
			if m.method() == noteProgress {
				p.failf(e, "%s: progress after the response", of(e))
			}
		}
	}
	if n == 0 {
		p.skipf("the server sent no progress")
	}
}

func tokenServed(p *probe) {
	p.result(p.ask(methodDiscover, ""))
	for _, token := range []string{`"p-1"`, "7", `""`} {
		if e := p.send(request{method: methodDiscover, more: `"progressToken":` + token}); e.result() == nil {
			p.failf(e, "the progress token %s: %s instead of a result", token, e.saw())
		}
	}
}
