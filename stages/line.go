package stages

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/go-json-experiment/json/jsontext"

	"mcp-devserver/pipeline"
	"mcp-devserver/pipeline/seal"
	"mcp-devserver/stages/wire"
	"mcp-devserver/tools"
)

// Options are the settings of a line. Zero values stand for the defaults named here.
type Options struct {
	Tools  []*tools.Tool // in the order in which they are published
	Env    *tools.Env    // shared by the tools; required
	Server Server

	Workers     int           // tools that run at once; 8
	Queue       int           // calls that wait for a worker; 64
	CallTimeout time.Duration // of one call, waiting included; 30 s
	Read        wire.Limits   // of one message
	Rate        Rate          // of calls; none
	PageSize    int           // tools in one page of tools/list; all

	// ProgressInterval is the least time between two progress notifications of a request, from the second one on;
	// [ProgressInterval]. Negative: none.
	ProgressInterval time.Duration

	// Unchecked names tools whose schemas are published as they are and whose arguments are only held to be an object. It is
	// for the fixtures of conformance suites, which publish keywords that this server does not enforce.
	Unchecked []string
	// Needs names, for tools of such suites, the client capability without which a call is refused. The tools of this server
	// need none.
	Needs map[string]string

	Unstructured bool // leave out outputSchema and structuredContent
	NoScan       bool // do not look for signals
	NoRedact     bool // let secrets pass
	Timing       bool // tell transports the time of each stage, beside the message

	// Report is called once for every message after it was answered, concurrently with others. It must be quick.
	Report func(*Report)
}

// Server is how the server names itself in the _meta of every result.
type Server struct {
	Name, Version string
	Title         string // "" for none
}

// Stages is a running line of the eight stages.
type Stages struct {
	line    *pipeline.Line
	catalog *catalog
	pool    pond.Pool
}

// New connects the stages and starts them. The error names a tool whose name or schema cannot be served.
func New(o Options) (*Stages, error) {
	if o.Env == nil || o.Server.Name == "" || o.Server.Version == "" {
		return nil, errors.New("stages: Env and the name and version of the server are required")
	}
	o = o.withDefaults()
	c, err := newCatalog(o.Tools, o.Unchecked, !o.Unstructured, o.Env.Limits.MaxChars)
	if err != nil {
		return nil, fmt.Errorf("stages: %w", err)
	}
	if o.PageSize <= 0 {
		o.PageSize = max(len(o.Tools), 1)
	}
	a := &assemble{
		catalog: c, server: o.Server.json(), page: o.PageSize, structured: !o.Unstructured,
		maxChars: o.Env.Limits.MaxChars, workers: o.Workers, timeout: o.CallTimeout,
	}
	l, in := pipeline.New(pipeline.Options{
		InFlight: o.Workers + o.Queue + 32, Timeout: o.CallTimeout, Observe: observer(o.Report, o.Timing),
	})
	pool := pipeline.Pool(o.Workers, o.Queue)
	row{
		parse{o.Read},
		negotiate{},
		&validate{catalog: c, needs: o.Needs, limiter: newLimiter(o.Rate), now: time.Now},
		&execute{env: o.Env, interval: o.ProgressInterval},
		scan{off: o.NoScan},
		a,
		&redact{plain: o.NoRedact, timing: o.Timing, assemble: a},
	}.connect(l, in, pool)
	return &Stages{line: l, catalog: c, pool: pool}, nil
}

// row is the line. A further stage is a field here and a row in connect.
type row struct {
	parse     pipeline.Stage[pipeline.Inbound, Parsed]
	negotiate pipeline.Stage[Parsed, Spoken]
	validate  pipeline.Stage[Spoken, Call]
	execute   pipeline.Stage[Call, Outcome]
	scan      pipeline.Stage[Outcome, Marked]
	assemble  pipeline.Stage[Marked, Envelope]
	redact    pipeline.Stage[Envelope, seal.Sealed]
}

// connect gives two workers to the stages whose work grows with an answer, and one where order counts or the work is small. report
// is the end of the line: [observer] and last.
func (r row) connect(l *pipeline.Line, in <-chan pipeline.Msg[pipeline.Inbound], p pond.Pool) {
	parsed := pipeline.Connect(l, in, r.parse, 1)
	spoken := pipeline.Connect(l, parsed, r.negotiate, 1)
	calls := pipeline.Connect(l, spoken, r.validate, 1)
	outcomes := pipeline.ConnectPool(l, calls, r.execute, p)
	marked := pipeline.Connect(l, outcomes, r.scan, 2)
	envelopes := pipeline.Connect(l, marked, r.assemble, 1)
	sealed := pipeline.Connect(l, envelopes, r.redact, 2)
	pipeline.Drain(l, sealed, last)
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = 8
	}
	if o.Queue <= 0 {
		o.Queue = 64
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 30 * time.Second
	}
	if o.Read.Bytes <= 0 {
		o.Read.Bytes = wire.DefaultBytes
	}
	if o.Read.Depth <= 0 {
		o.Read.Depth = wire.DefaultDepth
	}
	switch {
	case o.ProgressInterval == 0:
		o.ProgressInterval = ProgressInterval
	case o.ProgressInterval < 0:
		o.ProgressInterval = 0
	}
	return o
}

// Line returns the line, for transports to submit to and for the owner to close.
func (s *Stages) Line() *pipeline.Line { return s.line }

// Load returns how many tools run now and how many calls wait for a worker.
func (s *Stages) Load() (running, waiting int) {
	return int(s.pool.RunningWorkers()), int(s.pool.WaitingTasks())
}

// ToolsHash returns the hash over the published list of tools, in hex: equal lists, equal hashes.
func (s *Stages) ToolsHash() string { return hex.EncodeToString(s.catalog.hash[:]) }

func (s Server) json() []byte {
	b := quote([]byte(`{"name":`), s.Name)
	b = quote(append(b, `,"version":`...), s.Version)
	if s.Title != "" {
		b = quote(append(b, `,"title":`...), s.Title)
	}
	b = append(b, '}')
	if !jsontext.Value(b).IsValid() {
		return []byte(`{"name":"mcp-devserver","version":"unknown"}`)
	}
	return b
}
