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

// ProgressInterval is the default time between two progress notifications of one request, from the second one on.
const ProgressInterval = 250 * time.Millisecond

// progress turns what a tool reports into notifications for one request: rising, few, and gone with the request. They hold numbers
// and words of ours, so nothing that was read can leave by this way.
//
// The first two do not wait for the clock: that the call has begun, and the first that its tool reports. So what a client
// that keeps up gets of a quick call depends on the call, and not on how busy the machine is.
type progress struct {
	x        *pipeline.Exchange
	token    []byte
	interval time.Duration

	mu    sync.Mutex // a tool may report from several goroutines
	last  time.Time  // zero until a report was sent
	sent  int64      // highest number that was sent
	base  int64      // work done in earlier phases
	done  int64      // in this phase
	phase tools.Phase
}

func newProgress(x *pipeline.Exchange, token []byte, interval time.Duration) *progress {
	return &progress{x: x, token: token, interval: interval}
}

// begin says that the call runs: it has been validated, and has its worker. Like an answer it waits for a slow client
// instead of being lost, so that every call that ran was announced.
func (p *progress) begin() error {
	s, err := p.notification(0, answer.W("started"))
	if err == nil {
		p.x.Send(s)
	}
	return err
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
	words := []answer.Part{answer.W(answer.Word(p.phase.String())), answer.W(" "), answer.N(p.done)}
	if total < p.done {
		total = 0
	}
	if total > 0 {
		words = append(words, answer.W(" of "), answer.N(total))
		total += p.base
	}
	s, err := p.notification(total, words...)
	if err != nil || !p.x.Offer(s) {
		return
	}
	p.last, p.sent = now, p.base+p.done
}

// notification is that of the work done so far. A total of 0 is unknown.
func (p *progress) notification(total int64, message ...answer.Part) (seal.Sealed, error) {
	d := answer.NewDoc(new(answer.Texts))
	j := d.JSON()
	j.Object("")
	j.Word("jsonrpc", "2.0")
	j.Word("method", wire.NoteProgress)
	j.Object("params")
	j.Static("progressToken", p.token)
	j.Int("progress", p.base+p.done)
	if total > 0 {
		j.Int("total", total)
	}
	j.Parts("message", message...)
	j.End()
	j.End()
	return seal.Seal(d, seal.Options{Notification: true})
}
