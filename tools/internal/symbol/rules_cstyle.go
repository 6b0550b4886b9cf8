package symbol

var (
	javaRules   = &rules{cStyle: true, detect: cDetect, types: map[string]Kind{"class": Class, "interface": Interface, "enum": Enum, "record": Class}}
	cRules      = &rules{cStyle: true, headless: true, detect: cDetect, types: map[string]Kind{"struct": Struct, "union": Struct, "enum": Enum, "class": Class}}
	cppRules    = &rules{cStyle: true, headless: true, detect: cDetect, types: map[string]Kind{"class": Class, "struct": Struct, "union": Struct, "enum": Enum, "concept": Type}}
	csharpRules = &rules{cStyle: true, headless: true, detect: cDetect, types: map[string]Kind{"class": Class, "struct": Struct, "interface": Interface, "enum": Enum, "record": Class}}

	cNotFunctions = words("if for while switch catch synchronized using lock fixed sizeof alignas alignof decltype __attribute__ __declspec throw return new static_assert _Static_assert defined delete do else case typeof nameof assert when noexcept requires explicit base")
	cNotTypes     = words("return new else throw case goto delete import package using typedef friend yield await extends implements permits throws where in is as out operator")
	cNotNames     = words("extends implements where permits struct class final sealed : enum union interface const")
	cSkip         = words("const constexpr volatile static final")
)

func cDetect(s *scanner, i int) {
	top := s.top()
	if !s.toks[i].word {
		if s.ch(i) == '{' && s.anonymous(i) {
			return
		}
		if top.kind == inType || top.kind == inSpace || top.kind == inEnum && !top.first {
			switch s.ch(i) {
			case ';', '=':
				s.cVariable(i)
			case '{':
				s.cBrace(i)
			}
		}
		return
	}
	w := s.text(i)
	prev := s.ch(i - 1)
	if k, ok := s.r.types[w]; ok && prev != '.' && prev != ':' {
		s.cType(i, k)
		return
	}
	if top.kind == inCode {
		return
	}
	switch w {
	case "namespace", "package":
		s.cNamespace(i)
		return
	case "typedef":
		s.cTypedef(i)
		return
	case "template":
		s.quiet = max(s.quiet, s.angles(i+1))
		return
	case "using":
		if s.isName(i+1) && s.ch(i+2) == '=' {
			end := s.expr(i + 3)
			s.add(decl{kind: Type, name: i + 1, first: i, open: -1, end: end, sigEnd: end})
		}
		return
	case "operator":
		s.cOperator(i)
		return
	}
	if top.kind == inEnum && top.first {
		if prev == '{' || prev == ',' || prev == ')' || prev == ']' {
			end := i
			for j := i + 1; j < len(s.toks) && j-i < 200; j = s.skip(j) {
				if c := s.ch(j); c == ',' || c == '}' || c == ';' {
					break
				}
				end = s.skip(j) - 1
			}
			s.add(decl{kind: Constant, name: i, first: i, open: -1, end: end, sigEnd: end})
		}
		return
	}
	if s.ch(i+1) == '(' {
		s.cFunction(i, i, i+1, "")
	} else if p := s.angles(i + 1); p > i+1 && s.ch(p) == '(' {
		s.cFunction(i, i, p, "")
	}
}

