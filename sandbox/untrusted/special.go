package untrusted

import "strings"

// system handles SYSTEM: in capitals at the start of a line, followed by words.
func (sc *scanner) system(from, to int) {
	s := sc.s
	if s[from:to] != "SYSTEM" || !atLineStart(s, from) {
		return
	}
	a, b := nextWord(s, to+1, min(len(s), to+8))
	c, d := nextWord(s, b, min(len(s), b+8))
	if b > a && d > c && strings.IndexByte(s[to:d], '\n') < 0 {
		sc.add(roles, from, d)
	}
}

// substituted handles a download: the line may hand it to a shell that stands before.
func (sc *scanner) substituted(at int) {
	s := sc.s
	opener := at
	for opener > 0 && at-opener < 4 && s[opener-1] == ' ' {
		opener--
	}
	switch {
	case opener > 0 && s[opener-1] == '`':
		opener--
	case opener > 1 && s[opener-1] == '(' && (s[opener-2] == '<' || s[opener-2] == '$'):
		opener -= 2
	default:
		return
	}
	const longest = len("source")
	for i := opener; i > 0 && opener-i <= maxOpener+longest && s[i-1] != '\n'; {
		to := i
		for i > 0 && to-i <= longest && isLetter(s[i-1]) {
			i--
		}
		if i == to {
			i--
			continue
		}
		switch w := s[i:to]; {
		case i > 0 && isLetter(s[i-1]), to < len(s) && s[to] == '\'':
		case is(w, "bash"), is(w, "sh"), is(w, "zsh"), is(w, "eval"), is(w, "source"):
			sc.substitution(i, to)
		}
	}
}

// addressed handles a word for a model with a colon behind: the address may have
// begun up to two words before.
func (sc *scanner) addressed(at int) {
	s := sc.s
	for words, from := 0, at; words < 3 && from >= 0 && at-from < maxWord; words, from = words+1, previous(s, from) {
		to := from
		for to < len(s) && isLetter(s[to]) {
			to++
		}
		if w := s[from:to]; is(w, "ai") || is(w, "llm") || is(w, "assistant") {
			sc.address(from, to)
		}
	}
}

var (
	sendSet   = setOf("SEND")
	secretSet = setOf("SECRET")
	modelSet  = setOf("MODEL")
	neverSet  = setOf("not|never|dont|to")
)

