package manifest

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		trick, base, text, want string
		err                     error
	}{
		{"go", "go.mod", "// c\nmodule example.com/x // y\n\ngo 1.26\n", "example.com/x", nil},
		{"go, quoted in a block", "go.mod", "module (\n\t\"example.com/x\"\n)\n", "example.com/x", nil},
		{"go without a module", "go.mod", "go 1.26\n", "", ErrGoMod},
		{"byte order mark", "package.json", "\ufeff{\"name\":\"x\",\"scripts\":{\"test\":\"t\"}}", "x", nil},
		{"comment in JSON", "package.json", `{ "name": "x", // c`, "", ErrJSON},
		{"cut off", "package.json", `{ "name": "x"`, "", ErrJSON},
		{"two values", "package.json", `{"name":"x"}{}`, "", ErrJSON},
		{"case counts", "package.json", `{"Name":"x","NAME":"y"}`, "", nil},
		{"name twice", "package.json", `{"name":"x","name":"y"}`, "", ErrJSON},
		{"nested name", "package.json", `{"author":{"name":"a"},"name":"x"}`, "x", nil},
		{"name is no string", "package.json", `{"name":{"name":"x"}}`, "", nil},
		{"an array", "package.json", `["name"]`, "", ErrJSON},
		{"deep", "package.json", `{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "", ErrJSON},
		{"empty", "pyproject.toml", " \n", "", ErrEmpty},
		{"pep 621", "pyproject.toml", "[build-system]\nrequires = [\n  \"a\", # ]\n]\n[project]\nname = \"x\"\n", "x", nil},
		{"poetry", "pyproject.toml", "[tool.poetry]\nname = 'y'\n", "y", nil},
		{"name inside a string", "pyproject.toml", "[project]\ndescription = \"\"\"\nname = \"no\"\n\"\"\"\nname = \"x\"\n", "x", nil},
		{"not TOML", "pyproject.toml", "[project\nname\n", "", ErrTOML},
		{"unclosed string", "Cargo.toml", "[package]\nname = \"x\n", "", ErrTOML},
		{"cargo", "Cargo.toml", "[package]\r\nname = \"x\" # y\r\n[[bin]]\nname = \"no\"\n", "x", nil},
		{"cargo workspace", "Cargo.toml", "[workspace]\nmembers = [\"a\"]\n", "", nil},
		{"maven with a parent", "pom.xml", `<project xmlns="u"><parent><groupId>g</groupId><artifactId>no</artifactId></parent><artifactId>x</artifactId><dependencies><dependency><artifactId>no</artifactId></dependency></dependencies></project>`, "g:x", nil},
		{"entities are not expanded", "pom.xml", `<!DOCTYPE p [<!ENTITY e SYSTEM "file:///etc/passwd">]><project><artifactId>&e;</artifactId></project>`, "", ErrXML},
		{"not XML", "pom.xml", "<project><artifactId>x</project>", "", ErrXML},
		{"setup.cfg", "setup.cfg", "[options]\nname = no\n[metadata]\nname = x\n", "x", nil},
		{"gradle", "settings.gradle.kts", "rootProject.name = \"x\"\n", "x", nil},
		{"gradle without a name", "build.gradle", "plugins {}", "", nil},
		{"gem", "y.gemspec", "Gem::Specification.new do |s|\n  s.name = 'x'\nend", "x", nil},
		{"csproj is called after its file", "App.Web.csproj", "", "App.Web", nil},
		{"cmake", "CMakeLists.txt", "cmake_minimum_required(VERSION 3)\nPROJECT( x LANGUAGES C)\n", "x", nil},
		{"cmake, computed", "CMakeLists.txt", "project(${N})\n", "", nil},
		{"meson", "meson.build", "project('x', 'c')\n", "x", nil},
		{"mix", "mix.exs", "[\n  app: :my_app,\n]", "my_app", nil},
		{"pubspec", "pubspec.yaml", "version: 1\nname: x # c\n", "x", nil},
		{"composer", "composer.json", `{"name":"a/b"}`, "a/b", nil},
		{"swift", "Package.swift", "let package = Package(\n  name: \"x\",\n", "x", nil},
		{"sbt", "build.sbt", "name := \"x\"\n", "x", nil},
		{"dune", "dune-project", "(lang dune 3)\n(name x)\n", "x", nil},
		{"setup.py is not executed", "setup.py", "import os; os.abort()", "", nil},
		{"long", "package.json", `{"name":"` + strings.Repeat("é", 300) + `"}`, strings.Repeat("é", 100), nil},
	} {
		got, err := Name(c.base, c.text)
		if got != c.want || err != c.err {
			t.Errorf("%s: %q, %v; want %q, %v", c.trick, got, err, c.want, c.err)
		}
		if _, ok := Kind(c.base); !ok {
			t.Errorf("%s: %s is no manifest", c.trick, c.base)
		}
	}
	for _, base := range []string{"package-lock.json", "Gopkg", "x", ".csproj", "readme.md"} {
		if k, ok := Kind(base); ok {
			t.Errorf("%s is a manifest of kind %s", base, k)
		}
	}
}

func FuzzName(f *testing.F) {
	for base := range table {
		f.Add(base, "name = \"x\"\n[project]\n\"\"\"")
		f.Add(base, `{"name":"x"}`)
		f.Add(base, "<project><artifactId>x</artifactId></project>")
	}
	f.Fuzz(func(t *testing.T, base, text string) {
		if name, err := Name(base, text); err != nil && name != "" || len(name) > max(200, len(base)) {
			t.Fatalf("%q, %v", name, err)
		}
	})
}

func BenchmarkName(b *testing.B) {
	text := `{"scripts":{"t":"x"},"dependencies":{"a":"1"},"name":"x"}`
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Name("package.json", text); err != nil {
			b.Fatal(err)
		}
	}
}