// cType: class, struct, enum and their like at token i. Uses of such a word in front of a variable are no definitions.
func (s *scanner) cType(i int, k Kind) {
	name := i + 1
	if s.is(name, "class") || s.is(name, "struct") && (s.is(i, "enum") || s.is(i, "record")) {
		if s.is(i, "enum") {
			name++ // C++: enum class
		} else {
			return
		}
	}
	if i > 0 && s.is(i-1, "enum") {
		return
	}
	for s.ch(name) == '[' { // [[attributes]]
		name = s.skip(name)
	}
	if !s.isName(name) {
		return
	}
	if s.isName(name+1) && !cNotNames[s.text(name+1)] && (s.l.name == "cpp" || s.l.name == "c") {
		name++ // an export macro stands before the name
	}
	if cNotNames[s.text(name)] && !s.is(name, "final") {
		return
	}
	label := s.text(name)
	for n := 0; n < maxDots && s.ch(name+1) == ':' && s.ch(name+2) == ':' && s.isName(name+3); n++ {
		name += 3
		label += "." + s.text(name)
	}
	p := s.angles(name + 1)
	ok := false
	switch s.ch(p) {
	case '{', ':':
		ok = true
	case '(':
		ok = s.is(i, "record") || s.l.name == "csharp"
	case '=':
		ok = s.is(i, "concept")
	case ';':
		ok = s.l.name == "csharp" && s.is(i, "record")
	case 0:
		ok = cNotNames[s.text(p)]
	}
	if !ok {
		return
	}
	open, end := s.body(p)
	if open < 0 && !s.is(i, "concept") && s.l.name != "csharp" {
		return
	}
	inner := inType
	if k == Enum {
		inner = inEnum
	}
	first := s.cBegin(i)
	if s.top().kind == inCode {
		first = i
	}
	s.add(decl{kind: k, name: name, label: label, first: first, open: open, end: end, sigEnd: end, inner: inner})
}

// cBegin is the first token of the declaration that holds token i, access labels left out.
func (s *scanner) cBegin(i int) int {
	j := s.stmt
	if j > i || i-j > 400 {
		return i
	}
	s.fuel -= i - j
	for k := j; k < i; k++ {
		if c := s.ch(k); c != 0 && c <= 3 { // preprocessor lines
			j = k + 1
		}
		if s.ch(k) == ':' && s.ch(k+1) != ':' && s.ch(k-1) != ':' && k-j <= 2 {
			switch s.text(j) {
			case "public", "private", "protected", "signals", "default":
				j = k + 1
			}
		}
	}
	return j
}

func (s *scanner) cNamespace(i int) {
	name := i + 1
	if !s.isName(name) {
		return // anonymous: cBrace
	}
	label := s.text(name)
	j := name + 1
	for range maxDots {
		if s.ch(j) == '.' && s.isName(j+1) {
			label, name, j = label+"."+s.text(j+1), j+1, j+2
		} else if s.ch(j) == ':' && s.ch(j+1) == ':' && s.isName(j+2) {
			label, name, j = label+"."+s.text(j+2), j+2, j+3
		} else {
			break
		}
	}
	switch {
	case s.ch(j) == ';' && s.is(i, "package"), s.ch(j) == ';' && s.l.name == "csharp":
		s.pkg = label
	case s.ch(j) == '{' && s.match[j] >= 0 && s.l.name == "csharp": // a namespace is where types live, not their container
		s.pkg = label
		s.blocks[int32(j)] = block{kind: inSpace}
	case s.ch(j) == '{' && s.match[j] >= 0:
		s.add(decl{kind: Module, name: name, label: label, first: s.cBegin(i), open: j, end: int(s.match[j]), inner: inSpace})
	}
}

// cBrace: a brace that no definition has claimed.
func (s *scanner) cBrace(i int) {
	if _, ok := s.blocks[int32(i)]; ok {
		return
	}
	container := s.top().container
	switch {
	case s.is(i-1, "namespace"), s.ch(i-1) == '\'' && s.is(i-3, "extern"):
		s.blocks[int32(i)] = block{kind: inSpace, container: container}
	case s.l.name == "csharp" && s.top().kind == inType:
		s.cProperty(i)
	}
}

// cProperty: public int X { get; set; }
func (s *scanner) cProperty(i int) {
	name := i - 1
	if !s.isName(name) || name <= s.stmt || s.match[i] < 0 || !s.cTypeBefore(name) || s.assign >= s.stmt {
		return
	}
	s.add(decl{kind: Field, name: name, first: s.cBegin(name), open: i, end: int(s.match[i]), inner: inCode})
}

// cTypeBefore: the token before i can end a type.
func (s *scanner) cTypeBefore(i int) bool {
	if i-1 < s.stmt {
		return false
	}
	switch s.ch(i - 1) {
	case 0:
		_, keyword := s.r.types[s.text(i-1)]
		return s.isName(i-1) && !cNotTypes[s.text(i-1)] && !keyword
	case '*', '&', '>', ']', '?':
		return true
	case ')':
		if m := s.match[i-1]; m > 0 {
			w := s.text(int(m) - 1)
			return w == "decltype" || w == "__attribute__" || w == "__declspec" || w == "alignas"
		}
	}
	return false
}

