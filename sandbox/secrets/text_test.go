package secrets

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// inFile puts an example between lines of code, and tells where its secret lies.
func inFile(ex Example) (text string, start, end int) {
	const before = "package x\n\nfunc f() int {\n\treturn 1\n}\n\n"
	const after = "\n\nfunc g() string { return \"ok\" }\n"
	return before + ex.Text + after, len(before) + ex.Start, len(before) + ex.End
}

// leaks returns a piece of four or more bytes of secret that is in s. The strict
// rule: the prefix that tells what kind of credential it is counts as well.
func leaks(s, secret string) string {
	for i := 0; i+4 <= len(secret); i++ {
		piece := secret[i : i+4]
		if strings.TrimSpace(piece) == piece && strings.Contains(s, piece) {
			return piece
		}
	}
	return ""
}

// Whatever a caller cuts out of a file, no piece of a secret comes with it.
func TestNoCutLeaks(t *testing.T) {
	for _, r := range Rules() {
		for _, ex := range r.Fire {
			text, start, end := inFile(ex)
			secret := text[start:end]
			whole := Scan(text)
			// Pieces that stand elsewhere too, such as "key" in a name, prove nothing.
			rest := text[:start] + "|" + text[end:] + Placeholder(r.ID)
			var telling []string
			for i := 0; i+4 <= len(secret); i++ {
				if p := secret[i : i+4]; strings.TrimSpace(p) == p && !strings.Contains(rest, p) {
					telling = append(telling, p)
				}
			}
			if len(telling)*2 < len(secret) {
				t.Fatalf("%s: example %q has few pieces of its own", r.ID, ex.Text)
			}
			check := func(i, j int) {
				clean, _ := Redact(whole.Slice(i, j), true, nil)
				for _, p := range telling {
					if strings.Contains(clean, p) {
						t.Fatalf("%s: [%d:%d) of %q shows %q: %q", r.ID, i, j, text, p, clean)
					}
				}
			}
			for i := range len(text) + 1 { // every cut, both sides of it, and a window behind it
				check(0, i)
				check(i, len(text))
				check(i, min(len(text), i+9))
			}
			step := 1 + len(text)/40
			for i := 0; i <= len(text); i += step {
				for j := i; j <= len(text); j += step {
					check(i, j)
				}
			}
		}
	}
}

// The attack that TestNoCutLeaks guards against: redact after cutting.
func TestCuttingFirstLeaks(t *testing.T) {
	text, start, _ := inFile(Rules()[ruleIndex("aws-access-key")].Fire[0])
	clean, _ := Redact(Scan(text[:start+12]), false, nil)
	if leaks(clean, text[start:start+12]) == "" {
		t.Fatal("half a key was recognised without its source; the attack does not show")
	}
}

func ruleIndex(id string) int {
	for i, r := range Rules() {
		if r.ID == id {
			return i
		}
	}
	panic("no rule " + id)
}

// Every cut keeps the number of line feeds, as numbers of lines depend on it.
func TestRedactKeepsLines(t *testing.T) {
	for _, r := range Rules() {
		for _, ex := range r.Fire {
			text, _, _ := inFile(ex)
			whole := Scan(text)
			for i := 0; i < len(text); i += 7 {
				part := whole.Slice(i, len(text))
				clean, _ := Redact(part, true, nil)
				if got, want := strings.Count(clean, "\n"), strings.Count(part.Raw, "\n"); got != want {
					t.Fatalf("%s: from %d: %d line feeds, want %d", r.ID, i, got, want)
				}
			}
		}
	}
}

// Masked and redacted texts tell nothing about a secret but its shape.
func TestNonInterference(t *testing.T) {
	a, b := describe(1), describe(2)
	for i := range a {
		for k := range a[i].Fire {
			x, _, _ := inFile(a[i].Fire[k])
			y, _, _ := inFile(b[i].Fire[k])
			if x == y {
				t.Fatalf("%s: the two examples are the same", a[i].ID)
			}
			tx, ty := Scan(x), Scan(y)
			if tx.Masked() != ty.Masked() {
				t.Errorf("%s: masked texts differ:\n%q\n%q", a[i].ID, tx.Masked(), ty.Masked())
			}
			cx, _ := Redact(tx, true, nil)
			cy, _ := Redact(ty, true, nil)
			if cx != cy {
				t.Errorf("%s: redacted texts differ:\n%q\n%q", a[i].ID, cx, cy)
			}
			if len(tx.Masked()) != len(x) {
				t.Errorf("%s: masking changed the length", a[i].ID)
			}
		}
	}
}

func TestRedactCountsAndRepeats(t *testing.T) {
	for _, r := range Rules() {
		for _, ex := range r.Fire {
			text, _, _ := inFile(ex)
			var rep Report
			clean, changed := Redact(Scan(text), true, &rep)
			n := map[string]int{}
			rep.Each(func(rule string, count int) { n[rule] = count })
			if !changed || len(n) != 1 || n[r.ID] != 1 || rep.Late() != 0 {
				t.Errorf("%s: changed %v, counts %v, late %d", r.ID, changed, n, rep.Late())
			}
			again, changed := Redact(Scan(clean), false, &rep)
			if changed || again != clean {
				t.Errorf("%s: a second pass changed %q into %q", r.ID, clean, again)
			}
			// In the places a redacted text ends up in, too.
			for _, wrap := range []string{"token = \"%\"", "password: %", "https://user:%@host/", "Authorization: Bearer %", "{\"secret\":\"%\"}"} {
				s := strings.Replace(wrap, "%", Placeholder(r.ID), 1)
				if got := Find(s); got != nil {
					t.Errorf("%s: the placeholder trips %s", r.ID, show(s, got))
				}
			}
			if !strings.Contains(clean, Placeholder(r.ID)) || !strings.Contains(Placeholder(r.ID), r.ID) {
				t.Errorf("%s: the placeholder is missing in %q", r.ID, clean)
			}
		}
	}
}

