package httpd

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"mcp-devserver/pipeline"
)

// ServeHTTP answers one request. The checks are in this order, and the body is not read before all of them have passed:
// host and origin, path, method, token, content type and encoding, accepted forms, length.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	switch {
	case !s.hosts.host(r.Host):
		s.refuse(w, badHost)
		return
	case !s.origins.origin(r.Header["Origin"]):
		s.refuse(w, badOrigin)
		return
	}
	path := target(r)
	if path != s.options.Path {
		s.limitWrite(w)
	}
	switch path {
	case s.options.Path:
		s.message(w, r)
	case "/healthz":
		health(w, r, http.StatusOK, []byte(`{"status":"ok"}`))
	case "/readyz":
		status, body := s.readiness()
		health(w, r, status, body)
	default:
		plain(w, http.StatusNotFound, "not found\n")
	}
}

// target returns the path that a request asks for: the bytes that the client sent, not a path that was decoded or cleaned,
// so that exactly one spelling is ours. A target in absolute form, which RFC 9112 obliges a server to accept, stands for
// its path. Its authority takes the place of the Host header, in r.Host too, so that it has been checked; anything more
// in it, such as a user, makes it no target of ours.
func target(r *http.Request) string {
	path := r.RequestURI
	if scheme, rest, absolute := strings.Cut(path, "://"); absolute && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		end := strings.IndexAny(rest, "/?")
		if end < 0 || rest[:end] != r.Host {
			return ""
		}
		path = rest[end:]
	}
	path, _, _ = strings.Cut(path, "?")
	return path
}

// message takes one message to the line and its answer back.
func (s *Server) message(w http.ResponseWriter, r *http.Request) {
	token := -1
	if r.Method != http.MethodPost {
		s.refuse(w, badMethod)
		return
	}
	if len(s.tokens) > 0 {
		if token = s.tokens.find(r.Header); token < 0 {
			s.refuse(w, badToken)
			return
		}
	}
	if s.draining.Load() {
		s.refuse(w, draining)
		return
	}
	forms := accept(r.Header["Accept"])
	switch {
	case !isJSON(r.Header["Content-Type"]):
		s.refuse(w, badType)
		return
	case !isPlain(r.Header["Content-Encoding"]):
		s.refuse(w, badEncoding)
		return
	case !forms.json && !forms.stream:
		s.refuse(w, badAccept)
		return
	}
	body, held, why := s.body(w, r)
	release := func() { s.held.Add(-held) }
	if why != accepted {
		release()
		s.refuse(w, why)
		return
	}
	p := &reply{wake: make(chan struct{}, 1), forms: forms, release: release}
	err := s.line.Submit(r.Context(), pipeline.Inbound{
		Raw: body, Mirror: mirror(r.Header), Client: s.client(r, token), Unary: !forms.stream,
	}, p)
	switch {
	case err == nil:
		s.respond(w, r, p)
	case errors.Is(err, pipeline.ErrClosed) || errors.Is(err, pipeline.ErrShutdown):
		release()
		s.refuse(w, draining)
	default: // the client has gone
		release()
		panic(http.ErrAbortHandler)
	}
}

// body reads the body under two bounds: its own, and that of all bodies together, of which it takes as much as it has
// really received: what a header promises costs nothing. held is what it has taken.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (b []byte, held int64, why refusal) {
	limit := s.options.MaxBody
	if r.ContentLength > limit {
		return nil, 0, tooLarge
	}
	in := http.MaxBytesReader(w, r.Body, limit)
	want := int64(512) // the next capacity
	if r.ContentLength >= 0 {
		want = min(r.ContentLength+1, 16<<10) // one more, to see the end without growing
	}
	for {
		if int64(len(b)) == int64(cap(b)) {
			if s.held.Add(want-held) > s.options.BodyBudget {
				s.held.Add(held - want)
				return nil, held, noRoom
			}
			held = want
			grown := make([]byte, len(b), want)
			copy(grown, b)
			b = grown
			want = min(2*want, limit+1)
			if r.ContentLength >= 0 {
				want = min(want, r.ContentLength+1)
			}
		}
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		var over *http.MaxBytesError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return b, held, accepted
		case errors.As(err, &over):
			return nil, held, tooLarge
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, held, tooSlow
		default:
			return nil, held, badBody
		}
	}
}

// mirror picks the headers that repeat parts of a message. It is never nil. net/http has removed the white space around
// the values, and keeps every occurrence.
func mirror(h http.Header) pipeline.Mirror {
	m := pipeline.Mirror{}
	for name, values := range h {
		switch {
		case name == "Mcp-Protocol-Version", name == "Mcp-Method", name == "Mcp-Name", strings.HasPrefix(name, "Mcp-Param-"):
			m[name] = values
		}
	}
	return m
}

func health(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		plain(w, http.StatusMethodNotAllowed, "method not allowed\n")
		return
	}
	writeJSON(w, status, body)
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
