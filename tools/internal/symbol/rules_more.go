package symbol

var (
	rustRules   = &rules{detect: rustDetect, types: map[string]Kind{"struct": Struct, "enum": Enum, "union": Struct, "trait": Interface, "mod": Module}}
	kotlinRules = &rules{newlines: true, detect: kotlinDetect, types: map[string]Kind{"class": Class, "interface": Interface, "object": Class}}
	swiftRules  = &rules{newlines: true, detect: swiftDetect, types: map[string]Kind{"class": Class, "struct": Struct, "enum": Enum, "protocol": Interface, "actor": Class}}
	phpRules    = &rules{detect: phpDetect, types: map[string]Kind{"class": Class, "interface": Interface, "trait": Class, "enum": Enum}}

	rustModifiers   = words("pub async unsafe const extern default")
	kotlinModifiers = words("public private protected internal open abstract final override sealed data inner enum annotation value inline suspend operator infix tailrec external const lateinit companion expect actual vararg noinline crossinline fun")
	swiftModifiers  = words("public private fileprivate internal open static class final override mutating nonmutating convenience required lazy weak unowned indirect async nonisolated package dynamic optional prefix postfix infix")
	phpModifiers    = words("public private protected static abstract final readonly var")
)

// rustBegin walks back over pub, pub(crate), async, extern "C" and their like.
func (s *scanner) rustBegin(i int) int {
	for i > 0 {
		switch {
		case s.toks[i-1].word && rustModifiers[s.text(i-1)]:
			i--
		case s.ch(i-1) == ')' && s.match[i-1] > 0 && s.is(int(s.match[i-1])-1, "pub"):
			i = int(s.match[i-1]) - 1
		case s.ch(i-1) == '\'' && i > 2 && s.is(i-3, "extern"):
			i -= 2
		default:
			return i
		}
	}
	return i
}

func rustDetect(s *scanner, i int) {
	if !s.toks[i].word || s.ch(i-1) == '.' {
		return
	}
	top := s.top()
	w := s.text(i)
	name := i + 1
	if s.is(name, "r") && s.ch(name+1) == '#' { // r#type: a keyword used as a name
		name += 2
	}
	plain := func(k Kind, open, end int, inner blockKind) {
		s.add(decl{kind: k, name: name, first: s.rustBegin(i), open: open, end: end, sigEnd: end, inner: inner})
	}
	switch w {
	case "fn":
		if s.isName(name) && s.ch(s.angles(name+1)) == '(' {
			k := Function
			if top.kind == inType {
				k = Method
			}
			open, end := s.body(s.angles(name + 1))
			plain(k, open, end, inCode)
		}
		return
	case "struct", "enum", "union", "trait", "mod":
		if !s.isName(name) || !s.isStart(s.rustBegin(i)) && s.ch(s.rustBegin(i)-1) != ']' {
			return
		}
		if c := s.ch(s.angles(name + 1)); w == "union" && c != '{' && !s.is(s.angles(name+1), "where") {
			return
		}
		open, end := s.body(s.angles(name + 1))
		inner := inType
		if w == "enum" {
			inner = inEnum
		} else if w == "mod" {
			inner = inSpace
		}
		plain(s.r.types[w], open, end, inner)
		return
	case "impl":
		if s.isStart(s.rustBegin(i)) || s.ch(s.rustBegin(i)-1) == ']' {
			s.rustImpl(i)
		}
		return
	case "type":
		if s.isName(name) && (top.kind == inSpace || top.kind == inType || s.isStart(i)) {
			end := s.toSemicolon(name)
			plain(Type, -1, end, 0)
		}
		return
	case "const", "static":
		if s.is(name, "mut") {
			name++
		}
		if s.isName(name) && s.ch(name+1) == ':' {
			k := Constant
			if w == "static" {
				k = Variable
			}
			plain(k, -1, s.toSemicolon(name), 0)
		}
		return
	case "macro_rules":
		if s.ch(i+1) == '!' && s.isName(i+2) {
			name = i + 2
			end := s.skip(i+3) - 1
			s.add(decl{kind: Function, name: name, first: i, open: -1, end: end, sigEnd: name})
		}
		return
	}
	prev := s.ch(i - 1)
	switch {
	case top.kind == inEnum:
		if prev == '{' || prev == ',' || prev == ']' {
			end := i
			for j := i + 1; j < len(s.toks) && j-i < 200; j = s.skip(j) {
				if c := s.ch(j); c == ',' || c == '}' {
					break
				}
				end = s.skip(j) - 1
			}
			s.add(decl{kind: Constant, name: i, first: i, open: -1, end: end, sigEnd: end})
		}
	case top.kind == inType && s.ch(i+1) == ':' && s.ch(i+2) != ':':
		if prev == '{' || prev == ',' || prev == ']' || prev == ')' || s.is(i-1, "pub") {
			end := i
			for j := i + 1; j < len(s.toks) && j-i < 200; j++ {
				c := s.ch(j)
				if c == ',' || c == '}' {
					break
				}
				if c == '<' {
					j = max(s.angles(j)-1, j)
				} else {
					j = s.skip(j) - 1
				}
				end = j
			}
			s.add(decl{kind: Field, name: i, first: s.rustBegin(i), open: -1, end: end, sigEnd: end})
		}
	}
}

