package wall

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stage is what an attempt finds: everything in it was made before the wall.
type stage struct {
	ws, out string // a folder of its own in the workspace, and one outside
	tcp     string // address of a listener of the parent
	victim  int    // a process of the same user, outside the wall
	held    map[string]*os.File
	conn    int // an accepted connection
}

// attempt is one thing that a process behind the wall tries with plain system
// calls, as it could if the first wall were gone.
type attempt struct {
	name string
	// What Landlock alone and what the filter alone make of it; 0 lets it pass.
	files, calls syscall.Errno
	root         bool // only root could do it without the wall
	missing      bool // not every kernel lets anybody do it
	before       func(*stage) error
	do           func(*stage) error
}

const (
	denied  = unix.EACCES
	refused = unix.EPERM
)

var attempts = []attempt{
	// Reading outside.
	{name: "read a file outside", files: denied, do: func(s *stage) error { return read(s.out + "/secret") }},
	{name: "read a file outside through a link in the workspace", files: denied,
		before: func(s *stage) error { return os.Symlink(s.out+"/secret", s.ws+"/link") },
		do:     func(s *stage) error { return read(s.ws + "/link") }},
	{name: "list a folder outside", files: denied, do: func(s *stage) error { _, err := os.ReadDir(s.out); return err }},
	{name: "read beneath an inherited folder outside", files: denied,
		before: hold("folder", func(s *stage) string { return s.out }),
		do: func(s *stage) error {
			fd, err := unix.Openat(int(s.held["folder"].Fd()), "secret", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
	{name: "open an inherited file outside again", files: denied,
		before: hold("file", func(s *stage) string { return s.out + "/secret" }),
		do:     func(s *stage) error { return read(fmt.Sprintf("/proc/self/fd/%d", s.held["file"].Fd())) }},
	{name: "read the own environment", files: denied, do: func(s *stage) error { return read("/proc/self/environ") }},
	{name: "read the environment of another process", files: denied, do: func(s *stage) error { return read(fmt.Sprintf("/proc/%d/environ", s.victim)) }},
	{name: "read the accounts", files: denied, do: func(s *stage) error { return read("/etc/passwd") }},
	{name: "open a device", files: denied, do: func(s *stage) error { return read("/dev/zero") }},

	// Writing inside and outside.
	{name: "create a file", files: denied, do: func(s *stage) error { return os.WriteFile(s.ws+"/new", nil, 0o600) }},
	{name: "append to a file", files: denied, do: func(s *stage) error { return openFlags(s.ws+"/file", unix.O_WRONLY|unix.O_APPEND) }},
	{name: "empty a file by truncate", files: denied, do: func(s *stage) error { return unix.Truncate(s.ws+"/file", 0) }},
	{name: "empty a file while opening it for reading", files: denied, do: func(s *stage) error { return openFlags(s.ws+"/file", unix.O_RDONLY|unix.O_TRUNC) }},
	{name: "remove a file", files: denied, before: plant("doomed"), do: func(s *stage) error { return unix.Unlink(s.ws + "/doomed") }},
	{name: "remove a folder", files: denied, before: func(s *stage) error { return os.Mkdir(s.ws+"/empty", 0o755) }, do: func(s *stage) error { return unix.Rmdir(s.ws + "/empty") }},
	{name: "rename a file", files: denied, before: plant("old"), do: func(s *stage) error { return unix.Rename(s.ws+"/old", s.ws+"/older") }},
	{name: "make a hard link", files: denied, do: func(s *stage) error { return unix.Link(s.ws+"/file", s.ws+"/hard") }},
	{name: "make a link", files: denied, do: func(s *stage) error { return unix.Symlink("file", s.ws+"/soft") }},
	{name: "make a folder", files: denied, do: func(s *stage) error { return unix.Mkdir(s.ws+"/dir", 0o755) }},
	{name: "make a pipe", files: denied, do: func(s *stage) error { return unix.Mkfifo(s.ws+"/fifo", 0o600) }},
	{name: "write outside", files: denied, do: func(s *stage) error { return os.WriteFile(s.out+"/new", nil, 0o600) }},
	{name: "write the own memory", files: denied, do: func(s *stage) error { return openFlags("/proc/self/mem", unix.O_RDWR) }},

	// Executing.
	{name: "execute a program of the workspace", files: denied, do: func(s *stage) error { return run(s.ws + "/program") }},
	{name: "execute a script of the workspace", files: denied, do: func(s *stage) error { return run(s.ws + "/script") }},
	{name: "execute a shell", files: denied, do: func(s *stage) error { return run("/bin/sh", "-c", ":") }},
	{name: "execute an open file of the workspace", files: denied,
		before: hold("program", func(s *stage) string { return s.ws + "/program" }),
		do:     func(s *stage) error { return run(fmt.Sprintf("/proc/self/fd/%d", s.held["program"].Fd())) }},
	{name: "execute a program copied into memory", calls: refused, do: executeMemory},

	// Sockets.
	{name: "connect by TCP", files: denied, calls: refused, do: func(s *stage) error { return connect(s.tcp, 0) }},
	{name: "connect by MPTCP", calls: refused, do: func(s *stage) error { return connect(s.tcp, unix.IPPROTO_MPTCP) }},
	{name: "listen on TCP", files: denied, calls: refused, do: func(s *stage) error {
		return socket(unix.AF_INET, unix.SOCK_STREAM, 0, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, nil)
	}},
	{name: "send by UDP", calls: refused, do: func(s *stage) error {
		return socket(unix.AF_INET, unix.SOCK_DGRAM, 0, nil, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
	}},
	{name: "connect to a Unix socket", calls: refused, do: func(s *stage) error {
		return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, nil, &unix.SockaddrUnix{Name: s.out + "/socket"})
	}},
	{name: "connect to an abstract socket", calls: refused, do: func(s *stage) error {
		return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, nil, &unix.SockaddrUnix{Name: "@" + s.out})
	}},
	{name: "ask the kernel for routes", calls: refused, do: func(s *stage) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0, nil, nil) }},
	{name: "make a pair of sockets", calls: refused, do: func(s *stage) error {
		p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		return closing(p[0], err)
	}},
	{name: "turn an accepted connection to another address", calls: refused, do: func(s *stage) error {
		var unspec [16]byte // AF_UNSPEC takes the connection down, then it may be made elsewhere
		_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(s.conn), uintptr(unsafe.Pointer(&unspec)), 16)
		return errnoError(errno)
	}},
	{name: "route an accepted connection by way of another address", calls: refused, root: true, do: func(s *stage) error {
		route := string([]byte{131, 7, 4, 192, 0, 2, 1, 1}) // loose source route, end
		err := unix.SetsockoptString(s.conn, unix.IPPROTO_IP, unix.IP_OPTIONS, route)
		if err == nil {
			err = unix.SetsockoptString(s.conn, unix.IPPROTO_IP, unix.IP_OPTIONS, "")
		}
		return err
	}},
	{name: "make a ring of system calls", calls: refused, missing: true, do: func(s *stage) error {
		var params [120]byte
		fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		return closing(int(fd), errnoError(errno))
	}},

	// Modes, owners, times, attributes.
	{name: "chmod", calls: refused, do: func(s *stage) error { return unix.Chmod(s.ws+"/file", 0o600) }},
	{name: "chmod outside", calls: refused, do: func(s *stage) error { return unix.Chmod(s.out+"/secret", 0o600) }},
	{name: "fchmod of a file open for reading", calls: refused,
		before: hold("mode", func(s *stage) string { return s.ws + "/file" }),
		do:     func(s *stage) error { return unix.Fchmod(int(s.held["mode"].Fd()), 0o600) }},
	{name: "fchmodat2", calls: refused, missing: true, do: func(s *stage) error {
		name, _ := unix.BytePtrFromString(s.ws + "/file")
		at := unix.AT_FDCWD
		_, _, errno := unix.Syscall6(unix.SYS_FCHMODAT2, uintptr(at), uintptr(unsafe.Pointer(name)), 0o600, 0, 0, 0)
		return errnoError(errno)
	}},
	{name: "chown", calls: refused, do: func(s *stage) error { return unix.Lchown(s.ws+"/file", os.Getuid(), os.Getgid()) }},
	{name: "utimes", calls: refused, do: func(s *stage) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, s.ws+"/file", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
	}},
	{name: "futimes of a file open for reading", calls: refused,
		before: hold("times", func(s *stage) string { return s.ws + "/file" }),
		do: func(s *stage) error {
			return unix.UtimesNanoAt(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", s.held["times"].Fd()), []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
		}},
	{name: "setxattr", calls: refused, missing: true, do: func(s *stage) error { return unix.Setxattr(s.ws+"/file", "user.wall", []byte("x"), 0) }},
	{name: "getxattr outside", calls: refused, missing: true,
		before: func(s *stage) error { return ignore(unix.Setxattr(s.out+"/secret", "user.wall", []byte("x"), 0)) },
		do: func(s *stage) error {
			_, err := unix.Getxattr(s.out+"/secret", "user.wall", make([]byte, 9))
			return err
		}},
	{name: "flags of a file open for reading", calls: refused, missing: true,
		before: hold("flags", func(s *stage) string { return s.ws + "/file" }),
		do: func(s *stage) error {
			fd := int(s.held["flags"].Fd())
			flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			if err != nil {
				return err
			}
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|0x40) // no dump
		}},
	{name: "take a lease that keeps others from writing", calls: refused, missing: true,
		before: hold("lease", func(s *stage) string { return s.ws + "/file" }),
		do: func(s *stage) error {
			_, err := unix.FcntlInt(s.held["lease"].Fd(), unix.F_SETLEASE, unix.F_RDLCK)
			if err == nil {
				_, err = unix.FcntlInt(s.held["lease"].Fd(), unix.F_SETLEASE, unix.F_UNLCK)
			}
			return err
		}},
	{name: "ask for notes about a folder", calls: refused, missing: true,
		before: hold("noted", func(s *stage) string { return s.ws }),
		do: func(s *stage) error {
			_, err := unix.FcntlInt(s.held["noted"].Fd(), unix.F_NOTIFY, 0) // no event: any note is taken back
			return err
		}},

	// Other processes.
	{name: "ptrace", files: refused, calls: refused, do: func(s *stage) error { return unix.PtraceSeize(s.victim) }},
	{name: "read the memory of another process", files: refused, calls: refused, do: func(s *stage) error {
		b := make([]byte, 1)
		_, err := unix.ProcessVMReadv(s.victim, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
		return permitted(err)
	}},
	{name: "write the memory of another process", files: refused, calls: refused, do: func(s *stage) error {
		b := make([]byte, 1)
		_, err := unix.ProcessVMWritev(s.victim, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
		return permitted(err)
	}},
	{name: "take a descriptor of another process", files: refused, calls: refused, do: func(s *stage) error {
		pid, err := unix.PidfdOpen(s.victim, 0)
		if err != nil {
			return err
		}
		defer unix.Close(pid)
		fd, err := unix.PidfdGetfd(pid, 0, 0)
		return closing(fd, err)
	}},
	{name: "share memory", calls: refused, do: func(s *stage) error {
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		if err == nil {
			_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
		}
		return err
	}},
	{name: "open a queue of messages", files: denied, calls: refused, missing: true, do: func(s *stage) error {
		name, _ := unix.BytePtrFromString("wall" + strconv.Itoa(os.Getpid()))
		fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
		// Landlock lets the queue be made before it refuses to open it.
		unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
		return closing(int(fd), errnoError(errno))
	}},
	{name: "watch a folder outside", calls: refused, do: func(s *stage) error {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err == nil {
			_, err = unix.InotifyAddWatch(fd, s.out, unix.IN_ALL_EVENTS)
			unix.Close(fd)
		}
		return err
	}},

	// The kernel.
	{name: "leave a namespace", calls: refused, do: func(s *stage) error { return unix.Unshare(unix.CLONE_FS) }},
	{name: "start a program in a user namespace of its own", calls: refused, missing: true, do: func(s *stage) error {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = []string{roleVariable + "=nothing"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return cmd.Run()
	}},
	{name: "enter a namespace", calls: refused, root: true,
		before: hold("uts", func(s *stage) string { return "/proc/self/ns/uts" }),
		do:     func(s *stage) error { return unix.Setns(int(s.held["uts"].Fd()), unix.CLONE_NEWUTS) }},
	{name: "mount", files: refused, calls: refused, root: true,
		before: func(s *stage) error { return os.Mkdir(s.ws+"/mnt", 0o755) },
		do: func(s *stage) error {
			err := unix.Mount("none", s.ws+"/mnt", "tmpfs", 0, "")
			if err == nil {
				err = unix.Unmount(s.ws+"/mnt", unix.MNT_DETACH)
			}
			return err
		}},
	{name: "open a tree of mounts", calls: refused, root: true, do: func(s *stage) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, s.ws, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		return closing(fd, err)
	}},
	{name: "open a kind of file system", calls: refused, root: true, do: func(s *stage) error {
		fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
		return closing(fd, err)
	}},
	{name: "change the root", calls: refused, root: true, do: func(s *stage) error { return unix.Chroot("/") }},
	{name: "use a key ring", calls: refused, missing: true, do: func(s *stage) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)
		return err
	}},
	{name: "name a file by handle", calls: refused, do: func(s *stage) error {
		_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, s.ws+"/file", 0)
		return err
	}},
	{name: "load a program into the kernel", calls: refused, root: true, missing: true, do: func(s *stage) error {
		attr := [18]uint32{unix.BPF_MAP_TYPE_ARRAY, 4, 4, 1}
		fd, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_MAP_CREATE, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
		return closing(int(fd), errnoError(errno))
	}},
	{name: "handle faults of memory", calls: refused, missing: true, do: func(s *stage) error {
		fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1, 0, 0) // 1: user mode only
		return closing(int(fd), errnoError(errno))
	}},
	{name: "count events of the processor", calls: refused, missing: true, do: func(s *stage) error {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
		attr.Size = uint32(unsafe.Sizeof(attr))
		fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		return closing(fd, err)
	}},
	{name: "change the personality", calls: refused, do: func(s *stage) error {
		_, _, errno := unix.Syscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0)
		return errnoError(errno)
	}},
}

