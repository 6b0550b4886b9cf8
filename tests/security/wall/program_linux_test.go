package wall

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcp-devserver/sandbox"
)

// The built program behind the wall, over both transports.

var building struct {
	once sync.Once
	path string
	err  error
}

// program builds the server once, where every user may run it.
func program(t testing.TB) string {
	t.Helper()
	building.once.Do(func() {
		dir, err := os.MkdirTemp("", "wall-program")
		if err != nil {
			building.err = err
			return
		}
		os.Chmod(dir, 0o755)
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			building.err = err
			return
		}
		building.path = filepath.Join(dir, "mcp-devserver")
		if out, err := exec.Command("go", "build", "-o", building.path, "mcp-devserver/cmd/mcp-devserver").CombinedOutput(); err != nil {
			building.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if building.err != nil {
		t.Fatal(building.err)
	}
	return building.path
}

// repository makes a workspace of the user's own, with history and changes.
func repository(t testing.TB, u user) string {
	t.Helper()
	ws := filepath.Join(u.folder(t), "shop")
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(1_700_000_000, 0)
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", ws, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write("go.mod", "module shop\n")
	write("cart/cart.go", "package cart\n\n// Total adds up.\nfunc Total(prices []int) (sum int) {\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n")
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	write("README.md", "# Shop\n")
	git("add", ".")
	git("commit", "-q", "-m", "second")
	write("cart/cart.go", "package cart\n\n// Total adds up.\nfunc Total(prices []int) int { return len(prices) }\n")
	err := filepath.WalkDir(filepath.Dir(ws), func(name string, _ os.DirEntry, err error) error {
		u.owns(t, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// questions are calls of all seven tools; five of them run git.
var questions = []struct{ tool, args, expect string }{
	{"project_overview", `{}`, "shop"},
	{"list_directory", `{"depth":3,"details":true}`, "cart.go"},
	{"search_code", `{"pattern":"func \\w+"}`, "Total"},
	{"find_symbol", `{"name":"Total"}`, "cart/cart.go"},
	{"read_file", `{"path":"cart/cart.go"}`, "len(prices)"},
	{"read_file", `{"path":"cart/cart.go","revision":"HEAD"}`, "sum += p"},
	{"git_log", `{}`, "second"},
	{"git_log", `{"path":"cart/cart.go","start_line":1,"end_line":2}`, "first"},
	{"git_diff", `{}`, "len(prices)"},
	{"git_diff", `{"base":"HEAD~1","head":"HEAD"}`, "README.md"},
}

const envelope = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func request(id int) string {
	q := questions[id]
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, q.tool, q.args, envelope)
}

// changing are the parts of an answer that differ from one run to the next.
var changing = regexp.MustCompile(`\b[0-9a-f]{16}\b`)

// settings are what a child of the test gets as environment.
func settings(ws string, more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "MCP_SANDBOX__WORKSPACE=" + ws, "MCP_SANDBOX__ALLOW_ROOT=true", "MCP_SANDBOX__ALLOW_WRITABLE=true"}, more...)
}

// pipe is a server over stdin and stdout.
type pipe struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *strings.Builder
}

func overPipe(t testing.TB, cmd *exec.Cmd) *pipe {
	t.Helper()
	p := &pipe{t: t, cmd: cmd, stderr: new(strings.Builder)}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.in.Close(); cmd.Process.Kill(); cmd.Wait() })
	return p
}

func (p *pipe) ask(message string) string {
	p.t.Helper()
	if _, err := io.WriteString(p.in, message+"\n"); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.cmd.Wait()
		p.t.Fatalf("%v; stderr: %s", err, p.stderr)
	}
	return line
}

// end closes the input and returns the exit code and what was said on stderr.
func (p *pipe) end() (int, string) {
	p.in.Close()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Error(err)
	}
	return p.cmd.ProcessState.ExitCode(), p.stderr.String()
}

// web is a server over HTTP.
type web struct {
	t    testing.TB
	cmd  *exec.Cmd
	base string
}

func overHTTP(t testing.TB, cmd *exec.Cmd) *web {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said = append(said, lines.Text())
		var entry struct{ Message, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Message == "listening" {
			go io.Copy(io.Discard, stderr)
			return &web{t, cmd, "http://" + entry.Address}
		}
	}
	t.Fatalf("it does not listen: %s", strings.Join(said, "\n"))
	return nil
}

func (w *web) send(method, path, body string, header ...string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply.StatusCode, string(b)
}

