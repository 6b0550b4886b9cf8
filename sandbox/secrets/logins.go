package secrets

import (
	"encoding/base64"
	"strings"

	"mcp-devserver/sandbox/internal/keywords"
)

// bearer is an authorization header: Bearer or Token and a credential.
func bearer(f *finder, r Rule, at, end int) {
	s := f.s
	i, j := behindScheme(s, at, end, longest, &bearerSet)
	if n := j - i; n < 10 || n > longest || j < len(s) && s[j] == '(' {
		return
	}
	if v := s[i:j]; isRandom(v, 10) && (len(v) > maxValue || !standsFor(v)) {
		f.add(i, j, r)
	}
}

var bearerSet = set(`\w._~+/=-`)

// basic is an authorization header: Basic and base64 of user:password.
func basic(f *finder, r Rule, at, end int) {
	if i, j := behindScheme(f.s, at, end, maxValue, &base64Set); isBasic(f.s[i:j]) {
		f.add(i, j, r)
	}
}

// behindScheme returns where the credential lies that follows the scheme s[at:end]
// of an authorization header: up to one byte more than most, or nothing when that
// is no word of its own.
func behindScheme(s string, at, end, most int, of *keywords.Set) (from, to int) {
	if at > 0 && isAlnum(s[at-1]) {
		return end, end
	}
	i := skipBlank(s, end)
	if i == end {
		return end, end
	}
	j := i
	for j < len(s) && j-i <= most && of.Has(s[j]) {
		j++
	}
	return i, j
}

// header is an Authorization header with a scheme of its own or none.
func header(f *finder, r Rule, at, end int) {
	s := f.s
	i := end
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		i++
	}
	i = skipBlank(s, i)
	if i >= len(s) || s[i] != ':' {
		return
	}
	i = skipBlank(s, i+1)
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		i++
	}
	for _, scheme := range []string{"Token ", "token ", "ApiKey ", "Key ", "AWS ", "Basic "} {
		if strings.HasPrefix(s[i:], scheme) {
			i = skipBlank(s, i+len(scheme))
			break
		}
	}
	j := i
	for j < len(s) && j-i <= maxValue && bearerSet.Has(s[j]) {
		j++
	}
	if j-i > maxValue {
		return
	}
	if v := s[i:j]; isRandom(v, 16) && !standsFor(v) {
		f.add(i, j, r)
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

// curlUser is curl -u user:password. Its keywords are the command and the option.
func curlUser(f *finder, r Rule, at, end int) {
	s := f.s
	if s[at] == 'c' {
		f.curlAt, f.curlTo = at, end
		return
	}
	for f.curlAt >= 0 && f.curlTo < at {
		if s[f.curlTo] == '\n' && s[f.curlTo-1] != '\\' {
			f.curlAt = -1
		}
		f.curlTo++
	}
	if f.curlAt < 0 || at-f.curlAt > maxValue {
		return
	}
	i := skipBlank(s, end)
	if i == end && i < len(s) && s[i] == '=' {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		i++
	}
	colon := -1
	j := i
	for j < len(s) && j-i <= maxValue && !endsBare(s, j) {
		if s[j] == ':' && colon < 0 {
			colon = j
		}
		j++
	}
	if colon < 0 || j-colon-1 < 3 || j-i > maxValue || standsFor(s[colon+1:j]) || standsFor(s[i:j]) {
		return
	}
	switch strings.ToLower(s[colon+1 : j]) {
	case "password", "pass", "secret", "token":
		return
	}
	f.add(colon+1, j, r)
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
