package symbol

import (
	"context"
	"errors"
	"sort"
	"strings"
	"unicode/utf8"
)

// Kind is what sort of thing a definition defines; the values are those of find_symbol's argument kind.
type Kind string

const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"
	Interface Kind = "interface"
	Struct    Kind = "struct"
	Enum      Kind = "enum"
	Type      Kind = "type"
	Module    Kind = "module"
	Constant  Kind = "constant"
	Variable  Kind = "variable"
	Field     Kind = "field"
)

// How a definition was found, as find_symbol's member method says it.
const (
	Parsed  = "parsed"
	Scanned = "scanned"
	Text    = "text"
)

// ErrUnsupported says that no analyser exists for the language.
var ErrUnsupported = errors.New("symbol: no analyser for this language")

// ErrLarge says that the text is so dense that analysing it would take more than MaxCost.
var ErrLarge = errors.New("symbol: analysing this text takes too much memory")

// ErrSyntax comes together with symbols: the text is not well formed, so some definitions may be missing.
var ErrSyntax = errors.New("symbol: the text is not well formed; the list may be incomplete")

// Symbol is one definition. Offsets are bytes into the text given to Parse, ends exclusive.
type Symbol struct {
	Name      string // as written, without its container
	Container string // enclosing definitions, outermost first, joined by "."; empty at top level
	Package   string // package, namespace or module the file declares itself part of; often empty
	Kind      Kind
	Line      int // line of the keyword or name, from 1
	EndLine   int // last line of the definition, inclusive
	Start     int // first byte, decorators and modifiers included
	End       int
	SigStart  int // the signature: declaration without its body; may span lines
	SigEnd    int
}

// Qualified is the name with its containers: "Server.Start".
func (s *Symbol) Qualified() string {
	if s.Container == "" {
		return s.Name
	}
	return s.Container + "." + s.Name
}

// Bounds of what one text may yield, whatever it holds. Nesting multiplies names by depth, so a container is not spelled
// out beyond a length that no reader could use.
const (
	maxSymbols   = 50_000
	maxContainer = 256
	maxDots      = 32 // parts of one dotted name
)

// within is the container of what is defined in name, itself defined in container.
func within(container, name string) string {
	switch {
	case container == "" && len(name) > maxContainer:
		for n := maxContainer; ; n-- {
			if utf8.RuneStart(name[n]) {
				return name[:n]
			}
		}
	case container == "":
		return name
	case len(container)+1+len(name) > maxContainer:
		return container
	}
	return container + "." + name
}

// MaxCost is the most that Parse takes for a text, in bytes; see Cost.
const MaxCost = 128 << 20

// Cost bounds the bytes that Parse takes for src while it runs, the symbols included. Sources that people write cost
// about ten times their size; what is made to cost more can cost a hundred times.
func Cost(lang, src string) int64 {
	l := languages[lang]
	if l == nil || l.parse == nil {
		return 0
	}
	words, marks, lines, holes := 0, 0, 0, 0
	inWord, prev := false, byte(0)
	for i := 0; i < len(src); i++ {
		c := src[i]
		if c >= utf8.RuneSelf {
			_, w := utf8.DecodeRuneInString(src[i:])
			letter := wordEnd(src[i:i+w], 0) > 0
			if i += w - 1; !letter {
				marks++
				inWord, prev = false, c
				continue
			}
		}
		if isWordByte(c) || c >= utf8.RuneSelf {
			if !inWord {
				words++
			}
			inWord = true
		} else {
			inWord = false
			switch c {
			case '\n':
				lines++
			case ' ', '\t', '\r':
			case '{', '(':
				if prev != 0 && strings.IndexByte("$#\\\"'`", prev) >= 0 {
					holes++ // an expression inside a literal, which may hold another one
				}
				fallthrough
			default:
				marks++
			}
		}
		prev = c
	}
	return int64(2*len(src) + l.perToken*(words+marks) + 48*lines + 400*holes + 300*min(words, maxSymbols))
}

// Parse lists the definitions in src, ordered by Start, at most 50,000. The error is nil, ErrUnsupported or ErrLarge (no
// symbols), that of the context when it ends first (no symbols), or ErrSyntax (symbols are those that could be understood,
// or the first ones).
func Parse(ctx context.Context, lang, src string) ([]Symbol, error) {
	l := languages[lang]
	if l == nil || l.parse == nil {
		return nil, ErrUnsupported
	}
	if Cost(lang, src) > MaxCost {
		return nil, ErrLarge
	}
	syms, ok := l.parse(ctx, l, src)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(syms) >= maxSymbols {
		ok = false
	}
	for i := range syms {
		s := &syms[i]
		s.Start, s.End = clamp(s.Start, len(src)), clamp(s.End, len(src))
		s.End = max(s.End, s.Start)
		s.SigStart = min(max(s.SigStart, s.Start), s.End)
		s.SigEnd = min(max(s.SigEnd, s.SigStart), s.End)
		s.EndLine = max(s.EndLine, s.Line)
	}
	sort.SliceStable(syms, func(i, j int) bool { return syms[i].Start < syms[j].Start })
	if !ok {
		return syms, ErrSyntax
	}
	return syms, nil
}

// MethodOf says how Parse finds definitions in lang: Parsed, Scanned, or "" when it cannot.
func MethodOf(lang string) string {
	if l := languages[lang]; l != nil && l.parse != nil {
		return l.method
	}
	return ""
}

// An analyser looks at the context whenever it has gone through as much.
const (
	checkBytes = 64 << 10
	checkSteps = 4 << 10 // tokens or lines
)

// Enclosing is the qualified name of the innermost function, method or type around a line (from 1), or "".
func Enclosing(lang, src string, line int) string {
	syms, err := Parse(context.Background(), lang, src)
	if err == ErrUnsupported || err == ErrLarge {
		return ""
	}
	return EnclosingIn(syms, line)
}

// EnclosingIn is Enclosing over the result of Parse, for several lines of one file.
func EnclosingIn(syms []Symbol, line int) string {
	best := -1
	for i := range syms {
		s := &syms[i]
		switch s.Kind {
		case Constant, Variable, Field:
			continue
		}
		if s.Line > line || s.EndLine < line {
			continue
		}
		if best < 0 || s.Line > syms[best].Line || s.Line == syms[best].Line && s.EndLine <= syms[best].EndLine {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return syms[best].Qualified()
}

func clamp(i, n int) int { return min(max(i, 0), n) }

// lineIndex turns byte offsets into line numbers.
type lineIndex []int // offset of each line's first byte

func newLineIndex(src string) lineIndex {
	x := make(lineIndex, 1, 1+strings.Count(src, "\n"))
	for i := 0; ; {
		j := strings.IndexByte(src[i:], '\n')
		if j < 0 {
			return x
		}
		i += j + 1
		x = append(x, i)
	}
}

// lineEnd is the end of the line that holds offset, or limit when that comes first.
func (x lineIndex) lineEnd(offset, limit int) int {
	if n := x.line(offset); n < len(x) {
		return min(x[n]-1, limit)
	}
	return limit
}

// line is the number, from 1, of the line that holds offset.
func (x lineIndex) line(offset int) int {
	return sort.Search(len(x), func(i int) bool { return x[i] > offset })
}
