package conformance

import (
	"fmt"
	"slices"
	"strings"
)

var schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// keywordKinds are the JSON types that 2020-12 gives to the values of its
// keywords: s a schema, S an array of them, m an object of them, t a type, n a
// number, i a count, a strings that differ, " a string, b a boolean, [ an array.
var keywordKinds = map[string]byte{
	"$ref": '"', "$id": '"', "$schema": '"', "$anchor": '"', "$comment": '"', "$defs": 'm', "title": '"', "description": '"', "format": '"', "pattern": '"',
	"type": 't', "enum": '[', "required": 'a', "properties": 'm', "patternProperties": 'm', "dependentSchemas": 'm',
	"additionalProperties": 's', "propertyNames": 's', "unevaluatedProperties": 's', "items": 's', "contains": 's', "unevaluatedItems": 's',
	"not": 's', "if": 's', "then": 's', "else": 's', "allOf": 'S', "anyOf": 'S', "oneOf": 'S', "prefixItems": 'S',
	"minimum": 'n', "maximum": 'n', "exclusiveMinimum": 'n', "exclusiveMaximum": 'n', "multipleOf": 'n',
	"minLength": 'i', "maxLength": 'i', "minItems": 'i', "maxItems": 'i', "minProperties": 'i', "maxProperties": 'i', "minContains": 'i', "maxContains": 'i',
	"uniqueItems": 'b', "deprecated": 'b', "readOnly": 'b', "writeOnly": 'b', "examples": '[',
}

// lint judges a schema of 2020-12. Of a schema that names another dialect it
// says nothing.
func lint(s *value) []string {
	if d := s.at("$schema"); d != nil && strings.TrimSuffix(d.str(), "#") != dialect {
		if d.is('"') {
			return nil
		}
		return []string{"$schema is " + clip(d.json(), 40)}
	}
	l := linter{root: s, steps: 20_000}
	l.schema(s, "")
	return l.found
}

type linter struct {
	root  *value
	steps int
	found []string
}

func (l *linter) fail(at, format string, args ...any) {
	if len(l.found) < 20 {
		l.found = append(l.found, "at "+clip(at+"/", 80)+" "+fmt.Sprintf(format, args...))
	}
}

func (l *linter) schema(s *value, at string) {
	if l.steps--; l.steps < 0 || s.isBool() {
		return
	}
	if !s.is('{') {
		l.fail(at, "%s is no schema", clip(s.json(), 20))
		return
	}
	defer func(outer *value) { l.root = outer }(l.root)
	l.root = base(l.root, s)
	for _, name := range s.names {
		l.keyword(name, s.members[name], at+"/"+name)
	}
	if r := s.at("$ref").str(); strings.HasPrefix(r, "#/") && resolve(l.root, r) == nil {
		l.fail(at, "the reference %s leads nowhere", quote(clip(r, 60)))
	}
}

func (l *linter) keyword(name string, v *value, at string) {
	ok := true
	switch keywordKinds[name] {
	case 's':
		l.schema(v, at)
	case 'S':
		if ok = v.is('[') && len(v.items) > 0; ok {
			for _, part := range v.items {
				l.schema(part, at)
			}
		}
	case 'm':
		if ok = v.is('{'); ok {
			for _, n := range v.names {
				l.schema(v.members[n], at+"/"+n)
			}
		}
	case 't':
		names := []*value{v}
		if v.is('[') {
			names = v.items
		}
		ok = len(names) > 0 && !slices.ContainsFunc(names, func(n *value) bool { return !slices.Contains(schemaTypes, n.str()) })
	case 'n':
		ok = v.is('0')
	case 'i':
		n, whole := v.integer()
		ok = whole && n >= 0
	case 'a':
		seen := map[string]bool{}
		ok = v.is('[') && !slices.ContainsFunc(v.items, func(n *value) bool {
			again := seen[n.str()]
			seen[n.str()] = true
			return !n.is('"') || again
		})
	case '"':
		ok = v.is('"')
	case 'b':
		ok = v.isBool()
	case '[':
		ok = v.is('[')
	}
	if !ok {
		l.fail(at, "is %s", clip(v.json(), 40))
	}
}
