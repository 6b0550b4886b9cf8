package mutation

import (
	"context"
	"testing"

	"mcp-devserver/cmd/internal/app"
)

// serverSet is what all stands of a test share.
type serverSet struct {
	app     *app.App
	address string
}

func servers(tb testing.TB) *serverSet {
	tb.Helper()
	a := server(tb)
	tb.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return &serverSet{a, listen(tb)}
}
