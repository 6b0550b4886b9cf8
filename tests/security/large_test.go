package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoPieceOfALargeFile puts keys across every border that reading in parts
// has: windows of 1 MiB, regions of 4 MiB, and the neighbourhood of 256 KiB in
// which secrets are looked for.
func TestNoPieceOfALargeFile(t *testing.T) {
	root := filepath.Join(t.TempDir(), "ws")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	const kib = 1 << 10
	type place struct{ from, to int } // lines
	var b strings.Builder
	var bodies []string
	var places []place
	line := 0
	plain := func(upTo int) {
		for b.Len() < upTo {
			fmt.Fprintf(&b, "line %d of the file\n", line+1)
			line++
		}
	}
	key := func(lines, turn int, terminated bool) {
		block := keyBlock(lines, turn)
		if !terminated {
			block = block[:strings.Index(block, "-----END")]
		}
		from := line + 1
		b.WriteString(block)
		line += strings.Count(block, "\n")
		places = append(places, place{from, line})
		all := strings.Split(block, "\n")
		bodies = append(bodies, all[2], all[lines/2], all[lines-1])
	}
	turn := 100
	for _, border := range []int{128 * kib, 256 * kib, 512 * kib, 768 * kib, 1024 * kib, 1280 * kib, 2048 * kib, 3072 * kib, 4096 * kib, 4096*kib + 256*kib, 5120 * kib} {
		turn++
		plain(border - 40*66) // 80 lines of 65 bytes lie across the border
		key(80, turn, true)
	}
	plain(5500 * kib)
	key(3000, 7, true) // 195 KiB
	plain(6200 * kib)
	key(6000, 8, true) // longer than the neighbourhood: only so much of it can be known
	bodies, places = bodies[:len(bodies)-3], places[:len(places)-1]
	plain(7000 * kib)
	key(1500, 9, false)
	plain(7200 * kib)
	if err := os.WriteFile(filepath.Join(root, "big.txt"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serve(t, root)
	check := func(tool string, a args) {
		t.Helper()
		got := s.call(tool, a)
		all := got.decoded()
		for _, body := range bodies {
			if p := piece(all, body, 8); p != "" {
				t.Errorf("%s %s shows %q", tool, quote(a), p)
				return
			}
		}
	}
	for i, p := range places {
		if leftOut(i) {
			continue
		}
		for _, from := range []int{p.from - 3, p.from, p.from + 1, (p.from + p.to) / 2, p.to - 1, p.to} {
			check("read_file", args{"path": "big.txt", "start_line": from, "end_line": from})
			check("read_file", args{"path": "big.txt", "start_line": from, "end_line": from + 60})
		}
		check("read_file", args{"path": "big.txt", "start_line": p.from - 1000})
		for _, l := range []int{p.from - 1, p.to + 1} {
			check("search_code", args{"path": "big.txt", "pattern": fmt.Sprintf("^line %d of", l), "context_lines": 10})
		}
	}
	for _, a := range []args{
		{"pattern": "[A-Za-z0-9+/]{64}", "path": "big.txt"},
		{"pattern": "^[^l]", "path": "big.txt", "output_mode": "content", "limit": 1000},
		{"pattern": "PRIVATE", "path": "big.txt", "context_lines": 10},
	} {
		check("search_code", a)
	}
	check("read_file", args{"path": "big.txt", "tail": 2000})
	if n := s.lateHits(); n > 0 {
		t.Errorf("%d late redactions", n)
	}
}
