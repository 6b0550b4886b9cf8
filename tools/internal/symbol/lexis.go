package symbol

import (
	"strings"
	"unicode/utf8"
)

var (
	slashes = []string{"//"}
	hash    = []string{"#"}

	goLexis     = lexis{line: slashes, block: "/*", charQuote: true, special: goSpecial}
	jsLexis     = lexis{line: slashes, block: "/*", special: jsSpecial}
	javaLexis   = lexis{line: slashes, block: "/*", charQuote: true, special: tripleSpecial(true, "", false)}
	cLexis      = lexis{line: slashes, block: "/*", charQuote: true, special: cSpecial}
	cppLexis    = lexis{line: slashes, block: "/*", charQuote: true, special: cSpecial}
	csharpLexis = lexis{line: slashes, block: "/*", charQuote: true, special: csharpSpecial}
	rustLexis   = lexis{line: slashes, block: "/*", nested: true, special: rustSpecial}
	kotlinLexis = lexis{line: slashes, block: "/*", nested: true, charQuote: true, special: kotlinSpecial}
	swiftLexis  = lexis{line: slashes, block: "/*", nested: true, special: swiftSpecial}
	phpLexis    = lexis{line: []string{"//", "#"}, block: "/*", special: phpSpecial}
	rubyLexis   = lexis{line: hash, special: rubySpecial}
	shellLexis  = lexis{line: hash, special: shellSpecial}
)

// Look-aheads are bounded, so that a line of a million slashes or quotes costs no more than any other line.
const (
	maxShort = 2048 // bytes of a one-line literal that must be seen whole before it is one
	maxMarks = 64   // # or quotes in a row that may open a literal
	// lookBytes bounds the bytes looked at in vain, per byte of a text; then a literal that needs a look is none.
	lookBytes = 4
)

func goSpecial(b *blanker, i int) (int, bool) {
	if b.src[i] == '`' && !b.off[litRaw] {
		return b.open(i, 1, frame{close: "`", kind: litRaw, multi: true}), true
	}
	return 0, false
}

// tripleSpecial: """ opens a literal of several lines.
func tripleSpecial(escape bool, interp string, names bool) func(*blanker, int) (int, bool) {
	return func(b *blanker, i int) (int, bool) {
		if b.src[i] == '"' && strings.HasPrefix(b.src[i:], `"""`) && !b.off[litTriple] {
			return b.open(i, 3, frame{close: `"""`, kind: litTriple, escape: escape, interp: interp, names: names, multi: true}), true
		}
		return 0, false
	}
}

func jsSpecial(b *blanker, i int) (int, bool) {
	s := b.src
	switch s[i] {
	case '`':
		if b.off[litTemplate] {
			return 0, false
		}
		return b.open(i, 1, frame{close: "`", kind: litTemplate, escape: true, interp: "${", multi: true}), true
	case '\'':
		if b.prev >= 0 && b.prev == i-1 && isWordByte(s[b.prev]) && i+1 < len(s) && isWordByte(s[i+1]) {
			return i + 1, true // an apostrophe in markup: don't
		}
		return b.open(i, 1, frame{close: `'`, escape: true}), true
	case '/':
		return b.regex(i, jsRegexAfter)
	}
	return 0, false
}

var jsRegexAfter = map[string]bool{"return": true, "typeof": true, "case": true, "in": true, "of": true, "delete": true, "void": true, "throw": true, "new": true, "instanceof": true, "do": true, "else": true, "yield": true, "await": true}

// regex reads a /regular expression/ at i when the code before it cannot end an operand.
func (b *blanker) regex(i int, after map[string]bool) (int, bool) {
	s := b.src
	if p := b.prev; p >= 0 {
		switch c := s[p]; {
		case c == ')' || c == ']' || c == '"' || c == '\'' || c == '`' || b.out[p] == '\'':
			return 0, false
		case isWordByte(c) || c >= utf8.RuneSelf || c == '$':
			w := p
			for w > 0 && p-w < 12 && isWordByte(s[w-1]) {
				w--
			}
			if !after[s[w:p+1]] {
				return 0, false
			}
		case c == '+' && p > 0 && s[p-1] == '+', c == '-' && p > 0 && s[p-1] == '-', c == '<':
			return 0, false // x++ / y, </tag>
		}
	}
	class := false
	j := i + 1
	for ; j < len(s) && j-i < min(maxShort, b.look) && s[j] != '\n'; j++ {
		switch c := s[j]; {
		case c == '\\':
			j++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			b.space(i, j+1)
			b.out[i], b.out[j] = '"', '\''
			b.prev = j
			return j + 1, true
		}
	}
	b.look -= j - i
	return 0, false
}

