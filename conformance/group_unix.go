//go:build unix

package conformance

import (
	"os/exec"
	"syscall"
)

// group puts a process into a group of its own, so that what it starts ends
// with it.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Process.Kill()
}
