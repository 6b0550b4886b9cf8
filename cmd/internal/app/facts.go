package app

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"mcp-devserver/sandbox"
)

// facts are what the refusals look at beside the settings. They are gathered
// once, before anything is served.
type facts struct {
	http       bool   // the transport is HTTP
	workspace  string // resolved; "" when it could not be
	executable string // resolved
	uid        int
	writable   bool // this process could write the workspace
	git        gitFacts
	homes      []string
	wall       sandbox.Wall // what the kernel offers
}

type gitFacts struct {
	path    string // absolute, resolved; "" when none
	script  bool   // not a program of the system's own format
	version [2]int
}

func gather(c *Config, http bool) *facts {
	f := &facts{http: http, uid: os.Getuid()}
	if workspaceProblem(c) == nil {
		f.workspace = resolved(c.Workspace)
		f.writable = writable(f.workspace)
	}
	if exe, err := os.Executable(); err == nil {
		f.executable = resolved(exe)
	}
	f.homes = homes()
	f.wall = sandbox.KernelWall()
	if c.GitEnabled {
		f.git = findGit(c.GitBinary)
	}
	return f
}

// findGit returns what is known of the git that will be run.
func findGit(binary string) (g gitFacts) {
	path := binary
	if path == "" {
		found, err := exec.LookPath("git")
		if err != nil {
			return g
		}
		path = found
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return g
	}
	abs = resolved(abs)
	st, err := os.Stat(abs)
	if err != nil || !st.Mode().IsRegular() || runtime.GOOS != "windows" && st.Mode()&0o111 == 0 {
		return g
	}
	g.path = abs
	g.script = script(abs)
	if !g.script {
		g.version = gitVersion(abs)
	}
	return g
}

// gitVersion asks a program for its version, with nothing of this process's
// environment.
func gitVersion(path string) (v [2]int) {
	cmd := exec.Command(path, "version")
	cmd.Env = []string{"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	cmd.Dir = filepath.Dir(path)
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(5*time.Second, func() {
		if cmd.Process != nil {
			cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	out, err := cmd.Output()
	if err != nil {
		return v
	}
	fmt.Sscanf(string(out), "git version %d.%d", &v[0], &v[1])
	return v
}

// script reports that a file is no program of the system's own format.
func script(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	var head [4]byte
	n, _ := io.ReadFull(f, head[:])
	if runtime.GOOS == "linux" {
		return string(head[:n]) != "\x7fELF"
	}
	return n < 2 || string(head[:2]) == "#!"
}

func resolved(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// tooWide tells the folders that hold far more than one project.
func tooWide(dir string, homes []string) bool {
	if filepath.Dir(dir) == dir {
		return true
	}
	for _, d := range []string{"/etc", "/usr", "/var", "/proc", "/sys", "/dev", "/root", "/home", "/Users", "/tmp"} {
		if dir == resolved(d) {
			return true
		}
	}
	for _, h := range homes {
		if dir == h {
			return true
		}
	}
	return false
}

// homes returns the resolved home folders of this machine's users, as far as
// they can be told without asking a directory service.
func homes() []string {
	var list []string
	add := func(dir string) {
		if filepath.IsAbs(dir) && dir != "/" {
			list = append(list, resolved(dir))
		}
	}
	if h, err := os.UserHomeDir(); err == nil {
		add(h)
	}
	if b, err := os.ReadFile("/etc/passwd"); err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			if f := strings.Split(line, ":"); len(f) == 7 {
				add(f[5])
			}
		}
	}
	return list
}

// prefix reads an address or a network.
func prefix(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Prefix(a.BitLen())
	}
	return netip.ParsePrefix(s)
}

// exposed reports an address that other machines can reach; what is no address
// at all is refused on its own account.
func exposed(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "localhost" {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}

// weak tells why a token is no secret.
func weak(token string) string {
	seen := map[rune]bool{}
	for _, r := range token {
		seen[r] = true
	}
	lower := strings.ToLower(token)
	switch {
	case len(token) < 32:
		return "shorter than 32 characters"
	case len(seen) < 8:
		return "it repeats a few characters"
	case strings.Contains(lower, "change-me"), strings.Contains(lower, "changeme"), strings.Contains(lower, "example"), strings.Contains(lower, "0123456789"):
		return "it looks like a sample value"
	}
	return ""
}
