package pipeline

import (
	"context"

	"mcp-devserver/pipeline/seal"
)

// Call takes one message through the line and waits for its response, without a transport. The flag is false when there
// was none. Messages that precede the response are discarded; who wants them calls Submit.
func (l *Line) Call(ctx context.Context, in Inbound) (seal.Sealed, bool, error) {
	c := make(caller, 1)
	if err := l.Submit(ctx, in, c); err != nil {
		return seal.Sealed{}, false, err
	}
	select {
	case s := <-c:
		return s, !s.IsZero(), nil
	case <-ctx.Done():
		return seal.Sealed{}, false, context.Cause(ctx)
	}
}

// caller has one place, for the response or for an empty value that says that there is none.
type caller chan seal.Sealed

var _ Sink = caller(nil)

func (c caller) Send(seal.Sealed) bool  { return true }
func (c caller) Offer(seal.Sealed) bool { return true }
func (c caller) Finish(s seal.Sealed)   { c <- s }
func (c caller) Drop()                  { c <- seal.Sealed{} }
