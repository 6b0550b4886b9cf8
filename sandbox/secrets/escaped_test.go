package secrets

import (
	"strings"
	"testing"
)

// Letters of a JSON key that are escaped say what the letters say.
func TestEscapedNames(t *testing.T) {
	const value = "Xk29fjQpL0vRz8"
	for _, c := range []struct {
		name, text string
		found      int
	}{
		{"one letter", `{"pass\u0077ord":"` + value + `"}`, 1},
		{"the first letter", `{"\u0070assword": "` + value + `"}`, 1},
		{"the last letter", `{"passwor\u0064" : "` + value + `"}`, 1},
		{"every letter", `{"\u0074\u006F\u006b\u0065\u006e":"` + value + `"}`, 1},
		{"a capital", `{"db\u0050assword":"` + value + `"}`, 1},
		{"an underscore", `{"client\u005fsecr\u0065t":"` + value + `"}`, 1},
		{"two keys", `{"t\u006fken":"` + value + `","pa\u0073s":"` + value + `"}`, 2},
		{"a key without it before", `{"caf\u0065":"` + value + `","pa\u0073s":"` + value + `"}`, 1},
		{"another name", `{"caf\u0065":"` + value + `"}`, 0},
		{"a longer word", `{"comp\u0061ss":"` + value + `"}`, 0},
		{"a name about a password", `{"pass\u0077ordFile":"` + value + `"}`, 0},
		{"the escape is a quote", `{"password\u0022x":"` + value + `"}`, 0},
		{"no hexadecimal digits", `{"pass\u00zzword":"` + value + `"}`, 0},
		{"a value, not a key", `{"x":"pass\u0077ord"}`, 0},
		{"a word of a label", `{"pass\u0077ord":"required"}`, 0},
		{"too long for a name", `{"` + strings.Repeat("a", maxEscaped) + `pass\u0077ord":"` + value + `"}`, 0},
		{"cut off", `{"pass\u0077`, 0},
		{"cut off within", `{"pass\u007`, 0},
	} {
		got := Find(c.text)
		if len(got) != c.found {
			t.Errorf("%s: %s: %d found, want %d", c.name, c.text, len(got), c.found)
		}
		for _, p := range got {
			if c.text[p.Start:p.End] != value {
				t.Errorf("%s: %s", c.name, show(c.text, got))
			}
		}
	}
}
