package untrusted

import (
	"slices"
	"strings"
)

// Hit is one sighting of a signal.
type Hit struct {
	Signal     *Signal
	Start, End int // bytes in the scanned text
}

// Scan returns what looks like an instruction to a model in s, sorted by Start;
// nil when nothing does.
func Scan(s string) []Hit {
	if isASCII(s) {
		return order(scanPlain(s, nil))
	}
	hits := scanHidden(s, nil)
	f := fold(s)
	from := len(hits)
	hits = scanPlain(f.s, hits)
	for i := from; i < len(hits); i++ {
		h := &hits[i]
		h.Start = f.at[h.Start]
		h.End = max(h.Start, f.at[h.End])
	}
	return order(hits)
}

func isASCII(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if (s[i]|s[i+1]|s[i+2]|s[i+3]|s[i+4]|s[i+5]|s[i+6]|s[i+7])&0x80 != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i]&0x80 != 0 {
			return false
		}
	}
	return true
}

// order sorts hits and joins those of one signal that overlap.
func order(hits []Hit) []Hit {
	if len(hits) < 2 {
		return hits
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return strings.Compare(a.Signal.ID, b.Signal.ID)
	})
	var last [signals]int // 1 + index in out of the newest hit of each signal
	out := hits[:0]
	for _, h := range hits {
		n := slices.Index(table[:], h.Signal)
		if k := last[n]; k > 0 && h.Start < out[k-1].End {
			out[k-1].End = max(out[k-1].End, h.End)
			continue
		}
		out = append(out, h)
		last[n] = len(out)
	}
	return out
}

// Kinds of bytes for the scanning loop.
const (
	other = iota
	letter
	mark // begins something that is not a phrase
)

var (
	kindOf [256]uint8
	// opening holds, for the first two letters of a word, the lengths (bit n for n
	// letters) of the words with which a phrase or something else begins.
	opening [32 * 32]uint32
)

func init() {
	index(vocabulary)
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

// scanPlain looks for everything but hidden characters. It allocates only when it
// adds a hit.
func scanPlain(s string, hits []Hit) []Hit {
	sc := scanner{s: s, hits: hits, before: -1}
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
	return sc.hits
}

type scanner struct {
	s      string
	hits   []Hit
	before int
	closed int // comments up to here have been read
}

func (sc *scanner) add(signal, from, to int) {
	sc.hits = append(sc.hits, Hit{table[signal], from, to})
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

// wordBefore returns the number of the word in front of s[i], −1 when there is none.
func (sc *scanner) wordBefore(i int) int {
	s := sc.s
	j := i
	for j > 0 && i-j < 4 && (s[j-1] == ' ' || s[j-1] == '\t') {
		j--
	}
	if j == i {
		return -1
	}
	k := j
	for k > 0 && j-k < 16 && (isLetter(s[k-1]) || s[k-1] == '\'') {
		k--
	}
	return lookup(s[k:j])
}
