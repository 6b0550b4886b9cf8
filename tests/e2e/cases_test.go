package e2e

import (
	"fmt"
	"strings"
)

// probe is one message and what must come back, on every transport.
type probe struct {
	name   string
	line   string
	id     string   // of the answer, as JSON; "" when it must have none
	code   int      // of an error, 0 for a result
	status int      // of the answer over HTTP
	denial string   // code of a denial
	count  int      // messages that come back
	has    []string // all of this is in the last message
}

// good is a request with id 7 that is answered with a result.
func good(name, line string, has ...string) probe {
	return probe{name: name, line: line, id: "7", status: 200, count: 1, has: has}
}

// tool is a call that succeeds.
func tool(name, tool, args string, has ...string) probe {
	return good(name, call("7", tool, args), has...)
}

// denied is a call that is refused with a result.
func denied(name, tool, args, code string, has ...string) probe {
	p := good(name, call("7", tool, args), append(has, `"isError":true`, `"remedy":"`)...)
	p.denial = code
	return p
}

// bad is a message that is answered with an error.
func bad(name, line, id string, code, status int, has ...string) probe {
	return probe{name: name, line: line, id: id, code: code, status: status, count: 1, has: has}
}

// silent is a notification.
func silent(name, line string) probe { return probe{name: name, line: line, status: 202} }

func probes() []probe {
	var all []probe
	for _, list := range [][]probe{framing(), ids(), envelopes(), versions(), methods(), params(), answers(), denials()} {
		all = append(all, list...)
	}
	return all
}

