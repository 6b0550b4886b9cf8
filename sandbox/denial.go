package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Code names a reason to refuse. The zero Code is none of them.
type Code uint8

// The codes, in the order of the table.
const (
	_ Code = iota
	OutsideWorkspace
	DeniedPath
	InvalidPath
	InvalidDate
	NotFound
	IsADirectory
	NotADirectory
	Unreadable
	SpecialFile
	BinaryFile
	FileTooLarge
	InvalidRange
	ChangedDuringRead
	InvalidGlob
	InvalidPattern
	UnsafePattern
	PatternTimeout
	MissingName
	UnsupportedLanguage
	InvalidCombination
	GitDisabled
	GitUnavailable
	NotARepository
	GitOutsideWorkspace
	InvalidRevision
	UnknownRevision
	GitFailed
	ResultTooLarge
	Busy
	Timeout
	RateLimited
	codeEnd
)

// Args are the values of a row's placeholders, by their names: string, int,
// int64 or []string. A placeholder that is not given leaves out the optional
// part it stands in.
type Args map[string]any

// Denial is a refusal that teaches: what is refused, and what would work. It
// is a result, not a fault; it never holds a path of the machine, the text of
// a system error, or a name from disk that is not plain.
type Denial struct {
	Code    Code
	Message string   // one sentence
	Remedy  string   // what to do instead
	Details []Detail // in table order; only those that were given
}

// Detail is one machine-readable fact of a denial. Value is a string, an int64
// or a []string.
type Detail struct {
	Key   string
	Value any
}

func (d *Denial) Error() string { return d.Message + " " + d.Remedy }

// row is one line of the denial table. In patterns {name} is an argument and
// <a|b> is a when every argument in it is present, otherwise b (which may be
// missing).
type row struct {
	name    string
	message string
	remedy  string
	details []detailKey
	example Args
}

// detailKey says which argument a detail takes its value from.
type detailKey struct{ key, arg string }