// rustImpl: impl<T> Trait for Type<T> { is where methods of Type live.
func (s *scanner) rustImpl(i int) {
	name := ""
	for j := s.angles(i + 1); j < len(s.toks) && j-i < maxHeader; j++ {
		switch c := s.ch(j); c {
		case 0:
			switch w := s.text(j); w {
			case "for":
				name = ""
				continue
			case "where":
				for j < len(s.toks) && j-i < maxHeader && s.ch(j) != '{' {
					j++
				}
				j--
				continue
			case "dyn", "mut", "const":
			default:
				name = w
			}
		case '<':
			j = max(s.angles(j)-1, j)
		case '(', '[':
			j = s.skip(j) - 1
		case '{':
			if s.match[j] >= 0 {
				c := s.top().container
				if name != "" {
					name = within(c, name)
				}
				s.blocks[int32(j)] = block{kind: inType, container: name}
			}
			return
		case ';', '}':
			return
		}
	}
}

func kotlinDetect(s *scanner, i int) {
	if !s.toks[i].word || s.ch(i-1) == '.' || s.ch(i-1) == ':' && s.ch(i-2) == ':' {
		return
	}
	top := s.top()
	w := s.text(i)
	switch w {
	case "package":
		if top.kind == inSpace && s.isStart(i) {
			s.pkg = s.dotted(i + 1)
		}
		return
	case "class", "interface", "object":
		name := i + 1
		first := s.begin(s.modifiers(i, kotlinModifiers))
		if s.is(i-1, "companion") && !s.isName(name) || s.is(i-1, "companion") && s.toks[name].nl {
			if open, _ := s.body(i + 1); open >= 0 {
				s.blocks[int32(open)] = block{kind: inType, container: top.container, name: top.name}
			}
			return
		}
		if !s.isName(name) || s.ch(i-1) == ':' {
			return
		}
		k := s.r.types[w]
		inner := inType
		if s.is(i-1, "enum") {
			k, inner = Enum, inEnum
		}
		params := s.angles(name + 1)
		open, end := s.body(params)
		s.add(decl{kind: k, name: name, first: first, open: open, end: end, sigEnd: end, inner: inner})
		if s.ch(params) == '(' && params <= end {
			s.kotlinProperties(params, s.out[len(s.out)-1].Qualified())
		}
		return
	case "fun":
		s.kotlinFun(i)
		return
	case "typealias":
		if s.isName(i + 1) {
			end := s.expr(i + 1)
			s.add(decl{kind: Type, name: i + 1, first: i, open: -1, end: end, sigEnd: end})
		}
		return
	case "val", "var":
		first := s.modifiers(i, kotlinModifiers)
		if c := s.ch(first - 1); top.kind == inCode || c == '(' || c == ',' {
			return
		}
		name := s.receiverName(s.angles(i + 1))
		if name < 0 {
			return
		}
		k := Variable
		if top.kind != inSpace {
			k = Field
		}
		for j := first; j < i; j++ {
			if s.is(j, "const") {
				k = Constant
			}
		}
		end := s.expr(name)
		s.add(decl{kind: k, name: name, first: first, open: -1, end: end, sigEnd: s.lineOf(name, end)})
		return
	}
	if top.kind == inEnum && top.first && !kotlinModifiers[w] {
		if c := s.ch(i - 1); c == '{' || c == ',' {
			end := i
			if s.ch(i+1) == '(' {
				end = s.skip(i+1) - 1
			}
			s.add(decl{kind: Constant, name: i, first: i, open: -1, end: end, sigEnd: end})
		}
	}
}

