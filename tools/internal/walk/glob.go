package walk

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxBraces is how deep alternatives may nest in a glob.
const maxBraces = 4

// maxGlob is the longest glob in bytes.
const maxGlob = 4096

// GlobError says where a glob could not be read.
type GlobError struct {
	Position int // character, counting from 1
	Reason   string
}

func (e *GlobError) Error() string {
	return fmt.Sprintf("glob: character %d: %s", e.Position, e.Reason)
}

// Glob matches relative, slash-separated paths. "*" and "?" stay inside one folder, "**" crosses folders ("**/" is
// also nothing at all), "[abc]", "[a-z]", "[!a]" and "[[:alpha:]]" are one character, "{a,b}" is either and may nest
// four deep, "\" takes the next character as it is. A glob without "/" is compared with base names at any depth; one
// with "/" is compared with the whole path. A leading "/" or "./" is dropped (the glob counts as one with "/"), and a
// trailing "/" means everything below that folder. Letters are compared as they are, and hidden names are ordinary.
//
// A Glob may be used by several goroutines. A match costs O(pattern × name) and never backtracks; alternatives are
// never expanded.
type Glob struct {
	prog   prog
	base   bool   // compare base names only
	suffix string // the whole glob is "*" followed by this; prog is not needed
	lead   string // the text before the first special character
}