var table = [codeEnd]row{
	OutsideWorkspace: {"outside_workspace",
		"'{path}' resolves outside the workspace and cannot be read.",
		"Paths must stay inside <{ws}/|the workspace>.< {hint}>",
		nil, Args{"path": "../x", "ws": "shop", "hint": `Use "src/a.go".`}},
	DeniedPath: {"denied_path",
		"'{path}' is withheld by policy< ({rule})>.",
		"Files that usually hold credentials are not served. Ask the user to paste the part you need, or look for an example file such as .env.example.",
		[]detailKey{{"rule", "rule"}}, Args{"path": ".env", "rule": ".env"}},
	InvalidPath: {"invalid_path",
		"The path holds a NUL, a control character or is not well formed.",
		"Send the name as list_directory shows it.",
		nil, Args{}},
	InvalidDate: {"invalid_date",
		"'{text}' is not a date understood here.",
		`Use 2026-01-31, 2026-01-31T10:00:00Z or "2 weeks ago".`,
		nil, Args{"text": "soon"}},
	NotFound: {"not_found",
		"'{path}' does not exist in <{ws}/|the workspace>.",
		`<Did you mean {similar}? Otherwise call|Call> list_directory< with glob "**/{name}*">.< {hint}>`,
		[]detailKey{{"similar", "similar"}},
		Args{"path": "src/mian.go", "ws": "shop", "name": "mian", "similar": []string{"src/main.go"}, "hint": "~ is not expanded here."}},
	IsADirectory: {"is_a_directory",
		"'{path}' is a folder.",
		`<Call list_directory {"path":{path_json}}|Call list_directory with this path>.`,
		nil, Args{"path": "src"}},
	NotADirectory: {"not_a_directory",
		"'{path}' is a file.",
		`<Call read_file {"path":{path_json}}|Call read_file with this path>.`,
		nil, Args{"path": "go.mod"}},
	Unreadable: {"unreadable",
		"'{path}' exists but the server may not open it.",
		"File permissions forbid it; ask the user.",
		nil, Args{"path": "locked"}},
	SpecialFile: {"special_file",
		"'{path}' is a {kind}.",
		"Only regular files are read.",
		nil, Args{"path": "queue", "kind": "pipe"}},
	BinaryFile: {"binary_file",
		"'{path}' is not text ({mime}, {size}).",
		"Work from its name and size, or ask the user to describe or convert it.",
		[]detailKey{{"kind", "kind"}, {"mime", "mime"}, {"size_bytes", "size_bytes"}},
		Args{"path": "logo.png", "kind": "image", "mime": "image/png", "size_bytes": int64(18432)}},
	FileTooLarge: {"file_too_large",
		"'{path}' is {size}; <without {range} the limit is {limit}|the limit is {limit}>.",
		"<Pass start_line and end_line for {range}; search_code finds the lines.|No range is read from a file of this size; the operator sets the limit.>",
		[]detailKey{{"size_bytes", "size_bytes"}, {"limit", "limit_bytes"}},
		Args{"path": "dump.sql", "size_bytes": int64(20 << 20), "limit_bytes": int64(10 << 20), "range": "a range"}},
	InvalidRange: {"invalid_range",
		"Lines {a}-{b} are not in '{path}', which has {n} lines.",
		"<Use start_line and end_line between 1 and {last}; tail excludes both.|The file is empty: leave the range out.>",
		[]detailKey{{"total_lines", "n"}}, Args{"path": "a.go", "a": 90, "b": 99, "n": 12}},
	ChangedDuringRead: {"changed_during_read",
		"'{path}' changed while it was read.",
		"Call again.",
		nil, Args{"path": "build.log"}},
	InvalidGlob: {"invalid_glob",
		"The glob could not be read at character {i}.",
		"Use *, **, ?, [abc] and {a,b}.",
		[]detailKey{{"position", "i"}}, Args{"i": 4}},
	InvalidPattern: {"invalid_pattern",
		"The pattern is not valid at character {i}<: {reason}>.",
		"Fix it, or set literal to true to search for the text itself.",
		[]detailKey{{"position", "i"}}, Args{"i": 7, "reason": "missing closing )"}},
	UnsafePattern: {"unsafe_pattern",
		"The pattern repeats a group that already repeats< ({fragment})>, which can take exponential time.",
		"<Use {suggestion}, or literal true|Use a simpler form, or literal true>.",
		[]detailKey{{"fragment", "fragment"}, {"suggestion", "suggestion"}},
		Args{"fragment": "(a+)+", "suggestion": "a+"}},
	PatternTimeout: {"pattern_timeout",
		"The pattern took too long on every file tried.",
		"Make it more specific, or narrow path or glob.",
		[]detailKey{{"files_tried", "files_tried"}}, Args{"files_tried": 3}},
	MissingName: {"missing_name",
		"name is needed unless path is a single file.",
		"Give name, or set path to a file for its outline.",
		nil, Args{}},
	UnsupportedLanguage: {"unsupported_language",
		"No symbol scanner for <{ext}|such> files.",
		"Use search_code.",
		nil, Args{"ext": ".zig"}},
	InvalidCombination: {"invalid_combination",
		"{args} cannot be used together.",
		"Valid: {list}.",
		nil, Args{"args": "commit and staged", "list": "commit alone; staged with base"}},
	GitDisabled: {"git_disabled",
		"Git tools are turned off.",
		"Ask the operator; file tools still work.",
		nil, Args{}},
	GitUnavailable: {"git_unavailable",
		"Git was not found.",
		"Ask the operator; file tools still work.",
		nil, Args{}},
	NotARepository: {"not_a_repository",
		"<{ws}/|The workspace> is not the top of a git repository.",
		"Use the file tools.",
		nil, Args{"ws": "shop"}},
	GitOutsideWorkspace: {"git_outside_workspace",
		"The repository keeps data outside the workspace< ({kind})>.",
		"Serve the main checkout, or the operator may set MCP_GIT__ALLOW_EXTERNAL=true.",
		[]detailKey{{"kind", "kind"}}, Args{"kind": "alternates"}},
	InvalidRevision: {"invalid_revision",
		"'{rev}' is not an acceptable revision.",
		"Use a branch, tag, commit or A..B without options.",
		nil, Args{"rev": "--output=x"}},
	UnknownRevision: {"unknown_revision",
		"'{rev}' is not known here.",
		"<Did you mean {similar}? Otherwise call|Call> git_log to see recent commits.",
		[]detailKey{{"similar", "similar"}}, Args{"rev": "mian", "similar": []string{"main"}}},
	GitFailed: {"git_failed",
		"Git could not answer.",
		"Narrow path or revision and try again.",
		[]detailKey{{"exit_code", "exit_code"}}, Args{"exit_code": 128}},
	ResultTooLarge: {"result_too_large",
		"Even the shortest form exceeds the limit.",
		"Narrow path, glob or limit.",
		nil, Args{}},
	Busy: {"busy",
		"The server is at its limit< of {n} calls>.",
		"Try again in a moment.",
		[]detailKey{{"retry_after_ms", "retry_after_ms"}}, Args{"n": 72, "retry_after_ms": 500}},
	Timeout: {"timeout",
		"No result within {s} s.",
		"Narrow path, glob or limit.",
		nil, Args{"s": 10}},
	RateLimited: {"rate_limited",
		"Too many calls.",
		"Wait {n} s.",
		[]detailKey{{"retry_after_ms", "retry_after_ms"}}, Args{"n": 2, "retry_after_ms": 2000}},
}

// String gives the name on the wire, such as "outside_workspace".
func (c Code) String() string {
	if c == 0 || c >= codeEnd {
		return "unknown"
	}
	return table[c].name
}

// Codes lists every code in table order.
func Codes() []Code {
	cs := make([]Code, 0, codeEnd-1)
	for c := OutsideWorkspace; c < codeEnd; c++ {
		cs = append(cs, c)
	}
	return cs
}

// Example renders the row of c with its own example, for documents.
func Example(c Code) *Denial { return Refuse(c, table[c].example) }

