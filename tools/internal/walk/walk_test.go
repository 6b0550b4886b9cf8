package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
)

// record is a visit in one line: the path, "/" behind a folder, the state.
func record(it *Item) string {
	s := it.Path
	if it.Kind == sandbox.KindDirectory {
		s += "/"
	}
	if it.State != OK {
		s += " " + it.State.String()
	}
	return s
}

func visits(tb testing.TB, ws *sandbox.Workspace, start string, o Options) ([]string, Stats) {
	tb.Helper()
	var out []string
	stats, err := Walk(context.Background(), ws, start, o, func(it *Item) (Action, error) {
		out = append(out, record(it))
		return Continue, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out, stats
}

func TestWalk(t *testing.T) {
	for _, c := range []struct {
		trick string
		files map[string]string
		start string
		opts  Options
		want  string
	}{
		{"bytewise order of whole paths", map[string]string{"a/b": "", "a-b": "", "a.b": "", "a0": "", "B": ""}, ".", Options{},
			"B, a-b, a.b, a/, a/b, a0"},
		{"dangling link", map[string]string{".#lock": "-> nowhere", "a": ""}, ".", Options{}, ".#lock broken, a"},
		{"link in a circle", map[string]string{"x": "-> y", "y": "-> x", "l": "-> .", "a": ""}, ".", Options{}, "a, l, x broken, y broken"},
		{"link out", map[string]string{"out": "-> /etc", "up": "-> ../.."}, ".", Options{}, "out outside, up outside"},
		{"link to a denied file", map[string]string{".env": "x", "cfg": "-> .env"}, ".", Options{}, ".env denied, cfg denied"},
		{"git folder is not an entry", map[string]string{".git/config": "", "sub/.git": "gitdir: x", "a": ""}, ".", Options{}, "a, sub/"},
		{"denied folder is not entered", map[string]string{".ssh/id": "", ".aws/credentials": ""}, ".", Options{}, ".aws/ denied, .ssh/ denied"},
		{"hidden files are files", map[string]string{".github/w.yml": "", ".env.example": ""}, ".", Options{}, ".env.example, .github/, .github/w.yml"},
		{"no ignore file outside git", map[string]string{"node_modules/x/i.js": "", "vendor/v.go": "", "build/o": "", "src/m.go": ""}, ".",
			Options{Gitignore: true}, "build/ ignored, node_modules/ ignored, src/, src/m.go, vendor/ ignored"},
		{"git has not been told to ignore", map[string]string{".git/HEAD": "", "node_modules/i.js": "", ".venv/y": "", "vendor/v.go": "", "build/o": ""}, ".",
			Options{Gitignore: true}, ".venv/ ignored, build/, build/o, node_modules/ ignored, vendor/, vendor/v.go"},
		{"a file called like a skipped folder", map[string]string{"build": "", "vendor": ""}, ".", Options{Gitignore: true}, "build, vendor"},
		{"the rule file takes a skipped folder back in", map[string]string{".gitignore": "!vendor\n", "vendor/v.go": ""}, ".",
			Options{Gitignore: true}, ".gitignore, vendor/, vendor/v.go"},
		{"the rule file counts outside git", map[string]string{".gitignore": "*.log\n", "a.log": "", "b": ""}, ".",
			Options{Gitignore: true}, ".gitignore, a.log ignored, b"},
		{"rule files can be left out of account", map[string]string{".gitignore": "*.log\n", "a.log": "", "dist/x": ""}, ".",
			Options{}, ".gitignore, a.log, dist/ ignored"},
		{"ignored entries on request", map[string]string{".gitignore": "*.log\n", "a.log": "", "dist/x": "", ".env": ""}, ".",
			Options{Gitignore: true, IncludeIgnored: true}, ".env denied, .gitignore, a.log, dist/, dist/x"},
		{"start inside a skipped folder", map[string]string{"node_modules/p/dist/i.js": "", "node_modules/p/node_modules/q/j.js": ""}, "node_modules/p",
			Options{Gitignore: true}, "node_modules/p/dist/, node_modules/p/dist/i.js, node_modules/p/node_modules/, node_modules/p/node_modules/q/, node_modules/p/node_modules/q/j.js"},
		{"start is ignored by a rule", map[string]string{".gitignore": "gen/\n", "gen/a": ""}, "gen", Options{Gitignore: true}, "gen/a"},
		{"rules from above the start count", map[string]string{".gitignore": "*.o\n", "s/a.o": "", "s/a.c": ""}, "s", Options{Gitignore: true}, "s/a.c, s/a.o ignored"},
		{"a repository inside has its own rules", map[string]string{".git/HEAD": "", ".gitignore": "*.o\n", "sub/.git/HEAD": "", "sub/a.o": "", "sub/.gitignore": "*.c\n", "sub/a.c": ""}, ".",
			Options{Gitignore: true}, ".gitignore, sub/, sub/.gitignore, sub/a.c ignored, sub/a.o"},
		{"start through a link", map[string]string{"real/a": "", "l": "-> real"}, "l", Options{}, "real/a"},
		{"level by level", map[string]string{"a/b/c": "", "a/d": "", "z/y": "", "x": ""}, ".", Options{Breadth: true}, "a/, x, z/, a/b/, a/d, z/y, a/b/c"},
		{"level by level, odd names", map[string]string{"a\x01/\xff/c": "", "~/d": "", "file:/e": ""}, ".", Options{Breadth: true},
			"a\x01/, file:/, ~/, a\x01/\xff/, file:/e, ~/d, a\x01/\xff/c"},
		{"depth", map[string]string{"a/b/c/d": ""}, ".", Options{MaxDepth: 2}, "a/, a/b/"},
	} {
		t.Run(c.trick, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.files)
			got, stats := visits(t, open(t, dir), c.start, c.opts)
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("visited\n%s, want\n%s", s, c.want)
			}
			if stats.Entries != len(got) {
				t.Errorf("counted %d entries, visited %d", stats.Entries, len(got))
			}
			again, _ := visits(t, open(t, dir), c.start, c.opts)
			if !slices.Equal(got, again) {
				t.Errorf("a second walk differs: %q", again)
			}
		})
	}
}

