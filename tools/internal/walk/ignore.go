package walk

import (
	"bytes"
	"strings"

	"mcp-devserver/sandbox"
)

// Limits of one ignore file; what is beyond is cut and reported.
const (
	maxIgnoreBytes = 1 << 20
	maxIgnoreRules = 10_000
)

// rule is one line of an ignore file, read exactly as git reads it.
type rule struct {
	negated bool
	dirOnly bool
	inPath  bool   // holds a "/": compared with the path below the file's folder, otherwise with base names
	literal bool   // no special characters: text is compared as it stands
	text    string // literal: the whole text; otherwise what stands before the first special character
	tail    string // base names only, "*" followed by plain text: that text, otherwise ""
	prog    prog   // what follows text
	need    string // whatever prog matches holds it
}

// rules is one ignore file.
type rules struct {
	list []rule
	// Rules of the common shapes, found by a look-up instead of by trying: positions in list, last first.
	byName table   // plain base names
	byPath table   // plain paths
	byExt  table   // "*.tab.ext", keyed by ".ext"
	other  []int32 // all the rest, last first
	cut    bool    // the file exceeded a limit
	fold   bool    // case does not count: texts and programs are in lower case, and so must names be
}

// table is a map of texts, most of what is looked up in which is not there.
type table struct {
	lists   map[string][]int32
	lengths [64]uint64 // of the keys, by their last byte
}

func (t *table) place(key string) (last, length uint8) {
	return key[len(key)-1] & 63, uint8(min(len(key), 63))
}

func (t *table) add(key string, i int32) {
	if t.lists == nil {
		t.lists = map[string][]int32{}
	}
	last, length := t.place(key)
	t.lengths[last] |= 1 << length
	t.lists[key] = append(t.lists[key], i)
}

func (t *table) of(key string) []int32 {
	if last, length := t.place(key); t.lengths[last]>>length&1 == 0 {
		return nil
	}
	return t.lists[key]
}

