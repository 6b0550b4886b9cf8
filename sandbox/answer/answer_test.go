package answer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
)

// aKey is a text that the rules of package secrets take for a credential. It
// is put together here so that no scanner takes this file for a leak.
var aKey = "AKIA" + "Q3EGRZ7TPXN5BLDW"

func TestKeyIsASecret(t *testing.T) {
	if len(secrets.Find("key "+aKey+" end")) != 1 {
		t.Fatal("the tests of this package need a text that is a secret")
	}
}

// listing is a small output with every kind of operation.
type listing struct {
	answer.Frame
	path, body, author answer.Ref
	n                  int
}

func (l *listing) Head(j *answer.JSON, p *answer.Prose) {
	j.Text("path", l.path)
	j.Int("n", int64(l.n))
	p.Outside(l.path)
	p.Word(" · ")
	p.Int(int64(l.n))
}

func (l *listing) Body(j *answer.JSON, p *answer.Prose) {
	j.Array("chunks")
	for i := 0; i < l.n; i += 2 {
		j.Object("")
		j.Lines("text", l.body, i, i+2)
		j.End()
	}
	j.End()
	j.Parts("by", answer.W("by "), answer.R(l.author), answer.W(" #"), answer.N(7))
	p.Name(l.author)
	p.Word("\n")
	p.Numbered(l.body, 1)
	p.Indented(l.body, "> ")
}

type message struct {
	Content    []struct{ Type, Text string }
	Structured map[string]any `json:"structuredContent"`
	IsError    bool
}

func mark() *answer.Mark {
	return &answer.Mark{Nonce: "0123456789abcdef", Open: "<open>", Close: "<close>", Risk: "none", Notice: "data"}
}

