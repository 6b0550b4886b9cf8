package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// spellings of withheld names by the trick that should get them past a rule.
var deniedNames = []struct{ trick, name, rule string }{
	{"plain", ".env", ".env"},
	{"variant", ".env.local", ".env.*"},
	{"upper case", ".ENV", ".env"},
	{"mixed case", ".Env.Local", ".env.*"},
	{"below a folder", "a/b/.env", ".env"},
	{"what lies below", ".env/x", ".env"},
	{"trailing dot", ".env.", ".env"},
	{"trailing dots and spaces", ".env. . ", ".env"},
	{"trailing space", ".env ", ".env"},
	{"editor's copy", ".env~", ".env"},
	{"stream", ".env::$DATA", ".env"},
	{"named stream", ".env:x", ".env"},
	{"stream with a dot", ".env.:x", ".env.*"},
	{"stream of a folder", ".git::$INDEX_ALLOCATION/config", ".git"},
	{"version", ".env;1", ".env"},
	{"version without a number", ".env;", ".env"},
	{"two versions", ".env;1;2", ".env"},
	{"version with a dot", ".env.;1", ".env.*"},
	{"version of a stream", ".env;1:x", ".env"},
	{"version of a key", "deploy/SERVER.PEM;3", "*.pem"},
	{"version in a path rule", ".docker/config.json;1", ".docker/config.json"},
	{"short name", "ENV~1", ".env"},
	{"short name, lower case", "env~2", ".env"},
	{"short name of a variant", "ENV~1.LOC", ".env.*"},
	{"short name of a folder", "GIT~1/config", ".git"},
	{"short name with a trailing dot", "GIT~1.", ".git"},
	{"short name with a stream", "GIT~1::$DATA", ".git"},
	{"short name, cut extension", "CREDEN~1.JSO", "credentials.json"},
	{"short name, cut stem", "GIT-CR~1", ".git-credentials"},
	{"short name of a wildcard", "SERVIC~1.JSO", "service-account*.json"},
	{"short name of an extension", "MYSTOR~1.KEY", "*.key"},
	{"short name of a long extension", "STATE~1.TFS", "*.tfstate*"},
	{"short name of a key store", "X~1.KDB", "*.kdb"},
	{"short name in a path rule", "CONFIG~1/GCLOUD/x", ".config/gcloud"},
	{"full width stop", "．env", ".env"},
	{"full width letters", ".ｅｎｖ", ".env"},
	{"one dot leader", "․env", ".env"},
	{"small full stop", "﹒env", ".env"},
	{"full width tilde", "ENV～1", ".env"},
	{"full width solidus", "x／.env", ".env"},
	{"backslash", `.ssh\id`, ".ssh"},
	{"mathematical letters", ".𝐞𝐧𝐯", ".env"},
	{"kelvin sign", ".\u212aube/config", ".kube"},
	{"long s", ".\u017fsh/config", ".ssh"},
	{"sharp s", ".\u00dfh/config", ".ssh"},
	{"capital sharp s", ".PGPA\u1e9e", ".pgpass"},
	{"dotless i", ".g\u0131t/config", ".git"},
	{"dotted capital i", ".G\u0130T/config", ".git"},
	{"zero width joiner", ".g\u200dit/config", ".git"},
	{"zero width space", ".e\u200bnv", ".env"},
	{"soft hyphen", ".e\u00adnv", ".env"},
	{"byte order mark", "\ufeff.env", ".env"},
	{"right-to-left override", ".\u202eenv", ".env"},
	{"variation selector", ".env\ufe0f", ".env"},
	{"tag character", ".env\U000e0041", ".env"},
	{"upper case key", ".ssh/ID_RSA", ".ssh"},
	{"key elsewhere", "deploy/ID_RSA", "id_rsa*"},
	{"key with an ending", "id_ed25519.old", "id_ed25519*"},
	{"half a key", "id_rsa:x.pub", "id_rsa*"},
	{"extension", "tls/server.PEM", "*.pem"},
	{"extension alone", ".pem", "*.pem"},
	{"extension with a stream", "server.pem:x", "*.pem"},
	{"state", "terraform.tfstate.backup", "*.tfstate*"},
	{"history", "home/.bash_history", ".bash_history"},
	{"history of a shell", ".python_history", ".*_history"},
	{"path rule", "x/.docker/config.json", ".docker/config.json"},
	{"path rule in upper case", ".DOCKER/Config.JSON", ".docker/config.json"},
	{"path rule with streams", ".docker:x/config.json::$DATA", ".docker/config.json"},
	{"path rule, below", ".config/gcloud/a/b", ".config/gcloud"},
	{"dots in between", "./.env", ".env"},
	{"doubled slash", "a//.env", ".env"},
	{"overlong", strings.Repeat("x", 300) + ".pem", "*.pem"},
	{"example of a variant", ".env.local.example", ".env.*"},
	{"example with a stream", ".env:.example", ".env"},
	{"for a service", "deploy/production.env", "*.env"},
	{"for a service, upper case", "PROD.ENV", "*.env"},
	{"of a shell", ".envrc", ".envrc"},
	{"of a shell, below", "a/.EnvRC.local", ".envrc.local"},
	{"of a cluster", "deploy/kubeconfig", "kubeconfig"},
	{"of a cluster, named", "prod.kubeconfig", "*.kubeconfig"},
	{"of age", "home/.config/sops/age/keys.txt", "sops/age"},
	{"of age, by ending", "team.agekey", "*.agekey"},
	{"of a package manager", ".cargo/credentials.toml", ".cargo/credentials.toml"},
	{"of an application", "client_secret_1.apps.json", "client_secret*.json"},
	{"of a vault", ".vault_pass.txt", ".vault_pass*"},
	{"invalid UTF-8 behind", ".env\xff/.env", ".env"},
}

