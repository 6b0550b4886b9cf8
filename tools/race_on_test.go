//go:build race

package tools_test

// slower divides the cases of tests that compare with another program: under the race
// detector a part of them shows what it can show, and a run without it takes all.
const slower = 3
