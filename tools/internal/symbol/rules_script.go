package symbol

import "strings"

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

var (
	jsRules = &rules{newlines: true, detect: func(s *scanner, i int) { jsDetect(s, i, false) }, types: map[string]Kind{"class": Class}}
	tsRules = &rules{newlines: true, detect: func(s *scanner, i int) { jsDetect(s, i, true) }, types: map[string]Kind{"class": Class, "interface": Interface, "enum": Enum, "namespace": Module, "module": Module}}

	jsModifiers     = words("export default async declare abstract const")
	jsMemberMods    = words("public private protected static readonly async get set abstract override declare accessor")
	jsNotNames      = words("extends implements of in instanceof as is if for while switch catch return with do else")
	jsNotStatements = words("if for while switch catch return throw new delete typeof void yield await else do case")
)

// isStart: a statement can begin at token i.
func (s *scanner) isStart(i int) bool {
	if i == 0 || s.toks[i].nl {
		return true
	}
	c := s.ch(i - 1)
	return c == ';' || c == '{' || c == '}'
}

// modifiers walks back from token i over the words of set.
func (s *scanner) modifiers(i int, set map[string]bool) int {
	for i > 0 && s.toks[i-1].word && set[s.text(i-1)] {
		i--
	}
	return i
}

func jsDetect(s *scanner, i int, ts bool) {
	if s.ch(i) == '#' {
		if s.top().kind == inType && s.memberStart(i) {
			jsMember(s, i, ts)
		}
		return
	}
	if s.ch(i-1) == '.' {
		return
	}
	top := s.top()
	if s.ch(i-1) == '@' { // a decorator: the member begins behind it
		j := i + 1
		for s.ch(j) == '.' {
			j += 2
		}
		if s.ch(j) == '(' {
			j = s.skip(j)
		}
		s.member = j
		return
	}
	switch {
	case top.kind == inType && s.memberStart(i):
		jsMember(s, i, ts)
		return
	case top.kind == inType:
		return
	case top.kind == inEnum:
		if c := s.ch(i - 1); c == '{' || c == ',' {
			s.add(decl{kind: Constant, name: i, first: i, open: -1, end: s.expr(i), sigEnd: s.expr(i)})
		}
		return
	}
	w := s.text(i)
	switch w {
	case "function":
		j := i + 1
		if s.ch(j) == '*' {
			j++
		}
		if p := s.angles(j + 1); s.isName(j) && s.ch(p) == '(' {
			s.jsFunction(j, s.modifiers(i, jsModifiers), p, Function, "", "")
		}
		return
	case "const", "let", "var":
		s.jsVariable(i, w)
		return
	case "type":
		if ts && s.isName(i+1) && s.isStart(s.modifiers(i, jsModifiers)) {
			p := s.angles(i + 2)
			if s.ch(p) == '=' {
				end := s.expr(p + 1)
				s.add(decl{kind: Type, name: i + 1, first: s.modifiers(i, jsModifiers), open: -1, end: end, sigEnd: end})
			}
		}
		return
	}
	if k, ok := s.r.types[w]; ok {
		if !s.isName(i+1) || jsNotNames[s.text(i+1)] {
			return
		}
		first := s.modifiers(i, jsModifiers)
		if w != "class" && !s.isStart(first) {
			return
		}
		name := i + 1
		label := s.text(name)
		for n := 0; n < maxDots && s.ch(name+1) == '.' && s.isName(name+2); n++ { // namespace A.B
			name += 2
			label += "." + s.text(name)
		}
		open, end := s.body(s.angles(name + 1))
		if open < 0 {
			return
		}
		inner := inType
		switch k {
		case Enum:
			inner = inEnum
		case Module:
			inner = inSpace
		}
		s.add(decl{kind: k, name: name, label: label, first: first, open: open, end: end, inner: inner})
		return
	}
	if s.isStart(i) && s.ch(i+1) == '.' && !jsNotStatements[w] {
		s.jsAssigned(i)
	}
}

