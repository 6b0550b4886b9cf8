package security

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// refusals collects every error text of every test of this package.
var refusals struct {
	sync.Mutex
	count int
	codes map[string]int
	bad   []string
}

// place is a path that says where something lies on this machine.
var place = regexp.MustCompile(`(?:^|[\s"'(=])(/(?:tmp|home|root|usr|etc|var|proc|dev|opt|private|Users|work)(?:/[^\s"')]*)?)`)

// inspect looks for places in one error text. What the caller wrote may come
// back, shortened too.
func inspect(sent, got string) {
	if traced() {
		return // it reads /etc/passwd for the name of the user
	}
	r := reply{raw: got, isError: true}
	text := r.decoded()
	var said []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			said = append(said, v)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				said = append(said, k)
				walk(x)
			}
		}
	}
	var v any
	if json.Unmarshal([]byte(sent), &v) == nil {
		walk(v)
	}
	slices.SortFunc(said, func(a, b string) int { return len(b) - len(a) })
	text = without(text, said...)
	refusals.Lock()
	defer refusals.Unlock()
	refusals.count++
	if refusals.codes == nil {
		refusals.codes = map[string]int{}
	}
	refusals.codes[r.code()]++
	bad := func(what string) {
		if len(refusals.bad) < 10 && !strings.Contains(sent, what) {
			refusals.bad = append(refusals.bad, fmt.Sprintf("%q in %.400s\n  of %.400s", what, got, sent))
		}
	}
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		bad(m[1])
	}
	for _, p := range places() {
		i := strings.Index(text, p)
		if i > 0 && p[0] == '/' && !strings.ContainsRune(" \t\n\"'(=", rune(text[i-1])) {
			continue // the end of a relative name
		}
		if i >= 0 {
			bad(p)
		}
	}
}

// places are names of this machine and of whoever runs the tests.
var places = sync.OnceValue(func() (list []string) {
	add := func(s string, err error) {
		if err == nil && len(s) > 3 && s != "root" { // root is also a word of ours
			list = append(list, s)
		}
	}
	add(os.UserHomeDir())
	add(os.Getwd())
	add(os.Hostname())
	add(filepath.Clean(os.TempDir())+"/", nil)
	if u, err := user.Current(); err == nil {
		add(u.HomeDir, nil)
		if !strings.Contains("nobody user build runner", u.Username) {
			add(u.Username, nil)
		}
	}
	return append(list, "zaphod", "goroutine ", ".go:", "runtime error", "no such file or directory", "permission denied", "fatal:")
})

// TestInspect: what inspect is for, it finds.
func TestInspect(t *testing.T) {
	found := func(sent, got string) bool {
		refusals.Lock()
		before, count, codes := refusals.bad, refusals.count, refusals.codes
		refusals.bad, refusals.codes = nil, nil
		refusals.Unlock()
		inspect(sent, got)
		refusals.Lock()
		defer refusals.Unlock()
		n := len(refusals.bad)
		refusals.bad, refusals.count, refusals.codes = before, count, codes
		return n > 0
	}
	answer := func(text string) string { return `{"error":{"code":1,"message":` + quote(text) + `}}` }
	for text, want := range map[string]bool{
		"open /tmp/x/y: no such file": true, "'/home/me/ws' is gone": true, "lies in " + os.TempDir() + "/a": true, "the user zaphod": true, "panic: runtime error": true,
		"fatal: not a git repository": true, "'src/tmp/x' is missing": false, "'../../etc' leads out of ws/": false, "call read_file": false,
	} {
		if found(`{}`, answer(text)) != want {
			t.Errorf("%q: found %v", text, !want)
		}
	}
	if found(`{"path":"/etc/passwd"}`, answer("'/etc/passwd' leads out")) {
		t.Error("the caller's own words are a find")
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	flag.Parse()
	for _, b := range refusals.bad {
		fmt.Printf("an error text tells where something lies: %s\n", b)
		code = 1
	}
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" && flag.Lookup("test.list").Value.String() == ""
	if whole && code == 0 && (refusals.count < 3000 || len(refusals.codes) < 12) {
		fmt.Printf("only %d error texts with %d codes were looked at: %v\n", refusals.count, len(refusals.codes), refusals.codes)
		code = 1
	}
	if testing.Verbose() {
		fmt.Printf("%d error texts looked at, by code: %v\n", refusals.count, refusals.codes)
	}
	os.Exit(code)
}
