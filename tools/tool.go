// Package tools holds the seven read-only tools and the small framework that
// they share.
//
// # How to start
//
// A tool is one file and one line: a [Definition], an input struct whose JSON
// names are those of the published schema, an output struct that embeds
// answer.Frame and lays itself out, a function between the two, and the line
// in [All].
//
// # What it promises
//
//   - A tool reaches the disk through sandbox only, and git through
//     tools/internal/git only.
//   - Every string that a tool did not write itself goes into Call.Texts.
//   - A refusal is a *sandbox.Denial; any other error is an unexpected fault
//     whose text stays in the log.
//   - Arguments reach a tool after they were checked against its published
//     schema.
//
// # Limits
//
// A tool sees no transport, no JSON-RPC and no other request.
package tools

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/git"
)

// Definition is what a tool publishes.
type Definition struct {
	Name, Title, Description string
	// Input is the JSON Schema of the arguments.
	Input string
	// Output is the JSON Schema of a success without the members that all
	// tools share (complete, stopped, next, notices, untrusted, redactions).
	Output string
	// Codes are the denials that the tool can answer, in published order.
	Codes []sandbox.Code
}

// Call is one call of a tool: the environment of the process and what belongs
// to this request.
type Call struct {
	*Env
	// Texts is the table of foreign strings of the answer.
	Texts *answer.Texts
	// Progress reports work done and, when known, in all (else 0). It may be
	// called often; what is sent is rate-limited. Never nil.
	Progress func(done, total int64, phase Phase)
	repo     *git.Repo // asked last, for still
}

// Phase names what a tool is doing, in fixed words.
type Phase uint8

// The phases, in the order in which a tool passes them.
const (
	PhaseWalk Phase = iota
	PhaseSearch
	PhaseParse
	PhaseHistory
	PhaseDiff
)

// String returns the word for a phase: "listing", "searching", "parsing",
// "reading history", "comparing".
func (p Phase) String() string {
	return [...]string{"listing", "searching", "parsing", "reading history", "comparing"}[p]
}

// Tool is a registered tool. It is safe for concurrent use.
type Tool struct {
	def    Definition
	input  jsontext.Value
	output jsontext.Value
	run    func(context.Context, *Call, []byte) (answer.Output, error)
}

// New registers a tool. It panics when a schema is not JSON, which is an error
// of the program.
func New[In any, Out answer.Output](d Definition, run func(context.Context, *Call, In) (Out, error)) *Tool {
	t := &Tool{def: d, input: compact(d.Input), output: compact(outputSchema(d))}
	t.run = func(ctx context.Context, c *Call, args []byte) (answer.Output, error) {
		var in In
		if err := json.Unmarshal(args, &in, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("tool %s: arguments passed validation but do not decode: %w", d.Name, err)
		}
		out, err := run(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return t
}

// Name returns the tool's name.
func (t *Tool) Name() string { return t.def.Name }

// Title returns the tool's title for people.
func (t *Tool) Title() string { return t.def.Title }

// Description returns the tool's description for a model.
func (t *Tool) Description() string { return t.def.Description }

// InputSchema returns the schema of the arguments, as compact JSON. It must not
// be changed.
func (t *Tool) InputSchema() []byte { return t.input }

// OutputSchema returns the schema of structuredContent, success or denial, as
// compact JSON. It must not be changed.
func (t *Tool) OutputSchema() []byte { return t.output }

// Codes returns the denials that the tool can answer.
func (t *Tool) Codes() []sandbox.Code { return t.def.Codes }

// Run answers one call. args is a JSON object that fits InputSchema, with
// defaults filled in. The error is a *sandbox.Denial, the context's error, or an
// unexpected fault.
func (t *Tool) Run(ctx context.Context, c *Call, args []byte) (answer.Output, error) {
	return t.run(ctx, c, args)
}

func compact(schema string) jsontext.Value {
	v := jsontext.Value(bytes.Clone([]byte(schema)))
	if err := v.Compact(); err != nil {
		panic("tools: schema is not JSON: " + err.Error())
	}
	return v
}

// The parts of every output schema that all tools share.
const (
	untrustedSchema  = `{"type":"object","properties":{"nonce":{"type":"string"},"risk":{"enum":["none","low","medium","high"]},"score":{"type":"integer","minimum":0,"maximum":100},"signals":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"path":{"type":"string"},"line":{"type":"integer","minimum":1},"excerpt":{"type":"string","maxLength":160}},"required":["id"],"additionalProperties":false}},"notice":{"type":"string"}},"required":["nonce","risk","score","notice"],"additionalProperties":false}`
	redactionsSchema = `{"type":"array","items":{"type":"object","properties":{"rule":{"type":"string"},"count":{"type":"integer","minimum":1}},"required":["rule","count"],"additionalProperties":false}}`
	nextSchema       = `{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"},"why":{"type":"string"}},"required":["tool","arguments"],"additionalProperties":false}`
	commonMembers    = `"complete":{"type":"boolean"},"stopped":{"enum":["limit","chars","time"]},"next":{"$ref":"#/$defs/next"},"notices":{"type":"array","items":{"type":"string"}},"untrusted":{"$ref":"#/$defs/untrusted"},"redactions":{"$ref":"#/$defs/redactions"}`
)

// outputSchema composes the published schema: an object that is a success of
// this tool or one of its denials.
func outputSchema(d Definition) string {
	var ok struct {
		Type       string                    `json:"type"`
		Required   []string                  `json:"required"`
		Additional bool                      `json:"additionalProperties"`
		Properties jsontext.Value            `json:"properties"`
		Defs       map[string]jsontext.Value `json:"$defs,omitempty"`
	}
	if err := json.Unmarshal([]byte(d.Output), &ok, json.RejectUnknownMembers(true)); err != nil {
		panic("tools: output schema of " + d.Name + ": " + err.Error())
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"object","anyOf":[{"$ref":"#/$defs/ok"},{"$ref":"#/$defs/error"}],"$defs":{"untrusted":` + untrustedSchema +
		`,"redactions":` + redactionsSchema + `,"next":` + nextSchema +
		`,"error":{"type":"object","properties":{"error":{"enum":[`)
	for i, c := range d.Codes {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q", c.String())
	}
	b.WriteString(`]},"message":{"type":"string"},"remedy":{"type":"string"},"details":{"type":"object"},"redactions":{"$ref":"#/$defs/redactions"}},"required":["error","message","remedy"],"additionalProperties":false},"ok":{"type":"object","required":[`)
	for _, r := range ok.Required {
		fmt.Fprintf(&b, "%q,", r)
	}
	b.WriteString(`"complete","untrusted","redactions"],"additionalProperties":false,"properties":`)
	props := bytes.TrimSpace(ok.Properties)
	b.Write(props[:len(props)-1]) // without the closing brace
	if len(bytes.TrimSpace(props[1:len(props)-1])) > 0 {
		b.WriteByte(',')
	}
	b.WriteString(commonMembers + `}}}}`)
	return b.String()
}
