package symbol

import (
	"context"
	"strings"
)

// block is a pair of braces that belongs to a definition, or to code in between.
type block struct {
	close     int32 // index of the closing token
	kind      blockKind
	container string // qualified name of what encloses its members
	name      string // simple name of the type, for constructors
	first     bool   // enum: still in the list of constants
}

type blockKind uint8

const (
	inCode  blockKind = iota // statements
	inSpace                  // top level, namespaces, modules
	inType                   // members of a class, struct or interface
	inEnum                   // constants of an enumeration, then perhaps members
)

// maxHeader bounds the tokens looked at from a definition's name to its body, and the tokens before it.
const maxHeader = 2000

// lookTokens bounds the look-aheads per token of a text. Sources that people write take two at most.
const lookTokens = 8

// rules say how definitions look in one language; detect is called at every word that is not inside a skipped part.
type rules struct {
	types    map[string]Kind // keyword → kind, followed by a name and a body
	detect   func(s *scanner, i int)
	newlines bool // a line end can end a declaration
	headless bool // preprocessor lines (C family)
	cStyle   bool // functions are NAME(…) without a keyword
}

type scanner struct {
	l      *language
	r      *rules
	src    string // original
	code   string // blanked
	toks   []tok
	match  []int32 // partner of a bracket token, or -1
	blocks map[int32]block
	stack  []block
	fuel   int // look-ahead steps left: keeps hostile text linear
	assign int // index of the last = outside brackets
	quiet  int // C++: token behind template<…>, whose = are no assignments
	member int // JavaScript: token behind a decorator, where a member begins
	stmt   int // index of the token that begins the current statement
	lines  lineIndex
	pkg    string
	out    []Symbol
	ok     bool
}

// scan finds definitions in languages with braces.
func scan(ctx context.Context, l *language, src string) ([]Symbol, bool) {
	s := &scanner{l: l, r: l.rules, src: src, code: Blank(ctx, l.name, src), lines: newLineIndex(src), assign: -1, member: -1, blocks: map[int32]block{}, ok: true}
	s.tokenize()
	s.pair()
	top := block{close: int32(len(s.toks)), kind: inSpace}
	s.stack = append(s.stack, top)
	s.fuel = lookTokens*len(s.toks) + 1<<16
	for i := 0; i < len(s.toks); i++ {
		if i%checkSteps == 0 && ctx.Err() != nil || s.fuel < 0 || len(s.out) >= maxSymbols {
			s.ok = false
			break
		}
		for len(s.stack) > 1 && int(s.top().close) <= i {
			s.stack = s.stack[:len(s.stack)-1]
		}
		t := &s.toks[i]
		if t.word {
			s.r.detect(s, i)
			continue
		}
		switch t.ch {
		case '{':
			if s.r.cStyle {
				s.r.detect(s, i)
			}
			b, ok := s.blocks[int32(i)]
			if !ok {
				b = block{kind: inCode, container: s.top().container}
			}
			if m := s.match[i]; m >= 0 {
				b.close = m
				s.stack = append(s.stack, b)
			}
			s.stmt = i + 1
		case '}', ';':
			if t.ch == ';' && s.r.cStyle {
				s.r.detect(s, i)
			}
			if t.ch == ';' && s.top().kind == inEnum {
				s.top().first = false
			}
			s.stmt = i + 1
		case '=':
			if s.r.cStyle && i >= s.quiet {
				s.r.detect(s, i)
				if s.assign < s.stmt {
					s.assign = i
				}
			}
		case '#':
			if !s.r.cStyle {
				s.r.detect(s, i)
			}
		case '(', '[':
			if m := s.match[i]; m > int32(i) && s.top().kind != inCode && (s.r.cStyle || s.top().kind != inSpace) {
				i = int(m)
			}
		}
	}
	return s.out, s.ok
}

func (s *scanner) top() *block { return &s.stack[len(s.stack)-1] }

func (s *scanner) text(i int) string {
	if i < 0 || i >= len(s.toks) {
		return ""
	}
	return s.code[s.toks[i].start:s.toks[i].end]
}

func (s *scanner) is(i int, w string) bool { return i >= 0 && i < len(s.toks) && s.text(i) == w }

func (s *scanner) isName(i int) bool {
	return i >= 0 && i < len(s.toks) && s.toks[i].word && !(s.toks[i].ch >= '0' && s.toks[i].ch <= '9')
}

func (s *scanner) ch(i int) byte {
	if i < 0 || i >= len(s.toks) || s.toks[i].word {
		return 0
	}
	return s.toks[i].ch
}

// skip is the index behind the bracket pair that opens at i, or i+1.
func (s *scanner) skip(i int) int {
	if i < len(s.toks) && s.match[i] > int32(i) {
		return int(s.match[i]) + 1
	}
	return i + 1
}

// angles skips <…> at i, if it stands there and is closed before anything that cannot be inside type arguments.
func (s *scanner) angles(i int) int {
	if s.ch(i) != '<' {
		return i
	}
	depth, j := 0, i
	defer func() { s.fuel -= j - i }()
	for ; j < len(s.toks) && j-i < 400; j++ {
		switch s.ch(j) {
		case '<':
			depth++
		case '>':
			if s.ch(j-1) == '=' || s.ch(j-1) == '-' {
				continue
			}
			if depth--; depth == 0 {
				return j + 1
			}
		case ';', '}':
			return i
		case '(', '[', '{':
			j = s.skip(j) - 1
		}
	}
	return i
}

