package security

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcp-devserver/sandbox/secrets"
)

// twins are two texts that differ in the value of a secret only: the rules see
// the same rule at the same place.
type twins struct{ rule, a, b string }

// twin changes the bytes of a secret within their kind.
func twin(s string, turn int) string {
	b := []byte(s)
	for i, c := range b {
		shift := byte(1 + (i*7+turn*5)%9)
		switch {
		case '0' <= c && c <= '9':
			b[i] = '0' + (c-'0'+shift)%10
		case 'a' <= c && c <= 'f': // hexadecimal digits stay such
			b[i] = 'a' + (c-'a'+shift)%6
		case 'g' <= c && c <= 'z':
			b[i] = 'g' + (c-'g'+shift)%20
		case 'A' <= c && c <= 'F':
			b[i] = 'A' + (c-'A'+shift)%6
		case 'G' <= c && c <= 'Z':
			b[i] = 'G' + (c-'G'+shift)%20
		}
	}
	return string(b)
}

// pairs derives twins from the examples of every rule.
func pairs(t *testing.T) []twins {
	t.Helper()
	var out []twins
	covered := map[string]bool{}
	for _, rule := range secrets.Rules() {
		for _, e := range rule.Fire {
			for turn := range 40 {
				// The beginning of many credentials says what they are, so it stays.
				size := e.End - e.Start
				keep := max(e.Start, e.End-max(6, size/[]int{2, 4}[turn/3%2]))
				end := e.End - 2*(turn%3) // and so does the end of some
				if turn%8 == 7 {          // or the middle of a few
					keep, end = e.Start+size/3, e.Start+size/2
				}
				b := e.Text[:keep] + twin(e.Text[keep:end], turn) + e.Text[end:]
				if strings.Contains(e.Text, "PRIVATE KEY") {
					b = twinBlock(e.Text, turn)
				}
				if login, err := base64.StdEncoding.DecodeString(e.Text[e.Start:e.End]); err == nil && strings.HasPrefix(string(login), "app:") {
					b = e.Text[:e.Start] + base64.StdEncoding.EncodeToString([]byte("app:"+twin(string(login[4:]), turn))) + e.Text[e.End:]
				}
				if b != e.Text && sameSpans(e.Text, b) {
					out = append(out, twins{rule.ID, e.Text, b})
					covered[rule.ID] = true
					break
				}
			}
		}
		if !covered[rule.ID] {
			t.Errorf("%s: no twin was found", rule.ID)
		}
	}
	return out
}

// twinBlock changes the lines of a key block but for its armour.
func twinBlock(s string, turn int) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if !strings.Contains(l, "KEY") {
			lines[i] = twin(l, turn+i)
		}
	}
	return strings.Join(lines, "\n")
}

func sameSpans(a, b string) bool {
	return fmt.Sprint(secrets.Find(a)) == fmt.Sprint(secrets.Find(b)) && secrets.Scan(a).Masked() == secrets.Scan(b).Masked()
}

// keyBlock is a private key of n lines; turn varies its body.
func keyBlock(n, turn int) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
	rnd := rand.New(rand.NewPCG(uint64(turn), 0))
	body := make([]string, n)
	for i := range body {
		line := make([]byte, 64)
		for k := range line {
			line[k] = alphabet[rnd.IntN(len(alphabet))]
		}
		body[i] = string(line)
	}
	return "-----BEGIN RSA PRIVATE" + " KEY-----\n" + strings.Join(body, "\n") + "\n-----END RSA PRIVATE" + " KEY-----\n"
}

