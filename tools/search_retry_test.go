package tools

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-devserver/redos"
)

// A timeout of one line is believed when it comes again, or when a search has seen a few: that is the pattern's doing.
func TestSearchMatchesALineAgainAfterATimeout(t *testing.T) {
	s := &search{deadline: time.Now().Add(time.Minute)}
	if s.starved(redos.ErrStack) || s.starved(redos.ErrTooLong) {
		t.Error("what comes again by itself is tried again")
	}
	for n := range lineRetries {
		if !s.starved(redos.ErrTimeout) {
			t.Errorf("timeout %d is believed", n+1)
		}
	}
	if s.starved(redos.ErrTimeout) {
		t.Error("a slow pattern is tried without end")
	}
	if late := (&search{deadline: time.Now().Add(-time.Second)}); late.starved(redos.ErrTimeout) {
		t.Error("a line is matched again after the deadline")
	}
}

// A text that is matched as a whole goes on behind the last match, once for each place: no match is lost or met twice.
// The bound is so short that whatever outlasts a tick of the engine's clock has timed out.
func TestSearchMatchesATextAgainAfterATimeout(t *testing.T) {
	slow := "x" + strings.Repeat(" ", 3000) + "!\n"
	re, err := redos.Compile(`^x(\s+)(\s+)(?![^y])y`, redos.Options{Multiline: true, MatchTimeout: 1})
	if err != nil {
		t.Fatal(err)
	}
	run := func(text string) (lines []int, tries int32, err error) {
		s := &search{in: &searchIn{OutputMode: modeContent, Multiline: true}, re: re, limit: 100, deadline: time.Now().Add(time.Minute)}
		sc := &scan{search: s, exact: true}
		var r fileResult
		err = sc.blocks(context.Background(), newSegment(text), &r)
		for _, h := range r.hits {
			lines = append(lines, h.line)
		}
		return lines, s.retried.Load(), err
	}
	if lines, tries, err := run("x  y\nx  y x\n" + slow); err != redos.ErrTimeout || tries != 1 || !slices.Equal(lines, []int{1, 2}) {
		t.Errorf("slow: %v, %d tries, %v", lines, tries, err)
	}
	if lines, tries, err := run("x  y\nnot\nx  y\n"); err != nil || tries != 0 || !slices.Equal(lines, []int{1, 3}) {
		t.Errorf("quick: %v, %d tries, %v", lines, tries, err)
	}
}
