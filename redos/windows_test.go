package redos

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// withoutVectors runs f as on a processor that has none.
func withoutVectors(f func()) {
	defer func(had bool) { vectors = had }(vectors)
	vectors = false
	f()
}

func randomWindow(r *rand.Rand, alphabet string) (w window) {
	for k := range w {
		switch r.IntN(5) {
		case 0:
			w[k] = anyByte
		case 1:
			lo := r.IntN(256)
			w[k].addRange(lo, min(lo+r.IntN(40), 255))
		default:
			for range 1 + r.IntN(3) {
				w[k].add(int(alphabet[r.IntN(len(alphabet))]))
			}
		}
	}
	return w
}

// The first place is found wherever it lies, at the end of the text too, with vectors and without.
func TestWindows(t *testing.T) {
	const alphabet = "abcdefAB_09 \n\x00\x7f\x80\xc3\xff"
	r := rand.New(rand.NewPCG(7, 8))
	for range 4000 / slower {
		var list []window
		for range 1 + r.IntN(12) {
			list = append(list, randomWindow(r, alphabet))
		}
		w := newWindows(list)
		b := make([]byte, r.IntN(150))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		s := string(b)
		from := r.IntN(len(s) + 1)
		to := from + r.IntN(len(s)-from+1)
		want, buckets := -1, byte(0)
		for i := from; i < to && want < 0; i++ {
			for n, win := range list {
				stands := true
				for k, set := range win {
					if i+k < len(s) {
						stands = stands && set.has(int(s[i+k]))
					} else {
						stands = stands && set == anyByte
					}
				}
				if stands {
					want, buckets = i, buckets|1<<(n%maxBuckets)
				}
			}
		}
		check := func(how string) {
			got, in := w.next(s, from, to)
			// Windows that share a bucket may find more than is there, and nothing later than that.
			if len(list) > maxBuckets && got >= 0 && (want < 0 || got <= want) && (got != want || in&buckets == buckets) {
				return
			}
			if got != want || in != buckets {
				t.Fatalf("%s: %v in %q[%d:%d]: %d in %b, want %d in %b", how, list, s, from, to, got, in, want, buckets)
			}
		}
		check("as it runs here")
		withoutVectors(func() { check("without vectors") })
	}
}

// cutOnly returns the pattern compiled so that windows choose its lines, whatever they cost; nil when it has none.
func cutOnly(p string, o Options) *Regex {
	re := automatonOnly(p, o, 0)
	if re == nil {
		return nil
	}
	list, _ := re.automaton.levels[0].cut()
	if list == nil {
		return nil
	}
	re.filter = &filter{needsProof: true}
	re.filter.lookFor(list)
	return re
}

// Whatever a pattern matches holds one of its windows, masked or not.
func TestCutLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	cuts := 0
	for range 4000 / slower {
		p := randomPattern(r, 1+r.IntN(3))
		o := Options{IgnoreCase: r.IntN(3) == 0, Multiline: r.IntN(4) == 0, NoGuard: true, MatchTimeout: 5 * time.Second}
		re := cutOnly(p, o)
		if re == nil {
			continue
		}
		cuts++
		for range 6 {
			raw := valid(randomText(r))
			b := mask(r, raw)
			if o.Multiline {
				if _, _, ok, _ := re.Find(string(b), time.Time{}); ok && !(re.MayMatch(raw) && re.MayMatch(b)) {
					t.Fatalf("%q %+v loses %q", p, o, b)
				}
				continue
			}
			got, want := lines(t, re, b, true), lines(t, re, b, false)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q %+v on %q: with windows %v, without %v", p, o, b, got, want)
			}
			if len(want) > 0 && !re.MayMatch(raw) {
				t.Fatalf("%q on %q, masked %q: MayMatch is false", p, raw, b)
			}
		}
	}
	if cuts < 800/slower {
		t.Errorf("only %d patterns had windows", cuts)
	}
}

