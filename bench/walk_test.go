package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/sandbox"
	"mcp-devserver/stages"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

// source is ordinary Go text of the given size.
func source(size int) string {
	var b strings.Builder
	b.WriteString("package sample\n\nimport (\n\t\"context\"\n\t\"fmt\"\n)\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\n// step%d doubles what it is given and says so.\nfunc step%d(ctx context.Context, n int) (int, error) {\n\tif err := ctx.Err(); err != nil {\n\t\treturn 0, fmt.Errorf(\"step %%d: %%w\", n, err)\n\t}\n\treturn 2 * n, nil\n}\n", i, i)
	}
	return b.String()[:size]
}

// server builds the line over a folder that holds a 10 KiB file and a small
// tree.
func server(tb testing.TB) *pipeline.Line {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "project")
	for name, text := range map[string]string{
		"ten.go": source(10 << 10), "README.md": "# Sample\n", "go.mod": "module sample\n", "cmd/main.go": "package main\n\nfunc main() {}\n",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	ws, err := sandbox.Open(dir, sandbox.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := stages.New(stages.Options{
		Tools:  tools.All(),
		Env:    &tools.Env{Workspace: ws, Limits: tools.DefaultLimits(), Memory: tools.NewMemory(48<<20, time.Second), Gitignore: true},
		Server: stages.Server{Name: "mcp-devserver", Version: "0"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = s.Line().Close(context.Background())
		_ = ws.Close()
	})
	return s.Line()
}

func request(method, params string) []byte {
	if params != "" {
		params += ","
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{%q:%q,%q:{}}}}`,
		method, params, wire.KeyVersion, wire.Revision, wire.KeyCapabilities)
}

// walks are the requests that are measured, from the cheapest up. most is the
// pin of their allocations.
var walks = []struct {
	name    string
	request []byte
	most    float64
}{
	{"discover", request(wire.MethodDiscover, ""), 24},
	{"list", request(wire.MethodList, ""), 30},
	{"denial", request(wire.MethodCall, `"name":"read_file","arguments":{"path":"../x"}`), 60},
	{"read 10 KiB", request(wire.MethodCall, `"name":"read_file","arguments":{"path":"ten.go"}`), 68},
	{"read one line", request(wire.MethodCall, `"name":"read_file","arguments":{"path":"ten.go","start_line":40,"end_line":40}`), 90},
	{"list_directory", request(wire.MethodCall, `"name":"list_directory","arguments":{}`), 115},
	// Most of these are for naming the function around a match.
	{"search", request(wire.MethodCall, `"name":"search_code","arguments":{"pattern":"func step1\\d*\\("}`), 11_500},
	{"find_symbol", request(wire.MethodCall, `"name":"find_symbol","arguments":{"name":"step7"}`), 11_000},
}

func ask(tb testing.TB, l *pipeline.Line, message []byte) []byte {
	s, ok, err := l.Call(context.Background(), pipeline.Inbound{Raw: message})
	if err != nil || !ok {
		tb.Fatal("no answer: ", err)
	}
	return s.Bytes()
}

// BenchmarkWalk is a request from its bytes to its sealed answer, one at a
// time and with every worker busy.
func BenchmarkWalk(b *testing.B) {
	l := server(b)
	for _, w := range walks {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ask(b, l, w.request)
			}
		})
		b.Run(w.name+", in parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					ask(b, l, w.request)
				}
			})
		})
	}
}

// floor is the least that reading a file and quoting it for both halves can
// cost: what the stages add is the difference to the walk.
func floor(tb testing.TB, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	out := make([]byte, 0, 3*len(text))
	out = strconv.AppendQuote(out, string(text))
	_ = strconv.AppendQuote(out, string(text))
}

func tenKiB(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "ten.go")
	if err := os.WriteFile(path, []byte(source(10<<10)), 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

func BenchmarkFloor(b *testing.B) {
	path := tenKiB(b)
	b.ReportAllocs()
	for b.Loop() {
		floor(b, path)
	}
}