// framing: what is no request at all.
func framing() []probe {
	list := []probe{
		bad("not JSON", `{"jsonrpc":`, "", -32700, 400),
		bad("words", `hello?`, "", -32700, 400),
		bad("nothing but a NUL", "\x00", "", -32700, 400),
		bad("single quotes", `{'jsonrpc':'2.0'}`, "", -32700, 400),
		bad("a comma too many", `{"jsonrpc":"2.0","id":7,"method":"server/discover",}`, "", -32700, 400),
		bad("text behind the value", discover("7")+" x", "", -32700, 400),
		bad("two values on a line", discover("7")+discover("8"), "", -32700, 400),
		bad("NaN", `{"jsonrpc":"2.0","id":NaN,"method":"x"}`, "", -32700, 400),
		bad("bytes that are not UTF-8", "\xff\xfe", "", -32700, 400),
		bad("one such byte in a path", call("7", "read_file", "{\"path\":\"a\xffb\"}"), "", -32700, 400),
		bad("half a surrogate pair", call("7", "read_file", `{"path":"\ud800"}`), "", -32700, 400),
		bad("a raw tab in a string", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"server/\tdiscover\"}", "", -32700, 400),
		bad("an empty batch", `[]`, "", -32600, 400, "batches"),
		bad("a batch", `[`+discover("7")+`]`, "", -32600, 400, "batches"),
		bad("a batch of two", `[`+discover("7")+`,`+discover("8")+`]`, "", -32600, 400, "batches"),
		bad("a string", `"str"`, "", -32600, 400),
		bad("a number", `42`, "", -32600, 400),
		bad("null", `null`, "", -32600, 400),
		bad("an empty object", `{}`, "", -32600, 400),
		bad("no method", `{"jsonrpc":"2.0","id":7}`, "7", -32600, 400, "method"),
		bad("a method that is no string", `{"jsonrpc":"2.0","id":7,"method":5}`, "7", -32600, 400, "method"),
		bad("no jsonrpc", `{"id":99,"method":"x"}`, "99", -32600, 400, "jsonrpc"),
		bad("jsonrpc 1.0", strings.Replace(discover("7"), `"2.0"`, `"1.0"`, 1), "7", -32600, 400, "jsonrpc"),
		bad("jsonrpc as a number", strings.Replace(discover("7"), `"2.0"`, `2.0`, 1), "7", -32600, 400, "jsonrpc"),
		bad("a response", `{"jsonrpc":"2.0","id":5,"result":{}}`, "", -32600, 400, "responses"),
		bad("an error response", `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`, "", -32600, 400, "responses"),
		bad("a response with a method", `{"jsonrpc":"2.0","id":5,"method":"server/discover","result":{}}`, "", -32600, 400, "responses"),
		bad("the same name twice", `{"jsonrpc":"2.0","id":7,"method":"server/discover","method":"tools/list"}`, "7", -32600, 400, "twice"),
		bad("the same name twice, one escaped", `{"jsonrpc":"2.0","id":7,"method":"server/discover","m\u0065thod":"tools/list"}`, "7", -32600, 400, "twice"),
		bad("two ids", `{"jsonrpc":"2.0","id":7,"id":8,"method":"server/discover"}`, "", -32600, 400, "twice"),
		bad("two names of tools", request("7", "tools/call", `"name":"read_file","name":"git_log"`), "7", -32600, 400, "twice"),
		bad("two paths", call("7", "read_file", `{"path":"README.md","path":"main.go"}`), "7", -32600, 400, "twice"),
		bad("nesting beyond the limit", request("7", "server/discover", `"x":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)), "7", -32600, 400, "nests"),
		bad("nesting far beyond it", strings.Repeat("[", 20000)+strings.Repeat("]", 20000), "", -32600, 400),
		// Names in other spellings are other names: the method is missing.
		bad("METHOD", `{"jsonrpc":"2.0","id":7,"METHOD":"server/discover"}`, "7", -32600, 400),
		bad("a method with a NUL in its name", `{"jsonrpc":"2.0","id":7,"method\u0000":"server/discover"}`, "7", -32600, 400),
		good("Method beside method", strings.Replace(discover("7"), `"params"`, `"Method":"tools/list","params"`, 1), `"supportedVersions"`),
		good("white space around", " \t"+discover("7")+" \t", `"supportedVersions"`),
		silent("a notification", `{"jsonrpc":"2.0","method":"notifications/xyz"}`),
		silent("a notification of another kind", `{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		silent("a notification named like a request", `{"jsonrpc":"2.0","method":"server/discover"}`),
		silent("a cancellation of nothing", cancelled("999")),
		silent("a cancellation without an id", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`),
		silent("a cancellation of an object", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`),
		silent("a cancellation without params", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`),
		silent("a cancellation of a response", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}`),
	}
	for _, id := range []string{"null", "1.5", "true", "[]", "{}", "-0.1", "1e-1"} {
		list = append(list, bad("id "+id, discover(id), "", -32600, 400, "id must be"))
	}
	return append(list, bad("a long id", discover(`"`+strings.Repeat("x", 2000)+`"`), "", -32600, 400, "id is longer"))
}

// ids come back byte for byte.
func ids() (list []probe) {
	for _, id := range []string{"0", "-5", `"0"`, `""`, "9007199254740993", `"ünï"`, `"a\u0062c"`, `"\"\\\n"`, "123456789012345678901234567890", "1.0", "1e2"} {
		list = append(list, probe{name: "id " + id, line: discover(id), id: id, status: 200, count: 1, has: []string{`"supportedVersions"`}})
	}
	return list
}

func replace(old, now string) string { return strings.Replace(discover("7"), old, now, 1) }

// envelopes: params._meta and what belongs into it.
func envelopes() []probe {
	list := []probe{
		bad("no params", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, "7", -32602, 400, `"field":"params"`),
		bad("params is an array", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}`, "7", -32602, 400, `"field":"params"`),
		bad("no _meta", `{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{}}`, "7", -32602, 400, `"field":"_meta"`),
		bad("_meta is an array", `{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":[]}}`, "7", -32602, 400, `"field":"_meta"`),
		bad("_meta is empty", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{}}}`, "7", -32602, 400, `protocolVersion`),
		bad("no version", replace(version+",", ""), "7", -32602, 400, `protocolVersion`),
		bad("the version is a number", replace(version, `"io.modelcontextprotocol/protocolVersion":7`), "7", -32602, 400, `protocolVersion`),
		bad("no capabilities", replace(","+capable, ""), "7", -32602, 400, `clientCapabilities`),
		bad("an unknown method without an envelope", `{"jsonrpc":"2.0","id":7,"method":"foo/bar","params":{}}`, "7", -32602, 400),
		bad("a key with a reserved prefix", with("7", "server/discover", "", `"dev.mcp/trace":1`), "7", -32602, 400, `"key":"dev.mcp/trace"`),
		bad("another one", with("7", "server/discover", "", `"io.modelcontextprotocol/unheard":1`), "7", -32602, 400, `"key":"io.modelcontextprotocol/unheard"`),
		bad("a log level that is none", with("7", "server/discover", "", `"io.modelcontextprotocol/logLevel":"loud"`), "7", -32602, 400, "logLevel"),
		bad("a log level that is a number", with("7", "server/discover", "", `"io.modelcontextprotocol/logLevel":3`), "7", -32602, 400, "logLevel"),
		bad("a progress token that is an object", with("7", "server/discover", "", `"progressToken":{}`), "7", -32602, 400, "progressToken"),
		bad("a progress token that is null", with("7", "server/discover", "", `"progressToken":null`), "7", -32602, 400, "progressToken"),
		good("keys that only look reserved", with("7", "server/discover", "", `"mcp/x":1,"com.example.mcp/x":2,"mcp":3`)),
		good("a key of a declared extension", strings.Replace(with("7", "server/discover", "", `"io.modelcontextprotocol/unheard":1`), capable,
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)),
		good("capabilities of a vendor", replace(capable, `"io.modelcontextprotocol/clientCapabilities":{"vendor/x":{}}`)),
		good("a log level", with("7", "server/discover", "", `"io.modelcontextprotocol/logLevel":"debug"`)),
		good("a progress token", with("7", "server/discover", "", `"progressToken":"p"`)),
		good("a client that tells its name", with("7", "server/discover", "", `"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}`)),
		good("a client that tells nonsense", with("7", "server/discover", "", `"io.modelcontextprotocol/clientInfo":[1,2]`)),
		good("a client that tells a great deal", with("7", "server/discover", "", `"io.modelcontextprotocol/clientInfo":{"name":"`+strings.Repeat("n", 5000)+`"}`)),
		good("a trace", with("7", "server/discover", "", `"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`)),
		good("a trace that is garbage", with("7", "server/discover", "", `"traceparent":"\u0000-garbage","tracestate":7,"baggage":{}`)),
	}
	for _, v := range []string{"1", `"x"`, "[]", "null"} {
		list = append(list, bad("capabilities "+v, replace(capable, `"io.modelcontextprotocol/clientCapabilities":`+v), "7", -32602, 400, "clientCapabilities"))
	}
	return list
}

// versions: one is served, whatever the method.
func versions() (list []probe) {
	supported := `"supported":["` + revision + `"]`
	for _, v := range []string{"v999.0.0", "2025-11-25", "2026-07-29", "2099-01-01", "2026-7-28", ""} {
		list = append(list, bad("version "+v, strings.Replace(discover("7"), revision, v, 1), "7", -32022, 400, supported, fmt.Sprintf(`"requested":%q`, v)))
	}
	return append(list,
		bad("an unknown method at another version", strings.Replace(request("7", "foo/bar", ""), revision, "2025-11-25", 1), "7", -32022, 400, supported),
		bad("another version, no capabilities", strings.Replace(replace(","+capable, ""), revision, "2025-11-25", 1), "7", -32022, 400, supported),
		bad("the handshake of earlier revisions",
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			"0", -32022, 400, supported, `"requested":"2025-11-25"`, revision),
		bad("the handshake without a version", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`, "0", -32022, 400, supported, `"requested":""`),
		bad("the handshake in a modern envelope", request("7", "initialize", ""), "7", -32601, 404, supported),
	)
}

// methods that are not served.
func methods() (list []probe) {
	for _, m := range []string{
		"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "resources/list",
		"resources/read", "resources/templates/list", "completion/complete", "tasks/get", "foo/bar", "", "tools/List", "initialized",
	} {
		list = append(list, bad("method "+m, request("7", m, ""), "7", -32601, 404, "Method not found"))
	}
	return append(list, bad("a method with a backslash in it", request("7", `\u001b[31m`, ""), "7", -32601, 404))
}

// params of the methods that are served.
func params() []probe {
	list := []probe{
		bad("an unknown tool", call("7", "write_file", `{}`), "7", -32602, 200, `"available":["project_overview"`),
		bad("a tool in capitals", call("7", "READ_FILE", `{"path":"README.md"}`), "7", -32602, 200, "Unknown tool"),
		bad("no name", request("7", "tools/call", ""), "7", -32602, 200, "name must be a string"),
		bad("a name that is a number", request("7", "tools/call", `"name":5`), "7", -32602, 200, "name must be a string"),
		bad("arguments that are an array", call("7", "read_file", `[]`), "7", -32602, 200),
		bad("arguments that are a number", call("7", "read_file", `5`), "7", -32602, 200),
		bad("an argument that is missing", call("7", "read_file", `{}`), "7", -32602, 200, `"keyword":"required"`, `"remedy"`),
		bad("null for arguments means none", call("7", "read_file", `null`), "7", -32602, 200, `"keyword":"required"`),
		bad("an argument that is not known", call("7", "read_file", `{"file_path":"README.md"}`), "7", -32602, 200, `did you mean \"path\"?`, `"did_you_mean":"path"`),
		bad("a name of an argument in another case", call("7", "read_file", `{"path":"README.md","PATH":"main.go"}`), "7", -32602, 200, `PATH`),
		bad("an argument of another type", call("7", "read_file", `{"path":{}}`), "7", -32602, 200, `"pointer":"/path"`),
		bad("a number out of range", call("7", "read_file", `{"path":"README.md","start_line":0}`), "7", -32602, 200, `"keyword":"minimum"`),
		bad("a word that is none of those", call("7", "search_code", `{"pattern":"x","output_mode":"loud"}`), "7", -32602, 200, `"keyword":"enum"`),
		bad("an empty path", call("7", "read_file", `{"path":""}`), "7", -32602, 200, `"keyword":"minLength"`),
		bad("inputResponses null", request("7", "tools/call", `"name":"read_file","arguments":{"path":"README.md"},"inputResponses":null`), "7", -32602, 200),
		bad("requestState as an object", request("7", "tools/call", `"name":"read_file","arguments":{"path":"README.md"},"requestState":{}`), "7", -32602, 200),
		good("state and answers that nobody asked for", request("7", "tools/call", `"name":"read_file","arguments":{"path":"go.mod"},"requestState":"x","inputResponses":{}`), "example.com/atelier"),
		good("members that nobody knows", request("7", "tools/call", `"name":"read_file","arguments":{"path":"go.mod"},"x":1,"Arguments":{"path":"main.go"}`), "example.com/atelier"),
		good("no arguments", request("7", "tools/call", `"name":"list_directory"`), "README.md"),
		bad("listen without a filter", request("7", "subscriptions/listen", ""), "7", -32602, 200, "notifications"),
		bad("listen with a faulty filter", request("7", "subscriptions/listen", `"notifications":{"toolsListChanged":"yes"}`), "7", -32602, 200, "toolsListChanged"),
	}
	for _, c := range []string{`"garbage"`, `""`, "null", "5"} {
		list = append(list, bad("cursor "+c, request("7", "tools/list", `"cursor":`+c), "7", -32602, 200, "cursor"))
	}
	for _, id := range []string{"7", `"L1"`} {
		list = append(list, probe{
			name: "listen as " + id, line: request(id, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///x"]}`),
			id: id, status: 200, count: 2, has: []string{`"io.modelcontextprotocol/subscriptionId":` + id},
		})
	}
	return list
}

// answers of all the tools.
func answers() []probe {
	return []probe{
		good("discover", discover("7"), `"supportedVersions":["2026-07-28"]`, `"capabilities":{"tools":{}}`, `"ttlMs":`, `"cacheScope":"public"`),
		good("list", request("7", "tools/list", ""), `"name":"project_overview"`, `"name":"git_diff"`, `"ttlMs":`, `"cacheScope":"public"`),
		tool("overview", "project_overview", `{}`, "go.mod", `"complete":true`),
		tool("a listing", "list_directory", `{}`, `.env (denied)`, `server/`),
		tool("a listing by glob", "list_directory", `{"glob":"**/*.go"}`, "server/server.go"),
		tool("a listing in detail", "list_directory", `{"details":true,"sort":"size"}`, `"type":"symlink"`, `"state":"outside"`, `"state":"broken"`),
		tool("a listing in pages", "list_directory", `{"limit":3}`, `"next":{"tool":"list_directory"`),
		tool("a search", "search_code", `{"pattern":"func \\(s \\*Server\\) \\w+"}`, "server/server.go", "Start"),
		tool("a search for text", "search_code", `{"pattern":"(addr string)","literal":true}`, "server/server.go"),
		tool("a search for paths", "search_code", `{"pattern":"package","output_mode":"files_with_matches"}`, "main.go"),
		tool("a search that counts", "search_code", `{"pattern":"line \\d+","output_mode":"count"}`, "long.txt", "5000"),
		tool("a search that finds nothing", "search_code", `{"pattern":"zebra crossing"}`, `"matches":0`),
		tool("a search for a secret", "search_code", `{"pattern":"9Xq2mVt7"}`, `"matches":0`),
		tool("a symbol", "find_symbol", `{"name":"Server.Start"}`, "server/server.go", `"complete":true`),
		tool("a symbol of another language", "find_symbol", `{"name":"Tool","include_body":true}`, "scripts/tool.py", "class Tool"),
		tool("an outline", "find_symbol", `{"path":"server/server.go"}`, "New", "listen"),
		tool("references", "find_symbol", `{"name":"listen","role":"references"}`, "server/server.go"),
		tool("a file", "read_file", `{"path":"server/server.go"}`, "Package server answers requests.", `"risk":"none"`),
		tool("a range", "read_file", `{"path":"long.txt","start_line":4999,"end_line":5000}`, "line 4999 of many", `"complete":true`),
		tool("a range in strings", "read_file", `{"path":"long.txt","start_line":"2","end_line":"3"}`, "line 2 of many"),
		tool("the end", "read_file", `{"path":"long.txt","tail":1}`, "line 5000 of many"),
		tool("a long file", "read_file", `{"path":"long.txt"}`, `"next":{"tool":"read_file"`, `"complete":false`),
		tool("bare lines", "read_file", `{"path":"go.mod","line_numbers":false}`, "module example.com/atelier"),
		tool("a file with a space", "read_file", `{"path":"spaced folder/a b.txt"}`, "spaced"),
		tool("a file beyond ASCII", "read_file", `{"path":"ünï.txt"}`, "zürich"),
		tool("an empty file", "read_file", `{"path":"empty.txt"}`, `"total_lines":0`),
		tool("a file of another system", "read_file", `{"path":"crlf.txt"}`, `"line_ending":"crlf"`),
		tool("a file that is not UTF-8", "read_file", `{"path":"latin1.txt"}`, `"lossy":true`),
		tool("a file through a link", "read_file", `{"path":"inside.md"}`, "Atelier"),
		tool("a file by an absolute path", "read_file", fmt.Sprintf(`{"path":%q}`, workspace+"/go.mod"), "module example.com/atelier"),
		tool("a file at a commit", "read_file", `{"path":"main.go","revision":"v1.0.0"}`, "package main"),
		tool("a file with a secret", "read_file", `{"path":"config/app.yml"}`, "redacted", `"redactions":[{`),
		tool("a file with an instruction", "read_file", `{"path":"docs/notes.md"}`, "Ignore all previous instructions", `"signals":[{"id":"INJ`),
		tool("a file that may be shown", "read_file", `{"path":".env.example"}`, "KEY="),
		tool("commits", "git_log", `{}`, "Let the server stop", "Add what readers stumble over", "Begin"),
		tool("commits of a path", "git_log", `{"path":"server"}`, "Let the server stop", "Begin"),
		tool("one commit", "git_log", `{"limit":1}`, "Let the server stop", `"next":{"tool":"git_log"`),
		tool("the working tree", "git_diff", `{}`, "Unstaged words."),
		tool("what is staged", "git_diff", `{"staged":true}`, "Staged words."),
		tool("two commits", "git_diff", `{"base":"v1.0.0","head":"main"}`, "server/server.go"),
	}
}

// denials: every one says what would work.
func denials() []probe {
	list := []probe{
		denied("a folder", "read_file", `{"path":"server"}`, "is_a_directory"),
		denied("a file that is not there", "read_file", `{"path":"servr/server.go"}`, "not_found"),
		denied("a binary file", "read_file", `{"path":"picture.gif"}`, "binary_file"),
		denied("a range that ends before it begins", "read_file", `{"path":"go.mod","start_line":3,"end_line":2}`, "invalid_range"),
		denied("a range past the end", "read_file", `{"path":"go.mod","start_line":400}`, "invalid_range"),
		denied("arguments that do not go together", "read_file", `{"path":"go.mod","tail":1,"start_line":1}`, "invalid_combination"),
		denied("a revision that is not there", "read_file", `{"path":"go.mod","revision":"nowhere"}`, "unknown_revision"),
		denied("a revision that is an option", "git_diff", `{"base":"--output=x"}`, "invalid_revision"),
		denied("a listing of a file", "list_directory", `{"path":"go.mod"}`, "not_a_directory"),
		denied("a glob that is none", "list_directory", `{"glob":"{a"}`, "invalid_glob"),
		denied("a pattern that is none", "search_code", `{"pattern":"(a"}`, "invalid_pattern"),
		denied("a pattern that explodes", "search_code", `{"pattern":"(a+)+b"}`, "unsafe_pattern"),
		denied("a symbol without a name", "find_symbol", `{}`, "missing_name"),
	}
	for _, path := range []string{"../x", "../atelier-2/x", "server/../../x", "/etc/passwd", "outside/passwd", "outside", "..", "/", "server/../../atelier/../x"} {
		list = append(list, denied("path "+path, "read_file", fmt.Sprintf(`{"path":%q}`, path), "outside_workspace", "atelier/"))
	}
	for _, path := range []string{".env", ".git/config", ".git", ".GIT/HEAD", "server/.git/x", ".ssh/id_rsa", "./.env", "server/../.env"} {
		list = append(list, denied("path "+path, "read_file", fmt.Sprintf(`{"path":%q}`, path), "denied_path"))
	}
	return append(list,
		denied("a path with a NUL", "read_file", `{"path":"a\u0000b"}`, "invalid_path"),
		denied("a listing outside", "list_directory", `{"path":".."}`, "outside_workspace"),
		denied("a search outside", "search_code", `{"pattern":"root","path":"/etc"}`, "outside_workspace"),
		denied("symbols outside", "find_symbol", `{"name":"x","path":"outside"}`, "outside_workspace"),
		denied("commits outside", "git_log", `{"path":"../x"}`, "outside_workspace"),
		denied("changes of a withheld file", "git_diff", `{"path":".env"}`, "denied_path"),
		denied("an overview outside", "project_overview", `{"path":"/etc"}`, "outside_workspace"),
	)
}
