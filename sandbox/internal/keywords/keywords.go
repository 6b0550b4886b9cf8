// Package keywords finds the places in a text where a rule may apply: every
// occurrence of a keyword, in one pass for all packages that have any.
//
// # Start
//
//	var words = keywords.Register(func() []keywords.Word { … }) // while packages initialise
//	var seen keywords.Seen
//	seen.Look(text)                                          // all packages' sightings
//	for _, h := range seen.Of(words) { … h.Word, h.End … }       // one's own
//
// # Promises
//
// A pass is linear in the length of the text and independent of the number of
// keywords, compares without regard to ASCII case, and reports sightings in the
// order of their ends. What is registered decides at least [Decided] bytes of text,
// or the program does not start: a shorter keyword would call its rule too often.
//
// The automaton is built when the first text is read, not when the program starts.
//
// # Limits
//
// A text that is made of little but keywords is a storm: see [Storm]. Its sightings are
// reported no more.
//
// Keywords are bytes; letters beyond ASCII are compared as they are.
package keywords

import (
	"fmt"
	"slices"
	"sync"
)

// Decided is how many bytes of a text a keyword and the classes around it decide.
const Decided = 4

// Set is a set of bytes.
type Set [4]uint64

// Add adds a byte.
func (b *Set) Add(c byte) { b[c>>6] |= 1 << (c & 63) }

// Has reports whether c is in the set.
func (b *Set) Has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }

// Word is a keyword, and what its rule demands around it: a sighting that lacks it
// is not reported. The ends of the text satisfy every demand.
type Word struct {
	Text   string
	Exact  bool  // only in this case
	Before *Set  // holds the byte before
	Then   []Set // hold the bytes behind
	Always bool  // also in a storm, of which it makes none
	owner  int   // its owner's place
}

// decides counts the bytes of a text that w decides.
func (w *Word) decides() int {
	n := len(w.Text) + len(w.Then)
	if w.Before != nil {
		n++
	}
	return n
}

// fits reports whether the bytes around s[at:end] are those that w demands.
func (w *Word) fits(s string, at, end int) bool {
	if w.Exact && s[at:end] != w.Text {
		return false
	}
	if w.Before != nil && at > 0 && !w.Before.Has(s[at-1]) {
		return false
	}
	for i := range w.Then {
		if end+i < len(s) && !w.Then[i].Has(s[end+i]) {
			return false
		}
	}
	return true
}

// Hit is one sighting: the place where a keyword ends. Word counts from 0 for each
// package's own.
type Hit struct {
	End  int
	Word int
}

// Owner is what Register returns: the right to ask for one package's sightings.
type Owner struct {
	words       func() []Word
	from, below uint16 // numbers of its words in the shared table
	place       int    // among the owners
}

var (
	owners []*Owner
	built  bool
	shared = sync.OnceValue(func() *machine {
		built = true
		var all []Word
		for _, o := range owners {
			o.from = uint16(len(all))
			all = append(all, o.words()...)
			o.below = uint16(len(all))
		}
		return newMachine(all, owners)
	})
)

// Register adds a package's keywords. It must be called while packages are
// initialised; words is called once, when the first text is read.
func Register(words func() []Word) *Owner {
	if built {
		panic("keywords: registered too late")
	}
	o := &Owner{words: words, place: len(owners)}
	if o.place == maxOwners {
		panic("keywords: too many owners")
	}
	owners = append(owners, o)
	return o
}

// maxOwners bounds the packages that register.
const maxOwners = 4

// machine is an automaton with what belongs to its keywords.
type machine struct {
	*automaton
	words []Word
	ends  []ending // by state, like hits
}

// ending is what a state completes.
type ending struct {
	candidates []candidate
	counts     bool  // for a storm
	others     uint8 // the owners, by place, to which it says nothing: neither theirs nor a storm
}

// candidate is a keyword that may end where a state was reached.
type candidate struct {
	Word
	n int // among its owner's
}

func newMachine(words []Word, owners []*Owner) *machine {
	for _, o := range owners {
		for i := o.from; i < o.below; i++ {
			words[i].owner = o.place
		}
	}
	m := &machine{words: words, automaton: newAutomaton(words)}
	for i := range words {
		if w := &words[i]; w.decides() < Decided || w.Text == "" {
			panic(fmt.Sprintf("keywords: %q decides %d bytes, a keyword must decide %d", w.Text, w.decides(), Decided))
		}
	}
	for _, hits := range m.hits {
		var e ending
		for _, k := range hits {
			for _, o := range owners {
				if o.from <= k && k < o.below {
					e.candidates = append(e.candidates, candidate{words[k], int(k - o.from)})
					e.counts = e.counts || !words[k].Always
				}
			}
		}
		for place := range maxOwners {
			if !e.counts && !slices.ContainsFunc(e.candidates, func(c candidate) bool { return c.owner == place }) {
				e.others |= 1 << place
			}
		}
		m.ends = append(m.ends, e)
	}
	return m
}
