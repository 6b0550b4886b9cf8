package metrics

import (
	"io"
	"net/http"
	"time"
)

// Server returns the server of GET /metrics. host decides on the Host header of
// a request.
func (m *Metrics) Server(host func(string) bool) *http.Server {
	one := new(http.Protocols)
	one.SetHTTP1(true)
	return &http.Server{
		Protocols:         one,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Cache-Control", "no-store")
			h.Set("X-Content-Type-Options", "nosniff")
			switch {
			case !host(r.Host):
				say(w, http.StatusForbidden, "host not allowed\n")
			case r.URL.Path != "/metrics":
				say(w, http.StatusNotFound, "not found\n")
			case r.Method != http.MethodGet && r.Method != http.MethodHead:
				h.Set("Allow", "GET, HEAD")
				say(w, http.StatusMethodNotAllowed, "method not allowed\n")
			default:
				h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
				m.Write(w)
			}
		}),
		DisableGeneralOptionsHandler: true,
	}
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
