// Package manifest recognises the files by which build tools and package managers know a project, and reads the
// project's name out of them.
//
// # How to start
//
//	if kind, ok := manifest.Kind("package.json"); ok {
//		name, err := manifest.Name("package.json", text)
//	}
//
// # What it promises
//
// Name is a pure function of its arguments: nothing is executed, included, expanded or fetched. It works in time
// linear in the text and panics on no input (fuzzed). A byte order mark in front is tolerated. Member names of JSON
// are compared letter by letter, and a member given twice is an error, as it is for careful readers elsewhere.
//
// # Limits
//
// Only what a project is called is read. Languages that compute their manifest (setup.py, build.gradle, Gemfile) are
// recognised, and a name is taken from them only where it stands as a plain string in the usual place.
package manifest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBytes is the longest manifest that is worth reading.
const MaxBytes = 1 << 20

// Errors of Name: fixed texts, which quote nothing of the file.
var (
	ErrEmpty = errors.New("it is empty")
	ErrJSON  = errors.New("it is not valid JSON")
	ErrTOML  = errors.New("it is not valid TOML")
	ErrXML   = errors.New("it is not valid XML")
	ErrGoMod = errors.New("it names no module")
)

// table maps base names to kinds.
var table = map[string]string{
	"go.mod": "go", "go.work": "go workspace", "package.json": "npm", "deno.json": "deno", "deno.jsonc": "deno",
	"pyproject.toml": "python", "setup.py": "python", "setup.cfg": "python", "requirements.txt": "python", "Pipfile": "python",
	"Cargo.toml": "cargo", "pom.xml": "maven", "build.gradle": "gradle", "build.gradle.kts": "gradle", "settings.gradle": "gradle", "settings.gradle.kts": "gradle",
	"composer.json": "composer", "Gemfile": "bundler", "CMakeLists.txt": "cmake", "meson.build": "meson", "Makefile": "make", "GNUmakefile": "make",
	"mix.exs": "mix", "pubspec.yaml": "dart", "Package.swift": "swift", "build.sbt": "sbt", "build.zig": "zig", "stack.yaml": "haskell", "dune-project": "dune",
	"MODULE.bazel": "bazel", "WORKSPACE": "bazel", "flake.nix": "nix",
}

// suffixes are manifests named after their project.
var suffixes = map[string]string{".gemspec": "gem", ".csproj": "dotnet", ".fsproj": "dotnet", ".vbproj": "dotnet", ".sln": "dotnet", ".cabal": "haskell"}

// Kind is the kind of the manifest with this base name.
func Kind(base string) (kind string, ok bool) {
	if kind, ok = table[base]; ok {
		return kind, true
	}
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		kind, ok = suffixes[base[i:]]
	}
	return kind, ok
}

// Name is the name that the manifest with this base name gives its project, or "". The error is one of the Err values
// above: the manifest cannot be used as it is.
func Name(base, text string) (string, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	kind, _ := Kind(base)
	read, ok := readers[base]
	if !ok {
		read, ok = readers[kind]
	}
	if !ok {
		if i := strings.LastIndexByte(base, '.'); i > 0 && suffixes[base[i:]] != "" {
			return base[:i], nil
		}
		return "", nil
	}
	if strings.TrimSpace(text) == "" {
		return "", ErrEmpty
	}
	name, err := read(text)
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "")
	}
	return name, err
}

// readers are keyed by base name or, failing that, by kind.
var readers = map[string]func(string) (string, error){
	"go.mod": goMod, "package.json": jsonName, "composer.json": jsonName, "deno.json": jsonName,
	"pyproject.toml": func(s string) (string, error) { return tomlName(s, "project", "tool.poetry") },
	"Cargo.toml":     func(s string) (string, error) { return tomlName(s, "package") },
	"setup.cfg":      iniName, "pom.xml": mavenName,
	"settings.gradle": after("rootProject.name"), "settings.gradle.kts": after("rootProject.name"),
	"gem": after(".name"), "CMakeLists.txt": cmakeName, "meson.build": meson, "mix.exs": mixName,
	"pubspec.yaml": yamlName, "build.sbt": after("name"), "Package.swift": after("name"), "MODULE.bazel": after("name"), "dune-project": duneName,
}

