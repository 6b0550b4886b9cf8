package tools

import "strings"

// fileLanguage is what a project overview calls the files of one extension.
type fileLanguage struct {
	name string
	// program marks languages in which symbols are defined, so that find_symbol names the files it could not read.
	program bool
	// data marks what is stored or written about rather than built: it is listed after everything else, whatever its
	// size, so that one generated file does not pass for the project's language.
	data bool
}

// fileLanguages maps a lower-case extension to its language.
var fileLanguages = func() map[string]fileLanguage {
	m := map[string]fileLanguage{}
	add := func(program, data bool, rows ...string) {
		for _, r := range rows {
			name, list, _ := strings.Cut(r, ": ")
			for _, ext := range strings.Fields(list) {
				m[ext] = fileLanguage{name, program, data}
			}
		}
	}
	add(true, false,
		"Go: go", "Python: py pyi pyw", "JavaScript: js mjs cjs jsx", "TypeScript: ts mts cts tsx", "Java: java", "Kotlin: kt kts",
		"C: c h", "C++: cc cpp cxx c++ hh hpp hxx h++ ipp inl", "C#: cs", "Rust: rs", "Ruby: rb rake gemspec ru", "PHP: php phtml", "Swift: swift",
		"Shell: sh bash zsh ksh bats", "PowerShell: ps1 psm1", "Scala: scala sc", "Groovy: groovy gradle", "Dart: dart", "Zig: zig", "Lua: lua",
		"Perl: pl pm t", "R: r", "Julia: jl", "Haskell: hs lhs", "OCaml: ml mli", "F#: fs fsi fsx", "Elixir: ex exs", "Erlang: erl hrl", "Clojure: clj cljs cljc edn",
		"Objective-C: m mm", "Nim: nim", "V: v", "Crystal: cr", "D: d", "Pascal: pas pp", "Fortran: f f90 f95 f03", "Ada: adb ads", "COBOL: cob cbl",
		"Visual Basic: vb", "Assembly: s asm", "Solidity: sol", "Vue: vue", "Svelte: svelte", "Astro: astro", "CUDA: cu cuh", "Lisp: lisp el scm rkt", "Tcl: tcl", "Verilog: sv svh vhd")
	add(false, false,
		"HTML: html htm xhtml", "CSS: css scss sass less", "SQL: sql", "Protocol Buffers: proto", "GraphQL: graphql gql",
		"Terraform: tf tfvars hcl", "Nix: nix", "CMake: cmake", "LaTeX: tex")
	add(false, true,
		"JSON: json jsonc json5", "YAML: yaml yml", "TOML: toml", "XML: xml xsd xsl", "Markdown: md mdx markdown", "reStructuredText: rst",
		"Text: txt", "Jupyter Notebook: ipynb", "CSV: csv tsv")
	return m
}()

var fileLanguageNames = map[string]fileLanguage{
	"Makefile": {name: "Make"}, "GNUmakefile": {name: "Make"}, "CMakeLists.txt": {name: "CMake"}, "Dockerfile": {name: "Docker"},
	"Rakefile": {name: "Ruby", program: true}, "Gemfile": {name: "Ruby", program: true}, "Jenkinsfile": {name: "Groovy", program: true},
}

// languageOfFile names the language of a file by its base name.
func languageOfFile(base string) (fileLanguage, bool) {
	if l, ok := fileLanguageNames[base]; ok {
		return l, true
	}
	dot := strings.LastIndexByte(base, '.')
	if dot <= 0 {
		return fileLanguage{}, false
	}
	l, ok := fileLanguages[strings.ToLower(base[dot+1:])]
	return l, ok
}
