package secrets

import (
	"encoding/base64"
	"strings"
)

// urlPassword is scheme://user:password@host, and scheme://token@host.
func urlPassword(f *finder, r Rule, at, end int) {
	s := f.s
	if at == 0 || !isAlnum(s[at-1]) {
		return
	}
	colon, last := -1, -1
	i := end
scan:
	for ; i < len(s) && i-end <= maxValue; i++ {
		switch c := s[i]; c {
		case ':':
			if colon < 0 {
				colon = i
			}
		case '@':
			last = i
		case '/', '?', '#', '"', '\'', '`', '<', '>', '\\', ',', ';', ')', '|':
			break scan
		default:
			if c <= ' ' {
				break scan
			}
		}
	}
	if last <= end {
		return
	}
	if colon < 0 || colon > last {
		user := s[end:last]
		if isRandom(user, 20) && !standsFor(user) && strings.IndexByte(user, '@') < 0 {
			f.add(end, last, r)
		}
		return
	}
	pass := s[colon+1 : last]
	if last+1 >= len(s) || !isAlnum(s[last+1]) && s[last+1] != '[' {
		return
	}
	if len(pass) < 3 || standsFor(pass) || strings.ContainsAny(pass, "{}()$*") && !strings.ContainsAny(pass, "0123456789") {
		return
	}
	switch strings.ToLower(pass) {
	case "password", "pass", "passwd", "pwd", "secret", "mypassword", "xxxx", "xxx", "token":
		if !isRealHost(s[last+1 : min(len(s), last+64)]) {
			return
		}
	}
	if pass == s[end:colon] && isWordy(pass) {
		return
	}
	f.add(colon+1, last, r)
}

// isRealHost tells a host that somebody runs from one in a manual: example.org, host,
// localhost.
func isRealHost(s string) bool {
	n := 0
	dot, port := false, false
	for n < len(s) && (isAlnum(s[n]) || s[n] == '.' || s[n] == '-') {
		dot = dot || s[n] == '.' && n+1 < len(s) && isAlnum(s[n+1])
		n++
	}
	host := s[:n]
	if n+1 < len(s) && s[n] == ':' {
		port = isDigit(s[n+1])
	}
	for _, w := range []string{"example", "invalid", "localhost", "test", "hostname", "server", "domain", "proxy", "acme", "foo", "bar."} {
		for i := 0; i+len(w) <= len(host); i++ {
			if hasFold(host[i:], w) {
				return false
			}
		}
	}
	return dot || port
}

// queryPassword is the password of a query or of a connection string:
// ?user=u&password=p, Server=s;Uid=u;Pwd=p.
func queryPassword(f *finder, r Rule, at, end int) {
	s := f.s
	if at == 0 || s[at-1] != '&' && s[at-1] != '?' && s[at-1] != ';' && s[at-1] != ' ' && (s[at-1] != ',' || !endsInPort(s[:at-1])) {
		return
	}
	if c := s[at-1]; c == ';' || c == ' ' {
		i := at - 1
		for i > 0 && s[i] == ' ' && at-i < 3 {
			i--
		}
		// A statement ends so too; in a connection string another setting comes before.
		if s[i] != ';' {
			return
		}
		before := s[max(0, i-64):i]
		if n := strings.LastIndexByte(before, '\n'); n >= 0 {
			before = before[n+1:]
		}
		if strings.IndexByte(before, '=') < 0 || strings.ContainsAny(before, "()") {
			return
		}
	}
	braces := end < len(s) && s[end] == '{' // an ODBC string quotes so
	if braces {
		end++
	}
	j := end
	for j < len(s) && j-end <= 128 && s[j] > ' ' && strings.IndexByte("&;\"'`<>\\)(,|", s[j]) < 0 && (s[j] != '}' || !braces) {
		j++
	}
	if braces && (j == len(s) || s[j] != '}' || !isRandom(s[end:j], 8)) {
		return // or it is a template
	}
	v := s[end:j]
	if len(v) < 4 || len(v) > 128 || standsFor(v) || strings.ContainsAny(v, "{}$") {
		return
	}
	switch strings.ToLower(v) {
	case "password", "pass", "passwd", "secret", "true", "false", "null", "none":
		return
	}
	f.add(end, j, r)
}

// endsInPort reports whether s ends in a host and its port, as the connection string
// of a cache does before its settings.
func endsInPort(s string) bool {
	port := before(s, len(s), 6, &digitSet)
	return len(s)-port >= 2 && port > 1 && s[port-1] == ':' && isAlnum(s[port-2])
}

