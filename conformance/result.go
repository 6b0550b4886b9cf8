package conformance

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Result is what a check found.
type Result struct {
	ID, Title, Section, Requirement string
	Level                           Level
	Verdict                         Verdict
	Reason                          string   // of a skip
	Faults                          []string // what is wrong
	Exchanges                       []Exchange
	Took                            time.Duration
}

// Exchange is a message and its answer, for a reader. Long ones are cut.
type Exchange struct {
	Request  string   // HTTP method and path
	Header   []string // of the request
	Sent     string
	Wrong    string // what is wrong with the request, on purpose
	Status   int
	Answered []string // header lines of the answer
	Got      []string
	Saw      string
	Blamed   bool // a fault points at it
}

// Report is the outcome of a run.
type Report struct {
	Target   string
	Revision string
	Strict   bool
	// Legacy names the revisions of a server that does not speak this one.
	// Then nothing was checked.
	Legacy    string
	Results   []Result
	Uncalled  []string // tools that were not called
	OutOfTime bool
	Flooded   bool // the server said more than a run can keep
	Took      time.Duration
}

// Count returns the number of results with a verdict.
func (r *Report) Count(v Verdict) (n int) {
	for i := range r.Results {
		if r.Results[i].Verdict == v {
			n++
		}
	}
	return n
}

// Conformant: nothing failed, something was seen, and the run came to its end.
func (r *Report) Conformant() bool {
	return r.Legacy == "" && !r.OutOfTime && !r.Flooded && r.Count(Fail) == 0 && r.Count(OK)+r.Count(Warn) > 0
}

// Bounds of what a report keeps of an exchange.
const (
	keepBytes    = 4 << 10
	keepMessages = 8
	keepShown    = 12
)

// shown picks what a report shows of a check: the exchanges that a fault points
// at first.
func shown(p *probe) (list []Exchange) {
	blamed := map[*exchange]bool{}
	var order []*exchange
	for _, f := range p.faults {
		if f.e != nil && !blamed[f.e] {
			blamed[f.e] = true
			order = append(order, f.e)
		}
	}
	for _, e := range p.sent {
		if !blamed[e] {
			order = append(order, e)
		}
	}
	for _, e := range order[:min(len(order), keepShown)] {
		list = append(list, e.show(blamed[e]))
	}
	return list
}

func (e *exchange) show(blamed bool) Exchange {
	s := Exchange{Request: e.method, Sent: legible(e.sent), Wrong: e.request.why, Saw: e.saw(), Blamed: blamed}
	for _, f := range e.fields {
		s.Header = append(s.Header, f.name+": "+f.value)
	}
	all := e.messages()
	for _, m := range all[:min(len(all), keepMessages)] {
		s.Got = append(s.Got, legible(m.raw))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Status = e.status
	if len(s.Got) == 0 && len(e.body) > 0 {
		s.Got = append(s.Got, legible(e.body))
	}
	s.Answered = headerLines(e.header)
	return s
}

func headerLines(h http.Header) (lines []string) {
	for name, values := range h {
		if strings.EqualFold(name, "Set-Cookie") {
			continue
		}
		for _, v := range values {
			lines = append(lines, legible([]byte(name+": "+clip(v, 200))))
		}
	}
	slices.Sort(lines)
	return lines[:min(len(lines), 40)]
}

// legible makes bytes of a stranger fit for a terminal and a page: cut, and
// without what acts on either.
func legible(b []byte) string {
	cut := ""
	if len(b) > keepBytes {
		b, cut = b[:keepBytes], "…"
	}
	return escape(string(b)) + cut
}

// escape writes control, formatting and invalid characters out.
func escape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && n <= 1:
			out.WriteString(`\x` + hex(rune(s[i]), 2))
		case c == '\t', c >= 0x20 && c < 0x7f, c >= 0xa0 && !acts(c):
			out.WriteString(s[i : i+n])
		default:
			out.WriteString(`\u{` + hex(c, 1) + `}`)
		}
		i += n
	}
	return out.String()
}

// acts: the character steers a terminal or a reader's eye.
func acts(c rune) bool {
	return c == 0xad || c >= 0x200b && c <= 0x200f || c >= 0x2028 && c <= 0x202e || c >= 0x2060 && c <= 0x206f ||
		c == 0xfeff || c >= 0xfff9 && c <= 0xfffb || c >= 0xe0000 && c <= 0xe0fff
}

func hex(c rune, width int) string {
	const digits = "0123456789abcdef"
	s := ""
	for c > 0 || len(s) < width {
		s = string(digits[c&15]) + s
		c >>= 4
	}
	return s
}
