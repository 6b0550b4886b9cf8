package secrets

import (
	"encoding/base64"
	"strings"
)

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

var twilioTail = mustShape(`[a-fA-F0-9]{31}`) // behind the first digit

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
