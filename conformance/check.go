package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Level tells how strongly the specification asks.
type Level string

// The levels. What the specification forbids has the level of its opposite.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// check is one row of the table.
type check struct {
	id          string
	level       Level
	on          Transport
	section     string // page of the specification, then section
	requirement string // row of the requirements list
	title       string // what holds when the check is ok
	run         func(*probe)
	scan        bool // looks at everything that the run has seen, so it comes last
}

// Verdict is the outcome of a check.
type Verdict string

// The verdicts. Warn is a SHOULD that does not hold, unless the run is strict.
const (
	OK   Verdict = "ok"
	Fail Verdict = "FAIL"
	Warn Verdict = "warn"
	Skip Verdict = "skip"
)

// probe is a running check: its way to the server, and what it has found.
type probe struct {
	ctx    context.Context
	run    *run
	check  *check
	link   link
	sent   []*exchange
	faults []fault
	skip   string
	extra  []link
	odd    bool // something wrong was sent over stdio
}

// fault is one thing that is wrong, with the exchange that shows it.
type fault struct {
	text string
	e    *exchange
}

// stopped ends a check from within.
type stopped struct{}

// failf notes what is wrong, and goes on.
func (p *probe) failf(e *exchange, format string, args ...any) {
	f := fault{fmt.Sprintf(format, args...), e}
	same := slices.ContainsFunc(p.faults, func(o fault) bool { return o.text == f.text })
	if !same && len(p.faults) < 20 {
		p.faults = append(p.faults, f)
	}
}

// skipf ends a check that cannot be exercised.
func (p *probe) skipf(format string, args ...any) {
	if p.skip == "" {
		p.skip = fmt.Sprintf(format, args...)
	}
	panic(stopped{})
}

// start sends a request and does not wait.
func (p *probe) start(r request) *exchange { return p.startOn(p.link, r) }

func (p *probe) startOn(l link, r request) *exchange {
	id := r.id
	if id == "" && r.body == nil && !r.note {
		p.run.ids++
		id = strconv.Itoa(1000 + p.run.ids)
	}
	e := newExchange(&r, id, p.run.ledger)
	e.sent = r.encode(id)
	e.pv = r.version
	if e.pv == "" {
		e.pv = revision
	}
	e.patience = p.run.timeout
	if c, ok := l.(*pipe); ok {
		if !c.heard() {
			e.patience = p.run.start
		}
		// What ends a process that was sent nonsense is judged there.
		e.givenUp = c.provoked
		if (r.why != "" || r.body != nil) && r.method != methodInitialize {
			c.provoked, p.odd = true, true
		}
	}
	if p.run.target.kind == Pipe && r.body != nil && !r.note {
		e.due = p.run.timeout
		if p.run.silent {
			e.due = min(e.due, impatience)
		}
	}
	p.sent = append(p.sent, e)
	p.run.seen = append(p.run.seen, e)
	l.start(p.ctx, e)
	return e
}

// send sends a request and waits for its answer; of a notification, until it
// is clear that there is none.
func (p *probe) send(r request) *exchange { return p.sendOn(p.link, r) }

func (p *probe) sendOn(l link, r request) *exchange {
	e := p.startOn(l, r)
	p.wait(e)
	return e
}

func (p *probe) wait(e *exchange) {
	if e.id != "" {
		e.wait(p.ctx, e.patience)
		return
	}
	// On a shared channel the end is found by a fence behind the message.
	if e.waitEnd(p.ctx, e.patience+e.due) && e.due > impatience && e.response() == nil {
		p.run.silent = true
	}
}

// ask sends a correct request.
func (p *probe) ask(method, params string) *exchange {
	return p.send(request{method: method, params: params})
}

// callOf builds a tools/call.
func callOf(t *tool, args *value) request {
	return request{method: methodCall, params: `"name":` + quote(t.name) + `,"arguments":` + args.json(), name: t.name, tool: t, args: args}
}

// fresh opens another connection, on stdio another process, which the check
// leaves behind.
func (p *probe) fresh() link {
	l, err := p.run.target.open(p.ctx, p.run.ledger)
	if err != nil {
		p.skipf("another connection could not be opened")
	}
	p.extra = append(p.extra, l)
	return l
}

// result demands a result; without one the check cannot be exercised, for
// another check is about that.
func (p *probe) result(e *exchange) *value {
	r := e.result()
	if r == nil {
		p.skipf("%s is not answered with a result (%s)", e.request.method, e.saw())
	}
	return r
}

// refused demands an error with one of the codes.
func (p *probe) refused(e *exchange, what string, codes ...int64) {
	if !slices.Contains(codes, e.code()) {
		p.failf(e, "%s: %s instead of error %s", what, e.saw(), either(codes))
	}
}

// refusedBytes is refused for what is no request at all: over HTTP an error
// status says enough, for the specification asks for a body only where there
// was a request.
func (p *probe) refusedBytes(e *exchange, what string, codes ...int64) {
	if p.run.target.kind == Web && e.status >= 400 && e.status < 500 && e.response() == nil {
		return
	}
	p.refused(e, what, codes...)
}

func either(codes []int64) string {
	s := ""
	for i, c := range codes {
		if i > 0 {
			s += " or "
		}
		s += strconv.FormatInt(c, 10)
	}
	return s
}

// serves demands that a correct request is still answered.
func (p *probe) serves(after string) {
	if e := p.ask(methodDiscover, ""); e.response() == nil {
		p.failf(e, "after %s: %s instead of an answer", after, e.saw())
	}
}

// callable returns a tool that answered a call in the survey.
func (p *probe) callable() (*tool, *value) {
	for _, c := range p.run.survey.calls {
		if c.e.result() != nil {
			return c.tool, c.args
		}
	}
	p.skipf("%s", p.run.survey.noCall())
	return nil, nil
}

// listed demands the tools of the server.
func (p *probe) listed() []*tool {
	s := &p.run.survey
	if len(s.tools) == 0 {
		p.skipf("the server lists no tools")
	}
	return s.tools
}

// vehicle returns a method that is served, for checks that are about something
// else.
func (p *probe) vehicle() string {
	s := &p.run.survey
	switch {
	case s.discover.result() != nil:
		return methodDiscover
	case s.pages[0].result() != nil:
		return methodList
	}
	p.skipf("neither server/discover nor tools/list is answered with a result")
	return ""
}

// finish leaves nothing behind: what was not answered is given up.
func (p *probe) finish() {
	for _, e := range p.sent {
		e.mu.Lock()
		over := e.ended || e.answered && p.run.target.kind == Pipe
		e.mu.Unlock()
		if !over {
			e.givenUp = true
			e.stop()
		}
	}
	for _, l := range p.extra {
		l.close()
		p.run.keep(l)
	}
}

const second = time.Second

// impatience is how long an answer to what is no request is waited for from a
// server that left such a message unanswered before, for a whole timeout.
const impatience = 300 * time.Millisecond

func ids(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Quote(prefix + strconv.Itoa(i))
	}
	return list
}
