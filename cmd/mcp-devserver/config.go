package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mcp-devserver/cmd/internal/app"
)

func (c *command) configuration() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check or print the settings",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var production, http bool
	check := &cobra.Command{
		Use:   "check",
		Short: "Say what stands against starting, without starting",
		Long: "check reads the settings as serve does and prints what it would refuse and what\nit would warn of, one line each. doctor also attacks the server.\n\n" +
			"Exit codes: 0 it would start; 78 it would not.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			flags := map[string]string{}
			if production {
				flags["MCP_ENVIRONMENT"] = "production"
			}
			_, problems, err := c.load(flags, http)
			if err != nil {
				return err
			}
			refused := false
			for _, p := range problems {
				word := "warning: "
				if !p.Warn {
					word, refused = "refused: ", true
				}
				fmt.Fprintln(c.stdout, word+p.String())
			}
			if refused {
				return exitError(exitRefused)
			}
			return nil
		},
	}
	check.Flags().BoolVar(&production, "production", false, "judge as with MCP_ENVIRONMENT=production")
	check.Flags().BoolVar(&http, "http", false, "judge for the HTTP transport")
	print := &cobra.Command{
		Use:   "print",
		Short: "Print every setting with its value and where that came from",
		Long: "print writes the settings in the form of .env.example: what is set as NAME=value,\ndefaults and secrets behind a #. Of a secret only the length is shown.\n\n" +
			"Exit codes: 0 printed; 78 a setting cannot be read.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			flags, err := c.flags(nil)
			if err != nil {
				return err
			}
			cfg, problems := app.Load(c.environ, flags)
			for _, p := range problems {
				fmt.Fprintln(c.stderr, "refused: "+p.String())
			}
			if len(problems) > 0 {
				return exitError(exitRefused)
			}
			fmt.Fprint(c.stdout, cfg.Print())
			return nil
		},
	}
	cmd.AddCommand(check, print)
	return cmd
}
