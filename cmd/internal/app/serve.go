package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"time"

	"mcp-devserver/cmd/internal/httpd"
	"mcp-devserver/cmd/internal/stdio"
	"mcp-devserver/pipeline"
	"mcp-devserver/stages/wire"
)

// SelfAttackError says that an attack on the finished server got through.
type SelfAttackError struct{ Probes []Probe }

func (e *SelfAttackError) Error() string {
	var tricks []string
	for _, p := range e.Probes {
		tricks = append(tricks, p.Trick+" ("+p.Saw+")")
	}
	return "the server does not withstand its own attacks: " + strings.Join(tricks, "; ")
}

// errEarly says that the end was asked for before anything was served.
var errEarly = errors.New("ended before serving")

// ready attacks the server before it serves anybody. When ctx ends meanwhile,
// the attacks were cut short and say nothing: the error is then errEarly.
func (a *App) ready(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	probes := a.SelfAttack(limited)
	if ctx.Err() != nil {
		return errEarly
	}
	var through []Probe
	for _, p := range probes {
		if !p.Held {
			through = append(through, p)
		}
	}
	if len(through) > 0 {
		return &SelfAttackError{through}
	}
	return nil
}

// neverServed ends a server that never served; an early end is an orderly one.
func (a *App) neverServed(err error) error {
	if errors.Is(err, errEarly) {
		err = nil
	}
	return errors.Join(err, a.end())
}

// ServeStdio serves one client over a pair of streams until its input ends or
// ctx does. The error is nil for both.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := a.ready(ctx); err != nil {
		return a.neverServed(err)
	}
	err := stdio.Serve(ctx, a.stages.Line(), in, out, stdio.Options{MaxLine: int(a.config.RequestBytes)})
	return errors.Join(err, a.end())
}

// ServeHTTP serves clients over HTTP on l, which it closes, until ctx ends;
// then work in flight gets the grace of the settings. The error is nil for an
// orderly end.
func (a *App) ServeHTTP(ctx context.Context, l net.Listener, pair *tls.Certificate) error {
	if err := a.ready(ctx); err != nil {
		l.Close()
		return a.neverServed(err)
	}
	c := a.config
	o := httpd.Options{
		Path: c.HTTPPath, Tokens: c.AuthTokens, Origins: c.AllowedOrigins, Hosts: c.AllowedHosts,
		MaxBody: c.RequestBytes, MaxConnections: int(c.MaxConnections), MaxHeaderBytes: int(c.MaxHeaderBytes),
		ReadTimeout: c.ReadTimeout, WriteTimeout: c.WriteTimeout, IdleTimeout: c.IdleTimeout,
		Ready: a.Readiness, ErrorLog: stdlog.New(a.log.With().Str("level", "warn").Str("transport", "http").Logger(), "", 0),
	}
	if exposed(c.HTTPAddress) {
		// A load balancer has to see /readyz fail before connections do.
		o.DrainDelay = min(time.Second, c.ShutdownGrace/4)
	}
	for _, s := range c.TrustedProxies {
		p, err := prefix(s)
		if err != nil {
			l.Close()
			return fmt.Errorf("trusted proxy: %w", err)
		}
		o.TrustedProxies = append(o.TrustedProxies, p)
	}
	if pair != nil {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{*pair}, MinVersion: tls.VersionTLS12}
	}
	s, err := httpd.New(a.stages.Line(), o)
	if err != nil {
		l.Close()
		return err
	}
	a.log.Info().Str("address", l.Addr().String()).Str("path", c.HTTPPath).Bool("tls", pair != nil).Msg("listening")
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.Background(), c.ShutdownGrace)
		defer cancel()
		stopped := s.Shutdown(grace)
		if errors.Is(stopped, context.DeadlineExceeded) {
			a.log.Warn().Msg("requests that outlasted the shutdown's grace were cancelled")
			stopped = nil
		}
		err = errors.Join(stopped, <-ended)
	}
	return errors.Join(err, a.end())
}

// metricsConnections is how many scrapers are served at one time.
const metricsConnections = 16

// ServeMetrics answers GET /metrics on l until the returned function is called,
// which closes l. The settings must have turned metrics on.
func (a *App) ServeMetrics(l net.Listener) (stop func(), err error) {
	host := func(string) bool { return true } // scrapers name an address as they reach it
	if !exposed(a.config.MetricsAddress) {
		if host, err = httpd.HostRule(nil); err != nil {
			return nil, err
		}
	}
	s := a.metrics.Server(host)
	s.ErrorLog = stdlog.New(a.log.With().Str("level", "warn").Str("transport", "metrics").Logger(), "", 0)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(httpd.LimitListener(l, metricsConnections)); !errors.Is(err, http.ErrServerClosed) {
			a.log.Error().Str("cause", Clean(err.Error())).Msg("metrics are served no more")
		}
	}()
	a.log.Info().Str("address", l.Addr().String()).Msg("metrics are listening")
	return func() {
		s.Close()
		<-ended
	}, nil
}

// fullFor is how long the pool may be full before the server calls itself
// unready.
const fullFor = 5 * time.Second

// Readiness answers /readyz: a JSON object, and whether the server can serve.
// It names no path.
func (a *App) Readiness() ([]byte, bool) {
	checks := map[string]string{"workspace": "ok", "pool": "ok", "git": "ok", "sandbox": a.level()}
	ok := true
	if err := a.ws.Same(); err != nil {
		checks["workspace"], ok = "fail", false
	}
	if running, waiting := a.stages.Load(); running < int(a.config.Workers) || waiting < int(a.config.Queue) {
		a.fullSince.Store(0)
	} else if now := time.Now().UnixNano(); !a.fullSince.CompareAndSwap(0, now) && now-a.fullSince.Load() > int64(fullFor) {
		checks["pool"], ok = "fail", false
	}
	if a.stages.Line().Stuck() > 0 {
		checks["pool"] = "degraded"
		ok = false
	}
	switch {
	case !a.config.GitEnabled:
		checks["git"] = "disabled"
	case a.git == "":
		checks["git"] = "degraded"
	}
	status := "ready"
	if !ok {
		status = "unready"
	}
	return fmt.Appendf(nil, `{"status":%q,"revision":%q,"checks":{"workspace":%q,"pool":%q,"git":%q,"sandbox":%q}}`,
		status, wire.Revision, checks["workspace"], checks["pool"], checks["git"], checks["sandbox"]), ok
}

// stuckFor bounds the wait at the end for stages that do not return. A line whose
// stages work ends within half a second of being told.
const stuckFor = 2 * time.Second

// end closes what a transport has finished with: nobody waits for an answer
// any more. A stage that does not return is left behind, for the process must
// end when it is told to.
func (a *App) end() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	closed := make(chan error, 1)
	go func() { closed <- a.Close(ctx) }()
	t := time.NewTimer(stuckFor)
	defer t.Stop()
	select {
	case err := <-closed:
		if err != nil && !errors.Is(err, pipeline.ErrShutdown) {
			return fmt.Errorf("close: %w", err)
		}
		return nil
	case <-t.C:
		return errors.New("close: a stage does not return and is left behind")
	}
}
