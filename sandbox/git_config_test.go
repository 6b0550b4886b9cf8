package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Configuration is read as git reads it, on files made of what its syntax knows.
func TestConfigAgainstGit(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	valid, on := 0, 0
	for n := range 300 {
		var b strings.Builder
		b.WriteString(pick("", "", "", "\xef\xbb\xbf"))
		for k := 1 + r.IntN(5); k > 0; k-- {
			b.WriteString(pick("[core]", "[core]", "[core]\n", "[CORE]\r\n", "[core ]", "[core \"sub\"]\n", "[core.sub]", "[remote \"a\\\"]b\"]\n", "[core] # x\n", " [core]\n\t", "# c\n[core]", "[core]\n\n", "[x]\n"))
			if r.IntN(40) == 0 {
				b.WriteString(pick("[coré]", "[]", "[core", "[core \"x", "x"))
			}
			b.WriteString(pick("ignorecase", "ignoreCase", "IGNORECASE", " ignorecase", "ignorecase", "other", "x-1", "ignorecase2"))
			if r.IntN(40) == 0 {
				b.WriteString(pick("_", "é", "x y"))
			}
			b.WriteString(pick(" = ", " = ", "=", "\t=\t", " = ", "= ", "\n#"))
			b.WriteString(pick("true", "false", "YES", "on", "off", "no", "0", "1", "2k", "-1", "0x0", "", `"true"`, `tr"ue"`, "tr\\\nue", "true ; c", "true#c", "true \t", "\t on"))
			if r.IntN(40) == 0 {
				b.WriteString(pick("tru", `"tr`, `\\`, `\n`, `\t`, `\q`, `"; c"`, " rue", "\\"))
			}
			b.WriteString(pick("\n", "\n", "\r\n", "\n\n", "\r", ""))
		}
		file := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "config", "--file", file, "--type=bool", "--get", "core.ignorecase")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.Output()
		if e, ok := err.(*exec.ExitError); ok && e.ExitCode() != 1 {
			configEntries([]byte(b.String()), func(string, string, bool) {})
			continue // git refuses the whole repository
		}
		valid++
		got := false
		configEntries([]byte(b.String()), func(key, value string, set bool) {
			if key == "core.ignorecase" {
				got = configBool(value, set)
			}
		})
		if want := strings.TrimSpace(string(out)) == "true"; got != want {
			t.Errorf("%q: %v, git says %q", b.String(), got, out)
		}
		if got {
			on++
		}
	}
	if valid < 50 || on < 10 {
		t.Errorf("%d files are valid and %d set it: they prove little", valid, on)
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{"[core]\n\tignorecase = true\n", "[a \"b\\\"\"] c = \"d\\\n e\" # f\r\n", "[", "[a \"", "[a]b=\\", "\xef\xbb\xbf[a]b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		configEntries(b, func(key, value string, set bool) {
			if !strings.Contains(key, ".") || len(key)+len(value) > len(b)+1 {
				t.Errorf("%q = %q", key, value)
			}
			configBool(value, set)
		})
	})
}
