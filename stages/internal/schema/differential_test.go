package schema

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	full "github.com/santhosh-tekuri/jsonschema/v6"

	"mcp-devserver/tools"
)

// oracle is a complete implementation of the dialect.
func oracle(t testing.TB, text string) *full.Schema {
	t.Helper()
	doc, err := full.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := full.NewCompiler()
	c.DefaultDraft(full.Draft2020)
	if err := c.AddResource("mem:///s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func agrees(t testing.TB, s *Schema, o *full.Schema, instance string) {
	t.Helper()
	v, err := Parse([]byte(instance))
	if err != nil {
		t.Fatalf("%s: %v", instance, err)
	}
	doc, err := full.UnmarshalJSON(bytes.NewReader([]byte(instance)))
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := s.Validate(v), o.Validate(doc)
	if (len(ours) == 0) != (theirs == nil) {
		t.Errorf("%s: ours %+v, theirs %v", instance, ours, theirs)
	}
}

// random writes an instance that is about as likely to fit as not: names and constants of the schema are favoured.
func random(r *rand.Rand, names, words []string, depth int) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	switch n := r.IntN(10); {
	case n < 4 && depth > 0:
		var b strings.Builder
		b.WriteByte('{')
		seen := map[string]bool{}
		for i := range r.IntN(5) {
			name := pick(names)
			if seen[name] {
				continue
			}
			seen[name] = true
			if i > 0 && b.Len() > 1 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:%s", name, random(r, names, words, depth-1))
		}
		return b.String() + "}"
	case n == 4 && depth > 0:
		items := make([]string, r.IntN(3))
		for i := range items {
			items[i] = random(r, names, words, depth-1)
		}
		return "[" + strings.Join(items, ",") + "]"
	case n < 7:
		return pick([]string{`"a"`, `""`, `"é"`, `"` + strings.Repeat("é", 5) + `"`, `"` + pick(words) + `"`, `"12"`})
	case n < 9:
		return pick([]string{"0", "1", "1.0", "2e0", "1.5", "-1", "3", "2000", "2001", "100000000", "100000001", "1e99", "-0", "9007199254740993"})
	}
	return pick([]string{"true", "false", "null"})
}

func TestDifferential(t *testing.T) {
	const output = `{"$schema":"` + Dialect + `","type":"object","anyOf":[{"$ref":"#/$defs/ok"},{"$ref":"#/$defs/error"}],"$defs":{
		"ok":{"type":"object","required":["path","count"],"additionalProperties":false,"properties":{"path":{"type":"string","maxLength":4},"count":{"type":"integer","minimum":0,"maximum":2000},
			"kind":{"const":"a"},"next":{"$ref":"#/$defs/ok"},"list":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},"skipped":{"type":"object","additionalProperties":{"type":"integer"}}}},
		"error":{"type":"object","properties":{"error":{"enum":["a",1,null,1.5,true]},"message":{"type":"string"}},"required":["error"],"additionalProperties":false}}}`
	for _, c := range []struct {
		name, schema string
		names, words []string
	}{
		{"input", reading, []string{"path", "path", "start_line", "tail", "revision", "mode", "line_numbers", "other"}, []string{"patch", "stat", "x"}},
		{"output", output, []string{"path", "count", "kind", "next", "list", "skipped", "error", "message", "x"}, []string{"a", "path", "abcd", "abcde"}},
		{"booleans", `{"properties":{"a":true,"b":false},"additionalProperties":{"minimum":1,"minLength":2}}`, []string{"a", "b", "c", "d"}, []string{"ab"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, o := compile(t, c.schema), oracle(t, c.schema)
			r := rand.New(rand.NewPCG(1, 2))
			fits := 0
			for range 6000 {
				in := random(r, c.names, c.words, 4)
				agrees(t, s, o, in)
				if len(s.Validate(value(t, in))) == 0 {
					fits++
				}
				if t.Failed() {
					return
				}
			}
			if fits == 0 || fits == 6000 {
				t.Errorf("%d of 6000 instances fit: the generator proves nothing", fits)
			}
		})
	}
}

// What this server publishes: inputs judged as the complete validator judges them, outputs accepted by both.
func TestPublishedSchemas(t *testing.T) {
	words := []string{"a", "any", "exact", "content", "patch", "summary", "name", "path"}
	for _, tool := range tools.All() {
		t.Run(tool.Name(), func(t *testing.T) {
			s, o := compile(t, string(tool.InputSchema())), oracle(t, string(tool.InputSchema()))
			names := append([]string{"other", "path", "path", "pattern"}, s.Names()...)
			r := rand.New(rand.NewPCG(3, 4))
			fits := 0
			for range 2000 {
				in := random(r, names, words, 2)
				agrees(t, s, o, in)
				if len(s.Validate(value(t, in))) == 0 {
					fits++
				}
				if t.Failed() {
					return
				}
			}
			if fits == 0 {
				t.Error("no instance fits: the generator proves nothing")
			}
			if !compile(t, string(tool.OutputSchema())).Object() {
				t.Error("the output schema is not that of an object")
			}
			oracle(t, string(tool.OutputSchema()))
		})
	}
	if first := compile(t, string(tools.All()[0].InputSchema())); len(tools.All()) == 7 && len(first.Validate(Empty())) > 0 {
		t.Error("the first tool does not accept an empty object")
	}
}

func FuzzDifferential(f *testing.F) {
	s, o := compile(f, reading), oracle(f, reading)
	for _, in := range []string{`{"path":"a"}`, `{"path":"a","start_line":1.0}`, `{"path":"","mode":"stat"}`, `{"path":"a","tail":1e3,"x":[{}]}`} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 4096 || strings.ContainsAny(string(in), "eE") && bytes.ContainsAny(in, "0123456789") && len(in) > 40 {
			return // the oracle expands exponents
		}
		if _, err := Parse(in); err != nil {
			return
		}
		agrees(t, s, o, string(in))
	})
}
