package secrets

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// No text makes Redact look again and again: each keyword in a row, and tokens of
// equal length without anything between them, where the last is found because the text
// ends there, and then the last but one because of what stands in its place.
func TestRedactTakesFewRounds(t *testing.T) {
	size := 20_000
	if raceEnabled {
		size = 2_000
	}
	texts := map[string]string{}
	for _, k := range engine().keys {
		texts[k.text] = strings.Repeat(k.text, 1+size/len(k.text))
		texts[k.text+" on lines"] = strings.Repeat(strings.Repeat(k.text, 1+200/len(k.text))+"\n", size/200)
	}
	for _, r := range Rules() {
		for i, e := range r.Fire {
			secret := e.Text[e.Start:e.End]
			texts[fmt.Sprint(r.ID, " ", i)] = strings.Repeat(secret, 1+size/len(secret))
		}
	}
	for name, text := range texts {
		rounds := 0
		clean := text
		for ; rounds < 20; rounds++ {
			spans := Find(clean)
			if spans == nil {
				break
			}
			if rounds >= patience {
				spans = wholeLines(clean, spans)
			}
			clean = replace(clean, spans, nil)
		}
		if rounds > patience+2 {
			t.Errorf("%s: more than %d rounds", name, rounds)
		}
		begun := time.Now()
		if got, _ := Redact(Text{Raw: text}, false, nil); got != clean {
			t.Errorf("%s: Redact says otherwise", name)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%s: %v for %d bytes", name, took, len(text))
		}
	}
}
