package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// GitDoor looks at the few files of git's own layout that tell where a
// repository keeps its data. The denylist withholds .git from every tool; this
// door is the one exception, and it is narrow: Read opens only the names in
// gitFiles, Symref tells only the name of a ref and Flags only what a
// configuration switches on or off, and no link is followed.
type GitDoor struct {
	ws *Workspace
	at string // the folder that Look last looked into
	in *Dir   // open; nil when it could not be opened
	no error  // why not
}

// ErrOutside says that a name leads out of the root, or through a link.
var ErrOutside = errors.New("leads outside the workspace")

// gitFiles are the base names that Read opens.
var gitFiles = map[string]bool{
	".git": true, "HEAD": true, "commondir": true, "gitdir": true, "alternates": true, "attributes": true, "exclude": true,
	"shallow": true, "index": true,
}

// GitDoor opens the door; Close it after use.
func (w *Workspace) GitDoor() (*GitDoor, error) { return &GitDoor{ws: w}, nil }

// Close closes the door.
func (g *GitDoor) Close() error {
	if g.in == nil {
		return nil
	}
	in := g.in
	g.in, g.at = nil, ""
	return in.Close()
}

// Stat tells what rel (relative to the root) is and which user owns it (-1 where
// the system has no users). A link anywhere in rel is ErrOutside: git resolves
// places relative to where links lead, so a chain of links is not judged but
// refused. Other errors: fs.ErrNotExist, fs.ErrPermission, or one without a
// path.
func (g *GitDoor) Stat(rel string) (Info, int, error) {
	m, err := g.lookup(rel)
	if err != nil {
		return Info{}, -1, gitError(err)
	}
	return m.Info, m.uid, nil
}

// lookup is resolving without links, and without the denylist.
func (g *GitDoor) lookup(rel string) (meta, error) {
	rel = path.Clean(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") || path.IsAbs(rel) {
		return meta{}, errOutside
	}
	w := g.ws
	if !w.fallback {
		m, err := w.root.lookupPlain(rel)
		if err == nil && m.Kind == KindSymlink {
			err = errLink
		}
		return m, err
	}
	s := stack{w: w}
	defer s.closeAll()
	m := s.meta()
	if rel == "." {
		return w.root.self()
	}
	for name := range strings.SplitSeq(rel, "/") {
		if m.Kind != KindDirectory {
			return meta{}, errNotDir
		}
		next, child, _, err := s.top().step(name)
		if err != nil {
			return meta{}, err
		}
		next.Path = join(m.Path, name)
		switch next.Kind {
		case KindSymlink:
			return meta{}, errLink
		case KindDirectory:
			s.push(child, next)
		}
		m = next
	}
	return m, nil
}

// Entries lists a folder of git's layout: what each name is, links not followed.
// The mark was taken before the list. Errors as for Stat.
func (g *GitDoor) Entries(rel string) ([]Entry, Mark, error) {
	d, err := g.folder(rel)
	if err != nil {
		return nil, Mark{}, err
	}
	defer d.Close()
	entries, _, err := d.Entries(0)
	return entries, d.mark, err
}

// Mark tells one state of a folder or a file from every later one. The system
// notes when a folder's names change, when a file is written to and when either
// is renamed, and no program can set that time.
type Mark struct {
	dev, ino uint64
	changed  time.Time
	looked   time.Time // just before
}

// Mark takes the mark of rel. Errors as for Stat.
func (g *GitDoor) Mark(rel string) (Mark, error) {
	looked := time.Now()
	m, err := g.lookup(rel)
	if err != nil {
		return Mark{}, gitError(err)
	}
	k := m.mark()
	k.looked = looked
	return k, nil
}

// mark leaves it to the caller to say since when it has looked.
func (m *meta) mark() Mark {
	k := Mark{dev: m.Dev, ino: m.Ino, changed: m.changed}
	if k.changed.IsZero() {
		k.changed = m.ModTime // the nearest thing that this system has
	}
	return k
}

// Same reports whether k and a later mark o are of the same state.
func (k Mark) Same(o Mark) bool {
	return k.dev == o.dev && k.ino == o.ino && k.changed.Equal(o.changed)
}

// Young is how much longer k can be of two states: a change right after it was
// taken may have got the same time, until the system's clock of files has moved
// on. Zero means that it is of one.
func (k Mark) Young() time.Duration {
	grain := 25 * time.Millisecond
	if k.changed.Nanosecond() == 0 {
		grain = 2100 * time.Millisecond // a file system that keeps whole seconds, or every other
	}
	if age := k.looked.Sub(k.changed); age >= 0 && age < grain {
		return grain - age
	}
	return 0
}

// Look is what the system says of a name, links not followed.
type Look struct {
	Kind     Kind
	Perm     uint32 // permission bits
	Size     int64  // bytes
	Ino      uint64 // 0 where the system has none
	Modified time.Time
	Changed  time.Time // zero where the system does not tell
}

