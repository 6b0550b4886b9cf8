package walk

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
)

// open serves dir for a test.
func open(tb testing.TB, dir string) *sandbox.Workspace {
	tb.Helper()
	ws, err := sandbox.Open(dir, sandbox.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ws.Close() })
	return ws
}

// write makes files below dir: name to content. A name that ends in "/" is a folder, content "-> x" makes a link.
func write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch to, link := strings.CutPrefix(content, "-> "); {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func git(tb testing.TB, dir string, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "none"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("git %v: %v", args, err)
	}
	return out
}

// gitFiles lists what git takes for files of its work tree, none of which is tracked.
func gitFiles(tb testing.TB, dir string) []string {
	tb.Helper()
	out := bytes.Split(bytes.TrimSuffix(git(tb, dir, "ls-files", "-co", "--exclude-standard", "-z"), []byte{0}), []byte{0})
	var files []string
	for _, f := range out {
		if len(f) > 0 {
			files = append(files, string(f))
		}
	}
	return files
}

func walkFiles(tb testing.TB, ws *sandbox.Workspace, start string) []string {
	tb.Helper()
	var files []string
	_, err := Walk(context.Background(), ws, start, Options{Gitignore: true, MaxEntries: 1 << 30, MaxDepth: 1000}, func(it *Item) (Action, error) {
		if it.Kind != sandbox.KindDirectory && it.State != Ignored {
			files = append(files, it.Path)
		}
		return Continue, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// The names and rules of the generated trees meet often, and hold every character that ignore files give a meaning.
var names = []string{"a", "b", "ab", "ba", "foo", "bar", "a.c", "b.c", "a.o", "foo.o", "x y", "tr ", " le", "[a]", `a\b`,
	"é", "\xff", "-", "#c", "!d", "*", "a]", "^a", "A", "a-b", "{a}", "0"}

func randomRule(r *rand.Rand) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	piece := func() string {
		switch r.IntN(12) {
		case 0:
			return "*"
		case 1:
			return "**"
		case 2:
			return "?"
		case 3:
			return pick("[ab]", "[!ab]", "[^a]", "[a-f]", "[f-a]", "[]a]", "[!]a]", "[a", "[[:alpha:]]", "[[:space:]]", "[[:bogus:]]",
				"[[:alpha]", `[\a-c]`, `[a\]]`, "[a-]", "[-a]", "[/a]", "[\xc0-\xff]", "[[:upper:][:digit:]]", "[!-a]", "[--0]", "[[]", "[[:]")
		case 4:
			return `\` + pick("a", "*", "?", "[", "!", "#", " ", `\`, "/", "")
		default:
			return names[r.IntN(len(names))]
		}
	}
	part := func() string {
		var b strings.Builder
		for n := 1 + r.IntN(3)/2; n > 0; n-- {
			b.WriteString(piece())
		}
		return b.String()
	}
	var b strings.Builder
	b.WriteString(pick("", "", "", "", "!", "!", "!!", `\!`, `\#`, "#", " "))
	b.WriteString(pick("", "", "", "/", "**/", "//", "*/", "***/"))
	b.WriteString(part())
	for r.IntN(3) == 0 {
		b.WriteString(pick("/", "/", "/", "/**/", "/*/", "**/", "/**", `\/`, `**\/`))
		b.WriteString(part())
	}
	b.WriteString(pick("", "", "", "/", "/", "/*", "/**", "/**/", " ", "  ", `\ `, `\  `, "\t", "\r", " \r", `\`, "\x00z", "//"))
	return b.String()
}

// mutatedRule is a rule made from a path, so that it comes near to matching something.
func mutatedRule(r *rand.Rand, path string) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	parts := strings.Split(path, "/")
	from := r.IntN(len(parts))
	parts = parts[from : from+1+r.IntN(len(parts)-from)]
	for i, p := range parts {
		switch r.IntN(7) {
		case 0:
			parts[i] = "*"
		case 1:
			parts[i] = "**"
		case 2, 3:
			at := r.IntN(len(p))
			c := p[at : at+1]
			parts[i] = p[:at] + pick("?", "*", "**", "["+c+"]", `[\`+c+"]", "[!"+c+"]", "[^z]", "[a-z]", "[[:alnum:]]", `\`+c, c+"*", "*"+c, "?*") + p[at+1:]
		}
	}
	return pick("", "", "", "!", "!", "/", "!/", "**/", "*/") + strings.Join(parts, pick("/", "/", "/", "/", "/**/", "**/", "/*/", `\/`)) +
		pick("", "", "", "", "/", "/", "/*", "/**", " ", `\ `)
}

func randomIgnoreFile(r *rand.Rand, rules int, paths []string) string {
	var b strings.Builder
	if r.IntN(10) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	for n := rules; n > 0; n-- {
		if len(paths) > 0 && r.IntN(3) > 0 {
			b.WriteString(mutatedRule(r, paths[r.IntN(len(paths))]))
		} else {
			b.WriteString(randomRule(r))
		}
		if n > 1 || r.IntN(4) > 0 {
			b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\n\n", "\r\r\n"}[r.IntN(6)])
		}
	}
	return b.String()
}

func pathsBelow(files map[string]string, dir string) (paths []string) {
	for name := range files {
		if rel, ok := strings.CutPrefix(name, dir); ok {
			paths = append(paths, rel)
		}
	}
	slices.Sort(paths) // the generator is deterministic
	return paths
}

func randomTree(r *rand.Rand, dir string, depth int, files map[string]string) {
	for n := 2 + r.IntN(5); n > 0; n-- {
		name := names[r.IntN(len(names))]
		if depth < 3 && r.IntN(3) == 0 {
			name = "d" + name
			randomTree(r, dir+name+"/", depth+1, files)
			continue
		}
		files[dir+name] = ""
		if r.IntN(20) == 0 {
			files[dir+name] = "-> " + names[r.IntN(len(names))]
		}
	}
	// A third of the trees also uses plain names for folders, so that a rule meets both kinds.
	if depth < 3 && r.IntN(3) == 0 {
		name := names[r.IntN(len(names))] + "q"[:r.IntN(2)]
		if _, taken := files[dir+name]; !taken {
			randomTree(r, dir+name+"/", depth+1, files)
		}
	}
	if r.IntN(4) == 0 {
		files[dir+".gitignore"] = randomIgnoreFile(r, 1+r.IntN(3), pathsBelow(files, dir))
	}
}

// The walk sees exactly the files that git sees, on trees made to be awkward. WALK_GIT_TREES sets their number.
func TestIgnoreRulesAgainstGit(t *testing.T) { ignoreRulesAgainstGit(t, 1000, false) }

// The same where upper and lower case are one.
func TestIgnoreRulesAgainstGitIgnoringCase(t *testing.T) { ignoreRulesAgainstGit(t, 200, true) }

// otherCase changes the case of some letters.
func otherCase(r *rand.Rand, s string) string {
	b := []byte(s)
	for i, c := range b {
		if c|0x20 >= 'a' && c|0x20 <= 'z' && r.IntN(3) == 0 {
			b[i] ^= 0x20
		}
	}
	return string(b)
}

func ignoreRulesAgainstGit(t *testing.T, trees int, fold bool) {
	if s := os.Getenv("WALK_GIT_TREES"); s != "" {
		var err error
		if trees, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		trees = 200
	}
	// One repository holds many trees, each with an ignore file of its own at its top: one run of git judges them all.
	const batch = 200
	kept, all := 0, 0
	for b := 0; b*batch < trees; b++ {
		r := rand.New(rand.NewPCG(7, uint64(b)))
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		git(t, dir, "config", "core.ignorecase", strconv.FormatBool(fold))
		files := map[string]string{}
		for n := 0; n < batch; n++ {
			top := fmt.Sprintf("t%03d/", n)
			randomTree(r, top, 0, files)
			files[top+".gitignore"] = randomIgnoreFile(r, 1+r.IntN(6), pathsBelow(files, top))
		}
		if b%2 == 1 {
			files[".gitignore"] = randomIgnoreFile(r, 2, pathsBelow(files, ""))
		}
		if fold {
			others := map[string]string{}
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if content := files[name]; strings.HasSuffix(name, ".gitignore") {
					others[name] = otherCase(r, content)
				} else {
					others[otherCase(r, name)] = content
				}
			}
			files = others
		}
		// A name may have been used for a file and for a folder: the folder stays.
		for name := range files {
			for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
				delete(files, name[:i])
			}
		}
		write(t, dir, files)
		want, got := gitFiles(t, dir), walkFiles(t, open(t, dir), ".")
		if !slices.IsSorted(got) {
			t.Errorf("batch %d: paths are not in bytewise order", b)
		}
		slices.Sort(want)
		slices.Sort(got)
		kept, all = kept+len(want), all+len(files)
		for _, d := range difference(want, got) {
			top, _, _ := strings.Cut(d[1:], "/")
			var rules []string
			for name, content := range files {
				if (strings.HasPrefix(name, top+"/") || !strings.Contains(name, "/")) && strings.HasSuffix(name, ".gitignore") {
					rules = append(rules, fmt.Sprintf("%s: %q", name, content))
				}
			}
			t.Fatalf("batch %d: git and the walk differ (+ git has it, - it has not): %q\n%s", b, d, strings.Join(rules, "\n"))
		}
	}
	t.Logf("%d trees, %d of %d files kept", trees, kept, all)
	if kept < all/10 || kept > all*9/10 {
		t.Errorf("the generated rules decide too little: %d of %d files kept", kept, all)
	}
}

// difference lists what only a has with "+", and what only b has with "-".
func difference(a, b []string) (d []string) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			d = append(d, "+"+a[0])
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			d = append(d, "-"+b[0])
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return d
}

// Rules that tools have got wrong, and what each of them means, from the root and from below.
func TestIgnoreRulesOfReports(t *testing.T) {
	tree := map[string]string{"foo/bar/baz": "quux", "a/a.c": "quux", "keep.md": "quux"}
	for _, c := range []struct {
		trick string
		files map[string]string
	}{
		{"double star parent", map[string]string{".gitignore": "**/bar/*\n"}},
		{"all but one kind", map[string]string{".gitignore": "*\n!*.c\n"}},
		{"all files of the root, no folder", map[string]string{".gitignore": "/*\n!/*/\n"}},
		{"prefix with one exception", map[string]string{".gitignore": "f*\n!foo\n"}},
		{"nested file takes a folder back in", map[string]string{".gitignore": "bar/\n", "foo/.gitignore": "!bar/\n"}},
		{"nested file cannot reach into an ignored folder", map[string]string{".gitignore": "foo/\n", "foo/.gitignore": "!bar/\n!*\n"}},
		{"exclude file of the repository", map[string]string{".git/info/exclude": "*.md\n/a/\n"}},
		{"a rule file beats the exclude file", map[string]string{".git/info/exclude": "*.md\n", ".gitignore": "!keep.md\n"}},
		{"a linked rule file is not followed", map[string]string{"rules": "*.md\n", ".gitignore": "-> rules"}},
		{"anchored below", map[string]string{"foo/.gitignore": "/bar\n"}},
		{"two-part path is anchored", map[string]string{".gitignore": "bar/baz\n"}},
		{"escaped trailing space", map[string]string{".gitignore": "keep.md\\ \n", "keep.md ": "x"}},
	} {
		t.Run(c.trick, func(t *testing.T) {
			dir := t.TempDir()
			git(t, dir, "init", "-q")
			write(t, dir, tree)
			write(t, dir, c.files)
			ws := open(t, dir)
			want := gitFiles(t, dir)
			slices.Sort(want)
			if got := walkFiles(t, ws, "."); !slices.Equal(got, want) {
				t.Errorf("walk sees %q, git %q", got, want)
			}
			var below []string
			for _, f := range want {
				if strings.HasPrefix(f, "foo/") {
					below = append(below, f)
				}
			}
			if len(below) > 0 { // otherwise foo itself may be ignored, and naming it means it
				if got := walkFiles(t, ws, "foo"); !slices.Equal(got, below) {
					t.Errorf("walk below foo sees %q, git %q", got, below)
				}
			}
		})
	}
}