func TestWalkCounts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{".gitignore": "*.o\n", "a.o": "", "b.o": "", "node_modules/x": "", ".env": "", "k.pem": "", ".ssh/x": "",
		"out": "-> /", "lost": "-> nothing", "cfg": "-> .env", "d1/d2/d3/f": ""})
	_, stats := visits(t, open(t, dir), ".", Options{Gitignore: true, MaxDepth: 2})
	want := Stats{Entries: 12, Ignored: 3, Denied: 3, Outside: 1, Broken: 1, Deep: 1}
	if stats != want {
		t.Errorf("got %+v, want %+v", stats, want)
	}
	if stats.Complete() {
		t.Error("a walk that left out a deep folder calls itself complete")
	}
}

// Nothing above the workspace is read: a rule file in the parent hides nothing.
func TestRulesAboveTheRootAreNotRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{".gitignore": "*\n", ".git/info/exclude": "*\n", "ws/a": ""})
	got, _ := visits(t, open(t, dir+"/ws"), ".", Options{Gitignore: true})
	if !slices.Equal(got, []string{"a"}) {
		t.Errorf("visited %q", got)
	}
}

func TestWalkCaps(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"zz/README.md": "", "src/main.go": ""}
	for i := 0; i < 300; i++ {
		files[fmt.Sprintf("aaa_target/f%03d", i)] = ""
	}
	write(t, dir, files)
	ws := open(t, dir)

	got, stats := visits(t, ws, ".", Options{MaxEntries: 50})
	if len(got) != 50 || !stats.Capped || stats.Complete() {
		t.Errorf("depth first: %d entries, %+v", len(got), stats)
	}
	for _, c := range []struct {
		n      int
		capped bool
	}{{304, true}, {305, false}, {306, false}} { // 3 folders and 302 files
		if got, stats := visits(t, ws, ".", Options{MaxEntries: c.n}); stats.Capped != c.capped || len(got) != min(c.n, 305) {
			t.Errorf("at most %d of 305: %d visited, capped %v", c.n, len(got), stats.Capped)
		}
	}

	var cut []string
	seen, stats := visits(t, ws, ".", Options{Breadth: true, PerDir: 5, Cut: func(folder string, left int, exact bool) {
		cut = append(cut, fmt.Sprint(folder, " ", left, " ", exact))
	}})
	if want := []string{"aaa_target/", "src/", "zz/"}; !slices.Equal(seen[:3], want) {
		t.Errorf("the root is not there first: %q", seen[:3])
	}
	if !slices.Contains(seen, "zz/README.md") || !slices.Contains(seen, "src/main.go") {
		t.Errorf("a big folder has eaten the others: %q", seen)
	}
	if !slices.Equal(cut, []string{"aaa_target 295 true"}) || !stats.Capped {
		t.Errorf("cut %q, %+v", cut, stats)
	}

	cut = nil
	_, stats = visits(t, ws, ".", Options{Breadth: true, MaxEntries: 10, Cut: func(folder string, left int, exact bool) {
		cut = append(cut, fmt.Sprint(folder, " ", left, " ", exact))
	}})
	if want := []string{"aaa_target 293 true", "src 0 false", "zz 0 false"}; !slices.Equal(cut, want) || stats.Entries != 10 {
		t.Errorf("cut %q, %d entries", cut, stats.Entries)
	}
}

