package mutation

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcp-devserver/conformance"
)

// flow is one HTTP exchange on its way through a stand.
type flow struct {
	r       *http.Request
	body    []byte
	raw     string // the head as it came over the wire
	m       *message
	status  int
	header  http.Header
	replies []obj
	plain   []byte // a body that is no message
	stream  bool
	events  string // further lines of a stream, before the messages
	open    bool   // the stream stays open
	text    string // replaces everything that the body would be
	chunked bool   // the body is sent in pieces
	done    bool   // answered in place of the server
	world   *world
}

// refuse answers in place of the server.
func (f *flow) refuse(status, code int) {
	f.done, f.status, f.header = true, status, http.Header{}
	f.replies = []obj{failure(f.m.id, code)}
}

func failure(id any, code int) obj {
	v := obj{"jsonrpc": "2.0", "error": obj{"code": code, "message": "refused"}}
	if id != nil {
		v["id"] = id
	}
	return v
}

// webbed changes HTTP exchanges.
type webbed struct {
	request  func(*flow)
	response func(*flow)
}

// web makes a stand over HTTP, in front of a server that listens on backend.
func web(tb testing.TB, backend string, tampers []tamper, all []webbed, o conformance.HTTPOptions) *conformance.Target {
	tb.Helper()
	w := newWorld()
	s := w.session()
	heads := &sync.Map{}
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f := &flow{r: r, body: body, m: decode(body), header: http.Header{}, world: w}
		if head, ok := heads.Load(r.RemoteAddr); ok {
			f.raw = head.(*recorder).take()
		}
		serveFlow(rw, f, s, backend, tampers, all)
	}))
	front.Listener = recording{front.Listener, heads}
	front.Config.ErrorLog = nil
	front.Start()
	tb.Cleanup(front.Close)
	t, err := conformance.HTTP(front.URL+"/mcp", o)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func serveFlow(rw http.ResponseWriter, f *flow, s *session, backend string, tampers []tamper, all []webbed) {
	each := func(pick func(webbed) func(*flow)) {
		f.world.mu.Lock()
		defer f.world.mu.Unlock()
		for _, w := range all {
			if step := pick(w); step != nil && !f.done {
				step(f)
			}
		}
	}
	each(func(w webbed) func(*flow) { return w.request })
	if !f.done {
		if replies, answered := enter(s, f.m, tampers); answered {
			f.replies = replies
			f.status = statusOf(replies)
		} else {
			f.fetch(backend)
		}
	}
	f.replies = leave(s, f.m, f.replies, tampers)
	f.done = false
	each(func(w webbed) func(*flow) { return w.response })
	f.write(rw)
}

// statusOf is the status that belongs to an answer.
func statusOf(replies []obj) int {
	for _, v := range replies {
		if e, ok := v["error"].(obj); ok {
			switch number(e["code"]) {
			case -32020, -32021, -32022, -32600, -32700:
				return 400
			case -32601:
				return 404
			}
		}
	}
	if len(replies) == 0 {
		return 202
	}
	return 200
}

// fetch asks the server.
func (f *flow) fetch(backend string) {
	body := f.body
	if f.m.v != nil {
		body = encode(f.m.v)
	}
	r, err := http.NewRequest(f.r.Method, "http://"+backend+f.r.URL.Path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header = f.r.Header.Clone()
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		f.status = 502
		return
	}
	defer a.Body.Close()
	b, _ := io.ReadAll(a.Body)
	f.status, f.header = a.StatusCode, a.Header.Clone()
	f.header.Del("Content-Length")
	if strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		f.stream = true
		for _, line := range strings.Split(string(b), "\n") {
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				if v, ok := decodeAny([]byte(data)).(obj); ok {
					f.replies = append(f.replies, v)
				}
			}
		}
		return
	}
	if v, ok := decodeAny(b).(obj); ok && v["jsonrpc"] != nil {
		f.replies = []obj{v}
		return
	}
	f.plain = b
}

func (f *flow) write(rw http.ResponseWriter) {
	for name, values := range f.header {
		rw.Header()[name] = values
	}
	if f.text != "" || f.chunked && len(f.replies) == 1 && !f.stream {
		text := f.text
		if text == "" {
			text = string(encode(f.replies[0]))
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(f.header)), func(n string) bool { return strings.EqualFold(n, "Content-Type") }) {
			rw.Header().Set("Content-Type", "application/json")
		}
		rw.WriteHeader(f.status)
		for len(text) > 0 {
			n := min(len(text), 1000)
			io.WriteString(rw, text[:n])
			rw.(http.Flusher).Flush()
			text = text[n:]
		}
		return
	}
	if len(f.replies) > 1 || f.stream && len(f.replies) > 0 {
		if !strings.HasPrefix(rw.Header().Get("Content-Type"), "text/event-stream") {
			rw.Header().Set("Content-Type", "text/event-stream")
			rw.Header().Set("X-Accel-Buffering", "no")
		}
		rw.WriteHeader(f.status)
		io.WriteString(rw, f.events)
		for _, v := range f.replies {
			io.WriteString(rw, "data: "+string(encode(v))+"\n\n")
		}
		if f.open {
			rw.(http.Flusher).Flush()
			<-f.r.Context().Done()
		}
		return
	}
	if len(f.replies) == 1 && rw.Header().Get("Content-Type") == "" {
		rw.Header().Set("Content-Type", "application/json")
	}
	rw.WriteHeader(f.status)
	if len(f.replies) == 1 {
		rw.Write(encode(f.replies[0]))
	} else {
		rw.Write(f.plain)
	}
}

// listen starts a server over HTTP that many stands share.
func listen(tb testing.TB) (address string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	a := server(tb)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.ServeHTTP(ctx, l, nil) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	return l.Addr().String()
}

// recording keeps the heads of requests as they come: net/http changes the
// spelling of header names and takes white space away.
type recording struct {
	net.Listener
	heads *sync.Map
}

func (l recording) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	r := &recorder{Conn: c}
	l.heads.Store(c.RemoteAddr().String(), r)
	return r, nil
}

type recorder struct {
	net.Conn
	mu   sync.Mutex
	read []byte
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.mu.Lock()
	r.read = append(r.read, b[:n]...)
	r.mu.Unlock()
	return n, err
}

func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := string(r.read)
	r.read = nil
	return s
}
