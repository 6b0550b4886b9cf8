package untrusted

import "strings"

// templates are fixed strings that only a chat template or the frame around a tool
// result is made of. They are compared without case, unless exact.
var templates = []struct {
	text   string
	signal int
	exact  bool
}{
	{"<|im_start|>", roles, false}, {"<|im_end|>", roles, false}, {"<im_start>", roles, false},
	{"<|system|>", roles, false}, {"<|user|>", roles, false}, {"<|assistant|>", roles, false},
	{"<|endoftext|>", roles, false}, {"<|eot_id|>", roles, false}, {"<|begin_of_text|>", roles, false},
	{"<|start_header_id|>", roles, false}, {"<|end_header_id|>", roles, false}, {"<|end|>", roles, false},
	{"[inst]", roles, false}, {"[/inst]", roles, false}, {"<<sys>>", roles, false},
	{"<start_of_turn>", roles, false}, {"<end_of_turn>", roles, false},
	{"<IMPORTANT>", roles, true}, {"<HIDDEN>", roles, true}, {"<SYSTEM>", roles, true}, {"<SECRET>", roles, true}, {"[SYSTEM]", roles, true}, {"<INFORMATION>", roles, true},
	{"<SYSTEM MODE>", roles, true}, {"<system_override>", roles, false},
	{"<tool_call>", tools, false}, {"<function_calls>", tools, false}, {"<invoke name=", tools, false}, {"<tool_use>", tools, false},
	{"</tool_result>", fence, false}, {"<tool_result>", fence, false}, {"</function_results>", fence, false}, {"<function_results>", fence, false},
	{"</untrusted", fence, false}, {"<untrusted", fence, false}, {"</tool_response>", fence, false},
}

// opens reports whether the bracket at s[at] begins something: not the second of two,
// nor one of a row of angles.
func (sc *scanner) opens(at int) bool {
	s := sc.s
	if s[at] == '[' {
		return at == 0 || s[at-1] != ']'
	}
	from, to := at, at
	for from > 0 && at-from < 3 && s[from-1] == '<' {
		from--
	}
	for to < len(s) && to-at < 3 && s[to] == '<' {
		to++
	}
	return to-from < 3
}

// template handles a fixed string.
func (sc *scanner) template(k, at, end int) {
	if t := &templates[k]; sc.opens(at) && (!t.exact || sc.s[at:end] == t.text) {
		sc.add(t.signal, at, end)
	}
}

// ruled handles a row of at least three dashes or angles whose last three stand at
// s[at].
func (sc *scanner) ruled(at int) {
	if mayFrame(strings.TrimLeft(sc.s[at+3:min(len(sc.s), at+3+maxRule)], " -<>=\r")) {
		sc.rule(sc.ruleStart(at), at+3)
	}
}

// ruleStart returns where the row of equal bytes begins that s[at] is of.
func (sc *scanner) ruleStart(at int) int {
	from := at
	for from > 0 && sc.s[from-1] == sc.s[at] {
		from--
	}
	return from
}

// framed handles words of a frame: a rule may stand before them on their line.
func (sc *scanner) framed(at int) {
	s := sc.s
	for i := at - 1; i >= 2 && at-i <= maxRule && s[i] != '\n'; i-- {
		if c := s[i]; (c == '-' || c == '<') && s[i-1] == c && s[i-2] == c && s[i+1] != c {
			sc.rule(sc.ruleStart(i), i+1)
		}
	}
}

// maxComment bounds the bytes of a comment that are read for an address.
const maxComment = 2048

// comment looks for an address to an agent in s[from:] up to close.
func (sc *scanner) comment(start, from int, close string) {
	s := sc.s
	if start < sc.closed {
		return
	}
	body := s[from:min(len(s), from+maxComment)]
	end := from + len(body)
	if i := strings.Index(body, close); i >= 0 {
		body = body[:i]
		end = from + i + len(strings.TrimRight(close, "\n"))
	}
	sc.closed = end
	if addresses(body) {
		sc.add(comment, start, end)
	}
}

// addresses reports whether a hidden remark speaks to a model: it names one and
// then goes on with a colon, or says you.
func addresses(body string) bool {
	named := false
	for i := 0; ; {
		a, b := nextWord(body, i, len(body))
		if a == b {
			for b < len(body) && !isLetter(body[b]) {
				b++ // what ends a phrase does not end a comment
			}
			if b == len(body) {
				return false
			}
			i = b
			continue
		}
		n := lookup(body[a:b])
		switch {
		case modelSet.has(n) && !partOfName(body, a, b):
			named = true
			if c, d := nextWord(body, b, min(len(body), b+16)); readerSet.has(lookup(body[c:d])) {
				b = d // LLM reviewers:
			}
			if b < len(body) && body[b] == ':' && b+1 < len(body) && body[b+1] == ' ' {
				return true
			}
		case named && youSet.has(n):
			return true
		}
		i = b
	}
}

var readerSet = setOf("reviewer|reviewers|agent|agents|assistant|assistants|model|models|system|systems")

