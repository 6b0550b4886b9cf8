package schema

import (
	"strings"

	"mcp-devserver/stages/wire"
)

// Relax applies the leniency that loses nothing to the arguments v of a call, only where the published type says so, and
// returns what the caller meant together with one notice for each use. Values of the caller are not quoted in notices.
//
//   - null for an optional argument is absent;
//   - an integer as a decimal string or with an empty fraction is that integer;
//   - "true" and "false" for a boolean are that boolean;
//   - "" for an optional path, glob or revision is absent.
func (s *Schema) Relax(v Value) (Value, []string) {
	if v.kind != '{' {
		return v, nil
	}
	var notices []string
	out := v.members
	for i := 0; i < len(out); i++ {
		p := s.properties[out[i].name]
		if p == nil {
			continue
		}
		now, note := p.relax(out[i].name, out[i].value, s.requires(out[i].name))
		if note == "" {
			continue
		}
		if len(notices) == 0 {
			out = append([]member(nil), out...) // v stays as it was sent
		}
		notices = append(notices, note)
		if now.kind == 0 {
			out = append(out[:i], out[i+1:]...)
			i--
			continue
		}
		out[i].value = now
	}
	v.members = out
	return v, notices
}

// relax returns what v stands for under the schema of one argument; note is "" when that is v itself.
func (s *Schema) relax(name string, v Value, required bool) (now Value, note string) {
	switch {
	case v.kind == 'n' && !required && s.typ != "null" && s.typ != "":
		return Value{}, name + " was null and is taken as absent."
	case v.kind == '"' && s.typ == "integer":
		if plain, ok := decimal(v.str); ok {
			return Value{kind: '0', raw: []byte(plain)}, name + " was sent as a string and is read as the integer in it."
		}
	case v.kind == '0' && s.typ == "integer" && strings.ContainsAny(string(v.raw), ".eE"):
		if plain, ok := wire.Integer(v.raw, 15); ok {
			return Value{kind: '0', raw: []byte(plain)}, name + " was sent as a fractional number and is read as the integer it equals."
		}
	case v.kind == '"' && s.typ == "boolean" && (v.str == "true" || v.str == "false"):
		return Value{kind: v.str[0], raw: []byte(v.str)}, name + " was sent as a string and is read as the boolean in it."
	case v.kind == '"' && v.str == "" && s.typ == "string" && !required && emptyable(name):
		return Value{}, name + " was empty and is taken as absent."
	}
	return v, ""
}

// Fill returns the object v with the defaults of absent properties, in the order of the schema.
func (s *Schema) Fill(v Value) Value {
	if v.kind != '{' {
		return v
	}
	members := append(make([]member, 0, len(v.members)+len(s.names)), v.members...)
	for _, name := range s.names {
		if p := s.properties[name]; p.fallback.kind != 0 {
			if _, ok := v.get(name); !ok {
				members = append(members, member{name, p.fallback})
			}
		}
	}
	v.members = members
	return v
}

// decimal returns the JSON spelling of a string that is nothing but a decimal integer.
func decimal(s string) (plain string, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return "0", true
	}
	if s[0] == '-' {
		digits = "-" + digits
	}
	return digits, true
}

// emptyable reports whether an argument names a path, a glob or a revision, for which nothing is a common way to say none.
func emptyable(name string) bool {
	switch name {
	case "path", "glob", "exclude_glob", "revision", "base", "head", "commit":
		return true
	}
	return false
}

func (s *Schema) requires(name string) bool {
	for _, r := range s.required {
		if r == name {
			return true
		}
	}
	return false
}
