package mutation

import (
	"flag"
	"testing"
	"time"

	"mcp-devserver/conformance"
)

var runs = flag.Int("runs", 5, "runs of TestSameVerdicts over each transport")

// TestSameVerdicts: the same server gets the same verdicts, however often.
func TestSameVerdicts(t *testing.T) {
	set := servers(t)
	rounds := *runs
	if raceEnabled {
		rounds = min(rounds, 2)
	}
	for name, target := range map[string]func() *conformance.Target{
		"in process": func() *conformance.Target { return local(t, set.app, rich) },
		"plain":      func() *conformance.Target { return local(t, set.app, nil) },
		"over HTTP": func() *conformance.Target {
			c, err := conformance.HTTP("http://"+set.address+"/mcp", conformance.HTTPOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
		"over pipes": func() *conformance.Target { return pipes(t, piped{}) },
	} {
		first := ""
		for i := range rounds {
			r, err := conformance.Run(t.Context(), target(), conformance.Options{Timeout: patience, Limit: 10 * time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			verdicts := ""
			for _, c := range r.Results {
				verdicts += c.ID + " " + string(c.Verdict) + " " + c.Reason + "\n"
			}
			if i == 0 {
				first = verdicts
			} else if verdicts != first {
				t.Errorf("%s: run %d differs:\n%s\nthe first:\n%s", name, i, verdicts, first)
				break
			}
		}
	}
}
