package secrets

import (
	"strings"
	"testing"
)

func TestEveryRuleFires(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		for _, r := range describe(seed) {
			if len(r.Fire) == 0 || r.What == "" {
				t.Errorf("%s: no example or no description", r.ID)
			}
			for _, ex := range r.Fire {
				got := Find(ex.Text)
				if len(got) != 1 || got[0].Start != ex.Start || got[0].End != ex.End || got[0].Rule.ID() != r.ID {
					t.Errorf("%s: %q: want [%d,%d), got %s", r.ID, ex.Text, ex.Start, ex.End, show(ex.Text, got))
				}
			}
			for _, q := range r.Quiet {
				if got := Find(q); got != nil {
					t.Errorf("%s: %q must stay: %s", r.ID, q, show(q, got))
				}
			}
		}
	}
}

func show(s string, spans []Span) string {
	var b strings.Builder
	for _, p := range spans {
		b.WriteString(p.Rule.ID() + ":" + s[p.Start:p.End] + " ")
	}
	return b.String()
}
