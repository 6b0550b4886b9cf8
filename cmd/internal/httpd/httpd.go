// Package httpd serves messages over HTTP: one POST carries one message, and its answer is JSON, or a stream of events
// when something precedes it.
//
// # How to start
//
//	s, err := httpd.New(line, httpd.Options{})
//	go s.Serve(listener)
//	err = s.Shutdown(ctx)
//
// # What it promises
//
//   - Nothing of a request's body is read before host, origin, path, method, token and types have been checked, on every
//     path and for every method.
//   - There are no cross-origin headers, no sessions, no redirects, no compression and no HTTP/2.
//   - A client that goes away cancels its request. Its answer is never kept for another.
//   - Memory is bounded: per body, for all bodies together, by connections, by headers; a length that is only announced
//     costs nothing. Slow clients are cut off, and never hold up the line.
//   - Errors that this package answers itself are the rows of one table; none tells anything about the server.
//
// # Limits
//
// net/http answers malformed requests itself, as plain text: a missing or repeated Host (400), too long headers (431).
// It takes a client that closes its sending side for one that has gone, so a half-closed connection gets no answer.
package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"mcp-devserver/pipeline"
)

// Options configure a Server. Zero values are replaced by the defaults named here.
type Options struct {
	Path string // of the endpoint, compared byte for byte; default "/mcp"

	Tokens         []string       // bearer tokens, any of which is enough; none: no token is asked for
	Origins        []string       // allowed beside http and https on loopback names: "https://app.example.com"
	Hosts          []string       // allowed beside loopback names: "mcp.example.com" (any port), "mcp.example.com:8443"
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	TLS            *tls.Config    // with the certificate loaded; nil: plain HTTP

	MaxBody        int64 // bytes of one body; default 1 MiB
	BodyBudget     int64 // bytes of all bodies in memory; default 64 MiB
	MaxConnections int   // more wait to be accepted; default 256
	MaxHeaderBytes int   // default 16 KiB

	ReadTimeout  time.Duration // for headers and body of a request; default 10 s
	WriteTimeout time.Duration // for each write; default 30 s
	IdleTimeout  time.Duration // between requests of a connection; default 60 s
	KeepAlive    time.Duration // between comments on a stream that waits; default 15 s
	// DrainDelay is the time for which Shutdown keeps accepting connections, so that a load balancer sees /readyz fail.
	// Default 0.
	DrainDelay time.Duration

	// Ready makes the body of /readyz, a JSON value, and tells whether the server is ready. It is asked at most once a
	// second. Default: always ready.
	Ready func() (body []byte, ok bool)
	// ErrorLog takes what net/http reports of connections. Default: nothing.
	ErrorLog *log.Logger
}

func (o Options) withDefaults() Options {
	if o.Path == "" {
		o.Path = "/mcp"
	}
	setInt := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	setInt(&o.MaxBody, 1<<20)
	setInt(&o.BodyBudget, 64<<20)
	if o.MaxConnections <= 0 {
		o.MaxConnections = 256
	}
	if o.MaxHeaderBytes <= 0 {
		o.MaxHeaderBytes = 16 << 10
	}
	setTime := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	setTime(&o.ReadTimeout, 10*time.Second)
	setTime(&o.WriteTimeout, 30*time.Second)
	setTime(&o.IdleTimeout, time.Minute)
	setTime(&o.KeepAlive, 15*time.Second)
	if o.Ready == nil {
		o.Ready = func() ([]byte, bool) { return []byte(`{"status":"ready"}`), true }
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.New(io.Discard, "", 0)
	}
	return o
}

// Server is an HTTP server before a line, and an http.Handler for one request.
type Server struct {
	line    *pipeline.Line
	options Options
	hosts   names
	origins names
	tokens  tokens
	http    *http.Server

	held     atomic.Int64 // bytes of bodies in memory
	draining atomic.Bool

	base context.Context // of all requests; ends, with ErrShutdown, when the server stops waiting for them
	stop context.CancelCauseFunc

	unusedMu sync.Mutex
	unused   map[net.Conn]struct{} // opened, and nothing has come by them yet

	readyMu   sync.Mutex
	readyAt   time.Time
	readyBody []byte
	readyOK   bool
}

