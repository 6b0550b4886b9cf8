package main

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mcp-devserver/tools"
)

func (c *command) tools() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that a client sees",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return c.toolsJSON()
			}
			for i, t := range tools.All() {
				if i > 0 {
					fmt.Fprintln(c.stdout)
				}
				fmt.Fprintf(c.stdout, "%s(%s)\n    %s\n", t.Name(), strings.Join(arguments(t), ", "), t.Description())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, descriptions and schemas as JSON")
	return cmd
}

// arguments lists a tool's arguments, optional ones with a question mark.
func arguments(t *tools.Tool) []string {
	var s struct {
		Required   []string       `json:"required"`
		Properties jsontext.Value `json:"properties"`
	}
	if json.Unmarshal(t.InputSchema(), &s) != nil {
		return nil
	}
	required := map[string]bool{}
	for _, r := range s.Required {
		required[r] = true
	}
	var names []string
	d := jsontext.NewDecoder(strings.NewReader(string(s.Properties)))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		n := name.String() // the token is void once the decoder goes on
		if err != nil || d.SkipValue() != nil {
			return names
		}
		if required[n] {
			names = append(names, n)
		} else {
			names = append(names, n+"?")
		}
	}
	return names
}

func (c *command) toolsJSON() error {
	type tool struct {
		Name        string         `json:"name"`
		Title       string         `json:"title"`
		Description string         `json:"description"`
		Input       jsontext.Value `json:"inputSchema"`
		Output      jsontext.Value `json:"outputSchema"`
	}
	list := []tool{}
	for _, t := range tools.All() {
		list = append(list, tool{t.Name(), t.Title(), t.Description(), t.InputSchema(), t.OutputSchema()})
	}
	b, err := json.Marshal(list, jsontext.WithIndent("  "))
	if err != nil {
		return &failure{err}
	}
	fmt.Fprintln(c.stdout, string(b))
	return nil
}
