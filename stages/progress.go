package stages

import (
	"sync"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

// ProgressInterval is the default time between two progress notifications of one request, and before the first one: a call that
// is quick gets none.
const ProgressInterval = 250 * time.Millisecond

// progress turns what a tool reports into notifications for one request: rising, few, and gone with the request. They hold numbers
// and words of ours, so nothing that was read can leave by this way.
type progress struct {
	x        *pipeline.Exchange
	token    []byte
	interval time.Duration

	mu    sync.Mutex // a tool may report from several goroutines
	last  time.Time
	sent  int64 // highest number that was sent
	base  int64 // work done in earlier phases
	done  int64 // in this phase
	phase tools.Phase
}

func newProgress(x *pipeline.Exchange, token []byte, interval time.Duration) *progress {
	return &progress{x: x, token: token, interval: interval, last: time.Now()}
}

func (p *progress) report(done, total int64, phase tools.Phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if phase != p.phase { // each phase counts from zero, the numbers that leave do not
		p.base, p.done, p.phase = p.base+p.done, 0, phase
	}
	p.done = max(p.done, done)
	now := time.Now()
	if p.base+p.done <= p.sent || now.Sub(p.last) < p.interval {
		return
	}
	s, err := p.notification(total)
	if err != nil || !p.x.Offer(s) {
		return
	}
	p.last, p.sent = now, p.base+p.done
}

func (p *progress) notification(total int64) (seal.Sealed, error) {
	d := answer.NewDoc(new(answer.Texts))
	j := d.JSON()
	j.Object("")
	j.Word("jsonrpc", "2.0")
	j.Word("method", wire.NoteProgress)
	j.Object("params")
	j.Static("progressToken", p.token)
	j.Int("progress", p.base+p.done)
	parts := []answer.Part{answer.W(answer.Word(p.phase.String())), answer.W(" "), answer.N(p.done)}
	if total >= p.done && total > 0 {
		j.Int("total", p.base+total)
		parts = append(parts, answer.W(" of "), answer.N(total))
	}
	j.Parts("message", parts...)
	j.End()
	j.End()
	return seal.Seal(d, seal.Options{Notification: true})
}
