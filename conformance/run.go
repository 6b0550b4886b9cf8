package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options of a run. Zero values are replaced by the defaults named here.
type Options struct {
	Timeout  time.Duration // of one exchange; 5 s
	Start    time.Duration // until a server that was just started or reached answers first; 30 s, or Timeout if that is more
	Limit    time.Duration // of the run, from the first answer; 24 timeouts, and 16 times what that answer took
	Strict   bool          // a SHOULD that does not hold counts as a failure
	Only     []string      // ids; all
	Call     []string      // tools to call beside those that say they are read-only; "*" means all
	Progress func(done, total int, r Result)
}

// ErrNoServer says that there was nothing to judge: the server could not be
// reached, or did not answer anything.
var ErrNoServer = errors.New("no server answered")

// ErrUnauthorized says that the server answers nobody without credentials, or
// without others than those given: what it refuses says nothing about it.
var ErrUnauthorized = errors.New("the server asks for authorization")

// run is what the checks of one run share.
type run struct {
	ctx      context.Context
	target   *Target
	options  Options
	timeout  time.Duration
	start    time.Duration // of a connection that has not answered anything yet
	silent   bool          // what is no request was met with silence for a whole timeout
	ledger   *ledger
	link     link
	ids      int
	seen     []*exchange
	survey   survey
	lost     []*message // messages that belong to nothing, over all connections
	garbage  []string
	provoked bool
}

// keep notes what a connection that ends has left over.
func (r *run) keep(l link) {
	lost, garbage := l.strays()
	r.lost = append(r.lost, lost...)
	r.garbage = append(r.garbage, garbage...)
}

// connect returns a living connection for the next check.
func (r *run) connect() error {
	if r.link != nil && r.link.alive() {
		return nil
	}
	if r.link != nil {
		r.link.close()
		r.keep(r.link)
		r.link = nil
	}
	l, err := r.target.open(r.ctx, r.ledger)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	r.link = l
	return nil
}

