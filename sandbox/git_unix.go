//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY

func owner(info fs.FileInfo) (dev, ino uint64, uid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), uint64(st.Ino), int(st.Uid)
	}
	return 0, 0, -1
}