// The windows are the rarest that there are.
func TestCut(t *testing.T) {
	show := func(s byteSet) string {
		if s == anyByte {
			return "."
		}
		var b strings.Builder
		for c := range 256 {
			if s.has(c) {
				b.WriteByte(byte(c))
			}
		}
		if b.Len() == 1 {
			return b.String()
		}
		return "[" + b.String() + "]"
	}
	for _, c := range []struct {
		pattern string
		ignore  bool
		windows string
	}{
		{`[A-Z]{3,}_\d+`, false, "[ABCDEFGHIJKLMNOPQRSTUVWXYZ]_[0123456789]"},
		{`todo|fixme|xxx`, true, "[Tt][Oo][Dd] [Ff][Ii][Xx] [Xx][Xx][Xx]"},
		{`^#include <linux/\w+\.h>`, false, "<li"},
		{`(?<=func )New\w+\(`, false, "New"},
		{`(?:ab|cd)+QQ`, false, "QQ."},
		{`q+x?`, false, "q.."},                    // a match of one byte
		{`['"]x+['"]`, false, `["']xx ["']x["']`}, // a byte may follow itself
		{`(?:ab|cd)+[aeiou]`, false, "cd[aeiou] ab[aeiou]"},
	} {
		re := automatonOnly(c.pattern, Options{IgnoreCase: c.ignore}, 0)
		list, _ := re.automaton.levels[0].cut()
		var got []string
		for _, w := range list {
			got = append(got, show(w[0])+show(w[1])+show(w[2]))
		}
		if strings.Join(got, " ") != c.windows {
			t.Errorf("%s: got %q, want %q", c.pattern, got, c.windows)
		}
	}
}

// A program of the greatest size is cut in a time that nobody notices.
func TestCutEndsSoon(t *testing.T) {
	for _, p := range []string{
		`(?:` + strings.Repeat(`[a-z]?`, 300) + `q|` + strings.Repeat(`[A-Z]?`, 300) + `z)!`,
		strings.Repeat(`(?:a?|b?)`, 300) + `!`,
		`(?:` + strings.Repeat(`[a-z]x|`, 400) + `z)*!`,
		strings.Repeat(`[a-z]`, 800) + `!`,
	} {
		re := automatonOnly(p, Options{NoGuard: true}, 0)
		if re == nil {
			t.Errorf("%.20s: no automaton", p)
			continue
		}
		pr := re.automaton.levels[0]
		c := &cutter{program: pr, before: pr.before()}
		c.best()
		if c.looked > maxLooked+len(pr.code) {
			t.Errorf("%.20s: %d instructions looked at, of %d", p, c.looked, len(pr.code))
		}
	}
}

// Look says what two passes would, for every kind of filter.
func TestLook(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 3000 / slower {
		p := randomPattern(r, r.IntN(3))
		re, err := Compile(p, Options{IgnoreCase: r.IntN(3) == 0, Literal: r.IntN(3) == 0, Multiline: r.IntN(4) == 0, NoGuard: true})
		if err != nil {
			continue
		}
		only := cutOnly(p, Options{NoGuard: true})
		for range 6 {
			var b []byte
			for range 1 + r.IntN(4) {
				b = append(b, randomText(r)...)
			}
			if r.IntN(2) == 0 {
				b = bytes.ReplaceAll(b, []byte{0}, nil)
			}
			for _, re := range []*Regex{re, only} {
				if re == nil {
					continue
				}
				wantNUL := bytes.IndexByte(b, 0) >= 0
				wantMay := !wantNUL && re.MayMatch(b)
				check := func(how string) {
					if nul, may := re.Look(b); nul != wantNUL || may != wantMay {
						t.Fatalf("%s: %q on %q: NUL %v, may match %v; want %v, %v", how, p, b, nul, may, wantNUL, wantMay)
					}
				}
				check("as it runs here")
				withoutVectors(func() { check("without vectors") })
			}
		}
	}
}

func TestIndexEither(t *testing.T) {
	for n := range 130 {
		b := bytes.Repeat([]byte("x"), n)
		if i := indexEither(string(b), 'a', 0); i >= 0 {
			t.Fatalf("%d bytes: %d", n, i)
		}
		for at := range n {
			for _, c := range []byte{'a', 0} {
				b[at] = c
				if i := indexEither(string(b), 'a', 0); i != at {
					t.Fatalf("%d bytes, %q at %d: %d", n, c, at, i)
				}
			}
			b[at] = 'x'
		}
	}
}
