package secrets

import (
	"strings"

	"mcp-devserver/sandbox/internal/keywords"
)

// before returns where the run of bytes of class c that ends at s[at] begins, at most
// limit bytes back.
func before(s string, at, limit int, c *keywords.Set) int {
	i := at
	for i > 0 && at-i < limit && c.Has(s[i-1]) {
		i--
	}
	return i
}

// after returns where the run of bytes of class c that begins at s[i] ends.
func after(s string, i, limit int, c *keywords.Set) int {
	from := i
	for i < len(s) && i-from < limit && c.Has(s[i]) {
		i++
	}
	return i
}

var (
	wordSet  = set(`\w`)
	tokenSet = set(`\w_-`)
	rawSet   = set(`\w+/`)
	hexSet   = set(`a-f0-9`)
)

// azureMarked is a key that tells the service by four letters at a fixed place: 52 or
// 84 letters and digits, or base64 of 88 bytes.
func azureMarked(f *finder, r Rule, at, end int) {
	s := f.s
	to := after(s, end, 28, &rawSet)
	if n := to - end; n < 4 || n > 27 {
		return
	}
	from := before(s, at, 77, &rawSet)
	switch at - from {
	case 33, 42, 43, 44, 52, 76:
	default:
		return
	}
	if to-from < 43 || !isRandom(s[from:to], 40) {
		return
	}
	for to < len(s) && s[to] == '=' {
		to++
	}
	f.add(from, to, r)
}

// messagingKey is eleven characters, a colon, APA91b and 130 to 150 more.
func messagingKey(f *finder, r Rule, at, end int) {
	s := f.s
	from, to := before(s, at, 12, &tokenSet), after(s, end, 200, &tokenSet)
	if at-from == 11 && to-end >= 120 {
		f.add(from, to, r)
	}
}

// newRelicMobile is 42 letters and digits, then -NRMA.
func newRelicMobile(f *finder, r Rule, at, end int) {
	s := f.s
	if from := before(s, at, 43, &wordSet); at-from == 42 && (end == len(s) || !isAlnum(s[end])) {
		f.add(from, end, r)
	}
}

// maxmind is six letters and digits, 29 more behind an underscore, and _mmk.
func maxmind(f *finder, r Rule, at, end int) {
	s := f.s
	mid := before(s, at, 30, &wordSet)
	if at-mid != 29 || mid == 0 || s[mid-1] != '_' || end < len(s) && isAlnum(s[end]) {
		return
	}
	if from := before(s, mid-1, 7, &wordSet); mid-1-from == 6 {
		f.add(from, end, r)
	}
}

// mailchimp is 32 hexadecimal digits, then the name of a data centre.
func mailchimp(f *finder, r Rule, at, end int) {
	s := f.s
	from, to := before(s, at, 33, &hexSet), after(s, end, 3, &digitSet)
	if at-from == 32 && (from == 0 || leftEdge(s, from)) && to > end && to-end <= 2 && (to == len(s) || !isAlnum(s[to])) {
		f.add(from, to, r)
	}
}

var digitSet = set(`\d`)

// zoho is two hexadecimal numbers behind 1000.
func zoho(f *finder, r Rule, at, end int) {
	s := f.s
	if !leftEdge(s, at) {
		return
	}
	mid := after(s, end, 33, &hexSet)
	if mid-end != 32 || mid == len(s) || s[mid] != '.' {
		return
	}
	if to := after(s, mid+1, 33, &hexSet); to-mid-1 == 32 {
		f.add(at, to, r)
	}
}

// stripeIntent is pi_ or seti_, 24 characters, and what follows _secret_.
func stripeIntent(f *finder, r Rule, at, end int) {
	s := f.s
	mid := before(s, at, 40, &wordSet)
	to := after(s, end, 60, &wordSet)
	if at-mid < 14 || to-end < 20 {
		return
	}
	for _, p := range [...]string{"pi_", "seti_", "src_", "cs_test_", "cs_live_"} {
		if strings.HasSuffix(s[:mid], p) {
			f.add(mid-len(p), to, r)
			return
		}
	}
}

// authress is a client id, the account that owns it, and a secret, joined by dots.
func authress(f *finder, r Rule, at, end int) {
	s := f.s
	short := before(s, at, 8, &wordSet)
	if n := at - short; n < 4 || n > 6 || short == 0 || s[short-1] != '.' {
		return
	}
	id := before(s, short-1, 31, &wordSet)
	if id == 0 || s[id-1] != '_' || short-1-id < 5 {
		return
	}
	from := before(s, id-1, 10, &wordSet)
	switch s[from : id-1] {
	case "sc", "ext", "scauth", "authress":
	default:
		return
	}
	mid := after(s, end, 33, &tokenSet)
	if mid-end < 10 || mid == len(s) || s[mid] != '.' {
		return
	}
	if to := after(s, mid+1, 120, &authressSet); to-mid-1 >= 30 {
		f.add(from, to, r)
	}
}

var authressSet = set(`\w+/_=-`)

// pathKey is a key that stands in a path behind a word that says so.
func pathKey(f *finder, r Rule, at, end int) {
	if to := after(f.s, end, 80, &tokenSet); isRandom(f.s[end:to], 20) {
		f.add(end, to, r)
	}
}

