//go:build !amd64

package redos

var vectors = false

func scanBlocks(*byte, int, *nibbles) int { panic("no vectors") }

func scanEither(*byte, int, byte, byte) int { panic("no vectors") }
