package conformance

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// message is one thing that a server sent.
type message struct {
	raw  []byte // as much as a report shows
	utf8 bool
	v    *value
	err  error // why it is not one JSON value
}

// parsing lets one big message at a time be parsed: it takes a multiple of its
// size.
var parsing sync.Mutex

func newMessage(raw []byte) *message {
	if len(raw) > 256<<10 {
		parsing.Lock()
		defer parsing.Unlock()
	}
	m := &message{utf8: utf8.Valid(raw), raw: shorten(raw)}
	m.v, m.err = parseValue(raw)
	return m
}

// shorten copies as much of raw as a report shows, and a byte more to say that
// it was more.
func shorten(raw []byte) []byte { return append([]byte(nil), raw[:min(len(raw), keepBytes+1)]...) }

func (m *message) method() string { return m.v.at("method").str() }
func (m *message) id() *value     { return m.v.at("id") }

// isResponse: it has a result or an error, whatever else may be wrong with it.
func (m *message) isResponse() bool {
	return m.v.at("method") == nil && (m.v.at("result") != nil || m.v.at("error") != nil)
}

// subscription returns the id of the subscription that a message names.
func (m *message) subscription() *value {
	if v := m.v.at("params", "_meta", keySubscription); v != nil {
		return v
	}
	return m.v.at("result", "_meta", keySubscription)
}

// code returns the code of an error, 0 if it has none.
func (m *message) code() int64 {
	n, _ := m.v.at("error", "code").integer()
	return n
}

// key identifies an id or a token: equal for equal values of one JSON type.
func key(v *value) string {
	switch {
	case v.is('"'):
		return "s" + v.text
	case v.is('0'):
		if n, ok := v.integer(); ok {
			return "n" + strconv.FormatInt(n, 10)
		}
		return "n" + v.text
	}
	return "?" + v.json()
}

// request describes a message to send. The zero value of a member is what a
// correct client would send.
type request struct {
	method  string
	params  string // members of params behind _meta, as JSON without braces
	id      string // JSON; a fresh number
	meta    string // JSON of _meta; the standard one
	more    string // further members of the standard _meta
	version string // of _meta and header; the revision of this package
	bare    bool   // no _meta at all
	raw     string // JSON in place of params
	// body replaces the whole message. kind says how its answer is found.
	body []byte
	note bool // a notification: no answer is expected
	// why says what is wrong with the message, on purpose.
	why string
	// shape changes the HTTP request.
	shape func(*shape)
	// name is what Mcp-Name mirrors; params.name of tools/call.
	name string
	args *value // arguments of a tools/call, for Mcp-Param headers
	tool *tool
}

// envelope returns a correct _meta with further members.
func envelope(version, more string) string {
	if more != "" {
		more = "," + more
	}
	return `{` + quote(keyVersion) + `:` + quote(version) + `,` + quote(keyCapabilities) + `:{},` +
		quote(keyClientInfo) + `:{"name":"mcp-devserver conform","version":"1"}` + more + `}`
}

func (r *request) encode(id string) []byte {
	if r.body != nil {
		return r.body
	}
	version := r.version
	if version == "" {
		version = revision
	}
	meta := r.meta
	if meta == "" {
		meta = envelope(version, r.more)
	}
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0",`)
	if !r.note {
		b.WriteString(`"id":` + id + `,`)
	}
	b.WriteString(`"method":` + quote(r.method))
	var params []string
	if !r.note && !r.bare {
		params = append(params, `"_meta":`+meta)
	}
	if r.params != "" {
		params = append(params, r.params)
	}
	if r.raw != "" {
		b.WriteString(`,"params":` + r.raw)
	} else if len(params) > 0 {
		b.WriteString(`,"params":{` + strings.Join(params, ",") + `}`)
	}
	b.WriteString("}")
	return []byte(b.String())
}
