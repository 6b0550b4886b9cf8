package secrets

import "strings"

// Private keys in text armour: PEM, OpenSSH, PGP, SSH2.
//
// The body of such a block arrives in many disguises: line breaks escaped once
// or several times, removed, or turned into spaces; indentation, quotes and signs
// between the lines; headers and prose before the base64; further BEGIN lines
// planted inside; no END at all. So the body is not parsed. Two facts decide:
//
//   - closed: BEGIN and the next END of the same label, with base64 in between
//     and never more than looseGap bytes of other text in a row. All of it is
//     hidden, whatever it is.
//   - open: no such END. The base64 that follows is hidden, with gaps up to
//     tightGap, and at most Reach bytes.
//
// Each BEGIN decides for itself from the Reach bytes behind it; what is hidden is
// the union. Hence nothing farther away than Reach can change what is hidden, and
// planting a BEGIN can only ever hide more.
const (
	looseGap = 4 << 10
	tightGap = 256

	maxLabel = 64 // bytes between BEGIN and the closing dashes

	// blockReach is how far a block reaches; what judges its last line may look a
	// little farther and still keep within Reach.
	blockReach = Reach - 256
)

// marker is an armour line: -----BEGIN RSA PRIVATE KEY-----.
type marker struct {
	begin      bool
	label      string
	start, end int // of the whole line of armour, dashes included
}

// markerAt reads the marker whose first dash is s[i].
func markerAt(s string, i int) (m marker, ok bool) {
	j := i
	for j < len(s) && s[j] == '-' {
		j++
	}
	if j-i < 2 {
		return m, false
	}
	for j < len(s) && s[j] == ' ' && j-i < 16 {
		j++
	}
	switch {
	case strings.HasPrefix(s[j:], "BEGIN "):
		m.begin, j = true, j+6
	case strings.HasPrefix(s[j:], "END "):
		j += 4
	default:
		return m, false
	}
	from := j
	for j < len(s) && j-from < maxLabel && (isAlnum(s[j]) || s[j] == ' ') {
		j++
	}
	m.label = strings.TrimSpace(s[from:j])
	if !strings.HasSuffix(m.label, "PRIVATE KEY") && m.label != "PGP PRIVATE KEY BLOCK" {
		return m, false
	}
	k := j
	for k < len(s) && s[k] == '-' && k-j < 16 {
		k++
	}
	if k-j < 2 && k < len(s) { // a text may end inside the closing dashes
		return m, false
	}
	m.start, m.end = i, k
	return m, true
}

// beginBefore finds the BEGIN marker that holds the words "PRIVATE KEY" at s[at:].
func beginBefore(s string, at int) (m marker, ok bool) {
	if at == 0 || s[at-1] != ' ' {
		return m, false
	}
	from := max(0, at-maxLabel)
	b := strings.LastIndex(s[from:at], "BEGIN ")
	if b < 0 {
		return m, false
	}
	i := from + b
	for i > 0 && s[i-1] == ' ' && from+b-i < 8 {
		i--
	}
	dash := i
	for dash > 0 && s[dash-1] == '-' && i-dash < 16 {
		dash--
	}
	m, ok = markerAt(s, dash)
	return m, ok && m.begin && m.end > at
}

var base64Set = set(`\w+/=`)

// armour walks the text behind a BEGIN marker.
type armour struct {
	s       string
	pending map[string][]int // label → starts of BEGIN markers that no END has closed
	spans   []Span

	begin     int // start of the first BEGIN of the tight run, −1 when there is none
	lastBegin int // start of the newest BEGIN
	body      int // end of the newest base64, for the tight run
	bodyAt    int // start of the newest base64, −1 at first
	quiet     int // where the present gap began
}

