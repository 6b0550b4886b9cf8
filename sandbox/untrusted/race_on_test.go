//go:build race

package untrusted

const raceEnabled = true
