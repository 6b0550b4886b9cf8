//go:build race

package mutation

// The race detector makes a run many times slower, so that it sees a part of
// the mutants; without it all of them run.
const (
	raceEnabled = true
	raceSample  = 13
)
