package sandbox

import (
	"path"
	"runtime"
	"strings"
	"unicode/utf8"
)

// query is a caller's path on its way through the door.
type query struct {
	written string   // as the caller wrote it
	parts   []string // components below the root, without "" and "."
	clean   string   // parts with ".." folded as text; "." is the root
	dots    bool     // parts hold ".."
	mustDir bool     // the path ends in a slash or a dot
	missing bool     // the path need not exist
}

const maxComponent = 255 // bytes; longer names exist on no common file system

// parse reads a caller's path. It issues no system call. What is malformed,
// leaves the workspace as text, or is withheld as text is refused here.
func (w *Workspace) parse(written string) (query, error) {
	q := query{written: written}
	if written == "" {
		q.written = "."
	}
	if len(written) > w.maxPath || !wellFormed(written) {
		return q, w.Refuse(InvalidPath, nil)
	}
	p := written
	if rest, ok := cutPrefixFold(p, "file://"); ok {
		decoded, ok, outside := decodeURI(rest)
		if outside {
			return q, w.outside(&q)
		}
		if !ok || !wellFormed(decoded) {
			return q, w.Refuse(InvalidPath, nil)
		}
		p = decoded
	}
	if runtime.GOOS == "windows" {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if isAbsolute(p) {
		rest, ok := w.stripRoot(p)
		if !ok {
			return q, w.outside(&q)
		}
		p = rest
	}
	depth := 0
	q.parts = make([]string, 0, strings.Count(p, "/")+1)
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
			continue
		case "..":
			if depth--; depth < 0 {
				return q, w.outside(&q)
			}
			q.dots = true
		default:
			if len(part) > maxComponent {
				return q, w.Refuse(InvalidPath, nil)
			}
			depth++
		}
		q.parts = append(q.parts, part)
	}
	q.mustDir = strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..")
	q.clean = strings.Join(q.parts, "/")
	if q.dots {
		// A folder that is left again counts as well: whether it may be walked
		// through must not depend on whether it exists.
		seen := ""
		for _, part := range q.parts {
			if part == ".." {
				seen = path.Dir(seen)
				continue
			}
			seen = path.Join(seen, part)
			if rule, no := w.deny.denied(seen); no {
				return q, w.denied(&q, rule)
			}
		}
		q.clean = seen
	} else if rule, no := w.deny.denied(q.clean); no {
		return q, w.denied(&q, rule)
	}
	if q.clean == "" {
		q.clean = "."
	}
	return q, nil
}

// wellFormed reports UTF-8 without control characters.
func wellFormed(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == 0x7f {
			return false
		} else if c >= utf8.RuneSelf {
			for _, r := range s[i:] {
				if r < 0x20 || r >= 0x7f && r <= 0x9f {
					return false
				}
			}
			return utf8.ValidString(s[i:])
		}
	}
	return true
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// decodeURI takes what follows "file://" apart and undoes one layer of percent
// encoding. Only the local host is known; another one is outside.
func decodeURI(rest string) (path string, ok, outside bool) {
	host, p, found := strings.Cut(rest, "/")
	if !found || (host != "" && !strings.EqualFold(host, "localhost")) {
		return "", false, true
	}
	p = "/" + p
	if runtime.GOOS == "windows" && len(p) > 2 && p[2] == ':' {
		p = p[1:]
	}
	if strings.IndexByte(p, '%') < 0 {
		return p, true, false
	}
	b := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] != '%' {
			b = append(b, p[i])
			continue
		}
		if i+2 >= len(p) {
			return "", false, false
		}
		hi, lo := unhex(p[i+1]), unhex(p[i+2])
		if hi > 15 || lo > 15 {
			return "", false, false
		}
		b = append(b, hi<<4|lo)
		i += 2
	}
	return string(b), true, false
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// isAbsolute knows absolute paths of any system: a drive letter or a UNC name
// never lies inside a workspace by accident ("./C:\x" names such a file).
func isAbsolute(p string) bool {
	if p == "" {
		return false
	}
	return p[0] == '/' || strings.HasPrefix(p, `\\`) || hasDrive(p)
}

func hasDrive(p string) bool {
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') &&
		(p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// stripRoot takes a spelling of the root, component by component, off an
// absolute path.
func (w *Workspace) stripRoot(p string) (rest string, ok bool) {
	for _, root := range w.roots {
		if rest, ok := stripParts(p, root); ok {
			return rest, true
		}
	}
	return "", false
}

func stripParts(p string, root []string) (string, bool) {
	for _, want := range root {
		var part string
		for {
			p = strings.TrimLeft(p, "/")
			part, _, _ = strings.Cut(p, "/")
			if part != "." {
				break
			}
			p = p[1:]
		}
		if !sameRootPart(part, want) {
			return "", false
		}
		p = p[len(part):]
	}
	return p, true
}

// trimPath drops what only says "folder" from the end of a path.
func trimPath(p string) string {
	for {
		switch {
		case len(p) > 1 && strings.HasSuffix(p, "/"):
			p = p[:len(p)-1]
		case len(p) > 2 && strings.HasSuffix(p, "/."):
			p = p[:len(p)-2]
		default:
			return p
		}
	}
}

func (w *Workspace) outside(q *query) *Denial {
	a := Args{"path": q.written}
	if h := w.hint(q, OutsideWorkspace); h != "" {
		a["hint"] = h
	}
	return w.Refuse(OutsideWorkspace, a)
}

func (w *Workspace) denied(q *query, rule string) *Denial {
	return w.Refuse(DeniedPath, Args{"path": q.written, "rule": rule})
}
