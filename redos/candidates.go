package redos

import "unsafe"

// MayMatch reports whether some line of b may match: false only when none can. It looks for literals that every match
// must hold and never runs the engine.
func (r *Regex) MayMatch(b []byte) bool {
	return r.NextCandidate(b, 0) >= 0 || len(b) == 0 && r.filter == nil
}

// NextCandidate returns the offset of a byte in the first line at or after from that may match, or -1 when no later one
// can. from must be the start of a line: after each candidate, pass the start of the line after it. A pattern without
// a required literal makes every line a candidate. The lines between from and the result cannot match. With Multiline a
// match may stand before the literal that betrays it: ask MayMatch about the whole text instead. b must be UTF-8, as the
// text given to Find; NUL bytes in place of masked text are allowed in either.
func (r *Regex) NextCandidate(b []byte, from int) int {
	if from < 0 || from >= len(b) {
		return -1
	}
	if r.filter == nil {
		return from
	}
	return r.filter.next(view(b), from)
}

// Selective reports whether NextCandidate skips lines, rather than returning each.
func (r *Regex) Selective() bool { return r.filter != nil }

// view reads bytes as a string without a copy; the string does not outlive the call that made it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