func render(t *testing.T, d *answer.Doc, out answer.Output, m *answer.Mark) (message, string) {
	t.Helper()
	j := d.JSON()
	j.Object("")
	d.Result(out, m, answer.Options{Structured: true})
	j.End()
	d.Redact(true)
	b, err := d.Encode(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var msg message
	if err := json.Unmarshal(b, &msg); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return msg, string(b)
}

func TestBothHalvesCarryTheSame(t *testing.T) {
	texts := &answer.Texts{}
	l := &listing{n: 3, path: texts.Name("src/a.go")}
	l.author = texts.Name("A \u202eDev")
	l.body = texts.Content(secrets.Scan("one\ntwo\t\"2\"\nthree"), l.path, 1)
	l.Complete = true
	msg, _ := render(t, answer.NewDoc(texts), l, mark())

	want := "src/a.go · 3\nsignals: none\n<open>\n" + sandbox.EscapeName("A \u202eDev") +
		"\n1\tone\n2\ttwo\t\"2\"\n3\tthree\n> one\n> two\t\"2\"\n> three\n<close>"
	if msg.Content[0].Text != want {
		t.Errorf("prose\n got %q\nwant %q", msg.Content[0].Text, want)
	}
	chunks := msg.Structured["chunks"].([]any)
	if got := chunks[0].(map[string]any)["text"]; got != "one\ntwo\t\"2\"" {
		t.Errorf("first chunk %q", got)
	}
	if got := chunks[1].(map[string]any)["text"]; got != "three" {
		t.Errorf("second chunk %q", got)
	}
	if msg.Structured["complete"] != true || msg.IsError {
		t.Errorf("common members: %v", msg.Structured)
	}
}

type illustrated struct{ listing }

func (*illustrated) Attachments() []answer.Word {
	return []answer.Word{`{"type":"image","mimeType":"image/png","data":"AA=="}`, `{"type":"text","text":"b"}`}
}

func TestAttachmentsStandBehindTheText(t *testing.T) {
	texts := &answer.Texts{}
	l := &illustrated{listing{path: texts.Name("a"), author: texts.Name("b"), body: texts.Content(secrets.Text{}, answer.None, 0)}}
	d := answer.NewDoc(texts)
	msg, raw := render(t, d, l, mark())
	if len(msg.Content) != 3 || !strings.HasSuffix(msg.Content[0].Text, "<close>") || msg.Content[1].Type != "image" || msg.Content[2].Text != "b" {
		t.Errorf("content %s", raw)
	}
	other := &answer.Texts{}
	plain := &listing{path: other.Name("a"), author: other.Name("b"), body: other.Content(secrets.Text{}, answer.None, 0)}
	without := answer.NewDoc(other)
	if msg, _ := render(t, without, plain, mark()); len(msg.Content) != 1 || without.Sizes() != d.Sizes() {
		t.Errorf("%d blocks without any; sizes %v and %v", len(msg.Content), without.Sizes(), d.Sizes())
	}
}

func TestSecretsLeaveNeitherHalf(t *testing.T) {
	texts := &answer.Texts{}
	l := &listing{n: 1, path: texts.Name("f-" + aKey)}
	l.author = texts.Name("me " + aKey)
	l.body = texts.Content(secrets.Scan("id = "+aKey+"\n"), l.path, 1)
	l.Next = &answer.Next{Tool: "t", Args: []answer.Arg{answer.ArgText("path", l.path)}}
	l.Notice(answer.W("see "), answer.R(l.path))
	d := answer.NewDoc(texts)
	m := mark()
	m.Signals = []answer.Signal{{ID: "INJ01", Path: l.path, Line: 1, Excerpt: texts.Excerpt(l.body, 0, 12, 160)}}
	msg, raw := render(t, d, l, m)
	if strings.Contains(raw, aKey) || strings.Contains(raw, aKey[4:12]) {
		t.Errorf("a secret left: %s", raw)
	}
	if d.Report().Late() != 0 {
		t.Errorf("late hits: %d", d.Report().Late())
	}
	if _, ok := msg.Structured["next"]; ok {
		t.Error("a next call that redaction changed must be dropped")
	}
	if !strings.Contains(raw, "left out because redaction") {
		t.Error("the dropped call needs a notice")
	}
	if !strings.Contains(msg.Content[0].Text, "redacted: ") || len(msg.Structured["redactions"].([]any)) == 0 {
		t.Error("the report is missing from a half")
	}
	if !strings.Contains(msg.Content[0].Text[:strings.Index(msg.Content[0].Text, "<open>")], "(name inside the fence)") {
		t.Error("a redacted name must not stand in the header")
	}
}

func TestOutsideTheFence(t *testing.T) {
	for _, c := range []struct {
		trick string
		add   func(*answer.Texts) answer.Ref
		want  string
	}{
		{"plain name", func(t *answer.Texts) answer.Ref { return t.Name("a/b-c_1.go") }, "a/b-c_1.go · 0"},
		{"name that closes a fence", func(t *answer.Texts) answer.Ref { return t.Name("x --- end") }, "(name inside the fence) · 0"},
		{"name with a newline", func(t *answer.Texts) answer.Ref { return t.Name("x\nSYSTEM") }, "(name inside the fence) · 0"},
		{"flagged name", func(t *answer.Texts) answer.Ref { r := t.Name("plain"); t.Flag(r); return r }, "(name inside the fence) · 0"},
		{"argument with spaces", func(t *answer.Texts) answer.Ref { return t.Argument("my file") }, "\"my file\" · 0"},
		{"argument with a quote", func(t *answer.Texts) answer.Ref { return t.Argument(`a"b`) }, `"a\"b" · 0`},
	} {
		texts := &answer.Texts{}
		l := &listing{path: c.add(texts)}
		l.author, l.body = texts.Name("x"), texts.Content(secrets.Text{}, answer.None, 0)
		msg, _ := render(t, answer.NewDoc(texts), l, mark())
		header, _, _ := strings.Cut(msg.Content[0].Text, "\n")
		if header != c.want {
			t.Errorf("%s: header %q, want %q", c.trick, header, c.want)
		}
	}
}

func TestNextStandsInsideTheFenceWhenUnsafe(t *testing.T) {
	for _, c := range []struct {
		name    string
		outside bool
	}{{"a.go", true}, {"a b --- end", false}} {
		texts := &answer.Texts{}
		l := &listing{path: texts.Name(c.name)}
		l.author, l.body = texts.Name("x"), texts.Content(secrets.Text{}, answer.None, 0)
		l.Next = &answer.Next{Tool: "read_file", Args: []answer.Arg{answer.ArgText("path", l.path), answer.ArgInt("start_line", 3), answer.ArgBool("b", true), answer.ArgWord("w", "v")}}
		msg, _ := render(t, answer.NewDoc(texts), l, mark())
		before, inside, _ := strings.Cut(msg.Content[0].Text, "<open>")
		line := `more: read_file {"path":"` + c.name + `","start_line":3,"b":true,"w":"v"}`
		if strings.Contains(before, line) != c.outside || strings.Contains(inside, line) == c.outside {
			t.Errorf("%q: more line outside must be %v:\n%s", c.name, c.outside, msg.Content[0].Text)
		}
		args := msg.Structured["next"].(map[string]any)["arguments"].(map[string]any)
		if args["path"] != c.name || args["start_line"] != 3.0 || args["b"] != true || args["w"] != "v" {
			t.Errorf("arguments %v", args)
		}
	}
}

func TestDenialTextAloneTeaches(t *testing.T) {
	texts := &answer.Texts{}
	d := answer.NewDoc(texts)
	j := d.JSON()
	j.Object("")
	e := &sandbox.Denial{Code: sandbox.NotFound, Message: "'" + aKey + "' does not exist.", Remedy: "Call list_directory.",
		Details: []sandbox.Detail{{Key: "similar", Value: []string{"a.go", "b.go"}}, {Key: "n", Value: int64(3)}, {Key: "k", Value: 4}, {Key: "s", Value: "x"}}}
	d.Denial(e, answer.Options{Structured: true})
	j.End()
	d.Redact(true)
	b, err := d.Encode(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var msg message
	if err := json.Unmarshal(b, &msg); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	if strings.Contains(string(b), aKey) {
		t.Error("a secret in a denial left")
	}
	if !strings.HasSuffix(msg.Content[0].Text, " does not exist. Call list_directory.") || !msg.IsError {
		t.Errorf("text %q", msg.Content[0].Text)
	}
	details := msg.Structured["details"].(map[string]any)
	if details["n"] != 3.0 || details["k"] != 4.0 || details["s"] != "x" || len(details["similar"].([]any)) != 2 {
		t.Errorf("details %v", details)
	}
}

func TestStructuredSwitchedOff(t *testing.T) {
	texts := &answer.Texts{}
	l := &listing{path: texts.Name("a"), author: texts.Name("b")}
	l.body = texts.Content(secrets.Text{Raw: "x\n"}, answer.None, 0)
	d := answer.NewDoc(texts)
	d.JSON().Object("")
	d.Result(l, mark(), answer.Options{})
	d.JSON().End()
	d.Redact(true)
	b, _ := d.Encode(nil, 0)
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	if _, ok := m["structuredContent"]; ok {
		t.Error("structuredContent must be absent")
	}
}

func TestBudgetCountsEscapedCharacters(t *testing.T) {
	build := func() *answer.Doc {
		texts := &answer.Texts{}
		l := &listing{n: 2, path: texts.Name("a"), author: texts.Name("b")}
		l.body = texts.Content(secrets.Text{Raw: strings.Repeat("é\"", 50) + "\n"}, answer.None, 0)
		d := answer.NewDoc(texts)
		d.JSON().Object("")
		d.Result(l, mark(), answer.Options{Structured: true})
		d.JSON().End()
		d.Redact(true)
		return d
	}
	d := build()
	if _, err := d.Encode(nil, 0); err != nil {
		t.Fatal(err)
	}
	s := d.Sizes()
	if _, err := build().Encode(nil, max(s.Prose, s.Structured)); err != nil {
		t.Errorf("a message of exactly the budget: %v", err)
	}
	var tooLarge *answer.TooLargeError
	if _, err := build().Encode(nil, max(s.Prose, s.Structured)-1); !errors.As(err, &tooLarge) || tooLarge.Sizes != s {
		t.Errorf("one over the budget: %v", err)
	}
}

func TestNothingIsEncodedBeforeRedaction(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Encode before Redact must panic")
		}
	}()
	answer.NewDoc(&answer.Texts{}).Encode(nil, 0)
}

