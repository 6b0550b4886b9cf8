package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Defaults and bounds of reading.
const (
	DefaultBytes = 1 << 20 // size of a message
	DefaultDepth = 32      // nesting of a message
	MaxToken     = 1024    // bytes of an id or a progress token, quotes not counted
)

// Limits bounds what Decode reads. Zero values stand for [DefaultBytes] and [DefaultDepth].
type Limits struct {
	Bytes int
	Depth int
}

// Message is a request or, when ID is nil, a notification.
type Message struct {
	ID     ID
	Method string
	Params []byte // raw JSON as it was sent, part of the input; nil when absent
}

// Decode reads one message. Beside an error the returned Message holds the ID under which the error is to be answered, or
// nil when there is none.
func Decode(raw []byte, l Limits) (Message, error) {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if len(raw) > l.Bytes {
		return Message{}, Refuse(FaultRequest, "Invalid request: the message is larger than the limit").With("limit_bytes", l.Bytes)
	}
	raw = bytes.Trim(raw, " \t\r\n")
	if depth(raw) > l.Depth {
		return explain(raw, l.Depth)
	}
	if len(raw) == 0 || raw[0] != '{' {
		if jsontext.Value(raw).IsValid() {
			if raw[0] == '[' {
				return Message{}, Refuse(FaultRequest, "Invalid request: batches are not part of this protocol revision")
			}
			return Message{}, Refuse(FaultRequest, "Invalid request: a message is a JSON object")
		}
		return explain(raw, l.Depth)
	}
	var r reading
	if err := visit(raw, true, r.member); err != nil {
		return explain(raw, l.Depth)
	}
	return r.message()
}

// reading collects the members of a message. Names are compared as sent, after their escapes are resolved.
type reading struct {
	version, id, method, params []byte
	ids                         int
	response                    bool
}

func (r *reading) member(name, value []byte) error {
	switch string(name) {
	case "jsonrpc":
		r.version = value
	case "id":
		r.id = value
		r.ids++
	case "method":
		r.method = value
	case "params":
		r.params = value
	case "result", "error":
		r.response = true
	}
	return nil
}

// known returns the id under which a fault of this object is answered. A response is no request: echoing its id could look
// like an answer to something that the client asked elsewhere.
func (r *reading) known() ID {
	if r.response || r.ids != 1 || !Token(r.id) {
		return nil
	}
	return ID(r.id)
}

func (r *reading) message() (Message, error) {
	m := Message{ID: r.known()}
	if r.response {
		return m, Refuse(FaultRequest, "Invalid request: clients send no responses in this protocol revision")
	}
	if r.ids > 0 && m.ID == nil {
		if k := Kind(r.id); (k == '"' || k == '0') && len(r.id) > MaxToken {
			return m, Refuse(FaultRequest, "Invalid request: id is longer than the limit").With("limit_bytes", MaxToken)
		}
		return m, Refuse(FaultRequest, "Invalid request: id must be a string or an integer")
	}
	if v, ok := String(r.version); !ok || v != "2.0" {
		return m, Refuse(FaultRequest, `Invalid request: jsonrpc must be "2.0"`)
	}
	method, ok := String(r.method)
	if !ok {
		return m, Refuse(FaultRequest, "Invalid request: method must be a string")
	}
	m.Method, m.Params = method, r.params
	return m, nil
}

// depth returns how deeply objects and arrays nest in raw. It counts brackets outside strings and is exact for valid JSON.
func depth(raw []byte) (deepest int) {
	now := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if now++; now > deepest {
				deepest = now
			}
		case '}', ']':
			now--
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return deepest
}

// readers recycles decoders: a fresh one costs more than reading a small message.
var readers = sync.Pool{New: func() any {
	r := new(reader)
	r.dec = jsontext.NewDecoder(&r.buf)
	return r
}}

type reader struct {
	buf bytes.Buffer
	dec *jsontext.Decoder
}

var lax = jsontext.AllowDuplicateNames(true)

func open(raw []byte, strict bool) *reader {
	r := readers.Get().(*reader)
	r.buf = *bytes.NewBuffer(raw)
	if strict {
		r.dec.Reset(&r.buf)
	} else {
		r.dec.Reset(&r.buf, lax)
	}
	return r
}

func (r *reader) close() {
	r.buf = bytes.Buffer{}
	r.dec.Reset(&r.buf)
	readers.Put(r)
}

var errNotObject = errors.New("not an object")

// visit calls f for each member of the object raw, in order, with the name after its escapes are resolved and the value as
// it was sent; both are parts of raw unless the name held an escape. strict refuses a repeated name in any object inside.
func visit(raw []byte, strict bool, f func(name, value []byte) error) error {
	r := open(raw, strict)
	defer r.close()
	if r.dec.PeekKind() != '{' {
		return errNotObject
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	part := func(v jsontext.Value) []byte {
		end := int(r.dec.InputOffset())
		return raw[end-len(v) : end : end]
	}
	for r.dec.PeekKind() != '}' {
		quoted, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		name := part(quoted)
		if bytes.IndexByte(name, '\\') < 0 {
			name = name[1 : len(name)-1]
		} else if name, err = jsontext.AppendUnquote(nil, name); err != nil {
			return err
		}
		value, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := f(name, part(value)); err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return errNotObject
	}
	return nil
}

// nesting is the depth that the decoder itself refuses to pass.
const nesting = 10000

// explain names the fault of a message that could not be read, and finds its id. What is not JSON is a parse error whatever
// else is wrong with it; only nesting beyond what the decoder can follow is judged without seeing the rest.
func explain(raw []byte, limit int) (Message, error) {
	var top reading
	deepest := depth(raw)
	err := errNotObject
	if len(raw) > 0 && raw[0] == '{' {
		err = visit(raw, false, top.member)
	} else if readable(raw) {
		err = nil
	}
	if err != nil && (deepest <= nesting || !utf8.Valid(raw)) {
		return Message{}, Refuse(FaultParse, "Parse error: the message is not one UTF-8 JSON value")
	}
	m := Message{ID: top.known()}
	if deepest > limit {
		return m, Refuse(FaultRequest, "Invalid request: the message nests deeper than the limit").With("limit_depth", limit)
	}
	return m, Refuse(FaultRequest, "Invalid request: an object holds the same name twice")
}

// readable reports whether raw is one JSON value in which names may repeat.
func readable(raw []byte) bool {
	r := open(raw, false)
	defer r.close()
	if r.dec.SkipValue() != nil {
		return false
	}
	_, err := r.dec.ReadToken()
	return err == io.EOF
}

// Members calls f for each member of the object raw, in order: the name after its escapes are resolved, the value as it
// was sent. raw is part of a message that [Decode] accepted; ok is false when it is not an object. f may stop the visit
// with an error, which is returned.
func Members(raw []byte, f func(name, value []byte) error) (ok bool, err error) {
	if Kind(raw) != '{' {
		return false, nil
	}
	return true, visit(raw, false, f)
}

// Has reports whether raw is an object with a member of that name.
func Has(raw []byte, name string) (found bool) {
	_, _ = Members(raw, func(n, _ []byte) error { found = found || string(n) == name; return nil })
	return found
}

// Kind returns the first byte of a JSON value of an accepted message, with every number reported as '0' and nothing as 0.
func Kind(raw []byte) byte {
	if len(raw) == 0 {
		return 0
	}
	switch c := raw[0]; {
	case c == '-', c >= '0' && c <= '9':
		return '0'
	default:
		return c
	}
}

// String returns the text of a JSON string of an accepted message; ok is false for any other value.
func String(raw []byte) (s string, ok bool) {
	if Kind(raw) != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}
