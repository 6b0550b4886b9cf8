package secrets

import (
	"strings"
	"testing"
)

// A value that does not follow its sign at once is found, and what is none is left.
func TestValueElsewhere(t *testing.T) {
	const key = "Xb7DvQripJ4VFiqc9XfvK2mW"
	for name, text := range map[string]string{
		"literal block":        "data:\n  password: |\n    KEY\n  next: ok\n",
		"folded block":         "password: >-\n  KEY\n",
		"block, CRLF":          "password: |\r\n  KEY\r\nnext: ok\r\n",
		"block at the end":     "token: |2-\n  KEY",
		"continued line":       "export SECRET_TOKEN=\\\nKEY\n",
		"moved down, =":        "const apiToken =\n  \"KEY\";\n",
		"moved down, :":        "  apiToken:\n    'KEY',\n",
		"triple quotes":        "password = \"\"\"KEY\"\"\"\n",
		"triple quotes, lines": "secret_key = '''\nKEY\n'''\n",
		"colour of both":       "\x1b[32mpassword\x1b[0m=\x1b[33mKEY\x1b[0m\n",
		"colour of the value":  "password: \x1b[1;33mKEY\x1b[0m\n",
		"colour of the name":   "\x1b[32mtoken\x1b[0m: KEY\n",
	} {
		text = strings.ReplaceAll(text, "KEY", key)
		spans := Find(text)
		if len(spans) != 1 || text[spans[0].Start:spans[0].End] != key {
			t.Errorf("%s: %q gives %v", name, text, spans)
		}
	}
	for name, text := range map[string]string{
		"mapping below":      "\"tokens\":\n  \"KEY\": 1\n",
		"prose in a block":   "password: |\n  KEY is how it is called\n",
		"prose in quotes":    "password = \"\"\"\n  KEY is how it is called\n\"\"\"\n",
		"union of types":     "password: | KEY\n",
		"name on next line":  "token =\n  KEY\n",
		"open triple quotes": "password = \"\"\"KEY\n",
	} {
		if text = strings.ReplaceAll(text, "KEY", key); len(Find(text)) != 0 {
			t.Errorf("%s: %q gives %v", name, text, Find(text))
		}
	}
}
