package secrets

import "strings"

// The check functions below serve rules that a shape cannot express. Each is
// called with the place of its keyword, reads a bounded neighbourhood of it, and
// reports through f.add.

// maxValue bounds the bytes of a value in an assignment, a URL or a header.
const maxValue = 512

// assignment is the rule for names that say what they hold:
//
//	password = "…"   api_key: '…'   <secret>…</secret>   set("TOKEN", "…")
//
// It looks ahead from the keyword over the rest of the name, the sign and the
// quote, then judges the value.
func assignment(f *finder, r Rule, at, end int) {
	if at < f.nameEnd && end <= f.nameEnd {
		return
	}
	s := f.s
	word := s[at:end]
	// A keyword inside a longer word is none: "compass", "tokenization", "bypass".
	if len(word) <= 4 && at > 0 && isAlpha(s[at-1]) && !(isUpper(s[at]) && isLower(s[at-1])) {
		return
	}
	i := end
	stop := min(len(s), end+64)
	for i < stop && (isAlnum(s[i]) || s[i] == '_' || s[i] == '-') {
		i++
	}
	if i == stop && i < len(s) {
		f.nameEnd = i // no name is that long
		return
	}
	if !holds(s, at, end, i) {
		return
	}
	name := strength(word)
	if name == generic && !namesKey(s, at, i) {
		return
	}
	v, ok := f.valueAfter(i)
	if !ok {
		if v.signs == 0 {
			if from, to, ok := f.spoken(at, i); ok && isSecretValue(s[from:to], value{from: from, to: to, tight: true}, max(name, strong)) {
				f.add(from, to, r)
			} else if from, to, ok := comparedBefore(s, at); ok && isSecretValue(s[from:to], value{from: from, to: to, quoted: true}, name) {
				f.add(from, to, r)
			}
			f.nameEnd = i
		}
		return
	}
	// Several keywords of one name lead to the same value, and so do keywords inside
	// a bare value: judge it once.
	if f.judged[name] == v.from || !v.quoted && f.judged[name] >= f.bare.from && f.judged[name] < v.from {
		return
	}
	f.judged[name] = v.from
	if (v.markup && holdsKey(s[v.from:v.to]) || isSecretValue(s[v.from:v.to], v, name)) && !(v.colon && isExample(s, at)) {
		f.add(v.from, v.to, r)
	}
	// Further values of the same name: ["a", "b"], 'a' | 'b', "a" || "b".
	for n := 0; v.quoted && n < maxValues; n++ {
		if v, ok = anotherValue(s, v); !ok {
			return
		}
		f.judged[name] = v.from
		if isSecretValue(s[v.from:v.to], v, name) {
			f.add(v.from, v.to, r)
		}
	}
}

// isExample reports whether the line of s[at] lies below a key of YAML that says that
// what follows is made up: example or examples.
func isExample(s string, at int) bool {
	start := strings.LastIndexByte(s[max(0, at-maxExample):at], '\n')
	if start < 0 {
		return false
	}
	end := max(0, at-maxExample) + start // of the line before
	indent := at
	for i := end + 1; i < at; i++ {
		if s[i] != ' ' {
			indent = i - end - 1
			break
		}
	}
	if indent == at {
		indent = at - end - 1
	}
	for range 12 {
		if indent == 0 || end <= 0 {
			return false
		}
		from := max(0, end-maxExample)
		if n := strings.LastIndexByte(s[from:end], '\n'); n >= 0 {
			from += n + 1
		} else if from > 0 {
			return false
		}
		line := strings.TrimRight(s[from:end], " \r")
		body := strings.TrimLeft(line, " ")
		if n := len(line) - len(body); body != "" && n < indent {
			if body == "example:" || body == "examples:" {
				return true
			}
			indent = n
		}
		end = from - 1
	}
	return false
}

// maxExample bounds a line that isExample looks at.
const maxExample = 160

// maxValues bounds the values of one name.
const maxValues = 64

// spoken finds the value that stands behind a name without a sign, where that means
// an assignment: --token value on a command line, ENV TOKEN value in a recipe. The
// name holds s[at] and ends at s[i].
func (f *finder) spoken(at, i int) (from, to int, ok bool) {
	s := f.s
	if i >= len(s) || s[i] != ' ' {
		return 0, 0, false
	}
	first := before(s, at, 40, &tokenSet)
	if !strings.HasPrefix(s[first:i], "--") && !strings.HasSuffix(s[:first], "ENV ") {
		return 0, 0, false
	}
	from = skipBlank(s, i)
	for to = from; to < len(s) && to-from <= 128 && !endsBare(s, to); {
		to++
	}
	return from, to, to > from && to-from <= 128
}

// comparedBefore finds the string that a name at s[at] is compared with, when it
// stands first: "…" == password.
func comparedBefore(s string, at int) (from, to int, ok bool) {
	i := at
	for i > 0 && at-i < 64 && (isAlnum(s[i-1]) || s[i-1] == '_' || s[i-1] == '.' || s[i-1] == '$') {
		i--
	}
	j := i
	for j > 0 && i-j < 2 && s[j-1] == ' ' {
		j--
	}
	sign := j
	for j > 0 && sign-j < 3 && (s[j-1] == '=' || s[j-1] == '!') {
		j--
	}
	if sign-j < 2 {
		return 0, 0, false
	}
	for j > 0 && s[j-1] == ' ' && sign-j < 6 {
		j--
	}
	if j == 0 || s[j-1] != '"' && s[j-1] != '\'' {
		return 0, 0, false
	}
	to = j - 1
	for from = to; from > 0 && to-from <= 128; from-- {
		if s[from-1] == s[to] {
			return from, to, from < to
		}
		if s[from-1] <= ' ' {
			return 0, 0, false
		}
	}
	return 0, 0, false
}