// oraclePassword is the password of jdbc:oracle:thin:user/password@host.
func oraclePassword(f *finder, r Rule, at, end int) {
	s := f.s
	slash := after(s, end, 64, &tokenSet)
	if slash == end || slash == len(s) || s[slash] != '/' {
		return
	}
	to := slash + 1
	for to < len(s) && to-slash <= 64 && s[to] > ' ' && s[to] != '@' && s[to] != '"' && s[to] != '\'' {
		to++
	}
	if v := s[slash+1 : to]; to < len(s) && s[to] == '@' && len(v) >= 3 && !standsFor(v) {
		f.add(slash+1, to, r)
	}
}

// dsnPassword is user:password@tcp(host), the Go MySQL form without a scheme.
func dsnPassword(f *finder, r Rule, at, end int) {
	s := f.s
	i := at
	for i > 0 && at-i <= 128 && s[i-1] > ' ' && strings.IndexByte(":(@/\"'`=", s[i-1]) < 0 {
		i--
	}
	if i == 0 || s[i-1] != ':' || at-i < 3 || standsFor(s[i:at]) {
		return
	}
	switch s[i:at] {
	case "password", "pass", "secret":
		return
	}
	f.add(i, at, r)
}

// bearer is an authorization header: Bearer or Token and a credential.
func bearer(f *finder, r Rule, at, end int) {
	s := f.s
	if at > 0 && isAlnum(s[at-1]) {
		return
	}
	i := skipBlank(s, end)
	if i == end {
		return
	}
	j := i
	for j < len(s) && j-i <= longest && bearerSet.Has(s[j]) {
		j++
	}
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
	s := f.s
	if at > 0 && isAlnum(s[at-1]) {
		return
	}
	i := skipBlank(s, end)
	if i == end {
		return
	}
	j := i
	for j < len(s) && j-i <= maxValue && base64Set.Has(s[j]) {
		j++
	}
	if isBasic(s[i:j]) {
		f.add(i, j, r)
	}
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

// jwt is three base64url parts, the first two of which are JSON objects.
func jwt(f *finder, r Rule, at, end int) {
	s := f.s
	if !leftEdge(s, at) || at > 0 && (s[at-1] == '-' || s[at-1] == '_') {
		return
	}
	first, ok := jwtPart.match(s, at)
	if !ok || first >= len(s) || s[first] != '.' {
		return
	}
	second, ok := jwtPart.match(s, first+1)
	if !ok || s[first+1] != 'e' && s[first+1] != 'z' && second-first < 32 {
		return
	}
	stop := second
	if second < len(s) && s[second] == '.' {
		if third, ok := jwtTail.match(s, second+1); ok {
			stop = third
		}
	}
	f.add(at, stop, r)
}

var (
	jwtPart = mustShape(`[\w_-]{12,}=?=?`)
	jwtTail = mustShape(`[\w_/+-]{6,}=*`)
)

// atlas is a Terraform Cloud token: 14 letters and digits, .atlasv1., and 60 more.
func atlas(f *finder, r Rule, at, end int) {
	s := f.s
	i := at
	for i > 0 && at-i < 15 && isAlnum(s[i-1]) {
		i--
	}
	if at-i != 14 {
		return
	}
	if stop, ok := atlasTail.match(s, end); ok {
		f.add(i, stop, r)
	}
}

var atlasTail = mustShape(`[\w_=-]{60,70}`)

// azureSecret is a client secret of Azure: three characters, a digit, Q~, 31 to 34 more.
func azureSecret(f *finder, r Rule, at, end int) {
	s := f.s
	i := at - 3
	if i < 0 || i > 0 && azureSet.Has(s[i-1]) {
		return
	}
	for _, c := range []byte(s[i:at]) {
		if !azureSet.Has(c) {
			return
		}
	}
	stop, ok := azureTail.match(s, end)
	if ok && (stop == len(s) || !azureSet.Has(s[stop])) && isRandom(s[i:stop], 37) {
		f.add(i, stop, r)
	}
}

var (
	azureSet  = set(`\w_.~-`)
	azureTail = mustShape(`[\w_.~-]{31,34}`)
)

// telegram is a bot token: eight to ten digits, a colon, AA and 33 more.
func telegram(f *finder, r Rule, at, end int) {
	s := f.s
	i := at
	for i > 0 && at-i < 11 && isDigit(s[i-1]) {
		i--
	}
	if at-i < 8 || at-i > 10 || i > 0 && isAlnum(s[i-1]) && !leftEdge(s, i) {
		return
	}
	stop, ok := telegramTail.match(s, end)
	if ok && (stop == len(s) || !isAlnum(s[stop])) {
		f.add(i, stop, r)
	}
}

var telegramTail = mustShape(`[\w_-]{33}`)

// privateKey is the block rule; pem.go does the work.
func privateKey(f *finder, r Rule, at, end int) {
	if at < f.pemDone {
		return
	}
	m, ok := beginBefore(f.s, at)
	if !ok {
		return
	}
	f.spans, f.pemDone = blocks(f.spans, f.s, m)
}

// plainSK is sk- and 40 or more letters and digits, with a name in front at most:
// what OpenAI and the services that copy its interface hand out.
func plainSK(f *finder, r Rule, at, end int) {
	s := f.s
	if !leftEdge(s, at) || at > 0 && (s[at-1] == '-' || s[at-1] == '_') {
		return
	}
	j, run, best := end, 0, 0
	for j < len(s) && j-end <= 300 && (isAlnum(s[j]) || s[j] == '-' || s[j] == '_') {
		if isAlnum(s[j]) {
			run++
			best = max(best, run)
		} else {
			run = 0
		}
		j++
	}
	if j-end <= 300 && best >= 32 && isRandom(s[end:j], 32) && !isFiller(s[end:j]) {
		f.add(at, j, r)
	}
}

// twilio is SK and 32 lower-case hexadecimal digits.
func twilio(f *finder, r Rule, at, end int) {
	s := f.s
	if at > 0 && (isAlnum(s[at-1]) || s[at-1] == '_' || s[at-1] == '/' || s[at-1] == '+') {
		return
	}
	stop, ok := twilioTail.match(s, end)
	if ok && (stop == len(s) || !isAlnum(s[stop])) && !isFiller(s[end:stop]) {
		f.add(at, stop, r)
	}
}

var twilioTail = mustShape(`[a-fA-F0-9]{32}`)

// square is a prefix and the token, but not a stretch of longer base64: EAAA is
// how that spells a number.
func square(f *finder, r Rule, at, end int) {
	s := f.s
	if !leftEdge(s, at) || at > 0 && (s[at-1] == '+' || s[at-1] == '/') {
		return
	}
	stop, ok := f.match(squareTail, r, end)
	if !ok || stop < len(s) && (isAlnum(s[stop]) || s[stop] == '+' || s[stop] == '/') || isFiller(s[end:stop]) {
		return
	}
	f.add(at, stop, r)
}

var squareTail = mustShape(`[\w_-]{22,60}`)

// azureKey is the base64 key of a connection string.
func azureKey(f *finder, r Rule, at, end int) {
	stop, ok := azureKeyTail.match(f.s, end)
	if ok && !isFiller(f.s[end:stop]) {
		f.add(end, stop, r)
	}
}

var azureKeyTail = mustShape(`[\w+/]{40,88}=*`)

// sasSignature is the sig parameter of a shared access signature.
func sasSignature(f *finder, r Rule, at, end int) {
	stop, ok := sasTail.match(f.s, end)
	if ok && !isFiller(f.s[end:stop]) && isRandom(f.s[end:stop], 40) {
		f.add(end, stop, r)
	}
}

var sasTail = mustShape(`[\w%+/=_-]{40,200}`)

// gitlab is a prefixed token, which may have a short second part behind a dot.
func gitlab(f *finder, r Rule, at, end int) {
	s := f.s
	if !leftEdge(s, at) {
		return
	}
	stop, ok := f.match(gitlabShape, r, end)
	if !ok || isFiller(s[end:stop]) {
		return
	}
	if more, ok := gitlabTail.match(s, stop); ok {
		stop = more
	}
	f.add(at, stop, r)
}

var (
	gitlabShape = mustShape(`[\w_-]{18,300}`)
	gitlabTail  = mustShape(`\.[\w]{9,16}`)
)

// encodedKey is a private key block in base64, as Kubernetes and CI variables hold it.
func encodedKey(f *finder, r Rule, at, end int) {
	s := f.s
	if at > 0 && base64Set.Has(s[at-1]) && !leftEdge(s, at) {
		return
	}
	if len(s)-at < 100 {
		return
	}
	var head [75]byte
	n, _ := base64.StdEncoding.Decode(head[:], []byte(s[at:at+100]))
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	if !strings.Contains(line, "PRIVATE"+" KEY") {
		return
	}
	if stop, ok := f.match(encodedTail, r, end); ok {
		f.add(at, stop, r)
	}
}

var encodedTail = mustShape(`[\w+/]{80,}=?=?`)

// newRelicLicense is a license key: 36 letters and digits, then NRAL.
func newRelicLicense(f *finder, r Rule, at, end int) {
	s := f.s
	i := at
	for i > 0 && at-i < 37 && isAlnum(s[i-1]) {
		i--
	}
	if at-i == 36 && (end == len(s) || !isAlnum(s[end])) && !isFiller(s[i:at]) {
		f.add(i, end, r)
	}
}

// airtable is pat, 14 letters and digits, a dot, 64 hexadecimal digits.
func airtable(f *finder, r Rule, at, end int) {
	s := f.s
	if !leftEdge(s, at) {
		return
	}
	if stop, ok := airtableTail.match(s, end); ok && (stop == len(s) || !isAlnum(s[stop])) {
		f.add(at, stop, r)
	}
}

var airtableTail = mustShape(`[\w]{14}\.[a-f0-9]{64}`)
