// Package symbol finds definitions and uses of names in source text.
//
// # What
//
// Parse lists the definitions of one file: functions, methods, types, constants, variables and fields, each with its
// line range, its container and the byte range of its signature. References lists whole-identifier uses of a name
// outside comments and strings. Enclosing names the innermost definition around a line. Blank replaces comments and
// string contents by spaces without moving a byte.
//
// # How to start
//
//	lang := symbol.Language("src/app/server.go") // "go"
//	syms, err := symbol.Parse(ctx, lang, text)
//
// One table (languages.go) maps file names to languages and languages to analysers; a new analyser is one row.
//
// # Promises
//
// Everything is a pure function of its arguments: no file is opened, no code runs, nothing is kept. Every analyser
// works in time linear in the text, and none panics on any input (all are fuzzed). It looks at the context every few
// thousand tokens; go/parser alone is not interrupted, and a long text that is not Go does not reach it. Go is parsed with go/parser and
// Python with an exact lexer and indentation parser; both report method "parsed". A "def" inside a string, a docstring
// or a comment is never reported. Broken files still give what could be understood, together with ErrSyntax.
//
// # Limits
//
// The other languages are scanned, not parsed (method "scanned"): a token scanner follows brackets over text whose
// comments and strings are blanked. It does not expand macros, does not resolve types and reports only the first name
// of a declaration that lists several. References compare spelling alone; they do not know which definition is meant.
// Lines are counted by line feeds, also where a language takes a lone carriage return for a line end.
package symbol
