package app

import (
	"context"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
)

// Conversation is a connection in process: a cancellation names requests of the
// same conversation. It is safe for concurrent use.
type Conversation struct {
	line *pipeline.Line
	peer pipeline.Peer
}

// Dial begins a conversation. It needs no end.
func (a *App) Dial() *Conversation { return &Conversation{line: a.stages.Line()} }

// Send puts one JSON-RPC message on the line and returns without waiting for
// its answer. say gets every message of the answer, in order, and must be
// quick; done is called after the last one, exactly once, also when there is
// none. After an error neither is called.
func (c *Conversation) Send(ctx context.Context, message []byte, say func([]byte), done func()) error {
	return c.line.Submit(ctx, pipeline.Inbound{Raw: message, Peer: &c.peer, Client: "in process"}, listener{say, done})
}

// listener is the way back of one message.
type listener struct {
	say  func([]byte)
	done func()
}

func (l listener) Send(m seal.Sealed) bool  { l.say(m.Bytes()); return true }
func (l listener) Offer(m seal.Sealed) bool { return l.Send(m) }
func (l listener) Finish(m seal.Sealed)     { l.say(m.Bytes()); l.done() }
func (l listener) Drop()                    { l.done() }
