package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	// foreignNumbers is where the calls of the x32 interface begin.
	foreignNumbers = 0x40000000
)

// refusedHere is what only this processor has: older spellings, and its ports.
var refusedHere = []group{
	{"modes and owners", []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN}},
	{"times", []uint32{unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}},
	{"watching tells what others do in folders that cannot be read", []uint32{unix.SYS_INOTIFY_INIT}},
	{"the machine", []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT}},
}
