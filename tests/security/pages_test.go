package security

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// budget is how many characters each half of an answer may have.
const budget = 40_000

// page is what a walk through the pages of one question looks at.
type page struct {
	Mode      string
	Shortened string
	Complete  *bool
	Stopped   string
	Next      *struct {
		Tool      string
		Arguments args
	}
	Chunks []struct {
		Line int
		Text string
	}
	Folders []struct {
		Path    string
		Entries []string
	}
	Items   []struct{ Path string }
	Results []struct {
		Path    string
		Count   int
		Matches []struct {
			Line int
			Text string
		}
	}
	Symbols []struct {
		Name, Path string
		Line       int
	}
	Commits []struct{ Sha, Subject string }
	Lines   []struct {
		Start int `json:"start_line"`
		Sha   string
	}
	Files json.RawMessage // of a diff; a search counts by that name
}

// change is a file of a diff.
type change struct {
	Path, Status, Omitted string
	Patch                 *string
}

// summary reports whether a search counts what the next page shows.
func (p *page) summary() bool { return p.Mode == "content" && p.Shortened == "counts_only" }

// records names everything that a page holds, each by a key of its own; what the
// answer says it shows again later is none.
func (p *page) records() (keys []string) {
	add := func(parts ...any) { keys = append(keys, fmt.Sprint(parts...)) }
	for _, c := range p.Chunks {
		for i := range strings.Split(c.Text, "\n") {
			add("line ", c.Line+i)
		}
	}
	for _, f := range p.Folders {
		for _, e := range f.Entries {
			add("entry ", f.Path, " ", e)
		}
	}
	for _, i := range p.Items {
		add("item ", i.Path)
	}
	for _, r := range p.Results {
		if p.summary() {
			break
		}
		if len(r.Matches) == 0 {
			add("file ", r.Path)
		}
		for _, m := range r.Matches {
			add("match ", r.Path, ":", m.Line)
		}
	}
	for _, s := range p.Symbols {
		add("symbol ", s.Path, ":", s.Line, " ", s.Name)
	}
	for _, c := range p.Commits {
		add("commit ", c.Sha)
	}
	for _, l := range p.Lines {
		add("blame ", l.Start)
	}
	var files []change
	if len(p.Files) > 0 && p.Files[0] == '[' && json.Unmarshal(p.Files, &files) != nil {
		add("not a list of files")
	}
	for _, f := range files {
		if f.Omitted == "budget" && f.Patch == nil {
			continue
		}
		add("change ", f.Path)
	}
	return keys
}

// halves are the sizes of both, as a client in JavaScript counts characters.
func halves(t *testing.T, r reply) (prose, structured int) {
	t.Helper()
	var m struct {
		Result struct {
			Content    []struct{ Text json.RawMessage }
			Structured json.RawMessage `json:"structuredContent"`
		}
	}
	if err := json.Unmarshal([]byte(r.raw), &m); err != nil {
		t.Fatal(err)
	}
	size := func(b json.RawMessage) int { return len(utf16.Encode([]rune(string(b)))) }
	return size(m.Result.Content[0].Text) - 2, size(m.Result.Structured)
}

// walkPages follows next from a first question to the last page, and returns every
// record in the order of its showing.
func walkPages(t *testing.T, s *server, tool string, a args) (keys []string, pages int) {
	t.Helper()
	first := quote(a)
	for {
		r := s.call(tool, a)
		pages++
		if r.isError {
			t.Fatalf("%s %s, page %d: %.300s", tool, first, pages, r.raw)
		}
		if p, q := halves(t, r); p > budget || q > budget {
			t.Fatalf("%s %s, page %d: halves of %d and %d characters", tool, first, pages, p, q)
		}
		var m page
		if err := json.Unmarshal(r.structured, &m); err != nil {
			t.Fatal(err)
		}
		own := m.records()
		keys = append(keys, own...)
		if m.Complete == nil || *m.Complete != (m.Next == nil) || *m.Complete == (m.Stopped != "") {
			t.Fatalf("%s %s, page %d: complete %v, stopped %q, next %v", tool, first, pages, m.Complete, m.Stopped, m.Next)
		}
		if m.Next == nil {
			return keys, pages
		}
		if m.Next.Tool != tool || len(own) == 0 && !m.summary() || pages > 200 {
			t.Fatalf("%s %s, page %d: %d records, next %v", tool, first, pages, len(own), m.Next)
		}
		a = m.Next.Arguments
	}
}