func (w *web) ask(id int) string {
	w.t.Helper()
	_, body := w.send("POST", "/mcp", request(id), "Mcp-Method", "tools/call", "Mcp-Name", questions[id].tool)
	return body
}

// confined checks that every thread of a process is filtered and has no way to
// more privileges.
func confined(t *testing.T, pid int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("%d threads, %v", len(tasks), err)
	}
	for _, name := range tasks {
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
			if !strings.Contains(string(b), line) {
				t.Errorf("%s lacks %q", name, line)
			}
		}
	}
}

// TestWallTools: all tools answer behind the wall what they answer without it,
// over both transports, as root and as an ordinary user.
func TestWallTools(t *testing.T) {
	needsWall(t)
	for _, u := range users() {
		t.Run(u.name, func(t *testing.T) {
			ws := repository(t, u)
			answers := map[string][]string{}
			for _, mode := range []string{"off", "enforce"} {
				env := settings(ws, "MCP_SANDBOX__OS_SANDBOX="+mode)
				cmd := u.of(exec.Command(program(t), "serve"))
				cmd.Env, cmd.Dir = env, "/"
				p := overPipe(t, cmd)
				cmd = u.of(exec.Command(program(t), "serve", "--transport", "http", "--listen", "127.0.0.1:0"))
				cmd.Env, cmd.Dir = env, "/"
				w := overHTTP(t, cmd)
				for id, q := range questions {
					a, b := p.ask(request(id)), w.ask(id)
					if !strings.Contains(a, `"isError":false`) && strings.Contains(a, `"isError"`) || !strings.Contains(a, q.expect) {
						t.Errorf("%s: %s %s: %.600s", mode, q.tool, q.args, a)
					}
					answers["stdio "+mode] = append(answers["stdio "+mode], changing.ReplaceAllString(a, "…"))
					answers["http "+mode] = append(answers["http "+mode], changing.ReplaceAllString(b, "…"))
				}
				_, ready := w.send("GET", "/readyz", "")
				if want := map[string]string{"off": `"sandbox":"disabled"`, "enforce": `"sandbox":"ok"`}[mode]; !strings.Contains(ready, want) {
					t.Errorf("%s: %s", mode, ready)
				}
				if mode == "enforce" {
					confined(t, p.cmd.Process.Pid)
					confined(t, w.cmd.Process.Pid)
				}
				if code, said := p.end(); code != 0 {
					t.Errorf("%s: exit code %d: %s", mode, code, said)
				}
			}
			for _, transport := range []string{"stdio ", "http "} {
				for id, want := range answers[transport+"off"] {
					if got := answers[transport+"enforce"][id]; got != want {
						t.Errorf("%s: %s %s behind the wall: %.800s\nwithout: %.800s", transport, questions[id].tool, questions[id].args, got, want)
					}
				}
			}
			for _, command := range [][]string{{"call", "git_log"}, {"doctor"}} {
				cmd := u.of(exec.Command(program(t), command...))
				cmd.Env, cmd.Dir = settings(ws, "MCP_SANDBOX__OS_SANDBOX=enforce"), "/"
				if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "  warn ") {
					t.Errorf("%v: %v\n%s", command, err, out)
				} else if command[0] == "doctor" {
					for _, line := range []string{"  ok    kernel's wall, files: Landlock ", "the folder above the workspace was refused", "  ok    kernel's wall, system calls: filtered on every thread", "  ok    history: can be read"} {
						if !strings.Contains(string(out), line) {
							t.Errorf("doctor does not say %q:\n%s", line, out)
						}
					}
				}
			}
		})
	}
}

// TestWallMissing: on a kernel that lacks something the server does what the
// settings say.
func TestWallMissing(t *testing.T) {
	whole := sandbox.KernelWall().Whole()
	u := users()[0]
	ws := repository(t, u)
	self := again(t, u, "program").Path
	command := func(kernel string, env []string, args ...string) *exec.Cmd {
		cmd := u.of(exec.Command(self, append([]string{program(t)}, args...)...))
		cmd.Env, cmd.Dir = append(env, roleVariable+"=program", "WALL_KERNEL="+kernel), "/"
		return cmd
	}
	for _, c := range []struct {
		kernel, setting, environment string
		code                         int
		says, doctor, ready          string
	}{
		{"no Landlock", "auto", "development", 0, "the kernel's wall is not whole", "  warn  kernel's wall, files: no Landlock\n", "degraded"},
		{"no Landlock", "auto", "production", 0, "the kernel's wall is not whole", "", ""},
		{"no Landlock", "enforce", "development", 78, "refused: MCP_SANDBOX__OS_SANDBOX: found \"enforce\": this kernel offers too little (no Landlock; system calls: filtered on every thread)", "  fail  MCP_SANDBOX__OS_SANDBOX", ""},
		{"no filter", "auto", "development", 0, "the kernel's wall is not whole", "  warn  kernel's wall, system calls: no filter\n", "degraded"},
		{"no filter", "enforce", "production", 78, "refused: MCP_SANDBOX__OS_SANDBOX: found \"enforce\"", "", ""},
		{"neither", "auto", "development", 0, "warning: MCP_SANDBOX__OS_SANDBOX: found \"auto\": this kernel offers nothing", "  warn  kernel's wall, files: no Landlock\n", "degraded"},
		{"neither", "auto", "production", 78, "refused: MCP_SANDBOX__OS_SANDBOX: found \"auto\": this kernel offers nothing", "  fail  MCP_SANDBOX__OS_SANDBOX", ""},
		{"neither", "off", "production", 78, "refused: MCP_SANDBOX__OS_SANDBOX: found \"off\"", "", ""},
		{"neither", "external", "production", 0, "", "  ok    kernel's wall: left to the surrounding container (external)\n", "ok"},
		{"hollow Landlock", "auto", "development", 0, "the kernel's wall is not whole", "  warn  kernel's wall, files: no Landlock\n", "degraded"},
		{"hollow Landlock", "enforce", "production", 78, "refused: MCP_SANDBOX__OS_SANDBOX: the kernel did not raise the wall: landlock: it was raised, and does not hold", "  fail  kernel's wall", ""},
		{"hollow filter", "auto", "development", 0, "the kernel's wall is not whole", "  warn  kernel's wall, system calls: no filter\n", "degraded"},
		{"hollow filter", "enforce", "development", 78, "refused: MCP_SANDBOX__OS_SANDBOX: the kernel did not raise the wall: system calls: it was raised, and does not hold", "  fail  kernel's wall", ""},
		{"whole", "enforce", "production", 0, "", "  ok    kernel's wall, system calls: filtered on every thread\n", "ok"},
	} {
		name := c.kernel + ", " + c.setting + ", " + c.environment
		if !whole && c.kernel != "neither" {
			continue
		}
		env := settings(ws, "MCP_SANDBOX__OS_SANDBOX="+c.setting, "MCP_ENVIRONMENT="+c.environment)
		p := overPipe(t, command(c.kernel, env, "serve"))
		if c.code == 0 {
			if a := p.ask(request(6)); !strings.Contains(a, "second") {
				t.Errorf("%s: %s", name, a)
			}
		}
		code, said := p.end()
		if code != c.code || !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "wall") {
			t.Errorf("%s: exit code %d, %s", name, code, said)
		}
		if c.doctor != "" {
			out, _ := command(c.kernel, env, "doctor").CombinedOutput() // its exit code is its verdict
			if !strings.Contains(string(out), c.doctor) {
				t.Errorf("%s: doctor: %s", name, out)
			}
		}
		if c.ready != "" {
			w := overHTTP(t, command(c.kernel, env, "serve", "--transport", "http", "--listen", "127.0.0.1:0"))
			if status, body := w.send("GET", "/readyz", ""); status != 200 || !strings.Contains(body, `"sandbox":"`+c.ready+`"`) {
				t.Errorf("%s: readyz: %d %s", name, status, body)
			}
		}
	}
}

// TestWallExternalData: a linked work tree, whose history lies elsewhere, is
// read behind the wall when an operator allowed that, and nothing else there.
func TestWallExternalData(t *testing.T) {
	needsWall(t)
	for _, u := range users() {
		ws := repository(t, u)
		tree := filepath.Join(filepath.Dir(ws), "tree")
		cmd := u.of(exec.Command("git", "-C", ws, "worktree", "add", "-q", tree, "HEAD~1"))
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, allow := range []bool{false, true} {
			cmd := u.of(exec.Command(program(t), "serve"))
			cmd.Env, cmd.Dir = settings(tree, "MCP_SANDBOX__OS_SANDBOX=enforce", "MCP_GIT__ALLOW_EXTERNAL="+strconv.FormatBool(allow)), "/"
			if a := overPipe(t, cmd).ask(request(6)); strings.Contains(a, "first") != allow || strings.Contains(a, "git_outside_workspace") == allow {
				t.Errorf("%s, allowed %v: %s", u.name, allow, a)
			}
		}
	}
}
