package app

import (
	"context"
	"fmt"
	"strings"
)

// Probe is one attack of the server on itself.
type Probe struct {
	Trick string
	// Held reports that the attack did not get through; Saw says what came
	// back, in words of ours.
	Held bool
	Saw  string
}

// planted is a text that the rules take for a credential, in pieces so that no
// scanner takes the source for a leak.
var planted = "ghp_" + "R7xK2mQ9" + "vT4wZ8nB" + "3cF6jH1p" + "L5sD0gY4" + "aE7u"

// SelfAttack sends attacks that need no file through the whole line, over the
// real configuration. It must not serve when one got through.
func (a *App) SelfAttack(ctx context.Context) []Probe {
	a.attacking.Store(true)
	defer a.attacking.Store(false)
	var probes []Probe
	denied := func(trick, tool, args, code string) {
		probes = append(probes, a.refused(ctx, trick, tool, args, code))
	}
	denied("path that climbs out", "read_file", `{"path":"../../../../../../etc/passwd"}`, "outside_workspace")
	denied("absolute path outside", "read_file", `{"path":"/etc/passwd"}`, "outside_workspace")
	denied("folder outside, listed", "list_directory", `{"path":".."}`, "outside_workspace")
	denied("folder outside, searched", "search_code", `{"pattern":"root","path":"/etc"}`, "outside_workspace")
	for _, name := range []string{".env", ".ssh/id_rsa", ".git/config", ".GIT/config", ".aws/credentials", "x/.Env.local"} {
		denied("withheld name "+name, "read_file", fmt.Sprintf(`{"path":%q}`, name), "denied_path")
	}
	if a.config.RegexGuard {
		denied("pattern that backtracks exponentially", "search_code", `{"pattern":"(a+)+b"}`, "unsafe_pattern")
	}
	if a.config.Redact {
		p := Probe{Trick: "credential through both halves of an answer"}
		r, err := a.Call(ctx, "read_file", fmt.Sprintf(`{"path":"no/such/%s"}`, planted))
		switch {
		case err != nil:
			p.Saw = "a failure"
		case strings.Contains(string(r.Result), planted[4:20]) || strings.Contains(r.Text, planted[4:20]):
			p.Saw = "the credential"
		case !strings.Contains(r.Text, "redacted"):
			p.Saw = "no mark of redaction"
		default:
			p.Held, p.Saw = true, "redacted"
		}
		probes = append(probes, p)
	}
	return probes
}

// refused is an attack that must end in a denial with the given code.
func (a *App) refused(ctx context.Context, trick, tool, args, code string) Probe {
	p := Probe{Trick: trick}
	r, err := a.Call(ctx, tool, args)
	switch {
	case err != nil:
		p.Saw = "a failure"
	case r.Invalid:
		p.Saw = "an error of the protocol"
	case !r.Denied:
		p.Saw = "an answer"
	case !strings.Contains(string(r.Result), `"`+code+`"`) && a.config.Structured:
		p.Saw = "another denial"
	default:
		p.Held, p.Saw = true, code
	}
	return p
}
