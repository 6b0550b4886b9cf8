package tools_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tools"
	"mcp-devserver/tools/internal/tooltest"
)

// A file whose text takes more bytes than the file takes that much memory, or says that it is too large; nothing of it
// stays held.
func TestSearchTextLongerThanItsFile(t *testing.T) {
	f := tooltest.New(t, "")
	f.Env.Memory = tools.NewMemory(64<<20, time.Millisecond)
	wide := func(s string) (b []byte) { // UTF-16, each unit of which takes three bytes
		b = []byte("\xff\xfe")
		for _, c := range s {
			b = append(b, byte(c), byte(c>>8))
		}
		return b
	}
	f.Write("wide", wide(strings.Repeat(strings.Repeat("\u4e00", 99)+"\n", 10_000)+"needle\n"))
	f.Write("broken", []byte(strings.Repeat(strings.Repeat("\xff", 99)+"\n", 10_000)+"needle\n"))
	f.Write("small", []byte(strings.Repeat("\xff", 200<<10)+"\nneedle\n"))
	f.Write("huge", []byte(strings.Repeat("\xff", 3<<20)+"\nneedle\n"))
	for _, c := range []struct{ args, found, skipped string }{
		{`{"pattern":"needle","output_mode":"count"}`, "broken=1 | huge=1 | small=1 | wide=1", "null"},
		{`{"pattern":"needle$","output_mode":"count","multiline":true}`, "broken=1 | small=1 | wide=1", `{"too_large":1}`},
	} {
		r := f.Call("search_code", c.args)
		if got := strings.Join(strings.Fields(found(r)), " "); got != c.found || skipped(r) != c.skipped && skipped(r) != "{}" {
			t.Errorf("%s: %s %s\n%s", c.args, got, skipped(r), r.Text)
		}
	}
	release, err := f.Env.Memory.Hold(context.Background(), 64<<20)
	if err != nil {
		t.Fatalf("memory is still held: %v", err)
	}
	release()
}
