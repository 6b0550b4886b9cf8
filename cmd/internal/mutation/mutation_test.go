package mutation

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-devserver/conformance"
)

// kind is the way to a stand.
type kind int

const (
	inProcess kind = iota
	overHTTP
	overPipes
)

// mutant breaks one requirement.
type mutant struct {
	name string
	kind kind
	red  []string // checks that are about what it breaks
	also []string // checks of which the same change breaks the requirement too
	// perhaps are checks that the change breaks if the machine is slow: what the
	// mutant sends at once is then late.
	perhaps []string
	base    []tamper // rich, if nil
	t       tamper
	w       webbed
	p       piped
	// hangs: some answer or end never comes.
	hangs bool
}

func ids(s string) []string { return strings.Fields(s) }

// A busy machine must not look like a server that does not answer. Only a
// mutant that really does not answer is waited for less.
const (
	patience      = 30 * time.Second
	shortPatience = 4 * time.Second
)

func judge(tb testing.TB, t *conformance.Target, patience time.Duration) *conformance.Report {
	tb.Helper()
	return judgeCalling(tb, t, patience, nil)
}

func judgeCalling(tb testing.TB, t *conformance.Target, patience time.Duration, call []string) *conformance.Report {
	tb.Helper()
	r, err := conformance.Run(context.Background(), t, conformance.Options{Timeout: patience, Limit: 5 * time.Minute, Strict: true, Call: call})
	if err != nil {
		tb.Error(t.Name(), err)
		return &conformance.Report{}
	}
	return r
}

func reds(r *conformance.Report) (list []string) {
	for _, c := range r.Results {
		if c.Verdict == conformance.Fail {
			list = append(list, c.ID)
		}
	}
	return list
}

func (m *mutant) target(tb testing.TB, a *serverSet) *conformance.Target {
	base := m.base
	if base == nil {
		base = rich
	}
	switch m.kind {
	case overHTTP:
		return web(tb, a.address, append([]tamper{m.t}, base...), []webbed{m.w, checksToken, checksParam}, conformance.HTTPOptions{Token: secret})
	case overPipes:
		return pipes(tb, m.p)
	}
	return local(tb, a.app, append([]tamper{m.t}, base...))
}

// atOnce is how many stands are judged at the same time: a run mostly waits.
const atOnce = 8

// TestMutants breaks one requirement at a time and compares which checks go red
// with the table: its own, and no other one but those that the change concerns.
func TestMutants(t *testing.T) {
	set := servers(t)
	reports := make([]*conformance.Report, len(mutants))
	var all sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i := range mutants {
		if raceEnabled && (i%raceSample != 0 || mutants[i].hangs) {
			continue
		}
		places <- struct{}{}
		target := mutants[i].target(t, set)
		all.Go(func() {
			wait := patience
			if mutants[i].hangs {
				wait = shortPatience
			}
			reports[i] = judge(t, target, wait)
			<-places
		})
	}
	all.Wait()
	for i := range mutants {
		m, r := &mutants[i], reports[i]
		if r == nil {
			continue
		}
		want := append(slices.Clone(m.red), m.also...)
		slices.Sort(want)
		got := m.reds(r)
		if m.hangs && !slices.Equal(got, want) {
			// On a busy machine the short patience may end before an answer.
			r = judge(t, m.target(t, set), patience)
			got = m.reds(r)
		}
		if slices.Equal(got, want) {
			continue
		}
		t.Errorf("%s: red %v, want %v", m.name, got, want)
		for _, c := range r.Results {
			if slices.Contains(got, c.ID) != slices.Contains(want, c.ID) {
				t.Errorf("%s %s %s: %q %q", c.Verdict, c.ID, c.Title, c.Faults, c.Reason)
			}
		}
	}
}

// reds are the checks that went red for what the mutant breaks in any case.
func (m *mutant) reds(r *conformance.Report) []string {
	return slices.DeleteFunc(reds(r), func(id string) bool { return slices.Contains(m.perhaps, id) })
}

// TestEveryCheckHasAMutant: a check that nothing turns red checks nothing.
func TestEveryCheckHasAMutant(t *testing.T) {
	known, names := map[string]bool{}, map[string]bool{}
	for _, c := range conformance.Checks() {
		known[c.ID] = true
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return slices.Contains(m.red, c.ID) }) {
			t.Errorf("%s %s: no mutant", c.ID, c.Title)
		}
	}
	for _, m := range mutants {
		if names[m.name] {
			t.Errorf("%s is there twice", m.name)
		}
		names[m.name] = true
		for _, id := range slices.Concat(m.red, m.also, m.perhaps) {
			if !known[id] {
				t.Errorf("%s names %s, which is no check", m.name, id)
			}
		}
	}
}

// TestStandsConform: what is broken afterwards was whole before, and there is
// no check that has never been ok.
func TestStandsConform(t *testing.T) {
	set := servers(t)
	whole := map[string]bool{}
	for name, target := range map[string]*conformance.Target{
		"plain in process":  local(t, set.app, []tamper{asText}),
		"rich in process":   local(t, set.app, rich),
		"with an extension": local(t, set.app, append([]tamper{extended}, rich...)),
		"with log messages": local(t, set.app, append([]tamper{logging(obj{"level": "error", "data": nil}), capability("logging", obj{})}, rich...)),
		"with changes":      local(t, set.app, append([]tamper{changing}, rich...)),
		"over HTTP":         web(t, set.address, rich, []webbed{checksToken, checksParam}, conformance.HTTPOptions{Token: secret}),
		"over pipes":        pipes(t, piped{out: textToo}),
		"held open":         pipes(t, piped{in: holdIn, out: func(s *session, line string) []string { return holdOut(s, textToo(s, line)[0]) }}),
	} {
		r := judge(t, target, patience)
		for _, c := range r.Results {
			switch c.Verdict {
			case conformance.OK:
				whole[c.ID] = true
			case conformance.Fail, conformance.Warn:
				t.Errorf("%s: %s %s: %q", name, c.ID, c.Title, c.Faults)
			}
		}
	}
	for _, c := range conformance.Checks() {
		if !whole[c.ID] {
			t.Errorf("%s %s: never ok", c.ID, c.Title)
		}
	}
}