// body looks from token i, behind a name and its parameters, for the block that belongs to the declaration. open is
// the index of its { or -1; end the index of the declaration's last token.
func (s *scanner) body(i int) (open, end int) {
	start := i
	defer func() { s.fuel -= i - start }()
	for ; i < len(s.toks) && i-start < maxHeader; i++ {
		t := &s.toks[i]
		if t.nl && i > start && s.r.newlines && s.endsBefore(i) {
			return -1, i - 1
		}
		if t.word {
			continue
		}
		switch t.ch {
		case '{':
			if s.match[i] < 0 {
				return -1, i
			}
			return i, int(s.match[i])
		case ';':
			return -1, i
		case '}', ')', ']', 1, 2, 3:
			if t.ch > 3 {
				return -1, i - 1
			}
		case ',':
			if s.r.newlines && s.top().kind == inEnum {
				return -1, i - 1
			}
		case '(', '[':
			i = s.skip(i) - 1
		case '<':
			i = max(s.angles(i)-1, i)
		}
	}
	return -1, min(i, len(s.toks)) - 1
}

// endsBefore: the line end before token i ends a declaration: neither side asks for more.
func (s *scanner) endsBefore(i int) bool {
	if t := &s.toks[i]; !t.word {
		switch t.ch {
		case '{', ':', '=', '.', ',', ')', ']', '\'', '?', '&', '|', '+', '*', '<', '>', '-':
			return false
		}
	} else {
		switch s.text(i) {
		case "where", "extends", "implements", "throws", "with", "by":
			return false
		}
	}
	switch s.ch(i - 1) {
	case '=', ',', '(', '[', ':', '.', '+', '*', '&', '|', '<', '?', '-', '/':
		return false
	case '>':
		return s.ch(i-2) != '=' && s.ch(i-2) != '-'
	}
	return true
}

// expr is the index of the last token of the expression or statement at i: up to ; or a line end at depth 0.
func (s *scanner) expr(i int) int {
	start := i
	defer func() { s.fuel -= i - start }()
	for ; i < len(s.toks) && i-start < maxHeader; i++ {
		t := &s.toks[i]
		if t.nl && i > start && s.r.newlines && s.endsBefore(i) {
			return i - 1
		}
		switch s.ch(i) {
		case ';':
			return i
		case ',', '}', ')', ']':
			return max(i-1, start)
		case '(', '[', '{':
			i = s.skip(i) - 1
		}
	}
	return min(i, len(s.toks)) - 1
}

// decl is one definition found by a rule, in token indices.
type decl struct {
	kind      Kind
	name      int // token of the name
	label     string
	container string // replaces the enclosing one when set
	first     int    // first token
	sigEnd    int    // last token of the signature
	open, end int    // body, last token
	inner     blockKind
}

// add records a definition and, when it has a body, what that body holds.
func (s *scanner) add(d decl) {
	if d.name < 0 || d.name >= len(s.toks) {
		return
	}
	d.first = clamp(d.first, d.name)
	d.end = min(max(d.end, d.name), len(s.toks)-1)
	name := d.label
	if name == "" {
		name = strings.Trim(s.text(d.name), "`")
	}
	if name == "" {
		return
	}
	container := s.top().container
	if d.container != "" {
		container = d.container
	}
	sigEnd := d.sigEnd
	if d.open >= 0 {
		sigEnd = d.open - 1
	}
	sigEnd = min(max(sigEnd, d.name), d.end)
	sy := Symbol{Name: name, Container: container, Package: s.pkg, Kind: d.kind,
		Start: int(s.toks[d.first].start), End: int(s.toks[d.end].end), SigStart: int(s.toks[d.first].start), SigEnd: int(s.toks[sigEnd].end)}
	sy.Line = s.lines.line(int(s.toks[d.name].start))
	sy.EndLine = s.lines.line(max(sy.End-1, 0))
	s.out = append(s.out, sy)
	if d.open >= 0 {
		s.blocks[int32(d.open)] = block{kind: d.inner, container: within(container, name), name: name, first: d.inner == inEnum}
	}
}

// begin is the first token of the statement that holds token i: annotations and modifiers included.
func (s *scanner) begin(i int) int {
	if s.stmt <= i && i-s.stmt < 200 && !(s.r.newlines && s.lineStart(s.stmt, i) > s.stmt) {
		return s.stmt
	}
	if s.r.newlines {
		return s.lineStart(s.stmt, i)
	}
	return i
}

// lineStart is the first token, not before from, of the line of token i and of the modifier lines above it.
func (s *scanner) lineStart(from, i int) int {
	j := i
	for j > from && i-j < 200 {
		if s.toks[j].nl && s.endsBefore(j) && !modifierLine(s, j) {
			return j
		}
		j--
	}
	return j
}

// modifierLine: the line before token j begins with @, an annotation of what follows.
func modifierLine(s *scanner, j int) bool {
	for k := j - 1; k >= 0 && j-k < 60; k-- {
		if s.toks[k].nl {
			return s.ch(k) == '@'
		}
	}
	return false
}
