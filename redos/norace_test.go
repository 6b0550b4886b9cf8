//go:build !race

package redos

const raceEnabled = false
