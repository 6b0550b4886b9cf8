//go:build unix && (!linux || portable)

package sandbox

import (
	"errors"
	"io/fs"
	"syscall"
)

const nonBlock = syscall.O_NONBLOCK | syscall.O_NOCTTY

// owner gives device, inode and user.
func owner(info fs.FileInfo) (dev, ino uint64, uid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), uint64(st.Ino), int(st.Uid)
	}
	return 0, 0, -1
}

func classifyErrno(err error) error {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return nil
	}
	switch no {
	case syscall.ENOTDIR:
		return errNotDir
	case syscall.ELOOP:
		return errLink
	case syscall.ENAMETOOLONG:
		return errTooLong
	case syscall.EINVAL:
		return errChanged // reading a link that is none any more
	case syscall.ENXIO, syscall.ENODEV:
		return errSpecial
	}
	return nil
}
