package pipeline

import (
	"encoding/json"
	"testing"

	"mcp-devserver/pipeline/seal"
	"mcp-devserver/sandbox/answer"
)

// sealed closes {"text":s}.
func sealed(t testing.TB, s string) seal.Sealed {
	d := answer.NewDoc(new(answer.Texts))
	j := d.JSON()
	j.Object("")
	j.Word("text", answer.Word(s))
	j.End()
	v, err := seal.Seal(d, seal.Options{Status: 200})
	if err != nil {
		t.Error(err)
	}
	return v
}

func unseal(s seal.Sealed) string {
	var v struct{ Text string }
	if err := json.Unmarshal(s.Bytes(), &v); err != nil {
		return err.Error()
	}
	return v.Text
}
