package conformance

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value with what a comparison needs: the order of members and
// the spelling of numbers. A nil value is an absent one; every method takes it.
type value struct {
	kind    jsontext.Kind // n t f " 0 { [
	text    string        // of a string, decoded; of a number, as written
	names   []string
	members map[string]*value
	items   []*value
}

// Bounds of what is parsed: a hostile answer of 16 MiB may hold eight million
// values.
const (
	maxDepth  = 200
	maxValues = 1 << 18
)

var (
	errDeep     = errors.New("nested too deep to be looked at")
	errMany     = errors.New("too many values to be looked at")
	errTrailing = errors.New("something follows the JSON value")
)

// parseValue reads exactly one JSON value: valid UTF-8, no duplicate names,
// nothing after it.
func parseValue(b []byte) (*value, error) {
	p := parser{d: jsontext.NewDecoder(bytes.NewReader(b))}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return v, nil
}

type parser struct {
	d     *jsontext.Decoder
	count int
}

func (p *parser) value(depth int) (*value, error) {
	if p.count++; p.count > maxValues {
		return nil, errMany
	}
	if depth > maxDepth {
		return nil, errDeep
	}
	t, err := p.d.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &value{kind: t.Kind()}
	switch v.kind {
	case '"', '0':
		v.text = t.String()
	case '[':
		for p.d.PeekKind() != ']' {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, err = p.d.ReadToken()
	case '{':
		v.members = map[string]*value{}
		for p.d.PeekKind() != '}' {
			n, err := p.d.ReadToken()
			if err != nil {
				return nil, err
			}
			name := n.String()
			m, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.names = append(v.names, name)
			v.members[name] = m
		}
		_, err = p.d.ReadToken()
	}
	return v, err
}

// at follows member names.
func (v *value) at(path ...string) *value {
	for _, name := range path {
		if v == nil {
			return nil
		}
		v = v.members[name]
	}
	return v
}

func (v *value) is(kind jsontext.Kind) bool { return v != nil && v.kind == kind }
func (v *value) isBool() bool               { return v.is('t') || v.is('f') }

// str returns a string, "" for anything else.
func (v *value) str() string {
	if v.is('"') {
		return v.text
	}
	return ""
}

// integer returns a number without a fraction.
func (v *value) integer() (int64, bool) {
	if !v.is('0') {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxSafe {
		return 0, false
	}
	return int64(f), true
}

// number returns any number as an exact fraction.
func (v *value) number() (*big.Rat, bool) {
	if !v.is('0') || len(v.text) > 64 || exponent(v.text) > 400 {
		return nil, false
	}
	return new(big.Rat).SetString(v.text)
}

// exponent keeps a number such as 1e999999999 from being written out.
func exponent(s string) int {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimLeft(s[i+1:], "+-"))
	if err != nil {
		return math.MaxInt
	}
	return n
}

// equal compares as JSON Schema does: numbers by value, objects without order.
func equal(a, b *value) bool {
	switch {
	case a == b:
		return true
	case a == nil || b == nil:
		return false
	case a.kind != b.kind:
		return false
	case a.kind == '0':
		x, ok := a.number()
		y, ok2 := b.number()
		if ok && ok2 {
			return x.Cmp(y) == 0
		}
		return a.text == b.text
	}
	return a.text == b.text && slices.EqualFunc(a.items, b.items, equal) && len(a.members) == len(b.members) &&
		!slices.ContainsFunc(a.names, func(n string) bool { return !equal(a.members[n], b.members[n]) })
}

// json writes the value on one line, members in their order.
func (v *value) json() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *value) write(b *strings.Builder) {
	switch {
	case v == nil:
		b.WriteString("absent")
	case v.kind == '"':
		b.WriteString(quote(v.text))
	case v.kind == '0':
		b.WriteString(v.text)
	case v.kind == '[':
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case v.kind == '{':
		b.WriteByte('{')
		for i, n := range v.names {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(n))
			b.WriteByte(':')
			v.members[n].write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.kind.String())
	}
}

// walk visits a value and everything in it. path names the members on the way;
// an array adds nothing to it.
func (v *value) walk(visit func(path []string, v *value)) { v.descend(nil, visit) }

func (v *value) descend(path []string, visit func([]string, *value)) {
	if v == nil {
		return
	}
	visit(path, v)
	for _, item := range v.items {
		item.descend(path, visit)
	}
	for _, n := range v.names {
		v.members[n].descend(append(path[:len(path):len(path)], n), visit)
	}
}

// quote writes a JSON string.
func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `"\ufffd"`
	}
	return string(b)
}
