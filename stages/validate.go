package stages

import (
	"context"
	"math"
	"time"

	"mcp-devserver/pipeline"
	"mcp-devserver/sandbox"
	"mcp-devserver/stages/internal/schema"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

// Call is a request that will be served: its method is known and its params are sound.
type Call struct {
	id      wire.ID
	method  string
	offset  int             // tools/list: of the first tool
	tool    *tools.Tool     // tools/call
	args    []byte          // tools/call: fits the schema of the tool, defaults filled in
	notices []string        // tools/call: what leniency did to the arguments
	denial  *sandbox.Denial // tools/call: refused before it could run
	token   []byte          // progress token, raw; nil when no progress is wanted
}

// validate checks the method and its params, then takes a call from the budget of its client.
type validate struct {
	catalog *catalog
	needs   map[string]string // client capability by tool
	limiter *limiter
	now     func() time.Time
}

func (*validate) Name() string { return "validate" }

func (v *validate) Do(_ context.Context, _ *pipeline.Exchange, in Spoken) (Call, error) {
	c := Call{id: in.ID, method: in.Method, token: in.Meta.ProgressToken}
	switch in.Method {
	case wire.MethodDiscover:
		return c, nil
	case wire.MethodList:
		return c, v.list(&c, in.Params)
	case wire.MethodListen:
		return c, listen(in.Params)
	case wire.MethodCall:
		return c, v.call(&c, in)
	case wire.MethodInitialize:
		return c, wire.Refuse(wire.FaultMethod, "Method not found: initialize (this server speaks only MCP "+wire.Revision+")").With("supported", wire.Served())
	}
	return c, wire.Refuse(wire.FaultMethod, "Method not found: ", wire.Caller(in.Method))
}

func badParams(words string) *wire.Error {
	return wire.Refuse(wire.FaultParams, "Invalid params: "+words)
}

func (v *validate) list(c *Call, p params) error {
	if p.cursor == nil {
		return nil
	}
	s, ok := wire.String(p.cursor)
	if ok {
		c.offset, ok = decodeCursor(s, v.catalog.hash)
	}
	if !ok || c.offset <= 0 || c.offset >= len(v.catalog.entries) {
		return badParams("cursor is not one of this server").With("field", "cursor")
	}
	return nil
}

// listen checks the filter of a subscription. Nothing in it is ever honoured, but what is malformed is still refused.
func listen(p params) error {
	var bad string
	ok, _ := wire.Members(p.notifications, func(name, value []byte) error {
		switch n := string(name); n {
		case "toolsListChanged", "promptsListChanged", "resourcesListChanged":
			if k := wire.Kind(value); k != 't' && k != 'f' {
				bad = n + " must be a boolean"
			}
		case "resourceSubscriptions":
			if !schema.Strings(value) {
				bad = n + " must be an array of strings"
			}
		}
		return nil
	})
	switch {
	case !ok:
		return badParams("notifications must be an object").With("field", "notifications")
	case bad != "":
		return badParams("notifications."+bad).With("field", "notifications")
	}
	return nil
}

func (v *validate) call(c *Call, in Spoken) error {
	p := in.Params
	name, ok := wire.String(p.name)
	switch {
	case !ok:
		return badParams("name must be a string").With("field", "name")
	case p.inputResponses != nil && wire.Kind(p.inputResponses) != '{':
		return badParams("inputResponses must be an object").With("field", "inputResponses")
	case p.requestState != nil && wire.Kind(p.requestState) != '"':
		return badParams("requestState must be a string").With("field", "requestState")
	}
	e := v.catalog.byName[name]
	if e == nil {
		return wire.Refuse(wire.FaultTool, "Unknown tool: ", wire.Caller(name)).With("tool", wire.Caller(name)).With("available", v.catalog.names)
	}
	if need := v.needs[name]; need != "" && !wire.Has(in.Meta.Capabilities, need) {
		return wire.Refuse(wire.FaultCapability, "This tool needs the client's capability "+need).
			With("requiredCapabilities", wire.Object{{Name: need, Value: wire.Object{}}})
	}
	c.tool = e.tool
	in.rec.report.Tool = name
	args := schema.Empty()
	if k := wire.Kind(p.arguments); k != 0 && k != 'n' {
		var err error
		if args, err = schema.Parse(p.arguments); err != nil {
			return badParams("arguments nest too deeply").With("field", "arguments")
		}
	}
	in.rec.report.note(args, e.input)
	args, c.notices = e.input.Relax(args)
	if found := e.input.Validate(args); len(found) > 0 {
		return badArguments(name, e.input, found)
	}
	c.args = e.input.Fill(args).AppendTo(nil)
	if wait, ok := v.limiter.admit(in.client, v.now()); !ok {
		c.denial = sandbox.Refuse(sandbox.RateLimited, sandbox.Args{
			"n": int(math.Ceil(wait.Seconds())), "retry_after_ms": int(math.Ceil(float64(wait) / float64(time.Millisecond)))})
	}
	return nil
}
