//go:build !race

package symbol

// hostileSize is how much hostile text TestLinear parses.
const hostileSize = 128 << 10
