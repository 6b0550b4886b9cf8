// Command gosdk is a server on the official Go SDK, for make conform-others: a
// tool that greets and one that fails, over stdio or stateless HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type input struct {
	Name string `json:"name" jsonschema:"the person to greet"`
}

type output struct {
	Greeting string `json:"greeting"`
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1"}, nil)
	readOnly := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(s, &mcp.Tool{Name: "greet", Description: "say hi", Annotations: readOnly},
		func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, output, error) {
			return nil, output{"Hi " + in.Name}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Description: "fail always", Annotations: readOnly},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("this tool fails always")
		})
	return s
}

func main() {
	address := flag.String("http", "", "address to listen on; stdio if empty")
	flag.Parse()
	if *address == "" {
		if err := newServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Print(err)
		}
		return
	}
	s := newServer()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	// The SDK leaves Origin to whoever embeds it, and recommends this.
	http.Handle("/mcp", http.NewCrossOriginProtection().Handler(h))
	log.Fatal(http.ListenAndServe(*address, nil))
}