func cSpecial(b *blanker, i int) (int, bool) {
	s := b.src
	if !isWordByte(s[i]) {
		return 0, false
	}
	n := wordEnd(s, i)
	if n >= len(s) || s[n] != '"' || s[n-1] != 'R' || b.off[litRaw] {
		return 0, false
	}
	switch s[i:n] {
	case "R", "LR", "uR", "UR", "u8R":
	default:
		return 0, false
	}
	for j := n + 1; j < len(s) && j-n <= 17; j++ {
		if c := s[j]; c == '(' {
			return b.open(i, j+1-i, frame{close: ")" + s[n+1:j] + `"`, kind: litRaw, multi: true}), true
		} else if c == ' ' || c == ')' || c == '\\' || c == '"' || c == '\n' {
			break
		}
	}
	return 0, false
}

func csharpSpecial(b *blanker, i int) (int, bool) {
	s := b.src
	j, dollars, at := i, 0, false
	for j < len(s) && (s[j] == '$' || s[j] == '@') && j-i < 8 {
		if s[j] == '$' {
			dollars++
		} else {
			at = true
		}
		j++
	}
	if j >= len(s) || s[j] != '"' {
		return 0, false
	}
	interp := strings.Repeat("{", dollars)
	if q := quoteRun(s, j, '"'); q >= 3 && q <= maxMarks && !at && !b.off[litTriple] {
		return b.open(i, j-i+q, frame{close: strings.Repeat(`"`, q), kind: litTriple, interp: interp, multi: true}), true
	}
	if at && !b.off[litQuoted] {
		return b.open(i, j-i+1, frame{close: `"`, kind: litQuoted, doubled: true, interp: interp, multi: true}), true
	}
	if dollars > 0 {
		return b.open(i, j-i+1, frame{close: `"`, escape: true, interp: interp}), true
	}
	return 0, false
}

func rustSpecial(b *blanker, i int) (int, bool) {
	s := b.src
	switch c := s[i]; {
	case c == '"' && !b.off[litQuoted]:
		return b.open(i, 1, frame{close: `"`, kind: litQuoted, escape: true, multi: true}), true
	case c == '\'': // a character, or a lifetime, which stays
		if i+1 >= len(s) {
			return 0, false
		}
		if s[i+1] == '\\' {
			return b.open(i, 1, frame{close: `'`, escape: true}), true
		}
		_, w := utf8.DecodeRuneInString(s[i+1:])
		if i+1+w < len(s) && s[i+1+w] == '\'' && s[i+1] != '\'' {
			b.space(i, i+2+w)
			b.out[i], b.out[i+1+w] = '"', '\''
			b.prev = i + 1 + w
			return i + 2 + w, true
		}
		b.prev = i
		return i + 1, true
	case isWordByte(c):
		n := wordEnd(s, i)
		switch s[i:n] {
		case "r", "br", "cr":
			h := quoteRun(s, n, '#')
			if h <= maxMarks && n+h < len(s) && s[n+h] == '"' && !b.off[litRaw] {
				return b.open(i, n+h+1-i, frame{close: `"` + strings.Repeat("#", h), kind: litRaw, multi: true}), true
			}
		case "b", "c":
			if n < len(s) && (s[n] == '"' || s[n] == '\'') {
				b.space(i, n)
				return n, true
			}
		}
	}
	return 0, false
}

func kotlinSpecial(b *blanker, i int) (int, bool) {
	if next, ok := kotlinTriple(b, i); ok {
		return next, true
	}
	switch b.src[i] {
	case '"':
		return b.open(i, 1, frame{close: `"`, escape: true, interp: "${", names: true}), true
	case '`': // a quoted identifier: kept, whatever it holds
		if j := strings.IndexAny(b.src[i+1:min(len(b.src), i+maxShort)], "`\n"); j >= 0 && b.src[i+1+j] == '`' {
			b.prev = i + 1 + j
			return i + j + 2, true
		}
	}
	return 0, false
}

