package tools_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-devserver/tools/internal/tooltest"
)

// slowTree is files with matches of slowPattern, and in some of them, behind a few matches, a line that takes the engine
// so long that it is given up if the bound of a match is short. large is longer than what is held whole.
func slowTree(t *testing.T, large bool) *tooltest.Fixture {
	f := tooltest.New(t, "")
	f.Env.Limits.MatchTimeout, f.Env.Limits.SearchDeadline = time.Minute, time.Minute
	bad := ""
	for spaces, took := 400, time.Duration(0); took < 25*time.Millisecond; spaces += spaces / 4 { // two ticks of the engine's clock
		bad = "x" + strings.Repeat(" ", spaces) + "!\n"
		f.Write("bad", []byte(bad))
		began := time.Now()
		f.Call("search_code", `{"pattern":"`+slowPattern+`","path":"bad"}`)
		took = time.Since(began)
	}
	f.Write("bad", nil)
	for i := range 12 {
		text := strings.Repeat("x   \nfiller\n", 3+i*5%11)
		switch i {
		case 1: // slow before its first match, within its matches, and behind its last
			text = bad + text
		case 3:
			text = text[:24] + bad + text[24:]
		case 6:
			text += bad
		}
		if large && i == 3 {
			text += strings.Repeat("more of this\n", 330_000)
		}
		f.Write(fmt.Sprintf("d%d/f%02d", i/5, i), []byte(text))
	}
	return f
}

const slowPattern = `x(\\s+)(\\s+)(?![^x])`

// units are what a page shows, in order.
func units(r *tooltest.Result) []string {
	var out []string
	for _, s := range strings.Split(found(r), " | ") {
		if path, count, ok := strings.Cut(s, "="); ok && count != "" {
			s = path
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Whether a file is given up may differ from page to page. No unit comes twice, none is passed over but in files that
// the page itself gave up, and where a page cannot know that, it says so.
func TestSearchPagesAcrossTimeouts(t *testing.T) {
	const short, long = 1, time.Minute
	doubts := 0
	for _, c := range []struct {
		mode  string
		limit int
		large bool
	}{{"content", 11, false}, {"content", 25, true}, {"files_with_matches", 2, false}, {"count", 2, false}} {
		f := slowTree(t, c.large)
		whole := fmt.Sprintf(`{"pattern":"%s","limit":1000,"output_mode":%q}`, slowPattern, c.mode)
		f.Env.Limits.MatchTimeout = long
		all := units(f.Call("search_code", whole))
		seeds := uint64(2)
		if c.large {
			seeds = 1
		}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 1))
			call := fmt.Sprintf(`{"pattern":"%s","limit":%d,"output_mode":%q}`, slowPattern, c.limit, c.mode)
			at := 0       // units of all that were shown, or lie in files given up
			outside := "" // of all pages until now
			var calls []string
			for n := 0; call != ""; n++ {
				f.Env.Limits.SearchWorkers = 1 + r.IntN(3)
				f.Env.Limits.MatchTimeout = long
				if r.IntN(2) == 0 {
					f.Env.Limits.MatchTimeout = short
				}
				a := f.Call("search_code", call)
				calls = append(calls, fmt.Sprintf("%v %s", f.Env.Limits.MatchTimeout, call))
				if a.Code == "pattern_timeout" { // nothing was searched
					break
				}
				if a.IsError || n > len(all) {
					t.Fatalf("%s\n%s", strings.Join(calls, "\n"), a.Text)
				}
				outside += a.Outside
				unsure := strings.Contains(a.Outside, "before this page")
				if unsure {
					doubts++
				}
				for _, u := range units(a) {
					i := slices.Index(all, u)
					if i < at {
						t.Fatalf("%s\n%s comes again\n%s", strings.Join(calls, "\n"), u, a.Text)
					}
					for _, lost := range all[at:i] {
						path, _, _ := strings.Cut(lost, ":")
						if !strings.Contains(outside, path) && !unsure {
							t.Fatalf("%s\n%s is lost\n%s", strings.Join(calls, "\n"), lost, a.Text)
						}
					}
					at = i + 1
				}
				call = ""
				if next, ok := a.Structured["next"].(map[string]any); ok {
					call = args(next["arguments"].(map[string]any))
				}
			}
		}
	}
	if doubts == 0 {
		t.Error("no page was ever in doubt: the test proves less than it says")
	}
}