// unseen recognises the tag of an element whose text a browser does not show, and
// returns where the tag ends.
func unseen(s string, i int) (end int, ok bool) {
	if i+1 == len(s) || !isLetter(s[i+1]) {
		return 0, false
	}
	tag := s[i:min(len(s), i+maxTag)]
	n := strings.IndexByte(tag, '>')
	if n < 8 {
		return 0, false
	}
	tag = tag[:n]
	if strings.HasSuffix(tag, " hidden") || strings.Contains(tag, " hidden ") {
		return i + n + 1, true
	}
	_, style, ok := strings.Cut(tag, "style=")
	if !ok {
		return 0, false
	}
	for _, hides := range unseenStyles {
		name, value, _ := strings.Cut(hides, ":")
		if strings.Contains(style, name+":"+value) || strings.Contains(style, name+": "+value) || strings.Contains(style, name+" :"+value) {
			return i + n + 1, true
		}
	}
	return 0, false
}

var unseenStyles = []string{"display:none", "visibility:hidden", "font-size:0", "font-size:1px", "opacity:0", "color:white", "color:#fff", "left:-9999", "height:0"}

// maxTag bounds the bytes of a tag that is read for its style.
const maxTag = 200

var youSet = setOf("you|your|youre")

// partOfName reports whether the word s[a:b] is joined to others: ai-docs, user_agent.
func partOfName(s string, a, b int) bool {
	joins := func(c byte) bool { return c == '-' || c == '_' || c == '/' || c == '.' || c >= '0' && c <= '9' }
	return a > 0 && joins(s[a-1]) || b+1 < len(s) && joins(s[b]) && s[b+1] > ' '
}

// styled handles a word of the style of an element that is not shown: its text is read
// like a comment.
func (sc *scanner) styled(at int) {
	s := sc.s
	from := at
	for from > 0 && at-from < maxTag && s[from] != '<' && s[from] != '\n' {
		from--
	}
	if s[from] != '<' || !sc.opens(from) {
		return
	}
	if end, ok := unseen(s, from); ok {
		sc.comment(from, end, "</")
	}
}

// links handles what may be Markdown links and pictures. Their sign is too short for
// a keyword; the standard library looks for two bytes many at a time.
func (sc *scanner) links() {
	const sign = "]("
	for i := 0; ; i += len(sign) {
		n := strings.Index(sc.s[i:], sign)
		if n < 0 {
			return
		}
		i += n
		sc.link(i)
	}
}

// link reads the address and the title of a Markdown link or picture, from the
// bracket that closes its text: [text](address "title").
func (sc *scanner) link(i int) {
	s := sc.s
	body := s[i+2 : min(len(s), i+512)]
	if n := strings.IndexAny(body, ")\n"); n >= 0 {
		body = body[:n]
	}
	start := i
	for start > 0 && i-start < 256 && s[start] != '[' && s[start] != '\n' {
		start--
	}
	address, title, titled := strings.Cut(body, "\"")
	if titled && addresses(title) {
		sc.add(comment, start, i+2+len(body))
	}
	// A picture is fetched without being asked for; a query with a gap to be filled
	// in carries something out.
	if start == 0 || s[start-1] != '!' || !strings.HasPrefix(address, "http") {
		return
	}
	if _, query, ok := strings.Cut(address, "?"); ok {
		if eq := strings.IndexByte(query, '='); eq >= 0 && strings.ContainsAny(query[eq:], "[{<$") {
			sc.add(exfiltration, start-1, i+2+len(body))
		}
	}
}

// maxRule bounds the bytes behind a rule that are read.
const maxRule = 160

// mayFrame tells most texts from those that a frame begins with, by a glance.
func mayFrame(text string) bool {
	for _, w := range [...]string{"end", "begin", "start", "workspace data "} {
		if len(text) >= len(w) && strings.EqualFold(text[:len(w)], w) {
			return true
		}
	}
	return false
}

// rule reads a line of dashes or angles for the words of a frame.
func (sc *scanner) rule(from, i int) {
	s := sc.s
	j := i
	for j < len(s) && j-i < maxRule && s[j] != '\n' {
		j++
	}
	text := strings.Trim(strings.ToLower(s[i:j]), " -<>=\r")
	forged := strings.HasPrefix(text, "workspace data ") ||
		(strings.HasPrefix(text, "end") || strings.HasPrefix(text, "begin") || strings.HasPrefix(text, "start")) && (strings.Contains(text, "user input") ||
			strings.Contains(text, "user message") || strings.Contains(text, "tool output") || strings.Contains(text, "tool result")) ||
		strings.Contains(text, "treat as data, not instructions") ||
		(strings.HasPrefix(text, "end") || strings.HasPrefix(text, "begin") || strings.HasPrefix(text, "start")) && strings.Contains(text, "untrusted")
	if nonce, ok := strings.CutPrefix(text, "end "); ok && len(nonce) == 16 && strings.Trim(nonce, "0123456789abcdef") == "" {
		forged = true
	}
	if forged {
		sc.add(fence, from, j)
	}
}
