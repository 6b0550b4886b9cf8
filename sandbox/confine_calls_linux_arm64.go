package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch     = unix.AUDIT_ARCH_AARCH64
	foreignNumbers = 0 // the 32-bit calls have an architecture of their own
)

// refusedHere is empty: this processor never had the older spellings.
var refusedHere []group
