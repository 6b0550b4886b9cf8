package app

import (
	"math/bits"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// inherited are the descriptors above 2 that came with the process. What this
// program opens itself is close-on-exec from the start, so those are the ones
// that were not.
var inherited []int

// ShutDescriptors keeps every descriptor above 2 from the programs that this
// one starts. It must come first: looking for git already starts one.
func ShutDescriptors() {
	names, _ := os.ReadDir("/proc/self/fd") // without it nothing is dropped later
	for _, n := range names {
		fd, err := strconv.Atoi(n.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			inherited = append(inherited, fd)
		}
	}
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	// A kernel older than 5.11 does not know the flag.
	for _, fd := range inherited {
		unix.CloseOnExec(fd)
	}
}

// capabilities counts what this process may do beyond its user's rights; -1 if
// that cannot be told.
func capabilities() int {
	var sets [2]unix.CapUserData
	if unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &sets[0]) != nil {
		return -1
	}
	return bits.OnesCount32(sets[0].Effective) + bits.OnesCount32(sets[1].Effective)
}

// DropDescriptors closes what was inherited, once the settings have been read:
// a secret may come through such a descriptor, and nothing else has a use for
// them here.
func DropDescriptors() {
	for _, fd := range inherited {
		_ = unix.Close(fd)
	}
	inherited = nil
}
