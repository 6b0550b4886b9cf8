package stages

import (
	"sync"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/stages/wire"
)

// record is what stays known about a request when it fails: enough to answer and to report. parse attaches it; each field is
// written by one stage before the next one sees the message, and never by a worker of the pool, which may be left behind.
type record struct {
	id     wire.ID
	report Report

	mu    sync.Mutex // guards times: a worker that was left behind may still be observed
	times []StageTime
	wait  time.Duration
}

// recordOf returns the record of a request; one that failed before parse could attach it gets an empty one.
func recordOf(x *pipeline.Exchange) *record {
	if r, ok := x.Attached().(*record); ok {
		return r
	}
	return &record{}
}
