package secrets

import "strings"

// urlPassword is scheme://user:password@host, and scheme://token@host.
func urlPassword(f *finder, r Rule, at, end int) {
	s := f.s
	if at == 0 || !isAlnum(s[at-1]) {
		return
	}
	colon, last := -1, -1
	i := end
scan:
	for ; i < len(s) && i-end <= maxValue; i++ {
		switch c := s[i]; c {
		case ':':
			if colon < 0 {
				colon = i
			}
		case '@':
			last = i
		case '/', '?', '#', '"', '\'', '`', '<', '>', '\\', ',', ';', ')', '|':
			break scan
		default:
			if c <= ' ' {
				break scan
			}
		}
	}
	if last <= end {
		return
	}
	if colon < 0 || colon > last {
		user := s[end:last]
		if isRandom(user, 20) && !standsFor(user) && strings.IndexByte(user, '@') < 0 {
			f.add(end, last, r)
		}
		return
	}
	pass := s[colon+1 : last]
	if last+1 >= len(s) || !isAlnum(s[last+1]) && s[last+1] != '[' {
		return
	}
	if len(pass) < 3 || standsFor(pass) || strings.ContainsAny(pass, "{}()$*") && !strings.ContainsAny(pass, "0123456789") {
		return
	}
	switch strings.ToLower(pass) {
	case "password", "pass", "passwd", "pwd", "secret", "mypassword", "xxxx", "xxx", "token":
		if !isRealHost(s[last+1 : min(len(s), last+64)]) {
			return
		}
	}
	if pass == s[end:colon] && isWordy(pass) {
		return
	}
	f.add(colon+1, last, r)
}

// isRealHost tells a host that somebody runs from one in a manual: example.org, host,
// localhost.
func isRealHost(s string) bool {
	n := 0
	dot, port := false, false
	for n < len(s) && (isAlnum(s[n]) || s[n] == '.' || s[n] == '-') {
		dot = dot || s[n] == '.' && n+1 < len(s) && isAlnum(s[n+1])
		n++
	}
	host := s[:n]
	if n+1 < len(s) && s[n] == ':' {
		port = isDigit(s[n+1])
	}
	for _, w := range []string{"example", "invalid", "localhost", "test", "hostname", "server", "domain", "proxy", "acme", "foo", "bar."} {
		for i := 0; i+len(w) <= len(host); i++ {
			if hasFold(host[i:], w) {
				return false
			}
		}
	}
	return dot || port
}

// queryPassword is the password of a query or of a connection string:
// ?user=u&password=p, Server=s;Uid=u;Pwd=p.
func queryPassword(f *finder, r Rule, at, end int) {
	s := f.s
	if at == 0 || s[at-1] != '&' && s[at-1] != '?' && s[at-1] != ';' && s[at-1] != ' ' && (s[at-1] != ',' || !endsInPort(s[:at-1])) {
		return
	}
	if c := s[at-1]; c == ';' || c == ' ' {
		i := at - 1
		for i > 0 && s[i] == ' ' && at-i < 3 {
			i--
		}
		// A statement ends so too; in a connection string another setting comes before.
		if s[i] != ';' {
			return
		}
		before := s[max(0, i-64):i]
		if n := strings.LastIndexByte(before, '\n'); n >= 0 {
			before = before[n+1:]
		}
		if strings.IndexByte(before, '=') < 0 || strings.ContainsAny(before, "()") {
			return
		}
	}
	braces := end < len(s) && s[end] == '{' // an ODBC string quotes so
	if braces {
		end++
	}
	j := end
	for j < len(s) && j-end <= 128 && s[j] > ' ' && strings.IndexByte("&;\"'`<>\\)(,|", s[j]) < 0 && (s[j] != '}' || !braces) {
		j++
	}
	if braces && (j == len(s) || s[j] != '}' || !isRandom(s[end:j], 8)) {
		return // or it is a template
	}
	v := s[end:j]
	if len(v) < 4 || len(v) > 128 || standsFor(v) || strings.ContainsAny(v, "{}$") {
		return
	}
	switch strings.ToLower(v) {
	case "password", "pass", "passwd", "secret", "true", "false", "null", "none":
		return
	}
	f.add(end, j, r)
}

// endsInPort reports whether s ends in a host and its port, as the connection string
// of a cache does before its settings.
func endsInPort(s string) bool {
	port := before(s, len(s), 6, &digitSet)
	return len(s)-port >= 2 && port > 1 && s[port-1] == ':' && isAlnum(s[port-2])
}

// oraclePassword is the password of jdbc:oracle:thin:user/password@host.
func oraclePassword(f *finder, r Rule, at, end int) {
	s := f.s
	slash := after(s, end, 64, &tokenSet)
	if slash == end || slash == len(s) || s[slash] != '/' {
		return
	}
	to := slash + 1
	for to < len(s) && to-slash <= 64 && s[to] > ' ' && s[to] != '@' && s[to] != '"' && s[to] != '\'' {
		to++
	}
	if v := s[slash+1 : to]; to < len(s) && s[to] == '@' && len(v) >= 3 && !standsFor(v) {
		f.add(slash+1, to, r)
	}
}

// dsnPassword is user:password@tcp(host), the Go MySQL form without a scheme.
func dsnPassword(f *finder, r Rule, at, end int) {
	s := f.s
	i := at
	for i > 0 && at-i <= 128 && s[i-1] > ' ' && strings.IndexByte(":(@/\"'`=", s[i-1]) < 0 {
		i--
	}
	if i == 0 || s[i-1] != ':' || at-i < 3 || standsFor(s[i:at]) {
		return
	}
	switch s[i:at] {
	case "password", "pass", "secret":
		return
	}
	f.add(i, at, r)
}
