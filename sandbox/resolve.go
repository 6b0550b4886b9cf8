package sandbox

import (
	"errors"
	"io/fs"
	"path"
	"runtime"
	"strings"
)

// Inner outcomes of resolving; explain turns them into denials.
var (
	errOutside  = errors.New("resolves outside the workspace")
	errNotExist = errors.New("does not exist")
	errNoAccess = errors.New("may not be opened")
	errTooLong  = errors.New("name too long")
	errSpecial  = errors.New("special file")
	errNotDir   = errors.New("not a directory")
	errChanged  = errors.New("changed between check and opening")
	errLink     = errors.New("is a link")
)

// deniedError carries the rule that withheld a resolved path.
type deniedError struct{ rule string }

func (e *deniedError) Error() string { return "withheld by " + e.rule }

const maxLinks = 40

// resolve finds what q names: every link is read and followed here, in the
// manner of the kernel but never past the root. Names are looked up one
// component at a time in a folder that is held open, the folders from the root
// down are kept in a stack and ".." goes back in that stack, so no system call
// is ever given a name that could lead outside. Each name passes the denylist
// before it is looked up.
func (w *Workspace) resolve(q *query) (meta, error) {
	if !w.fallback && !q.dots {
		// Most paths hold no link: one call that refuses links tells.
		m, err := w.root.lookupPlain(q.clean)
		switch {
		case err == nil && m.Kind != KindSymlink:
			return m, nil
		case errors.Is(err, errNoAccess), errors.Is(err, errTooLong):
			return m, err
		case errors.Is(err, errNotExist) && !q.missing:
			return m, err
		}
	}
	return w.resolveParts(q.parts, q.missing)
}

func (w *Workspace) resolveParts(parts []string, missing bool) (meta, error) {
	s := stack{w: w}
	defer s.closeAll()
	pending := append(make([]string, 0, len(parts)+8), parts...)
	reverse(pending) // next component last
	links := 0
	cur := w.ident
	cur.Path = "."
	leaf := false // cur is no folder
	gone := false // cur does not exist; only text remains
	for len(pending) > 0 {
		name := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if name == ".." {
			switch {
			case gone || leaf && missing:
				// What is gone lies below the top of the stack.
				if cur.Path = path.Dir(cur.Path); cur.Path == s.meta().Path {
					gone, leaf, cur = false, false, s.meta()
				}
				continue
			case leaf:
				return meta{}, errNotExist
			case len(s.levels) == 0:
				return meta{}, errOutside
			}
			s.pop()
			cur = s.meta()
			continue
		}
		if name == trailingSlash {
			if leaf && !missing {
				return meta{}, errNotExist
			}
			continue
		}
		if rule, no := w.deny.last(foldDir(cur.Path), name, false); no {
			return meta{}, &deniedError{rule}
		}
		next := join(cur.Path, name)
		if gone || leaf {
			if !missing {
				return meta{}, errNotExist
			}
			gone, leaf = true, false
			cur = meta{Info: Info{Path: next}}
			continue
		}
		m, child, target, err := s.top().step(name)
		switch {
		case err != nil && missing && errors.Is(err, errNotExist):
			gone = true
			cur = meta{Info: Info{Path: next}}
			continue
		case err != nil:
			return meta{}, err
		}
		m.Path = next
		switch m.Kind {
		case KindSymlink:
			if links++; links > maxLinks {
				return meta{}, errNotExist
			}
			if target == "" {
				return meta{}, errNotExist
			}
			if absoluteTarget(target) {
				rest, ok := w.stripRoot(target)
				if !ok {
					return meta{}, errOutside
				}
				target = rest
				s.closeAll()
				cur = s.meta()
			}
			pending = pushTarget(pending, target)
		case KindDirectory:
			s.push(child, m)
			cur = m
		default:
			leaf = true
			cur = m
		}
	}
	return cur, nil
}

// absoluteTarget reports a link target that does not start where the link is.
func absoluteTarget(target string) bool {
	return target[0] == '/' || runtime.GOOS == "windows" && (isAbsolute(target) || len(target) > 1 && target[1] == ':')
}

// trailingSlash stands for the demand that what came before is a folder.
const trailingSlash = "/"

func pushTarget(pending []string, target string) []string {
	at := len(pending)
	for part := range strings.SplitSeq(target, "/") {
		if part != "" && part != "." {
			pending = append(pending, part)
		}
	}
	if strings.HasSuffix(target, "/") || strings.HasSuffix(target, "/.") {
		pending = append(pending, trailingSlash)
	}
	reverse(pending[at:])
	return pending
}

func reverse(s []string) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

func join(dir, name string) string {
	if dir == "." || dir == "" {
		return name
	}
	return dir + "/" + name
}

func foldDir(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

// stack holds the folders between the root and where resolving stands.
type stack struct {
	w      *Workspace
	levels []level
}

type level struct {
	dir  handle
	meta meta
}

func (s *stack) top() handle {
	if n := len(s.levels); n > 0 {
		return s.levels[n-1].dir
	}
	return s.w.root
}

func (s *stack) meta() meta {
	if n := len(s.levels); n > 0 {
		return s.levels[n-1].meta
	}
	m := s.w.ident
	m.Path = "."
	return m
}

func (s *stack) push(h handle, m meta) { s.levels = append(s.levels, level{h, m}) }

func (s *stack) pop() {
	n := len(s.levels) - 1
	s.levels[n].dir.close()
	s.levels = s.levels[:n]
}

func (s *stack) closeAll() {
	for len(s.levels) > 0 {
		s.pop()
	}
}

// raced reports errors that mean: what was checked is no longer there.
func raced(err error) bool {
	return errors.Is(err, errChanged) || errors.Is(err, errNotExist) || errors.Is(err, errLink) ||
		errors.Is(err, errNotDir) || errors.Is(err, fs.ErrNotExist)
}

// explain turns an inner outcome into a denial. Anything unknown is a fault
// and is returned as it is.
func (w *Workspace) explain(q *query, err error) error {
	var de *deniedError
	switch {
	case errors.As(err, &de):
		return w.denied(q, de.rule)
	case errors.Is(err, errOutside):
		return w.outside(q)
	case errors.Is(err, errNotExist), errors.Is(err, errNotDir), errors.Is(err, errLink), errors.Is(err, errChanged):
		return w.notFound(q)
	case errors.Is(err, errNoAccess):
		return w.Refuse(Unreadable, Args{"path": q.written})
	case errors.Is(err, errTooLong):
		return w.Refuse(InvalidPath, nil)
	case errors.Is(err, errSpecial):
		return w.Refuse(SpecialFile, Args{"path": q.written, "kind": "device"})
	}
	return err
}
