package conformance

import (
	"crypto/sha256"
	"errors"
	"sync"
)

// Scans at the end of a run look at everything that was said in it, so that
// answers are kept: a list that comes a hundred times is kept once, and what a
// hostile server adds ends at a budget.
const (
	keepWeight   = 192 << 20 // bytes of memory, about
	keepSmall    = 64 << 20  // further ones, for messages below smallWeight
	smallWeight  = 64 << 10
	sharedWeight = 4 << 10 // members of a result from here on are kept once
)

var errFull = errors.New("the answers of this run are more than it can keep")

// ledger weighs what the exchanges of a run keep.
type ledger struct {
	mu     sync.Mutex
	most   int // what weight may become, without small messages
	weight int
	over   bool // something was thrown away
	shared map[[sha256.Size]byte]*value
}

func newLedger() *ledger { return &ledger{most: keepWeight, shared: map[[sha256.Size]byte]*value{}} }

// take enters a message; false says that it may not be kept.
func (l *ledger) take(m *message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	weight := 512 + len(m.raw)
	if r := m.v.at("result"); r.is('{') {
		for _, name := range r.names {
			w := r.members[name].weight()
			if w >= sharedWeight {
				sum := sha256.Sum256([]byte(r.members[name].json()))
				if same := l.shared[sum]; same != nil {
					r.members[name] = same
					continue
				}
				if l.weight+w <= l.most {
					l.shared[sum] = r.members[name]
				}
			}
			weight += w
		}
	} else {
		weight += m.v.weight()
	}
	most := l.most
	if weight < smallWeight {
		most += keepSmall
	}
	if l.weight+weight > most {
		l.over = true
		return false
	}
	l.weight += weight
	return true
}

// full tells whether something was thrown away.
func (l *ledger) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// weight is about the memory that a value takes.
func (v *value) weight() int {
	if v == nil {
		return 0
	}
	n := 128 + len(v.text)
	for _, item := range v.items {
		n += 8 + item.weight()
	}
	for _, name := range v.names {
		n += 64 + len(name) + v.members[name].weight()
	}
	return n
}
