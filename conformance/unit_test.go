package conformance

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for in, want := range map[string][]string{
		`a b  c`:         {"a", "b", "c"},
		`"a b" 'c d'`:    {"a b", "c d"},
		`a\ b "x\"y" ''`: {"a b", `x"y`, ""},
		`a "$HOME" *`:    {"a", "$HOME", "*"},
	} {
		if got, err := Split(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{``, `  `, `"a`, `'a`} {
		if got, err := Split(bad); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func mustParse(t *testing.T, s string) *value {
	t.Helper()
	v, err := parseValue([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

// TestSchemas: a value, its schema, and whether it fits.
func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		schema, value string
		fits          bool
	}{
		{`{"type":"string","minLength":2}`, `"é"`, false},
		{`{"type":["string","null"]}`, `null`, true},
		{`{"type":"integer"}`, `1.0`, true},
		{`{"type":"integer"}`, `1.5`, false},
		{`{"minimum":0.1}`, `0.1`, true},
		{`{"exclusiveMaximum":3}`, `3`, false},
		{`{"multipleOf":0.01}`, `0.07`, true},
		{`{"multipleOf":2}`, `3`, false},
		{`{"enum":[1,"a"]}`, `1.0`, true},
		{`{"const":{"a":[1]}}`, `{"a":[2]}`, false},
		{`{"required":["a"]}`, `{}`, false},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"b":1}`, false},
		{`{"patternProperties":{"^x":true},"additionalProperties":false}`, `{"xy":1}`, true},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, false},
		{`{"items":{"type":"string"},"prefixItems":[{"type":"number"}]}`, `[1,"a"]`, true},
		{`{"items":{"type":"string"}}`, `[1]`, false},
		{`{"uniqueItems":true}`, `[1,1.0]`, false},
		{`{"minItems":1,"maxItems":2}`, `[]`, false},
		{`{"maxItems":2}`, `[1,2,3]`, false},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, false},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, false},
		{`{"allOf":[{"minimum":1},{"maximum":2}]}`, `3`, false},
		{`{"not":{"type":"string"}}`, `"a"`, false},
		{`{"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"null"}}`, `""`, false},
		{`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"null"}}}`, `1`, false},
		{`{"$ref":"https://example.com/schema"}`, `1`, true},
		{`{"$ref":"#"}`, `1`, true},
		{`{"minProperties":1}`, `{}`, false},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, false},
		{`{"pattern":"^a+$"}`, `"b"`, false},
		{`{"pattern":"(?=a)"}`, `"b"`, true},
		{`false`, `1`, false},
		{`{"maximum":1e999999999}`, `5`, true},
	} {
		got := violations(mustParse(t, c.schema), mustParse(t, c.value))
		if (len(got) == 0) != c.fits {
			t.Errorf("%s with %s: %q", c.value, c.schema, got)
		}
	}
}

// TestArguments: what is generated fits, and what is broken does not.
func TestArguments(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object"}`,
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":"string","minLength":3},"b":{"type":"integer","minimum":7}}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"enum":["x","y"]}}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":2,"items":{"type":"number","exclusiveMinimum":0.5,"maximum":1}}}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/p"}},"$defs":{"p":{"type":"object","required":["x"],"properties":{"x":{"type":"boolean"}}}}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]}}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string","format":"date"}}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^https://"}}}`,
		`{"type":"object","required":["a","c"],"properties":{"a":{"const":5},"c":{"type":"string","default":"d"}}}`,
		`{"type":"object","allOf":[{"required":["z"],"properties":{"z":{"type":"integer","multipleOf":5}}}]}`,
	} {
		x := &tool{name: "t", v: mustParse(t, `{"inputSchema":`+schema+`}`)}
		args, ok := x.arguments()
		if !ok {
			t.Errorf("%s: %s", schema, args.json())
		}
		if bad, what, ok := x.wrong(); ok && len(violations(x.input(), bad)) == 0 {
			t.Errorf("%s: %s fits although %s", schema, bad.json(), what)
		}
	}
	x := &tool{v: mustParse(t, `{"inputSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^[0-9]{40}$"}}}}`)}
	if args, ok := x.arguments(); ok {
		t.Errorf("%s is said to fit", args.json())
	}
}

