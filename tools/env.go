package tools

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"mcp-devserver/sandbox"
)

// Env is what the tools of a process share. Its fields must not change once it
// serves.
type Env struct {
	Workspace *sandbox.Workspace
	Limits    Limits
	Memory    *Memory
	Git       GitOptions
	git       gitState
	// Gitignore says that ignore files are honoured.
	Gitignore bool
}

// GitOptions are the operator's settings for git.
type GitOptions struct {
	Enabled        bool
	Binary         string        // absolute path, fixed at start; "" when none was found
	Timeout        time.Duration // of one run
	MaxCommits     int           // returned by one call
	MaxOutputBytes int64         // read from one run
	ShowEmail      bool
	AllowExternal  bool // serve a repository that keeps data outside the workspace
}

// Limits bound what one call may take and return. The zero value is not
// usable; start from DefaultLimits.
type Limits struct {
	MaxChars         int // characters of each half of an answer
	ReadMaxLines     int
	ReadMaxLineChars int
	MaxFileBytes     int64 // a file that a ranged read still streams
	UnrangedBytes    int64 // a file that is read without a range
	ListMaxEntries   int
	WalkMaxEntries   int
	WalkMaxDepth     int
	SearchMaxMatches int
	SearchFileBytes  int64
	PatternChars     int
	MatchTimeout     time.Duration // of one match
	SearchDeadline   time.Duration // of one search
	NoRegexGuard     bool
	SearchWorkers    int // of one search; 0 = one for each usable core, at most eight
	SymbolResults    int
}

// DefaultLimits are the limits of an installation that sets none.
func DefaultLimits() Limits {
	return Limits{
		MaxChars:         40_000,
		ReadMaxLines:     2000,
		ReadMaxLineChars: 2000,
		MaxFileBytes:     1 << 30,
		UnrangedBytes:    10 << 20,
		ListMaxEntries:   2000,
		WalkMaxEntries:   100_000,
		WalkMaxDepth:     40,
		SearchMaxMatches: 1000,
		SearchFileBytes:  64 << 20,
		PatternChars:     1000,
		MatchTimeout:     100 * time.Millisecond,
		SearchDeadline:   10 * time.Second,
		SymbolResults:    500,
	}
}

// frameReserve is what the common members and lines of an answer may take of
// each half: header, notices, signals with excerpts, next.
const frameReserve = 6000

// ContentChars returns how many characters of each half are left for content.
func (l Limits) ContentChars() int { return max(l.MaxChars-frameReserve, l.MaxChars/2) }

// Memory bounds the bytes of files, blobs and diffs that all calls together
// hold at one time.
type Memory struct {
	sem  *semaphore.Weighted
	size int64
	wait time.Duration
}

// NewMemory returns a budget of size bytes; a call that cannot get its share
// within wait is refused.
func NewMemory(size int64, wait time.Duration) *Memory {
	return &Memory{sem: semaphore.NewWeighted(size), size: size, wait: wait}
}

// Hold takes n bytes (at most the whole budget) until release is called, once.
// The error is a *sandbox.Denial (busy) or the context's.
func (m *Memory) Hold(ctx context.Context, n int64) (release func(), err error) {
	n = min(max(n, 0), m.size)
	if m.sem.TryAcquire(n) {
		return func() { m.sem.Release(n) }, nil
	}
	waiting, cancel := context.WithTimeout(ctx, m.wait)
	defer cancel()
	if err := m.sem.Acquire(waiting, n); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, sandbox.Refuse(sandbox.Busy, sandbox.Args{"n": 8, "retry_after_ms": int(m.wait / time.Millisecond)})
	}
	return func() { m.sem.Release(n) }, nil
}

// try takes n bytes (at most the whole budget) if they are free.
func (m *Memory) try(n int64) (release func(), ok bool) {
	n = min(max(n, 0), m.size)
	if !m.sem.TryAcquire(n) {
		return nil, false
	}
	return func() { m.sem.Release(n) }, true
}