// kotlinProperties adds the val and var parameters of a primary constructor, whose parentheses open at p.
func (s *scanner) kotlinProperties(p int, container string) {
	s.fuel -= s.skip(p) - p
	for j := p + 1; j < int(s.match[p]); j = s.skip(j) {
		if (s.is(j, "val") || s.is(j, "var")) && s.isName(j+1) {
			end := max(s.expr(j+1), j+1)
			s.add(decl{kind: Field, name: j + 1, container: container, first: s.modifiers(j, kotlinModifiers), open: -1, end: end, sigEnd: end})
		}
	}
}

// receiverName follows a.b<c>.name and returns the token of the last name, or -1.
func (s *scanner) receiverName(j int) int {
	name := -1
	for n := 0; n < 20 && s.isName(j); n++ {
		name = j
		j = s.angles(j + 1)
		if s.ch(j) == '?' {
			j++
		}
		if s.ch(j) != '.' {
			break
		}
		j++
	}
	return name
}

func (s *scanner) kotlinFun(i int) {
	name := s.receiverName(s.angles(i + 1))
	if name < 0 || s.ch(s.angles(name+1)) != '(' || s.is(i+1, "interface") {
		return
	}
	k := Function
	container := ""
	if s.top().kind == inType || s.top().kind == inEnum {
		k = Method
	}
	if s.ch(name-1) == '.' { // an extension: its receiver is its container
		for j := name - 2; j > i; j-- {
			if s.isName(j) && (s.ch(j-1) != '<' && s.ch(j-1) != ',') {
				container, k = s.text(j), Method
				break
			}
		}
	}
	after := s.skip(s.angles(name + 1))
	open, end := s.body(after)
	// an expression body ends with its line; its braces are code
	for j := after; j < len(s.toks) && j-after < 100; j = s.skip(j) {
		if s.ch(j) == '{' || j > after && s.toks[j].nl && s.endsBefore(j) {
			break
		}
		if s.ch(j) == '=' {
			open, end = -1, s.expr(j)
			break
		}
	}
	s.add(decl{kind: k, name: name, container: container, first: s.begin(s.modifiers(i, kotlinModifiers)), open: open, end: end, sigEnd: s.lineOf(after-1, end)})
}

func (s *scanner) dotted(i int) string {
	out := s.text(i)
	for n := 0; n < maxDots && s.ch(i+1) == '.' && s.isName(i+2); n++ {
		i += 2
		out += "." + s.text(i)
	}
	return out
}

func swiftDetect(s *scanner, i int) {
	if !s.toks[i].word || s.ch(i-1) == '.' {
		return
	}
	top := s.top()
	w := s.text(i)
	name := i + 1
	member := top.kind == inType || top.kind == inEnum
	switch w {
	case "class", "struct", "enum", "protocol", "actor":
		if !s.isName(name) || s.ch(i-1) == ':' || s.ch(i-1) == ',' || swiftModifiers[s.text(name)] || s.is(name, "func") || s.is(name, "var") || s.is(name, "let") || s.is(name, "subscript") {
			return
		}
		open, end := s.body(s.angles(name + 1))
		if open < 0 {
			return
		}
		inner := inType
		if w == "enum" {
			inner = inEnum
		}
		s.add(decl{kind: s.r.types[w], name: name, first: s.begin(s.modifiers(i, swiftModifiers)), open: open, end: end, inner: inner})
	case "extension":
		if !s.isName(name) || !s.isStart(s.modifiers(i, swiftModifiers)) {
			return
		}
		if open, _ := s.body(name); open >= 0 {
			s.blocks[int32(open)] = block{kind: inType, container: s.dotted(name)}
		}
	case "func":
		label := ""
		p := name
		if s.isName(name) {
			p = s.angles(name + 1)
		} else {
			for s.ch(p) != 0 && s.ch(p) != '(' && p-name < 8 {
				label += s.text(p)
				p++
			}
			if label == "" {
				return
			}
		}
		if s.ch(p) == '(' {
			s.swiftFunc(i, name, p, label, member)
		}
	case "init", "subscript":
		if member && (s.ch(name) == '(' || s.ch(name) == '<' || s.ch(name) == '?' || s.ch(name) == '!') {
			p := name
			if s.ch(p) == '?' || s.ch(p) == '!' {
				p++
			}
			if p = s.angles(p); s.ch(p) == '(' {
				s.swiftFunc(i, i, p, "", true)
			}
		}
	case "deinit":
		if member && s.ch(name) == '{' && s.match[name] >= 0 {
			s.add(decl{kind: Method, name: i, first: i, open: name, end: int(s.match[name])})
		}
	case "typealias", "associatedtype":
		if s.isName(name) {
			end := s.expr(name)
			s.add(decl{kind: Type, name: name, first: s.modifiers(i, swiftModifiers), open: -1, end: end, sigEnd: end})
		}
	case "let", "var":
		if top.kind == inCode || !s.isName(name) {
			return
		}
		k := Variable
		if member {
			k = Field
		} else if w == "let" {
			k = Constant
		}
		end := s.expr(name)
		s.add(decl{kind: k, name: name, first: s.modifiers(i, swiftModifiers), open: -1, end: end, sigEnd: s.lineOf(name, end)})
	case "case":
		for j := name; top.kind == inEnum && s.isName(j); {
			end := j
			if s.ch(j+1) == '(' {
				end = s.skip(j+1) - 1
			} else if s.ch(j+1) == '=' {
				end = s.expr(j + 1)
			}
			s.add(decl{kind: Constant, name: j, first: j, open: -1, end: end, sigEnd: end})
			if s.ch(end+1) != ',' {
				return
			}
			j = end + 2
		}
	}
}