func TestLint(t *testing.T) {
	for schema, wrong := range map[string]bool{
		`{"type":"object","properties":{"type":{"type":"string"},"required":{"type":"array","items":true}}}`: false,
		`{"type":"text"}`:               true,
		`{"required":[1]}`:              true,
		`{"properties":[]}`:             true,
		`{"anyOf":[]}`:                  true,
		`{"minLength":-1}`:              true,
		`{"additionalProperties":"no"}`: true,
		`{"$ref":"#/$defs/x"}`:          true,
		`{"$schema":5}`:                 true,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"text"}`: false,
		`{"uniqueItems":1}`: true,
		`{"minimum":"1"}`:   true,
		`{"items":5}`:       true,
	} {
		if got := lint(mustParse(t, schema)); (len(got) > 0) != wrong {
			t.Errorf("%s: %q", schema, got)
		}
	}
}

func TestHeaderValues(t *testing.T) {
	for in, want := range map[string]string{
		"us-west1":           "us-west1",
		"Hello, 世界":          "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":           "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":       "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
	} {
		if got := headerValue(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestPagePolicy: the page's policy names the very style that is in it.
func TestPagePolicy(t *testing.T) {
	var b bytes.Buffer
	r := &Report{Target: "<b>", Results: []Result{{ID: "C001", Verdict: Fail, Faults: []string{"</style><script>x</script>"}}}}
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(b.String())
	if style == nil || style[1] != pageStyle {
		t.Error("the style is not the one that was hashed")
	}
	if !strings.Contains(b.String(), `content="default-src &#39;none&#39;; style-src &#39;sha256-`) {
		t.Error("no policy")
	}
	if strings.Contains(b.String(), "<script") || strings.Contains(b.String(), "<b>") {
		t.Error("markup of a stranger is in the page")
	}
}

func TestJUnitIsXML(t *testing.T) {
	var b bytes.Buffer
	r := &Report{Target: "a\x00\x1b", Results: []Result{{ID: "C001", Title: "t", Verdict: Fail, Faults: []string{"\xff<>&\x01"}}, {ID: "C002", Verdict: Skip, Reason: "r"}, {ID: "C003", Verdict: Warn, Faults: []string{"w"}}}}
	if err := r.JUnit(&b); err != nil {
		t.Fatal(err)
	}
	var s junitSuite
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil || s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestTable: ids are unique and in order, and every row is whole.
func TestTable(t *testing.T) {
	last := ""
	for _, c := range checks {
		if c.id <= last || !regexp.MustCompile(`^C\d{3}$`).MatchString(c.id) {
			t.Errorf("%s behind %s", c.id, last)
		}
		last = c.id
		if c.title == "" || c.section == "" || !strings.HasPrefix(c.requirement, "R-") || c.run == nil || c.on == 0 || c.level != Must && c.level != Should {
			t.Errorf("%s: a row with a gap", c.id)
		}
	}
	if len(checks) < 90 {
		t.Errorf("%d checks", len(checks))
	}
}

// FuzzAnswer: no answer of a server breaks what reads it.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{good, `{"jsonrpc":"2.0","error":{"code":1e400}}`, `[{}]`, `{"id":1E9,"result":{"_meta":[]}}`, "\xff", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newMessage(b)
		_ = key(m.id()) + key(m.subscription()) + m.method()
		_ = m.code()
		if m.err == nil {
			again, err := parseValue([]byte(m.v.json()))
			if err != nil || !equal(again, m.v) {
				t.Errorf("%s becomes %s: %v", b, m.v.json(), err)
			}
			lint(m.v)
			violations(m.v, m.v)
			x := &tool{v: m.v}
			x.headers()
			x.arguments()
		}
		if s := legible(b); strings.ContainsAny(s, "\x1b\x00") {
			t.Errorf("%q", s)
		}
	})
}
