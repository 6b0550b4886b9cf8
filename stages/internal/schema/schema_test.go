package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

const reading = `{"type":"object","properties":{
  "path":{"type":"string","description":"File.","minLength":1,"maxLength":4096},
  "start_line":{"type":"integer","minimum":1,"maximum":100000000},
  "end_line":{"type":"integer","minimum":1,"maximum":100000000},
  "tail":{"type":"integer","minimum":1,"maximum":2000},
  "revision":{"type":"string","minLength":1,"maxLength":256},
  "mode":{"type":"string","enum":["patch","stat"],"default":"patch"},
  "line_numbers":{"type":"boolean","default":true}},
 "required":["path"],"additionalProperties":false}`

func compile(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(t testing.TB, text string) Value {
	t.Helper()
	v, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestCompileRefuses(t *testing.T) {
	deep := strings.Repeat(`{"items":`, maxSchemaDepth+2) + `{}` + strings.Repeat(`}`, maxSchemaDepth+2)
	var many strings.Builder
	for i := range maxSubschemas {
		fmt.Fprintf(&many, `,"p%d":{}`, i)
	}
	cases := []struct{ trick, in, pointer, keyword, says string }{
		{"not JSON", `{`, "", "", "not valid JSON"},
		{"name twice", `{"type":"object","type":"string"}`, "", "", "twice"},
		{"not an object", `true`, "", "", "must be an object"},
		{"draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "", "$schema", "dialect"},
		{"dialect as a number", `{"$schema":7}`, "", "$schema", "dialect"},
		{"dialect inside", `{"properties":{"a":{"$schema":"` + Dialect + `"}}}`, "/properties/a", "$schema", "root only"},
		{"pattern", `{"properties":{"a":{"pattern":"x"}}}`, "/properties/a", "pattern", "not a keyword"},
		{"format", `{"format":"uri"}`, "", "format", "not a keyword"},
		{"allOf", `{"allOf":[{}]}`, "", "allOf", "not a keyword"},
		{"misspelt", `{"properties":{"a/b":{"maxlength":5}}}`, "/properties/a~1b", "maxlength", "not a keyword"},
		{"union of types", `{"type":["string","null"]}`, "", "type", "unions"},
		{"unknown type", `{"type":"text"}`, "", "type", "seven"},
		{"reference to the network", `{"$ref":"http://127.0.0.1:1/x"}`, "", "$ref", "fetched"},
		{"reference to a file", `{"properties":{"a":{"$ref":"other.json"}}}`, "/properties/a", "$ref", "#/$defs/NAME"},
		{"reference to the root", `{"$ref":"#"}`, "", "$ref", "#/$defs/NAME"},
		{"reference below a definition", `{"$defs":{"a":{"items":{}}},"$ref":"#/$defs/a/items"}`, "", "$ref", "#/$defs/NAME"},
		{"reference to nothing", `{"$ref":"#/$defs/a"}`, "", "$ref", "not there"},
		{"reference as a number", `{"$ref":7}`, "", "$ref", "#/$defs/NAME"},
		{"reference to itself", `{"$defs":{"a":{"$ref":"#/$defs/a"}}}`, "/$defs/a", "$ref", "leads back"},
		{"circle through anyOf", `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, "/$defs/a", "$ref", "leads back"},
		{"properties as an array", `{"properties":[]}`, "", "properties", "object"},
		{"required as a string", `{"required":"a"}`, "", "required", "array"},
		{"required with a number", `{"required":[1]}`, "", "required", "array"},
		{"$defs as an array", `{"$defs":[]}`, "", "$defs", "object"},
		{"$defs inside", `{"items":{"$defs":{}}}`, "/items", "$defs", "root only"},
		{"enum empty", `{"enum":[]}`, "", "enum", "non-empty"},
		{"enum of objects", `{"enum":[{}]}`, "", "enum", "strings, numbers"},
		{"enum beside const", `{"enum":[1],"const":1}`, "", "const", "beside"},
		{"anyOf empty", `{"anyOf":[]}`, "", "anyOf", "array"},
		{"minimum with a fraction", `{"minimum":1.5}`, "", "minimum", "integer"},
		{"minimum beyond a double", `{"minimum":9007199254740993}`, "", "minimum", "exactly"},
		{"length negative", `{"minLength":-1}`, "", "minLength", "length"},
		{"length as a string", `{"maxLength":"5"}`, "", "maxLength", "integer"},
		{"title as a number", `{"title":5}`, "", "title", "string"},
		{"items as an array", `{"items":[{}]}`, "/items", "", "object, true or false"},
		{"bad definition that nothing uses", `{"$defs":{"a":{"format":"x"}}}`, "/$defs/a", "format", "not a keyword"},
		{"bad additionalProperties", `{"additionalProperties":5}`, "/additionalProperties", "", "object, true"},
		{"bad anyOf branch", `{"anyOf":[{"not":{}}]}`, "/anyOf/0", "not", "not a keyword"},
		{"default that its own schema refuses", `{"properties":{"a":{"type":"integer","minimum":1,"default":0}}}`, "/properties/a", "default", "does not fit"},
		{"too deep", deep, strings.Repeat("/items", maxSchemaDepth+1), "", "nests deeper"},
		{"too many", `{"properties":{` + many.String()[1:] + `}}`, "/properties/p999", "", "more than"},
	}
	for _, c := range cases {
		t.Run(c.trick, func(t *testing.T) {
			_, err := Compile([]byte(c.in))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("accepted (%v)", err)
			}
			if e.Pointer != c.pointer || e.Keyword != c.keyword || !strings.Contains(e.Error(), c.says) {
				t.Errorf("%q %q: %v", e.Pointer, e.Keyword, e)
			}
		})
	}
}

func TestViolations(t *testing.T) {
	all := []string{"path", "start_line", "end_line", "tail", "revision", "mode", "line_numbers"}
	cases := []struct {
		in, pointer, name, keyword, detail, near string
	}{
		{`{}`, "", "", "required", "path", ""},
		{`{"file_path":"a"}`, "", "file_path", "additionalProperties", "is not accepted", "path"},
		{`{"path":"a","explanation":"x"}`, "", "explanation", "additionalProperties", "is not accepted", ""},
		{`{"PATH":"a"}`, "", "PATH", "additionalProperties", "is not accepted", "path"},
		{`{"path":"a","startLine":1}`, "", "startLine", "additionalProperties", "is not accepted", "start_line"},
		{`{"path":1}`, "/path", "", "type", "must be a string, not a number", ""},
		{`{"path":null}`, "/path", "", "type", "must be a string, not null", ""},
		{`{"path":""}`, "/path", "", "minLength", "must not be empty", ""},
		{`{"path":"a","start_line":0}`, "/start_line", "", "minimum", "must be at least 1", ""},
		{`{"path":"a","start_line":1e999}`, "/start_line", "", "maximum", "must be at most 100000000", ""},
		{`{"path":"a","start_line":-1e999}`, "/start_line", "", "minimum", "must be at least 1", ""},
		{`{"path":"a","start_line":1.5}`, "/start_line", "", "type", "must be an integer, not a number with a fraction", ""},
		{`{"path":"a","start_line":"12px"}`, "/start_line", "", "type", "must be an integer, not a string", ""},
		{`{"path":"a","mode":"full"}`, "/mode", "", "enum", "must be one of: patch, stat", ""},
		{`{"path":"a","line_numbers":1}`, "/line_numbers", "", "type", "must be a boolean, not a number", ""},
		{`[]`, "", "", "type", "must be an object, not an array", ""},
		{`"{\"path\":\"a\"}"`, "", "", "type", "must be an object, not a string", ""},
	}
	s := compile(t, reading)
	for _, c := range cases {
		got := s.Validate(value(t, c.in))
		if len(got) == 0 {
			t.Errorf("%s: accepted", c.in)
			continue
		}
		v := got[0]
		if v.Pointer != c.pointer || v.Name != c.name || v.Keyword != c.keyword || v.Detail != c.detail || v.Near != c.near {
			t.Errorf("%s: %+v", c.in, v)
		}
		if c.keyword == "additionalProperties" && strings.Join(v.Accepted, " ") != strings.Join(all, " ") {
			t.Errorf("%s: accepted %v", c.in, v.Accepted)
		}
	}
	for _, in := range []string{`{"path":"a"}`, `{"path":"é","start_line":12.0,"end_line":100000000,"mode":"stat","line_numbers":false}`} {
		if got := s.Validate(value(t, in)); len(got) > 0 {
			t.Errorf("%s: %+v", in, got)
		}
	}
	if strings.Join(s.Names(), " ") != strings.Join(all, " ") {
		t.Error(s.Names())
	}
}

func TestNear(t *testing.T) {
	search := compile(t, `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"glob":{"type":"string"},"exclude_glob":{"type":"string"},
		"literal":{"type":"boolean"},"ignore_case":{"type":"boolean"},"output_mode":{"type":"string"},"context_lines":{"type":"integer"},"limit":{"type":"integer"},"offset":{"type":"integer"}},
		"required":["pattern"],"additionalProperties":false}`)
	for _, c := range [][3]string{
		{"read", "file", "path"}, {"read", "filePath", "path"}, {"read", "relative_path", "path"}, {"read", "absolute-path", "path"}, {"read", "pth", "path"},
		{"read", "paht", "path"}, {"read", "offset", "start_line"}, {"read", "limit", "end_line"}, {"read", "ref", "revision"}, {"read", "endLine", "end_line"},
		{"read", "line_number", "line_numbers"}, {"read", "description", ""}, {"read", strings.Repeat("path", 20), ""},
		{"search", "query", "pattern"}, {"search", "regex", "pattern"}, {"search", "search_pattern", "pattern"}, {"search", "include", "glob"},
		{"search", "max_results", "limit"}, {"search", "head_limit", "limit"}, {"search", "-C", "context_lines"}, {"search", "-i", "ignore_case"},
		{"search", "caseInsensitive", "ignore_case"}, {"search", "outputMode", "output_mode"}, {"search", "file_path", "path"}, {"search", "reason", ""},
	} {
		s := search
		if c[0] == "read" {
			s = compile(t, reading)
		}
		if got := s.near(c[1], value(t, `{}`)); got != c[2] {
			t.Errorf("%s %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
	if got := search.near("file_path", value(t, `{"path":"a"}`)); got == "path" {
		t.Error("an argument that is already given is suggested")
	}
}

func TestRelax(t *testing.T) {
	s := compile(t, reading)
	cases := []struct {
		in, out string
		notices int
	}{
		{`{"path":"a"}`, `{"path":"a"}`, 0},
		{`{"path":"a","start_line":null}`, `{"path":"a"}`, 1},
		{`{"path":null}`, `{"path":null}`, 0},
		{`{"path":"a","start_line":"12"}`, `{"path":"a","start_line":12}`, 1},
		{`{"path":"a","start_line":"-12"}`, `{"path":"a","start_line":-12}`, 1},
		{`{"path":"a","start_line":"007"}`, `{"path":"a","start_line":7}`, 1},
		{`{"path":"a","start_line":12.0,"end_line":1e2}`, `{"path":"a","start_line":12,"end_line":100}`, 2},
		{`{"path":"a","start_line":12.5}`, `{"path":"a","start_line":12.5}`, 0},
		{`{"path":"a","start_line":"12px"}`, `{"path":"a","start_line":"12px"}`, 0},
		{`{"path":"a","start_line":"1.5"}`, `{"path":"a","start_line":"1.5"}`, 0},
		{`{"path":"a","start_line":"0x10"}`, `{"path":"a","start_line":"0x10"}`, 0},
		{`{"path":"a","start_line":""}`, `{"path":"a","start_line":""}`, 0},
		{`{"path":"a","start_line":"-"}`, `{"path":"a","start_line":"-"}`, 0},
		{`{"path":"a","start_line":"9999999999"}`, `{"path":"a","start_line":"9999999999"}`, 0},
		{`{"path":"a","line_numbers":"false"}`, `{"path":"a","line_numbers":false}`, 1},
		{`{"path":"a","line_numbers":"False"}`, `{"path":"a","line_numbers":"False"}`, 0},
		{`{"path":"a","revision":""}`, `{"path":"a"}`, 1},
		{`{"path":"a","mode":""}`, `{"path":"a","mode":""}`, 0},
		{`{"path":""}`, `{"path":""}`, 0},
		{`{"path":1}`, `{"path":1}`, 0},
		{`{"path":"12"}`, `{"path":"12"}`, 0},
		{`{"path":"a","x":null}`, `{"path":"a","x":null}`, 0},
		{`{"start_line":null,"end_line":null,"revision":"","path":"a"}`, `{"path":"a"}`, 3},
		{`[]`, `[]`, 0},
	}
	for _, c := range cases {
		in := value(t, c.in)
		out, notices := s.Relax(in)
		if got := string(out.AppendTo(nil)); got != c.out || len(notices) != c.notices {
			t.Errorf("%s: %s, %q", c.in, got, notices)
		}
		if got := string(in.AppendTo(nil)); got != c.in {
			t.Errorf("%s: the input became %s", c.in, got)
		}
		for _, n := range notices {
			if strings.Contains(n, "12") || strings.Contains(n, "\n") {
				t.Errorf("%s: notice %q", c.in, n)
			}
		}
	}
}

func TestFill(t *testing.T) {
	s := compile(t, reading)
	for in, want := range map[string]string{
		`{"path":"a"}`: `{"path":"a","mode":"patch","line_numbers":true}`,
		`{"line_numbers":false,"path":"a","tail":3}`: `{"line_numbers":false,"path":"a","tail":3,"mode":"patch"}`,
		`[]`: `[]`,
	} {
		if got := string(s.Fill(value(t, in)).AppendTo(nil)); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestBoundedWork(t *testing.T) {
	// Each level tries two branches that both fail at the bottom: 2^n steps without a bound.
	s := compile(t, `{"$defs":{"a":{"anyOf":[{"properties":{"x":{"$ref":"#/$defs/a"}},"required":["y"]},{"properties":{"x":{"$ref":"#/$defs/a"}},"required":["z"]}]}},"$ref":"#/$defs/a"}`)
	in := `1`
	for range 50 {
		in = `{"x":` + in + `}`
	}
	start := time.Now()
	if len(s.Validate(value(t, in))) == 0 {
		t.Error("accepted")
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	if _, err := Parse([]byte(strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2))); err == nil {
		t.Error("a value that nests too deeply was parsed")
	}
	if got := compile(t, reading).Validate(value(t, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`)); len(got) != maxViolations {
		t.Errorf("%d findings", len(got))
	}
}

func TestParse(t *testing.T) {
	for _, in := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":1`, `[1`, `[1,`, `{"a":1,"a":2}`, `1 2`, `nul`, `"\ud800"`} {
		if _, err := Parse([]byte(in)); err == nil {
			t.Errorf("%s was parsed", in)
		}
	}
	in := `{"a":[1,"b\"\\",{"c":null}],"d":true,"e":-1.5e+3}`
	v := value(t, " "+strings.ReplaceAll(in, ",", " ,\n")+" ")
	if got := string(v.AppendTo(nil)); got != in {
		t.Error(got)
	}
	var seen []string
	v.Each(func(name string, n int) {
		if n == 0 {
			t.Errorf("%s has no length", name)
		}
		seen = append(seen, name)
	})
	if strings.Join(seen, "") != "ade" {
		t.Error(seen)
	}
}

func BenchmarkValidate(b *testing.B) {
	s := compile(b, reading)
	in := []byte(`{"path":"src/main.go","start_line":1,"end_line":2}`)
	b.ReportAllocs()
	for b.Loop() {
		v, err := Parse(in)
		if err != nil {
			b.Fatal(err)
		}
		v, _ = s.Relax(v)
		if len(s.Validate(v)) > 0 {
			b.Fatal("refused")
		}
	}
}

// TestManyUnknownNames: a message of a megabyte holds that many names. Looking up what each may stand for compares it with
// every other one, which would occupy the line for minutes before any limit on calls is reached.
func TestManyUnknownNames(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"path":"a"`)
	for i := range 60_000 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	s, v := compile(t, reading), value(t, b.String()+"}")
	found := make(chan []Violation, 1)
	go func() { found <- s.Validate(v) }()
	select {
	case got := <-found:
		if len(got) != maxViolations || got[0].Name != "k0" {
			t.Errorf("%d findings, want %d from the first name on", len(got), maxViolations)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("60,000 unknown names take more than 5 s")
	}
}
