package symbol

import (
	"context"
	"strings"
	"unicode/utf8"
)

// lexis says how a language writes what is not code.
type lexis struct {
	line      []string // comments to the end of the line
	block     string   // "/*" … "*/" when set
	nested    bool     // block comments nest
	charQuote bool     // '…' is one character or a short literal that ends with the line
	special   func(b *blanker, i int) (next int, ok bool)
}

// frame is a literal that is open, or code inside a literal (close empty).
type frame struct {
	close    string // delimiter that ends the literal
	interp   string // what begins an expression inside it
	until    byte   // ends the expression
	kind     litKind
	escape   bool // a backslash takes the next byte along
	doubled  bool // the delimiter written twice stands for itself
	multi    bool // may span lines; others end, unterminated, with the line
	names    bool // $name inside is code
	heredoc  bool // close stands alone on a line
	indented bool // heredoc: white space may precede close
	loose    bool // heredoc: code may follow close (PHP)
	depth    int  // in code: brackets open
	start    int
}

// litKind counts the kinds that may span lines; each is given up at most once when it runs to the end of the text.
type litKind uint8

const (
	litShort litKind = iota
	litTemplate
	litTriple
	litRaw
	litHere
	litQuoted
	litPercent
	litHTML
	litKinds
)

// maxOpen bounds literals inside literals; in one that is deeper, expressions are taken for its text.
const maxOpen = 500

type blanker struct {
	ctx   context.Context
	lx    *lexis
	src   string
	out   []byte
	stack []frame
	here  []frame // heredocs whose text begins on the next line
	off   [litKinds]bool
	look  int // bytes that may still be looked at ahead in vain: keeps hostile text linear
	prev  int // last byte of code that is not white space, or -1
}

// Blank returns src with comments and the contents of literals replaced by spaces: the same length, the same line
// ends, and every byte of code where it was. Expressions inside literals, such as ${x} in a template, are code and
// stay. The first byte of a literal becomes a double quote, the last a single one. A language without an analyser comes
// back as it is. When the context ends, the rest of the text does.
func Blank(ctx context.Context, lang, src string) string {
	l := languages[lang]
	if l == nil {
		return src
	}
	out := []byte(src)
	if lang == "python" {
		blankPython(ctx, src, out)
	} else {
		b := blanker{ctx: ctx, lx: &l.lexis, src: src, out: out, prev: -1, look: lookBytes*len(src) + 1<<16}
		if lang == "php" {
			b.stack = append(b.stack, frame{close: "<?", kind: litHTML, multi: true})
		}
		b.run()
	}
	return string(out)
}

func (b *blanker) run() {
	i, check := 0, checkBytes
	for {
		for i < len(b.src) {
			if i >= check {
				if b.ctx.Err() != nil {
					return
				}
				check = i + checkBytes
			}
			if n := len(b.stack); n > 0 && b.stack[n-1].close != "" {
				i = b.literal(i, &b.stack[n-1])
			} else {
				i = b.code(i)
			}
		}
		// A literal that may span lines and never ends is most likely none: text in markup, a broken file. It is given
		// up once for its kind, so that one stray quote does not hide the rest of the file.
		at := -1
		for k, f := range b.stack {
			if f.close != "" && f.kind != litHTML && !b.off[f.kind] {
				at = k
				break
			}
		}
		if at < 0 {
			return
		}
		f := b.stack[at]
		b.off[f.kind] = true
		copy(b.out[f.start:], b.src[f.start:])
		b.stack = b.stack[:at]
		b.here = nil
		b.prev = f.start
		i = f.start + 1
		check = i + checkBytes
	}
}

func (b *blanker) space(i, j int) { blankBytes(b.out, i, j) }

// literal handles one step inside a literal.
func (b *blanker) literal(i int, f *frame) int {
	s := b.src
	c := s[i]
	if f.heredoc {
		return b.heredocLine(i, f)
	}
	switch {
	case f.interp != "" && c == f.interp[0] && strings.HasPrefix(s[i:], f.interp):
		if f.interp == "{" && i+1 < len(s) && s[i+1] == '{' { // C#: doubled
			b.space(i, i+2)
			return i + 2
		}
		return b.enter(i, f)
	case f.names && c == '$' && i+1 < len(s) && s[i+1] == '{':
		b.space(i, i+2)
		return max(wordEnd(s, i+2), i+2)
	case f.names && c == '$' && i+1 < len(s) && isWordByte(s[i+1]):
		b.space(i, i+1)
		return max(wordEnd(s, i+1), i+2)
	case f.escape && c == '\\' && i+1 < len(s):
		if s[i+1] == '\n' && !f.multi && f.kind != litShort {
			break
		}
		b.space(i, i+2)
		return i + 2
	case c == f.close[0] && strings.HasPrefix(s[i:], f.close):
		end := i + len(f.close)
		if f.doubled && strings.HasPrefix(s[end:], f.close) {
			b.space(i, end+len(f.close))
			return end + len(f.close)
		}
		b.space(i, end)
		if f.kind != litHTML {
			b.out[end-1] = '\''
			b.prev = end - 1
		} else {
			end = b.openTag(i)
		}
		b.stack = b.stack[:len(b.stack)-1]
		return end
	case c == '\n' && !f.multi:
		b.stack = b.stack[:len(b.stack)-1]
		return i
	}
	b.space(i, i+1)
	return i + 1
}

// openTag is the end of <?php, <?= or <? at i.
func (b *blanker) openTag(i int) int {
	end := i + 2
	for _, t := range []string{"<?php", "<?="} {
		if len(b.src)-i >= len(t) && strings.EqualFold(b.src[i:i+len(t)], t) {
			end = i + len(t)
		}
	}
	b.space(i, end)
	return end
}

