package security

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestDeniedNames spells withheld names; each file holds the secret.
func TestDeniedNames(t *testing.T) {
	var list []attempt
	for _, c := range []struct{ trick, name string }{
		{"plain", ".env"}, {"variant", ".env.local"}, {"upper case", ".ENV"}, {"mixed case", ".Env.Local"}, {"below folders", "a/b/.env"},
		{"trailing dot", ".env."}, {"trailing dots", ".env..."}, {"trailing dots and spaces", ".env. . "}, {"trailing space", ".env "}, {"editor's copy", ".env~"},
		{"stream", ".env::$DATA"}, {"named stream", ".env:x"}, {"stream with a dot", ".env.:x"}, {"stream of a folder", ".ssh::$INDEX_ALLOCATION/config"},
		{"short name", "ENV~1"}, {"short name, lower case", "env~2"}, {"short name of a variant", "ENV~1.LOC"}, {"short name of a folder", "GIT~1/config"},
		{"short name with a trailing dot", "GIT~1."}, {"short name, cut extension", "CREDEN~1.JSO"}, {"short name, cut stem", "GIT-CR~1"}, {"short name of a wildcard", "SERVIC~1.JSO"},
		{"full width stop", "．env"}, {"full width letters", ".ｅｎｖ"}, {"one dot leader", "․env"}, {"small full stop", "﹒env"}, {"full width solidus", "x／.env"},
		{"backslash", `.ssh\id`}, {"mathematical letters", ".𝐞𝐧𝐯"}, {"kelvin sign", ".\u212aube/config"}, {"long s", ".\u017fsh/config"}, {"dotless i", ".g\u0131t/config"},
		{"dotted capital i", ".G\u0130T/config"}, {"zero width joiner", ".g\u200dit/config"}, {"zero width space", ".e\u200bnv"}, {"soft hyphen", ".e\u00adnv"}, {"byte order mark", "\ufeff.env"},
		{"right-to-left override", ".\u202eenv"}, {"variation selector", ".env\ufe0f"}, {"tag character", ".env\U000e0041"},
		{"key", "id_rsa"}, {"key in upper case", "deploy/ID_RSA"}, {"key with an ending", "id_ed25519.old"}, {"extension", "tls/server.PEM"}, {"extension alone", ".pem"}, {"extension with a stream", "server.pem:x"},
		{"state", "terraform.tfstate.backup"}, {"history", ".bash_history"}, {"path rule", "x/.docker/config.json"}, {"path rule in upper case", ".DOCKER/Config.JSON"}, {"path rule, below", ".config/gcloud/a/b"},
		{"folder", ".aws/credentials"}, {"netrc", ".netrc"}, {"token of a registry", ".npmrc"}, {"repository", ".git/secret"}, {"repository below", "sub/.git/config"}, {"repository as a file", "sub/.git"},
		{"example of a variant", ".env.local.example"}, {"service account", "service-account-prod.json"},
	} {
		list = append(list, attempt{c.trick, []string{c.name + " = " + outsideText}, c.name, denied, ""})
	}
	env := ".env = " + outsideText
	list = append(list,
		attempt{"by a link", []string{env, "cfg => .env"}, "cfg", denied, ""},
		attempt{"by an absolute link", []string{env, "cfg => WS/.env"}, "cfg", denied, ""},
		attempt{"by a chain of links", []string{env, "a => b", "b => c/../.env", "c/"}, "a", denied, ""},
		attempt{"by a link to the folder", []string{".ssh/config = " + outsideText, "k => .ssh"}, "k/config", denied, ""},
		attempt{"by an inner link", []string{".git/config2 = " + outsideText, "l/g => ../.git"}, "l/g/config2", denied, ""},
		attempt{"by a link to the root", []string{env, "self => ."}, "self/.env", denied, ""},
		attempt{"absolute", []string{env}, "WS/.env", denied, ""},
		attempt{"absolute, doubled slash", []string{env}, "WS//./.env", denied, ""},
		attempt{"dots in between", []string{env, "a/"}, "a/.././.env", denied, ""},
		attempt{"with a slash", []string{env}, ".env/", denied, "a file is no folder"},
		attempt{"the folder", []string{".ssh/config = " + outsideText}, ".ssh", denied, ""},
		attempt{"the folder, listed by a dot", []string{".ssh/config = " + outsideText}, ".ssh/.", denied, ""},
		attempt{"walked through", []string{".ssh/", "s = in"}, ".ssh/../s", denied, "what it reads is not withheld"},
		attempt{"a link called so", []string{"s = in", ".env => s"}, ".env", denied, "what it reads is not withheld"},
		attempt{"a link called so, out", []string{".env => ../OUT/s"}, ".env", denied, ""},
		attempt{"URI", []string{env}, "file://WS/%2eenv", denied, noSuch},
		attempt{"missing", nil, ".env", denied, "nothing is there"},
		attempt{"missing, below a missing folder", nil, "gone/.aws/x", denied, "nothing is there"},
	)
	attack(t, list)
}

