package schema

import (
	"strconv"
	"unicode/utf8"

	"mcp-devserver/stages/wire"
)

// Violation is one place where a value breaks a schema.
//
// Everything in it is ours but Name: the values that broke a constraint are never quoted.
type Violation struct {
	Pointer  string   // of the object or value, by property names of the schema and indexes
	Name     string   // additionalProperties: the name that is not accepted, as the caller wrote it
	Keyword  string   // that was broken
	Detail   string   // what would have been right; required: the missing name
	Accepted []string // additionalProperties: the names that are
	Near     string   // additionalProperties: the accepted name that was probably meant, "" when none is near
}

type checker struct {
	steps int
	out   []Violation
}

// Validate returns what is wrong with v, at most ten findings: unknown names first, then missing ones, then the rest in the
// order of the value. None means that v is valid.
func (s *Schema) Validate(v Value) []Violation {
	var c checker
	c.check(s, v, "", 0)
	return c.out
}

func (c *checker) add(v Violation) {
	if len(c.out) < maxViolations {
		c.out = append(c.out, v)
	}
}

// check returns whether v fits s. Findings are collected in c.out.
func (c *checker) check(s *Schema, v Value, at string, depth int) bool {
	before := len(c.out)
	say := func(keyword, detail string) { c.add(Violation{Pointer: at, Keyword: keyword, Detail: detail}) }
	if c.steps++; c.steps > maxSteps || depth > maxDepth {
		say("limit", "the value takes too much work to check")
		return false
	}
	if s.never {
		say("false", "nothing is accepted here")
		return false
	}
	if s.ref != nil && !c.check(s.ref, v, at, depth+1) {
		return false
	}
	if s.typ != "" && !v.is(s.typ) {
		say("type", "must be "+article(s.typ)+", not "+v.describe())
		return false
	}
	if s.enum != nil && !v.among(s.enum) {
		say("enum", "must be one of: "+s.enumText)
	}
	switch v.kind {
	case '"':
		c.text(s, v, say)
	case '0':
		c.number(s, v, say)
	case '[':
		if s.items != nil {
			for i := range v.items {
				c.check(s.items, v.items[i], at+"/"+strconv.Itoa(i), depth+1)
			}
		}
	case '{':
		c.object(s, v, at, depth)
	}
	if len(s.anyOf) > 0 && !c.any(s, v, at, depth) {
		say("anyOf", "fits none of the accepted forms")
	}
	return len(c.out) == before
}

func (c *checker) any(s *Schema, v Value, at string, depth int) bool {
	for _, one := range s.anyOf {
		trial := checker{steps: c.steps}
		ok := trial.check(one, v, at, depth+1)
		c.steps = trial.steps
		if ok {
			return true
		}
	}
	return false
}

func (c *checker) text(s *Schema, v Value, say func(string, string)) {
	if s.minLength == 0 && s.maxLength < 0 {
		return
	}
	switch n := utf8.RuneCountInString(v.str); {
	case n < s.minLength && n == 0:
		say("minLength", "must not be empty")
	case n < s.minLength:
		say("minLength", "must have at least "+strconv.Itoa(s.minLength)+" characters")
	case s.maxLength >= 0 && n > s.maxLength:
		say("maxLength", "must have at most "+strconv.Itoa(s.maxLength)+" characters")
	}
}

func (c *checker) number(s *Schema, v Value, say func(string, string)) {
	if s.minimum != nil && v.compare(*s.minimum) < 0 {
		say("minimum", "must be at least "+strconv.FormatInt(*s.minimum, 10))
	}
	if s.maximum != nil && v.compare(*s.maximum) > 0 {
		say("maximum", "must be at most "+strconv.FormatInt(*s.maximum, 10))
	}
}

func (c *checker) object(s *Schema, v Value, at string, depth int) {
	if s.additional != nil && s.additional.never {
		// A name costs a look at every other one, so only those that are reported are looked up.
		for i := 0; i < len(v.members) && len(c.out) < maxViolations; i++ {
			if m := &v.members[i]; s.properties[m.name] == nil {
				c.add(Violation{Pointer: at, Name: m.name, Keyword: "additionalProperties", Detail: "is not accepted", Accepted: s.names, Near: s.near(m.name, v)})
			}
		}
	}
	for _, name := range s.required {
		if _, ok := v.get(name); !ok {
			c.add(Violation{Pointer: at, Keyword: "required", Detail: name})
		}
	}
	for i := range v.members {
		m := &v.members[i]
		if p := s.properties[m.name]; p != nil {
			c.check(p, m.value, at+"/"+escape(m.name), depth+1)
		} else if s.additional != nil && !s.additional.never {
			c.check(s.additional, m.value, at+"/*", depth+1) // the name is the caller's, so it is not part of the pointer
		}
	}
}

func (v Value) is(typ string) bool {
	switch typ {
	case "object":
		return v.kind == '{'
	case "array":
		return v.kind == '['
	case "string":
		return v.kind == '"'
	case "number":
		return v.kind == '0'
	case "integer":
		return v.kind == '0' && wire.Whole(v.raw)
	case "boolean":
		return v.kind == 't' || v.kind == 'f'
	}
	return v.kind == 'n'
}

func (v Value) describe() string {
	switch v.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		if wire.Whole(v.raw) {
			return "a number"
		}
		return "a number with a fraction"
	case 'n':
		return "null"
	}
	return "a boolean"
}

func article(typ string) string {
	switch typ {
	case "object", "array", "integer":
		return "an " + typ
	case "null":
		return typ
	}
	return "a " + typ
}

func (v Value) among(list []Value) bool {
	for i := range list {
		if v.equal(list[i]) {
			return true
		}
	}
	return false
}

// equal compares scalars; numbers by value.
func (v Value) equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case '"':
		return v.str == w.str
	case '0':
		if wire.Whole(v.raw) && wire.Whole(w.raw) {
			return wire.ID(v.raw).Key() == wire.ID(w.raw).Key()
		}
		return v.float() == w.float()
	}
	return v.kind != '{' && v.kind != '['
}

// compare compares the number v with n, whatever its precision or exponent.
func (v Value) compare(n int64) int {
	if plain, ok := wire.Integer(v.raw, 18); ok {
		i, _ := strconv.ParseInt(plain, 10, 64)
		switch {
		case i < n:
			return -1
		case i > n:
			return 1
		}
		return 0
	}
	f := v.float() // beyond 18 digits or with a fraction: bounds are below 2^53, so a float decides
	switch {
	case f < float64(n):
		return -1
	case f > float64(n):
		return 1
	}
	return 0
}

func (v Value) float() float64 {
	f, _ := strconv.ParseFloat(string(v.raw), 64) // ±Inf beyond the range, which compares as it should
	return f
}
