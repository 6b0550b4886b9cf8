//go:build !unix

package conformance

import "os/exec"

func group(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
