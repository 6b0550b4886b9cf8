package symbol

import (
	"context"
	"strings"
)

// codeLine is one line of blanked text: its byte range without the line end, and where its first character stands.
type codeLine struct{ start, end, text int }

func codeLines(code string) []codeLine {
	out := make([]codeLine, 0, strings.Count(code, "\n")+1)
	for i := 0; i < len(code); {
		end := lineLen(code, i)
		e := end
		if e > i && code[e-1] == '\r' {
			e--
		}
		t := i
		for t < e && (code[t] == ' ' || code[t] == '\t') {
			t++
		}
		out = append(out, codeLine{i, e, t})
		i = end + 1
	}
	return out
}

// opened is a definition whose end has not been seen.
type opened struct {
	indent int
	sym    int // index into out, or -1
	path   string
	class  bool
}

// scanRuby follows Ruby by lines: a definition ends at the "end" that stands in its column, which is how Ruby is laid
// out by every formatter.
func scanRuby(ctx context.Context, l *language, src string) ([]Symbol, bool) {
	code := Blank(ctx, l.name, src)
	lines := codeLines(code)
	var out []Symbol
	var stack []opened
	for n, ln := range lines {
		if ln.text == ln.end {
			continue
		}
		if n%checkSteps == 0 && ctx.Err() != nil || len(out) >= maxSymbols {
			break
		}
		line := strings.TrimRight(code[ln.text:ln.end], " \t")
		indent := ln.text - ln.start
		word := line[:wordEnd(line, 0)]
		if word == "end" {
			for len(stack) > 0 && stack[len(stack)-1].indent > indent {
				stack = stack[:len(stack)-1]
			}
			if k := len(stack) - 1; k >= 0 && stack[k].indent == indent {
				if i := stack[k].sym; i >= 0 {
					out[i].End, out[i].EndLine = ln.text+3, n+1
				}
				stack = stack[:k]
			}
			continue
		}
		path, inClass := "", false
		if len(stack) > 0 {
			path, inClass = stack[len(stack)-1].path, stack[len(stack)-1].class
		}
		at := 0
		for word == "private" || word == "protected" || word == "public" || word == "private_class_method" || word == "module_function" || word == "memoize" {
			at += len(word)
			at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
			word = line[at : at+wordEnd(line[at:], 0)]
			if word == "" {
				break
			}
		}
		rest := strings.TrimLeft(line[min(at+len(word), len(line)):], " \t")
		nameAt := ln.text + len(line) - len(rest)
		sy := Symbol{Container: path, Line: n + 1, EndLine: n + 1, Start: ln.text, End: ln.text + len(line), SigStart: ln.text, SigEnd: ln.text + len(line)}
		oneLine := strings.HasSuffix(line, "; end") || strings.HasSuffix(line, ";end") || strings.HasSuffix(line, " end")
		switch word {
		case "class", "module":
			name := rubyName(rest, true)
			if name == "" {
				if strings.HasPrefix(rest, "<<") && !oneLine { // class << self
					stack = append(stack, opened{indent: indent, sym: -1, path: path, class: true})
				}
				continue
			}
			sy.Name, sy.Kind = strings.ReplaceAll(name, "::", "."), Class
			if word == "module" {
				sy.Kind = Module
			}
		case "def":
			name := rubyName(rest, false)
			if name == "" {
				continue
			}
			sy.Kind = Function
			if inClass {
				sy.Kind = Method
			}
			if dot := strings.LastIndexByte(name, '.'); dot > 0 { // def self.x, def Foo.x
				if on := name[:dot]; on != "self" && on != path {
					sy.Container = within(path, on)
				}
				sy.Kind, name = Method, name[dot+1:]
			}
			sy.Name = name
			args := strings.TrimLeft(src[nameAt+min(len(rubyName(rest, false)), len(src)-nameAt):ln.end], " \t")
			if strings.HasPrefix(args, "(") {
				if j := strings.IndexByte(args, ')'); j >= 0 {
					args = strings.TrimLeft(args[j+1:], " \t")
				}
			}
			if strings.HasPrefix(args, "=") && !strings.HasPrefix(args, "==") { // def x = value
				oneLine = true
			}
		default:
			if word != "" && word[0] >= 'A' && word[0] <= 'Z' && at == 0 && strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=~") && !strings.HasPrefix(rest, "=>") {
				sy.Name, sy.Kind = word, Constant
				out = append(out, sy)
			}
			continue
		}
		out = append(out, sy)
		if !oneLine {
			stack = append(stack, opened{indent: indent, sym: len(out) - 1, path: within(sy.Container, sy.Name), class: word != "def"})
		}
	}
	return out, len(stack) == 0
}

