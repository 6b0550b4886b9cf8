package sandbox

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Names are compared in a folded form, so that a spelling which some file
// system takes for the same name (other case, full-width letters, invisible
// characters, a trailing dot or space, an alternate data stream, the number of a
// version, an 8.3 short name) cannot pass a rule. A folded name is lower case, in compatibility
// composition, and has no trailing dot, space or tilde.

// foldBuf is room for one folded name; ordinary names need no more.
type foldBuf [256]byte

// foldSegment folds one component into buf. plain is false when the result may
// hold a separator (a full-width solidus folds into one).
func foldSegment(name string, buf *foldBuf) (folded []byte, plain bool) {
	if len(name) <= len(buf) {
		for i := 0; i < len(name); i++ {
			c := name[i]
			if c >= utf8.RuneSelf || c == '\\' {
				return foldSlow(name), false
			}
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			buf[i] = c
		}
		return trimTail(buf[:len(name)]), true
	}
	return foldSlow(name), false
}

func foldSlow(name string) []byte {
	s := norm.NFKC.String(name)
	s = strings.Map(func(r rune) rune {
		if hidden(r) && r >= 0x80 {
			return -1
		}
		switch r {
		case '\\':
			return '/'
		case 'ı', 'İ':
			return 'i'
		}
		return unicode.ToLower(r)
	}, s)
	s = norm.NFKC.String(s)
	return trimTail([]byte(s))
}

func trimTail(b []byte) []byte {
	for len(b) > 0 {
		switch b[len(b)-1] {
		case '.', ' ', '~':
			b = b[:len(b)-1]
			continue
		}
		break
	}
	return b
}

// decorated finds the first place from i on where something is appended to a
// folded name that some file system takes off again: an alternate data stream
// (".env::$DATA"), the number of a version (".env;1"). It is -1 when there is none.
func decorated(b []byte, i int) int {
	for i = max(i, 1); i < len(b); i++ {
		switch b[i] {
		case ':':
			return i
		case ';':
			rest := bytes.TrimLeft(b[i+1:], "0123456789. ~") // what is trimmed at an end may stand before the next one
			if len(rest) == 0 || rest[0] == ':' || rest[0] == ';' {
				return i
			}
		}
	}
	return -1
}

// shortName splits a folded 8.3 name ("git~1", "creden~1.jso") into stem and
// extension.
func shortName(b []byte) (stem, ext []byte, ok bool) {
	for i := 1; i < len(b)-1 && i <= 7; i++ {
		if b[i] == '~' {
			j := i + 1
			for j < len(b) && b[j] >= '0' && b[j] <= '9' {
				j++
			}
			switch {
			case j == i+1:
				return nil, nil, false
			case j == len(b):
				return b[:i], nil, true
			case b[j] == '.' && len(b)-j-1 <= 3:
				return b[:i], b[j+1:], true
			}
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// shortStem is the stem an 8.3 file system makes of a long name, as far as it
// can be known from the literal start of that name: at most six characters,
// without dots and spaces; ext is at most three, empty when there is none.
func shortStem(name string) (stem, ext string) {
	name = strings.TrimLeft(name, ".")
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name, ext = name[:i], name[i+1:]
		if len(ext) > 3 {
			ext = ext[:3]
		}
	}
	name = strings.NewReplacer(".", "", " ", "", "+", "_", ",", "_", ";", "_", "=", "_", "[", "_", "]", "_").Replace(name)
	if len(name) > 6 {
		name = name[:6]
	}
	return name, ext
}

// foldPath folds every component of a slash-separated path. A path that is
// folded already is returned as it is.
func foldPath(p string) string {
	same := true
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c >= utf8.RuneSelf || c == '\\' || 'A' <= c && c <= 'Z' {
			same = false
			break
		}
		if c == '/' || i == len(p)-1 {
			last := c
			if c == '/' && i > 0 {
				last = p[i-1]
			}
			if last == '.' || last == ' ' || last == '~' {
				same = false
				break
			}
		}
	}
	if same {
		return p
	}
	var b strings.Builder
	for seg := range strings.SplitSeq(p, "/") {
		var buf foldBuf
		f, _ := foldSegment(seg, &buf)
		for part := range bytes.SplitSeq(f, slash) { // a component may fold into several
			if part = trimTail(part); len(part) == 0 {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('/')
			}
			b.Write(part)
		}
	}
	return b.String()
}
