package conformance

// received is a message with the exchange that it came in, nil if none.
type received struct {
	m *message
	e *exchange
}

// everything lists all messages of the run so far.
func (p *probe) everything() (all []received) {
	for _, e := range p.run.seen {
		for _, m := range e.messages() {
			all = append(all, received{m, e})
		}
	}
	lost := p.run.lost
	if p.run.link != nil {
		more, _ := p.run.link.strays()
		lost = append(lost[:len(lost):len(lost)], more...)
	}
	for _, m := range lost {
		all = append(all, received{m, nil})
	}
	return all
}

// every applies a test to all messages of the run that it is about. about
// tells whether a message is; the answer "" of wrong means that it is in order.
// A run without any such message skips.
func (p *probe) every(what string, about func(received) bool, wrong func(received) string) {
	n, told := 0, map[string]bool{}
	for _, r := range p.everything() {
		if r.m.err != nil || !about(r) {
			continue
		}
		n++
		if w := wrong(r); w != "" && !told[w] {
			told[w] = true
			p.failf(r.e, "%s", w)
		}
	}
	if n == 0 {
		p.skipf("the server sent no %s", what)
	}
}

func isAny(received) bool { return true }

func isResult(r received) bool {
	return r.m.v.at("method") == nil && r.m.v.at("result").is('{')
}

func isError(r received) bool {
	return r.m.v.at("method") == nil && r.m.v.at("error") != nil
}

func isCoded(r received) bool {
	_, ok := r.m.v.at("error", "code").integer()
	return isError(r) && ok
}

// isModern keeps results to correct requests of this revision: how a server
// answers those of another one is not judged.
func isModern(r received) bool {
	return isResult(r) && (r.e == nil || r.e.pv == revision && !r.e.request.bare && r.e.request.meta == "" && r.e.request.body == nil)
}

// of names what a message answers.
func of(e *exchange) string {
	switch {
	case e == nil:
		return "a message that belongs to no request"
	case e.request.method == methodCall && e.request.tool != nil:
		return methodCall + " of " + e.request.tool.name
	case e.request.method != "":
		return e.request.method
	case e.request.why != "":
		return e.request.why
	}
	return "a message"
}

// answers keeps results of one method.
func answers(methods ...string) func(received) bool {
	return func(r received) bool {
		if !isResult(r) || r.e == nil || r.e.request.body != nil {
			return false
		}
		for _, m := range methods {
			if r.e.request.method == m {
				return true
			}
		}
		return false
	}
}
