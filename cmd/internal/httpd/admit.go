package httpd

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// names is a set of hosts and origins that are allowed beside the loopback ones.
type names map[string]bool

// parseHosts takes "name" (any port) and "name:port".
func parseHosts(list []string) (names, error) {
	n := names{}
	for _, h := range list {
		if !ValidHost(h) {
			return nil, fmt.Errorf("httpd: %q is not a host name with or without a port", h)
		}
		n[strings.ToLower(h)] = true
	}
	return n, nil
}

// HostRule returns the check of Host headers that a server with these [Options].Hosts makes. It fails when one of them
// cannot be a host.
func HostRule(hosts []string) (func(host string) bool, error) {
	n, err := parseHosts(hosts)
	return n.host, err
}

// parseOrigins takes "scheme://host" and "scheme://host:port".
func parseOrigins(list []string) (names, error) {
	n := names{}
	for _, o := range list {
		if !ValidOrigin(o) {
			return nil, fmt.Errorf("httpd: %q is not an origin", o)
		}
		n[strings.ToLower(o)] = true
	}
	return n, nil
}

// ValidPath tells whether Options.Path may be p: what a client can send as it stands, and not a path of ours.
func ValidPath(p string) bool {
	if !strings.HasPrefix(p, "/") || p == "/healthz" || p == "/readyz" {
		return false
	}
	for i := 0; i < len(p); i++ {
		if p[i] <= ' ' || p[i] >= 0x7f || p[i] == '?' || p[i] == '#' {
			return false
		}
	}
	return true
}

// ValidHost tells whether Options.Hosts may hold h.
func ValidHost(h string) bool {
	_, _, ok := splitHost(h)
	return ok
}

// ValidOrigin tells whether Options.Origins may hold o.
func ValidOrigin(o string) bool {
	_, _, ok := splitOrigin(o)
	return ok
}

// splitHost takes a Host apart: a name, an IPv4 address or an IPv6 address in brackets, and perhaps a port. It accepts
// nothing else, so that no parser behind it can find another host in the same text.
func splitHost(s string) (host, port string, ok bool) {
	host = s
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", "", false
		}
		if a, err := netip.ParseAddr(s[1:end]); err != nil || !a.Is6() || a.Zone() != "" {
			return "", "", false
		}
		host, port = s[:end+1], s[end+1:]
	} else {
		if i := strings.IndexByte(s, ':'); i >= 0 {
			host, port = s[:i], s[i:]
		}
		if host == "" {
			return "", "", false
		}
		for _, c := range []byte(host) {
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
				return "", "", false
			}
		}
	}
	if port != "" {
		n, err := strconv.ParseUint(port[1:], 10, 16)
		if port[0] != ':' || err != nil || n == 0 || port[1] == '+' {
			return "", "", false
		}
		port = port[1:]
	}
	return host, port, true
}

// splitOrigin takes an Origin apart. "null" and lists are no origins.
func splitOrigin(s string) (scheme, host string, ok bool) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme == "" {
		return "", "", false
	}
	for _, c := range []byte(scheme) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '+') {
			return "", "", false
		}
	}
	host, _, ok = splitHost(rest)
	return scheme, host, ok
}

// loopback tells whether a host is one of the names by which a machine calls itself. "localhost." and other spellings of
// the same are none: what we do not expect, we do not allow.
func loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || host == "127.0.0.1" || host == "[::1]"
}

// host checks the Host header. It is the defence against a name that an attacker has pointed at this machine: the
// browser takes the request for one within the attacker's site, and sends no Origin with it.
func (n names) host(s string) bool {
	host, _, ok := splitHost(s)
	if !ok {
		return false
	}
	return loopback(host) || n[strings.ToLower(s)] || n[strings.ToLower(host)]
}

// origin checks the Origin headers of a request. Programs other than browsers send none.
func (n names) origin(all []string) bool {
	if len(all) == 0 {
		return true
	}
	if len(all) > 1 {
		return false
	}
	scheme, host, ok := splitOrigin(all[0])
	if !ok {
		return false
	}
	web := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	return web && loopback(host) || n[strings.ToLower(all[0])]
}

