package app

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mcp-devserver/stages/wire"
)

// Verdicts of doctor, which are also the exit codes of the command.
const (
	DoctorFine    = 0
	DoctorWarns   = 1
	DoctorRefuses = 2
)

// Examination is what doctor found.
type Examination struct {
	Verdict  int       `json:"verdict"`
	Sections []Section `json:"sections"`
}

// Section is one topic.
type Section struct {
	Title string `json:"title"`
	Lines []Line `json:"lines"`
}

// Line is one finding. Mark is "ok", "warn", "fail" or "" for plain facts.
type Line struct {
	Mark string `json:"mark,omitempty"`
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

func (e *Examination) add(title string, lines ...Line) {
	e.Sections = append(e.Sections, Section{title, lines})
	for _, l := range lines {
		switch l.Mark {
		case "fail":
			e.Verdict = DoctorRefuses
		case "warn":
			e.Verdict = max(e.Verdict, DoctorWarns)
		}
	}
}

// Text lays an examination out for a terminal.
func (e *Examination) Text() string {
	var b strings.Builder
	for _, s := range e.Sections {
		fmt.Fprintf(&b, "%s\n", s.Title)
		for _, l := range s.Lines {
			fmt.Fprintf(&b, "  %-4s  %s", l.Mark, l.Name)
			if l.Text != "" {
				b.WriteString(": " + l.Text)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	b.WriteString([...]string{"fine", "would start, with warnings", "would refuse to start"}[e.Verdict] + "\n")
	return b.String()
}

// Doctor says what would be served and what would be refused. problems are
// those of Load, or of Check when Load had none; build makes the server and is
// called only when none of them refuses. The kernel's wall is raised on the way,
// so the process is good for nothing else afterwards.
func Doctor(ctx context.Context, c *Config, problems []Problem, b Build, build func() (*App, error)) *Examination {
	e := &Examination{}
	commit := b.Commit
	if commit == "" {
		commit = "unknown"
	}
	e.add("Build",
		Line{Name: "version", Text: b.Version},
		Line{Name: "commit", Text: commit},
		Line{Name: "built with", Text: runtime.Version() + " for " + runtime.GOOS + "/" + runtime.GOARCH},
		Line{Name: "protocol", Text: "MCP " + wire.Revision})
	e.settings(c)

	var verdict []Line
	refused := false
	for _, p := range problems {
		mark := "fail"
		if p.Warn {
			mark = "warn"
		}
		refused = refused || !p.Warn
		verdict = append(verdict, Line{Mark: mark, Name: p.Setting, Text: strings.TrimPrefix(p.String(), p.Setting+": ")})
	}
	if len(verdict) == 0 {
		verdict = []Line{{Mark: "ok", Name: "nothing stands against starting"}}
	}
	if !refused {
		a, err := build()
		if err != nil {
			verdict = append(verdict, Line{Mark: "fail", Name: "the server cannot be built", Text: Clean(err.Error())})
		} else {
			defer a.Close(context.WithoutCancel(ctx))
			e.add("Tools", Line{Name: "hash of the published list", Text: a.ToolsHash()[:16]})
			e.workspace(ctx, a)
			e.attack(ctx, a) // the path checks must hold by themselves
			e.walls(a)
			e.git(ctx, c, a)
		}
	}
	e.add("Settings that matter here", verdict...)
	return e
}

func (e *Examination) settings(c *Config) {
	var lines []Line
	for i := range settings {
		s := &settings[i]
		lines = append(lines, Line{Name: s.name, Text: s.show(c) + " (" + c.Origin[s.name] + ")"})
	}
	e.add("Settings", lines...)
}

// show words a value; of a secret only its length.
func (s *setting) show(c *Config) string {
	v := s.value(c)
	switch {
	case v == "":
		return "not set"
	case s.kind == kindSecrets:
		var sizes []string
		for _, t := range strings.Split(v, ",") {
			sizes = append(sizes, fmt.Sprintf("set (%d chars)", len(t)))
		}
		return strings.Join(sizes, ", ")
	case s.kind == kindText, s.kind == kindList, s.kind == kindEnum:
		return strconv.Quote(v)
	}
	return v
}

// value writes a value as an operator would.
func (s *setting) value(c *Config) string {
	switch v := s.into(c).(type) {
	case *bool:
		return strconv.FormatBool(*v)
	case *int64:
		return strconv.FormatInt(*v, 10)
	case *time.Duration:
		return strconv.FormatInt(v.Milliseconds(), 10)
	case *string:
		return *v
	case *[]string:
		return strings.Join(*v, ",")
	}
	return ""
}

func (e *Examination) workspace(ctx context.Context, a *App) {
	lines := []Line{{Name: "root", Text: strconv.Quote(resolved(a.config.Workspace))}}
	var o struct {
		Files    int64 `json:"files"`
		Bytes    int64 `json:"bytes"`
		Ignored  int64 `json:"ignored"`
		Denied   int64 `json:"denied"`
		Complete bool  `json:"complete"`
	}
	if err := a.structured(ctx, "project_overview", `{"depth":1}`, &o); err != nil {
		lines = append(lines, Line{Mark: "fail", Name: "it cannot be walked"})
	} else {
		text := fmt.Sprintf("%d files, %d bytes", o.Files, o.Bytes)
		if !o.Complete {
			text = "at least " + text
		}
		lines = append(lines, Line{Mark: "ok", Name: "served", Text: text},
			Line{Name: "ignored", Text: strconv.FormatInt(o.Ignored, 10)},
			Line{Name: "withheld by name", Text: strconv.FormatInt(o.Denied, 10)})
	}
	var l struct {
		Items []struct {
			Path  string `json:"path"`
			Type  string `json:"type"`
			State string `json:"state"`
		} `json:"items"`
	}
	if a.structured(ctx, "list_directory", `{"depth":10,"details":true,"limit":2000}`, &l) == nil {
		for i := range l.Items {
			if l.Items[i].Type == "other" {
				l.Items[i].State = "special"
			}
		}
		for _, state := range []struct{ name, title string }{
			{"special", "pipes, sockets and devices, never opened"}, {"denied", "withheld"}, {"outside", "links that leave the workspace, not followed"}, {"broken", "links to nothing"},
		} {
			var names []string
			n := 0
			for _, i := range l.Items {
				if i.State == state.name {
					if n++; n <= 10 {
						names = append(names, Clean(i.Path))
					}
				}
			}
			if n > 10 {
				names = append(names, fmt.Sprintf("and %d more", n-10))
			}
			if n > 0 {
				lines = append(lines, Line{Name: state.title, Text: strings.Join(names, ", ")})
			}
		}
	}
	e.add("Workspace", lines...)
}

func (a *App) structured(ctx context.Context, tool, args string, into any) error {
	r, err := a.Call(ctx, tool, args)
	if err != nil {
		return err
	}
	if r.Denied || r.Invalid {
		return fmt.Errorf("%s", r.Text)
	}
	var m struct {
		Structured any `json:"structuredContent"`
	}
	m.Structured = into
	return json.Unmarshal(r.Result, &m)
}

func (e *Examination) attack(ctx context.Context, a *App) {
	var lines []Line
	probes := a.SelfAttack(ctx)
	planted, err := TreeAttack(ctx, a.config, a.build)
	if err != nil {
		lines = append(lines, Line{Mark: "warn", Name: "attacks that need a tree were not made", Text: err.Error()})
	}
	for _, p := range append(probes, planted...) {
		l := Line{Mark: "ok", Name: p.Trick, Text: p.Saw}
		if !p.Held {
			l.Mark = "fail"
		}
		lines = append(lines, l)
	}
	e.add("Attacks on itself", lines...)
}

func (e *Examination) git(ctx context.Context, c *Config, a *App) {
	if !c.GitEnabled {
		e.add("Git", Line{Name: "turned off"})
		return
	}
	g := findGit(c.GitBinary)
	if g.path == "" {
		e.add("Git", Line{Mark: "warn", Name: "not found"})
		return
	}
	lines := []Line{
		{Name: "program", Text: strconv.Quote(g.path)},
		{Name: "version", Text: fmt.Sprintf("%d.%d", g.version[0], g.version[1])},
	}
	r, err := a.Call(ctx, "git_log", `{"limit":1}`)
	switch {
	case err != nil:
		lines = append(lines, Line{Mark: "fail", Name: "git_log failed"})
	case r.Denied:
		lines = append(lines, Line{Name: "history", Text: Clean(r.Text)})
	default:
		lines = append(lines, Line{Mark: "ok", Name: "history", Text: "can be read"})
	}
	if keys, err := a.env.Neutralised(ctx); err == nil && len(keys) > 0 {
		shown := make([]string, 0, maxNeutralised)
		for _, k := range keys[:min(len(keys), maxNeutralised)] {
			shown = append(shown, Clean(k))
		}
		if more := len(keys) - len(shown); more > 0 {
			shown = append(shown, fmt.Sprintf("and %d more", more))
		}
		lines = append(lines, Line{Name: "the repository would run, and does not here", Text: strings.Join(shown, ", ")})
	}
	e.add("Git", lines...)
}

// maxNeutralised bounds how many names of a hostile configuration are shown.
const maxNeutralised = 50
