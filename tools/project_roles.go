package tools

import "strings"

// vendoredFolders hold other people's code inside a repository.
var vendoredFolders = map[string]bool{
	"vendor": true, "third_party": true, "third-party": true, "thirdparty": true, "node_modules": true, "bower_components": true, "Pods": true,
	"site-packages": true, "Godeps": true, "_vendor": true, "dist": true,
}

// asideFolders hold code that is not what a project starts with.
var asideFolders = map[string]bool{
	"test": true, "tests": true, "testdata": true, "__tests__": true, "spec": true, "example": true, "examples": true, "sample": true, "samples": true, "fixtures": true,
	"docs": true, "doc": true, "benchmark": true, "benchmarks": true, "bench": true, "demo": true, "demos": true,
}

// entryNames are base names of files that usually start a program.
var entryNames = map[string]bool{
	"main.go": true, "main.rs": true, "__main__.py": true, "manage.py": true, "main.py": true, "app.py": true, "wsgi.py": true, "asgi.py": true,
	"main.c": true, "main.cpp": true, "main.cc": true, "Program.cs": true, "Main.java": true, "Application.java": true, "Main.kt": true, "main.kt": true,
	"main.swift": true, "main.dart": true, "Main.hs": true, "main.zig": true, "server.js": true, "server.ts": true, "artisan": true, "config.ru": true,
}

// entryStems start a program when they lie at the top or in src: index.ts, main.tsx.
var entryStems = map[string]bool{"index": true, "main": true}

// aside reports whether a path lies in a folder of tests, examples or documents.
func aside(path string) bool {
	dir, _ := split(path)
	for _, p := range strings.Split(dir, "/") {
		if asideFolders[p] {
			return true
		}
	}
	return false
}

// isEntry reports whether a file usually starts a program.
func isEntry(path string) bool {
	parts := strings.Split(path, "/")
	base := parts[len(parts)-1]
	if aside(path) {
		return false
	}
	if entryNames[base] {
		return true
	}
	n := len(parts)
	if n >= 2 && parts[n-2] == "bin" && (n == 2 || parts[n-3] == "src" || n <= 4) {
		return !strings.HasPrefix(base, ".")
	}
	stem, ext, _ := strings.Cut(base, ".")
	switch ext {
	case "js", "mjs", "cjs", "ts", "tsx", "jsx", "mts":
		return entryStems[stem] && (n == 1 || parts[n-2] == "src")
	case "php":
		return stem == "index" && (n == 1 || parts[n-2] == "public")
	}
	return false
}

// isCI reports whether a file configures a continuous integration service.
func isCI(path string) bool {
	switch path {
	case ".gitlab-ci.yml", ".travis.yml", ".circleci/config.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", "appveyor.yml", ".appveyor.yml",
		"cloudbuild.yaml", ".woodpecker.yml", ".cirrus.yml", ".buildkite/pipeline.yml", "Jenkinsfile", ".ci", ".builds/.build.yml":
		return true
	}
	dir, base := split(path)
	if strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml") {
		return dir == ".github/workflows" || dir == ".gitea/workflows" || dir == ".forgejo/workflows" || dir == ".woodpecker"
	}
	return false
}

// isInstruction reports whether a file holds instructions for assistants. Such files are named and never quoted.
func isInstruction(path string) bool {
	dir, base := split(path)
	switch base {
	case "AGENTS.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".aider.conf.yml":
		return true
	case "copilot-instructions.md":
		return dir == ".github" || strings.HasSuffix(dir, "/.github")
	}
	if strings.HasSuffix(base, ".instructions.md") {
		return true
	}
	for _, d := range []string{".cursor/rules", ".windsurf/rules", ".clinerules", ".claude/commands", ".claude/agents"} {
		if dir == d || strings.HasSuffix(dir, "/"+d) {
			return true
		}
	}
	return false
}

var docStems = map[string]bool{"readme": true, "contributing": true, "changelog": true, "changes": true, "history": true, "architecture": true, "security": true, "design": true, "hacking": true, "development": true, "install": true, "threat-model": true}

// isDoc reports whether a file explains the project or one of its parts.
func isDoc(path string) bool {
	_, base := split(path)
	stem, _, _ := strings.Cut(base, ".")
	if !docStems[strings.ToLower(stem)] {
		return false
	}
	switch ext := strings.ToLower(extension(base)); ext {
	case "", ".md", ".rst", ".txt", ".adoc", ".markdown", ".org":
		return true
	}
	return false
}

// testPattern is the glob that a test file's convention stands for, below the first folder of its path; ok is false
// when the file is no test.
func testPattern(path string) (pattern string, ok bool) {
	dir, base := split(path)
	if l, known := languageOfFile(base); !known || !l.program {
		return "", false
	}
	top := ""
	if first, _, more := strings.Cut(path, "/"); more {
		top = first + "/**/"
		if dir == first {
			top = first + "/"
		}
	}
	stem := base
	ext := extension(base)
	if ext != "" {
		stem = strings.TrimSuffix(base, ext)
	}
	for _, suffix := range []string{"_test", "_spec", ".test", ".spec", ".cy", "_unittest"} {
		if strings.HasSuffix(stem, suffix) && len(stem) > len(suffix) && ext != "" {
			return top + "*" + suffix + ext, true
		}
	}
	switch ext {
	case ".py":
		if strings.HasPrefix(stem, "test_") {
			return top + "test_*.py", true
		}
	case ".java", ".kt", ".scala", ".groovy":
		if i := strings.Index(path, "src/test/"); i == 0 || i > 0 && path[i-1] == '/' {
			return path[:i] + "src/test/**/*" + ext, true
		}
	case ".cs", ".swift", ".php", ".vb":
		if strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "Test") {
			if strings.HasSuffix(stem, "Tests") {
				return top + "*Tests" + ext, true
			}
			return top + "*Test" + ext, true
		}
	case ".rs", ".js", ".ts", ".tsx", ".jsx", ".rb", ".lua", ".sh", ".bats", ".t":
		for _, d := range strings.Split(dir, "/") {
			switch d {
			case "tests", "test", "__tests__", "spec", "t":
				i := strings.Index("/"+dir+"/", "/"+d+"/")
				return (dir + "/")[:i] + d + "/**/*" + ext, true
			}
		}
	}
	return "", false
}

func split(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