// tokens are the hashes of those that are accepted; comparing hashes takes the same time for every token of a client,
// whatever its length.
type tokens [][sha256.Size]byte

func hashTokens(list []string) (t tokens) {
	for _, s := range list {
		t = append(t, sha256.Sum256([]byte(s)))
	}
	return t
}

// find returns the index of the token that the request carries, or -1.
func (t tokens) find(h http.Header) int {
	all := h["Authorization"]
	if len(all) != 1 {
		return -1
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return -1
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	found := -1
	for i := range t {
		if subtle.ConstantTimeCompare(sum[:], t[i][:]) == 1 {
			found = i
		}
	}
	return found
}

// isJSON checks the Content-Type headers: application/json, in UTF-8 when a charset is named. A form or plain text,
// which a browser sends across sites without asking, is not.
func isJSON(all []string) bool {
	if len(all) != 1 {
		return false
	}
	if all[0] == "application/json" {
		return true
	}
	kind, params, err := mime.ParseMediaType(all[0])
	if err != nil || kind != "application/json" {
		return false
	}
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}

// isPlain checks the Content-Encoding headers.
func isPlain(all []string) bool {
	for _, v := range all {
		if v != "" && !strings.EqualFold(v, "identity") {
			return false
		}
	}
	return true
}

// forms tells which of our two forms of an answer the client takes.
type forms struct{ json, stream bool }

// accept reads the Accept headers: for each form the most specific range decides, and a weight of 0 refuses. No header
// means anything. A range that cannot be read counts for nothing.
func accept(all []string) forms {
	none := true
	var best [2]struct {
		rank int // 1 */*, 2 type/*, 3 exact
		ok   bool
	}
	ours := [2][2]string{{"application", "json"}, {"text", "event-stream"}}
	for _, header := range all {
		for header != "" {
			var part string
			part, header, _ = strings.Cut(header, ",")
			part = strings.TrimSpace(part)
			if part == "" {
				continue
			}
			none = false
			major, minor, ok, read := mediaRange(part)
			if !read {
				continue
			}
			for i, o := range ours {
				rank := 0
				switch {
				case major == o[0] && minor == o[1]:
					rank = 3
				case major == o[0] && minor == "*":
					rank = 2
				case major == "*" && minor == "*":
					rank = 1
				}
				if rank > best[i].rank || rank == best[i].rank && rank > 0 && ok {
					best[i].rank, best[i].ok = rank, ok
				}
			}
		}
	}
	if none {
		return forms{true, true}
	}
	return forms{best[0].ok, best[1].ok}
}

// mediaRange reads one range. ok is false when its weight is 0; read is false when it cannot be read.
func mediaRange(s string) (major, minor string, ok, read bool) {
	s, params, _ := strings.Cut(s, ";")
	major, minor, read = strings.Cut(strings.ToLower(strings.TrimSpace(s)), "/")
	if !read || major == "" || minor == "" {
		return "", "", false, false
	}
	ok = true
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		k, v, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(k), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return "", "", false, false
		}
		ok = q > 0
	}
	return major, minor, ok, true
}

// client names the sender for rates: the token it used, else its address, an IPv6 one by the /64 that one customer gets.
// A forwarded address counts only as far as trusted proxies vouch for it.
func (s *Server) client(r *http.Request, token int) string {
	if token >= 0 {
		return "token " + strconv.Itoa(token)
	}
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unknown"
	}
	addr := ap.Addr().Unmap()
	if len(s.options.TrustedProxies) > 0 {
		hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
		for i := len(hops) - 1; i >= 0 && s.trusted(addr); i-- {
			a, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
			if err != nil {
				break
			}
			addr = a.Unmap().WithZone("")
		}
	}
	if addr.Is6() {
		p, _ := addr.WithZone("").Prefix(64)
		return p.String()
	}
	return addr.String()
}

func (s *Server) trusted(a netip.Addr) bool {
	for _, p := range s.options.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
