package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcp-devserver/sandbox"
)

// WallError says that the settings ask for a wall that the kernel did not
// raise.
type WallError struct{ cause error }

func (e *WallError) Error() string {
	return "MCP_SANDBOX__OS_SANDBOX: the kernel did not raise the wall: " + e.cause.Error()
}

func (e *WallError) Unwrap() error { return e.cause }

// Confine lets the kernel raise its wall around this process, for good, as the
// settings say. Whatever the server needs beside the workspace must be open
// before. The error is a *WallError: the settings demand more than stands.
func (a *App) Confine() error {
	c := a.config
	if c.OSSandbox == "off" || c.OSSandbox == "external" {
		return nil
	}
	programs := []string{}
	if exe, err := os.Executable(); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil { // it fails once the program was replaced on disk
			programs = append(programs, exe)
		}
	}
	var folders []string
	if a.git != "" {
		programs = append(programs, a.git)
		if c.GitAllowExternal {
			folders = externalData(c.Workspace)
		}
	}
	wall, err := a.ws.Confine(sandbox.Confinement{Programs: programs, Folders: folders, Whole: c.OSSandbox == "enforce"})
	a.wall = wall
	switch {
	case err == nil:
	case c.OSSandbox == "enforce", c.Production() && wall.None():
		return &WallError{err}
	default:
		a.log.Warn().Str("stands", wall.String()).Str("missing", Clean(err.Error())).Msg("the kernel's wall is not whole")
	}
	return nil
}

// level words for /readyz what stands behind the path checks.
func (a *App) level() string {
	switch {
	case a.config.OSSandbox == "off":
		return "disabled"
	case a.config.OSSandbox == "external", a.wall.Whole():
		return "ok"
	}
	return "degraded"
}

// externalData lists the folders outside the workspace in which the repository
// at its root keeps data: a linked work tree's git directory, the common one,
// borrowed object stores. Git has to read them when an operator has allowed
// that. A folder counts only if it holds what git keeps there, so a repository
// cannot open any other.
func externalData(workspace string) []string {
	root := resolved(workspace)
	var found []string
	add := func(dir string, holds string) bool {
		st, err := os.Stat(filepath.Join(dir, holds))
		if err != nil || st.IsDir() != (holds == "pack") || inside(dir, root) || tooWide(dir, homes()) {
			return false
		}
		if !inside(root, dir) && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
		return true
	}
	at := func(from, to string) string {
		if !filepath.IsAbs(to) {
			to = filepath.Join(from, to)
		}
		return resolved(to)
	}
	gitDir := resolved(filepath.Join(root, ".git"))
	if line, err := firstLineOf(gitDir); err == nil {
		to, ok := strings.CutPrefix(line, "gitdir: ")
		if !ok {
			return nil
		}
		gitDir = at(root, to)
	}
	if !add(gitDir, "HEAD") {
		return nil
	}
	if to, err := firstLineOf(filepath.Join(gitDir, "commondir")); err == nil {
		if common := at(gitDir, to); add(common, "HEAD") {
			gitDir = common
		}
	}
	stores := []string{at(gitDir, "objects")}
	for i := 0; i < len(stores) && i < maxStores; i++ {
		if !add(stores[i], "pack") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(stores[i], "info", "alternates"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
				stores = append(stores, at(stores[i], line))
			}
		}
	}
	return found
}

// maxStores bounds the object stores that are looked at.
const maxStores = 64

// firstLineOf reads the first line of a small regular file.
func firstLineOf(name string) (string, error) {
	st, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() || st.Size() > 8192 {
		return "", errors.New("not a small file")
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r"), nil
}

// walls describes both walls for doctor, after raising the second one around
// this very process: from here on the examination runs as the server would.
func (e *Examination) walls(a *App) {
	c := a.config
	lines := []Line{{Mark: "ok", Name: "path checks", Text: "every path is opened beneath a held root"}}
	outside := filepath.Dir(resolved(c.Workspace))
	before := lists(outside)
	err := a.Confine()
	switch {
	case err != nil:
		lines = append(lines, Line{Mark: "fail", Name: "kernel's wall", Text: Clean(err.Error())})
	case c.OSSandbox == "external":
		lines = append(lines, Line{Mark: "ok", Name: "kernel's wall", Text: "left to the surrounding container (external)"})
	case c.OSSandbox == "off":
		lines = append(lines, Line{Mark: "warn", Name: "kernel's wall", Text: "turned off"})
	default:
		mark := func(stands bool) string {
			if stands {
				return "ok"
			}
			return "warn"
		}
		w := a.wall
		files := Line{Mark: mark((sandbox.Wall{Landlock: w.Landlock, Filter: true}).Whole()), Name: "kernel's wall, files", Text: w.Files()}
		if w.Landlock > 0 && before {
			if lists(outside) {
				files.Mark, files.Text = "fail", files.Text+", but the folder above the workspace can be listed"
			} else {
				files.Text += "; the folder above the workspace was refused"
			}
		}
		lines = append(lines, files, Line{Mark: mark(w.Filter), Name: "kernel's wall, system calls", Text: w.Calls()})
	}
	uid := Line{Name: "user", Text: fmt.Sprintf("uid %d", os.Getuid())}
	if os.Getuid() == 0 && !c.AllowRoot {
		uid.Mark = "warn"
	}
	lines = append(lines, uid)
	if n := capabilities(); n >= 0 {
		lines = append(lines, Line{Name: "capabilities", Text: strconv.Itoa(n)})
	}
	e.add("Walls", lines...)
}

// lists reports that a folder can be read without asking anybody.
func lists(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return err == nil
}