// New makes a server. It fails when a path, host or origin cannot be one.
func New(l *pipeline.Line, o Options) (*Server, error) {
	s := &Server{line: l, options: o.withDefaults(), tokens: hashTokens(o.Tokens)}
	var err1, err2, err3 error
	s.hosts, err1 = parseHosts(o.Hosts)
	s.origins, err2 = parseOrigins(o.Origins)
	if p := s.options.Path; !ValidPath(p) {
		err3 = fmt.Errorf("httpd: %q cannot be the path of the endpoint", p)
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	s.base, s.stop = context.WithCancelCause(context.Background())
	one := new(http.Protocols)
	one.SetHTTP1(true)
	s.http = &http.Server{
		Handler:           s,
		Protocols:         one,
		ReadHeaderTimeout: s.options.ReadTimeout,
		ReadTimeout:       s.options.ReadTimeout,
		IdleTimeout:       s.options.IdleTimeout,
		MaxHeaderBytes:    s.options.MaxHeaderBytes,
		ErrorLog:          s.options.ErrorLog,
		BaseContext:       func(net.Listener) context.Context { return s.base },

		// "OPTIONS *" is checked like everything else.
		DisableGeneralOptionsHandler: true,
		ConnState:                    s.track,
	}
	s.unused = map[net.Conn]struct{}{}
	s.http.RegisterOnShutdown(s.closeUnused)
	if s.options.TLS != nil {
		s.http.TLSConfig = s.options.TLS.Clone()
		s.http.TLSConfig.MinVersion = max(s.http.TLSConfig.MinVersion, tls.VersionTLS12)
	}
	return s, nil
}

// Serve accepts connections from l until Shutdown, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	l = LimitListener(l, s.options.MaxConnections)
	var err error
	if s.http.TLSConfig != nil {
		err = s.http.ServeTLS(l, "", "")
	} else {
		err = s.http.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	s.unusedMu.Lock()
	defer s.unusedMu.Unlock()
	if state == http.StateNew {
		s.unused[c] = struct{}{}
	} else {
		delete(s.unused, c)
	}
}

// closeUnused closes the connections that clients opened in advance: net/http
// would wait five seconds for a request by them. It runs when no more are
// accepted.
func (s *Server) closeUnused() {
	s.unusedMu.Lock()
	defer s.unusedMu.Unlock()
	for c := range s.unused {
		c.Close()
	}
}

// Shutdown ends the server: /readyz fails and new messages are refused at once, connections after DrainDelay; requests
// in flight are answered. When ctx ends first, they are cancelled with pipeline.ErrShutdown, get half a second for that
// answer, and are cut off; then the error is that of ctx. Shutdown does not close the line, which must outlive it.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	if s.options.DrainDelay > 0 {
		t := time.NewTimer(s.options.DrainDelay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	err := s.http.Shutdown(ctx)
	s.stop(pipeline.ErrShutdown)
	if err == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 500*time.Millisecond)
	defer cancel()
	if s.http.Shutdown(last) != nil {
		_ = s.http.Close() // it reports errors of sockets that are being thrown away
	}
	return err
}

// stopping tells whether Shutdown has given up waiting.
func (s *Server) stopping() bool { return s.base.Err() != nil }

// readiness returns the answer of /readyz.
func (s *Server) readiness() (status int, body []byte) {
	if s.draining.Load() {
		return http.StatusServiceUnavailable, []byte(`{"status":"draining"}`)
	}
	s.readyMu.Lock()
	defer s.readyMu.Unlock()
	if now := time.Now(); s.readyAt.IsZero() || now.Sub(s.readyAt) >= time.Second {
		s.readyBody, s.readyOK = s.options.Ready()
		s.readyAt = now
	}
	if !s.readyOK {
		return http.StatusServiceUnavailable, s.readyBody
	}
	return http.StatusOK, s.readyBody
}

// LimitListener accepts at most n connections at one time; more wait in the kernel's queue.
func LimitListener(l net.Listener, n int) net.Listener {
	return &limited{Listener: l, places: make(chan struct{}, n), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: c, leave: func() { <-l.places }}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type placed struct {
	net.Conn
	once  sync.Once
	leave func()
}

func (c *placed) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.leave)
	return err
}
