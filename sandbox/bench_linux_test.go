//go:build !portable

package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the door costs beside opening without one.
func BenchmarkOpenAndRead10K(b *testing.B) {
	ws, _ := plant(b, "src/app/http/server.go = "+strings.Repeat("x", 10<<10), "l => src/app")
	const name = "src/app/http/server.go"
	w := open(b, ws, false)
	walk := open(b, ws, true)
	root, err := os.OpenRoot(ws)
	must(b, err)
	b.Cleanup(func() { root.Close() })
	buf := make([]byte, 16<<10)
	door := func(w *Workspace, p string) func() {
		return func() {
			f, err := w.OpenFile(p)
			if err != nil {
				b.Fatal(err)
			}
			if n, err := f.ReadAt(buf[:f.Info().Size], 0); n != 10<<10 || err != nil {
				b.Fatal(n, err)
			}
			f.Close()
		}
	}
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"door", door(w, name)},
		{"door/link", door(w, "l/http/server.go")},
		{"door/without openat2", door(walk, name)},
		{"no guard: os.ReadFile", func() {
			if x, err := os.ReadFile(ws + "/" + name); err != nil || len(x) != 10<<10 {
				b.Fatal(err)
			}
		}},
		{"no guard: EvalSymlinks, os.Open, read", func() {
			real, err := filepath.EvalSymlinks(ws + "/" + name)
			if err != nil {
				b.Fatal(err)
			}
			f, err := os.Open(real)
			if err != nil {
				b.Fatal(err)
			}
			io.ReadFull(f, buf[:10<<10])
			f.Close()
		}},
		{"no denylist: os.Root, read", func() {
			f, err := root.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			io.ReadFull(f, buf[:10<<10])
			f.Close()
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}

// A folder of a walk: opened, listed, each file of it opened.
func BenchmarkWalkFolder(b *testing.B) {
	var tree []string
	for i := range 100 {
		tree = append(tree, fmt.Sprintf("src/file-%03d.go = x", i))
	}
	ws, _ := plant(b, tree...)
	w := open(b, ws, false)
	top, err := w.OpenDir(".")
	must(b, err)
	b.Cleanup(func() { top.Close() })
	b.Run("door: list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := top.OpenDir("src")
			must(b, err)
			if es, _, err := d.Entries(0); err != nil || len(es) != 100 {
				b.Fatal(err)
			}
			d.Close()
		}
	})
	b.Run("os.ReadDir: list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if es, err := os.ReadDir(ws + "/src"); err != nil || len(es) != 100 {
				b.Fatal(err)
			}
		}
	})
	b.Run("door: open each", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := top.OpenDir("src")
			must(b, err)
			es, _, _ := d.Entries(0)
			for _, e := range es {
				f, err := d.OpenFile(e.Name)
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
			d.Close()
		}
	})
	b.Run("os.Open: open each", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			es, err := os.ReadDir(ws + "/src")
			must(b, err)
			for _, e := range es {
				f, err := os.Open(ws + "/src/" + e.Name())
				must(b, err)
				f.Close()
			}
		}
	})
}

func BenchmarkDenied(b *testing.B) {
	ws, _ := plant(b, "src/app/x = x")
	for _, n := range []int{0, 500} {
		rules := make([]string, n)
		for i := range rules {
			rules[i] = fmt.Sprintf("rule-%d", i)
		}
		w := open(b, ws, false, rules...)
		d, err := w.OpenDir("src/app")
		must(b, err)
		for _, name := range []string{"server_test.go", "id_rsa", "ünïcode.go"} {
			b.Run(fmt.Sprintf("name/%d more rules/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					d.Denied(name)
				}
			})
		}
		b.Run(fmt.Sprintf("path/%d more rules", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.Denied("src/app/internal/server_test.go")
			}
		})
		d.Close()
	}
	// The rejected alternative: every rule as a glob, one by one.
	b.Run("name/all rules as globs", func(b *testing.B) {
		name := []byte("server_test.go")
		for b.Loop() {
			for i := range defaultRules {
				globMatch(defaultRules[i].text, name)
			}
		}
	})
}

func BenchmarkNotFound(b *testing.B) {
	var tree []string
	for i := range 300 {
		tree = append(tree, fmt.Sprintf("src/d%d/file-%d.go = x", i%20, i))
	}
	ws, _ := plant(b, tree...)
	w := open(b, ws, false)
	for b.Loop() {
		w.OpenFile("src/d3/fiel-3.go")
	}
}

// A level of a walk costs few allocations, however many names it has.
func TestWalkAllocations(t *testing.T) {
	var tree []string
	for i := range 300 {
		tree = append(tree, fmt.Sprintf("src/file-%03d.go = x", i))
	}
	ws, _ := plant(t, tree...)
	w := open(t, ws, false)
	top, err := w.OpenDir(".")
	must(t, err)
	defer top.Close()
	level := testing.AllocsPerRun(100, func() {
		d, err := top.OpenDir("src")
		if err != nil {
			t.Fatal(err)
		}
		if es, _, err := d.Entries(0); err != nil || len(es) != 300 {
			t.Fatal(err)
		}
		d.Close()
	})
	// path, Dir, names, entries, spans while they grow
	if level > 16 {
		t.Errorf("a level of 300 names allocates %v times", level)
	}
	file := testing.AllocsPerRun(100, func() {
		f, err := top.ws.OpenFile("src/file-001.go")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	})
	if file > 8 {
		t.Errorf("opening a file allocates %v times", file)
	}
	bare := testing.AllocsPerRun(100, func() {
		if es, err := os.ReadDir(ws + "/src"); err != nil || len(es) != 300 {
			t.Fatal(err)
		}
	})
	if level > bare {
		t.Errorf("a level allocates %v times, os.ReadDir alone %v", level, bare)
	}
	t.Logf("level %v (os.ReadDir %v), file %v", level, bare, file)
}

// Folders on the way to a file cost no allocation.
func TestDepthAllocations(t *testing.T) {
	deep := strings.Repeat("d/", 20)
	ws, _ := plant(t, "f = x", deep+"f = x")
	w := open(t, ws, false)
	if w.fallback {
		t.Log("this kernel has no openat2: folders are opened one by one")
		return
	}
	at := func(name string) float64 {
		return testing.AllocsPerRun(100, func() {
			f, err := w.OpenFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		})
	}
	if flat, low := at("f"), at(deep+"f"); low > flat+1 { // a longer name is split into more parts, once
		t.Errorf("a file in the root allocates %v times, one 20 folders deep %v times", flat, low)
	}
}
