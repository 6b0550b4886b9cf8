// Package bench measures what a request costs from its bytes to its sealed
// answer, with the real tools over a real folder.
//
// # How to start
//
//	make bench
//
// runs the benchmarks of every package that has some; the ones here are the
// whole walk. To compare two states of the tree, save the output of
//
//	go test -run '^$' -bench . -count 10 ./bench
//
// for each and give both to benchstat.
//
// # What it promises
//
// The allocations of a walk are pinned by a test, and so is the processor time
// of the walk that reads a 10 KiB file. A pin is raised only together with a
// reason in the commit that raises it.
//
// # Limits
//
// Times differ between machines and with what else runs: compare ratios within
// one run. The pinned time is the least of many rounds, counted as processor
// time of this process.
package bench
