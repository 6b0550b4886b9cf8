package git

import (
	"strings"
	"time"

	"mcp-devserver/sandbox"
)

// Git opens what lies in a repository by name, again and again, and follows
// links. What was looked at when the repository was opened can be another thing a
// moment later, and back before the next look. Only the system's own note of the
// last change tells: so every folder that git opens names in is marked before it
// is looked at, and an answer counts if all marks still hold at its end.

// mark notes the state of rel and of the folders above it, up to the root. What
// does not exist is covered by the folder that it would be in.
func (r *Repo) mark(rel string) {
	for p := rel; ; {
		if m, err := r.door.Mark(p); err == nil {
			r.keep(p, m)
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			return
		}
		p = p[:i]
	}
}

// keep keeps the first mark of a place: it covers the longest time.
func (r *Repo) keep(p string, m sandbox.Mark) {
	if _, known := r.marks[p]; !known {
		r.marks[p] = m
	}
}

// Moved reports whether anything that git opened by name may have been another
// thing for a while since the repository was opened; what it said is then not to
// be used. Asking again makes sense after wait. Behind the kernel's wall it does
// not matter, and is not looked at: whatever a name leads to, git can open
// nothing outside.
func (r *Repo) Moved() (moved bool, wait time.Duration) {
	if r.outside || r.git.ws.Walled() {
		return false, 0
	}
	for p, m := range r.marks {
		wait = max(wait, m.Young())
		if now, err := r.door.Mark(p); err != nil || !m.Same(now) {
			moved = true
		}
	}
	return moved || wait > 0, max(wait, 5*time.Millisecond)
}