// Run judges a server. The error is ErrNoServer when there was none,
// ErrUnauthorized when it did not let us in, an error about Options, or that of
// ctx.
func Run(ctx context.Context, t *Target, o Options) (*Report, error) {
	if o.Timeout <= 0 {
		o.Timeout = 5 * second
	}
	if o.Start <= 0 {
		o.Start = max(30*second, o.Timeout)
	}
	chosen, err := choose(o.Only)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	r := &run{ctx: ctx, target: t, options: o, timeout: o.Timeout, start: o.Start, ledger: newLedger()}
	defer func() {
		if r.link != nil {
			r.link.close()
		}
	}()
	report := &Report{Target: t.Name(), Strict: o.Strict, Revision: revision}
	if err := r.preflight(report); err != nil || report.Legacy != "" {
		report.Took = time.Since(began)
		return report, err
	}
	if o.Limit <= 0 { // some checks begin afresh
		o.Limit = 24*o.Timeout + 16*time.Since(began)
	}
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	r.ctx = limited
	r.look()
	if len(o.Only) == 0 {
		chosen = slices.DeleteFunc(chosen, func(c *check) bool { return c.on&t.kind == 0 })
	}
	order := slices.Clone(chosen)
	slices.SortStableFunc(order, func(a, b *check) int { return boolOrder(a.scan) - boolOrder(b.scan) })
	results := map[string]Result{}
	for i, c := range order {
		res := r.judge(c)
		results[c.id] = res
		if o.Progress != nil {
			o.Progress(i+1, len(order), res)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, c := range chosen {
		report.Results = append(report.Results, results[c.id])
	}
	report.OutOfTime = limited.Err() != nil
	report.Flooded = r.ledger.full()
	report.Uncalled = r.survey.uncalled
	report.Took = time.Since(began)
	return report, nil
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// choose picks the checks to run.
func choose(only []string) ([]*check, error) {
	var list []*check
	for i := range checks {
		if len(only) == 0 || slices.ContainsFunc(only, func(id string) bool { return strings.EqualFold(id, checks[i].id) }) {
			list = append(list, &checks[i])
		}
	}
	for _, id := range only {
		if !slices.ContainsFunc(list, func(c *check) bool { return strings.EqualFold(id, c.id) }) {
			return nil, fmt.Errorf("there is no check %q", id)
		}
	}
	return list, nil
}

// preflight finds out whether there is a server of this revision at all. A cold
// server takes its time, so that silence means something only after Start.
func (r *run) preflight(report *Report) error {
	began := time.Now()
	if err := r.connect(); err != nil {
		return err
	}
	p := r.probe(&check{id: "hello", on: everywhere})
	defer p.finish()
	hello := p.start(request{method: methodDiscover})
	hello.within(r.ctx, r.timeout)
	old := (*exchange)(nil)
	if !hello.over() {
		// It may wait for the handshake of an earlier revision, or still load.
		old = p.startOn(p.fresh(), legacy())
		rest, cancel := context.WithTimeout(r.ctx, r.start-r.timeout)
		awaitEither(rest, hello, old)
		cancel()
		hello.within(r.ctx, min(r.timeout, r.start-time.Since(began)))
	}
	hello.wait(r.ctx, 0)
	if hello.unauthorized() {
		return fmt.Errorf("%w: %s is answered with %s; give a token or a header that it accepts", ErrUnauthorized, methodDiscover, hello.saw())
	}
	// Later connections are given what the first one took, several times over.
	r.start = min(r.start, max(r.timeout, 4*time.Since(began)))
	if hello.result() != nil {
		return nil
	}
	if hello.code() == codeVersion {
		var served []string
		for _, v := range hello.response().v.at("error", "data", "supported").list() {
			served = append(served, clip(v.str(), 40))
		}
		if len(served) > 0 && !slices.Contains(served, revision) {
			report.Legacy = strings.Join(served, ", ")
			return nil
		}
	}
	// Both eras may be silent about the other one: a server with a handshake
	// answers it.
	if old == nil {
		old = p.sendOn(p.fresh(), legacy())
	}
	old.wait(r.ctx, 0)
	if v := old.result().at("protocolVersion").str(); v != "" && v != revision {
		report.Legacy = clip(v, 40)
		return nil
	}
	if hello.response() == nil && old.response() == nil {
		why := hello.saw()
		var none unreachable
		if errors.As(hello.failure(), &none) && none.cause != nil {
			why += " (" + clip(none.cause.Error(), 200) + ")"
		}
		if l, ok := r.link.(*pipe); ok {
			why += l.lastWords()
		}
		return fmt.Errorf("%w: %s is answered with %s", ErrNoServer, methodDiscover, why)
	}
	return nil
}

func (r *run) probe(c *check) *probe {
	return &probe{ctx: r.ctx, run: r, check: c, link: r.link}
}

// judge runs one check.
func (r *run) judge(c *check) (res Result) {
	res = Result{ID: c.id, Level: c.level, Title: c.title, Section: c.section, Requirement: c.requirement}
	if c.on&r.target.kind == 0 {
		res.Verdict, res.Reason = Skip, "applies to "+c.on.String()+" only"
		return res
	}
	if r.ctx.Err() != nil {
		res.Verdict, res.Reason = Skip, "the time of the run was used up"
		return res
	}
	began := time.Now()
	if err := r.connect(); err != nil {
		res.Verdict, res.Reason = Fail, "the server cannot be started or reached any more"
		return res
	}
	p := r.probe(c)
	func() {
		defer func() {
			if v := recover(); v != nil {
				if _, ok := v.(stopped); !ok {
					panic(v)
				}
			}
		}()
		c.run(p)
	}()
	p.finish()
	if p.odd {
		r.recover()
	}
	res.Took = time.Since(began)
	switch {
	case len(p.faults) > 0:
		res.Verdict = Fail
		if c.level == Should && !r.options.Strict {
			res.Verdict = Warn
		}
	case p.skip != "":
		res.Verdict, res.Reason = Skip, p.skip
	default:
		res.Verdict = OK
	}
	res.Exchanges = shown(p)
	for _, f := range p.faults {
		res.Faults = append(res.Faults, f.text)
	}
	return res
}

// recover makes sure that the next check does not get a process that is about to
// end, or has fallen silent, because of what this one sent.
func (r *run) recover() {
	if !r.link.alive() {
		return
	}
	p := r.probe(&check{id: "recovery", on: Pipe})
	if e := p.ask(methodDiscover, ""); e.response() == nil {
		r.link.close()
	}
	r.seen = r.seen[:len(r.seen)-1]
}

// survey is what every run looks at first, so that checks know what the server
// offers and scans have something to look at.
type survey struct {
	discover *exchange
	pages    []*exchange
	endless  bool // a cursor came again
	tools    []*tool
	calls    []surveyed
	uncalled []string
	unknown  *exchange
	listen   *exchange
	legacy   *exchange // the handshake of an earlier revision, on a connection of its own
}

type surveyed struct {
	tool *tool
	args *value
	e    *exchange
}

func (s *survey) noCall() string {
	switch {
	case len(s.tools) == 0:
		return "the server lists no tools"
	case len(s.calls) == 0 && len(s.uncalled) > 0:
		return "no tool says that it is read-only, and none was named"
	}
	return "no tool could be called with arguments made from its schema"
}

// dual tells whether the server also serves revisions with a handshake. Over a
// shared channel a request without the required _meta is then one of theirs.
func (r *run) dual() bool {
	if v := r.survey.legacy.result().at("protocolVersion").str(); v != "" && v != revision {
		return true
	}
	return false
}

// maxPages bounds a list that never ends.
const maxPages = 1000

func (r *run) look() {
	p := r.probe(&check{id: "survey", on: everywhere})
	defer p.finish()
	s := &r.survey
	s.discover = p.ask(methodDiscover, "")
	names, cursors := map[string]bool{}, map[string]bool{}
	for params := ""; len(s.pages) < maxPages; {
		e := p.ask(methodList, params)
		s.pages = append(s.pages, e)
		for _, v := range e.result().at("tools").list() {
			if n := v.at("name"); n.is('"') && !names[n.text] {
				names[n.text] = true
				s.tools = append(s.tools, &tool{name: n.text, v: v})
			}
		}
		next := e.result().at("nextCursor")
		if !next.is('"') {
			break
		}
		if cursors[next.text] || r.ctx.Err() != nil {
			s.endless = true
			break
		}
		cursors[next.text] = true
		params = `"cursor":` + quote(next.text)
	}
	for _, t := range s.tools {
		if !t.readOnly() && !slices.Contains(r.options.Call, t.name) && !slices.Contains(r.options.Call, "*") {
			s.uncalled = append(s.uncalled, t.name)
			continue
		}
		args, ok := t.arguments()
		if !ok || len(s.calls) >= 40 {
			s.uncalled = append(s.uncalled, t.name)
			continue
		}
		s.calls = append(s.calls, surveyed{t, args, p.send(callOf(t, args))})
	}
	s.unknown = p.ask("conformance/none", "")
	s.legacy = p.sendOn(p.fresh(), legacy())
	s.listen = p.start(request{method: methodListen, params: `"notifications":{}`})
	first, cancel := context.WithTimeout(r.ctx, r.timeout)
	defer cancel()
	s.listen.await(first, func() bool { return len(s.listen.got) > 0 })
}
