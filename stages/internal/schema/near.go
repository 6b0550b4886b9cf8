package schema

import "strings"

// aliases leads from what models write to the arguments they mean, the likelier first. Only arguments that the schema at hand
// accepts are ever suggested.
var aliases = map[string][]string{
	"file": {"path"}, "file_name": {"path"}, "filename": {"path"}, "filepath": {"path"}, "dir": {"path"}, "directory": {"path"},
	"folder": {"path"}, "root": {"path"}, "uri": {"path"}, "target": {"path", "base"},
	"query": {"pattern", "name"}, "regex": {"pattern"}, "regexp": {"pattern"}, "search": {"pattern"}, "text": {"pattern"}, "q": {"pattern", "name"},
	"pattern": {"glob", "name"}, "symbol": {"name"}, "identifier": {"name"},
	"include": {"glob"}, "file_pattern": {"glob"}, "files": {"glob"}, "exclude": {"exclude_glob"}, "ignore": {"exclude_glob"},
	"offset": {"start_line"}, "start": {"start_line"}, "from": {"start_line", "base"}, "line": {"start_line"}, "line_start": {"start_line"}, "head": {"end_line", "limit"},
	"end": {"end_line"}, "to": {"end_line", "head"}, "line_end": {"end_line"}, "limit": {"end_line"}, "lines": {"end_line"},
	"max": {"limit"}, "max_results": {"limit"}, "max_count": {"limit"}, "head_limit": {"limit"}, "count": {"limit"}, "n": {"limit"}, "max_depth": {"depth"}, "level": {"depth"}, "recursive": {"depth"},
	"skip": {"offset"}, "page": {"offset"}, "cursor": {"offset"},
	"case_insensitive": {"ignore_case"}, "i": {"ignore_case"}, "case_sensitive": {"ignore_case"},
	"context": {"context_lines"}, "c": {"context_lines"}, "a": {"context_lines"}, "b": {"context_lines"},
	"fixed_strings": {"literal"}, "is_regex": {"literal"}, "mode": {"output_mode"},
	"ref": {"revision", "base"}, "rev": {"revision", "base"}, "sha": {"revision", "commit"}, "branch": {"revision", "base"}, "commit": {"revision"},
	"cached": {"staged"}, "grep": {"message"}, "after": {"since"}, "before": {"until"}, "type": {"kind"}, "body": {"include_body"},
	"hidden": {"include_ignored"}, "no_ignore": {"include_ignored"}, "number": {"line_numbers"},
}

// near returns the accepted name that an unknown one probably stands for and that the value v does not use yet, "" when none does.
func (s *Schema) near(unknown string, v Value) string {
	if len(unknown) > 64 {
		return ""
	}
	free := func(name string) bool {
		if s.properties[name] == nil {
			return false
		}
		_, used := v.get(name)
		return !used
	}
	u := snake(unknown)
	if free(u) {
		return u
	}
	for _, name := range aliases[u] {
		if free(name) {
			return name
		}
	}
	for _, name := range s.names { // relative_path, search_pattern
		if free(name) && (strings.HasSuffix(u, "_"+name) || strings.HasPrefix(u, name+"_")) {
			return name
		}
	}
	best, least := "", 3
	for _, name := range s.names {
		if d := distance(u, name); d < least && d*3 <= len(name) && free(name) {
			best, least = name, d
		}
	}
	return best
}

// snake spells camelCase and kebab-case the way our names are spelled.
func snake(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '-' || c == ' ':
			if b.Len() > 0 {
				b.WriteByte('_')
			}
		case c >= 'A' && c <= 'Z':
			if i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' {
				b.WriteByte('_')
			}
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// distance is the number of insertions, deletions, replacements and swaps of neighbours between two short names.
func distance(a, b string) int {
	two, one := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now := make([]int, len(b)+1)
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(one[j]+1, now[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], two[j-2]+1)
			}
		}
		two, one = one, now
	}
	return one[len(b)]
}