func TestWalkActions(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/x": "", "b/y": "", "c": ""})
	ws := open(t, dir)
	var got []string
	walk := func(visit func(*Item) (Action, error)) error {
		got = nil
		_, err := Walk(context.Background(), ws, ".", Options{}, func(it *Item) (Action, error) {
			got = append(got, it.Path)
			return visit(it)
		})
		return err
	}
	if err := walk(func(it *Item) (Action, error) {
		if it.Path == "a" || it.Path == "c" {
			return SkipDir, nil
		}
		return Continue, nil
	}); err != nil || !slices.Equal(got, []string{"a", "b", "b/y", "c"}) {
		t.Errorf("SkipDir: %q, %v", got, err)
	}
	if err := walk(func(it *Item) (Action, error) {
		if it.Path == "b/y" {
			return Stop, nil
		}
		return Continue, nil
	}); err != nil || !slices.Equal(got, []string{"a", "a/x", "b", "b/y"}) {
		t.Errorf("Stop: %q, %v", got, err)
	}
	broken := errors.New("broken")
	if err := walk(func(it *Item) (Action, error) { return Continue, broken }); err != broken || len(got) != 1 {
		t.Errorf("error: %q, %v", got, err)
	}
}

func TestItemOpens(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/f": "content", "a/l": "-> f", "a/d": "-> ../a", "a/.env": "x"})
	_, err := Walk(context.Background(), open(t, dir), ".", Options{}, func(it *Item) (Action, error) {
		f, err := it.Open()
		if err == nil {
			f.Close()
		}
		if (err == nil) != (it.Path == "a/f") {
			t.Errorf("open %s: %v", it.Path, err)
		}
		if i, err := it.Info(); it.Path == "a/f" && (err != nil || i.Size != 7 || i.Kind != sandbox.KindFile) {
			t.Errorf("info: %+v, %v", i, err)
		}
		to, kind, _ := it.Link()
		switch it.Name() {
		case "l":
			if to != "a/f" || kind != sandbox.KindFile {
				t.Errorf("l leads to %q, %v", to, kind)
			}
		case "d":
			if to != "a" || kind != sandbox.KindDirectory {
				t.Errorf("d leads to %q, %v", to, kind)
			}
		}
		return Continue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWalkStart(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"f": "", ".ssh/x": "", "out": "-> /etc"})
	ws := open(t, dir)
	for start, want := range map[string]sandbox.Code{"f": sandbox.NotADirectory, "none": sandbox.NotFound, "..": sandbox.OutsideWorkspace,
		"out": sandbox.OutsideWorkspace, ".ssh": sandbox.DeniedPath, ".git": sandbox.DeniedPath} {
		_, err := Walk(context.Background(), ws, start, Options{}, func(*Item) (Action, error) {
			t.Errorf("start %q: visited", start)
			return Stop, nil
		})
		if c, ok := code(err); !ok || c != want {
			t.Errorf("start %q: %v, want %v", start, err, want)
		}
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := 0; i < 500; i++ {
		files[fmt.Sprintf("f%03d", i)] = ""
	}
	write(t, dir, files)
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	_, err := Walk(ctx, open(t, dir), ".", Options{}, func(*Item) (Action, error) {
		if n++; n == 10 {
			cancel()
		}
		return Continue, nil
	})
	if !errors.Is(err, context.Canceled) || n > 10+checkEvery/entrySteps {
		t.Errorf("%d visits, %v", n, err)
	}
}

// Rules made to be slow are cut off by the context within one entry.
func TestHostileRulesEndWithTheContext(t *testing.T) {
	dir := t.TempDir()
	rule := strings.Repeat("*a", 50) + "b\n"
	name := strings.Repeat("a", 250)
	write(t, dir, map[string]string{".gitignore": strings.Repeat(rule, maxIgnoreBytes/len(rule)), name: ""})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Walk(ctx, open(t, dir), ".", Options{Gitignore: true}, func(*Item) (Action, error) { return Continue, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRuleFileLimits(t *testing.T) {
	for _, c := range []struct {
		trick, content string
		lost, ignored  int
	}{
		{"just under", strings.Repeat("x\n", maxIgnoreRules-1) + "a\n", 0, 1},
		{"a rule too many", strings.Repeat("x\n", maxIgnoreRules) + "a\n", 1, 0},
		{"a byte too many", "a\n" + strings.Repeat("#", maxIgnoreBytes), 1, 1},
		{"the cut is not inside a rule", strings.Repeat("#", maxIgnoreBytes-2) + "\nab\n", 1, 0},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{".gitignore": c.content, "a": ""})
		_, stats := visits(t, open(t, dir), ".", Options{Gitignore: true})
		if stats.RulesLost != c.lost || stats.Ignored != c.ignored {
			t.Errorf("%s: lost %d, ignored %d", c.trick, stats.RulesLost, stats.Ignored)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{"*.o\n!a.o", "**/a/**\n/b/", "[!a-\\]]\n\\ ", "\xef\xbb\xbf#\n\r\n", "a\x00b\n[[:alpha:]"} {
		f.Add(s, "dir/a.o")
	}
	f.Fuzz(func(t *testing.T, content, path string) {
		rs := parseRules([]byte(content), false)
		spend := func(int) bool { return true }
		// A rule file applies line by line: every prefix of it decides or leaves it to the lines before.
		a, b := rs.decide(path, false, spend), rs.decide(path, false, spend)
		if a != b {
			t.Fatal("two answers")
		}
		if v := parseRules([]byte(content+"\n!*\n"), false).decide("name", false, spend); v != included && len(rs.list) < maxIgnoreRules {
			t.Fatalf("a last rule that takes all back in is not the last word: %v", v)
		}
	})
}

func BenchmarkWalk(b *testing.B) {
	dir := b.TempDir()
	files := map[string]string{".gitignore": "*.o\n*.log\nbin/\n/dist\n!keep.o\ndoc/**/gen\n"}
	for i := 0; i < 5000; i++ {
		files[fmt.Sprintf("d%02d/e%d/f%04d.go", i%50, i%7, i)] = ""
	}
	write(b, dir, files)
	ws := open(b, dir)
	b.Run("Walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Walk(context.Background(), ws, ".", Options{Gitignore: true}, func(*Item) (Action, error) { return Continue, nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The rejected alternative: os.ReadDir by path, no rules, no denylist, and open to a swapped folder.
	b.Run("ReadDir", func(b *testing.B) {
		b.ReportAllocs()
		var visit func(dir string)
		visit = func(dir string) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range entries {
				if e.IsDir() {
					visit(dir + "/" + e.Name())
				}
			}
		}
		for b.Loop() {
			visit(dir)
		}
	})
}