// Refuse renders the row of c with a. Text is shortened to 200 characters and
// escaped; names that third parties chose (similar, name, ext) appear only if
// they pass SafeName. Derived when absent: size and limit from size_bytes and
// limit_bytes (and the other way round when they are integers), path_json from
// path. The placeholders of each code are those of the published table; ws is
// filled in by [Workspace.Refuse].
func Refuse(c Code, a Args) *Denial {
	if c == 0 || c >= codeEnd {
		panic("sandbox: refusal without a code")
	}
	r := &table[c]
	v := values{args: a}
	d := &Denial{Code: c, Message: v.render(r.message), Remedy: v.render(r.remedy)}
	for _, k := range r.details {
		if x := v.detail(k); x != nil {
			d.Details = append(d.Details, Detail{k.key, x})
		}
	}
	return d
}

const maxText = 200 // characters of a caller's text in a message

// values looks up arguments for one rendering.
type values struct{ args Args }

// aliases are other names under which an argument may come.
var aliases = map[string]string{
	"n": "total_lines", "i": "position", "size_bytes": "size", "limit_bytes": "limit",
}

func (v values) raw(name string) any {
	if x, ok := v.args[name]; ok {
		return x
	}
	if alt, ok := aliases[name]; ok {
		return v.args[alt]
	}
	return nil
}

func (v values) number(name string) (int64, bool) {
	switch x := v.raw(name).(type) {
	case int:
		return int64(x), true
	case int64:
		return x, true
	}
	return 0, false
}

func (v values) text(name string) string {
	switch name {
	case "last": // line of a file that has one
		if n, _ := v.number("n"); n > 0 {
			return strconv.FormatInt(n, 10)
		}
		return ""
	case "size", "limit":
		if n, ok := v.number(name + "_bytes"); ok {
			return formatSize(n)
		}
	case "path_json":
		p, _ := v.args["path"].(string)
		p = trimPath(p)
		if p == "" || utf8.RuneCountInString(p) > maxText || !utf8.ValidString(p) {
			return ""
		}
		return jsonString(p)
	}
	switch x := v.raw(name).(type) {
	case string:
		if (name == "name" || name == "ext") && !SafeName(x) {
			return ""
		}
		return EscapeName(shorten(x, maxText))
	case int:
		return strconv.Itoa(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case []string:
		return strings.Join(safeNames(x), ", ")
	}
	return ""
}

func (v values) detail(k detailKey) any {
	switch x := v.raw(k.arg).(type) {
	case int:
		return int64(x)
	case int64:
		return x
	case string:
		if x == "" || strings.HasSuffix(k.arg, "_bytes") { // a size already worded has no number
			return nil
		}
		return EscapeName(shorten(x, maxText))
	case []string:
		if s := safeNames(x); len(s) > 0 {
			return s
		}
	}
	return nil
}

func safeNames(in []string) []string {
	var out []string
	for _, s := range in {
		if SafeName(s) {
			out = append(out, s)
		}
	}
	return out
}

// render fills a pattern. An argument that is missing outside an optional part
// becomes "?", which the table's test does not let pass.
func (v values) render(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); {
		switch p[i] {
		case '<':
			part, _, _ := strings.Cut(p[i+1:], ">")
			first, second, _ := strings.Cut(part, "|")
			if s, ok := v.fill(first); ok {
				b.WriteString(s)
			} else if s, ok := v.fill(second); ok {
				b.WriteString(s)
			}
			i += len(part) + 2
		case '{':
			if name, n := placeholder(p[i:]); n > 0 {
				s := v.text(name)
				if s == "" {
					s = "?"
				}
				b.WriteString(s)
				i += n
				continue
			}
			b.WriteByte('{')
			i++
		default:
			b.WriteByte(p[i])
			i++
		}
	}
	return b.String()
}

// fill renders an optional part; ok is false when one of its arguments is
// missing.
func (v values) fill(p string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(p); {
		if name, n := placeholder(p[i:]); n > 0 {
			s := v.text(name)
			if s == "" {
				return "", false
			}
			b.WriteString(s)
			i += n
			continue
		}
		b.WriteByte(p[i])
		i++
	}
	return b.String(), true
}

// placeholder reads "{name}" at the start of p and gives its length, or 0.
func placeholder(p string) (string, int) {
	if len(p) < 3 || p[0] != '{' {
		return "", 0
	}
	for i := 1; i < len(p); i++ {
		switch c := p[i]; {
		case c == '}' && i > 1:
			return p[1:i], i + 1
		case c >= 'a' && c <= 'z', c == '_':
		default:
			return "", 0
		}
	}
	return "", 0
}

func formatSize(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	div, exp := int64(unit), 0
	for x := n / unit; x >= unit && exp < 3; x /= unit {
		div *= unit
		exp++
	}
	if n%div == 0 || n/div >= 100 {
		return fmt.Sprintf("%d %ciB", n/div, "KMGT"[exp])
	}
	return fmt.Sprintf("%.1f %ciB", float64(n)/float64(div), "KMGT"[exp])
}
