package app

import "golang.org/x/sys/unix"

// ShutDescriptors keeps every descriptor above 2 from the programs that this
// one starts, those that it inherited itself among them.
func ShutDescriptors() {
	// A kernel older than 5.11 does not know the flag. What this program
	// opens is close-on-exec by itself; only what it inherited is not.
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
}
