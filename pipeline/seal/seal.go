// Package seal is the one door out: it redacts a finished message once,
// encodes it, and closes it.
//
// # How to start
//
// The redact stage calls [Seal] with the laid-out message; transports receive
// the [Sealed] that comes back and write its bytes.
//
// # What it promises
//
// A Sealed that is not zero was made by Seal from a document whose texts were
// all redacted before anything of it was encoded. Its fields are unexported and
// a transport's Sink takes nothing else, so a reply that skipped redaction does
// not compile.
//
// # Limits
//
// What the rules of package secrets do not recognise is not redacted.
package seal

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-devserver/sandbox/answer"
)

// Sealed is one finished JSON-RPC message. The zero value holds none.
type Sealed struct {
	bytes        []byte
	status       int
	notification bool
	times        []Time
}

// Time is how long one step took, for a header that HTTP clients can ask for.
type Time struct {
	Step string // a word of lower-case letters; others are left out
	Took time.Duration
}

// Bytes returns the message: one line of UTF-8 JSON without a newline. It must
// not be changed.
func (s Sealed) Bytes() []byte { return s.bytes }

// Status returns the HTTP status that goes with the message.
func (s Sealed) Status() int { return s.status }

// Notification reports whether the message is a notification, which precedes a
// response and carries no id.
func (s Sealed) Notification() bool { return s.notification }

// Timing writes the times as the value of a Server-Timing header; "" where none
// were wanted.
func (s Sealed) Timing() string {
	var b []byte
	for _, t := range s.times {
		if t.Step == "" || strings.Trim(t.Step, "abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, t.Step...), ";dur="...)
		b = strconv.AppendFloat(b, float64(t.Took.Microseconds())/1000, 'f', 3, 64)
	}
	return string(b)
}

// IsZero reports whether s holds no message.
func (s Sealed) IsZero() bool { return s.bytes == nil }

// Options say how a message is sealed.
type Options struct {
	Status       int  // HTTP status
	Notification bool // the message is a notification
	Budget       int  // characters of each half of a result; 0: no limit
	Plain        bool // redaction is switched off by a setting
	// Times is asked for [Sealed.Timing] when the message is finished; nil: none.
	Times func() []Time
}

// buffers are reused for encoding; a message is copied out at its exact size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Seal redacts the texts of d, encodes it and closes it. The only error is an
// *answer.TooLargeError. d must not be used again except to read its report and
// sizes.
func Seal(d *answer.Doc, o Options) (Sealed, error) {
	d.Redact(!o.Plain)
	buf := buffers.Get().(*[]byte)
	b, err := d.Encode((*buf)[:0], o.Budget)
	*buf = b
	defer buffers.Put(buf)
	if err != nil {
		return Sealed{}, err
	}
	s := Sealed{bytes: append(make([]byte, 0, len(b)), b...), status: o.Status, notification: o.Notification}
	if o.Times != nil {
		s.times = o.Times()
	}
	return s, nil
}
