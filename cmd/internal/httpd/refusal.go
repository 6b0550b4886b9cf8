package httpd

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// refusal is an answer that the transport gives by itself, before a message has been read. Each is one row of refusals.
type refusal uint8

const (
	accepted refusal = iota
	badHost
	badOrigin
	badMethod
	badToken
	badType
	badEncoding
	badAccept
	tooLarge
	tooSlow
	badBody
	draining
	noRoom
	refusalEnd
)

const invalidRequest, internalError = -32600, -32603

// refusals is the only place where this package writes JSON-RPC. None of the bodies has an id, for none was read.
var refusals = [refusalEnd]struct {
	status  int
	code    int
	message string
	header  [2]string // one more header
	body    []byte
}{
	badHost:     {http.StatusForbidden, invalidRequest, "Forbidden: host not allowed", [2]string{}, nil},
	badOrigin:   {http.StatusForbidden, invalidRequest, "Forbidden: origin not allowed", [2]string{}, nil},
	badMethod:   {http.StatusMethodNotAllowed, invalidRequest, "Method not allowed: use POST", [2]string{"Allow", "POST"}, nil},
	badToken:    {http.StatusUnauthorized, invalidRequest, "Unauthorized: a valid bearer token is required", [2]string{"WWW-Authenticate", "Bearer"}, nil},
	badType:     {http.StatusUnsupportedMediaType, invalidRequest, "Unsupported media type: use application/json in UTF-8", [2]string{}, nil},
	badEncoding: {http.StatusUnsupportedMediaType, invalidRequest, "Unsupported content encoding: send the body as it is", [2]string{"Accept-Encoding", "identity"}, nil},
	badAccept:   {http.StatusNotAcceptable, invalidRequest, "Not acceptable: accept application/json or text/event-stream", [2]string{}, nil},
	tooLarge:    {http.StatusRequestEntityTooLarge, invalidRequest, "Request body too large", [2]string{"Connection", "close"}, nil},
	tooSlow:     {http.StatusRequestTimeout, invalidRequest, "The request body took too long", [2]string{"Connection", "close"}, nil},
	badBody:     {http.StatusBadRequest, invalidRequest, "The request body could not be read", [2]string{"Connection", "close"}, nil},
	draining:    {http.StatusServiceUnavailable, internalError, "The server is shutting down", [2]string{"Retry-After", "5"}, nil},
	noRoom:      {http.StatusServiceUnavailable, internalError, "Too many request bodies at once", [2]string{"Retry-After", "1"}, nil},
}

func init() {
	for i := range refusals {
		r := &refusals[i]
		r.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","error":{"code":%d,"message":%q}}`, r.code, r.message)
	}
}

// limitWrite gives the next write its time, without which a client that sends requests and reads no answer would keep its
// connection for ever. It is not supported by every ResponseWriter of a test.
func (s *Server) limitWrite(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.options.WriteTimeout))
}

// refuse writes the answer. A body that was not read is left to net/http, which reads a little of it, or closes.
func (s *Server) refuse(w http.ResponseWriter, why refusal) {
	s.limitWrite(w)
	r := &refusals[why]
	if r.header[0] != "" {
		w.Header().Set(r.header[0], r.header[1])
	}
	if why == draining {
		w.Header().Set("Connection", "close")
	}
	writeJSON(w, r.status, r.body)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}
