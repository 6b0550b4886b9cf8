// Package schema checks JSON values against the subset of JSON Schema 2020-12 that this server publishes.
//
// # How to start
//
//	s, err := schema.Compile(published)         // at registration: an error stops the start
//	v, err := schema.Parse(arguments)
//	args, notices := s.Relax(v)                 // lossless leniency
//	violations := s.Validate(args)
//	tool.Run(ctx, call, s.Fill(args).AppendTo(nil))
//
// # What it promises
//
// A keyword that is not enforced is refused by [Compile] with its place, so that no published constraint is ever silently
// absent. References lead to #/$defs of the same schema and nowhere else; nothing is fetched. Schema depth, number of
// subschemas, instance depth and steps of one validation are bounded.
//
// # Limits
//
// Supported: type (one name), properties, required, additionalProperties, items, enum and const with scalars, minLength,
// maxLength, minimum, maximum (integers), anyOf, $ref, $defs, $schema (2020-12 only), and the annotations title,
// description and default. Not supported, so refused: everything else, unions of types among it.
package schema

import (
	"fmt"
	"strconv"
	"strings"

	"mcp-devserver/stages/wire"
)

// Dialect is the only value of $schema that is accepted; a schema without one is taken to be of this dialect.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Bounds.
const (
	maxSchemaDepth = 16
	maxSubschemas  = 1000
	maxDepth       = 64     // instance
	maxSteps       = 200000 // subschemas applied in one validation
	maxViolations  = 10     // reported
	maxBound       = 1 << 53
)

// Error says why a schema was refused.
type Error struct {
	Pointer string // of the subschema, "" is the root
	Keyword string // "" when the fault is not with one keyword
	Reason  string
}

func (e *Error) Error() string {
	at := e.Pointer
	if at == "" {
		at = "the root"
	}
	if e.Keyword == "" {
		return fmt.Sprintf("schema at %s: %s", at, e.Reason)
	}
	return fmt.Sprintf("schema at %s: %q %s", at, e.Keyword, e.Reason)
}

// Schema is a compiled schema. It may be used by many goroutines.
type Schema struct {
	never      bool // the schema false
	typ        string
	properties map[string]*Schema
	names      []string // of properties, in the order of the text
	required   []string
	additional *Schema // nil: anything
	items      *Schema
	enum       []Value // nil: anything
	enumText   string
	anyOf      []*Schema
	ref        *Schema
	minLength  int
	maxLength  int // -1: unbounded
	minimum    *int64
	maximum    *int64
	fallback   Value // default; absent when the schema has none
}

// Names returns the names of the properties in the order of the schema.
func (s *Schema) Names() []string { return s.names }

type compiler struct {
	count   int
	defs    map[string]Value
	done    map[string]*Schema
	pending map[*Schema]string // schema to the name of the definition its $ref names
}

// Compile reads a schema whose root is an object. The error is an [*Error].
func Compile(text []byte) (*Schema, error) {
	root, err := Parse(text)
	if err != nil {
		return nil, &Error{Reason: "is not valid JSON, or a name appears twice in it"}
	}
	if root.kind != '{' {
		return nil, &Error{Reason: "must be an object"}
	}
	c := &compiler{defs: map[string]Value{}, done: map[string]*Schema{}, pending: map[*Schema]string{}}
	if d, ok := root.get("$schema"); ok && (d.kind != '"' || strings.TrimSuffix(d.str, "#") != Dialect) {
		return nil, &Error{Keyword: "$schema", Reason: "names a dialect that is not supported; this server knows " + Dialect}
	}
	if d, ok := root.get("$defs"); ok {
		if d.kind != '{' {
			return nil, &Error{Keyword: "$defs", Reason: "must be an object"}
		}
		for _, m := range d.members {
			c.defs[m.name] = m.value
		}
	}
	s, err := c.schema(root, "", 0)
	if err != nil {
		return nil, err
	}
	for _, m := range root.memberOf("$defs") {
		d, err := c.schema(m.value, "/$defs/"+escape(m.name), 1)
		if err != nil {
			return nil, err
		}
		c.done[m.name] = d
	}
	for s, name := range c.pending {
		s.ref = c.done[name]
	}
	if name := c.loop(); name != "" {
		return nil, &Error{Pointer: "/$defs/" + escape(name), Keyword: "$ref", Reason: "leads back to itself without entering the value"}
	}
	for _, name := range s.names {
		if p := s.properties[name]; p.fallback.kind != 0 && len(p.Validate(p.fallback)) > 0 {
			return nil, &Error{Pointer: "/properties/" + escape(name), Keyword: "default", Reason: "does not fit its own schema"}
		}
	}
	return s, nil
}

