package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// good answers just enough to be taken for a server of this revision.
const good = `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"tools":[],"ttlMs":0,"cacheScope":"public"}}`

// hostile servers, by trick. Each behaves for the first request, so that the
// run begins.
var hostile = map[string]func(http.ResponseWriter, *http.Request){
	"an answer without end": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		junk := bytes.Repeat([]byte(" "), 1<<20)
		for r.Context().Err() == nil {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	},
	"a stream of comments": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	},
	"a stream of notifications": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"x\":\""+strings.Repeat("y", 64<<10)+"\"}}\n\n"); err != nil {
				return
			}
		}
	},
	"values beyond counting": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","result":[`+strings.Repeat("1,", 4<<20)+`1]}`)
	},
	"nesting without end": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","result":`+strings.Repeat("[", 1<<20))
	},
	"garbage": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("\x1b[2J\xff\x00<script>alert(1)</script>"))
	},
	"big answers, each another": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","result":{"pad":"%p%s"}}`, r, strings.Repeat("x", 4<<20))
	},
	"a schema that takes for ever": func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		some := func(n int, s string) string { return "[" + strings.Repeat(s+",", n) + s + "]" }
		schema := `{"type":"object","allOf":` + some(2000, `{"$ref":"#/$defs/a"}`) + `,"$defs":{"a":{"enum":` + some(2000, "7") +
			`,"anyOf":` + some(50, `{"$ref":"#"}`) + `,"pattern":"(a{1,900}){1}"}}}`
		tool := `{"name":"t","annotations":{"readOnlyHint":true},"inputSchema":` + schema + `,"outputSchema":` + schema + `}`
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"content":[],"structuredContent":{},"tools":[%s]}}`,
			newMessage(body).id().json(), tool)
	},
	"no answer at all": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"a broken connection": func(w http.ResponseWriter, _ *http.Request) {
		panic(http.ErrAbortHandler)
	},
}

func TestHostileServers(t *testing.T) {
	for trick, attack := range hostile {
		t.Run(trick, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if n.Add(1) == 1 {
					id := newMessage(body).id()
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, good, id.json())
					return
				}
				attack(w, r)
			}))
			t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
			target, err := HTTP(s.URL, HTTPOptions{})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r, err := Run(context.Background(), target, Options{Timeout: 200 * time.Millisecond, Limit: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if r.Conformant() {
				t.Error("found conformant")
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
			for name, write := range map[string]func(io.Writer) error{"text": r.Text, "explain": r.Explain, "json": r.JSON, "junit": r.JUnit, "html": r.HTML} {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if b.Len() > 8<<20 {
					t.Errorf("%s: %d bytes", name, b.Len())
				}
				if bytes.ContainsAny(b.Bytes(), "\x1b\x00") || name == "html" && bytes.Contains(b.Bytes(), []byte("<script>alert")) {
					t.Errorf("%s carries what the server said unescaped", name)
				}
			}
		})
	}
}

// TestRedirects: an answer that points elsewhere is an answer, not an order.
func TestRedirects(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	target, err := HTTP(s.URL, HTTPOptions{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), target, Options{}); !errors.Is(err, ErrNoServer) {
		t.Errorf("%v", err)
	}
	if reached.Load() {
		t.Error("a redirect was followed")
	}
}

// TestSecretsStayOut: a report does not show what authenticates.
func TestSecretsStayOut(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=secret")
		fmt.Fprintf(w, good, newMessage(body).id().json())
	}))
	defer s.Close()
	target, err := HTTP(s.URL, HTTPOptions{Token: "secret-token", Header: []string{"Cookie: a=secret-cookie"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), target, Options{Timeout: 30 * second, Only: []string{"C001", "C172"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(r.Explain(&b), r.JSON(&b), r.HTML(&b)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "secret") {
		t.Error("a secret is shown")
	}
}

// talker is a process in this one: it gives each line of its input to answer.
func talker(answer func(line string) string) func(context.Context) (*Process, error) {
	return func(context.Context) (*Process, error) {
		in, stdin := io.Pipe()
		stdout, out := io.Pipe()
		stderr, errs := io.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer errs.Close()
			defer out.Close()
			b := make([]byte, 1<<20)
			rest := ""
			for {
				n, err := in.Read(b)
				rest += string(b[:n])
				for {
					line, more, ok := strings.Cut(rest, "\n")
					if !ok {
						break
					}
					rest = more
					if _, err := io.WriteString(out, answer(line)); err != nil {
						return
					}
				}
				if err != nil {
					return
				}
			}
		}()
		return &Process{Stdin: stdin, Stdout: stdout, Stderr: stderr, Wait: func() error { <-ended; return nil }, Kill: func() { in.Close(); stdout.Close(); stderr.Close() }}, nil
	}
}

// TestHostileProcess: a line beyond the limit is cut, and the run goes on.
func TestHostileProcess(t *testing.T) {
	n := 0
	target := Stdio("hostile", talker(func(line string) string {
		id := newMessage([]byte(line)).id()
		if n++; n == 3 {
			return strings.Repeat("x", MaxAnswer+100) + "\n" + fmt.Sprintf(good, id.json()) + "\n"
		}
		return "\x1b[31mnoise\n" + fmt.Sprintf(good, id.json()) + "\n"
	}))
	r, err := Run(context.Background(), target, Options{Timeout: 30 * second, Only: []string{"C001", "C130"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Results[1].Verdict != Fail || len(r.Results[1].Faults) < 2 {
		t.Errorf("%+v", r.Results[1])
	}
	if r.Results[0].Verdict != OK {
		t.Errorf("%+v", r.Results[0])
	}
}

// TestLegacyServer: one line, not a hundred failures.
func TestLegacyServer(t *testing.T) {
	for name, answer := range map[string]func(id, method string) string{
		"discover is unknown": func(id, method string) string {
			if method == methodInitialize {
				return `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}` + "\n"
			}
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"no"}}` + "\n"
		},
		"silence before the handshake": func(id, method string) string {
			if method == methodInitialize {
				return `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}` + "\n"
			}
			return ""
		},
		"a later revision": func(id, _ string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"],"requested":"2026-07-28"}}}` + "\n"
		},
	} {
		target := Stdio("old", talker(func(line string) string {
			m := newMessage([]byte(line))
			return answer(m.id().json(), m.method())
		}))
		r, err := Run(context.Background(), target, Options{Timeout: 300 * time.Millisecond})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b bytes.Buffer
		if err := errors.Join(r.Text(&b), r.JSON(io.Discard), r.JUnit(io.Discard), r.HTML(io.Discard)); err != nil {
			t.Error(err)
		}
		if r.Conformant() || r.Legacy == "" || len(r.Results) > 0 || !strings.Contains(b.String(), "revision ("+r.Legacy+"), not 2026-07-28") || strings.Count(b.String(), "\n") != 3 {
			t.Errorf("%s: %q", name, b.String())
		}
	}
}

