package secrets

import "strings"

// maxEscaped bounds the letters of a name with escapes in it.
const maxEscaped = 48

// namingWords are the words of assigned names by the low five bits of their first
// letter, and thirds are what may stand third behind it, a bit for each.
var namingWords, thirds = func() (by [32][]string, third [32]uint32) {
	for w := range strings.FieldsSeq(passwordWords + " " + secretWords) {
		if strength(w) != generic {
			by[w[0]&31] = append(by[w[0]&31], w)
			third[w[0]&31] |= 1 << (w[2] & 31)
		}
	}
	return by, third
}()

// escapedName is the rule for JSON keys some of whose letters are escaped, which say the
// same to whoever reads the JSON: {"pass\u0077ord": "…"}. Each key is read once.
func escapedName(f *finder, r Rule, at, _ int) {
	s := f.s
	if at < f.escapedEnd {
		return
	}
	from := at
	for from > f.escapedEnd && at-from < maxEscaped && isNaming(s[from-1]) {
		from--
	}
	if from == 0 || s[from-1] != '"' {
		return
	}
	var b [maxEscaped]byte
	n, i := 0, from
	for ; i < len(s) && n < len(b); n++ {
		if s[i] == '\\' {
			if len(s)-i < 6 || s[i+1:i+4] != "u00" || !isHex(s[i+4:i+6]) {
				break
			}
			b[n] = unhex(s[i+4])<<4 | unhex(s[i+5])
			i += 6
		} else {
			b[n] = s[i]
			i++
		}
		if !isNaming(b[n]) {
			break
		}
	}
	f.escapedEnd = i
	if n < 3 || n == len(b) || s[i-1] != '"' {
		return
	}
	v, ok := f.valueAfter(i - 1) // from the closing quote on
	if !ok || !v.colon {
		return
	}
	// Most values are none, which is cheaper to tell than a name.
	var secret [2]bool // by strength of the name: strong, weak
	for name := range secret {
		secret[name] = isSecretValue(s[v.from:v.to], v, name)
	}
	if secret == [2]bool{} {
		return
	}
	name := string(b[:n])
	for at := range n - 2 {
		if thirds[name[at]&31]>>(name[at+2]&31)&1 == 0 {
			continue
		}
		for _, w := range namingWords[name[at]&31] {
			end := at + len(w)
			if end > n || !hasFold(name[at:], w) || !holds(name, at, end, n) ||
				len(w) <= 4 && at > 0 && isAlpha(name[at-1]) && !(isUpper(name[at]) && isLower(name[at-1])) {
				continue
			}
			if secret[strength(w)] {
				f.add(v.from, v.to, r)
				return
			}
		}
	}
}

func isNaming(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}