// Look tells what a name of the work tree is, for comparing with what the index
// remembers of it. Folders are opened on the way, and nothing else; no link is
// followed; no rule of the denylist applies, for git tells of every name whether
// it differs. Errors as for Stat. It is quick for names of one folder in a row,
// and not safe for concurrent use.
func (g *GitDoor) Look(rel string) (Look, error) {
	dir, name := path.Split(rel)
	if dir = path.Clean(dir); path.Join(dir, name) != rel || !singleName(name) {
		return Look{}, ErrOutside // not a name that git could have written
	}
	if dir != g.at {
		_ = g.Close()
		g.at = dir
		g.in, g.no = g.folder(dir)
	}
	if g.in == nil {
		return Look{}, g.no
	}
	m, err := g.in.lstat(name)
	if err != nil {
		return Look{}, gitError(err)
	}
	return Look{Kind: m.Kind, Perm: m.perm, Size: m.Size, Ino: m.Ino, Modified: m.ModTime, Changed: m.changed}, nil
}

// folder opens a folder that no link leads to.
func (g *GitDoor) folder(rel string) (*Dir, error) {
	m, err := g.lookup(rel)
	switch {
	case err != nil:
		return nil, gitError(err)
	case m.Kind != KindDirectory:
		return nil, fs.ErrNotExist
	}
	looked := time.Now()
	d, err := g.ws.openDirBeneath(&m)
	if err != nil {
		return nil, gitError(err)
	}
	d.mark.looked = looked
	return d, nil
}

// Blocks reports whether opening rel might wait for another process, or have an
// effect: a pipe or a device.
func (g *GitDoor) Blocks(rel string) bool {
	m, err := g.lookup(rel)
	return err == nil && m.Kind == KindOther && m.special != "socket"
}

// maxSymref is how much of a ref file is read for the name of another ref.
const maxSymref = 4096

// Endless is what a ref file leads to that is longer than any that git writes:
// blanks may stand before the name, as many as one likes, and git reads them all.
// It is the name of no ref.
const Endless = ".."

// Symref gives what the ref file rel points to, or "" when it holds anything but
// the name of another ref.
func (g *GitDoor) Symref(rel string) string {
	m, err := g.lookup(rel)
	if err != nil || m.Kind != KindFile {
		return ""
	}
	f, err := g.ws.openFileBeneath(&m)
	if err != nil {
		return ""
	}
	defer f.Close()
	to, _ := symref(f)
	return to
}

func symref(f *File) (string, error) {
	var buf [maxSymref]byte
	n, err := f.ReadAt(buf[:], 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	to, ok := strings.CutPrefix(string(buf[:n]), "ref:")
	switch {
	case !ok:
		return "", nil
	case n == len(buf):
		return Endless, nil
	}
	to, _, _ = strings.Cut(strings.TrimLeft(to, " \t\r\n\v\f"), "\n")
	return strings.TrimSpace(to), nil
}

// Symrefs gives, of the files names in the folder rel, what those point to that
// hold the name of another ref; order is kept. Errors as for Stat; a file that has
// gone is passed over.
func (g *GitDoor) Symrefs(rel string, names []string) (targets []string, err error) {
	d, err := g.folder(rel)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for _, name := range names {
		if !singleName(name) {
			continue
		}
		f, err := d.openRegular(name)
		switch err {
		case nil:
		case errNotExist, errChanged:
			continue
		default:
			return nil, gitError(err)
		}
		to, err := symref(f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		if to != "" {
			targets = append(targets, to)
		}
	}
	return targets, nil
}

// Read reads a file of git's layout, at most max bytes of it. Errors as for
// Stat; a file that is longer, or no regular file, is an error too.
func (g *GitDoor) Read(rel string, max int) ([]byte, error) {
	if !gitFiles[path.Base(rel)] {
		return nil, fs.ErrPermission
	}
	return g.readFile(rel, max)
}

func (g *GitDoor) readFile(rel string, max int) ([]byte, error) {
	m, err := g.lookup(rel)
	if err != nil {
		return nil, gitError(err)
	}
	if m.Kind != KindFile {
		return nil, errSpecial
	}
	f, err := g.ws.openFileBeneath(&m)
	if err != nil {
		return nil, gitError(err)
	}
	defer f.Close()
	if f.Size() > int64(max) {
		return nil, errTooLong
	}
	b := make([]byte, f.Size())
	n, err := f.ReadAt(b, 0) // a file that grows is read as it was
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b[:n], nil
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

// gitError gives the outcomes of this door the names that callers know.
func gitError(err error) error {
	switch err {
	case errNotExist, errNotDir:
		return fs.ErrNotExist
	case errLink, errOutside:
		return ErrOutside
	case errNoAccess:
		return fs.ErrPermission
	}
	return err
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
