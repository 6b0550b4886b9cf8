package sandbox

import (
	"bytes"
	"slices"
	"strings"
)

// denied matches a path, component by component, against every rule.
func (s *denySet) denied(rel string) (string, bool) {
	start := 0
	for i := 0; i <= len(rel); i++ {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		if seg := rel[start:i]; seg != "" && seg != "." {
			if rule, no := s.last(rel[:start], seg, false); no {
				return rule, true
			}
		}
		start = i + 1
	}
	return "", false
}

var (
	slash  = []byte{'/'}
	sharpS = []byte("ß")
)

// last matches the component name of the folder parent (which may end in a
// slash); nothing above it is looked at. folded says that parent is folded
// already.
func (s *denySet) last(parent, name string, folded bool) (string, bool) {
	var buf foldBuf
	b, plain := foldSegment(name, &buf)
	if len(b) == 0 {
		return "", false
	}
	if !plain && bytes.Contains(b, sharpS) {
		// Some file systems fold in full: there ".ßh" opens ".ssh". Others do not.
		if rule, no := s.last(parent, string(bytes.ReplaceAll(b, sharpS, []byte("ss"))), folded); no {
			return rule, no
		}
	}
	if plain || bytes.IndexByte(b, '/') < 0 {
		return s.lastFolded(parent, b, folded)
	}
	for more := true; more; { // bytes.SplitSeq would move buf to the heap
		var part []byte
		part, b, more = bytes.Cut(b, slash)
		if part = trimTail(part); len(part) > 0 {
			if rule, no := s.lastFolded(parent, part, folded); no {
				return rule, no
			}
		}
	}
	return "", false
}

func (s *denySet) lastFolded(parent string, b []byte, folded bool) (string, bool) {
	if i := s.match(b); i >= 0 {
		return s.rules[i].text, true
	}
	first := decorated(b, 0)
	for at := first; at >= 0; at = decorated(b, at+1) {
		if cut := trimTail(b[:at]); len(cut) > 0 {
			if i := s.match(cut); i >= 0 {
				return s.rules[i].text, true
			}
		}
	}
	lists := [2][]int32{s.ends[string(b)], s.wild}
	if first >= 0 || bytes.IndexByte(b, '~') > 0 { // it may stand for another name
		lists = [2][]int32{s.paths}
	}
	for _, list := range lists {
		for _, i := range list {
			r := &s.rules[i]
			if !r.matchSeg(len(r.segs)-1, b) {
				continue
			}
			if !folded {
				parent, folded = foldPath(strings.TrimSuffix(parent, "/")), true
			}
			if r.matchParents(parent) {
				return r.text, true
			}
		}
	}
	return "", false
}

// match finds the rule of one component that b falls under, or -1.
func (s *denySet) match(b []byte) int32 {
	if i, ok := s.exact[string(b)]; ok {
		return i
	}
	for j := len(b) - 1; j >= 0; j-- {
		if b[j] == '.' {
			if i, ok := s.ext[string(b[j:])]; ok {
				return i
			}
			break
		}
	}
	for _, i := range s.globs[b[0]] {
		if r := &s.rules[i]; globMatch(r.segs[0], b) && !r.excepts(b) {
			return i
		}
	}
	for _, i := range s.loose {
		if r := &s.rules[i]; bytes.Contains(b, r.need) && globMatch(r.segs[0], b) && !r.excepts(b) {
			return i
		}
	}
	if bytes.IndexByte(b, '~') > 0 {
		return s.matchShort(b)
	}
	return -1
}

// matchShort finds a rule whose long names may have the 8.3 name b.
func (s *denySet) matchShort(b []byte) int32 {
	stem, ext, ok := shortName(b)
	if !ok {
		return -1
	}
	for _, i := range s.stems[string(stem)] {
		if r := &s.rules[i]; len(r.segs) == 1 && !r.anchored && r.shortExt(ext) && !r.excepts(b) {
			return i
		}
	}
	if is := s.sexts[string(ext)]; len(is) > 0 {
		return is[0]
	}
	return -1
}

func (r *rule) shortExt(ext []byte) bool { return r.ext == "*" || string(ext) == r.ext }

func (r *rule) excepts(b []byte) bool {
	for _, e := range r.except {
		if globMatch(e, b) {
			return true
		}
	}
	return false
}

// matchSeg matches a component against the pattern at i, in its long, stream
// and short forms.
func (r *rule) matchSeg(i int, b []byte) bool {
	p := r.segs[i]
	if globMatch(p, b) {
		return true
	}
	for at := decorated(b, 0); at >= 0; at = decorated(b, at+1) {
		if globMatch(p, trimTail(b[:at])) {
			return true
		}
	}
	if bytes.IndexByte(b, '~') <= 0 || hasMeta(p) {
		return false
	}
	stem, ext, ok := shortName(b)
	if !ok {
		return false
	}
	ps, pe := shortStem(p)
	return string(stem) == ps && string(ext) == pe
}

// matchParents matches all patterns but the last against the folded folder.
func (r *rule) matchParents(parent string) bool {
	var have []string
	if parent != "" && parent != "." {
		have = strings.Split(parent, "/")
	}
	want := r.segs[:len(r.segs)-1]
	if r.anchored {
		return r.segsMatch(want, have)
	}
	// Unanchored: the patterns end where the folder ends.
	if !slices.Contains(want, "**") {
		if len(have) < len(want) {
			return false
		}
		return r.segsMatch(want, have[len(have)-len(want):])
	}
	for i := 0; i <= len(have); i++ {
		if r.segsMatch(want, have[i:]) {
			return true
		}
	}
	return false
}

// segsMatch matches components against patterns with "**", in
// O(patterns × components).
func (r *rule) segsMatch(want, have []string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(have) {
		switch {
		case i < len(want) && want[i] == "**":
			star, mark = i, j
			i++
		case i < len(want) && r.matchSeg(i, []byte(have[j])):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(want) && want[i] == "**" {
		i++
	}
	return i == len(want)
}

// globMatch matches one component against *, ?, [a-z], [!a] and \x in
// O(pattern × name).
func globMatch(p string, b []byte) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(b) {
		if i < len(p) {
			switch c := p[i]; {
			case c == '*':
				star, mark = i, j
				i++
				continue
			case c == '?':
				i++
				j += runeLen(b[j:])
				continue
			case c == '[':
				if end := classEnd(p, i); end > 0 {
					if ok, n := classMatch(p[i+1:end], b[j:]); ok {
						i = end + 1
						j += n
						continue
					}
				} else if b[j] == '[' {
					i++
					j++
					continue
				}
			case c == '\\' && i+1 < len(p):
				if p[i+1] == b[j] {
					i += 2
					j++
					continue
				}
			case c == b[j]:
				i++
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