// anonymous claims the brace at i when it opens the body of an anonymous class (new X() {) or of an enumeration
// constant (Java), whose methods are definitions too.
func (s *scanner) anonymous(i int) bool {
	if s.l.name != "java" || s.match[i] < 0 {
		return false
	}
	if _, taken := s.blocks[int32(i)]; taken {
		return false
	}
	container := s.top().container
	j := i - 1
	if s.ch(j) == ')' && s.match[j] > 0 {
		j = int(s.match[j]) - 1
	} else if s.top().kind != inEnum {
		return false
	}
	if t := s.top(); t.kind == inEnum && t.first {
		if !s.isName(j) {
			return false
		}
		s.blocks[int32(i)] = block{kind: inType, container: within(container, s.text(j))}
		return true
	}
	for n := 0; n < 60 && j > 0; n, j = n+1, j-1 {
		s.fuel--
		switch s.ch(j) {
		case 0:
			if s.is(j, "new") {
				s.blocks[int32(i)] = block{kind: inType, container: container}
				return true
			}
		case '.', '<', '>', ',', '?', '[', ']', '&':
		default:
			return false
		}
	}
	return false
}

// cFunction: a name at token i in front of parameters that open at p. nameStart is the first token of the name.
func (s *scanner) cFunction(i, nameStart, p int, label string) {
	if label == "" && cNotFunctions[s.text(i)] || s.match[p] < 0 || s.assign >= s.stmt && s.stmt <= i {
		return
	}
	top := s.top()
	container := ""
	q := nameStart
	if label == "" {
		label = s.text(i)
	}
	dtor := s.ch(q-1) == '~'
	if dtor {
		q--
		label = "~" + label
	}
	last := top.name
	for n := 0; n < maxDots && s.ch(q-1) == ':' && s.ch(q-2) == ':'; n++ { // A::B::name
		j := q - 3
		if s.ch(j) == '>' {
			for d := 0; j >= 0 && q-j < 200; j-- {
				if s.ch(j) == '>' {
					d++
				} else if s.ch(j) == '<' {
					if d--; d == 0 {
						j--
						break
					}
				}
			}
		}
		if !s.isName(j) {
			break
		}
		if container == "" {
			last = s.text(j)
			container = last
		} else {
			container = s.text(j) + "." + container
		}
		q = j
	}
	ctor := s.text(i) == last && last != ""
	if !ctor && !s.cTypeBefore(q) && !(label != s.text(i) && !dtor) {
		return
	}
	open, end, body := s.cTrailer(s.skip(p))
	if end < 0 || !body && (top.kind != inType && top.kind != inEnum || container != "") {
		return
	}
	k := Function
	if container != "" || top.kind == inType || top.kind == inEnum {
		k = Method
	}
	if container != "" && top.container != "" {
		container = within(top.container, container)
	}
	sigEnd := s.skip(p) - 1
	if !body {
		sigEnd = end
	}
	s.add(decl{kind: k, name: i, label: label, container: container, first: s.cBegin(q), open: open, end: end, sigEnd: sigEnd})
}

// cTrailer reads what may stand between parameters and body. body tells a definition from a mere declaration.
func (s *scanner) cTrailer(i int) (open, end int, body bool) {
	inits := false
	j := i
	defer func() { s.fuel -= j - i }()
	for ; j < len(s.toks) && j-i < maxHeader; j++ {
		switch c := s.ch(j); c {
		case '{':
			m := s.match[j]
			if m < 0 {
				return -1, -1, false
			}
			if inits && s.toks[j-1].word && (s.ch(int(m)+1) == ',' || s.ch(int(m)+1) == '{') {
				j = int(m)
				continue
			}
			return j, int(m), true
		case ';':
			return -1, j, false
		case ':':
			inits = true
		case '=':
			if s.ch(j+1) == '>' {
				return -1, s.toSemicolon(j), true
			}
			return -1, s.toSemicolon(j), s.is(j+1, "default") || s.is(j+1, "delete")
		case '(', '[':
			j = s.skip(j) - 1
		case '}', ')', ']':
			return -1, -1, false
		}
	}
	return -1, -1, false
}