func is(w, lower string) bool {
	if len(w) != len(lower) {
		return false
	}
	for i := range len(w) {
		if w[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// inName reports whether s[i] goes on a name: libcurl, x-curl, curl.h.
func inName(s string, i int) bool {
	return i > 0 && (s[i-1] == '_' || s[i-1] == '.' || s[i-1] == '-' || s[i-1] >= '0' && s[i-1] <= '9')
}

// atLineStart allows the signs of comments and lists before s[i].
func atLineStart(s string, i int) bool {
	for n := 0; i > 0 && n < 16; n++ {
		switch s[i-1] {
		case ' ', '\t', '#', '/', '*', '-', '>', '<', '!', '"', '\'', '(', '.', ';', '%':
			i--
			continue
		}
		break
	}
	return i == 0 || s[i-1] == '\n'
}

// maxCommand bounds the bytes of a command line.
const maxCommand = 400

// pipe looks for "| sh" behind a download, on the same line or its continuation.
func (sc *scanner) pipe(from, to int) {
	s := sc.s
	sc.carries(from, to)
	pipes := 0
	for i := to; i < len(s) && i-from < maxCommand && pipes < 8; i++ {
		switch s[i] {
		case '\n':
			if s[i-1] != '\\' && !(s[i-1] == '\r' && s[i-2] == '\\') {
				return
			}
		case ';':
			return
		case '|':
			pipes++
			j := i + 1
			for j < len(s) && (s[j] == ' ' || s[j] == '&' || s[j] == '\\' || s[j] == '\n') && j-i < 8 {
				j++
			}
			if end, ok := shell(s, j); ok {
				sc.add(pipeToShell, from, end)
				return
			}
		}
	}
}

// carries looks for a command that sends what another one reads, or a file that holds
// credentials: curl -d "$(cat .env)", curl -F f=@~/.ssh/id_rsa.
func (sc *scanner) carries(from, to int) {
	line := sc.s[to:min(len(sc.s), to+maxCommand)]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	for _, what := range [...]string{"$(cat ", "`cat ", "$(env)", "$(printenv", "@.env", "@~/.", "@/etc/passwd", "@$HOME/."} {
		if i := strings.Index(line, what); i >= 0 && strings.Contains(line, "://") {
			sc.add(exfiltration, from, to+i+len(what))
			return
		}
	}
}

// shell reads an interpreter at s[i:], behind sudo, env and their options.
func shell(s string, i int) (end int, ok bool) {
	for range 6 {
		j := i
		for j < len(s) && j-i < 64 && s[j] > ' ' && s[j] != '"' && s[j] != '\'' && s[j] != '`' && s[j] != ')' && s[j] != ';' && s[j] != '<' && s[j] != ',' && s[j] != '|' && s[j] != '&' {
			j++
		}
		w := s[i:j]
		if k := strings.LastIndexByte(w, '/'); k >= 0 {
			w = w[k+1:]
		}
		switch w {
		case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "python", "python3", "perl", "ruby", "node", "iex", "pwsh", "powershell", "Invoke-Expression", "php", "lua", "deno", "bun":
			return j, true
		case "sudo", "env", "exec", "command", "nohup":
		default:
			if w == "" || w[0] != '-' && strings.IndexByte(w, '=') < 0 {
				return 0, false
			}
		}
		for j < len(s) && s[j] == ' ' {
			j++
		}
		i = j
	}
	return 0, false
}

// maxOpener bounds the bytes between a shell and the opening of what it is to run.
const maxOpener = 24

// substitution is bash <(curl …), sh -c "$(curl …)", eval "$(curl …)".
func (sc *scanner) substitution(from, to int) {
	s := sc.s
	line := s[to:min(len(s), to+maxOpener)]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	for _, opener := range []string{"<(", "$(", "`"} {
		i := strings.Index(line, opener)
		if i < 0 {
			continue
		}
		rest := strings.TrimLeft(s[to+i+len(opener):min(len(s), to+i+len(opener)+8)], " ")
		if strings.HasPrefix(rest, "curl") || strings.HasPrefix(rest, "wget") {
			sc.add(pipeToShell, from, to+i+len(opener)+4)
			return
		}
	}
}

// address is "AI assistant:" at the start of a line or comment.
func (sc *scanner) address(from, to int) {
	s := sc.s
	if !atLineStart(s, from) {
		return
	}
	end := to
	for range 2 {
		if end < len(s) && s[end] == ':' {
			break
		}
		a, b := nextWord(s, end, min(len(s), end+3))
		if a == b || !modelSet.has(lookup(s[a:b])) && !is(s[a:b], "model") && !is(s[a:b], "models") {
			return
		}
		end = b
	}
	if end >= len(s) || s[end] != ':' || is(s[from:end], "assistant") || s[from:from+1] != strings.ToUpper(s[from:from+1]) {
		return
	}
	// Several words must follow: "AI: yes" in a table is no address.
	i := end + 1
	for range 3 {
		a, b := nextWord(s, i, min(len(s), i+8))
		if a == b || strings.IndexByte(s[i:a], '\n') >= 0 {
			return
		}
		i = b
	}
	sc.add(override, from, i)
}

// keyFile is a command or request that names a private SSH key.
func (sc *scanner) keyFile(from, to int) {
	s := sc.s
	if !strings.HasPrefix(s[to:], "_rsa") && !strings.HasPrefix(s[to:], "_ed25519") && !strings.HasPrefix(s[to:], "_ecdsa") {
		return
	}
	end := to + 4
	for end < len(s) && (isLetter(s[end]) || s[end] >= '0' && s[end] <= '9') {
		end++
	}
	if strings.HasPrefix(s[end:], ".pub") {
		return
	}
	line := s[max(0, from-80):from]
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	i := 0
	for {
		a, b := nextWord(line, i, len(line))
		if a == b {
			return
		}
		if readSet.has(lookup(line[a:b])) {
			sc.add(exfiltration, from-len(line)+a, end)
			return
		}
		i = b
	}
}

var readSet = setOf("cat|read|send|include|print|show|open|upload|post|reveal|output")

// sendTo is "send … secrets … to https://…" or to an address.
func (sc *scanner) sendTo(from, to int) {
	s := sc.s
	// Without an address there is nothing to find.
	if room := s[to:min(len(s), from+maxPhrase+maxWord+1)]; strings.IndexByte(room, '@') < 0 && !strings.Contains(room, "://") {
		return
	}
	i := to
	secret := false
	for range 24 {
		a, b := nextWord(s, i, min(len(s), from+maxPhrase))
		if a == b || strings.IndexByte(s[i:a], ';') >= 0 {
			return
		}
		w := s[a:b]
		if secretSet.has(lookup(w)) {
			secret = true
		}
		if secret && (is(w, "http") || is(w, "https")) && strings.HasPrefix(s[b:], "://") ||
			secret && b < len(s) && s[b] == '@' {
			sc.add(exfiltration, from, b)
			return
		}
		i = b
	}
}
