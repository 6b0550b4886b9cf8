//go:build race

package symbol

// hostileSize is how much hostile text TestLinear parses; the race detector
// makes every byte many times dearer.
const hostileSize = 8 << 10
