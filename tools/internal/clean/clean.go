// Package clean remembers what no secret was found in, so that what has been
// looked through before is not looked through again.
//
// # How to start
//
//	text := clean.Scan(raw)        // is secrets.Scan
//
//	l := clean.Names("src/")       // the names in a folder
//	l.Add("main.go")
//	if !l.Known() { …; l.Remember() }
//
// # What it promises
//
// Nothing about a file decides, only the bytes that were read, so no answer
// depends on what was asked before.
//
// # Limits
//
// Known is a hash of 64 bits. The seed is this process's own and unknown outside
// of it: texts of one hash cannot be prepared, and chance makes one of 2⁶⁴ look
// like another. What is answered passes redaction all the same.
package clean

import (
	"hash/maphash"
	"sync/atomic"

	"mcp-devserver/sandbox/secrets"
)

// memory is a set of hashes that forgets. Each hash has two places; a third of
// the same place drives one out.
type memory struct {
	seed  maphash.Seed
	slots atomic.Pointer[[slots]atomic.Uint64]
}

const slots = 1 << 17 // 1 MiB, taken when the first hash is to be remembered

var shared = memory{seed: maphash.MakeSeed()}

// hash marks no free place.
func hash(sum uint64) uint64 { return max(sum, 1) }

func (m *memory) known(h uint64) bool {
	s := m.slots.Load()
	at := h % slots
	return s != nil && (s[at].Load() == h || s[at^1].Load() == h)
}

func (m *memory) remember(h uint64) {
	s := m.slots.Load()
	for s == nil {
		m.slots.CompareAndSwap(nil, new([slots]atomic.Uint64))
		s = m.slots.Load()
	}
	at := h % slots
	if s[at].Load() != 0 && s[at^1].Load() == 0 {
		at ^= 1
	}
	s[at].Store(h)
}

// Scan is secrets.Scan.
func Scan(s string) secrets.Text { return shared.scan(s) }

func (m *memory) scan(s string) secrets.Text {
	h := hash(maphash.String(m.seed, s))
	if m.known(h) {
		return secrets.Text{Raw: s}
	}
	t := secrets.Scan(s)
	if len(t.Spans) == 0 {
		m.remember(h)
	}
	return t
}

// Listing is the names in a folder. It is no text that Scan knows, though it may
// have the same bytes.
type Listing struct {
	m *memory
	h maphash.Hash
}

// Names begins a listing of what lies below prefix.
func Names(prefix string) *Listing { return shared.names(prefix) }

func (m *memory) names(prefix string) *Listing {
	l := &Listing{m: m}
	l.h.SetSeed(m.seed)
	l.h.WriteString("names\x00")
	l.Add(prefix)
	return l
}

// Add adds a name, which holds no NUL.
func (l *Listing) Add(name string) {
	l.h.WriteString(name)
	l.h.WriteByte(0)
}

// Known reports whether the names added so far, in this order, were remembered.
func (l *Listing) Known() bool { return l.m.known(hash(l.h.Sum64())) }

// Remember remembers them: no secret is in any of them, each behind the prefix.
func (l *Listing) Remember() { l.m.remember(hash(l.h.Sum64())) }
