package secrets

import (
	"strings"
	"testing"
)

// A secret is found in each part of a name, whatever stands around the part.
func TestNamesAreFoundInEveryPart(t *testing.T) {
	key := Rules()[ruleIndex("aws-access-key")].Fire[1].Text // id=ASIA…
	value := "token=" + Rules()[ruleIndex("github-token")].Fire[0].Text[3:]
	pass := "password=Xq7Rk2vTz9"
	for _, c := range []struct{ name, want string }{
		{"src/a.go", "src/a.go"},
		{key[3:] + "/a/b", "*/a/b"},
		{"a/" + key[3:] + "/b", "a/*/b"},
		{"a/b/" + key[3:], "a/b/*"},
		{"secret=aB3dE6gH9jK2mN5/src/main/java/org/example/App.java", "secret=*/src/main/java/org/example/App.java"},
		{"x/secret=aB3dE6gH9jK2mN5/src/main/java/org/example/App.java", "x/secret=*/src/main/java/org/example/App.java"},
		{value + "/" + pass, "token=*=*"}, // together they are one value
	} {
		got := MaskName(c.name)
		for strings.Contains(got, "\x00\x00") {
			got = strings.ReplaceAll(got, "\x00\x00", "\x00")
		}
		if got = strings.ReplaceAll(got, "\x00", "*"); got != c.want {
			t.Errorf("%q is masked as %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPlacedCountsWhatWasRedactedBefore(t *testing.T) {
	for s, want := range map[string]int{
		"":                             0,
		"'" + Placeholder("jwt") + "'": 1,
		Placeholder("jwt") + " and " + Placeholder("jwt") + Placeholder("password"): 3,
		"⟦redacted nothing: differs on disk⟧":                                       0,
		"⟦redacted jw": 0,
		"⟦redacted x: ⟦redacted jwt: differs on disk⟧":            1,
		"⟦redacted x: differs on disk⟧" + Placeholder("password"): 1,
	} {
		var r Report
		Placed(s, &r)
		n := 0
		r.Each(func(_ string, count int) { n += count })
		if n != want {
			t.Errorf("%q: %d, want %d", s, n, want)
		}
	}
}

func TestNoCutGoesThroughAPlaceholder(t *testing.T) {
	s := "ab" + Placeholder("jwt") + "cd" + Placeholder("password") + "⟦ef"
	for cut := range len(s) + 1 {
		at := WholePlaceholders(s, cut)
		if at > cut || strings.Count(s[:at], openBracket+"redacted") != strings.Count(s[:at], closeBracket) {
			t.Errorf("cut at %d: %q", cut, s[:at])
		}
	}
	if WholePlaceholders(s, len(s)) != len(s) {
		t.Error("a bracket that opens no placeholder moves the cut")
	}
}

func TestJoinCoversBoth(t *testing.T) {
	a, b := []Span{{2, 6, rulePrivateKey}, {20, 25, 7}}, []Span{{0, 1, 5}, {4, 9, 6}, {21, 23, 4}}
	got := Join(a, b)
	want := []Span{{0, 1, 5}, {2, 9, rulePrivateKey}, {20, 25, 7}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