// pagedTree is a repository in which every tool has more to say than one answer takes,
// with names and texts that grow when they are escaped.
func pagedTree(t *testing.T) *repository {
	t.Helper()
	repo := newRepository(t)
	files := map[string]string{}
	for i := range 400 {
		name := fmt.Sprintf("src/%02d/module \"%d\" é%s.go", i%40, i, strings.Repeat("ß", i%30))
		files[name] = fmt.Sprintf("package m\n\n// Needle%d \"is\"\t\x7f here \\.\nfunc Needle%d(s string) string { return s + \"needle\\t\" }\n", i, i)
	}
	var lines, symbols strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "%d needle \"%s\"\x02 é\u2028%s\n", i, strings.Repeat("\\", i%37), strings.Repeat("\t", i%11))
	}
	for i := range 1200 {
		fmt.Fprintf(&symbols, "// F%d does.\nfunc Function%d(argument map[string]\"x\") {}\n", i, i)
	}
	files["long.txt"] = lines.String()
	files["many.go"] = "package m\n" + symbols.String()
	repo.write(files)
	repo.commit("needle\n\n" + strings.Repeat("A long \"message\"\twith tabs.\n", 100))
	var history strings.Builder
	for i := range 400 {
		message := fmt.Sprintf("needle %d %s", i, strings.Repeat("\"quoted\" ", i%25))
		fmt.Fprintf(&history, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata %d\n%s\n", repo.clock+int64(i), len(message), message)
		if i == 0 {
			history.WriteString("from refs/heads/main^0\n")
		}
		history.WriteString("\n")
	}
	repo.feed(history.String(), "fast-import", "--quiet")
	n := 0
	for name := range files {
		if n++; n%3 == 0 && strings.HasPrefix(name, "src/") {
			files[name] += strings.Repeat("// needle \"again\"\n", n%97)
		}
	}
	files["many.go"] = strings.ReplaceAll(files["many.go"], "does", "did \\it")
	for i := range 60 {
		files[fmt.Sprintf("new/%02d untracked.txt", i)] = "new\n"
	}
	repo.write(files)
	return repo
}

