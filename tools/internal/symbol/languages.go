package symbol

import (
	"context"
	"strings"
)

// language is one row: how files of it are analysed. A nil parse means that its files are known by name only.
type language struct {
	name   string
	method string
	parse  func(context.Context, *language, string) (syms []Symbol, ok bool)
	lexis  lexis
	rules  *rules
	// perToken bounds the bytes that the analyser takes for each word and each mark of the text.
	perToken int
}

// languages is the seam for further analysers: name → analyser and method.
var languages map[string]*language

func init() {
	rows := []*language{
		{name: "go", method: Parsed, parse: parseGo, lexis: goLexis, perToken: 100},
		{name: "python", method: Parsed, parse: parsePython, perToken: 40},
		{name: "javascript", method: Scanned, parse: scan, lexis: jsLexis, rules: jsRules, perToken: 60},
		{name: "typescript", method: Scanned, parse: scan, lexis: jsLexis, rules: tsRules, perToken: 60},
		{name: "tsx", method: Scanned, parse: scan, lexis: jsLexis, rules: tsRules, perToken: 60},
		{name: "java", method: Scanned, parse: scan, lexis: javaLexis, rules: javaRules, perToken: 60},
		{name: "c", method: Scanned, parse: scan, lexis: cLexis, rules: cRules, perToken: 60},
		{name: "cpp", method: Scanned, parse: scan, lexis: cppLexis, rules: cppRules, perToken: 60},
		{name: "csharp", method: Scanned, parse: scan, lexis: csharpLexis, rules: csharpRules, perToken: 60},
		{name: "rust", method: Scanned, parse: scan, lexis: rustLexis, rules: rustRules, perToken: 60},
		{name: "kotlin", method: Scanned, parse: scan, lexis: kotlinLexis, rules: kotlinRules, perToken: 60},
		{name: "swift", method: Scanned, parse: scan, lexis: swiftLexis, rules: swiftRules, perToken: 60},
		{name: "php", method: Scanned, parse: scan, lexis: phpLexis, rules: phpRules, perToken: 60},
		{name: "ruby", method: Scanned, parse: scanRuby, lexis: rubyLexis, perToken: 4},
		{name: "shell", method: Scanned, parse: scanShell, lexis: shellLexis, perToken: 4},
	}
	languages = make(map[string]*language, len(rows))
	for _, r := range rows {
		languages[r.name] = r
	}
}

// extensions maps a lower-case extension to a language of the table above.
var extensions = map[string]string{
	"go": "go", "py": "python", "pyi": "python", "pyw": "python",
	"js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
	"ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
	"java": "java", "c": "c", "h": "c",
	"cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp", "h++": "cpp", "ipp": "cpp", "inl": "cpp",
	"cs": "csharp", "rs": "rust", "kt": "kotlin", "kts": "kotlin", "swift": "swift",
	"php": "php", "phtml": "php", "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "ru": "ruby",
	"sh": "shell", "bash": "shell", "zsh": "shell", "ksh": "shell", "bats": "shell",
}

var baseNames = map[string]string{
	"Rakefile": "ruby", "Gemfile": "ruby", "Vagrantfile": "ruby", "Podfile": "ruby", "Fastfile": "ruby",
	"SConstruct": "python", "SConscript": "python", "BUILD": "", "configure": "shell",
}

// Language names the language of a file by its path, or "" when no analyser would take it.
func Language(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if l, ok := baseNames[base]; ok {
		return l
	}
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return ""
	}
	return extensions[strings.ToLower(base[dot+1:])]
}

// Languages lists the names that Parse knows, in no particular order.
func Languages() []string {
	out := make([]string, 0, len(languages))
	for name := range languages {
		out = append(out, name)
	}
	return out
}
