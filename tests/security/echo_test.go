package security

import (
	"fmt"
	"strings"
	"testing"
)

// hidden are secrets of several shapes. The part that may never leave, not
// even a piece of it, stands between the brackets.
func hidden() []string {
	jwt := "eyJzdWIiOiIxOTM0NTY3ODkwIiwibiI6IlF4In0" + "." + "Zk3vQ8pLw2Xr7TnB5yHc1MdKs6GfJ4uAe9RiVo0Wz2x"
	return []string{
		"AKIA[Q3EGRZ7TPXN5BLDW]",
		"ghp_[aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6]",
		"SG.[Zk3vQ8pLw2Xr7TnB5yHc1M.dKs6GfJ4uAe9RiVo0Wz2xQq5Tb8Yn3Lm7Pc1Hd6Fg9]",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.[" + jwt + "]",
		"https://bob:[tr0ub4dor-X9q2Zk7w]@db.example/x",
	}
}

func unbracket(s string) (text, secret string) {
	before, rest, _ := strings.Cut(s, "[")
	secret, after, _ := strings.Cut(rest, "]")
	return before + secret + after, secret
}

// piece returns a stretch of n bytes of the secret that occurs in s, or "".
func piece(s, secret string, n int) string {
	for i := 0; i+n <= len(secret); i++ {
		if strings.Contains(s, secret[i:i+n]) {
			return secret[i : i+n]
		}
	}
	return ""
}

// pieceBytes is how long a piece of a secret may not be.
const pieceBytes = 4

// TestEchoesAreRedactedWhole sends secrets in everything that an error repeats,
// at every distance from the place where it is cut.
func TestEchoesAreRedactedWhole(t *testing.T) {
	r := newRepository(t)
	r.write(map[string]string{"a.txt": "one\n", "b.go": "package b\n"})
	r.commit("start")
	s := serve(t, r.root)

	request := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%s,"params":%s}`, quote(method), params)
	}
	call := func(tool string, a any) string {
		return request("tools/call", fmt.Sprintf(`{"name":%s,"arguments":%s,%s}`, quote(tool), quote(a), envelope))
	}
	messages := []struct {
		trick string
		make  func(x string) string
	}{
		{"method", func(x string) string { return request(x, "{"+envelope+"}") }},
		{"tool", func(x string) string { return call(x, args{}) }},
		{"argument", func(x string) string { return call("read_file", args{x: 1, "path": "a.txt"}) }},
		{"two arguments", func(x string) string { return call("read_file", args{x: 1, "p " + x: 2}) }},
		{"value of the wrong type", func(x string) string { return call("read_file", args{"path": "a.txt", "start_line": x}) }},
		{"value outside an enum", func(x string) string { return call("search_code", args{"pattern": "a", "output_mode": x}) }},
		{"arguments as a string", func(x string) string { return call("read_file", x) }},
		{"reserved key", func(x string) string {
			return request("tools/list", fmt.Sprintf(`{%s}`, strings.Replace(envelope, `{`, `{`+quote("io.modelcontextprotocol/"+x)+`:1,`, 1)))
		}},
		{"version", func(x string) string {
			return request("tools/list", strings.Replace("{"+envelope+"}", "2026-07-28", x, 1))
		}},
		{"handshake", func(x string) string { return request("initialize", `{"protocolVersion":`+quote(x)+`}`) }},
		{"cursor", func(x string) string { return request("tools/list", `{"cursor":`+quote(x)+`,`+envelope+`}`) }},
		{"path", func(x string) string { return call("read_file", args{"path": x}) }},
		{"path with an extension", func(x string) string { return call("read_file", args{"path": x + ".txt"}) }},
		{"path outside", func(x string) string { return call("list_directory", args{"path": "../" + x}) }},
		{"path below a file", func(x string) string { return call("read_file", args{"path": "a.txt/" + x}) }},
		{"denied path", func(x string) string { return call("read_file", args{"path": ".ssh/" + x}) }},
		{"path with a hint", func(x string) string { return call("read_file", args{"path": "~/" + x + "*"}) }},
		{"revision", func(x string) string { return call("git_log", args{"revision": x}) }},
		{"revision that looks like an option", func(x string) string { return call("git_diff", args{"base": "--" + x}) }},
		{"range", func(x string) string { return call("git_diff", args{"base": "HEAD.." + x}) }},
		{"revision of a file", func(x string) string { return call("read_file", args{"path": "a.txt", "revision": x + "..y"}) }},
		{"date", func(x string) string { return call("git_log", args{"since": x}) }},
		{"author", func(x string) string { return call("git_log", args{"author": x}) }},
		{"path in a log", func(x string) string { return call("git_log", args{"path": x}) }},
		{"pattern", func(x string) string { return call("search_code", args{"pattern": x}) }},
		{"broken pattern", func(x string) string { return call("search_code", args{"pattern": "(" + x}) }},
		{"unsafe pattern", func(x string) string { return call("search_code", args{"pattern": "((" + x + ")+)+$"}) }},
		{"unsafe pattern around it", func(x string) string { return call("search_code", args{"pattern": x + "(a+)+$"}) }},
		{"broken glob", func(x string) string { return call("list_directory", args{"glob": x + "["}) }},
		{"glob", func(x string) string { return call("search_code", args{"pattern": "a", "glob": x}) }},
		{"symbol", func(x string) string { return call("find_symbol", args{"name": x}) }},
		{"language", func(x string) string { return call("find_symbol", args{"path": "a.txt", "name": x}) }},
		{"broken JSON", func(x string) string { return `{"jsonrpc":"2.0","id":1,"method":"` + x + `\q"}` }},
		{"name twice", func(x string) string { return `{"jsonrpc":"2.0","id":1,"` + x + `":1,"` + x + `":2}` }},
	}
	for _, h := range hidden() {
		x, secret := unbracket(h)
		for _, m := range messages {
			failed := 0
			for i, pad := range paddings(len(x)) {
				fill := [...]string{"d/", "z "}[i%2]
				sent := m.make(strings.Repeat(fill, pad/2) + x)
				got := s.send(sent)
				if p := piece(got, secret, pieceBytes); p != "" && failed < 2 {
					failed++
					t.Errorf("%s, after %d bytes: %q of a secret came back\nsent %.300s\ngot  %.400s", m.trick, pad, p, sent, got)
				}
			}
		}
	}
}

// paddings puts a text of n bytes across each place where a caller's text is
// cut: 64 and 200 characters, and the bounds of names.
func paddings(n int) []int {
	out := []int{0}
	for _, cut := range []int{40, 64, 100, 200} {
		for at := cut - n - 4; at <= cut; at += 11 {
			if at > 0 {
				out = append(out, at)
			}
		}
	}
	return out
}
