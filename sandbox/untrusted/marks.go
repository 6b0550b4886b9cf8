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

// mark handles the byte s[i], one of < [ ] -, and returns where to go on.
func (sc *scanner) mark(i int) int {
	s := sc.s
	switch s[i] {
	case ']':
		if i+1 < len(s) && s[i+1] == '(' {
			sc.link(i)
		}
		return i + 1
	case '-':
		j := i
		for j < len(s) && s[j] == '-' {
			j++
		}
		if j-i >= 3 {
			sc.rule(i, j)
		}
		return j
	case '<':
		j := i
		for j < len(s) && s[j] == '<' {
			j++
		}
		if j-i >= 3 {
			sc.rule(i, j)
			return j
		}
		if strings.HasPrefix(s[i:], "<!--") {
			sc.comment(i, i+4, "-->")
			return i + 4
		}
	case '[':
		if i > 0 && s[i-1] == ']' {
			return i + 1
		}
		if strings.HasPrefix(s[i:], "[//]: # ") || strings.HasPrefix(s[i:], "[comment]: # ") {
			sc.comment(i, i+8, "\n")
		}
	}
	if i+1 == len(s) || !second[s[i+1]&31] {
		return i + 1
	}
	for k := range templates {
		t := &templates[k]
		if len(s)-i < len(t.text) || s[i] != t.text[0] {
			continue
		}
		got := s[i : i+len(t.text)]
		if got == t.text || !t.exact && strings.EqualFold(got, t.text) {
			sc.add(t.signal, i, i+len(t.text))
			return i + len(t.text)
		}
	}
	return i + 1
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
			if b < len(body) && body[b] == ':' && b+1 < len(body) && body[b+1] == ' ' {
				return true
			}
		case named && youSet.has(n):
			return true
		}
		i = b
	}
}

var youSet = setOf("you|your|youre")

// partOfName reports whether the word s[a:b] is joined to others: ai-docs, user_agent.
func partOfName(s string, a, b int) bool {
	joins := func(c byte) bool { return c == '-' || c == '_' || c == '/' || c == '.' || c >= '0' && c <= '9' }
	return a > 0 && joins(s[a-1]) || b+1 < len(s) && joins(s[b]) && s[b+1] > ' '
}

// second holds the low five bits of the second bytes of templates.
var second = func() (b [32]bool) {
	for _, t := range templates {
		b[t.text[1]&31] = true
	}
	return b
}()

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

// rule reads a line of dashes or angles for the words of a frame.
func (sc *scanner) rule(from, i int) {
	s := sc.s
	j := i
	for j < len(s) && j-i < 160 && s[j] != '\n' {
		j++
	}
	text := strings.Trim(strings.ToLower(s[i:j]), " -<>=\r")
	forged := strings.HasPrefix(text, "workspace data ") ||
		strings.Contains(text, "treat as data, not instructions") ||
		(strings.HasPrefix(text, "end") || strings.HasPrefix(text, "begin") || strings.HasPrefix(text, "start")) && strings.Contains(text, "untrusted")
	if nonce, ok := strings.CutPrefix(text, "end "); ok && len(nonce) == 16 && strings.Trim(nonce, "0123456789abcdef") == "" {
		forged = true
	}
	if forged {
		sc.add(fence, from, j)
	}
}