func (s *scanner) swiftFunc(i, name, p int, label string, member bool) {
	k := Function
	if member {
		k = Method
	}
	open, end := s.body(s.skip(p))
	s.add(decl{kind: k, name: name, label: label, first: s.begin(s.modifiers(i, swiftModifiers)), open: open, end: end, sigEnd: end})
}

func phpDetect(s *scanner, i int) {
	if !s.toks[i].word || s.ch(i-1) == ':' && s.ch(i-2) == ':' || s.ch(i-1) == '>' && s.ch(i-2) == '-' {
		return
	}
	top := s.top()
	w := s.text(i)
	name := i + 1
	first := func() int { return s.modifiers(i, phpModifiers) }
	switch w {
	case "namespace":
		if !s.isStart(i) || !s.isName(name) {
			return
		}
		s.pkg = s.text(name)
		for n := 0; n < maxDots && s.ch(name+1) == '\\' && s.isName(name+2); n++ {
			name += 2
			s.pkg += "." + s.text(name)
		}
		if s.ch(name+1) == '{' && s.match[name+1] >= 0 {
			s.blocks[int32(name+1)] = block{kind: inSpace}
		}
	case "class", "interface", "trait", "enum":
		if !s.isName(name) || s.is(name, "extends") || s.is(name, "implements") {
			return
		}
		open, end := s.body(name + 1)
		if open < 0 {
			return
		}
		inner := inType
		if w == "enum" {
			inner = inEnum
		}
		s.add(decl{kind: s.r.types[w], name: name, first: first(), open: open, end: end, inner: inner})
	case "function":
		if s.ch(name) == '&' {
			name++
		}
		if !s.isName(name) || s.ch(name+1) != '(' {
			return
		}
		k := Function
		if top.kind == inType || top.kind == inEnum {
			k = Method
		}
		open, end := s.body(s.skip(name + 1))
		s.add(decl{kind: k, name: name, first: first(), open: open, end: end, sigEnd: end})
	case "const":
		for s.isName(name) && s.isName(name+1) { // a type stands before the name
			name++
		}
		if s.isName(name) && s.ch(name+1) == '=' {
			end := s.toSemicolon(name)
			s.add(decl{kind: Constant, name: name, first: first(), open: -1, end: end, sigEnd: s.lineOf(name, end)})
		}
	case "case":
		if top.kind == inEnum && s.isName(name) {
			end := s.toSemicolon(name)
			s.add(decl{kind: Constant, name: name, first: i, open: -1, end: end, sigEnd: end})
		}
	default:
		if w[0] == '$' && top.kind == inType && i > s.stmt && phpModifiers[s.text(s.stmt)] {
			if c := s.ch(i + 1); c == ';' || c == '=' || c == '{' {
				end := s.toSemicolon(i)
				s.add(decl{kind: Field, name: i, first: s.stmt, open: -1, end: end, sigEnd: s.lineOf(i, end)})
			}
		}
	}
}
