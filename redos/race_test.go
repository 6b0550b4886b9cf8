//go:build race

package redos

const raceEnabled = true

// slower is how much slower the race detector may make a measured time.
const slower = 5
