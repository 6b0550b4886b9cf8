//go:build race

package keywords

const raceEnabled = true
