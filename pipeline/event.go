package pipeline

import (
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"
)

// StageEnd is the Stage of the [Event] that closes a request.
const StageEnd = "end"

// Event tells what one stage made of one request. A stage that a failed request skips has no event.
type Event struct {
	Stage   string
	X       *Exchange
	Outcome Outcome
	// Took is the time inside the stage; for StageEnd the whole time since Submit.
	Took time.Duration
	// Wait is the time that the request stood in the pool's queue before the stage began.
	Wait time.Duration
	// Err is the failure, also when it was rescued. It is meant for a log, not for the client.
	Err error
}

// Outcome classifies an [Event].
type Outcome uint8

// The outcomes.
const (
	Done      Outcome = iota // a value; for StageEnd: a response was delivered
	Failed                   // an error
	Panicked                 // the stage panicked or ended its goroutine
	Rescued                  // a failure, this one's or an earlier one's, became a message again
	Busy                     // refused by the pool
	Abandoned                // given up: the worker did not return, or the request ended while it was queued
	Dropped                  // StageEnd only: there was no response
)

var outcomeNames = [...]string{"done", "failed", "panicked", "rescued", "busy", "abandoned", "dropped"}

// String returns a fixed lower-case word.
func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		return fmt.Sprintf("outcome(%d)", uint8(o))
	}
	return outcomeNames[o]
}

// PanicError is the failure of a request whose stage did not return. It does not unwrap to the value of the panic: an
// error that was thrown must not pass for one that was returned.
type PanicError struct {
	Stage string
	Value any    // nil when the stage called runtime.Goexit
	Stack []byte // for the log
}

// Error leaves the stack out.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("pipeline: %s ended its goroutine", e.Stage)
	}
	return fmt.Sprintf("pipeline: panic in %s: %v", e.Stage, e.Value)
}

func newPanic(stage string, value any) *PanicError {
	r := panics.NewRecovered(1, value)
	return &PanicError{Stage: stage, Value: value, Stack: r.Stack}
}

// observe shields the line from its observer; the first panic comes back from Close.
func (l *Line) observe(e Event) {
	if l.options.Observe == nil || e.X == nil {
		return
	}
	returned := false
	defer func() {
		if v := recover(); !returned {
			l.observerPanic.CompareAndSwap(nil, newPanic("Observe", v))
		}
	}()
	l.options.Observe(e)
	returned = true
}

// clock is time.Now unless nobody would look at the time.
func (l *Line) clock() (t time.Time) {
	if l.options.Observe != nil {
		t = time.Now()
	}
	return t
}

func (l *Line) since(t time.Time) (d time.Duration) {
	if l.options.Observe != nil {
		d = time.Since(t)
	}
	return d
}