// TestNoServer: what does not answer is no verdict.
func TestNoServer(t *testing.T) {
	for name, target := range map[string]*Target{
		"silent":    Stdio("silent", talker(func(string) string { return "" })),
		"not there": Stdio("none", Command([]string{"./no-such-program"})),
	} {
		if _, err := Run(context.Background(), target, Options{Timeout: 200 * time.Millisecond, Start: 300 * time.Millisecond}); !errors.Is(err, ErrNoServer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnauthorized: who is not let in has no verdict.
func TestUnauthorized(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter){
		"no token": func(w http.ResponseWriter) { http.Error(w, "who are you?", http.StatusUnauthorized) },
		"no token, in JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Unauthorized"}}`)
		},
		"a token that is not enough": func(w http.ResponseWriter) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
			w.WriteHeader(http.StatusForbidden)
		},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w) }))
		target, err := HTTP(s.URL, HTTPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(context.Background(), target, Options{}); !errors.Is(err, ErrUnauthorized) || !strings.Contains(err.Error(), "HTTP 40") {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

// TestColdServer: a server that takes longer to start than an answer may take is
// not a server that does not answer, nor one of an earlier revision.
func TestColdServer(t *testing.T) {
	for name, spoken := range map[string]string{"of this revision": revision, "of both eras": "2025-06-18"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := Stdio("cold", func(ctx context.Context) (*Process, error) {
					var loading sync.Once
					return talker(func(line string) string {
						loading.Do(func() { time.Sleep(20 * time.Second) })
						m := newMessage([]byte(line))
						if m.method() == methodInitialize {
							return `{"jsonrpc":"2.0","id":` + m.id().json() + `,"result":{"protocolVersion":"` + spoken + `","capabilities":{}}}` + "\n"
						}
						return fmt.Sprintf(good, m.id().json()) + "\n"
					})(ctx)
				})
				r, err := Run(t.Context(), target, Options{Only: []string{"C001", "C037"}})
				if err != nil || r.Legacy != "" || r.Count(OK) != 2 {
					t.Errorf("%v, %+v", err, r)
				}
			})
		})
	}
}

// TestLedger: what a run keeps ends at a budget, and what comes again and again
// is kept once.
func TestLedger(t *testing.T) {
	answer := func(pad string) *message {
		result, v := object(), object()
		result.set("pad", text(pad))
		v.set("result", result)
		return &message{v: v}
	}
	long := strings.Repeat("x", 128<<10)
	same := newLedger()
	same.most = 1 << 20
	for range 100 {
		if !same.take(answer(long)) {
			t.Fatal("an answer that was there before is too much")
		}
	}
	if same.full() || same.weight > 256<<10 {
		t.Errorf("%d bytes for one list", same.weight)
	}
	other, n := newLedger(), 0
	other.most = 1 << 20
	for ; n < 100 && other.take(answer(fmt.Sprint(n)+long)); n++ {
	}
	if n < 6 || n > 8 || !other.full() {
		t.Errorf("kept %d different answers of 128 KiB", n)
	}
	if !other.take(answer("short")) {
		t.Error("no room for a short answer")
	}
}