// blocks appends what is hidden because of m and of the BEGIN markers behind it
// that it runs into. stop is where the walk ended: BEGIN markers before it are done.
func blocks(spans []Span, s string, m marker) (out []Span, stop int) {
	a := armour{s: s, spans: spans, begin: -1, bodyAt: -1}
	a.open(m)
	i := m.end
	for i < len(s) && i < a.lastBegin+blockReach {
		c := s[i]
		switch {
		case base64Set.Has(c):
			from := i
			for i < len(s) && i-from < lineOfBody && base64Set.Has(s[i]) {
				i++
			}
			if isBody(s, from, i) || from == a.quiet && from > a.bodyAt && a.bodyAt >= 0 {
				if a.begin >= 0 {
					a.body = min(i, a.lastBegin+blockReach)
				}
				a.bodyAt, a.quiet = from, i
			}
		case c == '\\':
			i = skipEscape(s, i)
		case c == '-' && (i == 0 || s[i-1] != '-'):
			m, ok := markerAt(s, i)
			switch {
			case !ok:
				i++
			case m.begin:
				a.open(m)
				i = m.end
			default:
				a.close(m)
				i = m.end
				if len(a.pending) == 0 {
					return a.finish(), i
				}
			}
		default:
			i++
		}
		if gap := i - a.quiet; gap > tightGap && a.begin >= 0 {
			a.tight()
		} else if gap > looseGap {
			break
		}
	}
	return a.finish(), i
}

func (a *armour) open(m marker) {
	if a.pending == nil {
		a.pending = map[string][]int{}
	}
	label := strings.Clone(m.label)
	a.pending[label] = append(a.pending[label], m.start)
	if a.begin < 0 {
		a.begin, a.body = m.start, -1
	}
	a.lastBegin, a.quiet = m.start, m.end
}

// close pairs an END with the farthest BEGIN of its label that is within Reach.
func (a *armour) close(m marker) {
	for _, b := range a.pending[m.label] {
		if m.end-b > blockReach {
			continue
		}
		if a.bodyAt > b || isShortBody(a.s[b:m.start]) {
			a.spans = append(a.spans, Span{b, m.end, rulePrivateKey})
			break
		}
	}
	delete(a.pending, m.label)
	if len(a.pending) == 0 {
		a.begin = -1 // closed or empty: nothing is open any more
	}
}

// tight ends the run of base64 that an open block hides.
func (a *armour) tight() {
	if a.begin >= 0 && a.body > a.begin {
		a.spans = append(a.spans, Span{a.begin, a.body, ruleOpenKey})
	}
	a.begin = -1
}

func (a *armour) finish() []Span {
	a.tight()
	return a.spans
}

// lineOfBody is how much base64 is judged at a time where line feeds are missing.
const lineOfBody = 128

// isBody tells base64 of a key from words. Forty bytes in a row are base64; a
// shorter stretch must mix cases and digits and stand alone on its line.
func isBody(s string, from, to int) bool {
	n := to - from
	if n >= 40 {
		return true
	}
	if n < 16 && s[to-1] != '=' || n < 4 {
		return false
	}
	var k kinds
	k.count(s[from:to])
	if s[to-1] != '=' && (k.upper == 0 || k.lower == 0 || k.digit == 0) {
		return false
	}
	return isEdge(s, from-1) && isEdge(s, to)
}

// isEdge reports whether s[i] separates the lines of a body: a line break, white
// space, a quote, an escape, or the end of the text.
func isEdge(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return true
	}
	switch s[i] {
	case '\n', '\r', '"', '\'', '`', '\\', '\t':
		return true
	case ' ':
		return i == 0 || i+1 == len(s) || s[i-1] == '\n' || s[i-1] == ' ' || s[i+1] == '\n' || s[i+1] == '\r'
	case 'n', 'r', 't':
		return i > 0 && s[i-1] == '\\'
	}
	return false
}

// isShortBody accepts what stands between BEGIN and END when it is too short to
// be recognised as base64: nothing but base64, white space and escapes.
func isShortBody(s string) bool {
	if len(s) > 512 {
		return false
	}
	m, ok := markerAt(s, 0)
	if !ok {
		return false
	}
	n := 0
	for i := m.end; i < len(s); {
		switch c := s[i]; {
		case base64Set.Has(c):
			n++
			i++
		case c == '\\':
			i = skipEscape(s, i)
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			i++
		default:
			return false
		}
	}
	return n >= 8
}

// skipEscape steps over backslashes and the letter they escape: \n, \\n, \u000a.
func skipEscape(s string, i int) int {
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i == len(s) {
		return i
	}
	switch s[i] {
	case 'n', 'r', 't':
		return i + 1
	case 'u':
		return min(len(s), i+5)
	}
	return i
}