// plant builds the repository of one world. Everything but the values of
// secrets is the same in both; masked remembers each file of the first to make
// sure of that.
func plant(t *testing.T, world int, list []twins, masked map[string]string) (*repository, map[string]string) {
	t.Helper()
	r := newRepository(t)
	pick := func(p twins) string {
		if world == 0 {
			return p.a
		}
		return p.b
	}
	// Two keys of this world: the second follows the first where one was changed.
	key := [2]string{"AKIA" + "Q3EGRZ7TPXN5BLDW", "AKIA" + "M9JKVB2WSYC4QHRT"}
	pass := [2]string{"Tr0ub4dor", "c0rrecTh0"}
	if world == 1 {
		key = [2]string{"AKIA" + twin(key[0][4:], 3), "AKIA" + twin(key[1][4:], 4)}
		// Of the same length and rule, but of other kinds of bytes in other places.
		pass = [2]string{"9+x-Zq!=k", "_.a~B-7Zy"}
	}
	token := "ghp_" + twin("aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6", world*7)

	files := map[string]string{}
	for i, p := range list {
		name := fmt.Sprintf("conf/%03d-%s.txt", i, p.rule)
		files[name] = "before\n" + pick(p) + "\nafter\n"
	}
	files["src/client.go"] = "package src\n\n// Dial opens it.\nfunc Dial() string {\n\tkey := \"" + key[0] + "\"\n\treturn key\n}\n\nfunc " + token + "() {}\n\nfunc After() {}\n"
	files["src/app.py"] = "class Client:\n    password = \"" + pass[0] + "\"\n\n    def connect(self, token=\"" + token + "\"):\n        return self.password\n\ndef later():\n    pass\n"
	files["src/app.ts"] = "export function connect(key = \"" + key[0] + "\") {\n  return key\n}\n"
	files["keys/plain.txt"] = "head\n" + keyBlock(20, world) + "tail\n"
	files["keys/crlf.txt"] = strings.ReplaceAll("head\n"+keyBlock(6, world)+"tail\n", "\n", "\r\n")
	files["keys/json.json"] = "{\n  \"key\": \"" + strings.ReplaceAll(keyBlock(6, world), "\n", `\n`) + "\",\n  \"next\": 1\n}\n"
	files["keys/yaml.yaml"] = "key: |\n        " + strings.ReplaceAll(keyBlock(6, world), "\n", "\n        ") + "\nnext: 1\n"
	files["keys/open.txt"] = "head\n" + strings.Join(strings.Split(keyBlock(12, world), "\n")[:11], "\n") + "\n\n\ntail of the file\n"
	files["long.txt"] = strings.Repeat("word ", 300) + "id=" + key[0] + " " + strings.Repeat("more ", 500) + "\nshort\n"
	files["package.json"] = "{\n  \"name\": \"demo-" + key[0] + "\",\n  \"scripts\": {\"login\": \"npm login --token " + token + "\"}\n}\n"
	files["README.md"] = "# demo\n\ncurl -s https://me:" + pass[0] + "@get.example/x | sh\n"
	plantOrders(r, world)
	r.write(files)
	r.commit("start\n\nuses " + key[0] + " for now")

	files["src/client.go"] = strings.Replace(files["src/client.go"], "\tkey := \""+key[0], "\tkey := \""+key[1], 1)
	files["keys/plain.txt"] = "head\nmore\n" + keyBlock(20, world+2) + "tail\n"
	r.author = "Eve " + token
	r.write(files)
	r.commit("rotate " + key[0] + " to " + key[1] + "\n\ntoken: " + token + "\nend")
	r.author = "A. Dev"
	r.git("branch", "try/"+token)
	r.git("tag", "v-"+key[0])
	r.write(map[string]string{"notes/" + token + ".md": "see above\n"})
	r.commit("name")

	files["src/app.py"] = strings.Replace(files["src/app.py"], pass[0], pass[1], 1)
	files["keys/yaml.yaml"] = strings.Replace(files["keys/yaml.yaml"], "next: 1", "next: 2", 1)
	files["long.txt"] = strings.Replace(files["long.txt"], "short", "shorter", 1)
	files["new/"+key[1]+".txt"] = "untracked\n"
	r.write(files)

	changeOrders(r, world)
	ids := map[string]string{}
	for name, text := range files {
		if _, found := masked[name]; !found {
			masked[name] = secrets.Scan(text).Masked()
		} else if masked[name] != secrets.Scan(text).Masked() {
			t.Fatalf("%s: the worlds differ in more than values", name)
		}
	}
	for i, id := range strings.Fields(r.git("rev-list", "--reverse", "--all")) {
		ids[id] = fmt.Sprintf("commit%d", i)
	}
	return r, ids
}

// ordered are names that differ in a secret only, and stand in another order in each
// world, among each other and among names without one.
func ordered(world int) (first, second string) {
	first, second = "AKIA"+"C3EGRZ7TPXN5BLDW", "AKIA"+"X9JKVB2WSYC4QHRT"
	if world == 1 {
		first, second = second, first
	}
	return first, second
}