// allowed is what must still work behind the wall.
var allowed = []attempt{
	{name: "read a file of the workspace", do: func(s *stage) error { return read(s.ws + "/file") }},
	{name: "list a folder of the workspace", do: func(s *stage) error { _, err := os.ReadDir(s.ws); return err }},
	{name: "read and write the null device", do: func(s *stage) error {
		f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Write([]byte("x"))
		return err
	}},
	{name: "run the allowed program", do: func(s *stage) error {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = []string{roleVariable + "=nothing"}
		return cmd.Run()
	}},
	{name: "read and write an accepted connection", do: func(s *stage) error {
		if _, err := unix.Write(s.conn, []byte("x")); err != nil {
			return err
		}
		_, err := unix.Read(s.conn, make([]byte, 1))
		return err
	}},
	{name: "use a pipe", do: func(s *stage) error {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		w.Close()
		defer r.Close()
		_, err = io.ReadAll(r)
		return err
	}},
	// What Landlock does not hide, so that the threat model stays true.
	{name: "learn that a file outside exists", do: func(s *stage) error { _, err := os.Stat(s.out + "/secret"); return err }},
}

func hold(key string, name func(*stage) string) func(*stage) error {
	return func(s *stage) error {
		f, err := os.Open(name(s))
		s.held[key] = f
		return err
	}
}

