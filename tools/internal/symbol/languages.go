package symbol

import "strings"

// language is one row: how files of it are analysed. A nil parse means that its files are known by name only.
type language struct {
	name   string
	method string
	parse  func(*language, string) (syms []Symbol, ok bool)
	lexis  lexis
	rules  *rules
}

// languages is the seam for further analysers: name → analyser and method.
var languages map[string]*language

func init() {
	rows := []*language{
		{name: "go", method: Parsed, parse: parseGo, lexis: goLexis},
		{name: "python", method: Parsed, parse: parsePython},
		{name: "javascript", method: Scanned, parse: scan, lexis: jsLexis, rules: jsRules},
		{name: "typescript", method: Scanned, parse: scan, lexis: jsLexis, rules: tsRules},
		{name: "tsx", method: Scanned, parse: scan, lexis: jsLexis, rules: tsRules},
		{name: "java", method: Scanned, parse: scan, lexis: javaLexis, rules: javaRules},
		{name: "c", method: Scanned, parse: scan, lexis: cLexis, rules: cRules},
		{name: "cpp", method: Scanned, parse: scan, lexis: cppLexis, rules: cppRules},
		{name: "csharp", method: Scanned, parse: scan, lexis: csharpLexis, rules: csharpRules},
		{name: "rust", method: Scanned, parse: scan, lexis: rustLexis, rules: rustRules},
		{name: "kotlin", method: Scanned, parse: scan, lexis: kotlinLexis, rules: kotlinRules},
		{name: "swift", method: Scanned, parse: scan, lexis: swiftLexis, rules: swiftRules},
		{name: "php", method: Scanned, parse: scan, lexis: phpLexis, rules: phpRules},
		{name: "ruby", method: Scanned, parse: scanRuby, lexis: rubyLexis},
		{name: "shell", method: Scanned, parse: scanShell, lexis: shellLexis},
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
