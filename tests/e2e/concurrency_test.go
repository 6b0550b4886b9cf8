package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// soon is a bound on what must not wait for the workers. Unhindered it takes
// milliseconds; a search takes many seconds.
const soon = 2 * slower * time.Second

// TestBusyServer: with every worker busy, what needs no worker is answered at
// once, a cancellation gets through, and a call that waited runs when a place
// is free.
func TestBusyServer(t *testing.T) {
	c, _ := slowly8(t, "MCP_LOG__LEVEL=debug")
	c.send(call(`"ninth"`, "read_file", `{"path":"a.txt"}`))
	for _, line := range []string{discover(`"d"`), request(`"l"`, "tools/list", ""), `[]`, call(`"bad"`, "read_file", `{}`)} {
		began := time.Now()
		m := c.exchange(line, 1)[0] // not the ninth call: nobody is free
		if took := time.Since(began); took > soon || m.id() == `"ninth"` || m.id() == "1" {
			t.Errorf("%.60s: %.200s after %v", line, m.Raw, took)
		}
	}
	began := time.Now()
	c.send(cancelled("1"))
	m := c.next()
	if took := time.Since(began); m.id() != `"ninth"` || m.Result == nil || took > soon {
		t.Errorf("after the cancellation: %.200s after %v", m.Raw, took)
	}
	for i := 2; i <= 8; i++ {
		c.send(cancelled(fmt.Sprint(i)))
	}
	began = time.Now()
	for i := range 8 {
		id := fmt.Sprintf(`"after %d"`, i)
		if m := c.exchange(call(id, "read_file", `{"path":"a.txt"}`), 1)[0]; m.id() != id || m.Result == nil {
			t.Errorf("%.200s", m.Raw)
		}
	}
	if took := time.Since(began); took > soon {
		t.Errorf("the workers are free after %v", took)
	}
	c.must() // nothing comes for what was cancelled
	if !strings.Contains(c.stderr.String(), `"reason":"test"`) {
		t.Error("the log does not say why a call was cancelled")
	}
}

// TestQueueIsBounded: beyond the queue a call is answered at once, and says
// that it can be sent again.
func TestQueueIsBounded(t *testing.T) {
	const sent, queue = 120, 64
	c, _ := slowly8(t)
	for i := range sent {
		c.send(call(fmt.Sprint(100+i), "read_file", `{"path":"a.txt"}`))
	}
	seen := map[string]bool{}
	for range sent - queue - 8 { // at most the queue and the workers hold calls
		m := c.next()
		if m.denial() != "busy" || seen[m.id()] {
			t.Fatalf("%.300s", m.Raw)
		}
		seen[m.id()] = true
	}
	for i := 1; i <= 8; i++ {
		c.send(cancelled(fmt.Sprint(i)))
	}
	busy := len(seen)
	for len(seen) < sent {
		m := c.next()
		if seen[m.id()] || m.Result == nil {
			t.Fatalf("%.300s", m.Raw)
		}
		if m.denial() == "busy" {
			busy++
		}
		seen[m.id()] = true
	}
	if ran := sent - busy; ran < queue-8 || ran > queue+8 {
		t.Errorf("%d calls waited, the queue takes %d", ran, queue)
	}
	c.must()
}

// TestInterleaved: fifty requests of many kinds at once are each answered once,
// and as they are alone.
func TestInterleaved(t *testing.T) {
	var lines []string
	for i := range 50 {
		all := answers()
		lines = append(lines, strings.Replace(all[i%len(all)].line, `"id":7`, fmt.Sprintf(`"id":%d`, i), 1))
	}
	alone := map[string]string{}
	c := stdio(t, workspace, "MCP_LIMITS__RATE_LIMIT=false")
	for _, l := range lines {
		m := c.exchange(l, 1)[0]
		alone[m.id()] = masked(m.Raw)
	}
	c.must()
	c = stdio(t, workspace, "MCP_LIMITS__RATE_LIMIT=false")
	for range 4 {
		c.write(strings.Join(lines, "\n") + "\n")
		seen := map[string]bool{}
		for range lines {
			m := c.next()
			if seen[m.id()] {
				t.Errorf("%s is answered twice", m.id())
			}
			seen[m.id()] = true
			if got := masked(m.Raw); got != alone[m.id()] {
				t.Errorf("among others: %.300s\nalone: %.300s", got, alone[m.id()])
			}
		}
	}
	c.must()
}

