package conformance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// HTTPOptions are what a target over HTTP may need.
type HTTPOptions struct {
	Header []string // further header lines of every request, "Name: value"
	Token  string   // bearer token of every request
}

// HTTP makes a target of an endpoint.
func HTTP(endpoint string, o HTTPOptions) (*Target, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the address must begin with http:// or https://")
	}
	w := &web{url: u, token: o.Token}
	for _, h := range o.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(h, "\r\n") {
			return nil, fmt.Errorf("a header is written as Name: value")
		}
		w.fields = append(w.fields, field{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	shown := *u
	shown.User = nil
	return &Target{name: "http (" + shown.Redacted() + ")", kind: Web, web: w, open: func(context.Context, *ledger) (link, error) {
		return &webLink{web: w, client: &http.Client{
			Transport: &http.Transport{
				DisableCompression:     true,
				MaxResponseHeaderBytes: 1 << 20,
				MaxIdleConnsPerHost:    32,
				IdleConnTimeout:        30 * time.Second,
				// An empty map: a header's spelling is lost in HTTP/2.
				TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}, nil
	}}, nil
}

type web struct {
	url    *url.URL
	fields []field
	token  string
}

// shape is an HTTP request before it is sent.
type shape struct {
	verb   string
	path   string // replaces path and query of the endpoint
	fields []field
	raw    bool // written byte by byte, as net/http would not
	hangUp bool // of a raw one: closed without waiting for the answer
}

func (s *shape) without(name string) {
	kept := s.fields[:0]
	for _, f := range s.fields {
		if !strings.EqualFold(f.name, name) {
			kept = append(kept, f)
		}
	}
	s.fields = kept
}

// with replaces a header, spelled as given.
func (s *shape) with(name, value string) {
	s.without(name)
	s.fields = append(s.fields, field{name, value})
}

// headerValue writes a value as a header can carry it.
func headerValue(s string) string {
	plain := s == strings.Trim(s, " \t") && !(strings.HasPrefix(s, encodedPrefix) && strings.HasSuffix(s, encodedSuffix))
	for i := 0; i < len(s); i++ {
		plain = plain && (s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\t')
	}
	if plain {
		return s
	}
	return encoded(s)
}

func encoded(s string) string {
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + encodedSuffix
}

// dress builds the headers that belong to a message.
func (w *web) dress(e *exchange) *shape {
	r := e.request
	s := &shape{verb: http.MethodPost, fields: []field{
		{"Content-Type", "application/json"},
		{"Accept", "application/json, text/event-stream"},
		{headerVersion, e.pv},
	}}
	method := r.method
	if method == "" { // something that is no message: only the body shall be wrong
		method = methodDiscover
	}
	s.fields = append(s.fields, field{headerMethod, method})
	if r.name != "" {
		s.fields = append(s.fields, field{headerName, headerValue(r.name)})
	}
	if r.tool != nil && r.args != nil {
		s.fields = append(s.fields, mirrored(r.tool, r.args)...)
	}
	s.fields = append(s.fields, w.fields...)
	if w.token != "" {
		s.fields = append(s.fields, field{"Authorization", "Bearer " + w.token})
	}
	if r.shape != nil {
		r.shape(s)
	}
	return s
}

type webLink struct {
	web    *web
	client *http.Client
}

func (l *webLink) start(ctx context.Context, e *exchange) {
	ctx, cancel := context.WithCancel(ctx)
	e.stop = cancel
	s := l.web.dress(e)
	target := *l.web.url
	if s.path != "" {
		target.Path, target.RawPath, target.RawQuery = s.path, "", ""
	}
	e.method, e.fields = s.verb+" "+target.RequestURI(), shownFields(s.fields)
	go func() {
		defer cancel()
		var err error
		if s.raw {
			err = l.raw(ctx, e, s, &target)
		} else {
			err = l.plain(ctx, e, s, &target)
		}
		e.end(err)
	}()
}

// shownFields hides what authenticates.
func shownFields(all []field) []field {
	shown := append([]field(nil), all...)
	for i, f := range shown {
		if strings.EqualFold(f.name, "Authorization") || strings.EqualFold(f.name, "Cookie") {
			shown[i].value = "(hidden)"
		}
	}
	return shown
}

func (l *webLink) plain(ctx context.Context, e *exchange, s *shape, to *url.URL) error {
	var body io.Reader
	if s.verb == http.MethodPost {
		body = bytes.NewReader(e.sent)
	}
	r, err := http.NewRequestWithContext(ctx, s.verb, to.String(), body)
	if err != nil {
		return errors.New("the request cannot be built")
	}
	r.Header = http.Header{"User-Agent": {"mcp-devserver-conform"}}
	for _, f := range s.fields {
		if strings.EqualFold(f.name, "Host") {
			r.Host = f.value
			continue
		}
		r.Header[f.name] = append(r.Header[f.name], f.value)
	}
	a, err := l.client.Do(r)
	if err != nil {
		return unreached(ctx, err)
	}
	defer a.Body.Close()
	return receive(ctx, e, a)
}

// raw writes the request itself: what net/http would trim has to arrive.
func (l *webLink) raw(ctx context.Context, e *exchange, s *shape, to *url.URL) error {
	address := to.Host
	if to.Port() == "" {
		address = net.JoinHostPort(to.Hostname(), map[string]string{"http": "80", "https": "443"}[to.Scheme])
	}
	socket, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return unreached(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { socket.Close() })
	defer stop()
	defer socket.Close()
	c := socket
	if to.Scheme == "https" {
		c = tls.Client(socket, &tls.Config{ServerName: to.Hostname(), MinVersion: tls.VersionTLS12})
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nConnection: close\r\n", s.verb, to.RequestURI(), to.Host, len(e.sent))
	for _, f := range s.fields {
		fmt.Fprintf(&b, "%s:%s\r\n", f.name, f.value)
	}
	b.WriteString("\r\n")
	b.Write(e.sent)
	if _, err := c.Write(b.Bytes()); err != nil {
		return unreached(ctx, err)
	}
	if s.hangUp {
		return errHungUp
	}
	r, err := http.NewRequest(s.verb, to.String(), nil)
	if err != nil {
		return errors.New("the request cannot be built")
	}
	a, err := http.ReadResponse(bufio.NewReader(io.LimitReader(c, MaxAnswer+1<<20)), r)
	if err != nil {
		return unreached(ctx, err)
	}
	defer a.Body.Close()
	return receive(ctx, e, a)
}

// unreachable gives a reason that is the same every time, for that of the network
// holds ports and addresses; where there is no server at all, it is told too.
type unreachable struct{ cause error }

func (unreachable) Error() string { return "no HTTP answer" }

func unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errTimeout
	}
	var outer *url.Error // it holds the address, perhaps with a password
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return unreachable{err}
}

// receive reads an answer, whichever form it has.
func receive(ctx context.Context, e *exchange, a *http.Response) error {
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	e.update(func() {
		e.status, e.header = a.StatusCode, a.Header
		e.sse = kind == "text/event-stream"
	})
	if e.sse {
		return readEvents(ctx, e, a.Body)
	}
	b, err := readBody(ctx, a.Body)
	if len(b) > MaxAnswer {
		return errTooLarge
	}
	e.update(func() { e.size, e.body = len(b), shorten(b) })
	if err != nil && len(b) == 0 {
		return unreached(ctx, err)
	}
	if m := newMessage(b); m.v.at("jsonrpc") != nil || kind == "application/json" && len(bytes.TrimSpace(b)) > 0 {
		e.add(m)
	}
	return nil
}

// bulky holds a place for each big answer that is read at the same time.
var bulky = make(chan struct{}, 4)

// small is where a big answer begins.
const small = 256 << 10

// readBody reads a body, of a big one at most MaxAnswer and a byte.
func readBody(ctx context.Context, body io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, small))
	if err != nil || len(b) < small {
		return b, err
	}
	select {
	case bulky <- struct{}{}:
		defer func() { <-bulky }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rest, err := io.ReadAll(io.LimitReader(body, MaxAnswer+1-small))
	return append(b, rest...), err
}

const byteOrderMark = "\ufeff"

// readEvents reads a stream of server-sent events, each a message.
func readEvents(ctx context.Context, e *exchange, body io.Reader) error {
	limited := &io.LimitedReader{R: body, N: MaxAnswer}
	in := eventReader{in: bufio.NewReader(limited)}
	if mark, err := in.in.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		_, _ = in.in.Discard(len(byteOrderMark))
	}
	var data []byte
	has, held := false, false
	letGo := func() {
		if held {
			<-bulky
			held = false
		}
	}
	defer letGo()
	hold := func() bool {
		if held {
			return true
		}
		select {
		case bulky <- struct{}{}:
			held = true
		case <-ctx.Done():
		}
		return held
	}
	for {
		line, err := in.line(small-len(data), hold)
		if err != nil {
			switch {
			case limited.N <= 0:
				return errTooLarge
			case ctx.Err() != nil:
				return errTimeout
			}
			return errCut
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if has {
				e.add(newMessage(data))
			}
			if held {
				data = nil
				letGo()
			}
			data, has = data[:0], false
		case strings.HasPrefix(line, ":"):
		case name == "data":
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, value...), true
		case name == "id" || name == "retry":
			e.update(func() {
				if len(e.events) < 20 {
					e.events = append(e.events, clip(line, 80))
				}
			})
		}
	}
}

// eventReader splits a stream into lines, which end in LF, CR or both.
type eventReader struct {
	in       *bufio.Reader
	returned bool // the last line ended in CR: an LF that follows belongs to it
}

// line returns the next line. It asks before it keeps more than limit bytes.
func (r *eventReader) line(limit int, more func() bool) (string, error) {
	var line []byte
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return "", err
		}
		again := r.returned && c == '\n'
		r.returned = c == '\r'
		switch {
		case again:
			continue
		case c == '\n', c == '\r':
			return string(line), nil
		}
		if line = append(line, c); len(line) == max(limit, 1) && !more() {
			return "", errTimeout
		}
	}
}

func (l *webLink) strays() ([]*message, []string) { return nil, nil }
func (l *webLink) alive() bool                    { return true }
func (l *webLink) close()                         { l.client.CloseIdleConnections() }
