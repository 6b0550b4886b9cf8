package secrets

import (
	"strings"
	"testing"

	"mcp-devserver/sandbox/internal/keywords"
)

// Where a text is little but keywords it is hidden as a whole, with what the last of
// them could have begun; before and behind that, rules are asked as ever.
func TestStormIsHidden(t *testing.T) {
	token := describe(1)[ruleOf("github-token")].Fire[0].Text[len("t: "):]
	plain := strings.Repeat("a line of plain words\n", 4<<10)
	storm := strings.Repeat("token ", 32<<10)
	key := armoured(keyBegin, keyEnd, "\n", body(1200)) // longer than the tail of a storm
	for _, c := range []struct {
		name, text, shown, hidden string
	}{
		{"in plain text", plain + storm + plain, "plain words", "token "},
		{"a token in the midst", storm + token + storm, "", token},
		{"a token at its end", storm + "= \"" + token + "\"", "", token},
		{"a token begun by its last keyword", plain + storm + "=" + token + "\n" + plain, "", token},
		{"a token far behind", storm + plain + "\n" + token + "\n" + plain, "", token},
		{"a token far before", token + "\n" + plain + storm, "", token},
		{"a key block begun in it", storm + "\n" + key + "\n" + plain, "", key[len(key)-200 : len(key)-100]},
	} {
		spans := Find(c.text)
		clean := Text{c.text, spans}.Masked()
		if c.shown != "" && !strings.Contains(clean, c.shown) {
			t.Errorf("%s: nothing is left", c.name)
		}
		if strings.Contains(clean, c.hidden) {
			t.Errorf("%s: %.60q is left", c.name, c.hidden)
		}
		stormy := false
		for _, p := range spans {
			stormy = stormy || p.Rule == ruleStorm
		}
		if !stormy {
			t.Errorf("%s: no storm", c.name)
		}
		var seen keywords.Seen
		seen.Look(c.text)
		found := FindIn(c.text, &seen)
		if masked := (Text{c.text, found.spans}).Masked(); strings.Contains(masked, c.hidden) {
			t.Errorf("%s: %.60q is left when looked through before", c.name, c.hidden)
		}
		again, _ := Redact(Text{Raw: c.text}, false, nil)
		if twice, changed := Redact(Text{Raw: again}, false, nil); changed || twice != again {
			t.Errorf("%s: redacting again changes it", c.name)
		}
	}
}

// Ordinary text is far from a storm, seventy kilobytes of empty settings included.
func TestNoStorm(t *testing.T) {
	for name, s := range map[string]string{
		"source":   source(t, 1<<20),
		"settings": strings.Repeat("\"api_key\": \"none\",\n\"password\": null,\n", 2000),
		"users":    strings.Repeat("{\"user\":\"ann\",\"password\":\"swordfish\",\"token\":\"abc123\"},", 4000),
		"list":     strings.Repeat("{\"key\": \"alpha\", \"value\": 1},\n", 4000),
	} {
		var seen keywords.Seen
		seen.Look(s)
		if n := len(seen.Storms()); n > 0 {
			t.Errorf("%s: %d storms", name, n)
		}
	}
}
