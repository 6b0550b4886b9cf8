package git

import (
	"slices"
	"strings"
	"testing"
)

// The table is closed: a subcommand that is added must be added here, with the
// reason why it is safe.
func TestCommandTable(t *testing.T) {
	allowed := map[string][]string{
		"cat-file":     {"--batch-command"},
		"rev-list":     {"--stdin"},
		"diff-tree":    {"--raw", "-z", "--ignore-submodules=all"},
		"diff-index":   {"--cached", "--raw", "-z", "--ignore-submodules=all"},
		"ls-files":     {"-s", "-z", "--debug"},
		"for-each-ref": nil,
		"blame":        {"--porcelain", "--no-textconv", "--no-ignore-revs-file"},
		"rev-parse":    nil,
		"config":       {"--list", "--includes", "--name-only", "-z"},
		"config bool":  {"--includes", "--type=bool", "--get"},
		"config file":  {"--no-includes", "--list", "-z", "--file"},
	}
	seen := map[string]bool{}
	for _, c := range commands {
		name := c.name
		if c.alone {
			name += " file"
		}
		if slices.Contains(c.args, "--type=bool") {
			name += " bool"
		}
		want, ok := allowed[name]
		if !ok || seen[name] {
			t.Errorf("%s is not in the closed table, or twice", name)
		}
		seen[name] = true
		if c.why == "" {
			t.Errorf("%s: no reason", c.name)
		}
		for _, a := range want {
			if !slices.Contains(c.args, a) {
				t.Errorf("%s: %s is missing", c.name, a)
			}
		}
		for _, a := range c.args {
			for _, bad := range []string{"-p", "--patch", "-m", "-u", "--stat", "--textconv", "--ext-diff", "--show-signature", "-c", "--output", "--no-index"} {
				if a == bad {
					t.Errorf("%s: %s", c.name, a)
				}
			}
		}
	}
	if len(seen) != len(allowed) {
		t.Errorf("%d commands of %d", len(seen), len(allowed))
	}
	for _, a := range []string{"--no-pager", "--literal-pathspecs", "--no-replace-objects"} {
		if !slices.Contains(globalArgs, a) {
			t.Errorf("%s is missing", a)
		}
	}
}

func TestEnvironmentIsBuiltFromNothing(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere")
	t.Setenv("SECRET", "x")
	env := environment(driverSettings([]string{"filter.a=b.clean", "filter.x.y.process", "filter.x.y.clean", "core.bare", "filter.odd"}), func(string) string { return "" })
	got := map[string]string{}
	for _, e := range env {
		k, v, _ := strings.Cut(e, "=")
		if _, twice := got[k]; twice {
			t.Errorf("%s is set twice", k)
		}
		got[k] = v
	}
	for _, k := range []string{"GIT_DIR", "SECRET", "PATH"} {
		if _, ok := got[k]; ok {
			t.Errorf("%s was inherited", k)
		}
	}
	want := map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ATTR_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0",
		"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "TZ": "UTC0", "GIT_ALLOW_PROTOCOL": "",
	}
	for k, v := range want {
		if g, ok := got[k]; !ok || g != v {
			t.Errorf("%s=%q, want %q", k, g, v)
		}
	}
	conf := map[string]string{}
	n := 0
	for ; ; n++ {
		k, ok := got["GIT_CONFIG_KEY_"+itoa(n)]
		if !ok {
			break
		}
		conf[k] = got["GIT_CONFIG_VALUE_"+itoa(n)]
	}
	if got["GIT_CONFIG_COUNT"] != itoa(n) || n != len(settings)+8 {
		t.Errorf("count %s, %d keys", got["GIT_CONFIG_COUNT"], n)
	}
	for k, v := range map[string]string{
		"core.fsmonitor": "false", "core.hooksPath": "/dev/null", "core.attributesFile": "/dev/null", "core.excludesFile": "/dev/null",
		"core.commitGraph": "false", "core.abbrev": "40", "core.quotePath": "true", "protocol.allow": "never", "protocol.ext.allow": "never",
		"log.showSignature": "false", "log.mailmap": "false", "mailmap.file": "", "mailmap.blob": "", "color.ui": "false", "diff.orderFile": "",
		"i18n.logOutputEncoding": "UTF-8", "safe.bareRepository": "explicit",
		"filter.a=b.clean": "", "filter.a=b.required": "false", "filter.x.y.process": "", "filter.x.y.smudge": "",
	} {
		if g, ok := conf[k]; !ok || g != v {
			t.Errorf("%s=%q (set: %v), want %q", k, g, ok, v)
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
