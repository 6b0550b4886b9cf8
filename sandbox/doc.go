// Package sandbox is the one door to the disk: it opens files and folders of a
// single directory, the workspace, for reading, and refuses everything else
// with a reason and a remedy.
//
// # Start
//
//	ws, err := sandbox.Open("/srv/shop", sandbox.Options{})
//	f, err := ws.OpenFile("src/main.go")
//	if d, ok := errors.AsType[*sandbox.Denial](err); ok {
//		fmt.Println(d.Code, d.Message, d.Remedy)
//	}
//
// # Promises
//
//   - What is opened is what was checked. Every link is read and followed by
//     this package, component by component from a descriptor of the root; the
//     resolved path is then opened beneath the root with links refused, and the
//     descriptor must be the object (device, inode) that was checked.
//   - No system call is given a name outside the root: a ".." above it, an
//     absolute path or a link target that does not begin with a spelling of
//     the root is refused as text. So a refusal cannot tell whether something
//     outside exists. A link that leaves and comes back is outside.
//   - Only regular files and folders are opened. A pipe, a socket or a device
//     is recognised without opening it and can neither block nor be released.
//   - The denylist is applied to the path as written, before existence is
//     known, then to every resolved prefix. Its default rules cannot be
//     switched off; an operator can add rules.
//   - [Workspace.Confine] puts a second wall, kept by the kernel, behind all of
//     this. It is separate: neither wall relies on the other.
//   - Denials hold no path of the machine, no text of a system error, and no
//     name from disk that is not plain.
//
// # Limits
//
//   - A hard link is a file of the workspace: nothing tells its other names.
//   - A folder that is moved out of the root while it is open stays readable
//     through the open Dir, as with any descriptor; a path is always resolved
//     anew.
//   - A path that names a mount is followed; walks through [Dir.OpenDir] enter
//     another mount, bind mounts included, only with CrossMounts. Where openat2
//     is missing, only the device number tells mounts apart, and a bind mount
//     of the same file system is entered.
//   - Between the last look at a name and its opening a file can become a pipe;
//     it is then opened without blocking, seen to be one, and closed.
//   - Names that are not UTF-8 or hold control characters are listed as they
//     are on disk but cannot be addressed by a path.
//   - Outside Linux the standard library's os.Root takes the place of the
//     descriptors: names stay beneath the root, but between check and opening a
//     link inside the root can be followed once more, and only the identity of
//     the object (os.SameFile) then tells. Bind mounts are not told apart there.
//     The build tag "portable" chooses that door on Linux, for its tests.
package sandbox
