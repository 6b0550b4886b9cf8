package security

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// attempt is one way to get at what is outside or withheld, written as a tree
// and a path. It goes through every door.
type attempt struct {
	trick string
	tree  []string
	path  string   // WS and OUT are the absolute folders
	want  []string // the codes that may come
	// harmless says why the path gives nothing away even without a guard; when
	// it is empty, plain os calls on the same path do.
	harmless string
}

var (
	outside = []string{"outside_workspace"}
	denied  = []string{"denied_path"}
	invalid = []string{"invalid_path"}
	// A name that merely does not exist. The git tools ask git about what is not
	// on disk, and this repository has no commits: they answer that nothing is
	// known of it.
	missing = []string{"not_found", "unknown_revision", ""}
)

// quick is how long a refusal may take on a machine that does little else.
const quick = 100 * time.Millisecond

// attack sends every attempt through every door, with what is outside there and
// gone: neither may show, and no answer may differ.
func attack(t *testing.T, list []attempt) (sent int) {
	seen := map[string]bool{}
	for i, c := range list {
		if seen[c.trick] {
			t.Errorf("two attempts are called %q", c.trick)
		}
		seen[c.trick] = true
		if traced() && !thorough() && i%12 != 0 { // tracing takes its time
			continue
		}
		t.Run(c.trick, func(t *testing.T) {
			w := plantTree(t, c.tree...)
			p := w.expand(c.path)
			if traced() {
				w.traced(p, c.tree)
				return
			}
			if got := w.naked(p); got != (c.harmless == "") {
				t.Errorf("without the guard the secret comes out: %v; harmless because: %q", got, c.harmless)
			}
			s := serve(t, w.ws)
			var there []reply
			for _, d := range doors {
				tool, a := d.call(p)
				r := s.call(tool, a)
				sent++
				if !slices.Contains(c.want, r.code()) {
					t.Errorf("%s: %s %s: code %q, want one of %q: %.300s", d.name, tool, quote(a), r.code(), c.want, r.text)
				}
				if x := w.trace(r, a); x != "" {
					t.Errorf("%s: %s %s shows %q:\n%s", d.name, tool, quote(a), x, r.raw)
				}
				there = append(there, r)
			}
			t.Logf("refused by the door: %s", there[0].text)
			if len(c.want) != 1 || c.want[0] != "outside_workspace" {
				return
			}
			must(t, os.RemoveAll(w.out))
			siblings, err := filepath.Glob(w.base + "/ws?*")
			must(t, err)
			for _, x := range siblings {
				must(t, os.RemoveAll(x))
			}
			for i, d := range doors {
				tool, a := d.call(p)
				if r := s.call(tool, a); r.raw != there[i].raw {
					t.Errorf("%s: the refusal tells whether something is there:\n%s\n%s", d.name, there[i].raw, r.raw)
				}
			}
		})
	}
	return sent
}

// naked is what a server without a guard does: it reads or lists what the path
// names. It reports whether something that must stay hidden came out.
func (w *world) naked(p string) bool {
	if !filepath.IsAbs(p) {
		p = w.ws + "/" + p
	}
	info, err := os.Stat(p)
	if err != nil {
		return false
	}
	if info.IsDir() {
		entries, _ := os.ReadDir(p)
		for _, e := range entries {
			if e.Name() == outsideName || e.Name() == "passwd" {
				return true
			}
			if b, _ := os.ReadFile(p + "/" + e.Name()); string(b) == outsideText {
				return true
			}
		}
		return false
	}
	if !info.Mode().IsRegular() && info.Mode()&os.ModeCharDevice == 0 {
		return false // it would block
	}
	f, err := os.Open(p)
	if err != nil {
		return false
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 64))
	return strings.Contains(string(b), outsideText) || strings.Contains(string(b), "root:x:0:0") || info.Size() == outsideSize || info.Mode()&os.ModeCharDevice != 0 && len(b) > 0
}

// leftOut says that case i waits for a run without the race detector, which
// takes all of them, or for make test-security.
func leftOut(i int) bool { return raceEnabled && !thorough() && i%5 != 0 }

// thorough says that the attacks may take minutes: make test-security sets it.
func thorough() bool { return os.Getenv("MCP_TEST_THOROUGH") != "" }
