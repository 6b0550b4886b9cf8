package secrets

import (
	"encoding/base64"
	"strings"
)

// The check functions below serve rules that a shape cannot express. Each is
// called with the place of its keyword, reads a bounded neighbourhood of it, and
// reports through f.add.

// maxValue bounds the bytes of a value in an assignment, a URL or a header.
const maxValue = 512

// bareName lists last parts of a name that make it speak about a credential
// instead of holding one: tokenId, password_file, secretName.
var bareName = map[string]bool{}

func init() {
	for w := range strings.FieldsSeq(`id ids name names path paths file files filename dir url urls uri endpoint host port
		type types kind length len size count counts limit limits max min budget field fields header headers prefix suffix
		regex pattern format version policy hint label placeholder title text description help message msg error errors
		expiry expires expired expiration ttl timeout interval at in on of for provider manager service store storage
		class column table env var vars variable arn ref reference input output template selector index required enabled
		disabled valid validator test tests algorithm alg scope scopes usage info status state strategy method mode role
		user username email owner source sources target location region position start end offset line lines word words
		node list map set array stream handler func function callback getter cmd command helper reset change confirm
		confirmation`) {
		bareName[w] = true
	}
}

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

// namesKey reports whether the bare word key, at s[at] of a name that ends at end,
// may hold a credential: mailKey, stripe_key, ?key=, but not cacheKey or sort_key.
func namesKey(s string, at, end int) bool {
	for i := at + len("key"); i < end; i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	from := at
	for from > 0 && at-from < 24 && (isAlnum(s[from-1]) || s[from-1] == '_' || s[from-1] == '-') {
		from--
	}
	if from == at {
		// Alone it is a cache's or a map's, unless a query or a log says it.
		return at > 0 && (s[at-1] == '?' || s[at-1] == '&') || at > 0 && s[at] == 'K' && s[at-1] == ' ' ||
			at > 0 && s[at-1] == ' ' && end+1 < len(s) && s[end] == ' ' && s[end+1] == '-'
	}
	word := s[from:at]
	if strings.IndexByte(word, '-') >= 0 || isLower(s[at]) && isAlpha(s[at-1]) {
		return false // data-key, monkey
	}
	word = strings.TrimRight(word, "_")
	n := len(word)
	if n == 0 || isDigit(word[n-1]) {
		return n > 0
	}
	for n > 0 && isAlpha(word[n-1]) && (n == len(word) || isLower(word[n-1]) == isLower(word[len(word)-1])) {
		n--
	}
	if n > 0 && isUpper(word[n-1]) && isLower(word[len(word)-1]) {
		n--
	}
	return !inFold(plainKeys, word[n:])
}

// plainKeys are the words before key that make it a name for something to look up.
var plainKeys = map[string]bool{}

func init() {
	for w := range strings.FieldsSeq(`cache primary foreign public sort partition map row object hash range index group item
		timeout node data meta attr attribute property prop field column translation message i18n locale label query search
		storage session state event hot short shortcut idempotency dedupe unique composite natural lookup dict
		parent child option setting config registry route path file class element react render list order test
		tree left right entry value default current next prev last first old new no any my the this with by on of
		pub host signature verify verification integrity checksum content etag version lock build commit tag ref
		trace span request correlation metric resource bucket s3 blob asset image icon color theme style layout
		input output error type kind category series chart site recaptcha answer license keyboard arrow enter
		escape tab ctrl alt meta modifier press game music piano compose kms vault ssm ecdsa rsa dsa ed25519 dh x25519 known`) {
		plainKeys[w] = true
	}
}

// holdsKey reports whether the text of an element named like a secret has a word in
// it that looks drawn at random: <secret>{AQAAABAAA…}</secret>.
func holdsKey(text string) bool {
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && text[to] > ' ' && text[to] != '{' && text[to] != '}' {
			to++
		}
		if w := text[from:to]; len(w) >= 16 && isRandom(w, 16) && !standsFor(w) {
			return true
		}
		from = to + 1
	}
	return false
}

// strength tells names that hold passwords, which may be short and plain, from
// names that hold keys, which are long and random.
func strength(word string) int {
	switch c := lower(word[0]); {
	case c == 'p' && lower(word[1]) != 'r':
		return weak
	case c == 'k':
		return generic
	}
	return strong
}

const (
	strong  = iota // the value must look random
	weak           // a quoted value may be any password
	generic        // the value must be long as well
)

// holds judges the rest of the name after the keyword, s[end:stop].
func holds(s string, at, end, stop int) bool {
	rest := s[end:stop]
	if rest == "" {
		return true
	}
	// The word goes on: same case as the keyword's last letter, without a boundary.
	if isLower(rest[0]) || isUpper(rest[0]) && isUpper(s[end-1]) {
		n := 0
		for n < len(rest) && isAlpha(rest[n]) && isLower(rest[n]) == isLower(rest[0]) {
			n++
		}
		if !inFold(goesOn, rest[:n]) {
			return false
		}
		rest = rest[n:]
	}
	last := strings.TrimRight(rest, "_-0123456789")
	if last == "" {
		return true
	}
	n := len(last)
	if isUpper(last[n-1]) {
		for n > 0 && isUpper(last[n-1]) {
			n--
		}
	} else {
		for n > 0 && isLower(last[n-1]) {
			n--
		}
		if n > 0 && isUpper(last[n-1]) {
			n--
		}
	}
	return !inFold(bareName, last[n:])
}

// inFold looks w up without regard to case.
func inFold(set map[string]bool, w string) bool {
	var b [16]byte
	if len(w) > len(b) {
		return false
	}
	for i := range len(w) {
		b[i] = lower(w[i])
	}
	return set[string(b[:len(w)])]
}

