package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tools"
	"mcp-devserver/tools/internal/tooltest"
)

// found writes the results of a search in one line: "path:line:text …" or, without matches, "path=count".
func found(r *tooltest.Result) string {
	var out []string
	list, _ := r.Structured["results"].([]any)
	for _, x := range list {
		m := x.(map[string]any)
		hits, _ := m["matches"].([]any)
		if len(hits) == 0 {
			s := m["path"].(string)
			if n, ok := m["count"].(float64); ok {
				s += fmt.Sprintf("=%.0f", n)
			}
			out = append(out, s)
		}
		for _, y := range hits {
			h := y.(map[string]any)
			out = append(out, fmt.Sprintf("%s:%.0f:%s", m["path"], h["line"], h["text"]))
		}
	}
	return strings.Join(out, " | ")
}

func skipped(r *tooltest.Result) string {
	b, _ := json.Marshal(r.Structured["skipped"])
	return string(b)
}

func args(m map[string]any) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestSearchCases(t *testing.T) {
	for _, c := range []struct {
		trick, files, args, want string
		outside                  string // what the header must hold
	}{
		{"BOM is not part of the first line", `bom.txt = \xef\xbb\xbftest123\ntest123\n`, `{"pattern":"^test123"}`, "bom.txt:1:test123 | bom.txt:2:test123", ""},
		{"dollar before CRLF", `w.txt = foo\r\nbar\\\r\nbaz`, `{"pattern":"foo$"}`, "w.txt:1:foo", ""},
		{"both anchors before CRLF", `w.txt = foo\r\nbar\\\r\nbaz`, `{"pattern":"^foo$"}`, "w.txt:1:foo", ""},
		{"backslash before CRLF", `w.txt = foo\r\nbar\\\r\nbaz`, `{"pattern":"\\\\$"}`, `w.txt:2:bar\`, ""},
		{"last line without newline", `w.txt = foo\r\nbar\\\r\nbaz`, `{"pattern":"baz$"}`, "w.txt:3:baz", ""},
		{"terminator is not part of the line", `w.txt = foo\r\nbar\\\r\nbaz`, `{"pattern":"foo\\r"}`, "", ""},
		{"lone CR stays in the text", `w.txt = a\rb\n`, `{"pattern":"a\\rb"}`, "w.txt:1:a\rb", ""},
		{"no line behind the final newline", `a = x\n`, `{"pattern":"^$"}`, "", ""},
		{"an empty line is a line", `a = x\n\n`, `{"pattern":"^$"}`, "a:2:", ""},
		{"empty file has no line", "a", `{"pattern":"^"}`, "", ""},
		{"UTF-16 little endian", `u.ts = \xff\xfeG\x00U\x00I\x00G\x00\n\x00`, `{"pattern":"^GUIG$"}`, "u.ts:1:GUIG", ""},
		{"UTF-16 big endian", `u.ts = \xfe\xff\x00G\x00U\x00I\x00G\x00\n`, `{"pattern":"GUIG"}`, "u.ts:1:GUIG", ""},
		{"UTF-16 without a mark is binary", `u.ts = G\x00U\x00I\x00G\x00\n\x00`, `{"pattern":"GUIG"}`, "", "skipped 1 binary"},
		{"NUL after a hit hides the whole file", `b = hit1\n\x00\nhit2\n`, `{"pattern":"hit[12]"}`, "", "skipped 1 binary"},
		{"NUL, single file", `b = hit1\n\x00\nhit2\n`, `{"pattern":"hit[12]","path":"b"}`, "", "skipped 1 binary"},
		{"bytes that are not UTF-8 are searched and flagged", `l1 = caf\xe9 NEEDLE\n`, `{"pattern":"NEEDLE$"}`, "l1:1:caf\ufffd NEEDLE", "not UTF-8"},
		{"half a pair of UTF-16 is flagged", `u = \xff\xfe\x3d\xd8N\x00`, `{"pattern":"N$"}`, "u:1:\ufffdN", "UTF-16"},
		{"alternatives", `a = generateText, streamText\n`, `{"pattern":"nope|streamText"}`, "a:1:generateText, streamText", ""},
		{"escaped bar is a literal bar, and says so", `a = generateText, streamText\n`, `{"pattern":"generateText\\|streamText"}`, "", `\| is a literal bar`},
		{"valid regular expression that was meant literally", `x = x.html(json.data)\n`, `{"pattern":".html(json.data)"}`, "", "set literal to true"},
		{"literal", `x = x.html(json.data)\n`, `{"pattern":".html(json.data)","literal":true}`, "x:1:x.html(json.data)", ""},
		{"unbalanced literal", `x = x.html(json.data)\n`, `{"pattern":"html(","literal":true}`, "x:1:x.html(json.data)", ""},
		{"regular expression sent as literal", `x = ab\n`, `{"pattern":"a.","literal":true}`, "", "leave out literal"},
		{"pattern like an option of another program", `x = --pre=/x.sh -v ->\n`, `{"pattern":"--pre=/x.sh"}`, "x:1:--pre=/x.sh -v ->", ""},
		{"pattern like a short option", `x = --pre=/x.sh -v ->\n`, `{"pattern":"-v"}`, "x:1:--pre=/x.sh -v ->", ""},
		{"pattern like a file option", `x = --pre=/x.sh -v ->\n`, `{"pattern":"-f/etc/passwd"}`, "", ""},
		{"regular expression as glob", "src/a.go = x", `{"pattern":"x","glob":".*src.*"}`, "", "0 files considered"},
		{"glob in a folder", "src/a.go = x\nsrc/b/c.go = x\na.go = x", `{"pattern":"x","glob":"src/*"}`, "src/a.go:1:x", ""},
		{"glob by extension", "src/a.go = x\nb.ts = x\nc.tsx = x", `{"pattern":"x","glob":"*.{ts,tsx}"}`, "b.ts:1:x | c.tsx:1:x", ""},
		{"glob relative to path", "src/a/x.go = x\na/x.go = x", `{"pattern":"x","path":"src","glob":"a/*.go"}`, "src/a/x.go:1:x", ""},
		{"glob written from the root", "src/a/x.go = x", `{"pattern":"x","path":"src","glob":"src/a/*.go"}`, "src/a/x.go:1:x", ""},
		{"excluded files", "a.go = x\na_test.go = x", `{"pattern":"x","exclude_glob":"*_test.go"}`, "a.go:1:x", ""},
		{"excluded folder", "gen/a.go = x\nb.go = x", `{"pattern":"x","exclude_glob":"gen"}`, "b.go:1:x", ""},
		{"case counts", "a = Needle", `{"pattern":"needle"}`, "", ""},
		{"case ignored", "a = NEEDLE", `{"pattern":"needle","ignore_case":true}`, "a:1:NEEDLE", ""},
		{"lookbehind", "a = foobar\\nbar\\n", `{"pattern":"(?<!foo)bar"}`, "a:2:bar", ""},
		{"backreference", "a = abab\\nabba\\n", `{"pattern":"^(\\w\\w)\\1$"}`, "a:1:abab", ""},
		{"links are not followed", "real/a = x\nl => real\nm => real/a", `{"pattern":"x"}`, "real/a:1:x", ""},
		{"link that leaves", "out => OUT/\nOUT/s = x", `{"pattern":"x"}`, "", "1 outside"},
		{"path through a link", "real/a = x\nl => real", `{"pattern":"x","path":"l"}`, "real/a:1:x", ""},
		{"hidden files", ".github/w.yml = x", `{"pattern":"x"}`, ".github/w.yml:1:x", ""},
		{"a match over lines", "a = begin\\nx\\nend\\nrest\\n", `{"pattern":"begin.*end","multiline":true,"context_lines":0}`, "a:1:begin\nx\nend", ""},
		{"over lines of a CRLF file", `a = begin\r\nend\r\n`, `{"pattern":"begin\\nend$","multiline":true,"context_lines":0}`, "a:1:begin\nend", ""},
		{"matches that share a line are one", "a = aXb aXb\\ncXd", `{"pattern":"X","multiline":true,"context_lines":0}`, "a:1:aXb aXb | a:2:cXd", ""},
		{"touching multi-line matches", "a = a\\nb a\\nb\\n", `{"pattern":"a\\nb","multiline":true,"context_lines":0}`, "a:1:a\nb a\nb", ""},
		{"multiline, no line behind the end", "a = x\\n", `{"pattern":"\\z","multiline":true,"context_lines":0}`, "", ""},
		{"newline in a line pattern", "a = x\\ny\\n", `{"pattern":"x\ny"}`, "", "set multiline"},
	} {
		t.Run(c.trick, func(t *testing.T) {
			f := tooltest.New(t, c.files)
			r := f.Call("search_code", c.args)
			if r.IsError || found(r) != c.want {
				t.Errorf("found %q, want %q\n%s", found(r), c.want, r.Text)
			}
			if !strings.Contains(r.Outside, c.outside) {
				t.Errorf("header %q does not hold %q", r.Outside, c.outside)
			}
			if r.Structured["complete"] != true || r.Structured["totals_are_exact"] != true {
				t.Errorf("not complete: %s", r.JSON)
			}
		})
	}
}

func TestSearchProse(t *testing.T) {
	f := tooltest.New(t, `
		a.go = package a\n\nfunc One() {\n\tneedle()\n}\n
		b.txt = 1\n2\nneedle\n4\nneedle\n6\n
		.env = needle
		node_modules/n.js = needle
		bin = needle\x00`)
	r := f.Call("search_code", `{"pattern":"needle","context_lines":1}`)
	if want := "3 matches in 2 files (2 searched; skipped 1 ignored, 1 binary, 1 denied)\n"; !strings.HasPrefix(r.Outside, want) {
		t.Errorf("header %q", r.Outside)
	}
	want := "a.go\n@ One\n3- func One() {\n4: \tneedle()\n5- }\n\nb.txt\n2- 2\n3: needle\n4- 4\n5: needle\n6- 6\n"
	if r.Inside != want {
		t.Errorf("body %q, want %q", r.Inside, want)
	}
	m := r.Structured["results"].([]any)[1].(map[string]any)
	if b, _ := json.Marshal(m); string(b) != `{"count":2,"matches":[{"after":["4"],"before":["2"],"line":3,"text":"needle"},{"after":["6"],"line":5,"text":"needle"}],"path":"b.txt"}` {
		t.Errorf("%s", b)
	}
	r = f.Call("search_code", `{"pattern":"needle","output_mode":"files_with_matches"}`)
	if r.Inside != "a.go\nb.txt\n" || !strings.HasPrefix(r.Outside, "2 files match (2 searched;") {
		t.Errorf("%q %q", r.Outside, r.Inside)
	}
	r = f.Call("search_code", `{"pattern":"needle","output_mode":"count"}`)
	if r.Inside != "folders with most matches:\n  ./: 3\nfiles:\na.go: 1\nb.txt: 2\n" {
		t.Errorf("%q", r.Inside)
	}
}

// Context comes by itself when there are few matches, on both sides, unless it is turned off.
func TestSearchAutomaticContext(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 60; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	f := tooltest.New(t, "")
	f.Write("a", []byte(b.String()))
	hit := func(args string) map[string]any {
		r := f.Call("search_code", args)
		return r.Structured["results"].([]any)[0].(map[string]any)["matches"].([]any)[0].(map[string]any)
	}
	size := func(x any) int { l, _ := x.([]any); return len(l) }
	for _, c := range []struct {
		args          string
		before, after int
	}{
		{`{"pattern":"^line 30$"}`, 10, 10},
		{`{"pattern":"^line 3$"}`, 2, 10},
		{`{"pattern":"^line 60$"}`, 10, 0},
		{`{"pattern":"^line [36]0$"}`, 10, 10},
		{`{"pattern":"^line [2-5]0$"}`, 0, 0}, // four
		{`{"pattern":"^line 30$","context_lines":0}`, 0, 0},
		{`{"pattern":"^line [2-5]0$","context_lines":2}`, 2, 2},
	} {
		if h := hit(c.args); size(h["before"]) != c.before || size(h["after"]) != c.after {
			t.Errorf("%s: %d before, %d after: %v", c.args, size(h["before"]), size(h["after"]), h)
		}
	}
}

func TestSearchLimit(t *testing.T) {
	for _, n := range []int{0, 49, 50, 51, 120} {
		f := tooltest.New(t, "")
		for i := 0; i < n; i++ {
			path := filepath.Join(f.Root, fmt.Sprintf("f%d", i%7))
			h, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(h, "x needle %d\n", i)
			h.Close()
		}
		for mode, unit := range map[string]int{"content": n, "files_with_matches": min(n, 7), "count": min(n, 7)} {
			limit := map[string]int{"content": 50, "files_with_matches": 3, "count": 3}[mode]
			seen := map[string]bool{}
			call := args(map[string]any{"pattern": "needle", "output_mode": mode, "limit": limit})
			for page := 0; ; page++ {
				r := f.Call("search_code", call)
				for _, s := range strings.Split(found(r), " | ") {
					if s == "" {
						continue
					}
					if seen[s] {
						t.Errorf("%d matches, %s: %s is shown twice", n, mode, s)
					}
					seen[s] = true
				}
				next, more := r.Structured["next"].(map[string]any)
				if more != (unit > limit*(page+1)) || more == (r.Structured["complete"] == true) {
					t.Errorf("%d matches, %s, page %d: %s", n, mode, page, r.JSON)
				}
				exact := r.Structured["totals_are_exact"] == true
				if mode == "count" && (r.Structured["matches"] != float64(n) || !exact) || mode != "count" && exact == more {
					t.Errorf("%d matches, %s: %s", n, mode, r.JSON)
				}
				if !more {
					break
				}
				call = args(next["arguments"].(map[string]any))
			}
			if len(seen) != unit {
				t.Errorf("%d matches, %s: pages show %d of %d", n, mode, len(seen), unit)
			}
		}
	}
}

// A match far inside a minified line is shown, with its column, in a window.
func TestSearchLongLine(t *testing.T) {
	f := tooltest.New(t, "")
	line := []byte(strings.Repeat("ab;c", 500_000))
	copy(line[1_500_000:], "NEEDLE")
	f.Write("app.min.js", line)
	r := f.Call("search_code", `{"pattern":"NEEDLE","context_lines":2}`)
	h := r.Structured["results"].([]any)[0].(map[string]any)["matches"].([]any)[0].(map[string]any)
	if text := h["text"].(string); !strings.Contains(text, "NEEDLE") || len(text) > 420 || h["cut"] != true || h["column"] != 1_500_001.0 {
		t.Errorf("%v", h)
	}
	if len(r.JSON) > 8000 || !strings.Contains(r.Inside, "1 (column 1500001): … ") {
		t.Errorf("%d characters: %s", len(r.JSON), r.Inside)
	}
	// The engine gets no line of that length.
	if r = f.Call("search_code", `{"pattern":"N[E]EDLE"}`); found(r) != "" || skipped(r) != `{"long_lines":1}` || !unproven(r) {
		t.Errorf("%s %s\n%s", found(r), skipped(r), r.Text)
	}
	f = tooltest.New(t, "")
	f.Write("a", []byte(strings.Repeat("é", 600)+"NEEDLE"+strings.Repeat("é", 600)+"\n"+strings.Repeat("y", 600)))
	r = f.Call("search_code", `{"pattern":"NEEDL[E]"}`)
	h = r.Structured["results"].([]any)[0].(map[string]any)["matches"].([]any)[0].(map[string]any)
	if want := strings.Repeat("é", 200) + "NEEDLE" + strings.Repeat("é", 200); h["text"] != want || h["column"] != 601.0 {
		t.Errorf("%v", h)
	}
	if after := h["after"].([]any)[0].(string); after != strings.Repeat("y", 400)+" … [+200 chars]" {
		t.Errorf("%q", after)
	}
}

// A file larger than what is held whole passes through a window: the same lines, numbers and context.
func TestSearchLargeFile(t *testing.T) {
	f := tooltest.New(t, "")
	var b strings.Builder
	want := 0
	for i := 1; b.Len() < 9<<20; i++ {
		if i%50_000 == 0 {
			fmt.Fprintf(&b, "%07d NEEDLE\n", i)
			want++
		} else {
			fmt.Fprintf(&b, "%07d some text that is in the way\n", i)
		}
	}
	f.Write("big.log", []byte(b.String()))
	r := f.Call("search_code", `{"pattern":"NEEDL[E]$","context_lines":1}`)
	list := r.Structured["results"].([]any)[0].(map[string]any)["matches"].([]any)
	if len(list) != want || want < 4 {
		t.Fatalf("%d of %d matches", len(list), want)
	}
	for i, x := range list {
		h := x.(map[string]any)
		n := 50_000 * (i + 1)
		if h["line"] != float64(n) || h["text"] != fmt.Sprintf("%07d NEEDLE", n) ||
			h["before"].([]any)[0] != fmt.Sprintf("%07d some text that is in the way", n-1) || h["after"].([]any)[0] != fmt.Sprintf("%07d some text that is in the way", n+1) {
			t.Errorf("%v", h)
		}
	}
	// The last byte decides that all of it is binary.
	f.Write("big.log", []byte(b.String()+"\x00"))
	if r = f.Call("search_code", `{"pattern":"NEEDL[E]$","limit":1}`); found(r) != "" || skipped(r) != `{"binary":1}` {
		t.Errorf("%s %s", found(r), skipped(r))
	}
	// One endless line, then lines again.
	f.Write("big.log", []byte(strings.Repeat("zzzzzzzz", 1<<20)+"NEEDLE\nNEEDLE two\n"))
	if r = f.Call("search_code", `{"pattern":"NEEDLE"}`); found(r) != "big.log:2:NEEDLE two" || skipped(r) != `{"long_lines":1}` {
		t.Errorf("%s %s", found(r), skipped(r))
	}
	f.Env.Limits.SearchFileBytes = 1 << 20
	if r = f.Call("search_code", `{"pattern":"NEEDLE"}`); found(r) != "" || skipped(r) != `{"too_large":1}` || !unproven(r) {
		t.Errorf("%s %s\n%s", found(r), skipped(r), r.Text)
	}
}

// unproven reports whether an answer without a match says that there may be one in what the tool does not look into. All
// that it was to go through it has gone through.
func unproven(r *tooltest.Result) bool {
	return r.Structured["totals_are_exact"] == false && r.Structured["complete"] == true && strings.HasPrefix(r.Outside, "at least 0 matches") && strings.Contains(r.Outside, "absence is not proven")
}

func TestSearchIgnoredAndDenied(t *testing.T) {
	f := tooltest.New(t, `
		.env = NEEDLE
		deploy/id_rsa = NEEDLE
		k.pem = NEEDLE
		.aws/credentials = NEEDLE
		.env.example = NEEDLE
		cfg => .env`)
	r := f.Call("search_code", `{"pattern":"NEEDLE","context_lines":0}`)
	if found(r) != ".env.example:1:NEEDLE" || skipped(r) != `{"denied":4}` {
		t.Errorf("%s %s", found(r), skipped(r))
	}
	if r := f.Call("search_code", `{"pattern":"NEEDLE","path":"cfg"}`); r.Code != "denied_path" {
		t.Errorf("%s", r.Text)
	}
	f = tooltest.New(t, "src/db.js = mongo")
	for i := 0; i < 120; i++ {
		f.Write(fmt.Sprintf("node_modules/p%d/i.js", i), []byte("mongo\n"))
	}
	if r := f.Call("search_code", `{"pattern":"mongo"}`); found(r) != "src/db.js:1:mongo" || skipped(r) != `{"ignored":1}` {
		t.Errorf("%s %s", found(r), skipped(r))
	}
	for _, a := range []string{`{"pattern":"mongo","include_ignored":true}`, `{"pattern":"mongo","path":"node_modules"}`} {
		r := f.Call("search_code", a)
		if r.Structured["complete"] != false || r.Structured["stopped"] != "limit" || strings.Count(found(r), "|") != 99 {
			t.Errorf("%s: %.300s", a, r.JSON)
		}
	}
}

func TestSearchUnreadableFolderAndPipe(t *testing.T) { searchUnreadable(t) }

func TestSearchDenials(t *testing.T) {
	f := tooltest.New(t, "f = x\nd/\nout => OUT/\n.ssh/x")
	for _, c := range []struct{ args, code, text string }{
		{`{"pattern":"html("}`, "invalid_pattern", "set literal to true"},
		{`{"pattern":"(a+)+$"}`, "unsafe_pattern", "literal true"},
		{`{"pattern":"x","path":"none"}`, "not_found", ""},
		{`{"pattern":"x","path":"out"}`, "outside_workspace", ""},
		{`{"pattern":"x","path":"../ws-evil"}`, "outside_workspace", ""},
		{`{"pattern":"x","path":".ssh"}`, "denied_path", ""},
		{`{"pattern":"x","path":".git"}`, "denied_path", ""},
		{`{"pattern":"x","path":"d\u0000"}`, "invalid_path", ""},
		{`{"pattern":"x","glob":"[z-a]"}`, "invalid_glob", ""},
		{`{"pattern":"x","exclude_glob":"{a"}`, "invalid_glob", ""},
	} {
		r := f.Call("search_code", c.args)
		if r.Code != c.code || !strings.Contains(r.Text, c.text) || strings.Contains(r.Text, filepath.Dir(f.Root)) {
			t.Errorf("%s: %s %s", c.args, r.Code, r.Text)
		}
	}
	f.Env.Memory = tools.NewMemory(1<<20, time.Millisecond)
	release, err := f.Env.Memory.Hold(context.Background(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if r := f.Call("search_code", `{"pattern":"x"}`); r.Code != "busy" {
		t.Errorf("no memory: %s", r.Text)
	}
}

func TestSearchHotFolders(t *testing.T) {
	f := tooltest.New(t, "")
	for i := 0; i < 8; i++ {
		f.Write(fmt.Sprintf("d%d/x", i), []byte(strings.Repeat("needle\n", i+1)))
	}
	r := f.Call("search_code", `{"pattern":"needle","output_mode":"count","limit":2}`)
	var hot []string
	for _, x := range r.Structured["hot_folders"].([]any) {
		m := x.(map[string]any)
		hot = append(hot, fmt.Sprintf("%s=%.0f", m["path"], m["matches"]))
	}
	if got := strings.Join(hot, " "); got != "d7=8 d6=7 d5=6 d4=5 d3=4" || r.Structured["matches"] != 36.0 || r.Structured["totals_are_exact"] != true {
		t.Errorf("%s %s", got, r.JSON)
	}
}

// A match over more lines than are shown keeps the numbers of what follows.
func TestSearchTallMatch(t *testing.T) {
	f := tooltest.New(t, "")
	f.Write("a", []byte("head\nBEGIN\n"+strings.Repeat("x\n", 40)+"END\ntail\n"+strings.Repeat("y", 900)+"\n"))
	r := f.Call("search_code", `{"pattern":"BEGIN.*END","multiline":true,"context_lines":1}`)
	h := r.Structured["results"].([]any)[0].(map[string]any)["matches"].([]any)[0].(map[string]any)
	if h["line"] != 2.0 || h["cut"] != true || strings.Count(h["text"].(string), "\n") != 19 || h["after"].([]any)[0] != "tail" {
		t.Errorf("%v", h)
	}
	if !strings.Contains(r.Inside, "\n44- tail\n") || !strings.Contains(r.Inside, "1- head\n2 (column 1): BEGIN\n3: x\n") {
		t.Errorf("%s", r.Inside)
	}
	r = f.Call("search_code", `{"pattern":"END.tail.y+","multiline":true}`)
	if h = r.Structured["results"].([]any)[0].(map[string]any)["matches"].([]any)[0].(map[string]any); h["cut"] != true || h["text"] != "END\ntail\n"+strings.Repeat("y", 400) {
		t.Errorf("%v", h)
	}
	f.Write("a", []byte(strings.Repeat("z\n", 3<<20)+"END\n"))
	if r = f.Call("search_code", `{"pattern":"END","multiline":true}`); skipped(r) != `{"too_large":1}` || !strings.Contains(r.Outside, "multiline searches files up to") {
		t.Errorf("%s", r.Outside)
	}
}

// Large files in every encoding pass through the window.
func TestSearchLargeEncodings(t *testing.T) {
	body := strings.Repeat("some line of text\n", 300_000) + "NEEDLE\n"
	for _, c := range []struct {
		trick   string
		content []byte
		want    string
	}{
		{"UTF-8 with a mark", []byte("\xef\xbb\xbfNEEDLE\n" + body), "f:1:NEEDLE | f:300002:NEEDLE"},
		{"UTF-16", utf16LE(body), "f:300001:NEEDLE"},
		{"not UTF-8", []byte(strings.Repeat("caf\xe9 is a line of text\n", 300_000) + "NEEDLE \xe9\n"), "f:300001:NEEDLE \ufffd"},
		{"PDF", []byte("%PDF-1.7\n" + body), ""},
	} {
		f := tooltest.New(t, "")
		f.Write("f", c.content)
		if r := f.Call("search_code", `{"pattern":"^NEEDL[E]","context_lines":0}`); found(r) != c.want {
			t.Errorf("%s: %s", c.trick, r.Text)
		}
	}
}