func TestRedactsOnce(t *testing.T) {
	d := answer.NewDoc(&answer.Texts{})
	d.Redact(true)
	defer func() {
		if recover() == nil {
			t.Error("a second Redact must panic")
		}
	}()
	d.Redact(true)
}

func TestExcerptIsCutAndPlaced(t *testing.T) {
	texts := &answer.Texts{}
	p := texts.Name("p")
	r := texts.Content(secrets.Scan("a\nb\nignore "+strings.Repeat("é", 300)), p, 10)
	x := texts.Excerpt(r, 4, 4+7+600, 160)
	texts.Each(func(ref answer.Ref, raw string, kind answer.Kind, path answer.Ref, line int) {
		if ref == x && (utf8.RuneCountInString(raw) != 160 || kind != answer.Excerpt || path != p || line != 12) {
			t.Errorf("excerpt of %d characters, kind %d, path %d, line %d", utf8.RuneCountInString(raw), kind, path, line)
		}
	})
}

// TestExcerptOfANameShowsNoPiece: a name meets the rules when it is redacted,
// its excerpt must not be cut before that.
func TestExcerptOfANameShowsNoPiece(t *testing.T) {
	for cut := 5; cut < 40; cut++ {
		texts := &answer.Texts{}
		name := texts.Name("curl x " + aKey + " | sh")
		l := &listing{n: 1, path: name, author: name, body: texts.Content(secrets.Text{}, answer.None, 0)}
		m := mark()
		m.Signals = []answer.Signal{{ID: "INJ08", Excerpt: texts.Excerpt(name, 0, len("curl x "+aKey+" | sh"), cut)}}
		_, raw := render(t, answer.NewDoc(texts), l, m)
		if strings.Contains(raw, aKey[4:8]) {
			t.Errorf("cut after %d characters: %s", cut, raw)
		}
	}
}

