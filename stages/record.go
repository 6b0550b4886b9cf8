package stages

import (
	"sync"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
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

// timing returns the times so far, those of the stage that began at last, and all since the message was submitted.
func (r *record) timing(x *pipeline.Exchange, last string, begun time.Time) []seal.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	times := make([]seal.Time, 0, len(r.times)+3)
	times = append(times, seal.Time{Step: "wait", Took: r.wait})
	for _, t := range r.times {
		times = append(times, seal.Time{Step: t.Stage, Took: t.Took})
	}
	return append(times, seal.Time{Step: last, Took: time.Since(begun)}, seal.Time{Step: "total", Took: time.Since(x.Started())})
}
