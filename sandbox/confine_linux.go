package sandbox

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Rights over files. They are spelled out one by one: the library's ready-made
// sets for reading include the right to execute.
const (
	rightsRead = ll.AccessFSReadFile | ll.AccessFSReadDir
	rightsFile = ll.AccessFSReadFile
	rightsRun  = ll.AccessFSReadFile | ll.AccessFSExecute // the kernel also reads what it executes
	rightsNull = ll.AccessFSReadFile | ll.AccessFSWriteFile
)

// KernelWall says what this kernel offers. It changes nothing.
func KernelWall() Wall {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		abi = 0 // not built in, not enabled at boot, or refused by a container
	}
	return Wall{Landlock: abi, Filter: filterOffered()}
}

// Confine raises the wall around this process, on all threads, for good, and
// around every program it starts from now on. What stands is returned; the
// error says why the rest does not. What the process needs that the wall
// forbids must be open before: listeners, logs, time zone, secrets.
//
// Nothing outside is hidden: stat and readlink tell whether a name exists.
func (w *Workspace) Confine(c Confinement) (Wall, error) {
	offered := KernelWall()
	if c.Whole && !offered.Whole() {
		return Wall{}, ErrWeakWall
	}
	var stands Wall
	var failed []error
	if offered.Landlock > 0 {
		err := w.confineFiles(c, offered.Landlock)
		if err == nil && w.opensAbove() {
			err = errHollow
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("landlock: %w", err))
		} else {
			stands.Landlock = offered.Landlock
			w.walled.Store(true)
		}
	}
	if offered.Filter {
		err := confineCalls()
		if err == nil && makesSockets() {
			err = errHollow
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("system calls: %w", err))
		} else {
			stands.Filter = true
		}
	}
	if len(failed) == 0 && !stands.Whole() {
		failed = append(failed, ErrWeakWall)
	}
	return stands, errors.Join(failed...)
}

// errHollow says that what the kernel accepted does not keep anything out.
var errHollow = errors.New("it was raised, and does not hold")

// opensAbove reports that the folder above the workspace can be opened.
func (w *Workspace) opensAbove() bool {
	real := w.roots[len(w.roots)-1]
	if len(real) == 0 {
		return false // there is none
	}
	fd, err := unix.Open("/"+strings.Join(real[:len(real)-1], "/"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
}

// makesSockets reports that a socket can be made.
func makesSockets() bool {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
}

// configs are what the library knows to take away, by version of the interface.
var configs = []landlock.Config{{}, landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
	landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}

// taking is what is taken away on a kernel with the given version of the
// interface: every right over files, and the sockets of the kinds that it knows;
// should the filter be missing, that is something. A version newer than the
// library is taken for the newest that it knows.
//
// Scopes (signals, abstract sockets) are left alone: before version 8 each thread
// gets a domain of its own, and a thread could no longer end a git that another
// one started.
func taking(abi int) landlock.Config {
	config := configs[min(abi, len(configs)-1)]
	config.Scoped = 0
	return config
}

// confineFiles applies Landlock: what is taken away, but for the list of grants.
func (w *Workspace) confineFiles(c Confinement, abi int) error {
	config := taking(abi)
	grants, err := w.grants(c)
	if err != nil {
		return err
	}
	list := make([]landlock.Rule, len(grants))
	for i, g := range grants {
		list[i] = landlock.PathAccess(g.rights, g.path)
	}
	return config.Restrict(list...)
}

// grant gives rights over one file, or over a folder and all below.
type grant struct {
	path   string
	rights landlock.AccessFSSet
}

// grants is the list of everything that stays open.
func (w *Workspace) grants(c Confinement) ([]grant, error) {
	list := []grant{
		{w.ProcDir(), rightsRead}, // the held root, not its name
		{os.DevNull, rightsNull},  // every git opens it for writing
	}
	for _, dir := range c.Folders {
		list = append(list, grant{dir, rightsRead})
	}
	libraries := standardLibraries
	for _, p := range c.Programs {
		list = append(list, grant{p, rightsRun})
		loader, folders, err := loading(p)
		if err != nil {
			return nil, err
		}
		if loader == "" {
			continue // linked statically
		}
		list = append(list, grant{loader, rightsRun})
		for _, dir := range append(folders, filepath.Dir(loader)) {
			if real, err := filepath.EvalSymlinks(dir); err == nil && !w.below(real) {
				libraries = append(libraries[:len(libraries):len(libraries)], real)
			}
		}
	}
	if len(c.Programs) > 0 {
		for _, name := range loaderFiles {
			list = append(list, existing(name, rightsFile, false)...)
		}
		for _, dir := range libraries {
			list = append(list, existing(dir, rightsFile, true)...)
		}
	}
	return list, nil
}

// below reports that the root lies in dir or is dir: such a folder holds far
// more than libraries, whatever a program says.
func (w *Workspace) below(dir string) bool {
	parts := rootParts(dir)
	real := w.roots[len(w.roots)-1]
	return len(parts) <= len(real) && slices.Equal(parts, real[:len(parts)])
}

// standardLibraries are where loaders look without being told.
var standardLibraries = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"}

// loaderFiles tell loaders where else to look.
var loaderFiles = []string{"/etc/ld.so.cache", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path"}

func existing(path string, rights landlock.AccessFSSet, dir bool) []grant {
	st, err := os.Stat(path)
	if err != nil || st.IsDir() != dir || !dir && !st.Mode().IsRegular() {
		return nil
	}
	return []grant{{path, rights}}
}

// loading reads from a program which loader it names, and in which folders
// beside the standard ones its libraries are looked for.
func loading(program string) (loader string, folders []string, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", nil, fmt.Errorf("program: %w", err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
		if err != nil {
			return "", nil, fmt.Errorf("program: %w", err)
		}
		loader = strings.TrimRight(string(b), "\x00")
	}
	if loader == "" {
		return "", nil, nil
	}
	if loader, err = filepath.EvalSymlinks(loader); err != nil {
		return "", nil, fmt.Errorf("loader: %w", err)
	}
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, err := f.DynString(tag)
		if err != nil {
			return "", nil, fmt.Errorf("program: %w", err)
		}
		for _, dir := range strings.Split(strings.Join(values, ":"), ":") {
			for _, origin := range []string{"$ORIGIN", "${ORIGIN}"} {
				dir = strings.ReplaceAll(dir, origin, filepath.Dir(program))
			}
			if filepath.IsAbs(dir) {
				folders = append(folders, filepath.Clean(dir))
			}
		}
	}
	return loader, folders, nil
}
