package conformance

var pipeChecks = []check{
	{"C130", Must, Pipe, "basic/transports/stdio", "R-STDIO-02", "stdout carries nothing but messages, one a line", stdoutPure, true},
	{"C131", Should, Pipe, "basic/transports/stdio, Shutdown", "R-STDIO-08", "an idle server exits when stdin is closed", exitsIdle, false},
	{"C132", Should, Pipe, "basic/transports/stdio, Shutdown", "R-STDIO-08", "a busy server exits when stdin is closed", exitsBusy, false},
	{"C133", Should, Pipe, "basic/transports/stdio", "R-STDIO-03", "stderr is UTF-8", stderrText, true},
	{"C134", Must, Pipe, "basic/transports/stdio, Backward Compatibility", "R-STDIO-12", "a fresh process answers a probe in any version", probeAnswered, false},
	{"C135", Must, Pipe, "basic/transports/stdio, Unexpected Termination", "R-STATE-06", "a fresh process needs nothing from an earlier one", freshProcess, false},
	{"C136", Should, Pipe, "basic/transports/stdio", "R-STDIO-02", "stdout is pure when the server ends", pureAtEnd, false},
}

func stdoutPure(p *probe) {
	told := map[string]bool{}
	for _, g := range p.noise() {
		if !told[g] {
			told[g] = true
			p.failf(nil, "%s", g)
		}
	}
}

// noise lists what no connection of the run should have carried.
func (p *probe) noise() []string {
	_, garbage := p.run.link.strays()
	return append(p.run.garbage[:len(p.run.garbage):len(p.run.garbage)], garbage...)
}

func exitsIdle(p *probe) {
	l, ok := p.fresh().(*pipe)
	if !ok {
		p.skipf("the process cannot be watched")
	}
	e := p.sendOn(l, request{method: methodDiscover})
	l.closeInput()
	if !l.exits(p.run.timeout) {
		p.failf(e, "the process runs on after its stdin was closed")
	}
}

func exitsBusy(p *probe) {
	t, args := p.callable()
	l, ok := p.fresh().(*pipe)
	if !ok {
		p.skipf("the process cannot be watched")
	}
	e := p.startOn(l, callOf(t, args))
	e.givenUp = true // it need not be answered any more
	p.startOn(l, request{method: methodListen, params: `"notifications":{}`})
	l.closeInput()
	if !l.exits(p.run.timeout) {
		p.failf(e, "the process runs on after its stdin was closed during a call")
	}
}

func stderrText(p *probe) {
	l, ok := p.run.link.(*pipe)
	if !ok {
		p.skipf("stderr cannot be seen")
	}
	if line, bad := l.badStderr(); bad {
		p.failf(nil, "stderr holds %q", clip(line, 60))
	}
}

func probeAnswered(p *probe) {
	for _, v := range []string{"2099-01-01", revision} {
		e := p.sendOn(p.fresh(), request{method: methodDiscover, version: v})
		if e.result() == nil && e.code() != codeVersion {
			p.failf(e, "version %s: %s instead of a result or error -32022", v, e.saw())
		}
	}
}

func freshProcess(p *probe) {
	p.result(p.ask(methodList, ""))
	e := p.sendOn(p.fresh(), request{method: methodList})
	if e.result() == nil {
		p.failf(e, "tools/list first in a process: %s instead of a result", e.saw())
	}
}

func pureAtEnd(p *probe) {
	l, ok := p.fresh().(*pipe)
	if !ok {
		p.skipf("the process cannot be watched")
	}
	e := p.sendOn(l, request{method: methodDiscover})
	before, noise := l.strays()
	l.closeInput()
	if !l.exits(p.run.timeout) {
		p.skipf("the process does not end by itself")
	}
	l.silenced()
	lost, garbage := l.strays()
	if len(lost)+len(garbage) > len(before)+len(noise) {
		p.failf(e, "stdout gets something when the server ends")
	}
}