// goMod reads the module line, plain or in a block.
func goMod(s string) (string, error) {
	block := false
	for line := range lines(s) {
		if i := strings.Index(line, "//"); i >= 0 {
			line = line[:i]
		}
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case block && f[0] == ")":
			block = false
		case block:
			return unquote(f[0]), nil
		case f[0] == "module" && len(f) == 2 && f[1] == "(":
			block = true
		case f[0] == "module" && len(f) == 2:
			return unquote(f[1]), nil
		}
	}
	return "", ErrGoMod
}

// lines yields the lines of s, without line ends.
func lines(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			line, rest, _ := strings.Cut(s, "\n")
			s = rest
			if !yield(strings.TrimSuffix(line, "\r")) {
				return
			}
		}
	}
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '`' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// jsonName reads the member name of the one object that the text must be.
func jsonName(s string) (string, error) {
	d := jsontext.NewDecoder(strings.NewReader(s))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return "", ErrJSON
	}
	name := ""
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return "", ErrJSON
		}
		if key.String() == "name" && d.PeekKind() == '"' {
			v, err := d.ReadToken()
			if err != nil {
				return "", ErrJSON
			}
			name = v.String()
			continue
		}
		if err := d.SkipValue(); err != nil {
			return "", ErrJSON
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return "", ErrJSON
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return "", ErrJSON
	}
	return name, nil
}

// tomlName reads the key name of the first of the given tables that has one, and sees to it that every line has a
// place in TOML. It is no full parser: values are skipped by their brackets and quotes.
func tomlName(s string, tables ...string) (string, error) {
	names := map[string]string{}
	table := ""
	depth := 0
	multi := "" // the quotes of a string of several lines that is open
	for line := range lines(s) {
		rest := line
		if multi != "" {
			i := strings.Index(rest, multi)
			if i < 0 {
				continue
			}
			rest, multi = rest[i+3:], ""
		} else if depth == 0 {
			t := strings.TrimSpace(line)
			switch {
			case t == "" || t[0] == '#':
				continue
			case t[0] == '[':
				end := strings.IndexByte(t, ']')
				if end < 0 {
					return "", ErrTOML
				}
				table = strings.TrimSpace(strings.Trim(t[:end], "["))
				continue
			}
			key, value, ok := strings.Cut(t, "=")
			if !ok {
				return "", ErrTOML
			}
			rest = value
			if unquote(strings.TrimSpace(key)) == "name" {
				if v := quoted(value); v != "" && names[table] == "" {
					names[table] = v
				}
			}
		}
		depth, multi = tomlRest(rest, depth)
		if depth < 0 {
			return "", ErrTOML
		}
	}
	if depth > 0 || multi != "" {
		return "", ErrTOML
	}
	for _, t := range tables {
		if names[t] != "" {
			return names[t], nil
		}
	}
	return "", nil
}

// tomlRest follows brackets and strings to the end of a line; a string of one line that is not closed gives depth -1.
func tomlRest(s string, depth int) (int, string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '#':
			return depth, ""
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return -1, ""
			}
			depth--
		case '"', '\'':
			q := s[i : i+1]
			if strings.HasPrefix(s[i:], q+q+q) {
				j := strings.Index(s[i+3:], q+q+q)
				if j < 0 {
					return depth, q + q + q
				}
				i += 3 + j + 2
				continue
			}
			j := i + 1
			for j < len(s) && s[j] != c {
				if s[j] == '\\' && c == '"' {
					j++
				}
				j++
			}
			if j >= len(s) {
				return -1, ""
			}
			i = j
		}
	}
	return depth, ""
}

