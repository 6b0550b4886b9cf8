package tools_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tools"
	"mcp-devserver/tools/internal/tooltest"
)

// Whatever ends a search early, the answer says so and says that absence is not proven.
func TestSearchCeilings(t *testing.T) {
	f := tooltest.New(t, "")
	for i := 0; i < 200; i++ {
		text := "nothing"
		if i == 150 {
			text = "needle"
		}
		f.Write(fmt.Sprintf("f%03d", i), []byte(text))
	}
	f.Env.Limits.WalkMaxEntries = 100
	r := f.Call("search_code", `{"pattern":"needle"}`)
	if r.Structured["complete"] != false || r.Structured["stopped"] != "limit" || r.Structured["searched"] != 100.0 || !strings.Contains(r.Outside, "absence is not proven") {
		t.Errorf("%s", r.Text)
	}
	f.Env.Limits.WalkMaxEntries = 1000
	f.Env.Limits.SearchDeadline = time.Nanosecond
	r = f.Call("search_code", `{"pattern":"needle"}`)
	if r.IsError || r.Structured["complete"] != false || r.Structured["stopped"] != "time" || !strings.Contains(r.Outside, "absence is not proven") {
		t.Errorf("%s", r.Text)
	}
	f.Env.Limits = tools.DefaultLimits()
	f.Env.Limits.SearchMaxMatches = 2
	if r = f.Call("search_code", `{"pattern":"nothing"}`); strings.Count(found(r), "|") != 1 || r.Structured["stopped"] != "limit" {
		t.Errorf("%s", r.JSON)
	}
	f.Env.Limits.PatternChars = 5
	if r = f.Call("search_code", `{"pattern":"needle"}`); r.Code != "invalid_pattern" {
		t.Errorf("%s", r.Text)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f.Env.Limits = tools.DefaultLimits()
	if _, err := f.CallContext(ctx, "search_code", `{"pattern":"needle"}`); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// A pattern that is slow on one file skips that file and says so; slow on all, it is refused. The whole call keeps its
// deadline however many files there are.
func TestSearchSlowPattern(t *testing.T) {
	f := tooltest.New(t, "")
	bad := "x" + strings.Repeat(" ", 20_000) + "!\n"
	// The prefilter takes a lookahead as met, so that these lines reach the engine.
	const slow = `{"pattern":"x(\\s+)(\\s+)(\\s+)(?![^x])"}`
	f.Env.Limits.MatchTimeout = 20 * time.Millisecond
	f.Write("bad", []byte("x    \n"+bad))
	if r := f.Call("search_code", slow); r.Code != "pattern_timeout" {
		t.Errorf("slow everywhere: %s", r.Text)
	}
	f.Write("good", []byte("x    \n"))
	r := f.Call("search_code", slow)
	if found(r) != "good:1:x    " || skipped(r) != `{"timeout":1}` || r.Structured["complete"] != false || r.Structured["totals_are_exact"] != false ||
		!strings.Contains(r.Outside, "too long on 1 file, which counts as not searched: bad\n") {
		t.Errorf("%s", r.Text)
	}
	for i := 0; i < 200; i++ {
		f.Write(fmt.Sprintf("bad%03d", i), []byte(bad))
	}
	f.Env.Limits.SearchDeadline = 300 * time.Millisecond
	began := time.Now()
	r = f.Call("search_code", slow)
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("took %v", d)
	}
	if r.Code != "pattern_timeout" && r.Structured["complete"] != false {
		t.Errorf("%s", r.Text)
	}
}

// The ladder: context goes first, then long lines are narrowed, then only counts are left; each step says its name.
func TestSearchLadder(t *testing.T) {
	f := tooltest.New(t, "")
	write := func(files, lines, width int) {
		for i := 0; i < files; i++ {
			f.Write(fmt.Sprintf("d%d/file%03d.txt", i%9, i), []byte(strings.Repeat(strings.Repeat("w", width)+" needle\n"+strings.Repeat("c", width)+"\n", lines)))
		}
	}
	for _, c := range []struct {
		files, lines, width int
		args, want          string
	}{
		{5, 2, 10, `{"pattern":"needle"}`, "none"},
		{10, 10, 150, `{"pattern":"needle","context_lines":3}`, "context_dropped"},
		{10, 10, 400, `{"pattern":"needle"}`, "lines_cut"},
		{10, 100, 100, `{"pattern":"needle","limit":1000}`, "counts_only"},
	} {
		os.RemoveAll(f.Root)
		os.Mkdir(f.Root, 0o755)
		fresh := tooltest.New(t, "")
		f.Root, f.Env = fresh.Root, fresh.Env
		write(c.files, c.lines, c.width)
		r := f.Call("search_code", c.args)
		if r.Structured["shortened"] != c.want {
			t.Errorf("%s: shortened %v, want %s", c.args, r.Structured["shortened"], c.want)
		}
		if c.want == "counts_only" {
			next := r.Structured["next"].(map[string]any)["arguments"].(map[string]any)
			if again := f.Call("search_code", args(next)); again.Structured["shortened"] == "counts_only" {
				t.Error("the call that next spells does not show matches either")
			}
			if r.Structured["complete"] != false || r.Structured["stopped"] != "chars" || !strings.Contains(found(r), "=100") {
				t.Errorf("%.300s", r.JSON)
			}
		}
	}
}

// So many files that even their names do not fit: the list is cut between names and goes on.
func TestSearchManyFiles(t *testing.T) {
	f := tooltest.New(t, "")
	for i := 0; i < 900; i++ {
		f.Write(fmt.Sprintf("%s/f%03d", strings.Repeat("n", 100), i), []byte("needle\n"))
	}
	for _, mode := range []string{"files_with_matches", "count"} {
		seen := map[string]bool{}
		for call := args(map[string]any{"pattern": "needle", "output_mode": mode, "limit": 1000}); ; {
			r := f.Call("search_code", call)
			for _, s := range strings.Split(found(r), " | ") {
				seen[s] = true
			}
			next, more := r.Structured["next"].(map[string]any)
			if !more {
				break
			}
			if r.Structured["stopped"] != "chars" || r.Structured["complete"] != false {
				t.Fatalf("%.300s", r.JSON)
			}
			call = args(next["arguments"].(map[string]any))
		}
		if len(seen) != 900 {
			t.Errorf("%s: %d of 900 files", mode, len(seen))
		}
	}
}

// What was found before time ran out is answered.
func TestSearchPartialAtTheDeadline(t *testing.T) {
	f := tooltest.New(t, "")
	f.Write("a", []byte("x    \n"))
	bad := "x" + strings.Repeat(" ", 20_000) + "!\n"
	for i := 0; i < 50; i++ {
		f.Write(fmt.Sprintf("b%02d", i), []byte("x    \n"+bad))
	}
	f.Env.Limits.SearchDeadline = 250 * time.Millisecond
	f.Env.Limits.MatchTimeout = 100 * time.Millisecond
	r := f.Call("search_code", `{"pattern":"x(\\s+)(\\s+)(\\s+)(?![^x])"}`)
	if r.IsError || !strings.HasPrefix(found(r), "a:1:x    ") || r.Structured["stopped"] != "time" || r.Structured["complete"] != false ||
		!strings.Contains(r.Outside, "time ran out in b") || !strings.Contains(r.Outside, "in the order of paths was not searched") {
		t.Errorf("%s", r.Text)
	}
}

// A pattern that the engine must try on every line ends at the deadline. What was counted until then is what lies before
// the file that the answer names.
func TestSearchBackreferenceAtTheDeadline(t *testing.T) {
	f := tooltest.New(t, "")
	text := strings.Repeat("some words that that are not all alike, and more words of that kind\n", 4000)
	for i := 0; i < 150; i++ {
		f.Write(fmt.Sprintf("d%02d/f%03d", i/20, i), []byte(text))
	}
	f.Env.Limits.MatchTimeout, f.Env.Limits.SearchWorkers = time.Second, 2
	var r *tooltest.Result
	for limit := 125 * time.Millisecond; ; limit *= 2 { // a busy machine may not come to the first file
		f.Env.Limits.SearchDeadline = limit
		began := time.Now()
		r = f.Call("search_code", `{"pattern":"\\b(\\w{3,})\\s+\\1\\b","output_mode":"count","limit":1000}`)
		if d := time.Since(began); d > limit+5*time.Second {
			t.Errorf("took %v", d)
		}
		if limit > time.Second || !strings.Contains(r.Outside, "before a file was searched") {
			break
		}
	}
	if r.IsError || r.Structured["complete"] != false || r.Structured["stopped"] != "time" || r.Structured["totals_are_exact"] != false {
		t.Fatalf("%s", r.Text)
	}
	at := regexp.MustCompile(`time ran out (?:in|behind) (\S+);`).FindStringSubmatch(r.Outside)
	if at == nil {
		t.Fatalf("%s", r.Outside)
	}
	list := r.Structured["results"].([]any)
	for i, x := range list {
		h := x.(map[string]any)
		if p := h["path"].(string); p > at[1] || h["count"] != 4000.0 && (p != at[1] || i != len(list)-1) {
			t.Errorf("%v with time up at %s", h, at[1])
		}
	}
}

// Arguments at their longest still leave room for an answer.
func TestSearchLongArguments(t *testing.T) {
	f := tooltest.New(t, "")
	deep := strings.Repeat(strings.Repeat("d", 200)+"/", 18)
	for i := 0; i < 400; i++ {
		f.Write(fmt.Sprintf("%sf%03d", deep, i), []byte(strings.Repeat("n", 900)+"\n"))
	}
	for _, mode := range []string{"content", "files_with_matches", "count"} {
		r := f.Call("search_code", args(map[string]any{"pattern": strings.Repeat("n", 900), "path": deep, "glob": "**/" + strings.Repeat("*", 500), "output_mode": mode, "limit": 350}))
		if r.IsError || r.Structured["complete"] != false || r.Structured["next"] == nil || len(r.Structured["results"].([]any)) == 0 {
			t.Errorf("%s: %.500s", mode, r.JSON)
		}
	}
	if r := f.Call("list_directory", args(map[string]any{"path": deep, "glob": "**/" + strings.Repeat("*", 500)})); r.IsError || len(r.Structured["folders"].([]any)) == 0 {
		t.Errorf("%.500s", r.JSON)
	}
}
