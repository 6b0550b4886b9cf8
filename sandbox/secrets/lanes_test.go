package secrets

import (
	"slices"
	"strings"
	"testing"

	"mcp-devserver/sandbox/internal/keywords"
)

// How package keywords divides a text.
const (
	laneLen = 1 << 10
	block   = 4 * laneLen
)

// A credential across the border of two lanes or two blocks is found where it is.
func TestLanes(t *testing.T) {
	token := describe(1)[ruleOf("github-token")].Fire[0].Text[len("t: "):]
	plain := strings.Repeat("a line of plain words\n", (2*block+laneLen)/22)
	for border := laneLen; border+64 < len(plain); border += laneLen {
		for shift := -len(token) - 1; shift <= 1; shift++ {
			at := border + shift
			s := plain[:at] + "\n" + token + "\n" + plain[at+len(token)+2:]
			if got := Find(s); len(got) != 1 || got[0].Start != at+1 || got[0].End != at+1+len(token) {
				t.Fatalf("token at %d, %d bytes from a border: %v", at+1, shift, got)
			}
		}
	}
}

// Texts of many hits are handled in their order, whatever lane met them.
func TestLanesKeepTheOrder(t *testing.T) {
	var b strings.Builder
	for b.Len() < 3*block {
		for _, r := range Rules() {
			for _, e := range r.Fire {
				b.WriteString(e.Text + "\n")
			}
		}
	}
	s := b.String()
	type hit struct{ end, word int }
	var hits []hit
	folded := strings.ToLower(s)
	for n, k := range engine().keys {
		word := strings.ToLower(k.text)
		for at := 0; ; at++ {
			i := strings.Index(folded[at:], word)
			if i < 0 {
				break
			}
			at += i
			hits = append(hits, hit{at + len(word), n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.end != b.end {
			return a.end - b.end
		}
		return len(engine().keys[b.word].text) - len(engine().keys[a.word].text)
	})
	f := borrow(s)
	for _, h := range hits {
		f.hit(engine(), h.word, h.end)
	}
	want := f.giveBack()
	if got := Find(s); !slices.Equal(want, got) {
		t.Errorf("%d spans in lanes, %d one after the other", len(got), len(want))
	}
	var seen keywords.Seen
	seen.Look(s)
	if found := FindIn(s, &seen); !slices.Equal(want, found.spans) {
		t.Errorf("%d spans in a text looked through before, want %d", len(found.spans), len(want))
	}
}

func ruleOf(id string) int {
	for i, r := range Rules() {
		if r.ID == id {
			return i
		}
	}
	return -1
}

// A key block in a patch counts once, two of them twice.
func TestKeyInAPatchCountsOnce(t *testing.T) {
	block := func(sign string) string {
		var b strings.Builder
		for l := range strings.SplitSeq(armoured(keyBegin, keyEnd, "\n", body(5)), "\n") {
			b.WriteString(sign + l + "\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		name, patch string
		want        int
	}{
		{"added", "@@ -0,0 +1,7 @@\n" + block("+"), 1},
		{"removed", "@@ -1,7 +0,0 @@\n" + block("-"), 1},
		{"unchanged", "@@ -1,7 +1,7 @@\n" + block(" "), 1},
		{"two in a row", "@@ -0,0 +1,14 @@\n" + block("+") + block("+"), 2},
		{"one for another", "@@ -1,7 +1,7 @@\n" + block("-") + block("+"), 2},
	} {
		// As a diff does: the key is found without its signs, line by line.
		var spans []Span
		at := 0
		for l := range strings.SplitAfterSeq(c.patch, "\n") {
			if n := len(strings.TrimRight(l, "\n")); n > 1 && l[0] != '@' {
				spans = append(spans, Span{at + 1, at + n, rulePrivateKey})
			}
			at += len(l)
		}
		var r Report
		Redact(Text{c.patch, spans}, true, &r)
		got := 0
		r.Each(func(_ string, n int) { got += n })
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
