package app

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mcp-devserver/stages/wire"
)

// Reply is what one call of a tool gave.
type Reply struct {
	Text    string // the text half; of a protocol error, its message
	Result  []byte // the whole result, or the whole error object, as JSON
	Denied  bool   // a result with isError
	Invalid bool   // a protocol error: the request could not be understood
}

// Call asks one tool with arguments in JSON ("" means {}), through the whole
// line. The error is an unexpected failure.
func (a *App) Call(ctx context.Context, tool, args string) (*Reply, error) {
	if args == "" {
		args = "{}"
	}
	if !jsontext.Value(args).IsValid() {
		return &Reply{Text: "the arguments are not a JSON value", Result: []byte("null"), Invalid: true}, nil
	}
	name, err := json.Marshal(tool)
	if err != nil {
		return &Reply{Text: "the tool's name is not UTF-8", Result: []byte("null"), Invalid: true}, nil
	}
	answer, err := a.Ask(ctx, fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":%s,"arguments":%s,"_meta":{%q:%q,%q:{}}}}`,
		wire.MethodCall, name, args, wire.KeyVersion, wire.Revision, wire.KeyCapabilities))
	if err != nil {
		return nil, err
	}
	var m struct {
		Result jsontext.Value `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if m.Result == nil {
		var e struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal(m.Error, &e); err != nil {
			return nil, fmt.Errorf("the answer is neither a result nor an error: %w", err)
		}
		return &Reply{Text: e.Message, Result: m.Error, Invalid: true}, nil
	}
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Content) == 0 {
		return nil, fmt.Errorf("the result has no text: %v", err)
	}
	return &Reply{Text: r.Content[0].Text, Result: m.Result, Denied: r.IsError}, nil
}
