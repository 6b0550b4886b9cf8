package sandbox

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when an object or its names last changed.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return time.Time{}
}
