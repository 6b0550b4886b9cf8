package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-devserver/tests/hostile"
)

type inquiry struct {
	tool string
	a    args
}

// inquiries reach everything that a repository is asked for.
var inquiries = []inquiry{
	{"project_overview", args{}},
	{"list_directory", args{"depth": 3, "details": true}},
	{"search_code", args{"pattern": "one|two"}},
	{"find_symbol", args{"name": "one"}},
	{"read_file", args{"path": "a.txt"}},
	{"read_file", args{"path": "a.txt", "revision": "HEAD"}},
	{"read_file", args{"path": "a.txt", "revision": "HEAD~1"}},
	{"read_file", args{"path": "a.txt", "revision": "0123456789012345678901234567890123456789"}},
	{"git_log", args{"detail": "files"}},
	{"git_log", args{"path": "a.txt"}},
	{"git_log", args{"path": "a.txt", "start_line": 1, "end_line": 2}},
	{"git_log", args{"author": "dev", "message": "first"}},
	{"git_diff", args{}},
	{"git_diff", args{"staged": true}},
	{"git_diff", args{"commit": "HEAD"}},
	{"git_diff", args{"base": "HEAD~1", "head": "HEAD"}},
	{"git_diff", args{"base": "HEAD~1", "head": "main", "merge_base": true}},
	{"git_diff", args{"base": "HEAD~1", "output_mode": "stat"}},
}

