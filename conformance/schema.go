package conformance

import (
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// violations judges a value by a schema, as far as the keywords are known here;
// a keyword that is not known accepts everything.
func violations(schema, v *value) []string {
	steps := maxSteps
	return judge(schema, schema, v, &steps)
}

// maxSteps bounds the work on one schema, which is what the server says it is.
const maxSteps = 20_000

// judge finds nothing once the steps are used up.
func judge(root, schema, v *value, steps *int) []string {
	j := judgement{root: root, steps: steps}
	j.check(schema, v, "")
	if *steps < 0 {
		return nil
	}
	return j.found
}

// judgement walks a value and its schema. A step is a comparison or so.
type judgement struct {
	root  *value
	steps *int
	found []string
}

// spend takes steps and tells whether there were as many.
func (j *judgement) spend(n int) bool {
	*j.steps -= n
	return *j.steps >= 0
}

// regexp compiles a pattern. One that RE2 cannot read judges nothing.
func (j *judgement) regexp(p string, text int) *regexp.Regexp {
	if len(p) > 1000 || !j.spend(100+len(p)+text/16) {
		return nil
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil
	}
	return re
}

func (j *judgement) fail(at, format string, args ...any) {
	if len(j.found) < 20 {
		if at == "" {
			at = "/"
		}
		j.found = append(j.found, clip(at, 100)+" "+fmt.Sprintf(format, args...))
	}
}

// fits tries a subschema without keeping what it finds.
func (j *judgement) fits(schema, v *value, at string) bool {
	sub := judgement{root: j.root, steps: j.steps}
	sub.check(schema, v, at)
	return len(sub.found) == 0
}

func (j *judgement) check(s, v *value, at string) {
	if !j.spend(1+len(s.at("enum").list())) || s == nil || s.is('t') {
		return
	}
	if s.is('f') {
		j.fail(at, "is not allowed")
		return
	}
	defer func(outer *value) { j.root = outer }(j.root)
	j.root = base(j.root, s)
	if r := s.at("$ref").str(); r != "" {
		j.check(resolve(j.root, r), v, at)
	}
	j.types(s, v, at)
	if c := s.at("const"); c != nil && !equal(c, v) {
		j.fail(at, "is not the constant")
	}
	if e := s.at("enum"); e != nil && !slices.ContainsFunc(e.items, func(x *value) bool { return equal(x, v) }) {
		j.fail(at, "is none of the values listed")
	}
	switch {
	case v.is('"'):
		j.text(s, v, at)
	case v.is('0'):
		j.number(s, v, at)
	case v.is('['):
		j.array(s, v, at)
	case v.is('{'):
		j.object(s, v, at)
	}
	j.compose(s, v, at)
}

func (j *judgement) types(s, v *value, at string) {
	t := s.at("type")
	if t == nil {
		return
	}
	names := []*value{t}
	if t.is('[') {
		names = t.items
	}
	if !slices.ContainsFunc(names, func(n *value) bool { return hasType(v, n.str()) }) {
		j.fail(at, "is not of type %s", clip(t.json(), 60))
	}
}

func hasType(v *value, name string) bool {
	switch name {
	case "object":
		return v.is('{')
	case "array":
		return v.is('[')
	case "string":
		return v.is('"')
	case "number":
		return v.is('0')
	case "boolean":
		return v.isBool()
	case "null":
		return v.is('n')
	case "integer":
		n, ok := v.number()
		return ok && n.IsInt()
	}
	return false
}

func (j *judgement) text(s, v *value, at string) {
	n := int64(utf8.RuneCountInString(v.text))
	if least, ok := s.at("minLength").integer(); ok && n < least {
		j.fail(at, "is shorter than %d characters", least)
	}
	if most, ok := s.at("maxLength").integer(); ok && n > most {
		j.fail(at, "is longer than %d characters", most)
	}
	if p := s.at("pattern").str(); p != "" {
		if re := j.regexp(p, len(v.text)); re != nil && !re.MatchString(v.text) {
			j.fail(at, "does not match its pattern")
		}
	}
}

func (j *judgement) number(s, v *value, at string) {
	n, ok := v.number()
	if !ok {
		return
	}
	for _, bound := range []struct {
		name string
		bad  func(cmp int) bool
	}{
		{"minimum", func(c int) bool { return c < 0 }},
		{"maximum", func(c int) bool { return c > 0 }},
		{"exclusiveMinimum", func(c int) bool { return c <= 0 }},
		{"exclusiveMaximum", func(c int) bool { return c >= 0 }},
	} {
		if limit, ok := s.at(bound.name).number(); ok && bound.bad(n.Cmp(limit)) {
			j.fail(at, "breaks its %s", bound.name)
		}
	}
	if m, ok := s.at("multipleOf").number(); ok && m.Sign() > 0 && !new(big.Rat).Quo(n, m).IsInt() {
		j.fail(at, "is not a multiple as demanded")
	}
}

func (j *judgement) array(s, v *value, at string) {
	n := int64(len(v.items))
	if least, ok := s.at("minItems").integer(); ok && n < least {
		j.fail(at, "has fewer than %d items", least)
	}
	if most, ok := s.at("maxItems").integer(); ok && n > most {
		j.fail(at, "has more than %d items", most)
	}
	first := s.at("prefixItems").list()
	for i, item := range v.items {
		where := fmt.Sprintf("%s/%d", at, i)
		if i < len(first) {
			j.check(first[i], item, where)
		} else {
			j.check(s.at("items"), item, where)
		}
	}
	if s.at("uniqueItems").is('t') && n <= 1000 && j.spend(int(n*n/2)) {
		for i := range v.items {
			for k := range i {
				if equal(v.items[i], v.items[k]) {
					j.fail(at, "holds the same item twice")
					return
				}
			}
		}
	}
}

func (j *judgement) object(s, v *value, at string) {
	if !j.spend(len(s.at("required").list())) {
		return
	}
	for _, r := range s.at("required").list() {
		if v.at(r.str()) == nil {
			j.fail(at, "lacks %q", clip(r.str(), 60))
		}
	}
	n := int64(len(v.names))
	if least, ok := s.at("minProperties").integer(); ok && n < least {
		j.fail(at, "has fewer than %d members", least)
	}
	if most, ok := s.at("maxProperties").integer(); ok && n > most {
		j.fail(at, "has more than %d members", most)
	}
	for _, name := range v.names {
		known := false
		where := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if p := s.at("properties", name); p != nil {
			known = true
			j.check(p, v.members[name], where)
		}
		if patterns := s.at("patternProperties"); patterns != nil {
			for _, p := range patterns.names {
				if re := j.regexp(p, len(name)); re == nil {
					known = true
				} else if re.MatchString(name) {
					known = true
					j.check(patterns.members[p], v.members[name], where)
				}
			}
		}
		if names := s.at("propertyNames"); names != nil {
			j.check(names, text(name), where)
		}
		if !known {
			j.check(s.at("additionalProperties"), v.members[name], where)
		}
	}
}

func (j *judgement) compose(s, v *value, at string) {
	for _, part := range s.at("allOf").list() {
		j.check(part, v, at)
	}
	if any := s.at("anyOf").list(); len(any) > 0 && !slices.ContainsFunc(any, func(x *value) bool { return j.fits(x, v, at) }) {
		j.fail(at, "fits none of the alternatives")
	}
	if one := s.at("oneOf").list(); len(one) > 0 {
		fitting := 0
		for _, x := range one {
			if j.fits(x, v, at) {
				fitting++
			}
		}
		if fitting != 1 {
			j.fail(at, "fits %d of the alternatives, not one", fitting)
		}
	}
	if not := s.at("not"); not != nil && j.fits(not, v, at) {
		j.fail(at, "fits what it must not fit")
	}
	if cond := s.at("if"); cond != nil {
		if j.fits(cond, v, at) {
			j.check(s.at("then"), v, at)
		} else {
			j.check(s.at("else"), v, at)
		}
	}
}

// base returns the schema that references within s are relative to: one with an
// $id is a document of its own.
func base(root, s *value) *value {
	if id := s.at("$id"); id.is('"') && !strings.HasPrefix(id.text, "#") {
		return s
	}
	return root
}

// resolve follows a reference within the same schema. Everything else accepts
// anything: nothing is ever fetched.
func resolve(root *value, ref string) *value {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	v := root
	for i, part := range strings.Split(path, "/") {
		if i == 0 {
			if part != "" {
				return nil
			}
			continue
		}
		v = v.at(strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return v
}