// ParseGlob reads s. The error is a *GlobError.
func ParseGlob(s string) (*Glob, error) {
	if s == "" {
		return nil, &GlobError{1, "empty"}
	}
	if len(s) > maxGlob {
		return nil, &GlobError{utf8.RuneCountInString(s[:maxGlob]), "too long"}
	}
	p := globParser{src: []rune(s)}
	// An invalid byte becomes U+FFFD in the conversion and is given back its own identity here.
	for i, k := 0, 0; i < len(s); k++ {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			p.src[k] = invalid | rune(s[i])
		}
		i += size
	}
	switch {
	case strings.HasPrefix(s, "./"):
		p.at, p.slash = 2, true
	case s[0] == '/':
		p.at, p.slash = 1, true
	}
	if p.at == len(p.src) {
		return nil, &GlobError{len(p.src), "nothing after the leading \"/\""}
	}
	if err := p.sequence(0); err != nil {
		return nil, err
	}
	if p.src[len(p.src)-1] == '/' && p.nodes[len(p.nodes)-1].op == opChar {
		// "dir/" is everything below dir.
		p.emit(node{op: opDeep})
	}
	p.emit(node{op: opEnd})
	g := &Glob{prog: prog{nodes: p.nodes, runes: true}, base: !p.slash}
	g.lead = strings.TrimPrefix(strings.TrimPrefix(s, "./"), "/")
	if i := strings.IndexAny(g.lead, `*?[{\`); i >= 0 {
		g.lead = g.lead[:i]
	}
	if g.base && len(p.nodes) > 2 && p.nodes[0].op == opStar && utf8.ValidString(s) {
		plain := true
		for _, n := range p.nodes[1 : len(p.nodes)-1] {
			plain = plain && n.op == opChar
		}
		if plain && !strings.ContainsRune(s, '\\') {
			g.suffix = s[1:]
		}
	}
	return g, nil
}

// Match reports whether the glob matches the path rel (without a trailing "/").
func (g *Glob) Match(rel string) bool {
	if g.base {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
		if g.suffix != "" {
			return strings.HasSuffix(rel, g.suffix)
		}
	}
	return g.prog.match(rel)
}

// MatchBelow reports whether the glob matches path, a path from the workspace root, for a search that started in the
// folder start ("." is the root). Globs are meant relative to start; one that begins with start itself, letter by
// letter, was written from the root and is accepted too.
func (g *Glob) MatchBelow(start, path string) bool {
	if g.base || start == "." || start == "" {
		return g.Match(path)
	}
	rest, below := strings.CutPrefix(path, start)
	if below && len(rest) > 1 && rest[0] == '/' && g.prog.match(rest[1:]) {
		return true
	}
	lead, fromRoot := strings.CutPrefix(g.lead, start)
	return fromRoot && lead != "" && lead[0] == '/' && g.prog.match(path)
}

type globParser struct {
	src   []rune
	at    int
	slash bool
	nodes []node
}

func (p *globParser) emit(n node) int {
	p.nodes = append(p.nodes, n)
	return len(p.nodes) - 1
}

func (p *globParser) fail(at int, reason string) error { return &GlobError{at + 1, reason} }

// sequence reads up to the end, or inside braces up to the "," or "}" that ends this alternative.
func (p *globParser) sequence(depth int) error {
	for p.at < len(p.src) {
		c := p.src[p.at]
		switch c {
		case ',', '}':
			if depth > 0 {
				return nil
			}
			p.emit(node{op: opChar, c: c})
			p.at++
		case '{':
			if depth == maxBraces {
				return p.fail(p.at, "braces nest too deep")
			}
			if err := p.braces(depth + 1); err != nil {
				return err
			}
		case '[':
			if err := p.bracket(); err != nil {
				return err
			}
		case '?':
			p.emit(node{op: opOne})
			p.at++
		case '*':
			p.stars()
		case '\\':
			if p.at+1 == len(p.src) {
				return p.fail(p.at, "nothing after \"\\\"")
			}
			c = p.src[p.at+1]
			p.slash = p.slash || c == '/'
			p.emit(node{op: opChar, c: c})
			p.at += 2
		default:
			p.slash = p.slash || c == '/'
			p.emit(node{op: opChar, c: c})
			p.at++
		}
	}
	return nil
}

// braces reads {a,b}: split(alternative, split(alternative, ...)), each but the last ending in a jump behind the "}".
func (p *globParser) braces(depth int) error {
	open := p.at
	p.at++
	var jumps []int
	for {
		split := p.emit(node{op: opSplit})
		if err := p.sequence(depth); err != nil {
			return err
		}
		if p.at == len(p.src) {
			return p.fail(open, "\"{\" is not closed")
		}
		last := p.src[p.at] == '}'
		p.at++
		if last {
			// The last alternative has no other: its split is an edge to itself.
			p.nodes[split].alt = int32(split + 1)
			for _, j := range jumps {
				p.nodes[j].alt = int32(len(p.nodes))
			}
			return nil
		}
		jumps = append(jumps, p.emit(node{op: opJump}))
		p.nodes[split].alt = int32(len(p.nodes))
	}
}

func (p *globParser) stars() {
	begin := p.at
	for p.at < len(p.src) && p.src[p.at] == '*' {
		p.at++
	}
	if p.at-begin == 1 {
		p.emit(node{op: opStar})
		return
	}
	starts := begin == 0 || strings.ContainsRune("/{,", p.src[begin-1])
	if starts && p.at < len(p.src) && p.src[p.at] == '/' {
		// "**/" is nothing, or anything that ends in "/".
		p.slash = true
		split := p.emit(node{op: opSplit})
		p.emit(node{op: opDeep})
		p.emit(node{op: opChar, c: '/'})
		p.nodes[split].alt = int32(len(p.nodes))
		p.at++
		return
	}
	p.emit(node{op: opDeep})
}

func (p *globParser) bracket() error {
	open := p.at
	k := &class{}
	p.at++
	if p.at < len(p.src) && (p.src[p.at] == '!' || p.src[p.at] == '^') {
		k.negated = true
		p.at++
	}
	for first := true; ; first = false {
		if p.at >= len(p.src) {
			return p.fail(open, "\"[\" is not closed")
		}
		c := p.src[p.at]
		if c == ']' && !first {
			p.at++
			break
		}
		if c == '[' && p.at+1 < len(p.src) && p.src[p.at+1] == ':' {
			end := p.at + 2
			for end < len(p.src) && p.src[end] != ']' {
				end++
			}
			if end < len(p.src) && p.src[end-1] == ':' && end-1 >= p.at+2 {
				ranges, ok := posix(string(p.src[p.at+2 : end-1]))
				if !ok {
					return p.fail(p.at, "unknown class")
				}
				k.ranges = append(k.ranges, ranges...)
				p.at = end + 1
				continue
			}
		}
		lo, err := p.member()
		if err != nil {
			return err
		}
		hi := lo
		if p.at+1 < len(p.src) && p.src[p.at] == '-' && p.src[p.at+1] != ']' {
			at := p.at
			p.at++
			if hi, err = p.member(); err != nil {
				return err
			}
			if hi < lo {
				return p.fail(at-1, "the range runs backwards")
			}
		}
		k.ranges = append(k.ranges, span{lo, hi})
	}
	p.emit(node{op: opClass, class: k})
	return nil
}

// member reads one character inside brackets.
func (p *globParser) member() (rune, error) {
	c := p.src[p.at]
	if c == '\\' {
		p.at++
		if p.at == len(p.src) {
			return 0, p.fail(p.at-1, "nothing after \"\\\"")
		}
		c = p.src[p.at]
	}
	p.at++
	return c, nil
}
