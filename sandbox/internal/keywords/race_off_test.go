//go:build !race

package keywords

const raceEnabled = false