var allowedNames = []string{
	".environment.md", ".gitignore", ".gitattributes", ".gitmodules", ".github/x.yml", ".gitlab-ci.yml", ".env.example", ".env.sample", ".env.template",
	".env.dist", ".ENV.EXAMPLE", "id_rsa.pub", "id_ed25519.pub", "id_ed25519_work.pub", "env", "env.go", "src/env~/x", ".envrc.md", "keys.go", "a.pem.md",
	"pem", "key", ".docker/Dockerfile", "docker/config.json", ".config/app.toml", "gcloud", "config.json", "credentials.go", "service.json",
	"example.env", "docker/sample.env", "app.ENV.go", ".envrc.example", "x;1", "a;b.go", "kubeconfig.go", "age/x", "auth.json", "secrets.toml", "credentials.toml", "keys.txt",
	"git", "history.md", "x_history", "git~", "a~1", "GITHUB~1", "GITIGN~1", "x:y", "...", " ", "ünï/．gitignore", "aws.md", "terraform.tf", "", ".", "a/./b", "vars.tfvars",
}

func TestDenylist(t *testing.T) {
	s, err := newDenySet(nil)
	must(t, err)
	for _, c := range deniedNames {
		rule, no := s.denied(c.name)
		if !no || rule != c.rule {
			t.Errorf("%s: %q: %q, %v; want %q", c.trick, c.name, rule, no, c.rule)
		}
	}
	for _, n := range allowedNames {
		if rule, no := s.denied(n); no {
			t.Errorf("%q is withheld by %q", n, rule)
		}
	}
	for _, d := range defaultRules {
		n := strings.ReplaceAll(d.text, "*", "x")
		if rule, no := s.denied("a/" + n); !no {
			t.Errorf("the rule %s does not match %s (%s)", d.text, n, rule)
		}
	}
}

