package untrusted

import (
	"strings"
	"unicode/utf8"
)

// scanHidden finds text that is in the file but not on the screen, in the original.
func scanHidden(s string, hits []Hit) []Hit {
	const (
		runLimit    = 3  // invisible characters in a row
		spreadLimit = 4  // invisible characters between Latin letters
		spreadRoom  = 64 // bytes, from the first to the last of these
	)
	add := func(from, to int) {
		if n := len(hits); n > 0 && hits[n-1].Signal == table[hidden] && from-hits[n-1].End <= spreadRoom {
			hits[n-1].End = max(to, hits[n-1].End)
			return
		}
		hits = append(hits, Hit{table[hidden], from, to})
	}
	var (
		run, runFrom int
		spread       [spreadLimit]int // places, a ring
		seen         int
	)
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			run = 0
			if j := strings.IndexFunc(s[i:], func(r rune) bool { return r >= utf8.RuneSelf }); j > 0 {
				i += j
			} else {
				break
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case isBidi(r):
			add(i, i+n)
			run = 0
		case r >= 0xE0000 && r <= 0xE007F:
			end := i
			for end < len(s) {
				t, m := utf8.DecodeRuneInString(s[end:])
				if t < 0xE0000 || t > 0xE007F {
					break
				}
				end += m
			}
			if !isFlag(s[:i], s[i:end]) {
				add(i, end)
			}
			i, run = end, 0
			continue
		case isInvisible(r) || isVariation(r):
			if i == 0 && r == 0xFEFF {
				break // byte order mark
			}
			if run == 0 {
				runFrom = i
			}
			run++
			if run >= runLimit {
				add(runFrom, i+n)
			}
			if isInvisible(r) && i > 0 && isLatin(s[i-1]) && i+n < len(s) && (isLatin(s[i+n]) || s[i+n] == ' ') {
				spread[seen%spreadLimit] = i
				seen++
				if oldest := spread[seen%spreadLimit]; seen >= spreadLimit && i-oldest <= spreadRoom {
					add(oldest, i+n)
				}
			}
		default:
			run = 0
		}
		i += n
	}
	return hits
}

// isFlag reports whether tags behind a black flag make one of the flags that
// Unicode recommends: England, Scotland, Wales.
func isFlag(before, tags string) bool {
	if !strings.HasSuffix(before, "\U0001F3F4") {
		return false
	}
	switch tags {
	case asTags("gbeng") + "\U000E007F", asTags("gbsct") + "\U000E007F", asTags("gbwls") + "\U000E007F":
		return true
	}
	return false
}

func isLatin(c byte) bool { return c < utf8.RuneSelf && isLetter(c) }
