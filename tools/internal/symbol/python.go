package symbol

import (
	"context"
	"strings"
)

// maxLine is how many tokens of one logical line are kept. What a line defines stands at its start; a table of data may
// hold millions.
const maxLine = 1 << 16

// pyScope is a class or function body that is still open.
type pyScope struct {
	indent int // column of the statement that opened it
	sym    int // index into out
	class  bool
	inside string          // qualified name, for what is defined in it
	names  map[string]bool // assigned names already reported; nil in a function
}

type pyWalk struct {
	src    string
	lines  lineIndex
	out    []Symbol
	scopes []pyScope
	module map[string]bool
	last   int // end of the last token that belongs to a statement
	deco   int // start of the decorators waiting for their definition, or -1
	broken bool
}

// parsePython lists every def, async def and class, however nested, and the names assigned at module and class level.
func parsePython(ctx context.Context, _ *language, src string) ([]Symbol, bool) {
	p := &pyWalk{src: src, lines: newLineIndex(src), deco: -1, module: map[string]bool{}}
	l := newPyLexer(src)
	var line []pyTok
	for n := 1; ; n++ {
		if n%checkSteps == 0 && ctx.Err() != nil {
			return nil, false
		}
		t := l.next()
		switch t.kind {
		case pyComment:
			continue
		case pyName:
			// def and class are reserved: at the start of a physical line inside brackets they show that the brackets
			// were never closed. Everything before is given up, not the rest of the file.
			if l.depth > 0 && len(line) > 0 && (t.first && p.keyword(t) || p.text(t) == "def" && line[len(line)-1].first && p.text(line[len(line)-1]) == "async") {
				p.broken = true
				l.depth = 0
				var async []pyTok
				if !t.first {
					async = append(async, line[len(line)-1])
					line = line[:len(line)-1]
				}
				p.logical(line)
				line = append(line[:0], async...)
			}
			line = keep(line, t)
			continue
		case pyNewline, pyEOF:
			p.logical(line)
			line = line[:0]
			if t.kind == pyEOF {
				if l.depth > 0 {
					p.broken = true
				}
				p.close(-1)
				return p.out, !p.broken && !l.broken
			}
			continue
		}
		line = keep(line, t)
	}
}

// keep appends a token to a line, or puts it in the place of the last one of a line that is full.
func keep(line []pyTok, t pyTok) []pyTok {
	if len(line) == maxLine {
		line[maxLine-1] = t
		return line
	}
	return append(line, t)
}

func (p *pyWalk) text(t pyTok) string { return p.src[t.start:t.end] }

func (p *pyWalk) keyword(t pyTok) bool {
	s := p.text(t)
	return s == "def" || s == "class"
}

// indent is the column of an offset: tabs go to multiples of eight, a form feed starts over.
func (p *pyWalk) indent(offset int) int {
	start := offset
	for start > 0 && p.src[start-1] != '\n' && p.src[start-1] != '\r' {
		start--
	}
	col := 0
	for i := start; i < offset; i++ {
		switch p.src[i] {
		case ' ':
			col++
		case '\t':
			col = (col/8 + 1) * 8
		case '\f':
			col = 0
		}
	}
	return col
}

// close ends the scopes that a statement at the given column is not part of.
func (p *pyWalk) close(indent int) {
	for n := len(p.scopes); n > 0 && indent <= p.scopes[n-1].indent; n = len(p.scopes) {
		s := &p.out[p.scopes[n-1].sym]
		s.End = max(p.last, s.SigEnd)
		s.EndLine = p.lines.line(max(s.End-1, 0))
		p.scopes = p.scopes[:n-1]
	}
}

func (p *pyWalk) is(line []pyTok, i int, s string) bool {
	return i < len(line) && p.text(line[i]) == s && line[i].kind != pyString
}

// logical handles one logical line.
func (p *pyWalk) logical(line []pyTok) {
	if len(line) == 0 {
		return
	}
	col := p.indent(line[0].start)
	p.close(col)
	defer func() { p.last = line[len(line)-1].end }()
	if p.is(line, 0, "@") {
		if p.deco < 0 {
			p.deco = line[0].start
		}
		return
	}
	start := line[0].start
	if p.deco >= 0 {
		start = p.deco
		p.deco = -1
	}
	at := 0
	if p.is(line, 0, "async") && p.is(line, 1, "def") {
		at = 1
	}
	def, class := p.is(line, at, "def"), p.is(line, at, "class")
	if (def || class) && at+1 < len(line) && line[at+1].kind == pyName {
		p.define(line, at, start, col, class)
		return
	}
	if def || class {
		p.broken = true
		return
	}
	p.simple(line, 0)
}

func (p *pyWalk) container() (string, *pyScope) {
	if len(p.scopes) == 0 {
		return "", nil
	}
	sc := &p.scopes[len(p.scopes)-1]
	return sc.inside, sc
}

