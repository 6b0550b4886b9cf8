//go:build race

package stages

// requests is how many the interleaving test sends: under the race detector each takes some twenty times longer.
const requests = 1500
