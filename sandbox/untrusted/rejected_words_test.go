package untrusted

import (
	"strings"
)

// Rejected: every word and every bracket of a text is looked at. It is what Scan must
// agree with, and what it is measured against.

// Kinds of bytes for the scanning loop.
const (
	other = iota
	letter
	mark // begins something that is not a phrase
)

// starts holds the phrases that begin with a word, by its number.
var starts [len(pivots)][]int

func begins(n int) []int {
	if n < 0 {
		return nil
	}
	return starts[n]
}

var (
	kindOf [256]uint8
	// opening holds, for the first two letters of a word, the lengths (bit n for n
	// letters) of the words with which a phrase or something else begins.
	opening [32 * 32]uint32
)

func init() {
	for k := range phrases {
		for n := range starts {
			if phrases[k].first.has(n) {
				starts[n] = append(starts[n], k)
			}
		}
	}
	for c := range 256 {
		if isLetter(byte(c)) {
			kindOf[c] = letter
		}
	}
	for _, c := range "<[]-" {
		kindOf[c] = mark
	}
	for w, n := range vocabulary {
		if len(begins(n)) > 0 {
			opening[pair(w[0], (w + "\x00")[1])] |= lengths(w)
		}
	}
	for _, w := range others {
		opening[pair(w[0], w[1])] |= lengths(w)
	}
}

// lengths is the bit for the length of w, and those of its part before an apostrophe.
func lengths(w string) uint32 {
	bits := uint32(1) << len(w)
	if w == "dont" {
		bits |= 1 << 3 // don't
	}
	if w == "youre" || w == "im" {
		bits |= 1<<3 | 1<<1
	}
	return bits
}

// pair is the place of two letters in opening. A word of one letter has 0 for the second.
func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// others are words that begin something else than a phrase.
var others = []string{"system", "curl", "wget", "irm", "iwr", "fetch", "invoke", "bash", "sh", "base", "ai", "llm", "assistant", "eval", "source", "send", "post", "upload", "forward", "transmit", "email", "exfiltrate", "leak", "submit", "mail", "id", "zsh"}

// scanWords looks for everything but hidden characters.
func scanWords(s string) []Hit {
	sc := scanner{s: s}
	for i := 0; i < len(s); {
		switch kindOf[s[i]] {
		case letter:
			from := i
			for i < len(s) && kindOf[s[i]] == letter {
				i++
			}
			second := byte(0)
			if i-from > 1 {
				second = s[from+1]
			}
			if opening[pair(s[from], second)]>>min(i-from, 31)&1 != 0 {
				sc.word(from, i)
			}
		case mark:
			i = sc.mark(i)
		default:
			i++
		}
	}
	return order(scanEncoded(s, sc.hits))
}

// word handles the word s[from:to].
func (sc *scanner) word(from, to int) {
	s := sc.s
	if to < len(s) && s[to] == '\'' { // don't
		for to < len(s) && to-from < 16 && (isLetter(s[to]) || s[to] == '\'') {
			to++
		}
	}
	n := lookup(s[from:to])
	if may := begins(n); len(may) > 0 {
		prev := sc.wordBefore(from)
		for _, k := range may {
			p := &phrases[k]
			if p.not.has(prev) {
				continue
			}
			if end, ok := p.match(s, to); ok {
				sc.add(p.signal, from, end)
			}
		}
	}
	sc.special(from, to, n)
}

// special handles words that begin something other than a row of words; n is the
// number of the word.
func (sc *scanner) special(from, to, n int) {
	s := sc.s
	w := s[from:to]
	switch {
	case is(w, "system"):
		// SYSTEM: in capitals at the start of a line, followed by words.
		if w == "SYSTEM" && to < len(s) && s[to] == ':' && atLineStart(s, from) {
			a, b := nextWord(s, to+1, min(len(s), to+8))
			c, d := nextWord(s, b, min(len(s), b+8))
			if b > a && d > c && strings.IndexByte(s[to:d], '\n') < 0 {
				sc.add(roles, from, d)
			}
		}
	case is(w, "curl"), is(w, "wget"), is(w, "irm"), is(w, "iwr"), is(w, "fetch"), is(w, "invoke"):
		if !inName(s, from) {
			sc.pipe(from, to)
		}
	case is(w, "base"):
		if strings.HasPrefix(s[to:], "64 ") {
			if rest := s[to+3:]; strings.HasPrefix(rest, "-d") || strings.HasPrefix(rest, "-D") || strings.HasPrefix(rest, "--decode") {
				sc.pipe(from, to)
			}
		}
	case is(w, "bash"), is(w, "sh"), is(w, "zsh"), is(w, "eval"), is(w, "source"):
		sc.substitution(from, to)
	case is(w, "ai"), is(w, "llm"), is(w, "assistant"):
		sc.address(from, to)
	case is(w, "id"):
		sc.keyFile(from, to)
	default:
		if sendSet.has(n) && !(to < len(s) && s[to] == '=') { // EMAIL=… assigns
			if prev := sc.wordBefore(from); !neverSet.has(prev) {
				sc.sendTo(from, to)
			}
		}
	}
}

// mark handles the byte s[i], one of < [ ] -, and returns where to go on.
func (sc *scanner) mark(i int) int {
	s := sc.s
	switch s[i] {
	case ']':
		if i+1 < len(s) && s[i+1] == '(' {
			sc.link(i)
		}
		return i + 1
	case '-':
		j := i
		for j < len(s) && s[j] == '-' {
			j++
		}
		if j-i >= 3 {
			sc.rule(i, j)
		}
		return j
	case '<':
		j := i
		for j < len(s) && s[j] == '<' {
			j++
		}
		if j-i >= 3 {
			sc.rule(i, j)
			return j
		}
		if strings.HasPrefix(s[i:], "<!--") {
			sc.comment(i, i+4, "-->")
			return i + 4
		}
		if end, ok := unseen(s, i); ok && sc.opens(i) {
			sc.comment(i, end, "</")
		}
	case '[':
		if i > 0 && s[i-1] == ']' {
			return i + 1
		}
		if strings.HasPrefix(s[i:], "[//]: # ") || strings.HasPrefix(s[i:], "[comment]: # ") {
			sc.comment(i, i+8, "\n")
		}
	}
	if i+1 == len(s) || !second[s[i+1]&31] {
		return i + 1
	}
	for k := range templates {
		t := &templates[k]
		if len(s)-i < len(t.text) || s[i] != t.text[0] {
			continue
		}
		got := s[i : i+len(t.text)]
		if got == t.text || !t.exact && strings.EqualFold(got, t.text) {
			sc.add(t.signal, i, i+len(t.text))
			return i + len(t.text)
		}
	}
	return i + 1
}

// second holds the low five bits of the second bytes of templates.
var second = func() (b [32]bool) {
	for _, t := range templates {
		b[t.text[1]&31] = true
	}
	return b
}()