// enter opens the expression that begins at i inside f.
func (b *blanker) enter(i int, f *frame) int {
	until := byte('}')
	if strings.HasSuffix(f.interp, "(") {
		until = ')'
	}
	n := i + len(f.interp)
	b.space(i, n)
	if len(b.stack) >= maxOpen {
		return n
	}
	b.out[n-1] = b.src[n-1]
	if f.interp == "{$" { // PHP: the brace stands first
		b.out[i] = '{'
	}
	b.stack = append(b.stack, frame{until: until, kind: f.kind, start: i})
	b.prev = n - 1
	return n
}

// heredocLine handles the rest of a line of a heredoc.
func (b *blanker) heredocLine(i int, f *frame) int {
	s := b.src
	if i == 0 || s[i-1] == '\n' {
		end := lineLen(s, i)
		line := strings.TrimSuffix(s[i:end], "\r")
		if f.indented {
			line = strings.TrimLeft(line, " \t")
		}
		if rest, ok := strings.CutPrefix(line, f.close); ok && (rest == "" || f.loose && !isWordByte(rest[0])) {
			at := end - len(rest)
			if strings.HasSuffix(s[i:end], "\r") {
				at--
			}
			b.space(i, at)
			b.stack = b.stack[:len(b.stack)-1]
			b.nextHeredoc()
			return at
		}
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return i + 1
		case f.interp != "" && strings.HasPrefix(s[i:], f.interp):
			return b.enter(i, f)
		case s[i] == '$' && f.names && i+1 < len(s) && isWordByte(s[i+1]):
			b.space(i, i+1)
			i = max(wordEnd(s, i+1), i+2) - 1
		default:
			b.space(i, i+1)
		}
	}
	return i
}

func lineLen(s string, i int) int {
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
		return i + j
	}
	return len(s)
}

func (b *blanker) nextHeredoc() {
	if len(b.here) > 0 {
		f := b.here[0]
		b.here = b.here[1:]
		b.stack = append(b.stack, f)
	}
}

// open begins a literal: its delimiter stands at [i, i+n).
func (b *blanker) open(i, n int, f frame) int {
	f.start = i
	b.space(i, i+n)
	b.out[i] = '"'
	b.stack = append(b.stack, f)
	return i + n
}

// code handles one step of code.
func (b *blanker) code(i int) int {
	s := b.src
	c := s[i]
	switch {
	case c == '\n':
		b.nextHeredoc()
		return i + 1
	case c == ' ' || c == '\t' || c == '\r':
		return i + 1
	}
	for _, lc := range b.lx.line {
		if c == lc[0] && strings.HasPrefix(s[i:], lc) && (lc != "#" || b.hashComment(i)) {
			end := lineLen(s, i)
			if b.html() {
				if j := strings.Index(s[i:end], "?>"); j >= 0 {
					end = i + j
				}
			}
			b.space(i, end)
			return end
		}
	}
	if b.lx.block != "" && c == '/' && strings.HasPrefix(s[i:], "/*") {
		return b.blockComment(i)
	}
	if b.lx.special != nil {
		if next, ok := b.lx.special(b, i); ok {
			return next
		}
	}
	if n := len(b.stack); n > 0 {
		f := &b.stack[n-1]
		switch c {
		case '(', '{', '[':
			f.depth++
		case ')', '}', ']':
			if f.depth == 0 && c == f.until {
				b.stack = b.stack[:n-1]
				return i + 1
			}
			f.depth = max(f.depth-1, 0)
		}
	}
	switch {
	case c == '"':
		return b.open(i, 1, frame{close: `"`, escape: true})
	case c == '\'' && b.lx.charQuote:
		return b.open(i, 1, frame{close: `'`, escape: true})
	case isWordByte(c) || c >= utf8.RuneSelf:
		n := wordEnd(s, i)
		if n == i {
			_, w := utf8.DecodeRuneInString(s[i:])
			n = i + w
		}
		if c >= '0' && c <= '9' { // 1'000'000
			for n+1 < len(s) && s[n] == '\'' && isWordByte(s[n+1]) && b.lx.charQuote {
				n = wordEnd(s, n+1)
			}
		}
		b.prev = n - 1
		return n
	}
	b.prev = i
	return i + 1
}

// hashComment: in shell and Ruby a # inside a word is no comment.
func (b *blanker) hashComment(i int) bool {
	if i == 0 || b.html() {
		return true
	}
	switch b.src[i-1] {
	case ' ', '\t', '\n', '\r', ';', '(', ')', '&', '|', ',', '{', '}', '[', ']', '`':
		return true
	}
	return b.lx == &languages["ruby"].lexis && b.src[i-1] != '$'
}

func (b *blanker) html() bool { return b.lx == &languages["php"].lexis }

func (b *blanker) blockComment(i int) int {
	s := b.src
	depth, j := 1, i+2
	for j < len(s) {
		k := strings.IndexByte(s[j:], '/')
		if k < 0 {
			break
		}
		k += j
		switch {
		case k > i+2 && s[k-1] == '*' && k-1 >= j:
			depth--
			j = k + 1
			if depth == 0 {
				b.space(i, j)
				return j
			}
		case b.lx.nested && k+1 < len(s) && s[k+1] == '*':
			depth++
			j = k + 2
		default:
			j = k + 1
		}
	}
	b.space(i, len(s))
	return len(s)
}

// quoteRun counts the bytes c from i on, up to one more than can open a literal.
func quoteRun(s string, i int, c byte) int {
	n := 0
	for n <= maxMarks && i+n < len(s) && s[i+n] == c {
		n++
	}
	return n
}
