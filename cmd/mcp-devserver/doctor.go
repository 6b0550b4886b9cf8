package main

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
)

func (c *command) doctor() *cobra.Command {
	var asJSON, production, http bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what would be served and what would be refused",
		Long: "doctor reads the settings as serve does, walks the workspace, and attacks the\nserver that it would start.\n\n" +
			"Exit codes: 0 fine; 1 warnings; 2 would refuse to start.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := map[string]string{}
			if production {
				flags["MCP_ENVIRONMENT"] = "production"
			}
			cfg, problems, err := c.load(flags, http)
			if err != nil {
				return err
			}
			prepare(cfg)
			e := app.Doctor(cmd.Context(), cfg, problems, build(), func() (*app.App, error) {
				return app.New(cfg, build(), app.Logger(c.stderr, "error"), "in process")
			})
			if asJSON {
				b, err := json.Marshal(e, jsontext.WithIndent("  "))
				if err != nil {
					return &failure{err}
				}
				fmt.Fprintln(c.stdout, string(b))
			} else {
				fmt.Fprint(c.stdout, e.Text())
			}
			if e.Verdict != app.DoctorFine {
				return exitError(e.Verdict)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	cmd.Flags().BoolVar(&production, "production", false, "judge as with MCP_ENVIRONMENT=production")
	cmd.Flags().BoolVar(&http, "http", false, "judge for the HTTP transport")
	return cmd
}
