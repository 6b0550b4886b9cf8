package keywords

import (
	"slices"
	"strings"
	"testing"
)

func wordsOf(texts ...string) (out []Word) {
	for _, t := range texts {
		out = append(out, Word{Text: t})
	}
	return out
}

// plain is what Each and Look must report, found by comparing everywhere.
func plain(s string, words []Word) (out []Hit) {
	for end := range len(s) + 1 {
		for k, w := range words {
			if at := end - len(w.Text); at >= 0 && strings.EqualFold(s[at:end], w.Text) && w.fits(s, at, end) {
				out = append(out, Hit{end, k})
			}
		}
	}
	return out
}

// sorted orders sightings that end at the same place.
func sorted(hits []Hit) []Hit {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if a.End != b.End {
			return a.End - b.End
		}
		return a.Word - b.Word
	})
	return hits
}

// with installs words of two owners for one test.
func with(t *testing.T, words []Word, f func(a, b *Owner)) {
	oldOwners, oldShared, oldBuilt := owners, shared, built
	defer func() { owners, shared, built = oldOwners, oldShared, oldBuilt }()
	half := len(words) / 2
	owners, built = nil, false
	a, b := Register(func() []Word { return words[:half] }), Register(func() []Word { return words[half:] })
	m := func() *machine {
		a.from, a.below, b.from, b.below = 0, uint16(half), uint16(half), uint16(len(words))
		return newMachine(words, owners)
	}()
	shared = func() *machine { return m }
	f(a, b)
}

func digits() *Set {
	var s Set
	for c := byte('0'); c <= '9'; c++ {
		s.Add(c)
	}
	return &s
}

// Every sighting is reported, to its owner, in order, wherever the borders of lanes
// and blocks lie.
func TestSightings(t *testing.T) {
	words := append(wordsOf("hers", "she ", "usher", "aaab", "shershey", "\xc3\xa9tude"),
		Word{Text: "key", Before: digits()}, Word{Text: "ab", Then: []Set{*digits(), *digits()}}, Word{Text: "::::"}, Word{Text: "SHE ", Exact: true})
	with(t, words, func(a, b *Owner) {
		half := len(words) / 2
		texts := []string{"", "h", "ushers SHE shershey", "1key key keykey", "ab12 ab1", "ab", "aaaaab", "::::::", "\xff\xc3\xa9tude"}
		filler := strings.Repeat("a line of plain text\n", block/10)
		for _, n := range []int{shortened - 1, shortened, shortened + 1, 5000, block - 1, block, block + 1, block + 4000} {
			places := 97
			if raceEnabled {
				places = 19
			}
			for at := 0; at < n; at += 1 + n/places {
				texts = append(texts, filler[:at]+" ushers 9key ab00 "+filler[at:n])
			}
		}
		var seen Seen
		for _, s := range texts {
			seen.Look(s)
			want := plain(s, words)
			var each []Hit
			a.Each(s, func(w, end int) { each = append(each, Hit{end, w}) })
			b.Each(s, func(w, end int) { each = append(each, Hit{end, w + half}) })
			looked := slices.Clone(seen.Of(a))
			for _, h := range seen.Of(b) {
				looked = append(looked, Hit{h.End, h.Word + half})
			}
			for name, got := range map[string][]Hit{"Each": each, "Look": looked} {
				if !slices.Equal(sorted(got), want) {
					t.Fatalf("%s in %d bytes %.40q: %v, want %v", name, len(s), s, got, want)
				}
			}
			for _, o := range []*Owner{a, b} {
				if !slices.IsSortedFunc(seen.Of(o), func(x, y Hit) int { return x.End - y.End }) {
					t.Fatalf("%.40q: not in the order of the text: %v", s, seen.Of(o))
				}
			}
		}
	})
}

func TestShortKeywordsAreRefused(t *testing.T) {
	one := []Set{*digits()}
	for _, c := range []struct {
		w  Word
		ok bool
	}{
		{Word{Text: "abcd"}, true}, {Word{Text: "abc"}, false}, {Word{Text: "abc", Then: one}, true},
		{Word{Text: "ab", Before: digits(), Then: one}, true}, {Word{Text: "ab", Before: digits()}, false},
		{Word{Before: digits(), Then: []Set{*digits(), *digits(), *digits()}}, false},
	} {
		func() {
			defer func() {
				if refused := recover() != nil; refused == c.ok {
					t.Errorf("%+v: refused %v", c.w, refused)
				}
			}()
			newMachine([]Word{c.w}, nil)
		}()
	}
}

func TestRegisteringLateIsRefused(t *testing.T) {
	with(t, wordsOf("abcd"), func(a, b *Owner) {
		built = true
		defer func() {
			if recover() == nil {
				t.Error("accepted")
			}
		}()
		Register(func() []Word { return nil })
	})
}

func TestLookAllocatesNothing(t *testing.T) {
	with(t, wordsOf("line", "text"), func(a, b *Owner) {
		s := strings.Repeat("a line of "+strings.Repeat("nothing in particular ", 10)+"plain text\n", 200)
		var seen Seen
		seen.Look(s)
		if n := testing.AllocsPerRun(20, func() { seen.Look(s) }); n > 0 && !raceEnabled {
			t.Errorf("%v allocations", n)
		}
	})
}

// In a storm, sightings are left out but for those of words that are always reported;
// the storm says from where to where.
func TestStorm(t *testing.T) {
	words := append(wordsOf("stormy"), Word{Text: "beacon", Always: true})
	with(t, words, func(a, b *Owner) {
		calm := strings.Repeat("nothing in particular at all; ", 4000)
		dense := strings.Repeat("stormy ", 30000)
		s := calm + dense + "beacon " + dense + calm + "stormy beacon"
		var got []int
		storms := a.Each(s, func(_, end int) { got = append(got, end) })
		if len(storms) != 1 || storms[0].From < len(calm) || storms[0].From > len(calm)+stormWindow ||
			storms[0].To < len(calm)+2*len(dense)-block || storms[0].To > len(calm)+2*len(dense)+len("beacon ")+block {
			t.Errorf("%v, want one from %d to %d", storms, len(calm), len(calm)+2*len(dense))
		}
		if n := len(got); n < stormHits || n > 3*stormHits || got[n-1] != len(s)-len(" beacon") {
			t.Errorf("%d sightings, the last at %d of %d", n, got[n-1], len(s))
		}
		var beacons []int
		b.Each(s, func(_, end int) { beacons = append(beacons, end) })
		var seen Seen
		seen.Look(s)
		if want := []int{len(calm) + len(dense) + len("beacon"), len(s)}; !slices.Equal(beacons, want) || len(seen.Of(b)) != 2 || len(seen.Storms()) != 1 {
			t.Errorf("%v and %v, want %v; %v", beacons, seen.Of(b), want, seen.Storms())
		}
	})
}
