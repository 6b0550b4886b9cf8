package sandbox

import (
	"errors"
	"strconv"
)

// The second wall. The first one is this package's own code: it decides what is
// opened. The second is kept by the kernel and knows nothing of that code: once
// [Workspace.Confine] has returned, this process and every program it starts
// can read the workspace, run git, and do next to nothing else, whatever goes
// wrong in the first.
//
// It has two mechanisms because neither is enough. Landlock decides about files
// by where they lie, but lets a process change the mode, the times and the
// attributes of any file its user owns, and knows few kinds of sockets. The
// filter of system calls decides by the number of the call, before any object
// is looked up, but cannot tell one file from another.

// Wall says which mechanisms of the kernel stand, or could stand.
type Wall struct {
	Landlock int  // version of the kernel's interface; 0: files are not confined
	Filter   bool // system calls are filtered, on every thread
}

// wholeLandlock is the first version that keeps a file from being emptied by
// truncate(2) or O_TRUNC (Linux 6.2).
const wholeLandlock = 3

// Whole reports that both mechanisms stand, without a known gap.
func (w Wall) Whole() bool { return w.Landlock >= wholeLandlock && w.Filter }

// None reports that no mechanism stands.
func (w Wall) None() bool { return w.Landlock == 0 && !w.Filter }

// Files says in words what is done about files.
func (w Wall) Files() string {
	switch {
	case w.Landlock == 0:
		return "no Landlock"
	case w.Landlock < wholeLandlock:
		return "Landlock " + strconv.Itoa(w.Landlock) + ", too old to keep files from being emptied"
	}
	return "Landlock " + strconv.Itoa(w.Landlock)
}

// Calls says in words what is done about system calls.
func (w Wall) Calls() string {
	if w.Filter {
		return "filtered on every thread"
	}
	return "no filter"
}

// String says in words what stands.
func (w Wall) String() string { return w.Files() + "; system calls: " + w.Calls() }

// ErrWeakWall says that this kernel, or what surrounds this process, does not
// offer the whole wall.
var ErrWeakWall = errors.New("the kernel does not offer the whole wall (Landlock 3 and a filter of system calls)")

// Confinement is what the wall leaves open beside reading the workspace.
type Confinement struct {
	// Programs may be run, together with the loader that each one names.
	// Absolute names without links.
	Programs []string
	// Folders may be read, with all below, like the workspace: a repository can
	// keep its data elsewhere. Absolute names.
	Folders []string
	// Whole makes Confine fail, and change nothing, unless the kernel offers
	// the whole wall.
	Whole bool
}
