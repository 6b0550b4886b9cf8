package secrets

import "strings"

// value is the right-hand side of an assignment.
type value struct {
	from, to int
	close    int // where the closing quote is
	signs    int // bytes of signs and blanks between name and value; 0: nothing is assigned
	quoted   bool
	tight    bool // NAME=value: no blank around the sign, as in an environment file
	colon    bool
	literal  bool // only a quoted value counts: name == "value", name("value")
	dash     bool // name - 'value'
	markup   bool // <name>value</name>
	comma    bool // set("name", "value")
}

// valueAfter reads what follows a name that ends at s[i].
func (f *finder) valueAfter(i int) (v value, ok bool) {
	s := f.s
	start := i
	closed := false // the name itself was quoted
	for i < len(s) && i-start < 6 {
		switch s[i] {
		case '"', '\'', '`':
			closed = true
			i++
			continue
		case '}': // the end of an object: what follows belongs to another
			closed = false
			i++
			continue
		case '\\', ']', ')', '*':
			i++
			continue
		}
		break
	}
	i = skipColour(s, i)
	blanks := i
	i = skipBlank(s, i)
	if closed && i > blanks && i+6 < len(s) && hasFold(s[i:], "value=") { // key="…" value="…"
		i += len("value")
		blanks = i
	}
	v.tight = i == blanks
	if i == len(s) {
		return v, false
	}
	// A type between name and sign: token string = "…", token: str = "…".
	if isAlpha(s[i]) && !v.tight {
		j := i
		for j < len(s) && j-i < 24 && (isAlnum(s[j]) || s[j] == '.' || s[j] == '*' || s[j] == '[' || s[j] == ']') {
			j++
		}
		k := skipBlank(s, j)
		if k == j || k >= len(s) || s[k] != '=' {
			return v, false
		}
		i = k
	}
	sign := i
	switch s[i] {
	case '=':
		if i+1 < len(s) && s[i+1] == '~' {
			return v, false
		}
		i++
		if i < len(s) && s[i] == '>' {
			i++
		}
		if i < len(s) && s[i] == '=' { // a comparison tells the value as well
			v.literal = true
			for i < len(s) && i-sign < 3 && s[i] == '=' {
				i++
			}
		}
	case '!':
		v.literal = true
		for i++; i < len(s) && i-sign < 3 && s[i] == '='; {
			i++
		}
		if i-sign < 2 {
			return v, false
		}
	case '(': // a call or a constructor: secret("…")
		v.literal = true
		i++
	case ':', '?', '+', '.', '|':
		v.colon = s[i] == ':'
		for i < len(s) && i-sign < 4 && (s[i] == ':' || s[i] == '?' || s[i] == '+' || s[i] == '.' || s[i] == '|') {
			i++
		}
		if i < len(s) && s[i] == '=' {
			i++
			v.colon = false
		} else if s[sign] != ':' || i-sign > 1 {
			return v, false
		}
	case ',':
		if !closed {
			return v, false
		}
		v.comma = true
		i++
	case '>':
		v.markup = true
		i++
	case '-':
		if v.tight || i+1 >= len(s) || s[i+1] != ' ' {
			return v, false
		}
		v.dash = true
		i++
	case '&': // &gt; &quot; and the like never precede a value
		return v, false
	case '"', '\'', '`':
		return v, false
	default:
		return v, false
	}
	signEnd := i
	if !v.markup && !v.literal && i < len(s) {
		// The first of a list: [ "…", "…" ].
		j := skipBlank(s, i)
		if j < len(s) && s[j] == '[' {
			for j++; j < len(s) && j-i < 64 && isSpace(s[j]); {
				j++
			}
			if j < len(s) && (s[j] == '"' || s[j] == '\'') {
				i = j
			}
		}
	}
	if v.markup {
		for i < len(s) && i-signEnd < 64 && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
			i++
		}
	} else {
		i = skipBlank(s, i)
	}
	v.tight = v.tight && i == signEnd
	// A type after a colon: token: string = "…".
	if v.colon && i < len(s) && (isAlpha(s[i]) || s[i] == '&') {
		j := i + 1
		for j < len(s) && j-i < 32 && (isAlnum(s[j]) || strings.IndexByte("._[]<>|? ", s[j]) >= 0) {
			j++
		}
		if j < len(s) && s[j] == '=' && j > i && s[j-1] == ' ' && (j+1 >= len(s) || s[j+1] == ' ') {
			i = skipBlank(s, j+1)
			v.colon = false
		}
	}
	if sign := s[sign]; sign == '=' || sign == ':' {
		i = f.nextLine(i, sign, v)
	}
	i = skipColour(s, i)
	v.signs = i - start
	if v.signs == 0 || i >= len(s) {
		return v, false
	}
	// Prefixes of string literals; an f-string is a template and ends up in standsFor.
	if i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\'') && strings.IndexByte("bruBRULf@$", s[i]) >= 0 {
		i++
	}
	esc := 0
	for i+esc < len(s) && s[i+esc] == '\\' && esc < 4 {
		esc++
	}
	if q := i + esc; q < len(s) && (s[q] == '"' || s[q] == '\'' || s[q] == '`') {
		w, ok := quoted(s, q, esc)
		w.signs, w.tight, w.colon, w.dash, w.literal, w.comma = v.signs, v.tight, v.colon, v.dash, v.literal, v.comma
		return w, ok
	}
	if v.dash || v.literal {
		return v, false
	}
	v.from = i
	if v.markup { // whatever stands before the next tag
		for v.to = i; v.to < len(s) && v.to-i <= maxValue && s[v.to] != '<' && s[v.to] != '\n'; {
			v.to++
		}
		if at := v.to; at < len(s) && s[at] == '\n' {
			for at < len(s) && at-v.to < 64 && isSpace(s[at]) {
				at++
			}
			if at == len(s) || s[at] != '<' {
				return v, false
			}
			return v, v.to > i
		}
		if v.to-i > maxValue || v.to == len(s) || s[v.to] != '<' {
			return v, false
		}
		for v.to > i && isSpace(s[v.to-1]) {
			v.to--
		}
		return v, v.to > i
	}
	if i < f.bare.from || i > f.bare.to {
		f.bare = run{i, i}
	}
	for limit := min(len(s), i+maxValue+1); f.bare.to < limit && !endsBare(s, f.bare.to); {
		f.bare.to++
	}
	v.to = f.bare.to
	return v, v.to > v.from && v.to-v.from <= maxValue
}

