package keywords

// A text may be made to be expensive: of nothing but keywords, each of which calls its
// rules. Where stormHits of them end within stormWindow bytes, some forty times as many
// as in ordinary source and more than a list of records with short values has, a storm
// has begun.
const (
	stormHits   = 8 << 10 // a power of two
	stormWindow = 128 << 10
)

// Storm is a stretch of a text, from the first keyword of a storm to the last, in which
// sightings were left out.
type Storm struct{ From, To int }

// weather watches how dense keywords are.
type weather struct {
	ends   [stormHits]int // where the newest ended, a ring
	n      int            // how many there were
	storms []Storm
}

// rages notes that a keyword ends at end, and reports whether it is one too many.
func (w *weather) rages(end int) bool {
	oldest := &w.ends[w.n&(stormHits-1)]
	w.n++
	first := *oldest
	*oldest = end
	if w.n <= stormHits || end-first > stormWindow {
		return false
	}
	if n := len(w.storms); n > 0 && first <= w.storms[n-1].To {
		w.storms[n-1].To = end
	} else {
		w.storms = append(w.storms, Storm{first, end})
	}
	return true
}

// raging reports whether there is a storm at base.
func (w *weather) raging(base int) bool {
	const lull = 64
	n := len(w.storms)
	return n > 0 && w.storms[n-1].To >= base-lull
}

// lasts says that the storm goes on up to end.
func (w *weather) lasts(end int) {
	w.storms[len(w.storms)-1].To = end
}
