package git

import (
	"io"
	"path"
	"strings"

	"mcp-devserver/sandbox"
)

// Attributes reads .gitattributes files as text, for the few attributes that
// change how a difference is shown. They decide about presentation only: no
// program that an attribute selects is ever run.
type Attributes struct {
	ws   *sandbox.Workspace
	info []attrRule
	dirs map[string][]attrRule
}

// Attribute values of one path.
type Attr struct {
	Text      bool // line endings are converted between repository and work tree
	Filter    bool // content passes a filter driver (Git LFS, for one)
	Generated bool // linguist-generated, or "-diff"
}

type attrRule struct {
	pattern  string
	anchored bool
	set      []string
}

const (
	maxAttributes = 1 << 20
	maxAttrRules  = 10000
)

// Attributes prepares to look up attributes of work-tree paths.
func (r *Repo) Attributes() *Attributes {
	a := &Attributes{ws: r.git.ws, dirs: map[string][]attrRule{}}
	if b, err := r.door.Read(r.gitDir+"/info/attributes", maxAttributes); err == nil {
		a.info = parseAttributes(string(b))
	}
	return a
}

// Of returns the attributes of a path relative to the root.
func (a *Attributes) Of(rel string) Attr {
	values := map[string]string{}
	apply := func(rules []attrRule, name string) {
		for _, rule := range rules {
			target := name
			if !rule.anchored {
				target = path.Base(name)
			}
			if wildMatch(rule.pattern, target) {
				for _, s := range rule.set {
					setAttr(values, s)
				}
			}
		}
	}
	dir, name := ".", rel
	for {
		apply(a.folder(dir), name)
		first, rest, ok := strings.Cut(name, "/")
		if !ok {
			break
		}
		dir, name = path.Join(dir, first), rest
	}
	apply(a.info, rel)
	on := func(v string) bool { return v != "" && v != "unset" }
	return Attr{
		Text:      on(values["text"]) || on(values["eol"]) || on(values["crlf"]),
		Filter:    on(values["filter"]),
		Generated: on(values["linguist-generated"]) && values["linguist-generated"] != "false" || values["diff"] == "unset",
	}
}

func setAttr(values map[string]string, s string) {
	switch {
	case s == "binary":
		values["diff"], values["text"] = "unset", "unset"
	case s[0] == '-':
		values[s[1:]] = "unset"
	case s[0] == '!':
		delete(values, s[1:])
	default:
		k, v, ok := strings.Cut(s, "=")
		if !ok {
			v = "set"
		}
		values[k] = v
	}
}

// folder reads the .gitattributes of one folder, which is never a link.
func (a *Attributes) folder(dir string) []attrRule {
	if rules, ok := a.dirs[dir]; ok {
		return rules
	}
	var rules []attrRule
	if d, err := a.ws.OpenDir(dir); err == nil {
		if d.Path() == dir {
			if f, err := d.OpenFile(".gitattributes"); err == nil {
				if b, err := io.ReadAll(io.LimitReader(f, maxAttributes)); err == nil {
					rules = parseAttributes(string(b))
				}
				_ = f.Close()
			}
		}
		_ = d.Close()
	}
	a.dirs[dir] = rules
	return rules
}

func parseAttributes(s string) []attrRule {
	var rules []attrRule
	for line := range strings.Lines(s) {
		if len(rules) == maxAttrRules {
			break
		}
		f := strings.Fields(line)
		if len(f) < 2 || f[0][0] == '#' || f[0][0] == '"' || strings.HasPrefix(f[0], "[attr]") || f[0][0] == '!' {
			continue
		}
		rule := attrRule{pattern: strings.TrimPrefix(f[0], "/"), set: f[1:]}
		rule.anchored = strings.Contains(strings.TrimSuffix(f[0], "/"), "/")
		for _, s := range rule.set {
			if strings.Trim(s, "-!") == "" {
				rule.set = nil
			}
		}
		if rule.set != nil && !strings.HasSuffix(rule.pattern, "/") {
			rules = append(rules, rule)
		}
	}
	return rules
}

// wildMatch matches a pattern of .gitattributes against a name, in time
// proportional to their product: ? and * stop at a slash, ** does not.
func wildMatch(pattern, name string) bool {
	// states[i]: the pattern up to i matches the name read so far.
	states := make([]bool, len(pattern)+1)
	next := make([]bool, len(pattern)+1)
	states[0] = true
	closeOver(pattern, states)
	for i := 0; i < len(name); i++ {
		c := name[i]
		clear(next)
		for j := 0; j < len(pattern); j++ {
			if !states[j] {
				continue
			}
			n, ok, star, cross := element(pattern, j, c)
			switch {
			case star:
				if c != '/' || cross {
					next[j] = true
				}
			case ok:
				next[n] = true
			}
		}
		closeOver(pattern, next)
		states, next = next, states
	}
	return states[len(pattern)]
}

// closeOver lets stars match nothing, and "**/" match no folder at all.
func closeOver(p string, s []bool) {
	for j := 0; j < len(p); j++ {
		if !s[j] || p[j] != '*' {
			continue
		}
		n := j
		for n < len(p) && p[n] == '*' {
			n++
		}
		s[n] = true
		if n-j >= 2 && n < len(p) && p[n] == '/' && (j == 0 || p[j-1] == '/') {
			s[n+1] = true
		}
	}
}

// element matches one byte against the pattern element at j.
func element(p string, j int, c byte) (next int, ok, star, cross bool) {
	switch p[j] {
	case '*':
		return 0, false, true, j+1 < len(p) && p[j+1] == '*' || j > 0 && p[j-1] == '*'
	case '?':
		return j + 1, c != '/', false, false
	case '\\':
		if j+1 < len(p) {
			return j + 2, p[j+1] == c, false, false
		}
	case '[':
		if n, hit, valid := class(p[j:], c); valid {
			return j + n, hit && c != '/', false, false
		}
	}
	return j + 1, p[j] == c, false, false
}

// class matches c against a bracket expression at the start of p.
func class(p string, c byte) (n int, hit, valid bool) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	for start := i; i < len(p); i++ {
		if p[i] == ']' && i > start {
			return i + 1, hit != negated, true
		}
		lo := p[i]
		hi := lo
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			hi = p[i+2]
			i += 2
		}
		hit = hit || lo <= c && c <= hi
	}
	return 0, false, false
}
