package untrusted

import "math"

// Score rates hits on a scale of 0 to 100.
//
// Every signal that fired counts once, however often it did: a file full of chat
// templates is one oddity, not a hundred. Weights are combined as if they were
// independent chances of harm:
//
//	score = 100 × (1 − Π (1 − weight/100))
//
// so one INJ01 gives 45, INJ01 with INJ05 gives 64, and 100 is never exceeded. To
// rate several texts together, put all their hits into one list.
func Score(hits []Hit) int {
	var seen [signals]bool
	safe := 1.0
	for _, h := range hits {
		for i, s := range table {
			if s == h.Signal && !seen[i] {
				seen[i] = true
				safe *= 1 - float64(s.Weight)/100
			}
		}
	}
	return int(math.Round(100 * (1 - safe)))
}

// Where the bands begin. No single signal reaches high: that takes two kinds of
// evidence in one answer.
const (
	lowFrom    = 1
	mediumFrom = 30
	highFrom   = 60
)

// Band names the range of a score: none (0), low (1–29), medium (30–59), high (60–100).
func Band(score int) string {
	switch {
	case score >= highFrom:
		return "high"
	case score >= mediumFrom:
		return "medium"
	case score >= lowFrom:
		return "low"
	}
	return "none"
}
