package stages

import (
	"context"
	"strings"

	"mcp-devserver/pipeline"
	"mcp-devserver/stages/wire"
)

// Spoken is a request whose envelope is accepted: its revision is served and its headers, if it came with any, agree with it.
type Spoken struct {
	wire.Message
	Meta   wire.Meta
	Params params // shadows the raw member of Message
	client string
	rec    *record
}

// params holds the members of params that any method of ours reads, raw; nil when absent.
type params struct {
	object         bool
	meta           []byte
	name           []byte
	arguments      []byte
	cursor         []byte
	notifications  []byte
	inputResponses []byte
	requestState   []byte
	version        []byte // of the handshake of earlier revisions
	client         []byte // the same
}

func readParams(raw []byte) (p params) {
	p.object, _ = wire.Members(raw, func(name, value []byte) error {
		switch string(name) {
		case "_meta":
			p.meta = value
		case "name":
			p.name = value
		case "arguments":
			p.arguments = value
		case "cursor":
			p.cursor = value
		case "notifications":
			p.notifications = value
		case "inputResponses":
			p.inputResponses = value
		case "requestState":
			p.requestState = value
		case "protocolVersion":
			p.version = value
		case "clientInfo":
			p.client = value
		}
		return nil
	})
	return p
}

// negotiate checks the envelope of a request, in an order that the answers to faulty requests reveal: a legacy handshake, the
// members of _meta, the version header against the body, the version, the other headers, the rest of _meta.
type negotiate struct{}

func (negotiate) Name() string { return "negotiate" }

func (negotiate) Do(_ context.Context, _ *pipeline.Exchange, in Parsed) (Spoken, error) {
	s := Spoken{Message: in.Message, Params: readParams(in.Message.Params), client: in.client, rec: in.rec}
	if in.ID == nil {
		return s, notification(in)
	}
	var meta bool
	s.Meta, meta = wire.DecodeMeta(s.Params.meta)
	in.rec.report.Client, in.rec.report.TraceID = s.Meta.Client, s.Meta.TraceID
	version, named := wire.String(s.Meta.Version)
	capable := wire.Kind(s.Meta.Capabilities) == '{'
	if s.Method == wire.MethodInitialize && (version != wire.Revision || !capable) {
		in.rec.report.Legacy = true
		if s.Meta.Client == "" {
			in.rec.report.Client = wire.ClientName(s.Params.client)
		}
		asked, _ := wire.String(s.Params.version)
		return s, unsupported(asked, wire.InitializeMessage)
	}
	if err := envelope(s, meta, named); err != nil {
		return s, err
	}
	if in.Mirror != nil {
		if err := mirrored(in.Mirror, wire.HeaderVersion, version, "_meta"); err != nil {
			return s, err
		}
	}
	if version != wire.Revision {
		return s, unsupported(version, "Unsupported protocol version")
	}
	if in.Mirror != nil {
		if err := mirrors(in.Mirror, s); err != nil {
			return s, err
		}
	}
	return s, rest(s.Meta, capable)
}

// envelope checks what makes params._meta an envelope at all.
func envelope(s Spoken, meta, named bool) error {
	lacks := func(field string) error {
		return wire.Refuse(wire.FaultEnvelope, "Invalid params: "+field+" is missing or has the wrong type").With("field", field)
	}
	switch foreign := s.Meta.Foreign; {
	case !s.Params.object:
		return lacks("params")
	case !meta:
		return lacks("_meta")
	case foreign != "" && (!s.Meta.Extensions || s.Meta.Outside != ""):
		if s.Meta.Extensions {
			foreign = s.Meta.Outside
		}
		return wire.Refuse(wire.FaultEnvelope, "Invalid params: _meta key ", wire.Caller(foreign), " uses a reserved prefix").With("key", wire.Caller(foreign))
	case !named:
		return lacks(wire.KeyVersion)
	}
	return nil
}

// rest checks the members of _meta that belong to this revision.
func rest(m wire.Meta, capable bool) error {
	wrong := func(field, detail string) error {
		return wire.Refuse(wire.FaultEnvelope, "Invalid params: "+field+" "+detail).With("field", field)
	}
	switch {
	case !capable:
		return wrong(wire.KeyCapabilities, "is missing or has the wrong type")
	case m.ProgressToken != nil && !wire.Token(m.ProgressToken):
		return wrong(wire.KeyProgressToken, "must be a string or an integer of at most 1024 bytes")
	case m.LogLevel != nil:
		if level, ok := wire.String(m.LogLevel); !ok || !wire.LogLevel(level) {
			return wrong(wire.KeyLogLevel, "is not a log level")
		}
	}
	return nil
}

func unsupported(asked, message string) *wire.Error {
	return wire.Refuse(wire.FaultVersion, message).With("supported", wire.Served()).With("requested", wire.Caller(asked))
}

// mirrors compares the headers of a request other than the version with its body. The body is what counts: a header never
// changes what is done, it can only be found to differ.
func mirrors(headers pipeline.Mirror, s Spoken) error {
	if err := mirrored(headers, wire.HeaderMethod, s.Method, "method"); err != nil {
		return err
	}
	if s.Method != wire.MethodCall {
		return nil
	}
	if name, ok := wire.String(s.Params.name); ok {
		return mirrored(headers, wire.HeaderName, name, "params.name")
	}
	return nil
}

func mirrored(headers pipeline.Mirror, header, body, source string) error {
	value, found, conflict := headers.Value(wire.HeaderKey(header))
	switch {
	case !found:
		return mismatch(header, "is missing")
	case conflict:
		return mismatch(header, "appears twice with different values")
	}
	value = strings.Trim(value, " \t")
	if header == wire.HeaderName {
		var ok bool
		if value, ok = wire.DecodeHeader(value); !ok {
			return mismatch(header, "is malformed")
		}
	}
	if value != body {
		return mismatch(header, "differs from "+source)
	}
	return nil
}

func mismatch(header, how string) *wire.Error {
	return wire.Refuse(wire.FaultHeader, "Header mismatch: "+header+" "+how).With("header", header)
}

// notification decides about a message without an id that came over HTTP: it is never answered with a result, so the outcome is
// always an error. Headers need not be there; where they are they must not lie.
func notification(in Parsed) error {
	version, found, conflict := in.Mirror.Value(wire.HeaderKey(wire.HeaderVersion))
	switch version = strings.Trim(version, " \t"); {
	case conflict:
		return mismatch(wire.HeaderVersion, "appears twice with different values")
	case found && version != wire.Revision:
		return unsupported(version, "Unsupported protocol version")
	}
	if _, found, _ := in.Mirror.Value(wire.HeaderMethod); found {
		if err := mirrored(in.Mirror, wire.HeaderMethod, in.Method, "method"); err != nil {
			return err
		}
	}
	return pipeline.ErrNoReply
}
