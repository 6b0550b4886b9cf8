//go:build unix

package app

import "golang.org/x/sys/unix"

// writable reports whether this process could create files in dir.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }
