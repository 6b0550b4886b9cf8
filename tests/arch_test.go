// Package tests holds what spans packages: the import rules, the attacks, and
// the tests that run the built program.
package tests

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "mcp-devserver"

// importRules: no package below the first path may import, directly or
// through others of ours, what begins with the second. A path that ends in a
// slash stands for everything below it; exceptions may.
var importRules = []struct {
	from, forbidden, why string
	except               []string
}{
	{"sandbox", module + "/tools", "the door to the disk knows nobody who uses it", nil},
	{"sandbox", module + "/pipeline", "the door to the disk knows nobody who uses it", nil},
	{"sandbox", module + "/stages", "the door to the disk knows nobody who uses it", nil},
	{"redos", module + "/", "the guard stands alone", nil},
	{"tools", module + "/stages", "tools do not know what JSON-RPC is", nil},
	{"tools", module + "/pipeline", "tools do not know how requests travel", nil},
	{"tools", module + "/cmd", "tools do not know a transport", nil},
	{"pipeline", module + "/stages", "the line carries any messages", nil},
	{"pipeline", module + "/tools", "the line carries any messages", nil},
	{"pipeline", "net/http", "the line knows no transport", nil},
	{"stages", module + "/cmd", "a stage must not know which transport a request came by", nil},
	{"stages", "net/http", "a stage must not know which transport a request came by", nil},
	{"cmd/internal/stdio", module + "/stages", "transports frame messages and look at nothing inside", nil},
	{"cmd/internal/httpd", module + "/stages", "transports frame messages and look at nothing inside", nil},
	{"cmd/internal/stdio", module + "/sandbox", "transports take sealed messages only", []string{"pipeline/seal"}},
	{"cmd/internal/httpd", module + "/sandbox", "transports take sealed messages only", []string{"pipeline/seal"}},
	{"", "github.com/dlclark/regexp2", "one package bounds the engine that can backtrack", []string{"redos"}},
	{"", "github.com/rs/zerolog", "libraries report, the command logs", []string{"cmd"}},
	{"", "github.com/spf13/cobra", "one package reads the command line", []string{"cmd/mcp-devserver"}},
	{"", "github.com/alitto/pond", "the line owns the pool", []string{"pipeline", "stages"}},
	{"", "github.com/sourcegraph/conc", "the line owns the goroutines", []string{"pipeline", "cmd"}},
	{"", "github.com/santhosh-tekuri/jsonschema", "a full validator judges ours, in tests", []string{"tools/internal/tooltest"}},
	{"", "os/exec", "three places start a process: git, what looks for it, and the judge of other servers", []string{"tools/internal/git", "cmd/internal/app", "cmd/internal/fixture", "conformance", "tests/hostile"}},
	{"", "net/http", "the server speaks HTTP in one place, the judge of servers in another", []string{"cmd", "conformance"}},
	{"", "net", "nothing but the command and the judge of servers opens a socket", []string{"cmd", "conformance"}},
	{"", "syscall", "only package sandbox reaches the disk; git and the command look after processes", []string{"sandbox", "tools/internal/git", "cmd", "conformance", "tests/hostile"}},
	{"", "golang.org/x/sys/unix", "only package sandbox reaches the disk; git and the command look after processes", []string{"sandbox", "tools/internal/git", "cmd", "conformance", "tests/hostile"}},
	{"", "golang.org/x/sys/windows", "only package sandbox reaches the disk; git and the command look after processes", []string{"sandbox", "tools/internal/git", "cmd", "conformance"}},
	{"", "golang.org/x/sys/cpu", "what the processor can do matters where texts are searched", []string{"redos"}},
	{"", "io/ioutil", "only package sandbox reaches the disk", nil},
	{"", "debug/", "programs are looked at before they are run", []string{"sandbox", "tools/internal/git"}},
	{"conformance", module + "/", "a judge that shares code with the accused shares its mistakes", nil},
	{"", module + "/cmd/internal/fixture", "the suite's fixture tools do not ship", nil},
	{"", "plugin", "nothing is loaded at run time", nil},
	{"", "encoding/json", "it takes METHOD for method and the last of two equal names", []string{"tools/internal/tooltest", "cmd/internal/transporttest"}},
	{"", "testing", "tests do not ship", []string{"tools/internal/tooltest", "cmd/internal/transporttest", "tests/hostile"}},
	{"", module + "/tests/hostile", "tests do not ship", nil},
}

type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

// packages lists the packages of the module without their tests.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*pkg{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(pkg)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")] = p
	}
}

func under(path, dir string) bool {
	return dir == "" || path == dir || strings.HasPrefix(path, dir+"/")
}

// offences returns the imports of one package that a rule forbids.
func offences(path string, p *pkg, from, forbidden string, except []string) (bad []string) {
	if !under(path, from) || slices.ContainsFunc(except, func(e string) bool { return under(path, e) }) {
		return nil
	}
	for _, i := range p.Imports {
		hit := i == forbidden || strings.HasPrefix(i, strings.TrimSuffix(forbidden, "/")+"/")
		if forbidden == "net" {
			hit = i == "net"
		}
		if hit && !slices.ContainsFunc(except, func(e string) bool { return i == module+"/"+e }) {
			bad = append(bad, i)
		}
	}
	return bad
}

func TestImports(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("only %d packages were found", len(all))
	}
	for _, r := range importRules {
		matched := r.from == ""
		for path, p := range all {
			matched = matched || under(path, r.from)
			for _, bad := range offences(path, p, r.from, r.forbidden, r.except) {
				t.Errorf("%s imports %s: %s", path, bad, r.why)
			}
		}
		if !matched {
			t.Errorf("rule about %s matches no package any more", r.from)
		}
	}
}

// TestImportRulesBite shows that the check sees what it is there to see.
func TestImportRulesBite(t *testing.T) {
	for _, c := range []struct {
		path, imports, from, forbidden string
		except                         []string
		bad                            int
	}{
		{"tools", module + "/stages/wire", "tools", module + "/stages", nil, 1},
		{"toolsmith", module + "/stages/wire", "tools", module + "/stages", nil, 0},
		{"stages", "net/http/httptest", "", "net/http", []string{"cmd"}, 1},
		{"cmd/internal/httpd", "net/http", "", "net/http", []string{"cmd"}, 0},
		{"sandbox", "net/netip", "", "net", []string{"cmd"}, 0},
		{"sandbox", "net", "", "net", []string{"cmd"}, 1},
		{"redos", module + "/sandbox", "redos", module + "/", nil, 1},
	} {
		got := offences(c.path, &pkg{Imports: []string{c.imports}}, c.from, c.forbidden, c.except)
		if len(got) != c.bad {
			t.Errorf("%s importing %s: %v", c.path, c.imports, got)
		}
	}
}

// doors are functions of package os and of path/filepath that reach the disk by
// name.
var doors = func() map[string]string {
	m := map[string]string{}
	for _, n := range strings.Fields("Open OpenFile ReadFile ReadDir Stat Lstat Readlink DirFS OpenRoot OpenInRoot Getwd Chdir NewFile filepath.Walk filepath.WalkDir filepath.Glob filepath.EvalSymlinks filepath.Abs") {
		m[n] = "only package sandbox reaches the disk"
	}
	for _, n := range strings.Fields("Create CreateTemp WriteFile Mkdir MkdirAll MkdirTemp Remove RemoveAll Rename Symlink Link Chmod Chown Lchown Chtimes Truncate CopyFS") {
		m[n] = "this program never changes a file"
	}
	return m
}()

// writes are files that may change others, with the reason.
var writes = map[string]string{
	"cmd/internal/app/probe_tree.go": "doctor attacks a server over a temporary folder of its own",
}

// TestDoors: reading goes through the sandbox, and nothing writes.
func TestDoors(t *testing.T) {
	// git looks at the program that it runs and opens /dev/null.
	readers := []string{"sandbox", "cmd", "tools/internal/git"}
	for path, p := range packages(t) {
		if under(path, "tests") || under(path, "bench") || under(path, "tools/internal/tooltest") || under(path, "cmd/internal/fixture") {
			continue
		}
		for _, name := range p.GoFiles {
			for _, use := range uses(t, filepath.Join(p.Dir, name), nil) {
				why := doors[use]
				reads := why == "only package sandbox reaches the disk"
				if why == "" || writes[path+"/"+name] != "" || reads && slices.ContainsFunc(readers, func(r string) bool { return under(path, r) }) {
					continue
				}
				t.Errorf("%s/%s calls %s: %s", path, name, use, why)
			}
		}
	}
}

// attachments is the method that puts blocks past the fence, the scan and the
// redaction.
const attachments = "Attachments"

// TestAttachments: only the fixture server has content beside the text.
func TestAttachments(t *testing.T) {
	found := 0
	for path, p := range packages(t) {
		for _, name := range p.GoFiles {
			if !slices.Contains(methods(t, filepath.Join(p.Dir, name), nil), attachments) {
				continue
			}
			found++
			if path != "cmd/internal/fixture" {
				t.Errorf("%s/%s has a method %s: what a tool answers stands inside the fence", path, name, attachments)
			}
		}
	}
	if found == 0 {
		t.Errorf("no method is called %s any more", attachments)
	}
}

func TestAttachmentsBite(t *testing.T) {
	src := "package p\nfunc (o *out) Attachments() []Word { return nil }\nfunc Free() {}"
	if got := methods(t, "p.go", src); !slices.Equal(got, []string{attachments}) {
		t.Errorf("%v", got)
	}
}

// methods lists the names of the methods that a file declares.
func methods(t *testing.T, name string, src any) (list []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			list = append(list, f.Name.Name)
		}
	}
	return list
}

func TestDoorsBite(t *testing.T) {
	src := `package p
import disk "os"
import "path/filepath"
func f() { disk.WriteFile("x", nil, 0); disk.Getenv("y"); filepath.Walk("z", nil) }`
	if got := uses(t, "p.go", src); !slices.Equal(got, []string{"WriteFile", "Getenv", "filepath.Walk"}) {
		t.Errorf("%v", got)
	}
}

// uses lists the selectors on package os in a file, and with their package's name
// those on path/filepath.
func uses(t *testing.T, name string, src any) (list []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	prefix := map[string]string{} // by the package's name in this file
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name, before := "os", ""
		switch p {
		case "os":
		case "path/filepath":
			name, before = "filepath", "filepath."
		default:
			continue
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		prefix[name] = before
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				if before, ok := prefix[x.Name]; ok {
					list = append(list, before+s.Sel.Name)
				}
			}
		}
		return true
	})
	return list
}

// TestTopLevel: a reader finds everything in one of ten folders.
func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	folders := strings.Fields("cmd pipeline stages sandbox tools redos conformance bench tests docs .git .ci bin")
	files := strings.Fields("go.mod go.sum Makefile README.md LICENSE Dockerfile compose.yaml .env.example .gitignore .dockerignore .git coverage.out")
	for _, e := range entries {
		if list := files; e.IsDir() && !slices.Contains(folders, e.Name()) || !e.IsDir() && !slices.Contains(list, e.Name()) {
			t.Errorf("%s stands at the top level", e.Name())
		}
	}
}

// TestNothingOfThisMachine: what is committed names no place that only one
// machine has.
func TestNothingOfThisMachine(t *testing.T) {
	out, err := exec.Command("git", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a git checkout: the tree was unpacked from an archive")
	}
	forbidden := regexp.MustCompile(`(^|[^a-z])/roo[t]/|/wor[k]/main|/tm[p]/w/|proxy\.golan[g]\.org|registry\.npmj[s]\.org`)
	checked := 0
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join("..", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checked++
		if at := forbidden.FindIndex(b); at != nil {
			t.Errorf("%s names %q", name, b[at[0]:min(at[0]+40, len(b))])
		}
	}
	if checked < 50 {
		t.Errorf("only %d files were looked at", checked)
	}
}
