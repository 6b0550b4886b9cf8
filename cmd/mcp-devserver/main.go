// Command mcp-devserver serves one directory, read-only, to a language model
// over the Model Context Protocol, revision 2026-07-28.
package main

import (
	"os"

	"mcp-devserver/cmd/internal/app"
)

func main() {
	app.ShutDescriptors() // before anything can start a program
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