// quoted reads the string that opens at s[q], behind esc backslashes. Blanks at its
// ends are no part of the value; one within means that it is not a credential.
func quoted(s string, q, esc int) (v value, ok bool) {
	quote := s[q]
	v.quoted = true
	v.from = q + 1
	if v.from+1 < len(s) && s[v.from] == quote && s[v.from+1] == quote {
		return tripleQuoted(s, v.from+2, quote)
	}
	for v.from < len(s) && v.from-q < 4 && s[v.from] == ' ' {
		v.from++
	}
	for j := v.from; j < len(s) && j-v.from <= maxValue; j++ {
		switch {
		case s[j] == ' ' || s[j] == '\r':
			k := j
			for k < len(s) && k-j < 4 && (s[k] == ' ' || s[k] == '\r') {
				k++
			}
			if k == len(s) || s[k] != quote || v.from == j {
				return v, false
			}
			v.to, v.close = j, k
			return v, true
		case s[j] < ' ':
			return v, false
		case s[j] == '\\' && esc == 0 && j+1 < len(s) && s[j+1] != '\n':
			j++
		case s[j] == quote:
			v.to, v.close = j, j
			if esc > 0 {
				for v.to > v.from && s[v.to-1] == '\\' {
					v.to--
				}
			}
			return v, v.to > v.from
		}
	}
	return v, false
}

// anotherValue reads the quoted value that follows v in a list or as an alternative.
func anotherValue(s string, v value) (value, bool) {
	i := v.to
	for i < len(s) && i-v.to < 4 && (s[i] == '\\' || s[i] == ' ' || s[i] == '\r') {
		i++
	}
	if i == len(s) || s[i] != '"' && s[i] != '\'' && s[i] != '`' {
		return v, false
	}
	i = skipBlank(s, i+1)
	sign := i
	for i < len(s) && i-sign < 2 && (s[i] == ',' || s[i] == '|') {
		i++
	}
	if i == sign {
		return v, false
	}
	lead := i
	for i < len(s) && i-lead < 64 && isSpace(s[i]) {
		i++
	}
	if i >= len(s) || s[i] != '"' && s[i] != '\'' && s[i] != '`' {
		return v, false
	}
	next, ok := quoted(s, i, 0)
	if !ok {
		return next, false
	}
	// In {"token": "a", "name": "b"} the next string is a name.
	if j := skipBlank(s, next.close+1); j < len(s) && (s[j] == ':' || s[j] == '=') {
		return next, false
	}
	return next, true
}

func skipBlank(s string, i int) int {
	from := i
	for i < len(s) && i-from < 64 && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// endsBare reports whether an unquoted value ends before s[i].
func endsBare(s string, i int) bool {
	switch s[i] {
	case ' ', '\t', '\n', '\r', '"', '\'', '`', ',', ';', ')', ']', '<', '>', '|', '\\', '&', '}':
		return true
	}
	if s[i] == '=' { // padding stays, name=name=value does not
		return i+1 < len(s) && s[i+1] != '=' && !isSpace(s[i+1]) && isAlnum(s[i+1])
	}
	return s[i] < ' '
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