var kotlinTriple = tripleSpecial(false, "${", true)

func swiftSpecial(b *blanker, i int) (int, bool) {
	s := b.src
	h := quoteRun(s, i, '#')
	if h > maxMarks {
		return i + h, true
	}
	if i+h >= len(s) || s[i+h] != '"' {
		return 0, false
	}
	marks := strings.Repeat("#", h)
	f := frame{close: `"` + marks, interp: `\` + marks + "(", escape: h == 0}
	if strings.HasPrefix(s[i+h:], `"""`) && !b.off[litTriple] {
		f.close, f.kind, f.multi = `"""`+marks, litTriple, true
		return b.open(i, h+3, f), true
	}
	return b.open(i, h+1, f), true
}

func phpSpecial(b *blanker, i int) (int, bool) {
	s := b.src
	switch c := s[i]; {
	case c == '?' && strings.HasPrefix(s[i:], "?>"):
		b.space(i, i+2)
		b.out[i] = ';' // the closing tag ends a statement
		b.prev = i
		b.stack = append(b.stack, frame{close: "<?", kind: litHTML, multi: true, start: i})
		return i + 2, true
	case c == '#' && strings.HasPrefix(s[i:], "#["):
		return i + 2, true
	case c == '"' && !b.off[litQuoted]:
		return b.open(i, 1, frame{close: `"`, kind: litQuoted, escape: true, multi: true, names: true, interp: "{$"}), true
	case c == '\'' && !b.off[litRaw]:
		return b.open(i, 1, frame{close: `'`, kind: litRaw, escape: true, multi: true}), true
	case c == '<' && strings.HasPrefix(s[i:], "<<<"):
		j := i + 3
		for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
			j++
		}
		return b.heredoc(i, j, frame{interp: "{$", names: true, indented: true, loose: true})
	}
	return 0, false
}

// heredoc reads the word at j, plain or quoted, that will end the text beginning on the next line.
func (b *blanker) heredoc(i, j int, f frame) (int, bool) {
	s := b.src
	if b.off[litHere] || j >= len(s) {
		return 0, false
	}
	quote := byte(0)
	if s[j] == '\'' || s[j] == '"' || s[j] == '`' {
		quote = s[j]
		j++
	} else if s[j] == '\\' {
		quote = '\''
		j++
	}
	n := wordEnd(s, j)
	if n == j || s[j] >= '0' && s[j] <= '9' {
		return 0, false
	}
	f.close, f.kind, f.heredoc, f.multi, f.start = s[j:n], litHere, true, true, i
	if quote == '\'' {
		f.interp, f.names = "", false
	}
	if quote != 0 && n < len(s) && s[n] == quote {
		n++
	}
	b.space(i, n)
	b.out[i] = '"'
	b.prev = i
	b.here = append(b.here, f)
	return n, true
}

var rubyRegexAfter = map[string]bool{"return": true, "if": true, "unless": true, "while": true, "until": true, "when": true, "and": true, "or": true, "not": true, "in": true, "then": true, "do": true, "elsif": true}

