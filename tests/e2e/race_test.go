//go:build race

package e2e

// underRace: the program is built with the race detector when its tests are.
const (
	underRace = true
	slower    = 5 // times
)