func (p *pyWalk) define(line []pyTok, at, start, col int, class bool) {
	if len(p.out) >= maxSymbols {
		return
	}
	container, outer := p.container()
	name := line[at+1]
	colon := p.headerColon(line)
	sigEnd := line[len(line)-1].end
	if colon < len(line) {
		sigEnd = line[colon].start
	} else {
		p.broken = true
	}
	k := Function
	switch {
	case class:
		k = Class
	case outer != nil && outer.class:
		k = Method
	}
	p.out = append(p.out, Symbol{Name: p.text(name), Container: container, Kind: k,
		Line: p.lines.line(line[at].start), Start: start, SigStart: line[0].start, SigEnd: sigEnd, End: sigEnd})
	sc := pyScope{indent: col, sym: len(p.out) - 1, class: class, inside: within(container, p.text(name))}
	if class {
		sc.names = map[string]bool{}
	}
	p.scopes = append(p.scopes, sc)
	if class && colon+1 < len(line) {
		p.simple(line, colon+1)
	}
}

// headerColon is the index of the colon that ends a compound statement's header, or len(line).
func (p *pyWalk) headerColon(line []pyTok) int {
	depth, lambdas := 0, 0
	for i, t := range line {
		switch t.kind {
		case pyName:
			if depth == 0 && p.text(t) == "lambda" {
				lambdas++
			}
		case pyOp:
			switch p.src[t.start] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			case ':':
				if depth > 0 || i+1 < len(line) && p.is(line, i+1, "=") && line[i+1].start == t.end {
					continue
				}
				if lambdas > 0 {
					lambdas--
					continue
				}
				return i
			}
		}
	}
	return len(line)
}

// pyBlocks are the keywords of compound statements whose body shares its line with the header and opens no scope.
var pyBlocks = map[string]bool{"if": true, "elif": true, "else": true, "while": true, "for": true, "try": true, "except": true, "finally": true, "with": true}

// simple reports the names that the statements of line, from token i on, assign at module or class level.
func (p *pyWalk) simple(line []pyTok, i int) {
	_, sc := p.container()
	if sc != nil && !sc.class {
		return
	}
	if line[i].kind == pyName {
		switch w := p.text(line[i]); {
		case pyBlocks[w], w == "async" && i+1 < len(line):
			i += p.headerColon(line[i:]) + 1
		}
	}
	for i < len(line) {
		end, depth := i, 0
		for ; end < len(line); end++ {
			if line[end].kind != pyOp {
				continue
			}
			switch c := p.src[line[end].start]; c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			if depth == 0 && p.src[line[end].start] == ';' {
				break
			}
		}
		p.assign(line[i:end])
		i = end + 1
	}
}

// assign recognises a = 1, a: T = 1, a: T, a, b = 1, 2, a = b = 1 and type A = T.
func (p *pyWalk) assign(st []pyTok) {
	if len(st) < 2 || st[0].kind != pyName && !p.is(st, 0, "*") {
		return
	}
	if p.is(st, 0, "type") && st[1].kind == pyName && len(st) > 2 && (p.is(st, 2, "=") || p.is(st, 2, "[")) {
		p.name(st, st[1], Type)
		return
	}
	if st[0].kind == pyName && p.is(st, 1, ":") {
		if len(st) > 2 && !pyReserved[p.text(st[0])] {
			p.name(st, st[0], "")
		}
		return
	}
	for i := 0; i < len(st); {
		var names []pyTok
		j := i
		for j < len(st) {
			if p.is(st, j, "*") {
				j++
			}
			if j >= len(st) || st[j].kind != pyName || pyReserved[p.text(st[j])] {
				return
			}
			names = append(names, st[j])
			j++
			if !p.is(st, j, ",") {
				break
			}
			j++
			if p.is(st, j, "=") {
				break
			}
		}
		if !p.is(st, j, "=") || p.is(st, j+1, "=") && st[j+1].start == st[j].end {
			return
		}
		for _, n := range names {
			p.name(st, n, "")
		}
		i = j + 1
	}
}

// pyReserved cannot be assigned to.
var pyReserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield") {
		m[w] = true
	}
	return m
}()

func (p *pyWalk) name(st []pyTok, n pyTok, k Kind) {
	container, sc := p.container()
	seen := p.module
	if sc != nil {
		seen = sc.names
	}
	name := p.text(n)
	if seen[name] || len(p.out) >= maxSymbols {
		return
	}
	seen[name] = true
	if k == "" {
		switch {
		case isUpper(name):
			k = Constant
		case sc != nil:
			k = Field
		default:
			k = Variable
		}
	}
	start, end := st[0].start, st[len(st)-1].end
	sigEnd := end
	if i := p.lines.lineEnd(start, end); i < end {
		sigEnd = max(i, n.end)
	}
	p.out = append(p.out, Symbol{Name: name, Container: container, Kind: k, Line: p.lines.line(n.start),
		EndLine: p.lines.line(end - 1), Start: start, End: end, SigStart: start, SigEnd: sigEnd})
}

// isUpper: the name is written as constants are, such as MAX_SIZE.
func isUpper(s string) bool {
	letter := false
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 0x80 {
			return false
		}
		letter = letter || c >= 'A' && c <= 'Z'
	}
	return letter
}
