package untrusted

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox/internal/keywords"
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
		return order(scanEncoded(s, scanPlain(s, nil)))
	}
	return scanFolded(s)
}

// ScanIn is Scan for a text whose keywords have been looked for already.
func ScanIn(s string, seen *keywords.Seen) []Hit {
	if !isASCII(s) {
		return scanFolded(s) // another text than was looked through
	}
	sc := scanner{s: s, pivoted: -1}
	for _, h := range seen.Of(words) {
		sc.see(h.Word, h.End)
	}
	sc.links()
	return order(scanEncoded(s, sc.hits))
}

func scanFolded(s string) []Hit {
	hits := scanEncoded(s, scanForeign(s, scanHidden(s, nil)))
	f := fold(s)
	from := len(hits)
	hits = scanPlain(f.s, hits)
	for i := from; i < len(hits); i++ {
		h := &hits[i]
		h.Start = f.origin(h.Start)
		h.End = max(h.Start, f.origin(h.End))
	}
	f.release()
	return order(hits)
}

// scanPlain looks for everything but hidden characters. It allocates only when it
// adds a hit.
func scanPlain(s string, hits []Hit) []Hit {
	sc := scanner{s: s, hits: hits, pivoted: -1}
	words.Each(s, sc.see)
	sc.links()
	return sc.hits
}

// asciiLen returns how many bytes of s are ASCII, from the first on.
func asciiLen(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		if (b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7])&0x80 != 0 {
			break
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

func isASCII(s string) bool { return asciiLen(s) == len(s) }

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

type scanner struct {
	s       string
	hits    []Hit
	closed  int // comments up to here have been read
	pivoted int // the newest pivot
}

func (sc *scanner) add(signal, from, to int) {
	sc.hits = append(sc.hits, Hit{table[signal], from, to})
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

func init() { index(vocabulary) }
