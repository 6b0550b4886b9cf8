package app

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// maxHeld bounds the log that waits for its reader.
const maxHeld = 256 << 10

// Lossy passes writes on without ever waiting for w. A client need not read the
// standard error of the server that it started: when that pipe is full, what
// exceeds a buffer is dropped and counted, and requests go on. It is safe for
// concurrent use.
type Lossy struct {
	w io.Writer

	mu      sync.Mutex
	held    []byte // whole lines
	dropped int
	busy    bool
	idle    chan struct{} // closed when busy becomes false
}

// NewLossy returns a Lossy in front of w.
func NewLossy(w io.Writer) *Lossy { return &Lossy{w: w} }

// Write takes one or more whole lines. It never fails.
func (l *Lossy) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held)+len(p) > maxHeld {
		l.dropped++
		return len(p), nil
	}
	l.held = append(l.held, p...)
	if !l.busy {
		l.busy, l.idle = true, make(chan struct{})
		go l.drain()
	}
	return len(p), nil
}

// drain is the only one that waits for w. It ends when there is nothing left.
func (l *Lossy) drain() {
	var lines []byte
	for {
		l.mu.Lock()
		if len(l.held) == 0 {
			l.busy = false
			close(l.idle)
			l.mu.Unlock()
			return
		}
		lines, l.held = l.held, lines[:0]
		if l.dropped > 0 {
			lines = fmt.Appendf(lines, `{"level":"warn","lines":%d,"message":"log lines were dropped: nobody read them in time"}`+"\n", l.dropped)
			l.dropped = 0
		}
		l.mu.Unlock()
		_, _ = l.w.Write(lines) // there is no other place to say that the log cannot be written
	}
}

// Flush waits until everything is written, for at most d.
func (l *Lossy) Flush(d time.Duration) {
	l.mu.Lock()
	busy, idle := l.busy, l.idle
	l.mu.Unlock()
	if !busy {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}
