package wire

import (
	"strings"
	"testing"
)

func TestFaultTable(t *testing.T) {
	allowed := map[Code]bool{ParseError: true, InvalidRequest: true, MethodNotFound: true, InvalidParams: true, InternalError: true,
		HeaderMismatch: true, MissingClientCapability: true, UnsupportedProtocolVersion: true}
	names := map[string]bool{}
	used := map[Code]bool{}
	for i, f := range Faults() {
		if f.Fault != Fault(i) {
			t.Errorf("row %d holds fault %d", i, f.Fault)
		}
		if !allowed[f.Code] {
			t.Errorf("%s: code %d is not one of this revision", f.Name, f.Code)
		}
		if f.Code <= -32000 && f.Code >= -32019 || f.Code == -32002 || f.Code == -32042 {
			t.Errorf("%s: code %d is withdrawn or reserved", f.Name, f.Code)
		}
		if names[f.Name] || f.Name == "" {
			t.Errorf("name %q is empty or taken", f.Name)
		}
		names[f.Name], used[f.Code] = true, true
		switch f.Status {
		case 200, 400, 404:
		default:
			t.Errorf("%s: status %d", f.Name, f.Status)
		}
		if (f.Code == MethodNotFound) != (f.Status == 404) {
			t.Errorf("%s: status %d with code %d", f.Name, f.Status, f.Code)
		}
		if f.Section == "" || f.Example == "" || len(f.Example) > 200 || strings.ContainsAny(f.Example, "\r\n") {
			t.Errorf("%s: section %q, example %q", f.Name, f.Section, f.Example)
		}
		if f.Fault.Code() != f.Code || f.Fault.Status() != f.Status || f.Fault.String() != f.Name || f.Fault.Info() != f {
			t.Errorf("%s: accessors disagree with the row", f.Name)
		}
	}
	if len(used) != len(allowed) {
		t.Errorf("%d codes have a row, %d are defined", len(used), len(allowed))
	}
}

func TestErrorHidesCallerText(t *testing.T) {
	e := Refuse(FaultMethod, "Method not found: ", Caller("hunter2")).With("supported", Served())
	if s := e.Error(); strings.Contains(s, "hunter2") || s != "method_not_found: Method not found: …" {
		t.Error(s)
	}
	if len(e.Data) != 1 || e.Data[0].Name != "supported" {
		t.Error(e.Data)
	}
}

func TestToken(t *testing.T) {
	for raw, want := range map[string]bool{
		`"a"`: true, `""`: true, `0`: true, `-0`: true, `7`: true, `1.0`: true, `1.50e1`: true, `10e-1`: true, `0e-9`: true, `0.0`: true,
		`1e400`: true, `1.5`: false, `1e-1`: false, `0.1e-99999999999999999999`: false, `1e99999999999999999999`: true,
		`true`: false, `null`: false, `[]`: false, `{}`: false, ``: false,
		strings.Repeat("1", MaxToken): true, strings.Repeat("1", MaxToken+1): false,
	} {
		if got := Token([]byte(raw)); got != want {
			t.Errorf("%.40s: %v", raw, got)
		}
	}
}

func TestIDKey(t *testing.T) {
	same := [][2]string{{`1`, `1.0`}, {`100`, `1e2`}, {`0`, `-0`}, {`0`, `0.0e5`}, {`"a"`, `"\u0061"`}, {`-20`, `-2e1`}, {`120`, `1.20E+2`}, {`12`, `120e-1`}}
	for _, p := range same {
		if a, b := ID(p[0]).Key(), ID(p[1]).Key(); a != b || a == "" {
			t.Errorf("%s and %s: %q and %q", p[0], p[1], a, b)
		}
	}
	differ := [][2]string{{`1`, `"1"`}, {`1`, `10`}, {`1`, `-1`}, {`9007199254740993`, `9007199254740992`}, {`"a"`, `"A"`}, {`0`, `""`}}
	for _, p := range differ {
		if ID(p[0]).Key() == ID(p[1]).Key() {
			t.Errorf("%s and %s share a key", p[0], p[1])
		}
	}
	if ID(nil).Key() != "" {
		t.Error("no id has a key")
	}
}

func TestInteger(t *testing.T) {
	for raw, want := range map[string]string{`12`: "12", `12.0`: "12", `-3`: "-3", `1e3`: "1000", `0`: "0", `-0.0`: "0", `1.5`: "", `1e99`: "", `"1"`: "", `true`: ""} {
		got, ok := Integer([]byte(raw), 15)
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", raw, got, ok)
		}
	}
}

