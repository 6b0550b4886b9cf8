package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// GitDoor looks at the few files of git's own layout that tell where a
// repository keeps its data. The denylist withholds .git from every tool; this
// door is the one exception, and it is narrow: Read opens only the names in
// gitFiles, and no link is followed.
type GitDoor struct {
	ws   *Workspace
	root *os.Root
}

// ErrOutside says that a name leads out of the root, or through a link.
var ErrOutside = errors.New("leads outside the workspace")

// gitFiles are the base names that Read opens.
var gitFiles = map[string]bool{
	".git": true, "HEAD": true, "commondir": true, "gitdir": true, "alternates": true, "attributes": true, "exclude": true,
}

// GitDoor opens the door; Close it after use.
func (w *Workspace) GitDoor() (*GitDoor, error) {
	root, err := os.OpenRoot(w.ProcDir())
	if err != nil {
		return nil, fault("open", err)
	}
	return &GitDoor{ws: w, root: root}, nil
}

// Close closes the door.
func (g *GitDoor) Close() error { return g.root.Close() }

// Stat tells what rel (relative to the root) is and which user owns it (-1 where
// the system has no users). A link anywhere in rel is ErrOutside: git resolves
// places relative to where links lead, so a chain of links is not judged but
// refused. Other errors: fs.ErrNotExist, or one without a path.
func (g *GitDoor) Stat(rel string) (Info, int, error) {
	rel = path.Clean(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") || path.IsAbs(rel) {
		return Info{}, -1, ErrOutside
	}
	info := Info{Path: rel}
	uid := -1
	for i := 0; i <= len(rel); i++ {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		st, err := g.root.Lstat(filepath.FromSlash(rel[:i]))
		if err != nil {
			return Info{}, -1, gitError(err)
		}
		switch mode := st.Mode(); {
		case mode&fs.ModeSymlink != 0:
			return Info{}, -1, ErrOutside
		case mode.IsRegular():
			info.Kind = KindFile
		case mode.IsDir():
			info.Kind = KindDirectory
		default:
			info.Kind = KindOther
		}
		info.Size, info.ModTime = st.Size(), st.ModTime()
		info.Dev, info.Ino, uid = owner(st)
	}
	return info, uid, nil
}

// Read reads a file of git's layout, at most max bytes of it. Errors as for
// Stat; a file that is longer, or no regular file, is an error too.
func (g *GitDoor) Read(rel string, max int) ([]byte, error) {
	if !gitFiles[path.Base(rel)] {
		return nil, fs.ErrPermission
	}
	info, _, err := g.Stat(rel)
	if err != nil {
		return nil, err
	}
	if info.Kind != KindFile {
		return nil, errSpecial
	}
	f, err := g.root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, gitError(err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, errChanged
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err != nil {
		return nil, fault("read", err)
	}
	if len(b) > max {
		return nil, errTooLong
	}
	return b, nil
}

// Beneath gives the relative form of an absolute name that begins with the
// root, in either spelling. The name is not looked up.
func (g *GitDoor) Beneath(abs string) (rel string, ok bool) {
	abs = filepath.Clean(abs)
	if rest, ok := g.ws.stripRoot(filepath.ToSlash(abs)); ok {
		if rest = strings.Trim(rest, "/"); rest == "" {
			rest = "."
		}
		return rest, true
	}
	return "", false
}

// gitError reduces an error of os.Root to what may be told.
func gitError(err error) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return fault("open", err)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case pe.Err.Error() == "path escapes from parent":
		return ErrOutside
	case errors.Is(err, fs.ErrPermission):
		return fs.ErrPermission
	}
	return fault("open", pe.Err)
}

// LinkText reads the text of the link name in this folder, as it is on disk;
// where it leads is not looked at. It is for comparing links that a repository
// tracks, never for following them.
func (d *Dir) LinkText(name string) (string, error) {
	if err := d.check(name); err != nil {
		return "", err
	}
	text, err := d.readLink(name)
	if err != nil {
		return "", d.refuse(name, err)
	}
	return text, nil
}