// quoted is the plain string literal that s begins with, or "".
func quoted(s string) string {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return ""
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 || strings.ContainsAny(s[1:1+end], "\\\n") {
		return ""
	}
	return s[1 : 1+end]
}

// mavenName reads project/artifactId, with the group when the project gives one.
func mavenName(s string) (string, error) {
	d := xml.NewDecoder(strings.NewReader(s))
	depth := 0
	path := make([]string, 0, 4)
	group, artifact, parent := "", "", ""
	for {
		t, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", ErrXML
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth <= 3 {
				path = append(path, t.Name.Local)
			}
		case xml.EndElement:
			if depth <= 3 {
				path = path[:len(path)-1]
			}
			depth--
		case xml.CharData:
			if depth > 3 {
				continue
			}
			text := strings.TrimSpace(string(t))
			switch strings.Join(path, "/") {
			case "project/groupId":
				group += text
			case "project/artifactId":
				artifact += text
			case "project/parent/groupId":
				parent += text
			}
		}
	}
	if depth != 0 {
		return "", ErrXML
	}
	if group == "" {
		group = parent
	}
	if group != "" && artifact != "" {
		return group + ":" + artifact, nil
	}
	return artifact, nil
}

// iniName reads name below [metadata].
func iniName(s string) (string, error) {
	section := ""
	for line := range lines(s) {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "[") {
			section = strings.Trim(t, "[]")
		} else if k, v, ok := strings.Cut(t, "="); ok && section == "metadata" && strings.TrimSpace(k) == "name" {
			return strings.TrimSpace(v), nil
		}
	}
	return "", nil
}

// yamlName reads a name at the top level.
func yamlName(s string) (string, error) {
	for line := range lines(s) {
		if v, ok := strings.CutPrefix(line, "name:"); ok {
			if i := strings.Index(v, " #"); i >= 0 {
				v = v[:i]
			}
			return unquote(strings.TrimSpace(v)), nil
		}
	}
	return "", nil
}

// after reads the string that is assigned to key: key = "x", key: "x", key := "x".
func after(key string) func(string) (string, error) {
	return func(s string) (string, error) {
		for line := range lines(s) {
			t := strings.TrimSpace(line)
			if strings.HasPrefix(t, "#") || strings.HasPrefix(t, "//") {
				continue
			}
			i := strings.Index(t, key)
			if i < 0 || key[0] != '.' && i > 0 && isWord(t[i-1]) {
				continue
			}
			v := strings.TrimLeft(t[i+len(key):], " \t")
			v = strings.TrimPrefix(v, ":")
			v = strings.TrimPrefix(v, "=")
			if n := quoted(v); n != "" {
				return n, nil
			}
		}
		return "", nil
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// call reads the first argument of name(…), a word or a string.
func call(s, name string) string {
	for line := range lines(s) {
		t := strings.TrimSpace(line)
		if len(t) <= len(name) || !strings.EqualFold(t[:len(name)], name) {
			continue
		}
		t, ok := strings.CutPrefix(strings.TrimLeft(t[len(name):], " \t"), "(")
		if !ok {
			continue
		}
		t = strings.TrimSpace(t)
		if q := quoted(t); q != "" {
			return q
		}
		if i := strings.IndexAny(t, " \t),"); i >= 0 {
			t = t[:i]
		}
		if !strings.ContainsAny(t, "$\"'") {
			return t
		}
	}
	return ""
}

func cmakeName(s string) (string, error) { return call(s, "project"), nil }
func meson(s string) (string, error)     { return call(s, "project"), nil }

// mixName reads app: :name.
func mixName(s string) (string, error) {
	for line := range lines(s) {
		if _, v, ok := strings.Cut(line, "app: :"); ok {
			n := 0
			for n < len(v) && isWord(v[n]) {
				n++
			}
			return v[:n], nil
		}
	}
	return "", nil
}

// duneName reads (name x).
func duneName(s string) (string, error) {
	for line := range lines(s) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "(name "); ok {
			return strings.Trim(v, " )\""), nil
		}
	}
	return "", nil
}