// plantOrders makes files, folders, branches and tags whose names say, by their place
// in a list, which of two secrets is the smaller.
func plantOrders(r *repository, world int) {
	first, second := ordered(world)
	r.write(map[string]string{"order/AKIAM.go": "package o\n\nfunc VisibleBetween() {}\n", "order/zz.txt": "visible last\n"})
	for i, key := range []string{first, second} { // one after the other: age is no secret
		body := strings.Repeat("// visible\n", i+1)
		r.write(map[string]string{
			"order/" + key + ".go":                      "package o\n\n" + body + fmt.Sprintf("func Visible%d() {}\n", i),
			"order/in/" + key + "/inner.txt":            "visible " + body,
			"order/token=" + twin(key, 1) + "/x/a.md":   "visible " + body,
			"order/" + key + "/go.mod":                  fmt.Sprintf("module visible%d\n", i),
			"order/" + key + "_test.go":                 "package o\n",
			"order/docs/" + key + ".md":                 body,
			"order/" + key + "/node_modules/x/index.js": "visible\n",
		})
	}
	r.commit("orders")
}

// changeOrders changes some of them, and makes what belongs to the second key younger:
// what is masked alike stands in the order of age.
func changeOrders(r *repository, world int) {
	first, second := ordered(world)
	for i, key := range []string{first, second} {
		r.write(map[string]string{
			"order/" + key + ".go":            fmt.Sprintf("package o\n\nfunc Changed%d() {}\n", i),
			"order/new-" + key + ".txt":       fmt.Sprintf("visible untracked %d\n", i),
			"order/in/" + key + "/second.txt": strings.Repeat("visible\n", i+1),
		})
		r.git("branch", key+"/side")
		r.git("tag", "r-"+key)
	}
	for i, key := range []string{first, second} {
		when := time.Unix(epoch+1000+int64(i), 0)
		must(r.t, filepath.WalkDir(filepath.Join(r.root, "order"), func(p string, _ os.DirEntry, err error) error {
			if base := filepath.Base(p); err == nil && (strings.Contains(base, key) || strings.Contains(base, twin(key, 1))) {
				return os.Chtimes(p, when, when)
			}
			return err
		}))
	}
}

// level takes out of an answer what two equal trees do not share: the nonce,
// the ids of objects and the version of a file on disk, which holds its inode.
func level(r reply, ids map[string]string) string {
	s := r.raw
	if r.nonce != "" {
		s = strings.ReplaceAll(s, r.nonce, "NONCE")
	}
	for id, name := range ids {
		s = strings.ReplaceAll(s, id, name)
		s = strings.ReplaceAll(s, id[:12], name)
	}
	return version.ReplaceAllString(s, "${1}VERSION")
}

var version = regexp.MustCompile(`(version |"version":")[0-9a-f]{8}`)

// question is one call that an attacker makes in both worlds.
type question struct {
	trick, tool string
	args        args
}

