package conformance

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"
)

// pageStyle is the only thing that the page's policy lets in, by its hash.
const pageStyle = `body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
h1{font-size:1.4rem}table{border-collapse:collapse}td,th{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}
details{border-top:1px solid #ddd;padding:.4rem 0}summary{cursor:pointer}
.v{display:inline-block;min-width:3.2rem;font-weight:600}.FAIL{color:#b00020}.warn{color:#8a5a00}.ok{color:#166534}.skip{color:#555}
.found{color:#b00020;margin:.3rem 0 .3rem 1rem}.why{color:#555;margin:.3rem 0 .3rem 1rem}
pre{background:#f5f5f5;padding:.6rem;overflow:auto;white-space:pre-wrap;word-break:break-all;font-size:13px;margin:.3rem 0 .8rem 1rem}
.blamed pre{border-left:3px solid #b00020}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}pre{background:#222}details{border-color:#333}.skip,.why{color:#aaa}.FAIL,.found{color:#ff7a85}.warn{color:#e8b04a}.ok{color:#6fcf8f}}`

// pagePolicy allows nothing but that style: what a server said stays text even
// if the escaping had a hole.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}()

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Report.Summary}} – MCP {{.Report.Revision}}</title>
<style>{{.Style}}</style>
</head>
<body>
<h1 class="{{if .Report.Conformant}}ok{{else}}FAIL{{end}}">{{.Report.Summary}}</h1>
<table>
<tr><th>Target</th><td>{{.Target}}</td></tr>
<tr><th>Revision</th><td>{{.Report.Revision}}{{if .Report.Legacy}}; the server speaks {{.Legacy}}{{end}}</td></tr>
<tr><th>Passed</th><td>{{.OK}}</td></tr>
<tr><th>Failed</th><td>{{.Fail}}</td></tr>
<tr><th>Warned</th><td>{{.Warn}}</td></tr>
<tr><th>Skipped</th><td>{{.Skip}}</td></tr>
<tr><th>Duration</th><td>{{.Report.Took.Milliseconds}} ms</td></tr>
{{with .Uncalled}}<tr><th>Not called</th><td>{{.}}</td></tr>{{end}}
</table>
{{range .Results}}<details{{if .Faults}} open{{end}}>
<summary><span class="v {{.Verdict}}">{{.Verdict}}</span> {{.ID}} [{{.Level}}] {{.Title}}</summary>
<p class="why">{{.Requirement}}; {{.Section}}</p>
{{with .Reason}}<p class="why">{{.}}</p>{{end}}
{{range .Faults}}<p class="found">{{.}}</p>{{end}}
{{range .Exchanges}}<div{{if .Blamed}} class="blamed"{{end}}>{{with .Wrong}}<p class="why">wrong on purpose: {{.}}</p>{{end}}
<pre>{{with .Request}}{{.}}
{{end}}{{range .Header}}{{.}}
{{end}}{{.Sent}}</pre>
<pre>{{with .Status}}HTTP {{.}}
{{end}}{{range .Answered}}{{.}}
{{end}}{{range .Got}}{{.}}
{{else}}{{.Saw}}{{end}}</pre></div>
{{end}}</details>
{{end}}</body>
</html>
`))

// HTML writes the report as one page that needs nothing else: totals, then
// failures, warnings, skips and the rest, each with its exchanges.
func (r *Report) HTML(w io.Writer) error {
	rank := map[Verdict]int{Fail: 0, Warn: 1, Skip: 2, OK: 3}
	results := slices.Clone(r.Results)
	slices.SortStableFunc(results, func(a, b Result) int { return rank[a.Verdict] - rank[b.Verdict] })
	for i := range results {
		res := &results[i]
		res.Reason = escape(res.Reason)
		res.Faults = slices.Clone(res.Faults)
		for k, f := range res.Faults {
			res.Faults[k] = escape(f)
		}
	}
	return page.Execute(w, map[string]any{
		"Report": r, "Results": results, "Policy": pagePolicy, "Style": template.CSS(pageStyle), "Target": escape(r.Target), "Legacy": escape(r.Legacy),
		"OK": r.Count(OK), "Fail": r.Count(Fail), "Warn": r.Count(Warn), "Skip": r.Count(Skip), "Uncalled": escape(strings.Join(r.Uncalled, ", ")),
	})
}