// rubyName is the name at the start of s: a constant path, or a method name with ?, !, = or an operator.
func rubyName(s string, constant bool) string {
	i := wordEnd(s, 0)
	for i > 0 && i+2 < len(s) && s[i] == ':' && s[i+1] == ':' && wordEnd(s, i+2) > i+2 {
		i = wordEnd(s, i+2)
	}
	if constant {
		if i > 0 && s[0] >= 'A' && s[0] <= 'Z' {
			return s[:i]
		}
		return ""
	}
	if i > 0 && i+1 < len(s) && s[i] == '.' {
		if n := rubyName(s[i+1:], false); n != "" {
			return s[:i+1] + n
		}
	}
	if i > 0 {
		if i < len(s) && (s[i] == '?' || s[i] == '!') {
			i++
		} else if i+1 < len(s) && s[i] == '=' && s[i+1] == '(' {
			i++
		}
		return s[:i]
	}
	for _, op := range []string{"[]=", "[]", "<=>", "===", "==", "=~", "!=", "**", "<<", ">>", "<=", ">=", "+@", "-@", "+", "-", "*", "/", "%", "<", ">", "!", "&", "|", "^", "~"} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

// scanShell finds functions and the variables assigned in the first column. A function ends at the brace that stands
// in its column.
func scanShell(ctx context.Context, l *language, src string) ([]Symbol, bool) {
	code := Blank(ctx, l.name, src)
	lines := codeLines(code)
	var out []Symbol
	var stack []opened
	seen := map[string]bool{}
	for n, ln := range lines {
		if ln.text == ln.end {
			continue
		}
		if n%checkSteps == 0 && ctx.Err() != nil || len(out) >= maxSymbols {
			break
		}
		line := strings.TrimRight(code[ln.text:ln.end], " \t")
		indent := ln.text - ln.start
		if line[0] == '}' || line[0] == ')' {
			for len(stack) > 0 && stack[len(stack)-1].indent > indent {
				stack = stack[:len(stack)-1]
			}
			if k := len(stack) - 1; k >= 0 && stack[k].indent == indent {
				i := stack[k].sym
				out[i].End, out[i].EndLine = ln.text+1, n+1
				stack = stack[:k]
			}
			continue
		}
		path := ""
		if len(stack) > 0 {
			path = stack[len(stack)-1].path
		}
		sy := Symbol{Container: path, Line: n + 1, EndLine: n + 1, Start: ln.text, End: ln.text + len(line), SigStart: ln.text, SigEnd: ln.text + len(line)}
		rest, keyword := line, false
		if r, ok := strings.CutPrefix(line, "function "); ok {
			rest, keyword = strings.TrimLeft(r, " \t"), true
		}
		name := shellName(rest)
		after := strings.TrimLeft(rest[len(name):], " \t")
		parens := false
		if a, ok := strings.CutPrefix(after, "("); ok {
			if a = strings.TrimLeft(a, " \t"); strings.HasPrefix(a, ")") {
				parens, after = true, strings.TrimLeft(a[1:], " \t")
			}
		}
		if name != "" && (parens || keyword) {
			sy.Name, sy.Kind = name, Function
			sy.SigEnd = ln.text + len(line) - len(after)
			out = append(out, sy)
			if last := line[len(line)-1]; last != '}' && last != ')' || parens && after == "" {
				stack = append(stack, opened{indent: indent, sym: len(out) - 1, path: within(sy.Container, sy.Name)})
			}
			continue
		}
		if indent > 0 || len(stack) > 0 {
			continue
		}
		constant := false
		for _, w := range []string{"export ", "readonly ", "declare -r ", "declare ", "typeset -r ", "typeset "} {
			if r, ok := strings.CutPrefix(line, w); ok {
				constant = strings.HasSuffix(strings.TrimSpace(w), "-r") || w == "readonly "
				line = strings.TrimLeft(r, " ")
				break
			}
		}
		if v := wordEnd(line, 0); v > 0 && v < len(line) && line[v] == '=' && (line[0] < '0' || line[0] > '9') && !seen[line[:v]] {
			seen[line[:v]] = true
			sy.Name, sy.Kind = line[:v], Variable
			if constant {
				sy.Kind = Constant
			}
			out = append(out, sy)
		}
	}
	return out, len(stack) == 0
}

// shellName: function names may hold dashes, dots and colons.
func shellName(s string) string {
	i := 0
	for i < len(s) {
		n := wordEnd(s, i)
		if n > i {
			i = n
			continue
		}
		if i > 0 && strings.IndexByte("-.:", s[i]) >= 0 {
			i++
			continue
		}
		break
	}
	return s[:i]
}
