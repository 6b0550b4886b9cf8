package secrets

import "strings"

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