// ldapBinding is the third string of OpenDSObject("LDAP://…", "user", "password", n).
func ldapBinding(f *finder, r Rule, at, end int) {
	s := f.s
	i := end
	for range 2 {
		i = skipBlank(s, i)
		if i >= len(s) || s[i] != '"' {
			return
		}
		to := i + 1
		for to < len(s) && to-i <= maxValue && s[to] != '"' && s[to] >= ' ' {
			to++
		}
		if to >= len(s) || s[to] != '"' {
			return
		}
		i = skipBlank(s, to+1)
		if i >= len(s) || s[i] != ',' {
			return
		}
		i++
	}
	i = skipBlank(s, i)
	if i >= len(s) || s[i] != '"' {
		return
	}
	if v, ok := quoted(s, i, 0); ok && v.to-v.from >= 4 && !standsFor(s[v.from:v.to]) {
		f.add(v.from, v.to, r)
	}
}

// sshpass is the password behind sshpass -p or docker login -p, quoted or bare.
func sshpass(f *finder, r Rule, at, end int) {
	s := f.s
	if !leftEdge(s, at) {
		return
	}
	if s[end-1] != 'p' { // the option comes later in the line
		const option = " -p "
		i := max(end, f.optionless)
		for limit := min(len(s), end+160) - len(option); i <= limit && s[i] != '\n' && s[i:i+len(option)] != option; {
			i++
		}
		f.optionless = i
		if i > min(len(s), end+160)-len(option) || s[i] == '\n' {
			return
		}
		end = i + len(" -p")
	}
	i := skipBlank(s, end)
	if i >= len(s) {
		return
	}
	if s[i] == '"' || s[i] == '\'' {
		if v, ok := quoted(s, i, 0); ok && v.to-v.from >= 4 && !standsFor(s[v.from:v.to]) {
			f.add(v.from, v.to, r)
		}
		return
	}
	to := i
	for to < len(s) && to-i <= 128 && !endsBare(s, to) {
		to++
	}
	if v := s[i:to]; len(v) >= 6 && len(v) <= 128 && !standsFor(v) && !isWordy(v) {
		f.add(i, to, r)
	}
}

// puttyKey is the private part of a key file of PuTTY: as many lines of base64 as the
// header says, at most maxPuttyLines.
func puttyKey(f *finder, r Rule, at, end int) {
	s := f.s
	i := skipBlank(s, end)
	n := 0
	for i < len(s) && isDigit(s[i]) && n <= maxPuttyLines {
		n = n*10 + int(s[i]-'0')
		i++
	}
	lineEnd := func(i int) int {
		for i < len(s) && (s[i] == '\r' || s[i] == '\n') {
			i++
			if s[i-1] == '\n' {
				break
			}
		}
		return i
	}
	from := lineEnd(i)
	if n == 0 || from == i {
		return
	}
	to := from
	for at := from; n > 0 && at < len(s) && n <= maxPuttyLines; n-- {
		stop := after(s, at, 128, &base64Set)
		if stop == at {
			break
		}
		to = stop
		next := lineEnd(stop)
		if next == stop {
			break
		}
		at = next
	}
	if to-from >= 20 && isRandom(s[from:min(to, from+40)], 20) {
		f.add(from, to, r)
	}
}

const maxPuttyLines = 200

// jsonWebKey hides the members of a JSON web key that are private: the exponent and
// the primes of a key pair, the value of a symmetric key.
func jsonWebKey(f *finder, r Rule, at, end int) {
	s := f.s
	// What an earlier hit has read is not read again.
	from, to := at, max(end, f.jwkDone)
	for from > f.jwkDone && at-from < jwkReach && s[from-1] != '{' && s[from-1] != '}' {
		from--
	}
	for to < len(s) && to-end < jwkReach && s[to] != '}' && s[to] != '{' {
		to++
	}
	for i := max(from, f.jwkDone); i < to; {
		name, value, next, ok := member(s[:to], i)
		if !ok {
			i++
			continue
		}
		i = next
		switch name {
		case "d", "p", "q", "dp", "dq", "qi", "k":
			if v := s[value.from:value.to]; len(v) >= 20 && after(v, 0, len(v), &tokenSet) == len(v) && isRandom(v, 20) {
				f.add(value.from, value.to, r)
			}
		}
	}
	f.jwkDone = max(f.jwkDone, to)
}

// jwkReach is how far from "kty" the other members of its object may stand.
const jwkReach = 4 << 10

// member reads "name": "value" at s[i], both short of a page.
func member(s string, i int) (name string, v run, next int, ok bool) {
	if s[i] != '"' {
		return "", v, 0, false
	}
	end := after(s, i+1, 8, &wordSet)
	if end == len(s) || s[end] != '"' {
		return "", v, 0, false
	}
	name = s[i+1 : end]
	j := end + 1
	for j < len(s) && j-end < 32 && isSpace(s[j]) {
		j++
	}
	if j == len(s) || s[j] != ':' {
		return "", v, 0, false
	}
	sign := j
	for j++; j < len(s) && j-sign < 32 && isSpace(s[j]); {
		j++
	}
	if j == len(s) || s[j] != '"' {
		return "", v, 0, false
	}
	v.from = j + 1
	v.to = after(s, v.from, 1024, &tokenSet)
	return name, v, v.to, v.to < len(s) && s[v.to] == '"'
}