const specials = `*?[\`

// parseRules reads an ignore file. With fold upper and lower case are the same.
func parseRules(data []byte, fold bool) *rules {
	rs := &rules{fold: fold}
	if len(data) > maxIgnoreBytes {
		rs.cut = true
		data = data[:maxIgnoreBytes]
		data = data[:bytes.LastIndexByte(data, '\n')+1] // half a rule is another rule
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if i := bytes.IndexByte(line, 0); i >= 0 {
			line = line[:i] // git reads it as a C string
		}
		r, ok := parseRule(trimSpaces(string(line)), fold)
		if !ok {
			continue
		}
		if len(rs.list) == maxIgnoreRules {
			rs.cut = true
			break
		}
		rs.list = append(rs.list, r)
	}
	rs.index()
	return rs
}

// trimSpaces drops trailing spaces that no "\" protects.
func trimSpaces(s string) string {
	end := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end < 0 {
				end = i
			}
			continue
		case '\\':
			i++
			if i == len(s) {
				return s
			}
		}
		end = -1
	}
	if end >= 0 {
		return s[:end]
	}
	return s
}

// parseRule reads one line; ok is false when it can match nothing at all.
func parseRule(s string, fold bool) (r rule, ok bool) {
	defer func() {
		if fold {
			r.text, r.tail = sandbox.LowerASCII(r.text), sandbox.LowerASCII(r.tail)
		}
	}()
	if strings.HasPrefix(s, "!") {
		r.negated = true
		s = s[1:]
	}
	if strings.HasSuffix(s, "/") {
		r.dirOnly = true
		s = s[:len(s)-1]
	}
	r.inPath = strings.Contains(s, "/")
	if r.inPath {
		s = strings.TrimPrefix(s, "/")
	}
	if s == "" {
		return r, false
	}
	i := strings.IndexAny(s, specials)
	if i < 0 {
		r.literal, r.text = true, s
		return r, true
	}
	if !r.inPath {
		if s[0] == '*' && !strings.ContainsAny(s[1:], specials) {
			r.tail = s[1:]
			if r.tail != "" {
				return r, true
			}
		}
	}
	// Git compares the text before the first special character by itself and hands the remainder to its matcher as a
	// pattern of its own, so a "**" right behind that text counts as one at the beginning.
	r.text = s[:i]
	nodes, ok := compileWild(s[i:], r.inPath, fold)
	r.prog = prog{nodes: nodes}
	r.need = longestRun(nodes)
	return r, ok
}

// longestRun returns the longest text that stands in everything that a program matches.
func longestRun(nodes []node) (best string) {
	var run []byte
	for i := 0; i < len(nodes); i++ {
		n := &nodes[i]
		if n.op == opChar {
			run = append(run, byte(n.c))
			if len(run) > len(best) {
				best = string(run)
			}
			continue
		}
		run = run[:0]
		if n.op == opSplit {
			i = int(n.alt) - 1 // what lies between may be left out
		}
	}
	return best
}

// compileWild compiles a git wildcard pattern; ok is false when it is ill-formed, which in git means that it never
// matches. With fold the name will be in lower case; git leaves what stands behind a "\" or by itself between brackets
// as it is, so an upper-case letter there matches nothing.
func compileWild(p string, inPath, fold bool) (nodes []node, ok bool) {
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '\\':
			if i+1 == len(p) {
				return nil, false
			}
			nodes = append(nodes, node{op: opChar, c: rune(p[i+1])})
			i += 2
		case '?':
			nodes = append(nodes, node{op: opOne})
			i++
		case '*':
			begin := i
			for i < len(p) && p[i] == '*' {
				i++
			}
			whole := inPath && i-begin > 1 && (begin == 0 || p[begin-1] == '/') &&
				(i == len(p) || p[i] == '/' || strings.HasPrefix(p[i:], `\/`))
			switch {
			case !whole:
				nodes = append(nodes, node{op: opStar})
			case i < len(p) && p[i] == '/':
				nodes = append(nodes, node{op: opSplit, alt: int32(len(nodes) + 3)}, node{op: opDeep}, node{op: opChar, c: '/'})
				i++
			default:
				nodes = append(nodes, node{op: opDeep})
			}
		case '[':
			k, n := wildClass(p[i:], fold)
			if n == 0 {
				return nil, false
			}
			nodes = append(nodes, node{op: opClass, class: k})
			i += n
		default:
			if fold && c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			nodes = append(nodes, node{op: opChar, c: rune(c)})
			i++
		}
	}
	return append(nodes, node{op: opEnd}), true
}

// wildClass reads the bracket expression at the beginning of p as git's wildmatch does; n is its length, 0 when it is
// ill-formed.
func wildClass(p string, fold bool) (k *class, n int) {
	at := func(i int) byte {
		if i < len(p) {
			return p[i]
		}
		return 0
	}
	k = &class{}
	i := 1
	if at(i) == '!' || at(i) == '^' {
		k.negated = true
		i++
	}
	var prev byte
	for {
		c := at(i)
		switch {
		case c == 0:
			return nil, 0
		case c == '\\':
			i++
			if c = at(i); c == 0 {
				return nil, 0
			}
			k.ranges = append(k.ranges, span{rune(c), rune(c)})
		case c == '-' && prev != 0 && at(i+1) != 0 && at(i+1) != ']':
			i++
			if c = at(i); c == '\\' {
				i++
				if c = at(i); c == 0 {
					return nil, 0
				}
			}
			k.ranges = append(k.ranges, span{rune(prev), rune(c)}) // backwards: holds nothing
			if lo, hi := max(rune(prev), 'A'), min(rune(c), 'Z'); fold && lo <= hi {
				k.ranges = append(k.ranges, span{lo | 0x20, hi | 0x20})
			}
			c = 0
		case c == '[' && at(i+1) == ':':
			end := i + 2
			for at(end) != 0 && at(end) != ']' {
				end++
			}
			if at(end) == 0 {
				return nil, 0
			}
			if end-1 < i+2 || p[end-1] != ':' {
				k.ranges = append(k.ranges, span{'[', '['}) // no class after all: a plain "["
				break
			}
			ranges, ok := posix(p[i+2 : end-1])
			if !ok {
				return nil, 0
			}
			k.ranges = append(k.ranges, ranges...)
			if fold && p[i+2:end-1] == "upper" {
				k.ranges = append(k.ranges, span{'a', 'z'})
			}
			i, c = end, 0
		default:
			k.ranges = append(k.ranges, span{rune(c), rune(c)})
		}
		prev = c
		i++
		if at(i) == ']' {
			return k, i + 1
		}
	}
}

func (rs *rules) index() {
	for n := len(rs.list) - 1; n >= 0; n-- {
		r, i := &rs.list[n], int32(n)
		switch {
		case !r.inPath && r.literal:
			rs.byName.add(r.text, i)
		case r.literal:
			rs.byPath.add(r.text, i)
		case strings.Contains(r.tail, "."):
			ext := r.tail[strings.LastIndexByte(r.tail, '.'):]
			rs.byExt.add(ext, i)
		default:
			rs.other = append(rs.other, i)
		}
	}
}

// verdict is what ignore rules say of a path.
type verdict uint8

const (
	silent   verdict = iota // no rule matches
	ignored                 // the deciding rule excludes it
	included                // the deciding rule is a negated one
)

// decide applies the last rule that matches rel, a path below the folder of the ignore file. Each comparison that is
// more than a look-up is charged to spend (steps at most); when spend says stop, the answer is silent and means nothing.
func (rs *rules) decide(rel string, dir bool, spend func(steps int) bool) verdict {
	if len(rs.list) == 0 {
		return silent
	}
	if rs.fold {
		rel = sandbox.LowerASCII(rel)
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	best := int32(-1)
	look := func(list []int32) {
		for _, i := range list {
			if i <= best {
				return
			}
			if r := &rs.list[i]; (dir || !r.dirOnly) && strings.HasSuffix(name, r.tail) {
				best = i
				return
			}
		}
	}
	look(rs.byName.of(name))
	look(rs.byPath.of(rel))
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		look(rs.byExt.of(name[dot:]))
	}
	cost := len(rs.other) / 8
	for _, i := range rs.other {
		if i <= best {
			break
		}
		r := &rs.list[i]
		if r.dirOnly && !dir {
			continue
		}
		subject := name
		if r.inPath {
			subject = rel
		}
		if r.matches(subject, &cost) {
			best = i
			break
		}
		if cost > 1<<12 {
			if !spend(cost) {
				return silent
			}
			cost = 0
		}
	}
	spend(cost)
	switch {
	case best < 0:
		return silent
	case rs.list[best].negated:
		return included
	}
	return ignored
}

func (r *rule) matches(s string, cost *int) bool {
	if r.literal {
		return s == r.text
	}
	if r.tail != "" {
		return strings.HasSuffix(s, r.tail)
	}
	rest, ok := strings.CutPrefix(s, r.text)
	if !ok {
		return false
	}
	if len(rest) < len(r.need) || !strings.Contains(rest, r.need) {
		return false
	}
	*cost += len(rest) * len(r.prog.nodes)
	return r.prog.match(rest)
}
