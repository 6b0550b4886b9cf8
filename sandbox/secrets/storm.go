package secrets

import "mcp-devserver/sandbox/internal/keywords"

// Where a text is little but keywords, no rule is asked about them: see keywords.Storm.
// All of the stretch is hidden instead, under a rule of its own, and with it what the
// last of these keywords could have begun. Blocks, which may be longer than that, are
// found all the same.
const stormTail = 2 * longest

// calm hides the storms of the text.
func (f *finder) calm(storms []keywords.Storm) {
	for _, st := range storms {
		f.spans = append(f.spans, Span{st.From, min(len(f.s), st.To+stormTail), ruleStorm})
	}
}
