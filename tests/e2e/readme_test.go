package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// fenced returns the blocks of a language.
func fenced(text, language string) (list []string) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] == language {
			list = append(list, m[2])
		}
	}
	return list
}

// TestReadmeCommands runs what the README tells a reader to type, in order, in
// a copy of the repository. A block that starts a server runs beside the
// blocks after it. "make test" is what runs this test.
func TestReadmeCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repository")
	copyRepository(t, dir)
	blocks := fenced(readme(t), "sh")
	if len(blocks) < 5 {
		t.Fatalf("%d blocks", len(blocks))
	}
	address := freePort(t)
	// What must be in the output of a block that holds the key.
	shows := map[string][]string{
		"call project_overview": {"go.mod", "workspace data"},
		"call search_code":      {"read_file(path", "matches in", "OpenFile", "sandbox/workspace.go · lines 1-20"},
		"curl":                  {`"id":1,"result":`, "module mcp-devserver", `"status":"ready"`},
	}
	ran := map[string]bool{}
	for _, block := range blocks {
		if strings.TrimSpace(block) == "make test" {
			continue
		}
		here := strings.ReplaceAll(block, "127.0.0.1:8080", address)
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", here)
		cmd.Dir, cmd.Env = dir, os.Environ()
		if strings.Contains(block, " serve ") {
			cmd = exec.Command("bash", "-euo", "pipefail", "-c", "exec "+strings.TrimSpace(here))
			cmd.Dir = dir
			w := &web{address: address, client: newClient()}
			w.child = start(t, cmd, os.Environ())
			t.Cleanup(func() { w.terminate(t) })
			if !w.ready() {
				t.Fatalf("%s\nends: %s", block, w.stderr)
			}
			ran["serve"] = true
			continue
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", block, err, out)
		}
		for key, all := range shows {
			if !strings.Contains(block, key) {
				continue
			}
			ran[key] = true
			for _, s := range all {
				if !strings.Contains(string(out), s) {
					t.Errorf("%s\nshows no %q:\n%.3000s", block, s, out)
				}
			}
		}
	}
	for _, key := range []string{"call project_overview", "call search_code", "curl", "serve"} {
		if !ran[key] {
			t.Errorf("no block holds %q any more", key)
		}
	}
}

// copyRepository copies what belongs to the repository: not its history, nor
// what was built in it.
func copyRepository(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if rel == ".git" || rel == "bin" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReadmeConfiguration: the JSON that a reader copies is JSON, and what it
// starts is a server.
func TestReadmeConfiguration(t *testing.T) {
	started := false
	for _, block := range fenced(readme(t), "json") {
		var v struct {
			Servers map[string]struct {
				Command string            `json:"command"`
				Args    []string          `json:"args"`
				Env     map[string]string `json:"env"`
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(block), &v); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
		for name, s := range v.Servers {
			started = true
			if filepath.Base(s.Command) != "mcp-devserver" {
				t.Errorf("%s starts %q", name, s.Command)
			}
			env := environment("")
			for k := range s.Env {
				if s.Env[k] = strings.Replace(s.Env[k], "/absolute/path/to/your/repository", workspace, 1); k == "MCP_SANDBOX__WORKSPACE" && s.Env[k] != workspace {
					t.Errorf("%s serves %q", name, s.Env[k])
				}
				env = append(env, k+"="+s.Env[k])
			}
			c := start(t, exec.Command(program, s.Args...), env)
			if m := c.exchange(readMod, 1)[0]; m.Result == nil {
				t.Errorf("%s: %.300s", name, m.Raw)
			}
			c.must()
		}
	}
	if !started {
		t.Error("no configuration of a client")
	}
}

// TestReadmeDenial: the denial that the README shows is the one that is given.
func TestReadmeDenial(t *testing.T) {
	for _, block := range fenced(readme(t), "json") {
		var want map[string]any
		if err := json.Unmarshal([]byte(block), &want); err != nil || want["isError"] == nil {
			continue
		}
		dir := filepath.Join(t.TempDir(), "myproject")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		c := stdio(t, dir)
		var got map[string]any
		if err := json.Unmarshal(c.exchange(call("1", "read_file", `{"path":"../../.ssh/id_rsa"}`), 1)[0].Result, &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "_meta")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the README shows\n%v\nthe server says\n%v", want, got)
		}
		c.must()
		return
	}
	t.Error("the README shows no denial")
}

var link = regexp.MustCompile(`\]\(([^)#]+)`)

// TestReadmeLinks: what it points to within the repository is there.
func TestReadmeLinks(t *testing.T) {
	found := 0
	for _, m := range link.FindAllStringSubmatch(readme(t), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		found++
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	if found < 3 {
		t.Errorf("%d links", found)
	}
}
