package conformance

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// tool is what a server publishes about one of its tools.
type tool struct {
	name string
	v    *value
}

func (t *tool) input() *value  { return t.v.at("inputSchema") }
func (t *tool) output() *value { return t.v.at("outputSchema") }

// readOnly: the tool says that it changes nothing.
func (t *tool) readOnly() bool { return t.v.at("annotations", "readOnlyHint").is('t') }

// required lists the names of arguments that must be there.
func (t *tool) required() (names []string) {
	for _, r := range t.input().at("required").list() {
		names = append(names, r.str())
	}
	return names
}

func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

// arguments makes the smallest arguments that the schema of a tool accepts.
// ok is false when they do not: the schema asks for more than is understood
// here.
func (t *tool) arguments() (args *value, ok bool) {
	g := generator{root: t.input(), depth: 8, steps: 4 * maxSteps}
	args = g.make(t.input(), 0)
	return args, args.is('{') && g.fits(t.input(), args) && g.steps >= 0
}

// generator makes values that fit a schema.
type generator struct {
	root  *value
	depth int
	steps int
}

func (g *generator) fits(s, v *value) bool { return len(judge(g.root, s, v, &g.steps)) == 0 }

func text(s string) *value   { return &value{kind: '"', text: s} }
func number(s string) *value { return &value{kind: '0', text: s} }

func object() *value { return &value{kind: '{', members: map[string]*value{}} }

func (v *value) set(name string, m *value) {
	if _, there := v.members[name]; !there {
		v.names = append(v.names, name)
	}
	v.members[name] = m
}

func (g *generator) make(s *value, depth int) *value {
	if g.steps--; depth > g.depth || g.steps < 0 {
		return &value{kind: 'n'}
	}
	if s.is('t') {
		return text("a")
	}
	defer func(outer *value) { g.root = outer }(g.root)
	g.root = base(g.root, s)
	if c := s.at("const"); c != nil {
		return c
	}
	for _, name := range []string{"enum", "examples"} {
		for _, v := range s.at(name).list() {
			if g.fits(s, v) {
				return v
			}
		}
	}
	if d := s.at("default"); d != nil && g.fits(s, d) {
		return d
	}
	if r := s.at("$ref"); r != nil {
		return g.make(resolve(g.root, r.str()), depth+1)
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if s.at("type") != nil || s.at("properties") != nil {
			break
		}
		for _, branch := range s.at(name).list() {
			if v := g.make(branch, depth+1); g.fits(s, v) {
				return v
			}
		}
	}
	switch typeOf(s) {
	case "string":
		return text(g.text(s))
	case "integer", "number":
		return number(g.number(s))
	case "boolean":
		return &value{kind: 'f'}
	case "null":
		return &value{kind: 'n'}
	case "array":
		a := &value{kind: '['}
		n, _ := s.at("minItems").integer()
		for range min(n, 20) {
			a.items = append(a.items, g.make(s.at("items").orTrue(), depth+1))
		}
		return a
	}
	o := object()
	for _, name := range s.at("required").list() {
		o.set(name.str(), g.make(s.at("properties", name.str()).orTrue(), depth+1))
	}
	for _, part := range s.at("allOf").list() {
		if more := g.make(part, depth+1); more.is('{') {
			for _, name := range more.names {
				o.set(name, more.members[name])
			}
		}
	}
	return o
}

func (v *value) orTrue() *value {
	if v == nil {
		return &value{kind: 't'}
	}
	return v
}

// typeOf returns the first type that a schema names, or what it looks like.
func typeOf(s *value) string {
	t := s.at("type")
	switch {
	case t.is('"'):
		return t.str()
	case len(t.list()) > 0:
		return t.items[0].str()
	case s.at("properties") != nil || s.at("required") != nil:
		return "object"
	case s.at("items") != nil:
		return "array"
	case s.at("minLength") != nil || s.at("pattern") != nil:
		return "string"
	case s.at("minimum") != nil || s.at("maximum") != nil:
		return "integer"
	case s.at("allOf") != nil:
		return "object"
	}
	return "string"
}

// formats are examples of strings by their format.
var formats = map[string]string{
	"date": "2026-01-31", "date-time": "2026-01-31T10:00:00Z", "time": "10:00:00Z", "email": "ada@example.com",
	"uri": "https://example.com/", "uri-reference": "a", "uuid": "123e4567-e89b-12d3-a456-426614174000",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "hostname": "example.com",
}

func (g *generator) text(s *value) string {
	if f := formats[s.at("format").str()]; f != "" {
		return f
	}
	least, _ := s.at("minLength").integer()
	for _, candidate := range []string{"a", "A", "1", "a.b", "a/b", "2026-01-31", "https://example.com/"} {
		for int64(len(candidate)) < min(least, 10_000) {
			candidate += candidate[len(candidate)-1:]
		}
		if g.fits(s, text(candidate)) {
			return candidate
		}
	}
	return strings.Repeat("a", int(max(1, min(least, 10_000))))
}

func (g *generator) number(s *value) string {
	candidates := []string{"1", "0"}
	for _, bound := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		n, ok := s.at(bound).number()
		if !ok {
			continue
		}
		whole := new(big.Int).Quo(n.Num(), n.Denom())
		for _, d := range []int64{0, 1, -1} {
			candidates = append(candidates, new(big.Int).Add(whole, big.NewInt(d)).String())
		}
	}
	for _, c := range candidates {
		if g.fits(s, number(c)) {
			return c
		}
	}
	return "1"
}

// wrong makes arguments that break the schema of a tool in one place: a
// required argument is left out or has another type. what says which; ok is
// false for a schema that accepts anything.
func (t *tool) wrong() (args *value, what string, ok bool) {
	good, fine := t.arguments()
	if !fine {
		return nil, "", false
	}
	for _, name := range t.required() {
		bad := object()
		for _, n := range good.names {
			if n != name {
				bad.set(n, good.members[n])
			}
		}
		if len(violations(t.input(), bad)) > 0 {
			return bad, "the required " + strconv.Quote(name) + " is missing", true
		}
	}
	props := t.input().at("properties")
	if props == nil {
		return nil, "", false
	}
	for _, name := range slices.Sorted(slices.Values(props.names)) {
		bad := object()
		for _, n := range good.names {
			bad.set(n, good.members[n])
		}
		bad.set(name, &value{kind: '[', items: []*value{object()}})
		if len(violations(t.input(), bad)) > 0 {
			return bad, strconv.Quote(name) + " is an array that holds an object", true
		}
	}
	return nil, "", false
}