// TestCancelRaces: whether a cancellation comes before its call has begun,
// while it runs, or after the answer, there is one whole answer or none.
func TestCancelRaces(t *testing.T) {
	const rounds = 1000
	c := stdio(t, workspace, "MCP_LIMITS__RATE_LIMIT=false", "MCP_LOG__LEVEL=error")
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[string]int{}
	receive := func(until string) {
		for {
			m := c.next()
			if m.Result == nil && m.Error == nil {
				t.Errorf("%.200s", m.Raw)
			}
			if seen[m.id()]++; m.id() == until {
				return
			}
		}
	}
	kinds := map[string]string{
		"read_file": `{"path":"long.txt"}`, "search_code": `{"pattern":"line \\d+7 of","output_mode":"count"}`, "list_directory": `{"depth":3}`,
		"find_symbol": `{"name":"Server"}`,
	}
	names := []string{"read_file", "search_code", "list_directory", "find_symbol"}
	for i := range rounds {
		name := names[r.IntN(len(names))]
		id, mark := fmt.Sprint(i), fmt.Sprintf(`"mark %d"`, i)
		line, stop := call(id, name, kinds[name]), cancelled(id)
		switch r.IntN(4) {
		case 0: // in the same breath
			c.write(line + "\n" + stop + "\n")
		case 1: // something else is answered in between
			c.send(line)
			c.send(discover(mark))
			receive(mark)
			c.send(stop)
		case 2: // the cancellation overtakes, and is for nothing yet
			c.write(stop + "\n" + line + "\n" + stop + "\n")
		case 3: // after the answer
			if i%10 != 0 {
				c.write(line + "\n" + discover(mark) + "\n" + stop + "\n")
				receive(mark)
				break
			}
			c.send(line)
			receive(id)
			c.send(stop)
		}
		if i%16 == 0 { // keep up with what comes back
			keep := fmt.Sprintf(`"keep %d"`, i)
			c.send(discover(keep))
			receive(keep)
		}
	}
	code, took, rest := c.end()
	for _, m := range rest {
		seen[m.id()]++
	}
	if code != 0 || took > 6*slower*time.Second {
		t.Errorf("exit code %d after %v", code, took)
	}
	answered := 0
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is answered %d times", id, n)
		}
		if !strings.HasPrefix(id, `"`) {
			answered++
		}
	}
	if answered == 0 || answered == rounds {
		t.Errorf("%d of %d calls were answered: the race has one outcome only", answered, rounds)
	}
	t.Logf("%d of %d calls were answered, the others cancelled", answered, rounds)
}

// TestSameID: a client that uses an id twice at once gets both answers, and a
// cancellation ends both calls.
func TestSameID(t *testing.T) {
	c, _ := slowly8(t)
	for i := 1; i <= 8; i++ {
		c.send(cancelled(fmt.Sprint(i)))
	}
	c.write(slowSearch("7") + "\n" + slowSearch("7") + "\n")
	c.exchange(discover("10"), 1)
	c.send(cancelled("7"))
	for range 2 {
		if m := c.exchange(call("7", "read_file", `{"path":"a.txt"}`), 1)[0]; m.id() != "7" || m.Result == nil || !strings.Contains(m.Raw, "here") {
			t.Errorf("%.200s", m.Raw)
		}
	}
	c.write(call("7", "read_file", `{"path":"a.txt"}`) + "\n" + call("7", "list_directory", `{}`) + "\n")
	a, b := c.next(), c.next()
	if a.id() != "7" || b.id() != "7" || a.Raw == b.Raw {
		t.Errorf("%.200s\n%.200s", a.Raw, b.Raw)
	}
	c.must()
}

// TestStateless: a request is judged by itself, whatever came before it.
func TestStateless(t *testing.T) {
	c := stdio(t, workspace)
	if m := c.exchange(discover("1"), 1)[0]; m.Result == nil {
		t.Fatal(m.Raw)
	}
	if m := c.exchange(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{}}}`, 1)[0]; m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("an earlier envelope counts: %.200s", m.Raw)
	}
	if m := c.exchange(strings.Replace(discover("3"), revision, "2025-11-25", 1), 1)[0]; m.Error == nil || m.Error.Code != -32022 {
		t.Errorf("an earlier version counts: %.200s", m.Raw)
	}
	line := call("4", "read_file", `{"path":"go.mod"}`)
	want := masked(c.exchange(line, 1)[0].Raw)
	for _, meta := range []string{
		`"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}`,
		`"io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2","title":"admin"}`,
		`"io.modelcontextprotocol/clientInfo":7`,
		`"traceparent":"garbage"`,
		`"io.modelcontextprotocol/logLevel":"debug"`,
	} {
		if got := masked(c.exchange(strings.Replace(line, capable, capable+","+meta, 1), 1)[0].Raw); got != want {
			t.Errorf("%s changes the answer: %.300s", meta, got)
		}
	}
	c.must()
	// The first message may name any version.
	c = stdio(t, workspace)
	if m := c.exchange(strings.Replace(discover("1"), revision, "2099-01-01", 1), 1)[0]; m.Error == nil || m.Error.Code != -32022 {
		t.Errorf("%.200s", m.Raw)
	}
	c.must()
}

// TestRate: calls beyond the rate are refused with a result that says when to
// come back; what is no call is not counted.
func TestRate(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			s := tr.start(t, workspace, "MCP_LIMITS__RATE_BURST=16", "MCP_LIMITS__RATE_PER_SECOND=1")
			limited := 0
			for range 60 {
				m := s.send(t, call("7", "read_file", `{"path":"go.mod"}`), 1, 200)[0]
				switch m.denial() {
				case "rate_limited":
					limited++
				case "":
					if m.Result == nil {
						t.Errorf("%.300s", m.Raw)
					}
				default:
					t.Errorf("%.300s", m.Raw)
				}
				if m := s.send(t, discover("8"), 1, 200)[0]; m.Result == nil {
					t.Errorf("%.300s", m.Raw)
				}
			}
			if limited < 20 || limited > 44 {
				t.Errorf("%d of 60 calls were refused, 44 are beyond the burst", limited)
			}
			s.end(t)
		})
	}
}
