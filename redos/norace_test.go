//go:build !race

package redos

const raceEnabled = false

// slower is how much slower the race detector may make a measured time.
const slower = 1
