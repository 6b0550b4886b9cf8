package security

import (
	"fmt"
	"testing"
)

// TestLinks plants links that lead out, and paths that make use of them.
func TestLinks(t *testing.T) {
	chain := []string{"c0 => ../OUT/s"}
	for i := 1; i < 30; i++ {
		chain = append(chain, fmt.Sprintf("c%d => c%d", i, i-1))
	}
	far := []string{"f0 => ../OUT/s"}
	for i := 1; i < 60; i++ {
		far = append(far, fmt.Sprintf("f%d => f%d", i, i-1))
	}
	attack(t, []attempt{
		{"to a file", []string{"l => ../OUT/s"}, "l", outside, ""},
		{"to an absolute file", []string{"l => OUT/s"}, "l", outside, ""},
		{"to a large file", []string{"l => ../OUT/big"}, "l", outside, ""},
		{"to a folder", []string{"l => ../OUT"}, "l", outside, ""},
		{"to an absolute folder", []string{"l => OUT"}, "l", outside, ""},
		{"through a folder", []string{"d => ../OUT"}, "d/s", outside, ""},
		{"through an absolute folder", []string{"d => OUT"}, "d/s", outside, ""},
		{"through a folder, a folder", []string{"d => ../OUT"}, "d/sub", outside, ""},
		{"through a folder, deep", []string{"d => ../OUT"}, "d/sub/s", outside, ""},
		{"through a folder, nothing", []string{"d => ../OUT"}, "d/nothing", outside, "nothing is there"},
		{"through a file", []string{"l => ../OUT/s"}, "l/x", outside, "a file is no folder"},
		{"to a link", []string{"d => ../OUT", "d2 => d"}, "d2/s", outside, ""},
		{"to a link outside", []string{"OUT/back => WS/in", "in/s = in", "d => ../OUT/back"}, "d/s", outside, inside},
		{"to a link outside that leads out", []string{"OUT/on => sub", "d => ../OUT/on"}, "d/s", outside, ""},
		{"chain of 30", chain, "c29", outside, ""},
		{"chain longer than the kernel follows", far, "f59", append([]string{"outside_workspace"}, missing...), "the kernel gives up"},
		{"chain through folders", []string{"a/b => ../c", "c/d => ../e", "e/f => ../../OUT"}, "a/b/d/f/s", outside, ""},
		{"to a missing file outside", []string{"l => ../OUT/gone"}, "l", outside, "nothing is there"},
		{"to a missing folder outside", []string{"l => ../gone"}, "l/x", outside, "nothing is there"},
		{"dot dot behind it", []string{"d => ../OUT/sub"}, "d/../s", outside, ""},
		{"dot dot behind it, twice", []string{"d => ../OUT/sub"}, "d/../../OUT/s", outside, ""},
		{"back in as text", []string{"d => ../OUT", "x = in"}, "d/../ws/x", outside, inside},
		{"comes back", []string{"d => ../ws/a", "a/s = in"}, "d/s", outside, inside},
		{"comes back, absolute through the outside", []string{"d => OUT/../ws/a", "a/s = in"}, "d/s", outside, inside},
		{"with a slash", []string{"l => ../OUT"}, "l/", outside, ""},
		{"with a dot", []string{"l => ../OUT"}, "l/.", outside, ""},
		{"with two slashes", []string{"l => ../OUT"}, "l//", outside, ""},
		{"with dots around", []string{"l => ../OUT"}, "./l/", outside, ""},
		{"a file with a slash", []string{"l => ../OUT/s"}, "l/", outside, "a file is no folder"},
		{"target with a slash", []string{"l => ../OUT/"}, "l/s", outside, ""},
		{"target with many slashes", []string{"l => ..////OUT//"}, "l/s", outside, ""},
		{"target with dots", []string{"l => ./.././OUT/./"}, "l/s", outside, ""},
		{"up by dot dots", []string{"a/b/l => ../../../OUT/s"}, "a/b/l", outside, ""},
		{"up through a link", []string{"a/up => ../..", "l => a/up/OUT/s"}, "l", outside, ""},
		{"up through a folder in between", []string{"a/b/", "l => a/b/../../../OUT/s"}, "l", outside, ""},
		{"deep folder linked to the top", []string{"a/b/c/", "t => a/b/c", "l => t/../../../../OUT/s"}, "l", outside, ""},
		{"to the parent", []string{"up => .."}, "up/OUT/s", outside, ""},
		{"to the parent, the folder", []string{"up => .."}, "up/OUT", outside, ""},
		{"to the parent, absolute", []string{"up => WS/.."}, "up/OUT/s", outside, ""},
		{"to the parent and back", []string{"up => ..", "s = in"}, "up/ws/s", outside, inside},
		{"to the parent of the parent", []string{"up => ../.."}, "up/zaphod/OUT/s", outside, ""},
		{"to the root of the system", []string{"l => /"}, "l/etc/passwd", outside, ""},
		{"to the root of the system by dot dots", []string{"l => ../../../../../../../../../../../../.."}, "l/etc/passwd", outside, ""},
		{"through proc", []string{"l => /proc/self/root/etc/passwd"}, "l", outside, ""},
		{"through proc cwd", []string{"l => /proc/self/cwd"}, "l/go.mod", outside, "no such file there"},
		{"through proc fd", []string{"l => /proc/self/fd"}, "l/0", outside, "nothing to read there"},
		{"to a device", []string{"z => /dev/zero"}, "z", outside, ""},
		{"absolute through the root", []string{"l => WS/../OUT/s"}, "l", outside, ""},
		{"absolute through a folder", []string{"a/", "l => WS/a/../../OUT/s"}, "l", outside, ""},
		{"named like a file", []string{"main.go => ../OUT/s"}, "main.go", outside, ""},
		{"named like a manifest", []string{"go.mod => ../OUT/s"}, "go.mod", outside, ""},
		{"named like the ignore file", []string{".gitignore => ../OUT/s"}, ".gitignore", outside, ""},
		{"with a newline in the target", []string{"l => ../OUT\n/../OUT/s"}, "l", outside, "no folder is called so"},
		{"named with a space", []string{"a b => ../OUT/s"}, "a b", outside, ""},
		{"named like an option", []string{"-rf => ../OUT/s"}, "-rf", outside, ""},
		{"absolute path to it", []string{"l => ../OUT/s"}, "WS/l", outside, ""},
		{"absolute path through it", []string{"d => ../OUT"}, "WS/d/s", outside, ""},
		{"URI to it", []string{"l => ../OUT/s"}, "file://WS/l", outside, noSuch},
		{"loop", []string{"l => l"}, "l", missing, "the kernel gives up"},
		{"loop of two", []string{"a => b", "b => a"}, "a/x", missing, "the kernel gives up"},
		{"loop through a folder", []string{"d/l => ../d/l/x"}, "d/l", missing, "the kernel gives up"},
		{"loop, then out", []string{"a => b", "b => a"}, "a/../../OUT/s", append([]string{"outside_workspace"}, missing...), "the kernel gives up"},
		{"to nothing", []string{"l => gone"}, "l", missing, "nothing is there"},
	})
}
