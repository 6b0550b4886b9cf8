//go:build !linux

package git

import (
	"bytes"
	"os"
	"os/exec"
	"time"
)

func setGroup(*exec.Cmd) {}

func killGroup(p *os.Process) error {
	if p == nil {
		return nil
	}
	return p.Kill()
}

// limit does nothing: only Linux can bound another process.
func limit(int, time.Duration) {}

// checkProgram refuses scripts; other formats are left to the system loader.
func checkProgram(f *os.File) error {
	var b [2]byte
	if _, err := f.ReadAt(b[:], 0); err != nil || bytes.Equal(b[:], []byte("#!")) {
		return errNotProgram
	}
	return nil
}