func rubySpecial(b *blanker, i int) (int, bool) {
	s := b.src
	bol := i == 0 || s[i-1] == '\n'
	switch c := s[i]; c {
	case '=':
		if bol && strings.HasPrefix(s[i:], "=begin") {
			end := len(s)
			if j := strings.Index(s[i:], "\n=end"); j >= 0 {
				end = lineLen(s, i+j+1)
			}
			b.space(i, end)
			return end, true
		}
	case '_':
		if bol && s[i:lineLen(s, i)] == "__END__" {
			b.space(i, len(s))
			return len(s), true
		}
	case '"', '`':
		if !b.off[litQuoted] {
			return b.open(i, 1, frame{close: string(c), kind: litQuoted, escape: true, interp: "#{", multi: true}), true
		}
	case '\'':
		if !b.off[litRaw] {
			return b.open(i, 1, frame{close: `'`, kind: litRaw, escape: true, multi: true}), true
		}
	case '/':
		if b.prev >= 0 && isWordByte(s[b.prev]) && i > 0 && s[i-1] == ' ' && i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '=' {
			b2 := b.prev
			b.prev = -1
			if next, ok := b.regex(i, nil); ok { // puts /x/: an argument without parentheses
				return next, true
			}
			b.prev = b2
		}
		return b.regex(i, rubyRegexAfter)
	case '%':
		return b.percent(i)
	case '?':
		if i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\'' || s[i+1] == '#' || s[i+1] == '/') && (b.prev < 0 || !isWordByte(s[b.prev]) || b.prev < i-1) {
			return i + 2, true // ?" is a character
		}
	case '<':
		if !strings.HasPrefix(s[i:], "<<") || i+2 >= len(s) {
			break
		}
		f := frame{interp: "#{"}
		j := i + 2
		if s[j] == '~' || s[j] == '-' {
			f.indented = true
			j++
		} else if !(s[j] >= 'A' && s[j] <= 'Z' || s[j] == '"' || s[j] == '\'') || i > 0 && isWordByte(s[i-1]) {
			break
		}
		return b.heredoc(i, j, f)
	}
	return 0, false
}

// percent reads Ruby's %w[…], %q(…), %{…} and their like.
func (b *blanker) percent(i int) (int, bool) {
	s := b.src
	if b.off[litPercent] || b.prev >= 0 && (isWordByte(s[b.prev]) || s[b.prev] == ')' || s[b.prev] == ']' || b.out[b.prev] == '\'') && (b.prev == i-1 || i+1 < len(s) && s[i+1] == ' ') {
		return 0, false
	}
	j := i + 1
	letter := byte('Q')
	if j < len(s) && strings.IndexByte("wWqQiIrsx", s[j]) >= 0 {
		letter = s[j]
		j++
	}
	if j >= len(s) {
		return 0, false
	}
	closes := ""
	switch s[j] {
	case '(':
		closes = ")"
	case '[':
		closes = "]"
	case '{':
		closes = "}"
	case '<':
		closes = ">"
	case '|', '!', '/':
		closes = s[j : j+1]
	default:
		return 0, false
	}
	f := frame{close: closes, kind: litPercent, escape: true, multi: true}
	if strings.IndexByte("WQIrx", letter) >= 0 {
		f.interp = "#{"
	}
	return b.open(i, j+1-i, f), true
}

func shellSpecial(b *blanker, i int) (int, bool) {
	s := b.src
	switch c := s[i]; c {
	case '\\':
		if i+1 < len(s) {
			b.prev = i + 1
			return i + 2, true
		}
	case '\'':
		if !b.off[litRaw] {
			return b.open(i, 1, frame{close: `'`, kind: litRaw, escape: i > 0 && s[i-1] == '$', multi: true}), true
		}
	case '"':
		if !b.off[litQuoted] {
			return b.open(i, 1, frame{close: `"`, kind: litQuoted, escape: true, interp: "$(", names: true, multi: true}), true
		}
	case '$':
		if i+1 < len(s) && s[i+1] == '#' {
			return i + 2, true
		}
		if strings.HasPrefix(s[i:], "${") { // ${x#prefix} is no comment
			j := i + 2
			for ; j < len(s) && j-i < min(maxShort, b.look) && s[j] != '\n'; j++ {
				if s[j] == '}' {
					b.space(max(wordEnd(s, i+2), i+2), j)
					b.prev = j
					return j + 1, true
				}
			}
			b.look -= j - i
		}
	case '<':
		if !strings.HasPrefix(s[i:], "<<") || strings.HasPrefix(s[i:], "<<<") || i > 0 && s[i-1] == '<' {
			break
		}
		before := s[max(i-200, 0):i]
		if strings.Contains(before[strings.LastIndexByte(before, '\n')+1:], "((") {
			break // a shift in arithmetic
		}
		f := frame{interp: "$(", names: true}
		j := i + 2
		if j < len(s) && s[j] == '-' {
			f.indented = true
			j++
		}
		for j < len(s) && s[j] == ' ' {
			j++
		}
		return b.heredoc(i, j, f)
	}
	return 0, false
}
