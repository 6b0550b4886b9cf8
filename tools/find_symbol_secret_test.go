package tools_test

import (
	"strings"
	"testing"

	"mcp-devserver/tools/internal/tooltest"
)

// TestSignatureCountsASecretOnce: a signature is brought onto one line, and a
// key block in it is still one secret.
func TestSignatureCountsASecretOnce(t *testing.T) {
	f := tooltest.New(t, "")
	line := strings.Repeat("MIIEowIBAAKCAQEA", 4) + "\n"
	f.Write("a.go", []byte("package a\n\nvar pem = `-----BEGIN RSA PRIVATE"+" KEY-----\n"+line+line+line+"-----END RSA PRIVATE"+" KEY-----`\n"))
	r := f.Call("find_symbol", `{"path":"a.go"}`)
	if r.Redactions["private-key"] != 1 || len(r.Redactions) != 1 {
		t.Errorf("redactions %v", r.Redactions)
	}
}
