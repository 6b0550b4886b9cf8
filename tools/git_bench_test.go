package tools_test

import (
	"testing"
)

// What a call costs is the processes it starts; the rejected alternative, one
// process for each object, is in package git's benchmarks.
func BenchmarkGit(b *testing.B) {
	f := gitRepo(b, `for i in $(seq 1 50); do seq 1 200 > f$i; git add f$i; git commit -qm "commit $i"; done; for i in $(seq 1 20); do echo x >> f$i; done`)
	for _, c := range [][2]string{{"git_log", "{}"}, {"git_log", `{"detail":"files"}`}, {"git_log", `{"path":"f1"}`}, {"git_diff", "{}"}, {"git_diff", `{"commit":"HEAD"}`}, {"git_diff", `{"output_mode":"names"}`}} {
		b.Run(c[0]+c[1], func(b *testing.B) {
			for b.Loop() {
				f.Call(c[0], c[1])
			}
		})
	}
}