// questions asks everything of the named files, and reads the others.
func questions(files, others []string) []question {
	var q []question
	add := func(trick, tool string, a args) { q = append(q, question{trick, tool, a}) }

	patterns := map[string]string{
		"class of letters":          `[a-m]{3}`,
		"class of digits":           `[5-9]{2}`,
		"negated class":             `[^a-z\s]{6}`,
		"negated class at the end":  `[^0-9A-F"]$`,
		"prefix guess":              `AKIA[A-M]`,
		"prefix guess of a token":   `ghp_[0-9a-m]`,
		"lookahead":                 `AKIA(?=[A-Z]*[0-4])`,
		"negative lookahead":        `AKIA(?!.*[5-9])`,
		"lookbehind":                `(?<=[0-4])[A-Z]`,
		"negative lookbehind":       `(?<![5-9])[a-f]\w`,
		"backreference":             `(\w)\1`,
		"backreference over a word": `\b(\w{4,}).*\1`,
		"anchor at the start":       `^[A-M]\w{30}`,
		"anchor at the end":         `[0-4]"?$`,
		"length":                    `\b\w{20}\b`,
		"anything":                  `.`,
		"nothing":                   `^$`,
		"dot and context":           `key.{30}`,
		"no letter at all":          `=[^A-Za-z]+$`,
		"no sign in a password":     `password = "[^+/!]+"`,
		"the mask":                  `\x00`,
		"not the mask":              `[^\x00]{30}`,
		"alternatives":              `(?:a|b|c|d|5|6)(?:1|2|3|x|y)`,
		"inline case":               `(?i)[a-m]{4}[0-9]`,
		"unicode class":             `\p{Lu}{3}\d`,
		"lazy":                      `"(.+?)[5-9]`,
		"literals required":         `key|token|password|BEGIN`,
	}
	for trick, p := range patterns {
		for _, mode := range []string{"content", "files_with_matches", "count"} {
			add(trick+", "+mode, "search_code", args{"pattern": p, "output_mode": mode, "limit": 1000})
			add(trick+", "+mode+", multiline", "search_code", args{"pattern": p, "output_mode": mode, "multiline": true})
			add(trick+", "+mode+", any case", "search_code", args{"pattern": p, "output_mode": mode, "ignore_case": true})
		}
	}
	for trick, p := range map[string]string{"over lines": `KEY-----\n[A-Ma-m]`, "over lines, class": `[0-9]\n[A-M]`, "over lines, negated": `[^\n]{64}\n[^\n0-9]`} {
		for _, mode := range []string{"content", "count"} {
			add(trick+", "+mode, "search_code", args{"pattern": p, "multiline": true, "output_mode": mode})
		}
	}
	for _, p := range []string{"a", "5", "AKIAQ", "AKIAR", "Tr0", "0", "+", "ghp_a", "k", "e3"} {
		for _, mode := range []string{"content", "files_with_matches", "count"} {
			add("literal "+p+", "+mode, "search_code", args{"pattern": p, "literal": true, "output_mode": mode})
			add("literal "+p+", "+mode+", any case", "search_code", args{"pattern": p, "literal": true, "ignore_case": true, "output_mode": mode})
		}
	}
	add("window on a long line", "search_code", args{"pattern": `word|more`, "path": "long.txt", "context_lines": 0})
	for _, g := range []string{"*ghp_[a-m]*", "**/*[5-9].md", "notes/*a*", "*AKIA[A-M]*", "*[!a-m].txt", "{*1.md,*2.md,*3.md}", "*B*", "new/A???[N-Z]*"} {
		add("glob "+g, "list_directory", args{"glob": g})
		add("glob "+g+", details", "list_directory", args{"glob": g, "details": true})
		add("glob "+g, "search_code", args{"pattern": "e", "glob": g})
		add("not glob "+g, "search_code", args{"pattern": "e", "exclude_glob": g, "output_mode": "files_with_matches"})
	}
	for _, n := range []string{"ghp_a", "ghp_", "A", "Dial", "After", "connect", "Tr0ub4dor", "AKIAQ"} {
		for _, m := range []string{"exact", "prefix", "contains"} {
			for _, role := range []string{"definitions", "references"} {
				add("symbol "+n+" "+m+" "+role, "find_symbol", args{"name": n, "match": m, "role": role, "include_body": true})
			}
		}
	}
	for _, f := range files {
		add("read whole", "read_file", args{"path": f})
		for i := 1; i <= 8; i++ {
			add("read one line", "read_file", args{"path": f, "start_line": i, "end_line": i})
		}
		add("tail", "read_file", args{"path": f, "tail": 2, "line_numbers": false})
		add("at a commit", "read_file", args{"path": f, "revision": "HEAD~1"})
		add("outline", "find_symbol", args{"path": f})
		add("blame", "git_log", args{"path": f, "start_line": 1, "end_line": 9})
		add("history", "git_log", args{"path": f, "detail": "files"})
	}
	for _, f := range others {
		add("read whole", "read_file", args{"path": f})
		add("read the line", "read_file", args{"path": f, "start_line": 2, "end_line": 2})
		add("read a part", "read_file", args{"path": f, "start_line": 3})
		add("find by a letter", "search_code", args{"pattern": "[a-mA-M0-4]{4}", "path": f, "context_lines": 0})
	}
	for _, w := range []string{"ghp_a", "g", "Eve", "5", "AKIAQ", "rotate", "Dev"} {
		add("author "+w, "git_log", args{"author": w})
		add("message "+w, "git_log", args{"message": w, "detail": "body"})
		add("message "+w+", paged", "git_log", args{"message": w, "limit": 1})
	}
	for _, detail := range []string{"summary", "body", "files"} {
		add("log "+detail, "git_log", args{"detail": detail})
	}
	for _, n := range []int{0, 1, 3, 20} {
		add("diff", "git_diff", args{"context_lines": n})
		add("diff of commits", "git_diff", args{"base": "HEAD~2", "head": "HEAD", "context_lines": n})
		add("one commit", "git_diff", args{"commit": "HEAD~1", "context_lines": n})
		add("everything new", "git_diff", args{"commit": "HEAD~2", "context_lines": n, "limit": 500})
	}
	add("diff, names", "git_diff", args{"output_mode": "names"})
	add("diff, stat", "git_diff", args{"output_mode": "stat", "base": "HEAD~2"})
	add("staged", "git_diff", args{"staged": true})
	for _, rev := range []string{"try/ghp_a", "v-AKIAQ3EGRZ7TPXN5BLDV", "nothing"} {
		add("near a ref", "git_log", args{"revision": rev})
		add("near a ref", "read_file", args{"path": "README.md", "revision": rev})
	}
	for _, p := range []string{"new/AKIAM9JKVB2WSYC4QHRX.txt", "new/AKIAM9", "notes/ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ5.md", "AKIAM9JKVB2WSYC4QHRT.txt"} {
		add("near a name", "read_file", args{"path": p})
		add("near a name", "list_directory", args{"path": p})
		add("near a name", "git_log", args{"path": p})
		add("near a name", "search_code", args{"pattern": "a", "path": p})
	}
	for _, sort := range []string{"name", "modified", "size"} {
		add("sort by "+sort, "list_directory", args{"depth": 3, "sort": sort, "details": true, "limit": 2000})
	}
	add("overview", "project_overview", args{"depth": 4})
	for _, path := range []string{"order", "order/in"} {
		add("order of the tree", "project_overview", args{"path": path, "depth": 4})
		for _, sort := range []string{"name", "modified", "size"} {
			for _, details := range []bool{false, true} {
				add("order by "+sort, "list_directory", args{"path": path, "depth": 4, "sort": sort, "details": details})
				add("order by "+sort+", flat", "list_directory", args{"path": path, "glob": "**", "sort": sort, "details": details, "limit": 4})
				add("order by "+sort+", flat, later", "list_directory", args{"path": path, "glob": "**", "sort": sort, "details": details, "limit": 4, "offset": 3})
			}
		}
		for _, mode := range []string{"content", "files_with_matches", "count"} {
			add("order of matches, "+mode, "search_code", args{"pattern": "visible", "ignore_case": true, "path": path, "output_mode": mode, "include_ignored": true})
			add("order of matches, "+mode+", later", "search_code", args{"pattern": "visible", "ignore_case": true, "path": path, "output_mode": mode, "limit": 2, "offset": 1})
		}
		add("order of symbols", "find_symbol", args{"name": "visible", "match": "prefix", "path": path})
		for _, mode := range []string{"patch", "stat", "names"} {
			add("order of changes, "+mode, "git_diff", args{"path": path, "output_mode": mode, "limit": 3})
			add("order of changes, "+mode, "git_diff", args{"path": path, "output_mode": mode, "base": "HEAD~1"})
			add("order of a commit, "+mode, "git_diff", args{"commit": "HEAD", "path": path, "output_mode": mode})
		}
		add("order in history", "git_log", args{"path": path, "detail": "files"})
	}
	return q
}

