package stdio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mcp-devserver/cmd/internal/transporttest"
	"mcp-devserver/pipeline"
)

func TestEndOfInput(t *testing.T) {
	cases := []struct {
		name  string
		send  []string
		want  string
		after time.Duration
	}{
		{"idle", nil, "", 0},
		{"a quick request", []string{`{"id":"1","do":"echo","text":"x"}`}, `{"id":"1","text":"x"}`, 0},
		{"a request that takes 3 s", []string{`{"id":"1","do":"sleep","text":"3s"}`}, `{"id":"1","text":"3s"}`, 3 * time.Second},
		{"one that takes for ever", []string{`{"id":"1","do":"wait"}`}, `{"id":"1","error":"shutdown"}`, 4 * time.Second},
		{"one that cannot be stopped", []string{`{"id":"1","do":"hang"}`}, "", 4500 * time.Millisecond},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := start(t, Options{}, pipeline.Options{})
				k.listen()
				k.send(c.send...)
				synctest.Wait()
				if took := k.end(); took != c.after {
					t.Errorf("took %v, want %v", took, c.after)
				}
				if got := strings.Join(k.rest(), "\n"); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

// A signal ends the server like the end of the input, although the input stays open.
func TestEndOfContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{}, pipeline.Options{})
		c.listen()
		c.send(`{"id":"1","do":"sleep","text":"2s"}`)
		synctest.Wait()
		begin := time.Now()
		c.stop()
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		if got := c.rest(); len(got) != 1 || got[0] != `{"id":"1","text":"2s"}` {
			t.Errorf("%q", got)
		}
		c.in.Close()
		c.line.Close(t)
	})
}

// A client that reads nothing stops the reading, so that memory stays bounded, and cannot hold up the end.
func TestClientDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{Queue: 4}, pipeline.Options{InFlight: 8, Reserve: 2})
		sent := make(chan int)
		go func() {
			n := 0
			for ; n < 1000; n++ {
				if _, err := fmt.Fprintf(c.in, "{\"id\":\"%d\",\"do\":\"echo\"}\n", n); err != nil {
					break
				}
			}
			sent <- n
		}()
		synctest.Wait()
		select {
		case <-sent:
			t.Error("everything was read from a client that reads nothing")
		default:
		}
		begin := time.Now()
		c.stop()
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 4500*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if n := <-sent; n > 50 {
			t.Errorf("%d messages were read", n)
		}
		c.out.Close()
		c.line.Close(t)
	})
}

type brokenWriter struct {
	err   error
	after int
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.after--; w.after >= 0 {
		return len(p), nil
	}
	return 0, w.err
}

func TestOutputBreaks(t *testing.T) {
	full := errors.New("no space left")
	cases := []struct {
		name string
		err  error
		want error
	}{
		{"the client has gone", fmt.Errorf("write |1: %w", syscall.EPIPE), nil},
		{"the pipe is closed", io.ErrClosedPipe, nil},
		{"a disk is full", full, full},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := transporttest.NewLine(pipeline.Options{})
				r, w := io.Pipe()
				ended := make(chan error)
				go func() { ended <- Serve(t.Context(), l.Line, r, &brokenWriter{err: c.err, after: 1}, Options{}) }()
				for i := range 8 {
					fmt.Fprintf(w, "{\"id\":\"w%d\",\"do\":\"wait\"}\n", i)
				}
				synctest.Wait()
				begin := time.Now()
				fmt.Fprintln(w, `{"do":"cancel","text":"w0"}`)
				fmt.Fprintln(w, `{"id":"1","do":"echo"}`)
				fmt.Fprintln(w, `{"do":"cancel","text":"w1"}`)
				fmt.Fprintln(w, `{"id":"2","do":"send","n":100}`) // also more than the queue takes
				if err := <-ended; !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("Serve: %v, want %v", err, c.want)
				}
				if took := time.Since(begin); took != 0 {
					t.Errorf("took %v", took)
				}
				synctest.Wait()
				if n := len(l.Left); n != 8 {
					t.Errorf("%d of 8 workers were freed", n)
				}
				r.Close()
				l.Close(t)
			})
		})
	}
}

func TestInputBreaks(t *testing.T) {
	bad := errors.New("input/output error")
	for _, c := range []struct{ err, want error }{{bad, bad}, {io.ErrClosedPipe, nil}, {io.EOF, nil}} {
		synctest.Test(t, func(t *testing.T) {
			l := transporttest.NewLine(pipeline.Options{})
			r, w := io.Pipe()
			var out bytes.Buffer
			go func() {
				io.WriteString(w, `{"id":"1","do":"echo","text":"x"}`+"\n")
				w.CloseWithError(c.err)
			}()
			if err := Serve(t.Context(), l.Line, r, &out, Options{}); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("Serve: %v, want %v", err, c.want)
			}
			if got := out.String(); got != `{"id":"1","text":"x"}`+"\n" {
				t.Errorf("%q", got)
			}
			l.Close(t)
		})
	}
}

// An answer that no client takes ends the connection with a reason, instead of a request that is never answered.
func TestAnswerBeyondAllBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := transporttest.NewLine(pipeline.Options{})
		var out bytes.Buffer
		in := strings.NewReader(fmt.Sprintf(`{"id":"1","do":"size","n":%d}`, maxMessage))
		if err := Serve(t.Context(), l.Line, in, &out, Options{}); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%v", err)
		}
		if out.Len() > 0 {
			t.Errorf("%d bytes written", out.Len())
		}
		l.Close(t)
	})
}

func TestClosedLineEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{}, pipeline.Options{})
		c.listen()
		c.line.Close(t)
		c.send(`{"id":"1","do":"echo"}`)
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
		if got := c.rest(); len(got) > 0 {
			t.Errorf("%q", got)
		}
	})
}