func (c *compiler) schema(v Value, at string, depth int) (*Schema, error) {
	s := &Schema{maxLength: -1}
	if c.count++; c.count > maxSubschemas {
		return nil, &Error{Pointer: at, Reason: "holds more than " + strconv.Itoa(maxSubschemas) + " subschemas"}
	}
	if depth > maxSchemaDepth {
		return nil, &Error{Pointer: at, Reason: "nests deeper than " + strconv.Itoa(maxSchemaDepth)}
	}
	switch v.kind {
	case 't':
		return s, nil
	case 'f':
		s.never = true
		return s, nil
	case '{':
	default:
		return nil, &Error{Pointer: at, Reason: "must be an object, true or false"}
	}
	for _, m := range v.members {
		if err := c.keyword(s, m.name, m.value, at, depth); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (c *compiler) keyword(s *Schema, name string, v Value, at string, depth int) error {
	bad := func(reason string) error { return &Error{Pointer: at, Keyword: name, Reason: reason} }
	sub := func(v Value, path string) (*Schema, error) { return c.schema(v, at+"/"+path, depth+1) }
	var err error
	switch name {
	case "title", "description":
		if v.kind != '"' {
			return bad("must be a string")
		}
	case "default":
		s.fallback = v
	case "$schema", "$defs":
		if at != "" {
			return bad("is accepted at the root only")
		}
	case "type":
		switch v.str {
		case "object", "array", "string", "integer", "number", "boolean", "null":
			s.typ = v.str
		default:
			return bad("must be one of the seven type names; unions are not supported")
		}
	case "properties":
		if v.kind != '{' {
			return bad("must be an object")
		}
		s.properties = make(map[string]*Schema, len(v.members))
		for _, m := range v.members {
			if s.properties[m.name], err = sub(m.value, "properties/"+escape(m.name)); err != nil {
				return err
			}
			s.names = append(s.names, m.name)
		}
	case "required":
		if v.kind != '[' {
			return bad("must be an array of strings")
		}
		for _, i := range v.items {
			if i.kind != '"' {
				return bad("must be an array of strings")
			}
			s.required = append(s.required, i.str)
		}
	case "additionalProperties":
		s.additional, err = sub(v, name)
		return err
	case "items":
		s.items, err = sub(v, name)
		return err
	case "anyOf":
		if v.kind != '[' || len(v.items) == 0 {
			return bad("must be an array of schemas")
		}
		for i, item := range v.items {
			one, err := sub(item, "anyOf/"+strconv.Itoa(i))
			if err != nil {
				return err
			}
			s.anyOf = append(s.anyOf, one)
		}
	case "enum", "const":
		return c.values(s, name, v, bad)
	case "minLength", "maxLength", "minimum", "maximum":
		return c.bound(s, name, v, bad)
	case "$ref":
		def, ok := strings.CutPrefix(v.str, "#/$defs/")
		if v.kind != '"' || !ok || strings.Contains(def, "/") {
			return bad("must name a definition of this schema, #/$defs/NAME; nothing else is resolved or fetched")
		}
		def = names.Replace(def)
		if _, ok := c.defs[def]; !ok {
			return bad("names a definition that is not there")
		}
		c.pending[s] = def
	default:
		return bad("is not a keyword that this server enforces")
	}
	return nil
}

func (c *compiler) values(s *Schema, name string, v Value, bad func(string) error) error {
	list := []Value{v}
	if name == "enum" {
		if list = v.items; v.kind != '[' || len(list) == 0 {
			return bad("must be a non-empty array")
		}
	}
	if s.enum != nil {
		return bad("cannot stand beside enum or const")
	}
	var text []string
	for _, item := range list {
		if item.kind == '{' || item.kind == '[' {
			return bad("may hold strings, numbers, booleans and null only")
		}
		text = append(text, strings.Trim(string(item.raw), `"`))
	}
	s.enum, s.enumText = list, strings.Join(text, ", ")
	return nil
}

func (c *compiler) bound(s *Schema, name string, v Value, bad func(string) error) error {
	plain, ok := wire.Integer(v.raw, 18)
	n, err := strconv.ParseInt(plain, 10, 64)
	if !ok || err != nil || n > maxBound || n < -maxBound {
		return bad("must be an integer that every client reads exactly")
	}
	switch name {
	case "minimum":
		s.minimum = &n
	case "maximum":
		s.maximum = &n
	default:
		if n < 0 || n > 1<<31-1 {
			return bad("must be a length")
		}
		if name == "minLength" {
			s.minLength = int(n)
		} else {
			s.maxLength = int(n)
		}
	}
	return nil
}

// loop finds a definition that applies itself to the same value again, which would never end.
func (c *compiler) loop() string {
	known := map[*Schema]string{}
	for name, s := range c.done {
		known[s] = name
	}
	state := map[*Schema]int{} // 1 open, 2 done
	var walk func(s *Schema) string
	walk = func(s *Schema) string {
		switch state[s] {
		case 1:
			return known[s]
		case 2:
			return ""
		}
		state[s] = 1
		next := s.anyOf
		if s.ref != nil {
			next = append([]*Schema{s.ref}, next...)
		}
		for _, n := range next {
			if name := walk(n); name != "" {
				return name
			}
		}
		state[s] = 2
		return ""
	}
	for _, s := range c.done {
		if name := walk(s); name != "" {
			return name
		}
	}
	return ""
}

// pointers spells a name as part of a JSON pointer; names reads it back.
var (
	pointers = strings.NewReplacer("~", "~0", "/", "~1")
	names    = strings.NewReplacer("~1", "/", "~0", "~")
)

func escape(name string) string { return pointers.Replace(name) }

// Anything returns the schema that every object fits.
func Anything() *Schema { return &Schema{typ: "object", maxLength: -1} }

// Object reports whether the schema says at its root that values are objects.
func (s *Schema) Object() bool { return s.typ == "object" }

// Has reports whether name is a property of the schema.
func (s *Schema) Has(name string) bool { return s.properties[name] != nil }