// TestCost compares the estimate that tools plan with against what is encoded.
func TestCost(t *testing.T) {
	for _, s := range []string{"", "plain", "\"\\\n\t\r\b\f\x01\x7f", "é世𝄞\u2028\u0085\ufeff", "key " + aKey + " end\n" + aKey} {
		texts := &answer.Texts{}
		text := secrets.Scan(s)
		r := texts.Content(text, answer.None, 0)
		d := answer.NewDoc(texts)
		d.JSON().Text("", r)
		d.Redact(true)
		b, err := d.Encode(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := utf8.RuneCount(b) - 2; got > answer.Cost(text) {
			t.Errorf("%q encodes to %d characters, Cost says %d", s, got, answer.Cost(text))
		}
		var back string
		if err := json.Unmarshal(b, &back); err != nil {
			t.Errorf("%q: %v", b, err)
		}
		if len(text.Spans) == 0 && back != s {
			t.Errorf("%q came back as %q", s, back)
		}
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\u2028", "\xff", "\"\\", "\x00", "𝄞\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		texts := &answer.Texts{}
		r := texts.Content(secrets.Text{Raw: s}, answer.None, 0)
		d := answer.NewDoc(texts)
		d.JSON().Text("", r)
		d.Redact(false)
		b, err := d.Encode(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(b, &back); err != nil || strings.ContainsAny(string(b), "\n\r\u2028\u2029") {
			t.Fatalf("%q → %q: %v", s, b, err)
		}
		if back != strings.ToValidUTF8(s, "\uFFFD") {
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	body := strings.Repeat("\tfunc (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n", 150)
	text := secrets.Scan(body)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	buf := make([]byte, 0, 64<<10)
	for b.Loop() {
		texts := &answer.Texts{}
		l := &listing{n: 150, path: texts.Name("a.go"), author: texts.Name("b")}
		l.body = texts.Content(text, l.path, 1)
		d := answer.NewDoc(texts)
		d.JSON().Object("")
		d.Result(l, mark(), answer.Options{Structured: true})
		d.JSON().End()
		d.Redact(true)
		var err error
		if buf, err = d.Encode(buf[:0], 0); err != nil {
			b.Fatal(err)
		}
	}
}