func (s *scanner) toSemicolon(i int) int {
	j := i
	defer func() { s.fuel -= min(j-i, maxHeader) }()
	for ; j < len(s.toks) && j-i < maxHeader; j = s.skip(j) {
		if c := s.ch(j); c == ';' {
			return j
		} else if c == '}' {
			return j - 1
		}
	}
	return min(i, len(s.toks)-1)
}

// cOperator: C++ and C# operators are named by their sign.
func (s *scanner) cOperator(i int) {
	j := i + 1
	label := "operator"
	if s.ch(j) == '(' && s.ch(j+1) == ')' {
		label, j = "operator()", j+2
	}
	for ; j < len(s.toks) && j-i < 12 && s.ch(j) != '('; j++ {
		if s.toks[j].word {
			label += " "
		}
		label += s.text(j)
	}
	if s.ch(j) == '(' {
		s.assign = min(s.assign, s.stmt-1)
		s.cFunction(i, i, j, label)
		s.stmt = j // its = is no assignment
	}
}

// cVariable: a field, property or variable whose declaration reaches token i, a ; or =.
func (s *scanner) cVariable(i int) {
	if s.assign >= s.stmt || i-s.stmt > 200 || i <= s.stmt {
		return
	}
	constant := false
	stop := i
	static := false
	for j := s.cBegin(i); j < i; j++ {
		switch c := s.ch(j); c {
		case '(':
			if !(j >= 2 && s.ch(j-2) == '@') {
				return
			}
			j = s.skip(j) - 1
		case '[', '{':
			j = s.skip(j) - 1
		case '<':
			j = max(s.angles(j)-1, j)
		case ',':
			if stop == i {
				stop = j
			}
		case ':': // a bit field or a label
			if s.ch(j+1) != ':' && s.ch(j-1) != ':' && stop == i {
				stop = j
			}
		case 0:
			switch w := s.text(j); w {
			case "const", "constexpr":
				constant = true
			case "final":
				constant = constant || static
			case "static":
				static = true
			default:
				if cNotTypes[w] || w == "extern" {
					return
				}
			}
		}
	}
	s.fuel -= i - s.stmt
	name := stop - 1
	if s.ch(name) == ']' && s.match[name] >= 0 {
		name = int(s.match[name]) - 1
	}
	if !s.isName(name) || !s.cTypeBefore(name) {
		return
	}
	if _, ok := s.r.types[s.text(name-1)]; ok || cNotFunctions[s.text(name)] {
		return
	}
	k := Variable
	if s.top().kind != inSpace {
		k = Field
	}
	if constant {
		k = Constant
	}
	first := s.cBegin(name)
	if first == name || first == name-1 && cSkip[s.text(first)] {
		return
	}
	s.add(decl{kind: k, name: name, first: first, open: -1, end: s.toSemicolon(i), sigEnd: max(i-1, name)})
}

func (s *scanner) cTypedef(i int) {
	name := -1
	k := Type
	j := i + 1
	for ; j < len(s.toks) && j-i < maxHeader && s.ch(j) != ';'; j = s.skip(j) {
		switch {
		case s.ch(j) == '{' && j == i+2 && s.isName(j-1):
			if sk, ok := s.r.types[s.text(j-1)]; ok {
				k = sk
			}
			if k == Enum && s.match[j] >= 0 {
				s.blocks[int32(j)] = block{kind: inEnum, container: s.top().container, first: true}
			}
		case s.ch(j) == '(' && s.ch(j+1) == '*' && s.isName(j+2):
			name = j + 2
			j = i + maxHeader
		case s.isName(j):
			name = j
		}
		if name >= 0 && j >= i+maxHeader {
			break
		}
	}
	if name < 0 {
		return
	}
	end := s.toSemicolon(i)
	s.add(decl{kind: k, name: name, first: i, open: -1, end: end, sigEnd: s.lineOf(i, end)})
}