func TestLateHits(t *testing.T) {
	ex := Rules()[ruleIndex("github-token")].Fire[0]
	for _, c := range []struct {
		name    string
		sourced bool
		late    int
	}{{"spans were lost", true, 1}, {"a text of its own", false, 0}} {
		var rep Report
		clean, _ := Redact(Text{Raw: ex.Text}, c.sourced, &rep)
		if rep.Late() != c.late || leaks(clean, ex.Text[ex.Start:ex.End]) != "" {
			t.Errorf("%s: late %d, %q", c.name, rep.Late(), clean)
		}
	}
}

func TestReportOrder(t *testing.T) {
	var all strings.Builder
	for _, r := range Rules() {
		all.WriteString(r.Fire[0].Text + "\n\n" + strings.Repeat("plain words\n", 400))
	}
	var rep Report
	Redact(Scan(all.String()), true, &rep)
	last := ""
	rep.Each(func(rule string, count int) {
		if rule <= last || count < 1 {
			t.Errorf("%s (%d) after %s", rule, count, last)
		}
		last = rule
	})
	if last == "" {
		t.Fatal("nothing counted")
	}
}

func TestSlice(t *testing.T) {
	tx := Text{"aaSECRETbbSECRETcc", []Span{{2, 8, 1}, {10, 16, 2}}}
	for _, c := range []struct {
		i, j int
		want string
	}{
		{0, 18, "aa......bb......cc"}, {0, 2, "aa"}, {2, 8, "......"}, {3, 5, ".."}, {8, 10, "bb"},
		{7, 11, ".bb."}, {16, 18, "cc"}, {5, 5, ""}, {18, 18, ""}, {15, 16, "."},
	} {
		p := tx.Slice(c.i, c.j)
		if got := strings.ReplaceAll(p.Masked(), "\x00", "."); got != c.want {
			t.Errorf("[%d:%d) = %q, want %q", c.i, c.j, got, c.want)
		}
	}
	// A cut of a cut is the cut.
	if a, b := tx.Slice(1, 15).Slice(3, 12).Masked(), tx.Slice(4, 13).Masked(); a != b {
		t.Errorf("%q != %q", a, b)
	}
}

func TestMaskedKeepsLineFeeds(t *testing.T) {
	tx := Text{"a\nsec\r\nret\nb", []Span{{2, 10, 0}}}
	if got := tx.Masked(); got != "a\n\x00\x00\x00\x00\n\x00\x00\x00\nb" {
		t.Errorf("%q", got)
	}
}

func TestRedactLayout(t *testing.T) {
	ph := Placeholder("private-key")
	for _, c := range []struct{ name, raw, want string }{
		{"lines", "sec\nret", ph + "\n" + ph},
		{"carriage returns", "sec\r\nret\r\n", ph + "\r\n" + ph + "\r\n"},
		{"blank lines stay blank", "sec\n\n  \nret", ph + "\n\n\n" + ph},
		{"one line", "sec", ph},
	} {
		got, _ := Redact(Text{"<" + c.raw + ">", []Span{{1, 1 + len(c.raw), rulePrivateKey}}}, true, nil)
		if got != "<"+c.want+">" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want []Span
	}{
		{"apart", []Span{{5, 9, 7}, {1, 3, 8}}, []Span{{1, 3, 8}, {5, 9, 7}}},
		{"same bytes: the earlier row", []Span{{1, 5, 9}, {1, 5, 4}}, []Span{{1, 5, 4}}},
		{"inside: one span, stronger rule", []Span{{1, 9, 9}, {2, 5, 4}}, []Span{{1, 9, 4}}},
		{"overlap: nothing is shown", []Span{{1, 5, 9}, {3, 8, 7}}, []Span{{1, 5, 9}, {5, 8, 7}}},
		{"overlap of one rule", []Span{{1, 5, 9}, {3, 8, 9}}, []Span{{1, 8, 9}}},
		{"nothing begins in a key", []Span{{1, 5, rulePrivateKey}, {3, 8, 7}}, []Span{{1, 5, rulePrivateKey}}},
		{"a key begins in a value", []Span{{1, 5, 9}, {3, 8, rulePrivateKey}}, []Span{{1, 5, 9}, {5, 8, rulePrivateKey}}},
	} {
		got := settle(c.in)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v", c.name, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v", c.name, got)
			}
		}
	}
}

func TestStaysUTF8(t *testing.T) {
	for _, s := range []string{
		"password = \"pässwörd1Xy☃\"", "token: \"日本語tokQ9xv7Zk3Lp2Ws\"", "url https://u:pä☃9@host", "api_key='é" + strings.Repeat("Q9x", 200) + "'",
	} {
		clean, _ := Redact(Scan(s), false, nil)
		if !utf8.ValidString(clean) {
			t.Errorf("%q became %q", s, clean)
		}
	}
}
