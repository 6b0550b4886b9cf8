package walk

import (
	"path"
	"strings"
)

// ignoresCase reports whether the repository at base says that its file system does not tell upper from lower case
// (core.ignoreCase). Its own configuration counts, and that of the work tree where there is one, without the files that
// they include; what cannot be read says nothing.
func (w *walker) ignoresCase(base string) bool {
	door, err := w.ws.GitDoor()
	if err != nil {
		return false
	}
	defer door.Close()
	dir, err := gitDir(door, base)
	if err != nil {
		return false
	}
	common := dir
	if b, err := door.Read(path.Join(dir, "commondir"), 8192); err == nil {
		to := strings.TrimRight(string(b), "\r\n")
		if common = path.Join(dir, to); path.IsAbs(to) {
			var ok bool
			if common, ok = door.Beneath(to); !ok {
				return false
			}
		}
	}
	is := map[string]bool{"core.ignorecase": false, "extensions.worktreeconfig": false}
	_ = door.Flags(path.Join(common, "config"), is)
	if is["extensions.worktreeconfig"] {
		_ = door.Flags(path.Join(dir, "config.worktree"), is)
	}
	return is["core.ignorecase"]
}
