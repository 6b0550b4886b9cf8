package untrusted

import "testing"

func TestEverySignalFires(t *testing.T) {
	for _, s := range Signals() {
		if s.Weight < 1 || s.Weight > 99 || s.Title == "" || len(s.fire) < 2 || len(s.quiet) < 2 {
			t.Errorf("%s: incomplete row", s.ID)
		}
		for _, text := range s.fire {
			if !has(Scan(text), s) {
				t.Errorf("%s does not fire: %q (%v)", s.ID, text, ids(Scan(text)))
			}
		}
		for _, text := range s.quiet {
			if hits := Scan(text); len(hits) > 0 {
				t.Errorf("%s: %q must be quiet: %v", s.ID, text, ids(hits))
			}
		}
	}
}

func has(hits []Hit, s *Signal) bool {
	for _, h := range hits {
		if h.Signal == s {
			return true
		}
	}
	return false
}

func ids(hits []Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.Signal.ID)
	}
	return out
}