// TestHostileRepositories asks the whole server about repositories whose
// configuration, hooks or attributes run a program. It never runs; it does as
// soon as plain git looks at the same repository.
func TestHostileRepositories(t *testing.T) {
	for _, tr := range hostile.Tricks {
		t.Run(tr.Name, func(t *testing.T) {
			if len(tr.Env) == 0 {
				t.Parallel()
			}
			if tr.Root && os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			f := hostile.New(t)
			f.Sh(hostile.TwoCommits)
			f.Sh(tr.Setup)
			f.Fired()
			for _, e := range tr.Env {
				k, v, _ := strings.Cut(os.Expand(e, f.Expand), "=")
				t.Setenv(k, v)
			}
			s := serve(t, f.WS)
			var all strings.Builder
			for _, q := range inquiries {
				x := s.call(q.tool, q.a)
				all.WriteString(x.decoded())
				if f.Fired() {
					t.Errorf("%s %s ran the planted program", q.tool, quote(q.a))
				}
				// What plain git is made to show; a name that is on disk is no secret.
				if tr.Shows == strings.ToUpper(tr.Shows) && tr.Shows != "" && strings.Contains(x.decoded(), tr.Shows) || strings.Contains(x.decoded(), "+AF8-") {
					t.Errorf("%s %s shows %s: %.600s", q.tool, quote(q.a), tr.Shows, x.text)
				}
				if x.code() == "-32603" {
					t.Errorf("%s %s: %s", q.tool, quote(q.a), x.raw)
				}
			}
			if got := all.String(); !strings.Contains(got, "two") && !strings.Contains(got, "signed") {
				t.Errorf("the repository was not read:\n%.2000s", got)
			}
			for _, e := range tr.Env {
				if !strings.HasPrefix(e, "GIT_EXEC_PATH") { // plain git would find no subcommand at all
					f.Env = append(f.Env, os.Expand(e, f.Expand))
				}
			}
			if len(tr.Env) == 0 {
				f.Env = append(f.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.ext.allow", "GIT_CONFIG_VALUE_0=never")
			}
			if !f.Works(tr) {
				t.Errorf("the attack does not work on plain git: %s", tr.Fire)
			}
		})
	}
}

// TestPlaces asks the git tools about repositories that keep something outside.
func TestPlaces(t *testing.T) {
	for i, p := range hostile.Places {
		if !thorough() && (i%3 != 0 || traced() && i%15 != 0) {
			continue // the tests of the package that runs git have them all
		}
		t.Run(strings.ReplaceAll(p.Name, "\n", " "), func(t *testing.T) {
			if !traced() {
				t.Parallel()
			}
			f := hostile.New(t)
			f.Sh(hostile.TwoCommits)
			f.Sh(p.Setup)
			s := serve(t, f.WS)
			defer watched(filepath.Dir(f.WS), f.WS)()
			for _, q := range inquiries[8:16:16] {
				r := s.call(q.tool, q.a)
				// A HEAD that git cannot read is as unknown as any other name.
				if p.Code != "" && r.code() != p.Code && (p.Code != "git_failed" || r.code() != "unknown_revision") {
					t.Errorf("%s %s: code %q, want %q: %.300s", q.tool, quote(q.a), r.code(), p.Code, r.text)
				}
				if x := f.Out; strings.Contains(r.decoded(), x) || strings.Contains(r.decoded(), filepath.Dir(x)) {
					t.Errorf("%s %s names a place: %.300s", q.tool, quote(q.a), r.text)
				}
			}
		})
	}
}

// TestGitArguments: what a caller says never becomes an option, a path outside
// or another object than a commit.
func TestGitArguments(t *testing.T) {
	r := newRepository(t)
	r.write(map[string]string{"a.txt": "one\n", ".env": outsideText + "\n", "-f": "dash\n"})
	r.git("add", "-f", ".env", "a.txt", "--", "-f")
	r.commit("first")
	r.write(map[string]string{"a.txt": "two\n"})
	r.commit("second")
	blob := r.git("rev-parse", "HEAD:.env")
	tree := r.git("rev-parse", "HEAD^{tree}")
	must(t, os.WriteFile(filepath.Join(filepath.Dir(r.root), "x"), []byte(outsideText), 0o644))
	pwned := filepath.Join(filepath.Dir(r.root), "pwned")
	s := serve(t, r.root)
	revisions := map[string]string{
		"output option":           "--output=" + pwned,
		"output option, short":    "-o" + pwned,
		"no index":                "--no-index",
		"exec option":             "--upload-pack=touch " + pwned,
		"all refs":                "--all",
		"from standard input":     "--stdin",
		"end of options":          "--",
		"end of options, by name": "--end-of-options",
		"glob option":             "--glob=*",
		"reflog option":           "-g",
		"config option":           "-c core.pager=touch",
		"blob by path":            "HEAD:.env",
		"blob in the index":       ":0:.env",
		"blob in the index, bare": ":.env",
		"blob by id":              blob,
		"blob by abbreviation":    blob[:7],
		"blob by 4 digits":        blob[:4],
		"tree by id":              tree,
		"tree by suffix":          "HEAD^{tree}",
		"message search":          ":/first",
		"message search, bound":   "HEAD^{/first}",
		"reflog":                  "HEAD@{1}",
		"previous branch":         "@{-1}",
		"upstream":                "@{u}",
		"date":                    "main@{yesterday}",
		"range of options":        "--output=x..HEAD",
		"range with a blob":       "HEAD..HEAD:.env",
		"exclusion":               "^HEAD",
		"two revisions":           "HEAD --output=" + pwned,
		"newline":                 "HEAD\n--output=x",
		"NUL":                     "HEAD\x00--all",
		"shell":                   "$(touch " + pwned + ")",
		"backquotes":              "`touch " + pwned + "`",
		"path of a file":          "../x",
		"path of a ref":           "../../x",
		"absolute path":           "/etc/passwd",
		"pseudo ref":              "ORIG_HEAD/../config",
		"a file of .git":          "config",
		"glob":                    "refs/heads/*",
		"worktree refs":           "worktrees/x/HEAD",
		"too long":                strings.Repeat("a", 257),
		"empty side":              "..HEAD:.env",
		"describe form":           "v1-0-g" + blob[:7],
	}
	codes := []string{"invalid_revision", "unknown_revision", "-32602", "invalid_combination"}
	secret := func(x reply, a args) {
		t.Helper()
		if text := without(x.decoded(), append(a.strings(), pwned)...); strings.Contains(text, outsideText) || strings.Contains(text, filepath.Dir(r.root)) {
			t.Errorf("%s: %s", quote(a), text)
		}
		if _, err := os.Lstat(pwned); err == nil {
			t.Fatalf("%s made a file", quote(a))
		}
	}
	for trick, rev := range revisions {
		for _, q := range []struct {
			tool string
			a    args
		}{
			{"git_log", args{"revision": rev}},
			{"git_log", args{"revision": rev, "path": "a.txt"}},
			{"git_log", args{"revision": rev, "path": "a.txt", "start_line": 1, "end_line": 1}},
			{"git_diff", args{"base": rev}},
			{"git_diff", args{"base": "HEAD", "head": rev}},
			{"git_diff", args{"commit": rev}},
			{"git_diff", args{"base": rev, "staged": true}},
			{"git_diff", args{"base": rev, "head": "HEAD", "merge_base": true}},
			{"read_file", args{"path": "a.txt", "revision": rev}},
		} {
			x := s.call(q.tool, q.a)
			if !slices.Contains(codes, x.code()) {
				t.Errorf("%s: %s %s: code %q: %.300s", trick, q.tool, quote(q.a), x.code(), x.text)
			}
			secret(x, q.a)
		}
	}
	// As text of other arguments the same strings are just text.
	for _, v := range revisions {
		if len(v) > 200 {
			continue
		}
		for _, a := range []args{{"author": v}, {"message": v}, {"since": v}, {"until": v}, {"path": v}} {
			secret(s.call("git_log", a), a)
		}
		a := args{"path": v}
		secret(s.call("git_diff", a), a)
		a = args{"path": v, "revision": "HEAD"}
		secret(s.call("read_file", a), a)
	}
	if x := s.call("read_file", args{"path": "-f", "revision": "HEAD"}); x.isError || !strings.Contains(x.text, "dash") {
		t.Errorf("a file named like an option is not read: %s", x.text)
	}
	if got := r.git("cat-file", "-p", blob); got != outsideText {
		t.Errorf("plain git: %q", got)
	}
}
