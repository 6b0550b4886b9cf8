package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestSmoke(t *testing.T) {
	base := t.TempDir()
	ws := filepath.Join(base, "ws")
	os.MkdirAll(filepath.Join(ws, "src"), 0o755)
	os.WriteFile(filepath.Join(ws, "src", "main.go"), []byte("package main"), 0o644)
	os.WriteFile(filepath.Join(ws, ".env"), []byte("X=1"), 0o644)
	os.WriteFile(filepath.Join(base, "out"), []byte("OUT"), 0o644)
	os.Symlink("../out", filepath.Join(ws, "leak"))
	os.Symlink(".env", filepath.Join(ws, "cfg"))
	os.Symlink(ws+"/src/main.go", filepath.Join(ws, "abs"))
	w, err := Open(ws, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, p := range []string{"src/main.go", "./src//main.go", "abs", ws + "/src/main.go", "file://" + ws + "/src/main.go", "src/../src/main.go"} {
		f, err := w.OpenFile(p)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		b, _ := io.ReadAll(f)
		if string(b) != "package main" || f.Info().Path != "src/main.go" {
			t.Errorf("%s: %q %q", p, b, f.Info().Path)
		}
		f.Close()
	}
	for p, c := range map[string]Code{"leak": OutsideWorkspace, "../out": OutsideWorkspace, "cfg": DeniedPath, ".env": DeniedPath, ".ssh/x": DeniedPath,
		"src/mian.go": NotFound, "src": IsADirectory, "a\x00": InvalidPath, "src/main.go/": NotFound, base + "/out": OutsideWorkspace, `C:\x`: OutsideWorkspace, `src\main.go`: NotFound, "~/x": NotFound, "/src/main.go": OutsideWorkspace} {
		_, err := w.OpenFile(p)
		var d *Denial
		if !errors.As(err, &d) || d.Code != c {
			t.Errorf("%q: got %v, want %v", p, err, c)
			continue
		}
		t.Log(d, d.Details)
	}
	d, err := w.OpenDir(".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	e, _, err := d.Entries(0)
	t.Log(e, err)
	t.Log(d.Link("leak"))
	t.Log(d.Link("cfg"))
	t.Log(d.Link("abs"))
	t.Log(w.Locate("src/gone/../x.go"))
	t.Log(w.Same())
}

func TestTable(t *testing.T) {
	for _, c := range Codes() {
		t.Log(c, Refuse(c, table[c].example), Refuse(c, table[c].example).Details)
	}
}
