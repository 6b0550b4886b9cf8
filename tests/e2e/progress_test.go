package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestProgress: a call that asked for it is told how far it is, by rising
// numbers under its own token, and of nothing after its answer. One that did
// not ask is told nothing.
func TestProgress(t *testing.T) {
	dir, err := slow()
	if err != nil {
		t.Fatal(err)
	}
	settings := append([]string{fmt.Sprintf("MCP_SEARCH__DEADLINE_MS=%d", 2000*slower)}, slowly[1:]...)
	ask := func(id, token string) string {
		return strings.Replace(slowSearch(id), capable, capable+`,"progressToken":`+token, 1)
	}
	lines := map[string]string{"1": ask("1", `"a"`), "2": ask("2", "7"), "3": slowSearch("3")}
	tokens := map[string]string{"1": `"a"`, "2": "7"}

	t.Run("http", func(t *testing.T) {
		w := overHTTP(t, dir, settings...)
		type got struct {
			id string
			a  *answer
		}
		all := make(chan got)
		for id, line := range lines {
			go func() { all <- got{id, w.post(t, line)} }()
		}
		for range lines {
			g := <-all
			inspectProgress(t, g.id, tokens[g.id], g.a.messages)
			if stream := g.a.header.Get("Content-Type") == "text/event-stream"; stream != (tokens[g.id] != "") {
				t.Errorf("id %s comes as %s", g.id, g.a.header.Get("Content-Type"))
			}
		}
		// A client that takes no streams gets none.
		a := w.do(t, "POST", "/mcp", changed(lines["1"], "Accept: application/json"), lines["1"])
		if a.header.Get("Content-Type") != "application/json" || len(a.messages) != 1 {
			t.Errorf("%v %.300s", a.header, a.body)
		}
		w.terminate(t)
	})
	t.Run("stdio", func(t *testing.T) {
		c := stdio(t, dir, settings...)
		for _, line := range lines {
			c.send(line)
		}
		byToken := map[string][]*message{}
		for open := len(lines); open > 0; {
			m := c.next()
			if m.Method == "" {
				open--
				byToken[tokens[m.id()]] = append(byToken[tokens[m.id()]], m)
				continue
			}
			byToken[tokenOf(t, m)] = append(byToken[tokenOf(t, m)], m)
		}
		for id := range lines {
			inspectProgress(t, id, tokens[id], byToken[tokens[id]])
		}
		c.must()
	})
}

// A quick call that asked is told that it began, always, and whoever reads late.
func TestProgressOfQuickCalls(t *testing.T) {
	const calls = 50 // all at once
	quick := func(i int) string {
		return strings.Replace(call(fmt.Sprint(i), "read_file", `{"path":"main.go"}`), capable, fmt.Sprintf(`%s,"progressToken":"t%d"`, capable, i), 1)
	}
	check := func(t *testing.T, i int, messages []*message) {
		if len(messages) != 2 {
			t.Errorf("id %d: %d messages", i, len(messages))
			return
		}
		want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t%d","progress":0,"message":"started"}}`, i)
		if messages[0].Raw != want || messages[1].id() != fmt.Sprint(i) || messages[1].Result == nil {
			t.Errorf("id %d: %s and %.300s", i, messages[0].Raw, messages[1].Raw)
		}
	}
	t.Run("http", func(t *testing.T) {
		w := overHTTP(t, workspace, "MCP_LIMITS__RATE_LIMIT=false")
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				a := w.post(t, quick(i))
				if got := a.header.Get("Content-Type"); a.status != 200 || got != "text/event-stream" || a.header.Get("X-Accel-Buffering") != "no" {
					t.Errorf("id %d: status %d, %v", i, a.status, a.header)
				}
				check(t, i, a.messages)
			})
		}
		all.Wait()
		w.terminate(t)
	})
	t.Run("stdio", func(t *testing.T) {
		c := stdio(t, workspace, "MCP_LIMITS__RATE_LIMIT=false")
		for i := range calls {
			c.send(quick(i))
		}
		byToken := map[string][]*message{}
		for open := calls; open > 0; {
			m := c.next()
			of := `"t` + m.id() + `"`
			if m.Method != "" {
				of = tokenOf(t, m)
			} else {
				open--
			}
			byToken[of] = append(byToken[of], m)
		}
		for i := range calls {
			check(t, i, byToken[fmt.Sprintf(`"t%d"`, i)])
		}
		c.must()
	})
}

type progress struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Message  string          `json:"message"`
}

func tokenOf(t *testing.T, m *message) string {
	t.Helper()
	var p progress
	if err := json.Unmarshal(m.Params, &p); err != nil || m.Method != "notifications/progress" {
		t.Errorf("%v in %.300s", err, m.Raw)
	}
	return string(p.Token)
}

func inspectProgress(t *testing.T, id, token string, messages []*message) {
	t.Helper()
	if len(messages) == 0 || messages[len(messages)-1].id() != id {
		t.Fatalf("id %s: the answer is not the last of %d messages", id, len(messages))
	}
	last := -1.0
	for _, m := range messages[:len(messages)-1] {
		var p progress
		if err := json.Unmarshal(m.Params, &p); err != nil || m.ID != nil || string(p.Token) != token || p.Progress <= last || p.Message == "" {
			t.Errorf("id %s: after %v comes %.300s", id, last, m.Raw)
		}
		last = p.Progress
	}
	if n := len(messages) - 1; token == "" && n > 0 || token != "" && (n < 2 || n > 12*slower) {
		t.Errorf("id %s: %d notifications", id, n)
	}
}