// A walk through all pages shows each record exactly once, in one order, and neither
// half of any page exceeds the budget; a walk in small steps shows the same.
func TestPagesShowEachRecordOnce(t *testing.T) {
	repo := pagedTree(t)
	s := serve(t, repo.root)
	for i, c := range []struct {
		tool  string
		a     args
		small int // a limit for the walk in small steps; 0: it takes none
		want  int // records, when the tree tells; 0 otherwise
	}{
		{"read_file", args{"path": "long.txt"}, 0, 5000},
		{"read_file", args{"path": "long.txt", "revision": "HEAD"}, 0, 5000},
		{"list_directory", args{"glob": "*.go", "limit": 2000}, 170, 401},
		{"list_directory", args{"glob": "*.go", "details": true, "limit": 2000, "sort": "size"}, 170, 401},
		{"list_directory", args{"path": "src/03", "details": true}, 4, 0},
		{"search_code", args{"pattern": "needle", "path": "long.txt", "limit": 1000}, 400, 5000},
		{"search_code", args{"pattern": "Needle", "limit": 1000}, 333, 400 * 2},
		{"search_code", args{"pattern": "Needle", "context_lines": 3, "limit": 300}, 0, 400 * 2},
		{"search_code", args{"pattern": "needle", "output_mode": "files_with_matches", "limit": 1000}, 200, 401},
		{"search_code", args{"pattern": "needle", "output_mode": "count", "limit": 1000}, 200, 401},
		{"find_symbol", args{"path": "many.go", "limit": 500}, 350, 1200},
		{"find_symbol", args{"name": "needle", "match": "prefix", "limit": 500}, 150, 400},
		{"find_symbol", args{"name": "function", "match": "prefix", "role": "references", "limit": 500}, 350, 1200},
		{"git_log", args{"limit": 200}, 90, 401},
		{"git_log", args{"limit": 200, "detail": "body"}, 90, 401},
		{"git_log", args{"message": "needle", "limit": 200}, 90, 401},
		{"git_diff", args{"limit": 500}, 60, 0},
		{"git_diff", args{"limit": 500, "context_lines": 20}, 0, 0},
		{"git_diff", args{"limit": 500, "output_mode": "stat"}, 0, 0},
		{"git_diff", args{"limit": 500, "output_mode": "names"}, 60, 0},
		{"git_diff", args{"limit": 500, "base": "HEAD", "path": "src"}, 0, 0},
	} {
		if leftOut(i) {
			continue
		}
		t.Run(c.tool, func(t *testing.T) {
			keys, pages := walkPages(t, s, c.tool, c.a)
			seen := map[string]bool{}
			for _, k := range keys {
				if seen[k] {
					t.Errorf("%s %s: %q stands on two pages", c.tool, quote(c.a), k)
					break
				}
				seen[k] = true
			}
			if c.want > 0 && len(keys) != c.want {
				t.Errorf("%s %s: %d records on %d pages, want %d", c.tool, quote(c.a), len(keys), pages, c.want)
			}
			if len(keys) < 10 {
				t.Errorf("%s %s: only %d records", c.tool, quote(c.a), len(keys))
			}
			if c.small == 0 {
				return
			}
			b := args{"limit": c.small}
			for k, v := range c.a {
				if k != "limit" {
					b[k] = v
				}
			}
			small, more := walkPages(t, s, c.tool, b)
			if !slices.Equal(keys, small) {
				t.Errorf("%s %s: %d records on %d pages, but %d on %d with limit %d", c.tool, quote(c.a), len(keys), pages, len(small), more, c.small)
			}
			if more < 2 {
				t.Errorf("%s %s: one page shows no walk", c.tool, quote(b))
			}
		})
	}
	t.Run("together", func(t *testing.T) { pagesAreTheFile(t, s, repo) })
}

// pagesAreTheFile: the pages of a file put together are the file, byte by byte.
func pagesAreTheFile(t *testing.T, s *server, repo *repository) {
	want, err := os.ReadFile(filepath.Join(repo.root, "long.txt"))
	must(t, err)
	var both [2]strings.Builder
	a := args{"path": "long.txt"}
	for a != nil {
		r := s.call("read_file", a)
		var m page
		must(t, json.Unmarshal(r.structured, &m))
		for _, c := range m.Chunks {
			both[0].WriteString(c.Text + "\n")
		}
		number := 0
		for i, line := range strings.SplitAfter(strings.TrimSuffix(r.inside, "\n"), "\n") {
			digits, text, ok := strings.Cut(line, "\t")
			n, err := strconv.Atoi(digits)
			if !ok || err != nil || i > 0 && n != number+1 {
				t.Fatalf("line %q behind number %d", line, number)
			}
			number = n
			both[1].WriteString(strings.TrimSuffix(text, "\n") + "\n")
		}
		a = nil
		if m.Next != nil {
			a = m.Next.Arguments
		}
	}
	for i, half := range []string{"structured", "text"} {
		if both[i].String() != string(want) {
			t.Errorf("the %s halves of all pages are not the file: %d bytes, want %d", half, both[i].Len(), len(want))
		}
	}
}