func TestReserved(t *testing.T) {
	for key, want := range map[string]bool{
		"io.modelcontextprotocol/x": true, "dev.mcp/trace": true, "org.mcp.sub/x": true, "com.modelcontextprotocol.a/x": true,
		"mcp/x": false, "modelcontextprotocol/x": false, "com.example.mcp/x": false, "io.mcpx/x": false, "io.MCP/x": false,
		"io.mcp": false, "traceparent": false, "": false, "/": false, ".mcp/x": true, "a.mcp/": true,
	} {
		if got := Reserved(key); got != want {
			t.Errorf("%q: %v", key, got)
		}
	}
	for _, key := range []string{KeyVersion, KeyCapabilities, KeyClientInfo, KeyLogLevel, KeyServerInfo, KeySubscriptionID} {
		if !Defined(key) || !Reserved(key) || !strings.HasPrefix(key, OwnPrefix) {
			t.Errorf("%q", key)
		}
	}
	if Defined("io.modelcontextprotocol/tasks") {
		t.Error("an extension's key counts as defined")
	}
}

func TestDecodeMeta(t *testing.T) {
	m, ok := DecodeMeta([]byte(`{"io.modelcontextprotocol/protocolVersion":"v","io.modelcontextprotocol/clientCapabilities":{"extensions":{"x/y":{}}},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"ed","version":"1"},"io.modelcontextprotocol/logLevel":"info","progressToken":0,` +
		`"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","io.modelcontextprotocol/task":1,"dev.mcp/a":1,"com.example/b":{},"x":1}`))
	if !ok || string(m.Version) != `"v"` || !m.Extensions || m.Client != "ed" || string(m.LogLevel) != `"info"` || string(m.ProgressToken) != "0" ||
		m.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || m.Foreign != "io.modelcontextprotocol/task" || m.Outside != "dev.mcp/a" {
		t.Errorf("%+v", m)
	}
	for _, in := range []string{`[]`, `null`, `5`, `"x"`, ``} {
		if _, ok := DecodeMeta([]byte(in)); ok {
			t.Errorf("%s was taken for an object", in)
		}
	}
	for _, in := range []string{
		`{"io.modelcontextprotocol/clientInfo":5}`, `{"io.modelcontextprotocol/clientInfo":{"name":"a\u001b[31m"}}`,
		`{"io.modelcontextprotocol/clientInfo":{"name":"` + strings.Repeat("x", 65) + `"}}`, `{"io.modelcontextprotocol/clientInfo":{"name":7}}`,
	} {
		if m, ok := DecodeMeta([]byte(in)); !ok || m.Client != "" {
			t.Errorf("%s: %+v", in, m)
		}
	}
	if m, _ := DecodeMeta([]byte(`{"io.modelcontextprotocol/clientCapabilities":{"extensions":{}}}`)); m.Extensions {
		t.Error("an empty extensions object declares something")
	}
}

func TestTraceID(t *testing.T) {
	good := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	if traceID(good) == "" || traceID("01"+good[2:]+"-more") == "" {
		t.Error("a good one is refused")
	}
	for _, s := range []string{"", "garbage", good[:54], good + "-x", "ff" + good[2:], strings.ToUpper(good),
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"} {
		if got := traceID(s); got != "" {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func TestDecodeHeader(t *testing.T) {
	cases := []struct {
		in, out string
		ok      bool
	}{
		{"read_file", "read_file", true},
		{"  read_file\t", "read_file", true},
		{"=?base64?cmVhZF9maWxl?=", "read_file", true},
		{"=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界", true},
		{"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?=", true},
		{"=?base64??=", "", true},
		{"=?BASE64?cmVhZF9maWxl?=", "=?BASE64?cmVhZF9maWxl?=", true},
		{"=?base64?=", "=?base64?=", true},
		{"=?base64?cmVhZF9maWxl", "=?base64?cmVhZF9maWxl", true},
		{"=?base64?cmVhZF9maWxl=?=", "", false},
		{"=?base64?!!!?=", "", false},
		{"=?base64?/w==?=", "", false},
		{"=?base64?QQ=?=", "", false},
		{"=?base64?QR==?=", "", false},
		{"re\x00ad", "", false},
		{"ünï", "", false},
		{"", "", true},
	}
	for _, c := range cases {
		if s, ok := DecodeHeader(c.in); s != c.out || ok != c.ok {
			t.Errorf("%q: %q, %v", c.in, s, ok)
		}
	}
}

func TestMethods(t *testing.T) {
	if len(Served()) != 1 || Served()[0] != Revision || len(Methods()) != 4 {
		t.Error(Served(), Methods())
	}
	if !strings.Contains(InitializeMessage, Revision) || len(InitializeMessage) > 200 {
		t.Error(len(InitializeMessage))
	}
	for _, l := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		if !LogLevel(l) {
			t.Error(l)
		}
	}
	if LogLevel("loud") || LogLevel("") || LogLevel("INFO") {
		t.Error("an unknown level passes")
	}
}
