package security

import (
	"fmt"
	"strings"
	"testing"
)

// sources are files with one secret each, named by how it is written down. The
// secret is what may not leave, not even in pieces.
func sources() map[string][2]string {
	block := strings.TrimSuffix(keyBlock(14, 9), "\n")
	lines := strings.Split(block, "\n")
	body := strings.Join(lines[1:len(lines)-1], "\n")
	open := strings.Join(lines[:len(lines)-1], "\n")
	oneKey := "AKIA" + "Q3EGRZ7TPXN5BLDW"
	token := "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
	around := func(s string) string { return "first\nsecond\n" + s + "\nlast but one\nlast\n" }
	long := strings.Repeat("lorem ipsum ", 100)
	return map[string][2]string{
		"key block":                          {around(block), body},
		"key block, CRLF":                    {strings.ReplaceAll(around(block), "\n", "\r\n"), body},
		"key block, indented":                {around("key: |\n        " + strings.ReplaceAll(block, "\n", "\n        ")), body},
		"key block, quoted lines":            {around("\"" + strings.ReplaceAll(block, "\n", "\\n\" +\n  \"") + "\""), body},
		"key block, commented":               {around("// " + strings.ReplaceAll(block, "\n", "\n// ")), body},
		"key block in a diff":                {around("+" + strings.ReplaceAll(block, "\n", "\n+")), body},
		"key block, numbered":                {around(numbered(block)), body},
		"key block, JSON":                    {around(`{"key": "` + strings.ReplaceAll(block, "\n", `\n`) + `"}`), body},
		"key block, JSON in JSON":            {around(`{"key": "` + strings.ReplaceAll(block, "\n", `\\n`) + `"}`), body},
		"key block, JSON thrice":             {around(`{"key": "` + strings.ReplaceAll(block, "\n", `\\\\n`) + `"}`), body},
		"key block, CRLF escaped":            {around(`{"key": "` + strings.ReplaceAll(block, "\n", `\r\n`) + `"}`), body},
		"key block, spaces for newlines":     {around("KEY=" + strings.ReplaceAll(block, "\n", " ")), body},
		"key block, no newlines":             {around("KEY=" + strings.ReplaceAll(block, "\n", "")), body},
		"key block, blank lines between":     {around(strings.ReplaceAll(block, "\n", "\n\n")), body},
		"key block with a planted beginning": {around(strings.Replace(block, lines[5], lines[5]+"\n-----BEGIN CERTIFICATE-----", 1)), body},
		"key block in a key block":           {around(strings.Replace(block, lines[5], lines[5]+"\n"+lines[0], 1)), body},
		"key block with headers":             {around(strings.Replace(block, lines[1], "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n"+lines[1], 1)), body},
		"key block without an end":           {"first\nsecond\n" + open + "\n", body},
		"key block cut in its last line":     {"first\nsecond\n" + open[:len(open)-20], body[:len(body)-20]},
		"key on a long line":                 {around(long + oneKey + " " + long), oneKey[4:]},
		"key at the end of a long line":      {around(long + oneKey), oneKey[4:]},
		"token without a gap":                {around(strings.Repeat("x=1;", 500) + "t=ghp_" + token + ";" + strings.Repeat("y=2;", 500)), token},
		"token after a long word":            {around(strings.Repeat("word_", 398) + "/ghp_" + token), token},
		"password in a URL":                  {around("db = postgres://app:tr0ub4dor-X9q2Zk7wMvB3@db.internal:5432/main?sslmode=disable"), "tr0ub4dor-X9q2Zk7wMvB3"},
		"assigned password":                  {around("password = \"tr0ub4dorX9q2Zk7wMvB3\""), "tr0ub4dorX9q2Zk7wMvB3"},
		"tag around a password":              {around("<password>\n    tr0ub4dorX9q2Zk7wMvB3\n  </password>"), "tr0ub4dorX9q2Zk7wMvB3"},
		"header":                             {around("curl -H 'Authorization: Bearer Zk3vQ8pLw2Xr7TnB5yHc1MdKs6GfJ4' \\\n  https://example.org"), "Zk3vQ8pLw2Xr7TnB5yHc1MdKs6GfJ4"},
		"netrc over lines":                   {around("machine example.org\n  login me\n  password tr0ub4dorX9q2Zk7wMvB3"), "tr0ub4dorX9q2Zk7wMvB3"},
		"escape before the key":              {around(`data = b"\x00` + oneKey + `\x00"`), oneKey[4:]},
		"colour before the key":              {around(`printf "\033[31m` + oneKey + `\033[0m"; x="\e` + oneKey + `"`), oneKey[4:]},
	}
}

func numbered(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = fmt.Sprintf("%d\t%s", 100+i, lines[i])
	}
	return strings.Join(lines, "\n")
}

