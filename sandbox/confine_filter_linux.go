//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter names what is refused, and refuses every number above the highest
// one that was looked at when this list was made: those fail with ENOSYS, as on
// an older kernel, and whoever meets that falls back. A list of what is allowed
// would be shorter to state and would break with each version of git, of the C
// library or of the Go runtime.

const (
	// lastKnown is the highest number that was looked at (listns 470,
	// rseq_slice_yield 471).
	lastKnown = 471
	// Offsets into struct seccomp_data; little-endian, so the low half of an
	// argument comes first.
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
	// newNamespaces are the flags of clone that unshare would take too.
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
)

// terminalQueries are the only requests of ioctl that are let through: they ask
// whether a descriptor is a terminal, and how wide. Others type into a terminal
// (TIOCSTI) or change a file that is open for reading (FS_IOC_SETFLAGS).
var terminalQueries = []uint32{unix.TCGETS, unix.TCGETS2, unix.TIOCGWINSZ}

// refusedControls are requests of fcntl: a lease on a file of the user keeps others
// from opening it for writing, and a note on a folder tells what they do there.
var refusedControls = []uint32{unix.F_SETLEASE, unix.F_NOTIFY}

// socketLevels are where options of an accepted connection may be set. Those of the
// address family can send what is written there by way of another address (source
// routes), and as root change the machine's rules for packets.
var socketLevels = []uint32{unix.SOL_SOCKET, unix.IPPROTO_TCP}

// refusal is what a call gets instead of being made.
type refusal uint32

const (
	allow         refusal = unix.SECCOMP_RET_ALLOW
	kill          refusal = unix.SECCOMP_RET_KILL_PROCESS
	notPermitted  refusal = unix.SECCOMP_RET_ERRNO | refusal(unix.EPERM)
	noSuchCall    refusal = unix.SECCOMP_RET_ERRNO | refusal(unix.ENOSYS)
	jumpIfEqual           = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpIfAbove           = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
	jumpIfAtLeast         = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	jumpIfAny             = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
)

// program is a filter under construction. Each test stands before its own
// return, so no jump is longer than one instruction.
type program []unix.SockFilter

func (p *program) load(offset uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (p *program) ret(r refusal) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: uint32(r)})
}

// when returns r if the test holds for the value that was loaded.
func (p *program) when(test uint16, k uint32, r refusal) {
	*p = append(*p, unix.SockFilter{Code: test, K: k, Jf: 1})
	p.ret(r)
}

// block runs a part of its own if the number is n; the part must return.
func (p *program) block(n uint32, part program) {
	*p = append(*p, unix.SockFilter{Code: jumpIfEqual, K: n, Jf: uint8(len(part))})
	*p = append(*p, part...)
}

// allowing is a part that allows some values of the second argument alone.
func allowing(values []uint32) (part program) {
	part.load(dataArgs + 8)
	for _, v := range values {
		part.when(jumpIfEqual, v, allow)
	}
	part.ret(notPermitted)
	return part
}

// processor is what the filter has to know of a processor.
type processor struct {
	arch                 uint32
	foreign              uint32 // where another interface's numbers begin; 0: nowhere
	clone, clone3, ioctl uint32
	fcntl, setsockopt    uint32
	refused              []group
}

// filter builds the program for this processor.
func filter() program {
	return processor{nativeArch, foreignNumbers, unix.SYS_CLONE, unix.SYS_CLONE3, unix.SYS_IOCTL, unix.SYS_FCNTL, unix.SYS_SETSOCKOPT, slices.Concat(refused, refusedHere)}.filter()
}

func (t processor) filter() program {
	var p program
	p.load(dataArch)
	p = append(p, unix.SockFilter{Code: jumpIfEqual, K: t.arch, Jt: 1})
	p.ret(kill) // another table of calls: i386 on amd64, arm on arm64
	p.load(dataNumber)
	if t.foreign > 0 {
		p.when(jumpIfAtLeast, t.foreign, kill) // x32
	}
	p.when(jumpIfAbove, lastKnown, noSuchCall)
	// The flags of clone3 lie in memory, where a filter cannot look.
	p.when(jumpIfEqual, t.clone3, noSuchCall)

	var clone program
	clone.load(dataArgs)
	clone.when(jumpIfAny, newNamespaces, notPermitted)
	clone.ret(allow)
	p.block(t.clone, clone)

	// The kernel takes 32 bits of the request, so the upper half is ignored.
	p.block(t.ioctl, allowing(terminalQueries))

	var fcntl program
	fcntl.load(dataArgs + 8)
	for _, request := range refusedControls {
		fcntl.when(jumpIfEqual, request, notPermitted)
	}
	fcntl.ret(allow)
	p.block(t.fcntl, fcntl)

	p.block(t.setsockopt, allowing(socketLevels))

	for _, g := range t.refused {
		for _, n := range g.calls {
			p.when(jumpIfEqual, n, notPermitted)
		}
	}
	p.ret(allow)
	return p
}

// filterOffered asks the kernel whether it knows the two ways in which the
// filter refuses.
func filterOffered() bool {
	for _, r := range []refusal{kill, unix.SECCOMP_RET_ERRNO} {
		action := uint32(r)
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
		if errno != 0 {
			return false
		}
	}
	return true
}

// confineCalls installs the filter on all threads at once, those of a C library
// included. Threads and programs that are started later inherit it.
func confineCalls() error {
	p := filter()
	runtime.LockOSThread() // the next two calls must be made by the same thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	other, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	switch {
	case errno != 0:
		return errno
	case other != 0:
		return fmt.Errorf("thread %d has a filter of its own", other)
	}
	return nil
}
