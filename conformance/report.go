package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Text writes the report as a terminal shows it.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "target      %s\n", escape(r.Target))
	if r.Legacy != "" {
		fmt.Fprintf(&b, "\nNOT CONFORMANT: the server speaks an earlier revision (%s), not %s\n", escape(r.Legacy), r.Revision)
		_, err := io.WriteString(w, b.String())
		return err
	}
	judged := len(r.Results) - r.Count(Skip)
	fmt.Fprintf(&b, "checks      %d/%d passed", r.Count(OK), judged)
	if n := r.Count(Warn); n > 0 {
		fmt.Fprintf(&b, ", %d warned", n)
	}
	if n := r.Count(Skip); n > 0 {
		fmt.Fprintf(&b, ", %d skipped", n)
	}
	fmt.Fprintf(&b, "\nduration    %dms\n\n", r.Took.Milliseconds())
	for i := range r.Results {
		res := &r.Results[i]
		fmt.Fprintf(&b, "  %-4s  %s  %-8s  %s\n", res.Verdict, res.ID, "["+res.Level+"]", res.Title)
		for _, f := range res.Faults {
			fmt.Fprintf(&b, "                          %s\n", escape(f))
		}
		if res.Reason != "" {
			fmt.Fprintf(&b, "                          %s\n", escape(res.Reason))
		}
	}
	if len(r.Uncalled) > 0 {
		fmt.Fprintf(&b, "\nnot called (name them with --call): %s\n", escape(strings.Join(r.Uncalled, ", ")))
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary is the last line of a report.
func (r *Report) Summary() string {
	switch {
	case r.Legacy != "":
		return "NOT CONFORMANT: the server speaks an earlier revision"
	case r.OutOfTime:
		return "NOT CONFORMANT: the time of the run was used up"
	case r.Flooded:
		return fmt.Sprintf("NOT CONFORMANT: the server said more than the %d MiB that a run can keep", keepWeight>>20)
	case r.Count(Fail) > 0:
		return fmt.Sprintf("NOT CONFORMANT: %d of %d requirements are broken", r.Count(Fail), len(r.Results)-r.Count(Skip))
	case r.Count(OK)+r.Count(Warn) == 0:
		return "NOT CONFORMANT: nothing could be checked"
	}
	return "CONFORMANT"
}

// Explain writes out what every check did: what was demanded, sent, answered.
func (r *Report) Explain(w io.Writer) error {
	var b strings.Builder
	for i := range r.Results {
		res := &r.Results[i]
		fmt.Fprintf(&b, "%s  [%s]  %s\n\n", res.ID, res.Level, res.Title)
		fmt.Fprintf(&b, "  requirement  %s\n  page         %s\n  expected     %s\n  verdict      %s\n", res.Requirement, res.Section, res.Title, res.Verdict)
		for _, f := range res.Faults {
			fmt.Fprintf(&b, "  found        %s\n", escape(f))
		}
		if res.Reason != "" {
			fmt.Fprintf(&b, "  reason       %s\n", escape(res.Reason))
		}
		for _, e := range res.Exchanges {
			b.WriteString("\n")
			if e.Wrong != "" {
				fmt.Fprintf(&b, "  wrong on purpose: %s\n", escape(e.Wrong))
			}
			if e.Request != "" {
				fmt.Fprintf(&b, "  > %s\n", escape(e.Request))
			}
			for _, h := range e.Header {
				fmt.Fprintf(&b, "  > %s\n", escape(h))
			}
			fmt.Fprintf(&b, "  > %s\n", e.Sent)
			if e.Status != 0 {
				fmt.Fprintf(&b, "  < HTTP %d\n", e.Status)
			}
			for _, h := range e.Answered {
				fmt.Fprintf(&b, "  < %s\n", h)
			}
			for _, m := range e.Got {
				fmt.Fprintf(&b, "  < %s\n", m)
			}
			fmt.Fprintf(&b, "  = %s\n", escape(e.Saw))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type jsonExchange struct {
	Request  string   `json:"request,omitzero"`
	Headers  []string `json:"headers,omitempty"`
	Sent     string   `json:"sent"`
	Wrong    string   `json:"wrong_on_purpose,omitzero"`
	Status   int      `json:"status,omitzero"`
	Received []string `json:"received"`
	Blamed   bool     `json:"blamed,omitzero"`
}

type jsonResult struct {
	ID          string         `json:"id"`
	Level       Level          `json:"level"`
	Verdict     string         `json:"verdict"`
	Title       string         `json:"title"`
	Requirement string         `json:"requirement"`
	Section     string         `json:"section"`
	Reason      string         `json:"reason,omitzero"`
	Faults      []string       `json:"faults,omitempty"`
	Exchanges   []jsonExchange `json:"exchanges,omitempty"`
}

type jsonReport struct {
	Target     string       `json:"target"`
	Revision   string       `json:"revision"`
	Conformant bool         `json:"conformant"`
	Summary    string       `json:"summary"`
	Legacy     string       `json:"legacy,omitzero"`
	Strict     bool         `json:"strict"`
	DurationMS int64        `json:"duration_ms"`
	Totals     jsonTotals   `json:"totals"`
	Uncalled   []string     `json:"not_called,omitempty"`
	Checks     []jsonResult `json:"checks"`
}

type jsonTotals struct {
	OK   int `json:"ok"`
	Fail int `json:"fail"`
	Warn int `json:"warn"`
	Skip int `json:"skip"`
}

// JSON writes the report for a program. Exchanges are given for what is not ok.
func (r *Report) JSON(w io.Writer) error {
	j := jsonReport{
		Target: r.Target, Revision: r.Revision, Conformant: r.Conformant(), Summary: r.Summary(), Legacy: r.Legacy, Strict: r.Strict,
		DurationMS: r.Took.Milliseconds(), Totals: jsonTotals{r.Count(OK), r.Count(Fail), r.Count(Warn), r.Count(Skip)},
		Uncalled: r.Uncalled, Checks: []jsonResult{},
	}
	for i := range r.Results {
		res := &r.Results[i]
		c := jsonResult{
			ID: res.ID, Level: res.Level, Verdict: strings.ToLower(string(res.Verdict)), Title: res.Title,
			Requirement: res.Requirement, Section: res.Section, Reason: escape(res.Reason),
		}
		for _, f := range res.Faults {
			c.Faults = append(c.Faults, escape(f))
		}
		if len(res.Faults) > 0 {
			for _, e := range res.Exchanges {
				c.Exchanges = append(c.Exchanges, jsonExchange{e.Request, e.Header, e.Sent, e.Wrong, e.Status, e.Got, e.Blamed})
			}
		}
		j.Checks = append(j.Checks, c)
	}
	if err := json.MarshalWrite(w, j, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Skipped *junitSkip    `xml:"skipped,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the report as CI systems read it. A warning is a passed test
// with output.
func (r *Report) JUnit(w io.Writer) error {
	s := junitSuite{
		Name: "mcp " + r.Revision + " " + escape(r.Target), Tests: len(r.Results), Failures: r.Count(Fail), Skipped: r.Count(Skip),
		Time: fmt.Sprintf("%.3f", r.Took.Seconds()),
	}
	if r.Legacy != "" || len(r.Results) == 0 {
		s.Tests, s.Failures = 1, 1
		s.Cases = []junitCase{{Name: "revision", Class: "mcp", Time: "0", Failure: &junitFailure{Message: escape(r.Summary()), Text: escape(r.Legacy)}}}
	}
	for i := range r.Results {
		res := &r.Results[i]
		c := junitCase{Name: res.ID + " " + res.Title, Class: "mcp." + string(res.Level), Time: fmt.Sprintf("%.3f", res.Took.Seconds())}
		text := escape(strings.Join(res.Faults, "; "))
		switch res.Verdict {
		case Fail:
			c.Failure = &junitFailure{Message: text, Text: res.Requirement + ", " + res.Section}
		case Skip:
			c.Skipped = &junitSkip{Message: escape(res.Reason)}
		case Warn:
			c.Out = text
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
