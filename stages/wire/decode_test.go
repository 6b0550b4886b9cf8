package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// nest wraps a member of params n levels deep; the message as a whole nests n+2 levels.
func nest(id string, n int) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"m","params":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`
}

func TestDecodeRefuses(t *testing.T) {
	cases := []struct{ trick, in, id, says string }{
		{"nothing", ``, "", "parse_error"},
		{"blanks only", " \t ", "", "parse_error"},
		{"half an object", `{"jsonrpc":`, "", "parse_error"},
		{"half an object after a good id", `{"jsonrpc":"2.0","id":1,"method":"m"`, "", "parse_error"},
		{"byte that is not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "", "parse_error"},
		{"overlong encoding of a slash", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}", "", "parse_error"},
		{"encoded surrogate", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}", "", "parse_error"},
		{"lone high surrogate", `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, "", "parse_error"},
		{"lone low surrogate in a nested name", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"\udc00":1}}`, "", "parse_error"},
		{"trailing object", `{"jsonrpc":"2.0","id":1,"method":"m"}{}`, "", "parse_error"},
		{"trailing NUL", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\x00", "", "parse_error"},
		{"lone NUL", "\x00", "", "parse_error"},
		{"byte order mark", "\ufeff{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", "", "parse_error"},
		{"comment", `{"jsonrpc":"2.0","id":1,/**/"method":"m"}`, "", "parse_error"},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"m",}`, "", "parse_error"},
		{"NaN", `{"jsonrpc":"2.0","id":NaN,"method":"m"}`, "", "parse_error"},
		{"leading zero", `{"jsonrpc":"2.0","id":01,"method":"m"}`, "", "parse_error"},
		{"raw newline in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}", "", "parse_error"},
		{"duplicate and not JSON", `{"id":1,"a":1,"a":2`, "", "parse_error"},
		{"scalar then more", `5 6`, "", "parse_error"},
		{"number", `42`, "", "invalid_request: Invalid request: a message is a JSON object"},
		{"string", `"x"`, "", "a message is a JSON object"},
		{"null", `null`, "", "a message is a JSON object"},
		{"empty batch", `[]`, "", "batches"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "", "batches"},
		{"empty object", `{}`, "", `jsonrpc must be "2.0"`},
		{"no jsonrpc", `{"id":99,"method":"x"}`, "99", `jsonrpc must be "2.0"`},
		{"old jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"m"}`, "1", `jsonrpc must be "2.0"`},
		{"jsonrpc as a number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, "1", `jsonrpc must be "2.0"`},
		{"JSONRPC in capitals", `{"JSONRPC":"2.0","id":1,"method":"m"}`, "1", `jsonrpc must be "2.0"`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", "method must be a string"},
		{"method as a number", `{"jsonrpc":"2.0","id":7,"method":5}`, "7", "method must be a string"},
		{"Method in another case", `{"jsonrpc":"2.0","id":7,"Method":"tools/call"}`, "7", "method must be a string"},
		{"method with a trailing NUL in the name", `{"jsonrpc":"2.0","id":7,"method\u0000":"tools/call"}`, "7", "method must be a string"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, "", "id must be a string or an integer"},
		{"id with a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, "", "id must be"},
		{"id with a negative exponent", `{"jsonrpc":"2.0","id":15e-1,"method":"m"}`, "", "id must be"},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"m"}`, "", "id must be"},
		{"id array", `{"jsonrpc":"2.0","id":[],"method":"m"}`, "", "id must be"},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, "", "id must be"},
		{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", MaxToken+1) + `","method":"m"}`, "", "id is longer"},
		{"response", `{"jsonrpc":"2.0","id":5,"result":{}}`, "", "clients send no responses"},
		{"error response", `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`, "", "clients send no responses"},
		{"request that is also a response", `{"jsonrpc":"2.0","id":5,"method":"m","result":{}}`, "", "clients send no responses"},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, "1", "same name twice"},
		{"method twice, once escaped", `{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"}`, "1", "same name twice"},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, "", "same name twice"},
		{"id twice, the same", `{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}`, "", "same name twice"},
		{"id after the duplicate", `{"jsonrpc":"2.0","method":"a","method":"b","id":"z"}`, `"z"`, "same name twice"},
		{"bad id beside a duplicate", `{"jsonrpc":"2.0","method":"a","method":"b","id":null}`, "", "same name twice"},
		{"nested duplicate", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"read_file","name":"git_log"}}`, "1", "same name twice"},
		{"duplicate in an array in arguments", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":1,"b":2}]}}`, "1", "same name twice"},
		{"response with a duplicate", `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, "", "same name twice"},
		{"one level too deep", nest("3", DefaultDepth-1), "3", "nests deeper"},
		{"20,000 levels", nest("3", 20000), "3", "nests deeper"},
		{"20,000 levels, never closed", `{"jsonrpc":"2.0","id":3,"method":"m","params":` + strings.Repeat("[", 20000), "3", "nests deeper"},
		{"40 levels, never closed", `{"jsonrpc":"2.0","id":3,"method":"m","params":` + strings.Repeat("[", 40), "", "parse_error"},
		{"deep batch", strings.Repeat("[", 40) + strings.Repeat("]", 40), "", "nests deeper"},
		{"too large", `{"jsonrpc":"2.0","id":3,"method":"m","params":{"a":"` + strings.Repeat("x", DefaultBytes) + `"}}`, "", "larger than the limit"},
	}
	for _, c := range cases {
		t.Run(c.trick, func(t *testing.T) {
			m, err := Decode([]byte(c.in), Limits{})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("accepted as %+v", m)
			}
			if string(m.ID) != c.id {
				t.Errorf("id %q, want %q", m.ID, c.id)
			}
			if !strings.Contains(e.Error(), c.says) {
				t.Errorf("says %q, want %q", e.Error(), c.says)
			}
		})
	}
}

// The tricks above only matter if a common reader falls for them: encoding/json does.
func TestLaxReaderFallsForIt(t *testing.T) {
	var v struct {
		Method string `json:"method"`
	}
	for _, in := range []string{`{"method":"a","method":"b"}`, `{"method":"a","Method":"b"}`, `{"method":"a","METHOD":"b"}`} {
		if err := json.Unmarshal([]byte(in), &v); err != nil || v.Method != "b" {
			t.Errorf("%s: %q, %v; the guard would be superfluous", in, v.Method, err)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	cases := []struct{ in, id, method, params string }{
		{`{"jsonrpc":"2.0","id":0,"method":"m"}`, "0", "m", ""},
		{`{"jsonrpc":"2.0","id":-5,"method":"m"}`, "-5", "m", ""},
		{`{"jsonrpc":"2.0","id":"0","method":"m"}`, `"0"`, "m", ""},
		{`{"jsonrpc":"2.0","id":"","method":"m"}`, `""`, "m", ""},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, "9007199254740993", "m", ""},
		{`{"jsonrpc":"2.0","id":1.0,"method":"m"}`, "1.0", "m", ""},
		{`{"jsonrpc":"2.0","id":1e2,"method":"m"}`, "1e2", "m", ""},
		{`{"jsonrpc":"2.0","id":"ünï \u00fc","method":"m"}`, `"ünï \u00fc"`, "m", ""},
		{`{"jsonrpc":"2.0","method":"m"}`, "", "m", ""},
		{"\r\n {\"jsonrpc\" : \"2.0\", \"id\" : 1 , \"m\\u0065thod\":\"\\u006d\", \"params\" : { \"a\" : [ 1 ] } } \r\n", "1", "m", `{ "a" : [ 1 ] }`},
		{`{"jsonrpc":"2.0","id":1,"method":"m","METHOD":"n","params":5,"extra":{"method":"o"}}`, "1", "m", "5"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[["}}`, "1", "m", `{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[["}`},
		{nest("1", DefaultDepth-2), "1", "m", `{"a":` + strings.Repeat("[", DefaultDepth-2) + strings.Repeat("]", DefaultDepth-2) + `}`},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", MaxToken) + `","method":"m"}`, `"` + strings.Repeat("x", MaxToken) + `"`, "m", ""},
	}
	for _, c := range cases {
		m, err := Decode([]byte(c.in), Limits{})
		if err != nil {
			t.Errorf("%.60s: %v", c.in, err)
			continue
		}
		if string(m.ID) != c.id || m.Method != c.method || string(m.Params) != c.params || (m.ID == nil) != (c.id == "") {
			t.Errorf("%.60s: %q %q %q", c.in, m.ID, m.Method, m.Params)
		}
	}
}

// FuzzDecode holds Decode against encoding/json: what is accepted here is accepted there and means the same.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a"}}}`,
		`{"jsonrpc":"2.0","id":"\u00e9","method":"m","params":[1,2.5e3,null,true,"\ud83d\ude00"]}`,
		`{"jsonrpc":"2.0","method":"a","method":"b"}`, `{"m\u0065thod":"x","jsonrpc":"2.0"}`, `[{}]`, "{\"a\":\"\xff\"}",
		`{"jsonrpc":"2.0","id":1,"method":"m"}x`, nest("1", 40), `{"jsonrpc":"2.0","id":1e1,"method":"m","Method":"n"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		keep := bytes.Clone(in)
		m, err := Decode(in, Limits{Depth: 8})
		if !bytes.Equal(keep, in) {
			t.Fatal("the input was changed")
		}
		if m.ID != nil && !Token(m.ID) {
			t.Fatalf("id %q", m.ID)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%T", err)
			}
			if e.Fault == FaultParse && json.Valid(in) && m.ID != nil {
				t.Fatal("a parse error with an id")
			}
			return
		}
		var other map[string]json.RawMessage
		if err := json.Unmarshal(in, &other); err != nil {
			t.Fatalf("encoding/json refuses: %v", err)
		}
		var method string
		if err := json.Unmarshal(other["method"], &method); err != nil || method != m.Method {
			t.Fatalf("method %q, %v", method, err)
		}
		if string(other["id"]) != string(m.ID) || string(other["params"]) != string(m.Params) {
			t.Fatalf("id %s %s, params %s %s", other["id"], m.ID, other["params"], m.Params)
		}
		if m.Params == nil {
			return
		}
		ours := map[string]string{}
		if ok, err := Members(m.Params, func(name, value []byte) error {
			ours[string(name)] = string(value)
			return nil
		}); !ok || err != nil {
			return
		}
		var theirs map[string]json.RawMessage
		if err := json.Unmarshal(m.Params, &theirs); err != nil || len(theirs) != len(ours) {
			t.Fatalf("params: %v, %d and %d members", err, len(theirs), len(ours))
		}
		for k, v := range theirs {
			if ours[k] != string(v) {
				t.Fatalf("member %q: %s and %s", k, v, ours[k])
			}
		}
	})
}

const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"src/main.go","start_line":1,"end_line":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p-2","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}`

func BenchmarkDecode(b *testing.B) {
	in := []byte(call)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(in, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The alternative: encoding/json into raw members. It neither refuses repeated names nor bad UTF-8.
func BenchmarkDecodeLax(b *testing.B) {
	in := []byte(call)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(in, &m); err != nil {
			b.Fatal(err)
		}
	}
}