// leaked returns a piece of the secret that r holds: of each line of it, since
// an answer may show lines apart.
func leaked(r reply, secret string, n int) string {
	s := r.decoded()
	for line := range strings.SplitSeq(secret, "\n") {
		if p := piece(s, line, n); p != "" {
			return p
		}
	}
	return ""
}

// windowPiece: key blocks are long, so short pieces of them occur by chance in
// ids and words.
const windowPiece = 6

// TestNoWindowShowsAPiece reads every range of lines, every tail, every search
// with every context and every diff around secrets.
func TestNoWindowShowsAPiece(t *testing.T) {
	r := newRepository(t)
	empty, full := map[string]string{}, map[string]string{}
	names := map[string][2]string{}
	for trick, src := range sources() {
		name := strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				return c
			}
			return '_'
		}, trick) + ".txt"
		names[name] = [2]string{trick, src[1]}
		full[name] = src[0]
		empty[name] = "first\nlast\n"
	}
	r.write(empty)
	r.commit("empty")
	r.write(full)
	r.commit("full")
	touched := map[string]string{}
	for name, text := range full {
		lines := strings.Split(text, "\n")
		// A change beside the secret brings it in as context; one inside it cuts it.
		lines[1] += " changed"
		k := len(lines) - 3
		lines[max(k, 1)] += " changed too"
		touched[name] = strings.Join(lines, "\n")
	}
	r.write(touched)
	r.commit("touched")
	s := serve(t, r.root)
	failed := map[string]int{}
	for name, n := range names {
		ask := func(tool string, a args) {
			t.Helper()
			if p := leaked(s.call(tool, a), n[1], windowPiece); p != "" {
				if failed[n[0]+tool]++; failed[n[0]+tool] < 3 {
					t.Errorf("%s: %s %s shows %q", n[0], tool, quote(a), p)
				}
			}
		}
		total := strings.Count(full[name], "\n") + 1
		for _, rev := range []string{"", "HEAD~1"} {
			for from := 1; from <= total; from++ {
				for to := from; to <= total && to <= from+3; to++ {
					a := args{"path": name, "start_line": from, "end_line": to, "line_numbers": to%2 == 0}
					if rev != "" {
						if (from+to)%7 > 0 {
							continue
						}
						a["revision"] = rev
					}
					ask("read_file", a)
				}
			}
		}
		for tail := 1; tail <= total; tail++ {
			ask("read_file", args{"path": name, "tail": tail})
		}
		for _, context := range []int{0, 1, 10} {
			for _, p := range []string{"first", "second", "last", "BEGIN", "END", "=", "lorem", `\s$`, `^`, "x=1;$", "word_/"} {
				ask("search_code", args{"path": name, "pattern": p, "context_lines": context})
			}
			ask("search_code", args{"path": name, "pattern": `second[\s\S]*last`, "multiline": true, "context_lines": context})
			ask("search_code", args{"path": name, "pattern": `[^q]{10}`, "multiline": true, "context_lines": context})
		}
		for _, p := range []string{`m $`, `.{7}$`, `ipsum \W`, `m \W{5}`} {
			ask("search_code", args{"path": name, "pattern": p, "context_lines": 0})
		}
		for _, context := range []int{0, 20} {
			ask("git_diff", args{"path": name, "commit": "HEAD", "context_lines": context})
			ask("git_diff", args{"path": name, "commit": "HEAD~1", "context_lines": context})
			ask("git_diff", args{"path": name, "base": "HEAD", "head": "HEAD~2", "context_lines": context})
		}
	}
	if n := s.lateHits(); n > 0 {
		t.Errorf("%d secrets were found in finished answers only", n)
	}
}

// TestNoDiffShowsAPiece takes each line out of each file in turn, so that hunks
// begin and end everywhere in a secret and its armour.
func TestNoDiffShowsAPiece(t *testing.T) {
	r := newRepository(t)
	full := map[string]string{}
	secretOf := map[string][2]string{}
	n := 0
	for trick, src := range sources() {
		name := fmt.Sprintf("f%d.txt", n)
		n++
		full[name], secretOf[name] = src[0], [2]string{trick, src[1]}
	}
	r.write(full)
	r.commit("full")
	s := serve(t, r.root)
	failed := map[string]bool{}
	for at := 0; at < 24; at++ {
		now := map[string]string{}
		for name, text := range full {
			lines := strings.Split(text, "\n")
			if at < len(lines) {
				now[name] = strings.Join(append(lines[:at:at], lines[at+1:]...), "\n")
			}
		}
		r.write(now)
		for name := range now {
			a := args{"path": name, "context_lines": at % 2 * 2}
			if got := s.call("git_diff", a); leaked(got, secretOf[name][1], windowPiece) != "" && !failed[secretOf[name][0]] {
				failed[secretOf[name][0]] = true
				t.Errorf("%s without line %d: git_diff %s shows a piece:\n%s", secretOf[name][0], at+1, quote(a), got.text)
			}
		}
	}
}
