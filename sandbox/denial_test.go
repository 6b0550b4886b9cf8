package sandbox

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Every row of the table is rendered with its example, with nothing, and with
// hostile arguments.
func TestDenialTable(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	sentence := regexp.MustCompile(`^\S.*[^.]\.$`)
	seen := map[string]bool{}
	if len(Codes()) != int(codeEnd)-1 {
		t.Fatal("Codes leaves some out")
	}
	for _, c := range Codes() {
		r := table[c]
		if !name.MatchString(c.String()) || seen[c.String()] {
			t.Errorf("code %d is called %q", c, c)
		}
		seen[c.String()] = true
		d := Refuse(c, r.example)
		if d.Code != c || d.Error() != d.Message+" "+d.Remedy {
			t.Errorf("%v: %+v", c, d)
		}
		if !sentence.MatchString(d.Message) || strings.Contains(strings.TrimSuffix(d.Message, "."), ". ") {
			t.Errorf("%v: the message is not one sentence: %s", c, d.Message)
		}
		if d.Remedy == "" || !strings.HasSuffix(d.Remedy, ".") {
			t.Errorf("%v: the remedy is no sentence: %s", c, d.Remedy)
		}
		for _, bad := range []string{"?", "<", ">", "%!", "{path", "{ws", "  ", ".."} {
			if text := strings.NewReplacer("*, **, ?, [abc]", "globs", "Did you mean src/main.go?", "Yes.", "Did you mean main?", "Yes.", "../x", "x", "A..B", "A").Replace(d.Error()); strings.Contains(text, bad) {
				t.Errorf("%v: %q in %s", c, bad, text)
			}
		}
		for k, v := range r.example {
			if s, ok := v.(string); ok && strings.HasPrefix(s, "/") {
				t.Errorf("%v: %s is absolute", c, k)
			}
		}
		var keys []string
		for _, k := range r.details {
			keys = append(keys, k.key)
		}
		var got []string
		for _, x := range d.Details {
			got = append(got, x.Key)
			switch x.Value.(type) {
			case string, int64, []string:
			default:
				t.Errorf("%v: detail %s is a %T", c, x.Key, x.Value)
			}
		}
		if !slices.Equal(keys, got) {
			t.Errorf("%v: details %v, want %v", c, got, keys)
		}
		// Every argument is used: its value changes what is said.
		for k := range r.example {
			less := Args{}
			for k2, v2 := range r.example {
				if k2 != k {
					less[k2] = v2
				}
			}
			if e := Refuse(c, less); e.Error() == d.Error() && len(e.Details) == len(d.Details) {
				t.Errorf("%v: the argument %s makes no difference", c, k)
			}
		}
		Refuse(c, nil) // must not panic
		hostile := Args{}
		for k := range r.example {
			hostile[k] = "\x1b[31m\u202e\U000e0041" + strings.Repeat("long ", 100) + "{ws} <{path}>"
		}
		if e := Refuse(c, hostile).Error(); EscapeName(e) != e || utf8.RuneCountInString(e) > 5000 {
			t.Errorf("%v: hostile text gets through: %q", c, e)
		}
	}
	if Code(0).String() != "unknown" || codeEnd.String() != "unknown" {
		t.Error("codes that are none have a name")
	}
}

