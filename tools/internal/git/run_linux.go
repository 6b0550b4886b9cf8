package git

import (
	"debug/elf"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the process and everything it started in its group.
func killGroup(p *os.Process) error {
	if p == nil {
		return nil
	}
	_ = unix.Kill(-p.Pid, unix.SIGKILL)
	return p.Kill()
}

// dataLimit bounds heap and private writable mappings of one git process.
const dataLimit = 1 << 30

// limit bounds a started process before its first request. The kernel does not
// apply RLIMIT_NPROC to uid 0, so for uid 0 it is left alone. A limit that the
// kernel refuses is not fatal: the deadline and the output limit still hold.
func limit(pid int, timeout time.Duration) {
	set := func(what int, n uint64) {
		_ = unix.Prlimit(pid, what, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
	if os.Geteuid() != 0 {
		set(unix.RLIMIT_NPROC, 0)
	}
	set(unix.RLIMIT_DATA, dataLimit)
	set(unix.RLIMIT_CPU, uint64((timeout+time.Second-1)/time.Second)+1)
	set(unix.RLIMIT_CORE, 0)
}

// checkProgram refuses anything but an ELF executable: a wrapper script would
// bring an interpreter and an environment that nothing here controls.
func checkProgram(f *os.File) error {
	e, err := elf.NewFile(f)
	if err != nil {
		return errNotProgram
	}
	if e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return errNotProgram
	}
	return nil
}
