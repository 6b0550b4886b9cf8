package redos

import "golang.org/x/sys/cpu"

// vectors says that scanBlocks may be used.
var vectors = cpu.X86.HasAVX2

// scanBlocks returns the first place in blocks·32 places from p on at which the
// tables leave a bucket, or -1. blocks is at least 1; two bytes more than those
// are read.
//
//go:noescape
func scanBlocks(p *byte, blocks int, t *nibbles) int

// scanEither returns the first of blocks·32 bytes from p on that is a or b, or -1.
// blocks is at least 1.
//
//go:noescape
func scanEither(p *byte, blocks int, a, b byte) int
