package e2e

import "testing"

// transport is a way to reach a server.
type transport struct {
	name  string
	start func(t *testing.T, dir string, settings ...string) session
}

// session sends messages to one server, one after the other.
type session interface {
	// send returns the count messages that come back; status is that of HTTP.
	send(t *testing.T, line string, count, status int) []*message
	tools(t *testing.T) *message
	end(t *testing.T)
}

var transports = []transport{
	{"stdio", func(t *testing.T, dir string, settings ...string) session {
		return &pipe{stdio(t, dir, settings...)}
	}},
	{"http", func(t *testing.T, dir string, settings ...string) session {
		return exchanges{overHTTP(t, dir, settings...)}
	}},
}

type pipe struct{ *child }

func (p *pipe) send(t *testing.T, line string, count, _ int) []*message {
	t.Helper()
	return p.exchange(line, count)
}

func (p *pipe) tools(t *testing.T) *message {
	t.Helper()
	return p.exchange(request(`"tools"`, "tools/list", ""), 1)[0]
}

func (p *pipe) end(t *testing.T) { t.Helper(); p.must() }
