package conformance

import "strings"

// annotated is an argument that a header repeats.
type annotated struct {
	path   []string
	header string
	schema *value
}

// headers lists the annotated arguments of a tool that can be reached through
// properties alone, and where annotations stand that cannot.
func (t *tool) headers() (good []annotated, misplaced []string) {
	reachable := map[*value]bool{}
	var search func(s *value, path []string)
	search = func(s *value, path []string) {
		props := s.at("properties")
		if props == nil || len(path) > 20 {
			return
		}
		for _, name := range props.names {
			p := props.members[name]
			at := append(path[:len(path):len(path)], name)
			if a := p.at(annotationHeader); a != nil {
				reachable[p] = true
				good = append(good, annotated{at, a.str(), p})
			}
			search(p, at)
		}
	}
	search(t.input(), nil)
	t.input().walk(func(path []string, v *value) {
		// A property may itself be called x-mcp-header.
		if v.at(annotationHeader) != nil && !reachable[v] && (len(path) == 0 || path[len(path)-1] != "properties") {
			misplaced = append(misplaced, strings.Join(path, "."))
		}
	})
	return good, misplaced
}

// mirrored builds the Mcp-Param headers of a call.
func mirrored(t *tool, args *value) (fields []field) {
	good, _ := t.headers()
	for _, a := range good {
		v := args.at(a.path...)
		s := ""
		switch {
		case v.is('"'), v.is('0'):
			s = v.text
		case v.isBool():
			s = v.kind.String()
		default:
			continue
		}
		fields = append(fields, field{headerParam + a.header, headerValue(s)})
	}
	return fields
}
