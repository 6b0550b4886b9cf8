package stages

import (
	"strings"
	"unicode/utf8"

	"mcp-devserver/stages/internal/schema"
	"mcp-devserver/stages/wire"
)

// longest is what clients are sure to show of an error message: one line of this many characters.
const longest = 200

// badArguments is the one place that decides how arguments that break a published schema are answered: as -32602, with a message
// that is enough to call again correctly, since most clients pass on nothing else.
func badArguments(tool string, input *schema.Schema, found []schema.Violation) *wire.Error {
	first := found[0]
	head := "Invalid arguments for " + tool + ": "
	var e *wire.Error
	switch {
	case first.Keyword == "additionalProperties":
		tail := " is not accepted."
		if first.Near != "" {
			tail = ` is not accepted; did you mean "` + first.Near + `"?`
		}
		tail += " Accepted: "
		room := longest - len(head) - min(utf8.RuneCountInString(first.Name), 40) - 2 - len(tail)
		e = wire.Refuse(wire.FaultArguments, head+`"`, wire.Caller(first.Name), `"`+tail+fit(first.Accepted, room)+".")
	case first.Keyword == "required":
		e = wire.Refuse(wire.FaultArguments, head+`"`+first.Detail+`" is required.`)
	case first.Pointer == "":
		found[0].Accepted = input.Names()
		tail := "the arguments " + first.Detail + ". Accepted: "
		e = wire.Refuse(wire.FaultArguments, head+tail+fit(input.Names(), longest-len(head)-len(tail)-1)+".")
	default:
		e = wire.Refuse(wire.FaultArguments, head+`"`+strings.TrimPrefix(first.Pointer, "/")+`" `+first.Detail+".")
	}
	return e.With("tool", tool).With("violations", violations(found)).With("remedy", "Send arguments that fit the tool's inputSchema.")
}

func violations(found []schema.Violation) []wire.Object {
	out := make([]wire.Object, 0, len(found))
	for _, v := range found {
		o := wire.Object{{Name: "pointer", Value: v.Pointer}, {Name: "keyword", Value: v.Keyword}, {Name: "detail", Value: v.Detail}}
		if v.Keyword == "additionalProperties" {
			o[2].Value = wire.Caller(v.Name)
		}
		if v.Accepted != nil {
			o = append(o, wire.Member{Name: "accepted", Value: v.Accepted})
		}
		if v.Near != "" {
			o = append(o, wire.Member{Name: "did_you_mean", Value: v.Near})
		}
		out = append(out, o)
	}
	return out
}

// fit joins as many names as room holds and says so when some are left out; data.violations names them all.
func fit(names []string, room int) string {
	all := strings.Join(names, ", ")
	if len(all) <= room {
		return all
	}
	used := ""
	for _, n := range names {
		if len(used)+len(n)+2+len("…") > room {
			break
		}
		used += n + ", "
	}
	return used + "…"
}
