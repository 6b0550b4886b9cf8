package secrets

import "strings"

// common holds, for each letter, the letters that often follow it within a word of an
// identifier: the 320 pairs that make up 98 % of all in source. Of letters drawn at
// random 47 % are such pairs.
var common = func() (follows [26]uint32) {
	for first, seconds := range [26]string{
		"bcdefgiklmnprstuvwxy",   // a
		"aeijlorstuy",            // b
		"acehiklmorstuy",         // c
		"abdeiloprsuy",           // d
		"abcdefgilmnopqrstuvwxy", // e
		"aefilmorstuy",           // f
		"aeghilnorstu",           // g
		"aeimortu",               // h
		"abcdefgklmnoprstvxz",    // i
		"eos",                    // j
		"aegins",                 // k
		"adegilopstuvy",          // l
		"abdeilmopstu",           // m
		"acdefgiklmnopstuvy",     // n
		"abcdefgiklmnoprstuvwx",  // o
		"acdehikloprstuy",        // p
		"u",                      // q
		"acdefgiklmnoprstuvwy",   // r
		"acefghiklmnopstuwy",     // s
		"acdefhilmoprstuwxy",     // t
		"abcdefgilmnprstx",       // u
		"aeio",                   // v
		"aehinorsw",              // w
		"aceipt",                 // x
		"eilnoprst",              // y
		"e",                      // z
	} {
		for i := range len(seconds) {
			follows[first] |= 1 << (seconds[i] - 'a')
		}
	}
	return follows
}()

// shortWords are the words of two letters that names in camel case are made with.
var shortWords = func() (second [26]uint32) {
	for w := range strings.FieldsSeq("an as at be by db do go id if in ip is it my no of ok on op or os so to ui up us vm we") {
		second[w[0]-'a'] |= 1 << (w[1] - 'a')
	}
	return second
}()

// isDrawn reports whether the letters of a value in mixed case do not read as words in
// camel case: pairs of letters that words seldom have, parts of two letters that are no
// word, several abbreviations. A stretch of capitals is an abbreviation and its pairs
// say nothing.
func isDrawn(v string) bool {
	pairs, strange, letters, upper, short := 0, 0, 0, 0, 0
	for i := range len(v) {
		c := v[i]
		if !isAlpha(c) {
			continue
		}
		letters++
		if isUpper(c) {
			upper++
			if i > 0 && isUpper(v[i-1]) && (i == 1 || !isUpper(v[i-2])) {
				short++
			}
			continue
		}
		if i == 0 || !isAlpha(v[i-1]) {
			continue
		}
		pairs++
		first, second := lower(v[i-1])-'a', c-'a'
		switch {
		case isUpper(v[i-1]) && i+1 < len(v) && isUpper(v[i+1]):
			if shortWords[first]>>second&1 == 0 {
				strange++
			}
		case common[first]>>second&1 == 0:
			strange++
		}
	}
	strange += max(0, short-1) // one abbreviation is a name's
	return letters >= 12 && upper > 0 && upper < letters && (strange >= 3 && strange*5 >= pairs || strange == 2 && pairs <= 8)
}
