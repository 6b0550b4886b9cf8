package secrets

import "strings"

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

// goesOn lists what may follow a keyword within the same word: secretkey, tokens.
var goesOn = map[string]bool{
	"key": true, "value": true, "val": true, "base": true, "string": true, "str": true, "s": true, "data": true,
	"e": true, "word": true, "phrase": true, "code": true, "secret": true, "token": true,
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
