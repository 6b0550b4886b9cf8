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

func TestTable(t *testing.T) {
	if len(rules) < 120 || len(rules) > maxRules {
		t.Errorf("%d rules", len(rules))
	}
	if rules[rulePrivateKey].id != "private-key" || rules[ruleOpenKey].id != "private-key-unterminated" {
		t.Error("the rules of pem.go are not where their numbers say")
	}
	seen := map[string]bool{}
	for r := range rules {
		row := &rules[r]
		if seen[row.id] || strings.Trim(row.id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("id %q", row.id)
		}
		seen[row.id] = true
		if (row.shape == "") == (row.check == nil) && Rule(r) != ruleOpenKey && Rule(r) != ruleStorm {
			t.Errorf("%s: needs a shape or a check", row.id)
		}
		long := 0
		for _, it := range engine().shapes[r] {
			if it.max >= longItem {
				long++
			}
		}
		if long > 1 {
			t.Errorf("%s: %d items of %d bytes and more; one can be remembered", row.id, long, longItem)
		}
	}
}

func TestShapeNotation(t *testing.T) {
	for _, c := range []struct {
		shape, text string
		want        int // bytes matched, -1 for none
	}{
		{`\d{3}`, "1234", 3}, {`\d{3}`, "12x", -1}, {`[a-c]+x`, "abcx", 4}, {`[a-c]*x`, "x", 1}, {`a?b`, "b", 1},
		{`[\w_]{2,3}\.`, "a_9.", 4}, {`\.{1}`, ".", 1}, {`x{2,}`, "xxxx", 4}, {`a{1,2}a`, "aa", -1}, // nothing is given back
	} {
		p, err := parseShape(c.shape)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := p.match(c.text, 0)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s on %q: %d, want %d", c.shape, c.text, got, c.want)
		}
	}
	for _, bad := range []string{`[a`, `\`, `a{`, `a{x}`, `a{1,x}`, `(a)`, `a|b`, `^`, `.`} {
		if _, err := parseShape(bad); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}