// memberStart: a member of the enclosing class or interface can begin at token i.
func (s *scanner) memberStart(i int) bool {
	if i == s.member {
		return true
	}
	switch c := s.ch(i - 1); c {
	case '{', ';', '}':
		return true
	case ',':
		return s.top().kind == inType && s.toks[i].nl
	case '*':
		return s.ch(i-2) == '{' || s.ch(i-2) == ';' || s.ch(i-2) == '}'
	}
	return s.toks[i].nl && s.endsBefore(i)
}

func jsMember(s *scanner, i int, ts bool) {
	j := i
	for s.isName(j) && jsMemberMods[s.text(j)] && (s.isName(j+1) || s.ch(j+1) == '#' || s.ch(j+1) == '*') && !s.toks[j+1].nl {
		j++
	}
	if s.ch(j) == '*' {
		j++
	}
	label := ""
	if s.ch(j) == '#' {
		j++
		label = "#"
	}
	if !s.isName(j) {
		return
	}
	label += s.text(j)
	k := j + 1
	if s.ch(k) == '?' || s.ch(k) == '!' {
		k++
	}
	p := s.angles(k)
	switch {
	case s.ch(p) == '(':
		if s.match[p] < 0 {
			return
		}
		after := s.skip(p)
		if ts || s.ch(after) == '{' {
			s.jsFunction(j, i, p, Method, label, "")
		}
	case s.ch(k) == '=' || s.ch(k) == ':' || s.ch(k) == ';' || s.ch(k) == '}' || k >= len(s.toks) || s.toks[k].nl:
		if s.ch(k) == '=' {
			if arrow, open, ok := s.jsFunctionValue(k + 1); ok {
				s.jsArrow(Method, j, i, arrow, open, label, "")
				return
			}
		}
		end := j
		if c := s.ch(k); c == ':' || c == '=' {
			end = s.expr(k)
		}
		s.add(decl{kind: Field, name: j, label: label, first: i, open: -1, end: end, sigEnd: end})
	}
}

// jsFunction adds a function whose parameters open at token p.
func (s *scanner) jsFunction(name, first, p int, k Kind, label, container string) {
	after := s.jsReturnType(s.skip(p))
	open, end := -1, after-1
	switch {
	case s.ch(after) == '{' && s.match[after] >= 0:
		open, end = after, int(s.match[after])
	case s.ch(after) == ';':
		end = after
	}
	s.add(decl{kind: k, name: name, label: label, container: container, first: first, open: open, end: end, sigEnd: end})
}

// jsReturnType skips ": T" at i. A brace in there belongs to the type when something before it asks for a type.
func (s *scanner) jsReturnType(i int) int {
	if s.ch(i) != ':' {
		return i
	}
	want := true
	s.fuel -= 40
	for j := i + 1; j < len(s.toks) && j-i < 400; j++ {
		if s.toks[j].nl && !want && s.endsBefore(j) {
			return j
		}
		switch c := s.ch(j); c {
		case 0:
			switch s.text(j) {
			case "is", "keyof", "typeof", "readonly", "infer", "extends", "asserts", "unique", "new":
				want = true
			default:
				want = false
			}
		case '{':
			if !want {
				return j
			}
			j = s.skip(j) - 1
			want = false
		case '(', '[':
			j = s.skip(j) - 1
			want = false
		case '<':
			if n := s.angles(j); n > j {
				j = n - 1
			}
			want = false
		case '|', '&', ':', '?', '>':
			want = true
		case '=':
			if s.ch(j+1) != '>' {
				return j
			}
			want = true
		case ';', ',', '}', ')':
			return j
		default:
			want = false
		}
	}
	return i
}

