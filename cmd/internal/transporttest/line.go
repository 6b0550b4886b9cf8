// Package transporttest holds what the tests of all transports share: a line that speaks a small protocol of its own,
// and a table of messages with their answers. Only tests import it.
//
// A message is {"id":…,"do":…,"text":…,"n":…}; ids are strings. The answer is {"id":…,"text":…}. What do says:
//
//	echo      answers with text
//	size      answers with a text of n bytes
//	send      sends n messages that precede the answer {"note":…}
//	offer     the same with messages that may be lost
//	sleep     answers after the duration in text
//	wait      answers when its context ends, and is cancelled by then
//	hang      ignores its context until Release is called
//	status    answers with HTTP status n
//	mirror    answers with the value of the header named text
//	client    answers with Inbound.Client
//	cancel    cancels the id in text; no answer
//	note      no answer
//	fail      fails with text
//	panic     panics
package transporttest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/sandbox/answer"
)

// Line is a pipeline.Line over the protocol above.
type Line struct {
	*pipeline.Line
	// Entered receives the id of every wait and hang that a worker has begun, Left the id when its context has ended.
	Entered, Left chan string

	gate    chan struct{}
	release sync.Once
}

// NewLine makes a line with a pool of eight and a queue of 64.
func NewLine(o pipeline.Options) *Line {
	l, in := pipeline.New(o)
	t := &Line{Line: l, Entered: make(chan string, 1024), Left: make(chan string, 1024), gate: make(chan struct{})}
	parsed := pipeline.Connect(l, in, parse{}, 1)
	done := pipeline.ConnectPool(l, parsed, execute{t}, pipeline.Pool(8, 64))
	sealed := pipeline.Connect(l, done, finish{}, 1)
	pipeline.Drain(l, sealed, nil)
	return t
}

// Release lets every hang go on.
func (l *Line) Release() { l.release.Do(func() { close(l.gate) }) }

type request struct {
	ID     string `json:"id"`
	Do     string `json:"do"`
	Text   string `json:"text"`
	N      int    `json:"n"`
	in     pipeline.Inbound
	answer seal.Sealed
}

// Seal closes an object of string members, given as key, value, key, value.
func Seal(status int, note bool, members ...string) seal.Sealed {
	d := answer.NewDoc(new(answer.Texts))
	j := d.JSON()
	j.Object("")
	for i := 0; i+1 < len(members); i += 2 {
		j.Word(answer.Word(members[i]), answer.Word(members[i+1]))
	}
	j.End()
	s, err := seal.Seal(d, seal.Options{Status: status, Notification: note})
	if err != nil {
		panic(err)
	}
	return s
}

type parse struct{}

func (parse) Name() string { return "parse" }

func (parse) Do(_ context.Context, x *pipeline.Exchange, in pipeline.Inbound) (*request, error) {
	r := &request{in: in}
	if in.Fault == pipeline.FaultTooLong {
		return nil, errors.New("too long")
	}
	if err := json.Unmarshal(in.Raw, r); err != nil {
		return nil, errors.New("not JSON")
	}
	switch r.Do {
	case "cancel":
		in.Peer.Cancel(r.Text)
		return nil, pipeline.ErrNoReply
	case "note":
		return nil, pipeline.ErrNoReply
	}
	x.Begin(r.ID)
	return r, nil
}

type execute struct{ l *Line }

func (execute) Name() string { return "execute" }

func (e execute) Do(ctx context.Context, x *pipeline.Exchange, r *request) (*request, error) {
	text, status := r.Text, http.StatusOK
	switch r.Do {
	case "size":
		text = strings.Repeat("x", r.N)
	case "send", "offer":
		deliver := x.Send
		if r.Do == "offer" {
			deliver = x.Offer
		}
		for i := range r.N {
			deliver(Seal(status, true, "note", r.ID+" "+strconv.Itoa(i)))
		}
	case "sleep":
		d, err := time.ParseDuration(r.Text)
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "wait":
		e.l.Entered <- r.ID
		<-ctx.Done()
		e.l.Left <- r.ID
		return nil, ctx.Err()
	case "hang":
		e.l.Entered <- r.ID
		<-e.l.gate
	case "status":
		status = r.N
	case "mirror":
		v, found, conflict := r.in.Mirror.Value(r.Text)
		switch {
		case r.in.Mirror == nil:
			text = "no headers here"
		case conflict:
			text = "conflict"
		case !found:
			text = "absent"
		default:
			text = "value " + v
		}
	case "client":
		text = r.in.Client
	case "fail":
		return nil, errors.New(r.Text)
	case "panic":
		panic(r.Text)
	}
	r.answer = Seal(status, false, "id", r.ID, "text", text)
	return r, nil
}

type finish struct{}

func (finish) Name() string { return "finish" }
func (finish) Do(_ context.Context, _ *pipeline.Exchange, r *request) (seal.Sealed, error) {
	return r.answer, nil
}

func (finish) Rescue(_ context.Context, x *pipeline.Exchange, err error) (seal.Sealed, error) {
	var p *pipeline.PanicError
	word, status := err.Error(), http.StatusOK
	switch {
	case errors.As(err, &p):
		word = "internal"
	case errors.Is(err, pipeline.ErrBusy):
		word = "busy"
	case errors.Is(err, pipeline.ErrShutdown):
		word = "shutdown"
	case x.ID() == "": // nothing could be read
		return Seal(http.StatusBadRequest, false, "error", word), nil
	}
	return Seal(status, false, "id", x.ID(), "error", word), nil
}