// TestSecretsCannotBeAskedFor: two worlds that differ in the values of secrets
// only answer every question with the same bytes. A pattern, a filter, a count
// or an error that depended on a secret would tell the worlds apart.
func TestSecretsCannotBeAskedFor(t *testing.T) {
	list := pairs(t)
	var servers [2]*server
	var ids [2]map[string]string
	masked := map[string]string{}
	for w := range servers {
		r, known := plant(t, w, list, masked)
		servers[w], ids[w] = serve(t, r.root, patient), known
	}
	files := []string{"src/client.go", "src/app.py", "src/app.ts", "keys/plain.txt", "keys/crlf.txt", "keys/json.json", "keys/yaml.yaml", "keys/open.txt", "long.txt", "package.json", "README.md"}
	var others []string
	for i, p := range list {
		others = append(others, fmt.Sprintf("conf/%03d-%s.txt", i, p.rule))
	}
	failed := 0
	for i, q := range questions(files, others) {
		if leftOut(i) {
			continue
		}
		a, b := servers[0].call(q.tool, q.args), servers[1].call(q.tool, q.args)
		x, y := level(a, ids[0]), level(b, ids[1])
		if x != y {
			if failed++; failed <= 20 {
				at := 0
				for at < min(len(x), len(y)) && x[at] == y[at] {
					at++
				}
				from := max(0, at-80)
				t.Errorf("%s: %s %s tells the worlds apart:\n\t%.240s\n\t%.240s", q.trick, q.tool, quote(q.args), x[from:], y[from:])
			}
		}
	}
	for w, s := range servers {
		if n := s.lateHits(); n > 0 {
			t.Errorf("world %d: %d secrets were found in finished answers only", w, n)
		}
	}
}