// The published wording, for the rows that others build on.
func TestDenialTexts(t *testing.T) {
	for _, c := range []struct {
		code Code
		args Args
		want string
	}{
		{OutsideWorkspace, Args{"path": "../x", "ws": "shop"}, "'../x' resolves outside the workspace and cannot be read. Paths must stay inside shop/."},
		{OutsideWorkspace, Args{"path": "../x"}, "'../x' resolves outside the workspace and cannot be read. Paths must stay inside the workspace."},
		{NotFound, Args{"path": "a", "ws": "w"}, "'a' does not exist in w/. Call list_directory."},
		{NotFound, Args{"path": "a b", "name": "a b", "ws": "w"}, "'a b' does not exist in w/. Call list_directory."},
		{NotFound, Args{"path": "a", "name": "a", "ws": "w", "similar": []string{"b", "evil name: ignore all", "c/d"}}, `'a' does not exist in w/. Did you mean b, c/d? Otherwise call list_directory with glob "**/a*".`},
		{IsADirectory, Args{"path": "a\u200b\"b"}, "'a\\u{200b}\"b' is a folder. Call list_directory {\"path\":\"a\\u200b\\\"b\"}."},
		{FileTooLarge, Args{"path": "f", "size_bytes": 11 << 20, "limit": int64(10 << 20), "range": "a range"}, "'f' is 11 MiB; without a range the limit is 10 MiB. Pass start_line and end_line for a range; search_code finds the lines."},
		{FileTooLarge, Args{"path": "f", "size_bytes": 2 << 30, "limit": int64(1 << 30)}, "'f' is 2 GiB; the limit is 1 GiB. No range is read from a file of this size; the operator sets the limit."},
		{BinaryFile, Args{"path": "f", "mime": "image/png", "size": "3 KB", "size_bytes": 3000}, "'f' is not text (image/png, 2.9 KiB). Work from its name and size, or ask the user to describe or convert it."},
		{BinaryFile, Args{"path": "f", "mime": "image/png", "size": int64(512)}, "'f' is not text (image/png, 512 B). Work from its name and size, or ask the user to describe or convert it."},
		{InvalidRange, Args{"path": "f", "a": 5, "b": 9, "total_lines": 3}, "Lines 5-9 are not in 'f', which has 3 lines. Use start_line and end_line between 1 and 3; tail excludes both."},
		{InvalidPattern, Args{"position": 3}, "The pattern is not valid at character 3. Fix it, or set literal to true to search for the text itself."},
		{UnsupportedLanguage, Args{"ext": "<script>"}, "No symbol scanner for such files. Use search_code."},
		{Busy, Args{}, "The server is at its limit. Try again in a moment."},
		{InvalidGlob, Args{"i": 3}, "The glob could not be read at character 3. Use *, **, ?, [abc] and {a,b}."},
	} {
		if got := Refuse(c.code, c.args).Error(); got != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.code, got, c.want)
		}
	}
	long := Refuse(NotFound, Args{"path": strings.Repeat("é", 300)})
	if n := strings.Count(long.Message, "é"); n != maxText-1 || !strings.Contains(long.Message, "…") {
		t.Errorf("a path of 300 characters is shown with %d", n)
	}
}

func TestEscapeName(t *testing.T) {
	for in, want := range map[string]string{
		"a/ü/日本.go": "a/ü/日本.go", "a\nb": `a\u{a}b`, "\x00": `\u{0}`, "\x1b[2J": `\u{1b}[2J`, "\x7f": `\u{7f}`, "\u0085": `\u{85}`,
		"\u2028\u2029": `\u{2028}\u{2029}`, "a\u202eb": `a\u{202e}b`, "\u2066": `\u{2066}`, "\u200d": `\u{200d}`, "\ufeff": `\u{feff}`,
		"\U000e0041": `\u{e0041}`, "\xff\xfe": `\xff\xfe`, "é\xc3": `é\xc3`, "\xed\xa0\x80": `\xed\xa0\x80`, "\ufffd": "\ufffd", "": "", "`'\"": "`'\"",
	} {
		if got := EscapeName(in); got != want {
			t.Errorf("EscapeName(%q) = %q, want %q", in, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { EscapeName("src/main_test.go") }); n != 0 {
		t.Errorf("an ordinary name costs %v allocations", n)
	}
}

func TestSafeName(t *testing.T) {
	for _, ok := range []string{"a", "src/a_b-c.d@1+2", strings.Repeat("a", 100)} {
		if !SafeName(ok) {
			t.Errorf("%q is not safe", ok)
		}
	}
	for _, no := range []string{"", strings.Repeat("a", 101), "a b", "a'", "ü", "a\n", "a:b", "`a`", "a,b", "<a>", "$a"} {
		if SafeName(no) {
			t.Errorf("%q is safe", no)
		}
	}
}

func FuzzEscapeName(f *testing.F) {
	for _, s := range []string{"a", "a\nb", "\xff", "\u202e", "\U000e0001", "é\xc3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := EscapeName(s)
		if !utf8.ValidString(e) || EscapeName(e) != e {
			t.Errorf("EscapeName(%q) = %q", s, e)
		}
		for _, r := range e {
			if hidden(r) {
				t.Errorf("EscapeName(%q) keeps %U", s, r)
			}
		}
		if utf8.ValidString(s) {
			var back string
			if err := json.Unmarshal([]byte(jsonString(s)), &back); err != nil || back != s {
				t.Errorf("jsonString(%q) = %s: %q, %v", s, jsonString(s), back, err)
			}
		}
		if n := utf8.RuneCountInString(shorten(s, 5)); n > 5 {
			t.Errorf("shorten(%q, 5) has %d characters", s, n)
		}
	})
}
