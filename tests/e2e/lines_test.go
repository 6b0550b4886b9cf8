package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

const (
	revision = "2026-07-28"
	version  = `"io.modelcontextprotocol/protocolVersion":"` + revision + `"`
	capable  = `"io.modelcontextprotocol/clientCapabilities":{}`
	envelope = `"_meta":{` + version + `,` + capable + `}`
)

// request writes a request; id is JSON, params the members beside _meta.
func request(id, method, params string) string {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, params, envelope)
}

// with writes a request whose _meta holds further members.
func with(id, method, params, meta string) string {
	return strings.Replace(request(id, method, params), capable, capable+","+meta, 1)
}

func discover(id string) string { return request(id, "server/discover", "") }

// call writes a call of a tool; args is JSON.
func call(id, tool, args string) string {
	return request(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args))
}

func cancelled(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"test"}}`, id)
}

var nonce = regexp.MustCompile(`"nonce":"([0-9a-f]{16})"`)

// masked replaces the nonce of a message wherever it stands.
func masked(raw string) string {
	if m := nonce.FindStringSubmatch(raw); m != nil {
		return strings.ReplaceAll(raw, m[1], "0000000000000000")
	}
	return raw
}

// result is what tools/call returns.
type result struct {
	ResultType string         `json:"resultType"`
	Structured map[string]any `json:"structuredContent"`
	IsError    bool           `json:"isError"`
}

// denial returns the code of a denial, "" when the message is none.
func (m *message) denial() string {
	var r result
	if m.Result == nil || json.Unmarshal(m.Result, &r) != nil || !r.IsError {
		return ""
	}
	code, _ := r.Structured["error"].(string)
	return code
}
