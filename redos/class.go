package redos

import (
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2/syntax"
)

// class is what one character can look like in bytes: a byte of alone, or a head, whose first byte is of lead and whose
// second is of second, with the continuation bytes that are still due. loose takes up to three of them, due or not.
type class struct {
	alone byteSet
	heads []head
	loose bool
}

type head struct {
	lead, second byteSet
	tail         int
}

func (a *assembler) char(n *syntax.RegexNode) build {
	var c class
	switch {
	case n.IsOneFamily():
		c = charClass(n.Ch)
	case n.IsNotoneFamily():
		c = a.classOf("", func(r rune) bool { return r != n.Ch }, nil)
	case n.Set == nil:
		c = class{alone: anyByte, loose: true}
	default:
		c = a.classOf(string(n.Set.Hash()), n.Set.Contains, n.Set)
	}
	return func(next uint16) (uint16, error) {
		if a.full() {
			return 0, errLarge
		}
		return a.classAt(c, next), nil
	}
}

func charClass(r rune) (c class) {
	switch {
	case r == 0:
		c.alone, c.loose = anyByte, true
	case r == utf8.RuneError:
		c.alone.addRange(0x80, 0xFF)
		c.loose = true
	case r < utf8.RuneSelf:
		c.alone.add(int(r))
	default:
		b := utf8.AppendRune(nil, r)
		h := head{tail: len(b) - 2}
		h.lead.add(int(b[0]))
		h.second.add(int(b[1]))
		c.heads = []head{h}
	}
	return c
}

// maxAsked bounds the characters that the classes of one pattern are asked about: about 2 ms.
const maxAsked = 1 << 17

// classOf finds out what a class holds. set is nil or the class itself.
func (a *assembler) classOf(key string, contains func(rune) bool, set *syntax.CharSet) class {
	if c, ok := a.classes[key]; ok && key != "" {
		return c
	}
	var c class
	switch {
	case contains(0):
		c = class{alone: anyByte, loose: true}
	default:
		for r := rune(0); r < utf8.RuneSelf; r++ {
			if contains(r) {
				c.alone.add(int(r))
			}
		}
		if contains(utf8.RuneError) {
			c.alone.addRange(0x80, 0xFF)
			c.loose = true
		} else {
			c.heads = a.heads(contains, set)
		}
	}
	if key != "" {
		a.classes[key] = c
	}
	return c
}

// heads lists the beginnings of a class's characters beyond ASCII.
func (a *assembler) heads(contains func(rune) bool, set *syntax.CharSet) []head {
	ranges, known := rangesOf(set)
	// pairs holds, by first byte, the second bytes.
	var pairs [256]uint64
	if known {
		for _, r := range ranges {
			for lo := max(r.First, utf8.RuneSelf); lo <= min(r.Last, utf8.MaxRune); {
				shift := 0 // the bits behind the second byte
				switch {
				case lo >= 0x10000:
					shift = 12
				case lo >= 0x800:
					shift = 6
				}
				b := [utf8.UTFMax]byte{}
				if lo >= 0xD800 && lo < 0xE000 {
					b = [utf8.UTFMax]byte{0xED, byte(0x80 | lo>>6&0x3F)} // no text holds it, so it does no harm
				} else {
					utf8.EncodeRune(b[:], lo)
				}
				pairs[b[0]] |= 1 << (b[1] & 0x3F)
				lo = (lo>>shift + 1) << shift // the next second byte
			}
		}
	} else {
		exact := a.exact && a.asked < maxAsked
		if exact {
			for r := rune(utf8.RuneSelf); r < 0x10000; {
				var b [utf8.UTFMax]byte
				n := utf8.EncodeRune(b[:], r)
				a.asked++
				if !contains(r) {
					r++
					continue
				}
				pairs[b[0]] |= 1 << (b[1] & 0x3F)
				if n == 2 {
					r++
				} else {
					r = (r>>6 + 1) << 6
				}
			}
		}
		for lead := 0xC2; lead <= 0xF4; lead++ {
			if !exact || lead >= 0xF0 {
				pairs[lead] = ^uint64(0)
			}
		}
	}
	var out []head
	for lead := 0xC2; lead <= 0xF4; lead++ {
		if pairs[lead] == 0 {
			continue
		}
		second := pairs[lead]
		if !a.exact {
			second = ^uint64(0)
		}
		h := head{second: byteSet{2: second}, tail: tailOf(lead)}
		k := 0
		for k < len(out) && (out[k].second != h.second || out[k].tail != h.tail) {
			k++
		}
		if k == len(out) {
			out = append(out, h)
		}
		out[k].lead.add(lead)
	}
	return out
}

func tailOf(lead int) int {
	switch {
	case lead >= 0xF0:
		return 2
	case lead >= 0xE0:
		return 1
	}
	return 0
}

// rangesOf returns the ranges of a class that is nothing else.
func rangesOf(set *syntax.CharSet) ([]syntax.SingleRange, bool) {
	if set == nil || set.IsNegated() || set.IsAnything() || set.HasSubtraction() {
		return nil, false
	}
	for n := 1; n <= 64; n++ {
		if r := set.GetIfNRanges(n); r != nil {
			return r, true
		}
	}
	return nil, false
}

// classAt puts one character of a class before next.
func (a *assembler) classAt(c class, next uint16) uint16 {
	const none = ^uint16(0)
	if c.loose {
		more := next
		for range utf8.UTFMax - 1 {
			more = a.fork(a.bytes(continuation, more), next)
		}
		return a.bytes(c.alone, more)
	}
	at := none
	add := func(x uint16) {
		if at == none {
			at = x
		} else {
			at = a.fork(x, at)
		}
	}
	tails := [3]uint16{next, none, none}
	for _, h := range c.heads {
		for k := 1; k <= h.tail; k++ {
			if tails[k] == none {
				tails[k] = a.bytes(continuation, tails[k-1])
			}
		}
		add(a.bytes(h.lead, a.bytes(h.second, tails[h.tail])))
	}
	if c.alone != (byteSet{}) || at == none {
		add(a.bytes(c.alone, next))
	}
	return at
}
