package answer

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-devserver/sandbox/secrets"
)

type plainOut struct {
	Frame
	text Ref
}

func (o *plainOut) Head(*JSON, *Prose)     {}
func (o *plainOut) Body(j *JSON, _ *Prose) { j.Text("text", o.text) }

// Redaction can make an excerpt longer than it was; the published length holds all the same. An excerpt of a name is not counted as
// a secret that a tool overlooked.
func TestExcerptAfterRedaction(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ01234"
	four := token + "1 " + token + "2 " + token + "3 " + token + "4"
	texts := new(Texts)
	o := &plainOut{text: texts.Content(secrets.Scan(four), None, 1)}
	name := texts.Name(token + "5")
	m := &Mark{Nonce: "n", Risk: "low", Notice: "x", Signals: []Signal{
		{ID: "A", Excerpt: texts.Excerpt(o.text, 0, len(four), 160)}, {ID: "B", Excerpt: texts.Excerpt(name, 0, len(token)+1, 160)}}}
	d := NewDoc(texts)
	j := d.JSON()
	j.Object("")
	d.Result(o, m, Options{Structured: true})
	j.End()
	d.Redact(true)
	b, err := d.Encode(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		StructuredContent struct {
			Untrusted struct{ Signals []struct{ Excerpt string } }
		}
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	list := r.StructuredContent.Untrusted.Signals
	if n := utf8.RuneCountInString(list[0].Excerpt); n != 160 {
		t.Errorf("%d characters: %s", n, list[0].Excerpt)
	}
	if strings.Contains(string(b), "ghp_") || d.Report().Late() != 0 {
		t.Errorf("%d late: %s", d.Report().Late(), b)
	}
}