// TestDeniedEverywhere: what is withheld shows in no listing, search, symbol,
// overview, log or diff, on either side of a rename, now or in history.
func TestDeniedEverywhere(t *testing.T) {
	// The filler keeps git from pairing files other than those renamed.
	filler := func(name string) string { return strings.Repeat("a line of "+name+" and its bytes\n", 20) }
	body := func(secret bool, name string) string {
		lines := filler(name)
		if secret {
			return "KEY=" + outsideText + "\n" + lines
		}
		return "KEY=harmless\n" + lines
	}
	r := newRepository(t)
	hidden := map[string]string{
		".env": body(true, "env"), ".ENV.prod": body(true, "prod"), "sub/.Env": body(true, "sub"), "id_rsa": body(true, "id_rsa"), "certs/server.key": body(true, "key"),
		".env.py": "def outside_symbol():\n    return '" + outsideText + "'\n", ".aws/package.json": `{"name":"` + outsideText + `"}`, ".ssh/README.md": "# " + outsideText,
		"credentials.json": `{"k":"` + outsideText + `"}`, "terraform.tfstate": outsideText, "．env": body(true, "wide"),
	}
	r.write(hidden)
	r.write(map[string]string{"plain.txt": body(false, "plain"), "main.py": "def visible():\n    pass\n", "become.txt": body(false, "become")})
	r.git("add", "-f", ".")
	r.commit("first")
	// Renames: from withheld to plain, the secret taken out, and the other way.
	r.git("mv", ".env", "was-env.txt")
	r.git("mv", "become.txt", ".env.become")
	r.write(map[string]string{"was-env.txt": body(false, "env"), ".env.become": body(true, "become")})
	r.git("add", "-f", ".")
	r.commit("rename")
	r.git("mv", "id_rsa", "id_ed25519")
	r.write(map[string]string{"id_ed25519": body(true, "id_rsa") + "more\n", "plain.txt": body(false, "plain") + "more\n"})
	r.git("add", "-f", ".")
	r.commit("within")
	// Staged and not committed, and not staged.
	r.git("mv", "sub/.Env", "sub/open.txt")
	r.write(map[string]string{"sub/open.txt": body(false, "sub"), ".ENV.prod": body(true, "prod") + "unstaged\n"})
	r.git("add", "-f", "sub/open.txt")
	s := serve(t, r.root)

	ask := func(tool string, a args) reply {
		t.Helper()
		x := s.call(tool, a)
		if text := without(x.decoded(), a.strings()...); strings.Contains(text, outsideText) || strings.Contains(text, "outside_symbol") {
			t.Errorf("%s %s shows what is withheld:\n%s", tool, quote(a), x.text)
		}
		return x
	}
	list := ask("list_directory", args{"depth": 5, "details": true, "include_ignored": true})
	for _, sort := range []string{"name", "size", "modified"} {
		ask("list_directory", args{"depth": 5, "details": true, "sort": sort, "glob": "**"})
	}
	var items struct{ Items []map[string]any }
	must(t, json.Unmarshal(list.structured, &items))
	shown := 0
	for _, i := range items.Items {
		if i["state"] != "denied" {
			continue
		}
		shown++
		for _, member := range []string{"size", "modified", "version", "lines"} {
			if v, has := i[member]; has {
				t.Errorf("a listing tells the %s of %v: %v", member, i["path"], v)
			}
		}
	}
	if shown < 8 {
		t.Errorf("a listing names %d withheld files: %s", shown, list.text)
	}
	ask("project_overview", args{"depth": 3})
	for _, p := range []string{outsideText, "KEY", "OUTSIDE.SECRET", "[A-Z]{7}-", "^KEY=O", "(?<=KEY=)O", "O(?=UTSIDE)"} {
		for _, mode := range []string{"content", "files_with_matches", "count"} {
			for _, multi := range []bool{false, true} {
				x := ask("search_code", args{"pattern": p, "output_mode": mode, "include_ignored": true, "multiline": multi, "context_lines": 3})
				if !x.isError && p != "KEY" && p != "[A-Z]{7}-" && !strings.HasPrefix(x.text, "0 ") {
					t.Errorf("search for %q finds something: %s", p, x.text)
				}
			}
		}
	}
	for _, g := range []string{"**/.env*", ".*", "**/*.key", "{.env,id_rsa}"} {
		ask("search_code", args{"pattern": ".", "glob": g, "include_ignored": true})
		ask("list_directory", args{"glob": g, "depth": 5, "details": true})
	}
	for _, match := range []string{"exact", "prefix", "contains"} {
		ask("find_symbol", args{"name": "outside_symbol", "match": match})
	}
	for _, rev := range []string{"HEAD", "HEAD~1", "HEAD~2"} {
		for name := range hidden {
			if x := ask("read_file", args{"path": name, "revision": rev}); x.code() != "denied_path" {
				t.Errorf("%s at %s: %q", name, rev, x.code())
			}
			for _, a := range []args{{"path": name, "revision": rev}, {"path": name, "revision": rev, "start_line": 1, "end_line": 1}} {
				if x := ask("git_log", a); x.code() != "denied_path" {
					t.Errorf("git_log %s: %q", quote(a), x.code())
				}
			}
			ask("git_diff", args{"path": name, "commit": rev})
		}
		for _, mode := range []string{"patch", "stat", "names"} {
			ask("git_diff", args{"commit": rev, "output_mode": mode, "context_lines": 20})
			ask("git_diff", args{"base": rev, "output_mode": mode})
			ask("git_diff", args{"base": rev, "staged": true, "output_mode": mode})
			ask("git_diff", args{"base": "HEAD~2", "head": rev, "output_mode": mode})
			ask("git_diff", args{"base": rev, "head": "HEAD~2", "output_mode": mode})
		}
		for _, p := range []string{"was-env.txt", "sub/open.txt", "plain.txt", "sub", ""} {
			a := args{"revision": rev, "detail": "files"}
			if p != "" {
				a["path"] = p
			}
			ask("git_log", a)
			if p != "" && p != "sub" {
				ask("read_file", args{"path": p, "revision": rev})
				ask("git_log", args{"path": p, "start_line": 1, "end_line": 3})
				ask("git_diff", args{"path": p, "commit": rev, "context_lines": 20})
			}
		}
	}
	ask("git_diff", args{"context_lines": 20})
	ask("git_diff", args{"staged": true, "context_lines": 20})
	// Plain git shows all of it.
	for _, command := range [][]string{{"log", "-p", "--follow", "was-env.txt"}, {"show", "HEAD~1"}, {"diff", "--cached"}, {"grep", "-h", outsideText}, {"diff", "HEAD"}} {
		if out := r.git(command...); !strings.Contains(out, outsideText) {
			t.Errorf("plain git %v does not show it: %s", command, out)
		}
	}
	if !strings.Contains(fmt.Sprint(ask("git_diff", args{"commit": "HEAD"}).text), "more") {
		t.Error("what is not withheld is not shown either")
	}
}
