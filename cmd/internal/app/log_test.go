package app

import (
	"errors"
	"strings"
	"testing"

	"mcp-devserver/stages"
)

// TestClientsWordsInTheLog: what a client says about itself, and what a fault
// quotes, reaches the log on one line and without its secrets.
func TestClientsWordsInTheLog(t *testing.T) {
	secret := "Q3EGRZ7TPXN5BLDW"
	key := "AKIA" + secret
	for trick, r := range map[string]stages.Report{
		"name of the client":                {Method: "tools/list", Client: key},
		"name of a client from before":      {Method: "initialize", Client: key, Legacy: true},
		"reason of a cancellation":          {Method: "notifications/cancelled", Cancelled: 1, Reason: "since " + key},
		"cause of a fault":                  {Method: "tools/call", Tool: "read_file", Reference: "1", Cause: errors.New("open " + key + "\nforged: line")},
		"name of a client with a long name": {Method: "tools/call", Tool: "read_file", Client: strings.Repeat("x ", 20) + key},
	} {
		var b strings.Builder
		audit(Logger(&b, "trace"), "stdio")(&r)
		if strings.Contains(b.String(), secret[:4]) || !strings.Contains(b.String(), "redacted") {
			t.Errorf("%s: %s", trick, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "{") {
				t.Errorf("%s: a line of its own: %s", trick, line)
			}
		}
	}
}
