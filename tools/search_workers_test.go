package tools_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tools"
	"mcp-devserver/tools/internal/tooltest"
)

// workerTree is files of every fate, with matches in clusters, so that pages end anywhere in a file.
func workerTree(t *testing.T, files int) *tooltest.Fixture {
	f := tooltest.New(t, "")
	r := rand.New(rand.NewPCG(3, 4))
	for i := 0; i < files; i++ {
		var b strings.Builder
		for k := r.IntN(12); k > 0; k-- {
			fmt.Fprintf(&b, "func f%d() {\n\tneedle%d\n}\n", k, k)
			if r.IntN(6) == 0 {
				b.WriteString(strings.Repeat("needle ", 1<<r.IntN(14)) + "\n")
			}
			if r.IntN(8) == 0 {
				b.WriteString("broken \xff needle\n")
			}
		}
		switch r.IntN(20) {
		case 0:
			b.WriteString("\x00")
		case 1:
			b.WriteString("password = \"Zq7Rk2needleXw9Lp4\"\n")
		case 2:
			b.WriteString(strings.Repeat("x", 300<<10) + "\nneedle at the end")
		}
		f.Write(fmt.Sprintf("d%02d/e%d/f%03d.go", r.IntN(12), r.IntN(3), i), []byte(b.String()))
	}
	for i := range 12 { // counted as they are met, which is ahead of the search
		f.Write(fmt.Sprintf("d%02d/node_modules/x.js", i), []byte("needle"))
	}
	f.Write("d05/long.txt", []byte(strings.Repeat("y", 2<<20)+"\nneedle\n"+strings.Repeat("filler\n", 400_000)+"needle"))
	return f
}

var nonce = regexp.MustCompile(`"nonce":"[0-9a-f]*"`)

// The answer, byte by byte, does not depend on how many workers there are.
func TestSearchWorkers(t *testing.T) {
	f := workerTree(t, 60)
	for _, args := range []string{
		`{"pattern":"needle"}`, `{"pattern":"needle","offset":37}`, `{"pattern":"needle","offset":130,"limit":30}`, `{"pattern":"needle","offset":300,"limit":5}`,
		`{"pattern":"needle","limit":1}`, `{"pattern":"ne{2}dle","limit":1000}`, `{"pattern":"needle9"}`, `{"pattern":"needle at the end"}`, `{"pattern":"no such thing"}`,
		`{"pattern":"needle\\d","output_mode":"count"}`, `{"pattern":"needle","output_mode":"files_with_matches","limit":20,"offset":10}`,
		`{"pattern":"needle\\d\\n\\}","multiline":true,"limit":50}`, `{"pattern":"needle","context_lines":2,"limit":60,"offset":60}`, `{"pattern":"\\bx{3,}","glob":"d0*/**"}`,
	} {
		want := ""
		for _, n := range []int{1, 2, 8} {
			f.Env.Limits.SearchWorkers = n
			r := f.Call("search_code", args)
			if got := nonce.ReplaceAllString(string(r.JSON), ""); want == "" {
				want = got
			} else if got != want {
				i := 0
				for i < min(len(want), len(got)) && want[i] == got[i] {
					i++
				}
				t.Errorf("%s: %d workers answer otherwise from byte %d on:\n%.200s\n%.200s", args, n, i, want[max(i-60, 0):], got[max(i-60, 0):])
			}
		}
	}
}

// With memory for one large file at a time, workers wait for each other and none is refused.
func TestSearchWorkersShareMemory(t *testing.T) {
	f := tooltest.New(t, "")
	for i := 0; i < 8; i++ {
		f.Write(fmt.Sprintf("f%02d", i), []byte(strings.Repeat("line of text\n", 120_000)+"needle\n"))
	}
	f.Env.Memory = tools.NewMemory(8<<20, time.Millisecond)
	f.Env.Limits.SearchWorkers = 8
	if r := f.Call("search_code", `{"pattern":"needle","output_mode":"count"}`); r.IsError || r.Structured["matches"] != 8.0 {
		t.Errorf("%.500s", r.Text)
	}
	if release, err := f.Env.Memory.Hold(context.Background(), 8<<20); err != nil {
		t.Errorf("memory is still held: %v", err)
	} else {
		release()
	}
}

// A search that has its page stops: it does not go on to the end of the tree.
func TestSearchStopsAtThePage(t *testing.T) {
	f := tooltest.New(t, "")
	for i := 0; i < 3000; i++ {
		f.Write(fmt.Sprintf("d%02d/f%04d", i/100, i), []byte("needle\n"))
	}
	f.Env.Limits.SearchWorkers = 2
	r := f.Call("search_code", `{"pattern":"needle","limit":10}`)
	if r.Structured["searched"] != 11.0 || r.Structured["stopped"] != "limit" {
		t.Errorf("%.300s", r.Text)
	}
}
