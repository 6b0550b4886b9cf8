package tools

import (
	"hash/maphash"
	"sync/atomic"

	"mcp-devserver/sandbox/secrets"
)

// cleanTexts remembers texts in which no secret was found, by a hash of the
// whole text, so that a search of files that a search has read before does not
// look for secrets again. Nothing about a file decides, only what was read, so
// no answer depends on what was asked before. The seed is this process's own
// and unknown outside of it: texts of one hash cannot be prepared, and chance
// makes one of 2⁶⁴ look like another. What is answered passes redaction again.
//
// Each hash has two places; a third of the same place drives one out.
type cleanTexts struct {
	seed  maphash.Seed
	slots atomic.Pointer[[cleanSlots]atomic.Uint64]
}

const cleanSlots = 1 << 17 // 1 MiB, taken when the first text is clean

var clean = cleanTexts{seed: maphash.MakeSeed()}

// scan is secrets.Scan.
func (c *cleanTexts) scan(s string) secrets.Text {
	h := max(maphash.String(c.seed, s), 1) // 0 marks a free place
	slots := c.slots.Load()
	at := h % cleanSlots
	if slots != nil && (slots[at].Load() == h || slots[at^1].Load() == h) {
		return secrets.Text{Raw: s}
	}
	t := secrets.Scan(s)
	if len(t.Spans) > 0 {
		return t
	}
	for slots == nil {
		c.slots.CompareAndSwap(nil, new([cleanSlots]atomic.Uint64))
		slots = c.slots.Load()
	}
	if slots[at].Load() != 0 && slots[at^1].Load() == 0 {
		at ^= 1
	}
	slots[at].Store(h)
	return t
}