// On disk the same spellings are other files; each holds a secret that a plain
// open gives away.
func TestDenylistOnDisk(t *testing.T) {
	var tree []string
	for _, c := range deniedNames {
		if !strings.Contains(c.name, "..") && len(c.name) < 200 && c.name != ".env/x" && !strings.HasPrefix(c.name, ".env\xff") {
			tree = append(tree, c.name+" = "+outsideText)
		}
	}
	ws, _ := plant(t, tree...)
	eachDoor(t, func(t *testing.T, fallback bool) {
		w := open(t, ws, fallback)
		for _, line := range tree {
			name, _, _ := strings.Cut(line, " = ")
			_, err := w.OpenFile(name)
			if codeOf(t, err) != DeniedPath {
				t.Errorf("%q: %v", name, err)
			}
			if b, err := os.ReadFile(ws + "/" + name); err != nil || string(b) != outsideText {
				t.Errorf("without the guard: %q: %q, %v", name, b, err)
			}
			dir, base := ".", name
			if i := strings.LastIndexByte(name, '/'); i >= 0 {
				dir, base = name[:i], name[i+1:]
			}
			if _, no := w.Denied(dir); no {
				continue
			}
			d, err := w.OpenDir(dir)
			must(t, err)
			_, no := d.Denied(base)
			_, e1 := d.OpenFile(base)
			_, e2 := d.Stat(base)
			_, e3 := d.OpenDir(base)
			if !no || codeOf(t, e1) != DeniedPath || codeOf(t, e2) != DeniedPath || codeOf(t, e3) != DeniedPath {
				t.Errorf("in the folder: %q: %v, %v, %v, %v", name, no, e1, e2, e3)
			}
			d.Close()
		}
	})
}

