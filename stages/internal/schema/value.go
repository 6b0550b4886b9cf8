package schema

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"mcp-devserver/stages/wire"
)

// Value is a parsed JSON value. Its zero value is absent.
type Value struct {
	kind    byte   // '{' '[' '"' '0' 't' 'f' 'n', 0 when absent
	raw     []byte // scalars: the token as it was sent
	str     string // strings: after escapes
	items   []Value
	members []member
}

type member struct {
	name  string
	value Value
}

var errDeep = errors.New("value nests too deeply")

// Parse reads one JSON value in which no name appears twice in an object. The result refers to text.
func Parse(text []byte) (Value, error) {
	r := readers.Get().(*reader)
	r.buf = *bytes.NewBuffer(text)
	r.dec.Reset(&r.buf)
	defer func() {
		r.buf = bytes.Buffer{}
		r.dec.Reset(&r.buf)
		readers.Put(r)
	}()
	v, err := parse(r.dec, text, 0)
	if err != nil {
		return Value{}, err
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return Value{}, errors.New("something follows the value")
	}
	return v, nil
}

// readers recycles decoders, whose tables cost more than reading the arguments of one call.
var readers = sync.Pool{New: func() any {
	r := new(reader)
	r.dec = jsontext.NewDecoder(&r.buf)
	return r
}}

type reader struct {
	buf bytes.Buffer
	dec *jsontext.Decoder
}

func parse(d *jsontext.Decoder, text []byte, depth int) (v Value, err error) {
	if depth > maxDepth {
		return v, errDeep
	}
	switch k := d.PeekKind(); k {
	case '{':
		v.kind = '{'
		_, err = d.ReadToken()
		for err == nil && d.PeekKind() != '}' {
			var name, value Value
			if name, err = scalar(d, text); err != nil {
				return v, err
			}
			if value, err = parse(d, text, depth+1); err != nil {
				return v, err
			}
			v.members = append(v.members, member{name.str, value})
		}
	case '[':
		v.kind = '['
		_, err = d.ReadToken()
		for err == nil && d.PeekKind() != ']' {
			var item Value
			if item, err = parse(d, text, depth+1); err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
	default:
		return scalar(d, text)
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return v, err
}

func scalar(d *jsontext.Decoder, text []byte) (v Value, err error) {
	read, err := d.ReadValue()
	if err != nil {
		return v, err
	}
	end := int(d.InputOffset())
	v.raw = text[end-len(read) : end : end]
	v.kind = wire.Kind(v.raw)
	if v.kind == '"' {
		v.str, _ = wire.String(v.raw)
	}
	return v, nil
}

func (v Value) get(name string) (Value, bool) {
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].value, true
		}
	}
	return Value{}, false
}

func (v Value) memberOf(name string) []member {
	m, _ := v.get(name)
	return m.members
}

// Empty is the object without members.
func Empty() Value { return Value{kind: '{'} }

// Each calls f for each member of an object, in order, with the length of its value as text.
func (v Value) Each(f func(name string, length int)) {
	for i := range v.members {
		f(v.members[i].name, v.members[i].value.length())
	}
}

func (v Value) length() int {
	if v.kind == '"' {
		return len(v.str)
	}
	n := len(v.raw)
	for i := range v.items {
		n += v.items[i].length() + 1
	}
	for i := range v.members {
		n += len(v.members[i].name) + v.members[i].value.length() + 4
	}
	return n
}

// AppendTo appends v as compact JSON.
func (v Value) AppendTo(b []byte) []byte {
	switch v.kind {
	case '{':
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b, _ = jsontext.AppendQuote(b, m.name)
			b = append(b, ':')
			b = m.value.AppendTo(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.items[i].AppendTo(b)
		}
		return append(b, ']')
	}
	return append(b, v.raw...)
}

// Strings reports whether raw is an array of strings.
func Strings(raw []byte) bool {
	v, err := Parse(raw)
	if err != nil || v.kind != '[' {
		return false
	}
	for i := range v.items {
		if v.items[i].kind != '"' {
			return false
		}
	}
	return true
}