// goesOn lists what may follow a keyword within the same word: secretkey, tokens.
var goesOn = map[string]bool{
	"key": true, "value": true, "val": true, "base": true, "string": true, "str": true, "s": true, "data": true,
	"e": true, "word": true, "phrase": true, "code": true, "secret": true, "token": true,
}

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
		return v, false // """ opens prose
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

// isSecretValue judges a value by how it is written and how strong its name is.
func isSecretValue(val string, v value, name int) bool {
	if len(val) < 6 {
		return false
	}
	var k kinds
	k.count(val)
	if !v.quoted && !v.markup && k.digit == 0 || k.space > 0 {
		return false // without quotes the value competes with names
	}
	if standsFor(val) || strings.HasPrefix(val, "-----BEGIN") {
		return false
	}
	if strings.HasPrefix(val, "http://") || strings.HasPrefix(val, "https://") || val[0] == '/' && strings.Count(val, "/") > 1 && isWordy(val) {
		return false
	}
	if k.wide > 0 && k.lower+k.upper+k.digit < 8 {
		return false
	}
	if name == generic {
		return (v.quoted || v.tight || v.colon) && k.digit >= 2 && k.wide == 0 && isRandom(val, 16) && strings.IndexByte(val, '/') < 0
	}
	if v.quoted && isSoup(val) || v.quoted && k.digit >= 20 && k.digit == len(val) {
		return true
	}
	if k.lower+k.upper == 0 && (k.digit < 16 || k.other > 0) && !(v.quoted && name == weak && k.digit >= 6) {
		return false
	}
	if v.comma && isWordy(val) {
		return false // one word after another: a list of names
	}
	if v.quoted && name == weak && !v.literal {
		// Passwords are short and need not be random, but a lone word is a label.
		return k.digit > 0 && !isNumbered(val) || k.other > 0 && k.digit+k.other >= 2 && !isWordy(val) ||
			k.upper > 0 && k.lower > 0 && !isWordy(val)
	}
	atLeast := 10
	if name == weak && k.lower > 0 && k.upper > 0 && k.digit >= 2 {
		atLeast = 8
	}
	if v.quoted || v.markup {
		return isRandom(val, atLeast)
	}
	// Without quotes the value competes with code: calls, members, indices.
	if strings.ContainsAny(val, "([{?$*!@#") && k.digit+k.upper < 3 {
		return false
	}
	if strings.ContainsAny(val, "([{") {
		return false
	}
	return isRandom(val, atLeast)
}

// isNumbered recognises a word with a number behind, "oauth2" or "sha256".
func isNumbered(v string) bool {
	return inFold(numbered, strings.TrimRight(v, "0123456789"))
}

var numbered = map[string]bool{
	"oauth": true, "sha": true, "md": true, "base": true, "utf": true, "bcrypt": true, "argon": true, "aes": true,
	"hs": true, "rs": true, "es": true, "v": true, "password_": true, "token_": true,
}

// namedAWSSecret is the assignment rule for AWS secret access keys.
func namedAWSSecret(f *finder, r Rule, at, end int) {
	s := f.s
	i := end
	for i < len(s) && i-end < 16 && (isAlnum(s[i]) || s[i] == '_') {
		i++
	}
	v, ok := f.valueAfter(i)
	if !ok || v.to-v.from != 40 {
		return
	}
	val := s[v.from:v.to]
	if n, ok := awsSecretShape.match(val, 0); ok && n == 40 && !isFiller(val) {
		f.add(v.from, v.to, r)
	}
}

var awsSecretShape = mustShape(`[\w/+]{40}`)

func mustShape(s string) shape {
	p, err := parseShape(s)
	if err != nil {
		panic(err)
	}
	return p
}

// dockerAuth is the "auth" member of a Docker or npm configuration: base64 of user:password.
func dockerAuth(f *finder, r Rule, at, end int) {
	v, ok := f.valueAfter(end)
	if !ok {
		return
	}
	if isBasic(f.s[v.from:v.to]) {
		f.add(v.from, v.to, r)
	}
}

// isBasic reports whether v is base64 of printable text with a colon in it.
func isBasic(v string) bool {
	if len(v) < 8 || len(v) > maxValue {
		return false
	}
	var buf [maxValue]byte
	n, err := base64.RawStdEncoding.Decode(buf[:], []byte(strings.TrimRight(v, "=")))
	if err != nil {
		return false
	}
	if string(buf[:n]) == "Aladdin:open sesame" { // the example of RFC 7617
		return false
	}
	colon := -1
	for i, c := range buf[:n] {
		if c < ' ' || c > '~' {
			return false
		}
		if c == ':' && colon < 0 {
			colon = i
		}
	}
	return colon >= 0 && colon+1 < n
}

// netrc reads "login" and "password" of "machine host login name password value".
func netrc(f *finder, r Rule, at, end int) {
	s := f.s
	i := skipBlank(s, end)
	if i == end || i == len(s) || isSpace(s[i]) || at > 0 && !isSpace(s[at-1]) && s[at-1] != '"' {
		return
	}
	if s[at] == 'l' {
		// Prose speaks of login and password too, a file of logins names a machine.
		if before := s[max(0, at-maxMachine):at]; strings.Contains(before, "machine") || strings.Contains(before, "default") {
			f.loginAt = at
		}
		return
	}
	if f.loginAt < 0 || at-f.loginAt > 160 {
		return
	}
	j := i
	for j < len(s) && j-i <= maxValue && !isSpace(s[j]) {
		j++
	}
	if v := s[i:j]; j-i <= maxValue && j-i >= 4 && v != "string" && !standsFor(v) {
		f.add(i, j, r)
	}
}

// maxMachine is how far before a login its machine may be named.
const maxMachine = 200

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