// A page that begins at a file does not search those before it, and does not call its totals exact.
func TestSearchSkipFiles(t *testing.T) {
	f := tooltest.New(t, "")
	for i := range 9 {
		f.Write(fmt.Sprintf("f%d", i), []byte("needle\nneedle\n"))
	}
	r := f.Call("search_code", `{"pattern":"needle","skip_files":6,"offset":1,"limit":3}`)
	if found(r) != "f6:2:needle | f7:1:needle | f7:2:needle" || r.Structured["searched"] != 3.0 || r.Structured["totals_are_exact"] != false ||
		!strings.Contains(r.Outside, "6 files were passed over") {
		t.Errorf("%s", r.Text)
	}
	next := r.Structured["next"].(map[string]any)["arguments"].(map[string]any)
	if next["skip_files"] != 6.0 || next["offset"] != 4.0 {
		t.Errorf("%v", next)
	}
	if r := f.Call("search_code", args(next)); found(r) != "f8:1:needle | f8:2:needle" || r.Structured["complete"] != true || r.Structured["totals_are_exact"] != false {
		t.Errorf("%s", r.Text)
	}
	if r := f.Call("search_code", `{"pattern":"needle","path":"f3","skip_files":1}`); found(r) != "" || r.Structured["searched"] != 0.0 || r.Structured["totals_are_exact"] != false {
		t.Errorf("%s", r.Text)
	}
}

// A search whose time runs out goes on where it came to: its pages together are what one search without a deadline gives,
// but for what lies behind the place of a file that a whole search was spent on.
func TestSearchGoesOnAfterTheDeadline(t *testing.T) {
	f := slowTree(t, false)
	all := map[string][]string{}
	began := time.Now()
	for _, mode := range []string{"content", "files_with_matches", "count"} {
		all[mode] = units(f.Call("search_code", fmt.Sprintf(`{"pattern":"%s","limit":1000,"output_mode":%q}`, slowPattern, mode)))
	}
	share := time.Since(began) / 12
	f.Env.Limits.SearchWorkers = 2
	pages, ended := 0, 0
	for try := 0; ended == 0 && try < 5; try, share = try+1, share/2 {
		for mode, want := range all {
			p, e := pagesByDeadline(t, f, mode, want, share)
			pages, ended = pages+p, ended+e
		}
	}
	t.Logf("%d pages, %d of them ended by the deadline", pages, ended)
	if ended == 0 {
		t.Error("the deadline never ended a search: the test proves nothing")
	}
}

func pagesByDeadline(t *testing.T, f *tooltest.Fixture, mode string, want []string, limit time.Duration) (pages, ended int) {
	call := fmt.Sprintf(`{"pattern":"%s","limit":20,"output_mode":%q}`, slowPattern, mode)
	at, late := 0, ""
	pass := func(to int) {
		for _, lost := range want[at:to] {
			if path, _, _ := strings.Cut(lost, ":"); !strings.Contains(late, "ran out in "+path) {
				t.Fatalf("%s: %s is lost", mode, lost)
			}
		}
	}
	for n := 0; call != ""; n++ {
		f.Env.Limits.SearchDeadline = limit
		a := f.Call("search_code", call)
		if a.IsError || n > 200 {
			t.Fatalf("%s: %s", mode, a.Text)
		}
		if a.Structured["stopped"] == "time" {
			ended++
			late += a.Outside
		}
		for _, u := range units(a) {
			i := slices.Index(want, u)
			if i < at {
				t.Fatalf("%s: %s comes again\n%s", mode, u, a.Text)
			}
			pass(i)
			at = i + 1
		}
		next, ok := a.Structured["next"].(map[string]any)
		switch {
		case ok:
			call = args(next["arguments"].(map[string]any))
			pages++
		case a.Structured["complete"] == true:
			call = ""
		case limit > time.Minute:
			t.Fatalf("%s: no next: %s", mode, a.Text)
		default: // it did not come to the first file, or to where the page begins in it
			limit *= 2
		}
	}
	pass(len(want))
	return pages, ended
}
