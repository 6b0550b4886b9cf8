// Package git reads a repository's objects through the git program.
//
// # What
//
// Git is used as an object reader. It walks history, compares trees and the
// index by id, and hands out raw objects; everything a caller gets to see is
// made here: messages are parsed from raw commit objects, patches are computed
// from the two byte strings that were scanned for secrets, and the work tree is
// read through the sandbox's door.
//
// # How to start
//
// New checks the program once, at start. Open looks at the repository, once per
// call, and returns a Repo whose methods answer questions; Close ends it.
//
// # What it promises
//
// Only the subcommands in the table of command.go are started, with an
// environment built from nothing and configuration that switches off whatever a
// repository could make run. No revision and no path syntax of a caller reaches
// git: a revision passes a grammar and is turned into a full commit id first,
// paths are literal and follow "--". Every process has a deadline, an output
// limit, its own group and resource limits, and is reaped. What git prints on
// standard error is discarded. Denied paths never leave with content.
//
// Errors are *sandbox.Denial values with fixed texts, context errors, or an
// unexpected fault.
//
// # Limits
//
// Git 2.36 or later is needed (cat-file --batch-command). At start every git
// opens the null device for reading and writing, so a confinement must leave
// that open. Only the repository whose .git lies at the root of the workspace is read.
// Submodules are not entered. Content that a filter driver would transform (for
// example Git LFS) is compared as it is stored.
package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"mcp-devserver/sandbox"
)

// Options are the settings of the git tools. Zero values mean the defaults.
type Options struct {
	Binary        string        // absolute path of git, as Find returns it
	Timeout       time.Duration // per git process; 0 = 10 s
	MaxOutput     int64         // bytes read from one listing or one object; 0 = 8 MiB
	AllowExternal bool          // serve a repository that keeps data outside the workspace
}

// Git starts git processes for one workspace. It is safe for concurrent use.
type Git struct {
	ws   *sandbox.Workspace
	opt  Options
	null *os.File
	// Where every process works, what it is given, and how that names the root.
	dir  string
	held *os.File // nil where dir is the root
	at   string
}

// Errors of New and Find. They name no path: the setting is the caller's to name.
var (
	ErrNoProgram  = errors.New("git: the program was not found")
	ErrInside     = errors.New("git: the program lies inside the workspace")
	errNotProgram = errors.New("git: the program is not a native executable; a wrapper script is not accepted")
	errRelative   = errors.New("git: the program's path is not absolute")
)

// Find returns the absolute, link-free path of the git program in the folders
// of PATH.
func Find() (string, error) {
	p, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(p) {
		return "", ErrNoProgram
	}
	if p, err = filepath.EvalSymlinks(p); err != nil {
		return "", ErrNoProgram
	}
	return p, nil
}

// New checks the program and prepares to start it over ws. It must be called
// before the process confines itself: it opens the null device that every child
// gets as standard error.
func New(ws *sandbox.Workspace, o Options) (*Git, error) {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = 8 << 20
	}
	if !filepath.IsAbs(o.Binary) {
		return nil, errRelative
	}
	real, err := filepath.EvalSymlinks(o.Binary)
	if err != nil {
		return nil, ErrNoProgram
	}
	o.Binary = real
	f, err := os.Open(real)
	if err != nil {
		return nil, ErrNoProgram
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, errNotProgram
	}
	if err := checkProgram(f); err != nil {
		return nil, err
	}
	root, err := os.Stat(ws.ProcDir())
	if err != nil {
		return nil, err
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err == nil && os.SameFile(st, root) {
			return nil, ErrInside
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	g := &Git{ws: ws, opt: o, null: null}
	if g.dir, g.held, g.at, err = ws.ChildFolder(); err != nil {
		null.Close()
		return nil, err
	}
	return g, nil
}

// Close releases what New opened. Processes in flight are not affected.
func (g *Git) Close() error {
	if g.held != nil {
		_ = g.held.Close()
	}
	return g.null.Close()
}

// Program is the absolute path of the git that is started.
func (g *Git) Program() string { return g.opt.Binary }

// Open looks at the repository at the root of the workspace. The error is a
// denial: not_a_repository, git_outside_workspace, git_failed or timeout.
func (g *Git) Open(ctx context.Context) (*Repo, error) {
	door, err := g.ws.GitDoor()
	if err != nil {
		return nil, g.ws.Refuse(sandbox.NotARepository, nil)
	}
	r := &Repo{git: g, door: door, marks: map[string]sandbox.Mark{}}
	if err := r.discover(ctx); err != nil {
		r.Close()
		return nil, err
	}
	if err := r.readConfigKeys(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}