func plant(name string) func(*stage) error {
	return func(s *stage) error { return os.WriteFile(s.ws+"/"+name, nil, 0o644) }
}

func ignore(error) error { return nil }

func read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Read(make([]byte, 16))
	return err
}

func openFlags(name string, flags int) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0)
	return closing(fd, err)
}

func closing(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// run wants the program to be started; how it ends does not matter.
func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	err := cmd.Run()
	if errors.As(err, new(*exec.ExitError)) {
		return nil
	}
	return err
}

func executeMemory(s *stage) error {
	fd, err := unix.MemfdCreate("program", 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b, err := os.ReadFile(filepath.Join(s.ws, "program"))
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, b); err != nil {
		return err
	}
	return run(fmt.Sprintf("/proc/self/fd/%d", fd)) // the child inherits it
}

// socket makes a socket and binds or connects it.
func socket(family, kind, protocol int, local, peer unix.Sockaddr) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if local != nil {
		if err := unix.Bind(fd, local); err != nil {
			return err
		}
		return unix.Listen(fd, 1)
	}
	if peer == nil {
		return nil
	}
	if kind == unix.SOCK_DGRAM {
		return unix.Sendto(fd, []byte("x"), 0, peer)
	}
	return unix.Connect(fd, peer)
}

func connect(address string, protocol int) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	return socket(unix.AF_INET, unix.SOCK_STREAM, protocol, nil, &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}})
}

// permitted takes a bad address in the other process for success: the right was
// there.
func permitted(err error) error {
	if err == unix.EFAULT {
		return nil
	}
	return err
}

func errnoError(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