func TestUserRules(t *testing.T) {
	for _, c := range []struct {
		rule    string
		denied  string
		allowed string
	}{
		{"secrets/", "secrets a/secrets/x SECRETS", "secret secrets.md"},
		{"*.Secret", "a.secret b/A.SECRET a.secret:x", "a.secret.md"},
		{"/top", "top top/x Top", "a/top"},
		{"src/gen", "src/gen src/gen/x SRC/Gen", "a/src/gen src/general gen"},
		{"**/gen/x", "gen/x a/b/gen/x", "gen/y a/gen"},
		{"a/**", "a/x a/x/y", "a b/a/x"},
		{"a/**/z", "a/z a/b/z a/b/c/z", "z b/z a/b"},
		{"a/*/z", "a/b/z", "a/z a/b/c/z"},
		{"no?e", "node noße", "noode noe"},
		{"[ab]x", "ax bx AX", "cx abx"},
		{"[!a]x", "bx éx", "ax x"},
		{"[a-c]y", "by CY", "dy"},
		{"[]]z", "]z", "z"},
		{`\#x`, "#x", "x"},
		{`\!x`, "!x", "x"},
		{`a\*b`, "a*b", "axb ab"},
		{`a\*`, "a*", "ab"},
		{"trail  ", "trail trail/x", "trailer"},
		{"dot.", "dot dot.", "dots"},
		{"Ünï", "ünï ÜNÏ u\u0308ni\u0308", "uni"},
		{"two words", "two~1 TWOWOR~1 two\u00a0words", "two"},
		{"long-name.conf", "LONG-N~1.CON", "LONG-N~1.TXT long.conf"},
		{"a//b", "a/b", "ab"},
		{"x*y*z", "xyz xaybz", "xy xz"},
		{"id_*.pub", "id_rsa.pub", "rsa.pub"},
		{".env.example", ".env.example", ".env.sample"},
		{"!x", "", ""},
	} {
		s, err := newDenySet([]string{"", "# a comment", c.rule})
		if c.denied == "" {
			if err == nil {
				t.Errorf("%q is accepted", c.rule)
			}
			continue
		}
		must(t, err)
		for n := range strings.SplitSeq(strings.ReplaceAll(c.denied, "two~1 ", ""), " ") {
			if rule, no := s.denied(n); !no || rule != strings.TrimSpace(c.rule) {
				t.Errorf("%q lets %q pass (%q)", c.rule, n, rule)
			}
		}
		for n := range strings.SplitSeq(c.allowed, " ") {
			if _, no := s.denied(n); no {
				t.Errorf("%q withholds %q", c.rule, n)
			}
		}
	}
	for _, bad := range []string{"!.env", "/", "//", "*", "**", "**/", "*/", "**/*", "a/../b", "./a", "[a", "a[", "*.", "...", "~"} {
		if _, err := newDenySet([]string{bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		} else if _, err := Open(t.TempDir(), Options{Deny: []string{bad}}); err == nil {
			t.Errorf("Open accepts %q", bad)
		}
	}
	if _, err := newDenySet(make([]string, maxRules+1)); err == nil {
		t.Error("too many rules are accepted")
	}
}

// Rules are found by the names and texts that they need. Tried one by one, they
// say the same.
func TestDenylistIsIndexedRight(t *testing.T) {
	extra := []string{"src/*.key2", "/top/name", "a?c*", "x/**/y", "*mid*dle*", "q/[ab]z", `w/\*lit`, "deep/*/end*"}
	fast, err := newDenySet(extra)
	must(t, err)
	slow, err := newDenySet(extra)
	must(t, err)
	slow.wild, slow.ends = slow.paths, nil
	for i := range slow.rules {
		slow.rules[i].need = nil
	}
	dirs := []string{"", "src/", "top/", "a/.docker/", ".cargo/", "x/1/2/", "q/", "w/", "deep/b/", ".config/", "sops/"}
	names := []string{"name", "main.go", "age", "config.json", "credentials", "CONFIG.JSON", "config.json;1", "config.json::$DATA", "CREDEN~1", "x.key2", "abc", "y", "midxdle", "bz", "*lit", "ending", "gh", "GCLOUD~1", "gcloud", "a.tfstate.b", "my_history", ".x_history", "prod.env", "prod.example.env"}
	hits := 0
	for _, dir := range dirs {
		for _, name := range names {
			_, a := fast.denied(dir + name)
			_, b := slow.denied(dir + name)
			if a != b {
				t.Errorf("%s%s: %v by index, %v one by one", dir, name, a, b)
			}
			if a {
				hits++
			}
		}
	}
	if hits < 40 {
		t.Errorf("only %d names are denied", hits)
	}
}

// Walks ask for every entry, so an ordinary name costs no allocation, however
// many rules there are.
func TestDeniedDoesNotAllocate(t *testing.T) {
	var rules []string
	for i := range 400 {
		rules = append(rules, fmt.Sprintf("rule-%d", i))
	}
	rules = append(rules, "src/gen/*.key2", "*.secret", "tmp*")
	ws, _ := plant(t, "src/App/Server.go = x")
	w := open(t, ws, false, rules...)
	d, err := w.OpenDir("src/App")
	must(t, err)
	defer d.Close()
	for name, f := range map[string]func(){
		"Dir.Denied":       func() { d.Denied("Server_test.go") },
		"Dir.Denied (yes)": func() { d.Denied("id_rsa") },
		"Workspace.Denied": func() { w.Denied("src/App/internal/Server.go") },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// FuzzDenied looks for panics, and for ways to decorate a withheld name that
// some file system would undo.
func FuzzDenied(f *testing.F) {
	for _, c := range deniedNames {
		f.Add(c.name, c.rule)
	}
	for _, n := range allowedNames {
		f.Add(n, "a/**/[b-d]*")
	}
	f.Add("\\\x85", "")
	f.Add(":.env", "")
	f.Add("\xff:.env", "")
	f.Add(".env;.", "")
	plainSet, err := newDenySet(nil)
	must(f, err)
	f.Fuzz(func(t *testing.T, name, rule string) {
		if s, err := newDenySet([]string{rule}); err == nil {
			s.denied(name)
		}
		_, no := plainSet.denied(name)
		if name == "" || strings.HasSuffix(name, "/") {
			return
		}
		decorated := []string{name + ".", name + " ", name + ":x", name + ";1", "a/" + name, name + "/x"}
		if strings.ToLower(strings.ToUpper(name)) == name {
			decorated = append(decorated, strings.ToUpper(name))
		}
		for _, n := range decorated {
			if _, still := plainSet.denied(n); no && !still {
				t.Errorf("%q is withheld, %q is not", name, n)
			}
		}
		if got := foldPath(foldPath(name)); got != foldPath(name) {
			t.Errorf("folding %q twice: %q, then %q", name, foldPath(name), got)
		}
	})
}
