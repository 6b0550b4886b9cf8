package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"mcp-devserver/stages/wire"
)

func (c *command) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := build()
			line := "mcp-devserver " + b.Version
			if b.Commit != "" {
				line += " (" + b.Commit + ")"
			}
			fmt.Fprintf(c.stdout, "%s, MCP %s, %s %s/%s\n", line, wire.Revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