// jsFunctionValue: a function expression or an arrow function begins at i. arrow is the last token of its head, open
// its body's brace or -1.
func (s *scanner) jsFunctionValue(i int) (arrow, open int, ok bool) {
	if s.is(i, "async") && !s.toks[min(i+1, len(s.toks)-1)].nl {
		i++
	}
	if s.is(i, "function") {
		for j := i + 1; j < len(s.toks) && j-i < 40; j++ {
			if s.ch(j) == '(' {
				after := s.jsReturnType(s.skip(j))
				if s.ch(after) == '{' {
					return after - 1, after, true
				}
				return 0, 0, false
			}
		}
		return 0, 0, false
	}
	e := -1
	if p := s.angles(i); s.ch(p) == '(' {
		if s.match[p] < 0 {
			return 0, 0, false
		}
		e = s.skip(p)
		if s.ch(e) == ':' {
			for j := e + 1; j < len(s.toks) && j-e < 200; j++ {
				c := s.ch(j)
				if c == '=' && s.ch(j+1) == '>' {
					e = j
					break
				}
				if c == ';' || c == '=' || c == '}' || c == ')' {
					return 0, 0, false
				}
				if c == '(' || c == '{' || c == '[' {
					n := s.skip(j)
					if s.ch(n) == '=' && s.ch(n+1) == '>' && c == '(' { // a function type: its arrow is not ours
						n += 2
					}
					j = n - 1
				}
			}
		}
	} else if s.isName(i) {
		e = i + 1
	}
	if e < 0 || s.ch(e) != '=' || s.ch(e+1) != '>' {
		return 0, 0, false
	}
	if s.ch(e+2) == '{' {
		return e + 1, e + 2, true
	}
	return e + 1, -1, true
}

func (s *scanner) jsArrow(k Kind, name, first, arrow, open int, label, container string) {
	end := arrow
	if open >= 0 && s.match[open] >= 0 {
		end = int(s.match[open])
	} else {
		open = -1
		end = s.expr(arrow + 1)
	}
	s.add(decl{kind: k, name: name, label: label, container: container, first: first, open: open, end: end, sigEnd: arrow})
}

// jsVariable: const, let or var at token i. Inside functions only those that hold a function are definitions worth
// finding.
func (s *scanner) jsVariable(i int, w string) {
	name := i + 1
	if !s.isName(name) || s.is(name, "enum") {
		return
	}
	eq := name + 1
	for n := 0; eq < len(s.toks) && n < 400 && s.ch(eq) != '=' && s.ch(eq) != ';' && s.ch(eq) != ','; n++ {
		if c := s.ch(eq); c == '}' || c == ')' || s.toks[eq].nl && s.endsBefore(eq) || s.is(eq, "of") || s.is(eq, "in") {
			break
		}
		if c := s.ch(eq); c == '=' || c == '>' {
			eq++
			continue
		}
		eq = s.skip(eq)
		if s.ch(eq) == '=' && s.ch(eq+1) == '>' { // the arrow of a function type
			eq += 2
		}
	}
	s.fuel -= eq - i
	first := s.modifiers(i, jsModifiers)
	if s.ch(eq) == '=' {
		if arrow, open, ok := s.jsFunctionValue(eq + 1); ok {
			s.jsArrow(Function, name, first, arrow, open, "", "")
			return
		}
	}
	if s.top().kind != inSpace || s.ch(i-1) == '(' {
		return
	}
	k := Variable
	if w == "const" {
		k = Constant
	}
	end := s.expr(name)
	s.add(decl{kind: k, name: name, first: first, open: -1, end: end, sigEnd: min(end, s.lineOf(name, end))})
}

// lineOf is the last token, up to end, on the line of token i.
func (s *scanner) lineOf(i, end int) int {
	for j := i + 1; j <= end && j < len(s.toks); j++ {
		if s.toks[j].nl {
			return j - 1
		}
	}
	return end
}

// jsAssigned: a.b.c = function …, the older way to write methods and exports.
func (s *scanner) jsAssigned(i int) {
	var parts []string
	j := i
	for s.isName(j) && len(parts) < 8 {
		parts = append(parts, s.text(j))
		if s.ch(j+1) != '.' {
			break
		}
		j += 2
	}
	if len(parts) < 2 || s.ch(j+1) != '=' {
		return
	}
	arrow, open, ok := s.jsFunctionValue(j + 2)
	if !ok {
		return
	}
	var container []string
	for _, p := range parts[:len(parts)-1] {
		if p != "prototype" && p != "exports" && p != "module" && p != "this" && p != "window" {
			container = append(container, p)
		}
	}
	k := Method
	if len(container) == 0 {
		k = Function
	}
	s.jsArrow(k, j, i, arrow, open, "", strings.Join(container, "."))
}
