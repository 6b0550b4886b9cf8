package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"mcp-devserver/cmd/internal/transporttest"
	"mcp-devserver/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is the other end of a connection. Its answers are read by a goroutine that sorts them by id.
type client struct {
	t     *testing.T
	line  *transporttest.Line
	in    *io.PipeWriter // the server's input
	out   *io.PipeReader // the server's output
	stop  context.CancelFunc
	ended chan error // from Serve
	lines chan string
}

func start(t *testing.T, o Options, p pipeline.Options) *client {
	sr, cw := io.Pipe()
	cr, sw := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	c := &client{
		t: t, line: transporttest.NewLine(p), in: cw, out: cr, stop: stop,
		ended: make(chan error, 1), lines: make(chan string, 1000),
	}
	go func() {
		c.ended <- Serve(ctx, c.line.Line, sr, sw, o)
		sw.Close()
		sr.Close()
	}()
	return c
}

// listen reads answers until the output ends.
func (c *client) listen() {
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(c.out)
		for {
			l, err := r.ReadString('\n')
			if err != nil {
				if l != "" {
					c.t.Errorf("half a message: %q", l)
				}
				return
			}
			if !json.Valid([]byte(l)) {
				c.t.Errorf("not a message: %.100q", l)
			}
			c.lines <- strings.TrimSuffix(l, "\n")
		}
	}()
}

func (c *client) send(lines ...string) {
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Errorf("sending: %v", err)
		}
	}
}

// end closes the input, waits for Serve, and returns how long that took.
func (c *client) end() time.Duration {
	begin := time.Now()
	c.in.Close()
	if err := <-c.ended; err != nil {
		c.t.Errorf("Serve: %v", err)
	}
	took := time.Since(begin)
	c.line.Close(c.t)
	c.stop()
	c.out.Close()
	return took
}

// rest returns the answers that were not read yet; the output must be ending.
func (c *client) rest() (all []string) {
	for l := range c.lines {
		all = append(all, l)
	}
	return all
}

// The table that every transport passes. Over one stream an answer is found by its id, as clients do.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{MaxLine: transporttest.MaxMessage}, pipeline.Options{})
		c.listen()
		var mu sync.Mutex
		waiting := map[string][]chan []string{} // by id; those without one get the same answer
		go func() {
			before := map[string][]string{}
			for l := range c.lines {
				var m struct{ ID, Note string }
				if err := json.Unmarshal([]byte(l), &m); err != nil {
					t.Error(err)
				}
				if m.Note != "" {
					id, _, _ := strings.Cut(m.Note, " ")
					before[id] = append(before[id], l)
					continue
				}
				mu.Lock()
				first := waiting[m.ID][0]
				waiting[m.ID] = waiting[m.ID][1:]
				mu.Unlock()
				first <- append(before[m.ID], l)
			}
		}()
		turn := make(chan struct{}, 1) // of writing; a mutex would stop the clock of the bubble
		transporttest.Run(t, func(in string) ([]string, error) {
			var m struct{ ID, Do string }
			_ = json.Unmarshal([]byte(in), &m)
			reply := make(chan []string, 1)
			silent := m.Do == "note" || m.Do == "cancel"
			turn <- struct{}{}
			if !silent {
				mu.Lock()
				waiting[m.ID] = append(waiting[m.ID], reply)
				mu.Unlock()
			}
			_, err := io.WriteString(c.in, in+"\n")
			<-turn
			if silent || err != nil {
				return nil, err
			}
			return <-reply, nil
		})
		if took := c.end(); took != 0 {
			t.Errorf("an idle server took %v to end", took)
		}
	})
}

func TestInput(t *testing.T) {
	const hello = `{"id":"1","do":"echo","text":"hello"}`
	const answer = `{"id":"1","text":"hello"}`
	const long = `{"error":"too long"}`
	fit := `{"id":"1","do":"echo","text":"` + strings.Repeat("x", 100) + `"}`
	fitting := `{"id":"1","text":"` + strings.Repeat("x", 100) + `"}`
	cases := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one line", hello + "\n", []string{answer}},
		{"carriage return", hello + "\r\n", []string{answer}},
		{"no newline at the end", hello, []string{answer}},
		{"no newline, but a carriage return", hello + "\r", []string{answer}},
		{"blank lines", "\n\r\n  \t\n" + hello + "\n\n\n", []string{answer}},
		{"byte order mark", "\xef\xbb\xbf" + hello + "\n", []string{answer}},
		{"byte order mark later on", "\n" + hello + "\n\xef\xbb\xbf" + hello + "\n", []string{answer, `{"error":"not JSON"}`}},
		{"garbage between messages", "\x00\xff\n" + hello + "\n", []string{`{"error":"not JSON"}`, answer}},
		{"two messages on a line", hello + hello + "\n", []string{`{"error":"not JSON"}`}},
		{"as long as allowed", fit + "\n", []string{fitting}},
		{"as long as allowed, with all extras", "\xef\xbb\xbf" + fit + "\r\n", []string{fitting}},
		{"a byte too long", fit + " \n" + hello + "\n", []string{long, answer}},
		{"too long, at the end of the input", fit + " ", []string{long}},
		{"too long, many buffers", strings.Repeat("x", 5*readBuffer) + "\n" + hello, []string{long, answer}},
		{"too long and blank", strings.Repeat(" ", len(fit)+1) + "\n" + hello, []string{long, answer}},
	}
	for _, c := range cases {
		for _, chunk := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s, in pieces of %d", c.name, chunk), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := start(t, Options{MaxLine: len(fit)}, pipeline.Options{})
					k.listen()
					for in := c.in; in != ""; {
						n := min(chunk, len(in))
						if _, err := io.WriteString(k.in, in[:n]); err != nil {
							t.Fatal(err)
						}
						in = in[n:]
						synctest.Wait() // each answer before the next question, so that the order is known
					}
					k.end()
					got, want := k.rest(), slices.Clone(c.want)
					if chunk >= len(c.in) { // all at once: then answers may come in any order
						slices.Sort(got)
						slices.Sort(want)
					}
					if !slices.Equal(got, want) {
						t.Errorf("%q, want %q", got, want)
					}
				})
			})
		}
	}
}

// fountain yields so many bytes and then the rest, without holding them.
type fountain struct {
	left int
	rest io.Reader
}

func (f *fountain) Read(p []byte) (int, error) {
	if f.left == 0 {
		return f.rest.Read(p)
	}
	n := min(len(p), f.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	f.left -= n
	return n, nil
}

// A line that never ends costs time, but no memory.
func TestEndlessLine(t *testing.T) {
	const size, limit = 256 << 20, 1 << 20
	allocated := func(f func()) uint64 {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		f()
		runtime.ReadMemStats(&b)
		return b.TotalAlloc - a.TotalAlloc
	}
	endless := func(n int) io.Reader { return &fountain{n, strings.NewReader("\n{}\n")} }
	guarded := allocated(func() {
		f := newFramer(endless(size), limit)
		if line, long, err := f.next(); !long || line != nil || err != nil {
			t.Errorf("%d bytes, long %v, %v", len(line), long, err)
		}
		if line, long, err := f.next(); long || string(line) != "{}" || err != nil {
			t.Errorf("after the long line: %.20q %v %v", line, long, err)
		}
	})
	if guarded > 8*limit {
		t.Errorf("a line of %d MiB made the framer allocate %d KiB", size>>20, guarded>>10)
	}
	// The attack is real: a reader that keeps what it reads.
	naive := allocated(func() {
		if b, err := bufio.NewReader(endless(64 << 20)).ReadBytes('\n'); len(b) < 64<<20 || err != nil {
			t.Errorf("%d %v", len(b), err)
		}
	})
	if naive < 64<<20 {
		t.Errorf("without a guard: %d KiB", naive>>10)
	}
	t.Logf("guarded %d KiB, naive %d KiB", guarded>>10, naive>>10)
}

// Requests are answered out of order and cancelled although the pool is full.
func TestCancelPastAFullPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{}, pipeline.Options{})
		c.listen()
		for i := range 72 {
			c.send(fmt.Sprintf(`{"id":"%d","do":"wait"}`, i))
		}
		synctest.Wait()
		c.send(`{"id":"busy","do":"echo"}`)
		if got := <-c.lines; got != `{"id":"busy","error":"busy"}` {
			t.Errorf("%s", got)
		}
		begin := time.Now()
		for i := range 72 {
			c.send(fmt.Sprintf(`{"do":"cancel","text":"%d"}`, i))
		}
		synctest.Wait()
		if n := len(c.line.Left); n < 8 { // some of the queued ones begin before they are cancelled
			t.Errorf("%d of 8 running requests saw their cancellation", n)
		}
		c.send(`{"id":"next","do":"echo"}`)
		if got := <-c.lines; got != `{"id":"next","text":""}` {
			t.Errorf("after all were cancelled: %s", got)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("took %v", took)
		}
		c.end()
		if got := c.rest(); len(got) > 0 {
			t.Errorf("answers for cancelled requests: %q", got)
		}
	})
}

// Offered messages are lost when the client does not keep up; sent ones and the answer are not.
func TestOffersMayBeLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{Queue: 2}, pipeline.Options{})
		c.send(`{"id":"o","do":"offer","n":50}`, `{"id":"s","do":"send","n":50}`)
		synctest.Wait()
		c.listen()
		var offered, sent int
		for answers := 0; answers < 2; {
			switch l := <-c.lines; {
			case strings.HasPrefix(l, `{"note":"o`):
				offered++
			case strings.HasPrefix(l, `{"note":"s`):
				sent++
			default:
				answers++
			}
		}
		if offered == 50 || sent != 50 {
			t.Errorf("%d of 50 offered, %d of 50 sent messages arrived", offered, sent)
		}
		c.end()
	})
}

// However the bytes arrive, the lines are those that a reader with unbounded memory would see.
func FuzzFramer(f *testing.F) {
	for _, s := range []string{"", "a", "a\n", "\r\n", "\xef\xbb\xbfa\r\nb", "\xef\xbb\xbf\n\xef\xbb\xbfab", "abcdefghij\nk\n", "abcde\r\r\n", " \t\na\x00\n"} {
		f.Add([]byte(s), uint8(5), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, limit, chunk uint8) {
		type line struct {
			s    string
			long bool
		}
		var want []line
		all := strings.SplitAfter(string(in), "\n")
		for i, s := range all {
			s = strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
			if i == 0 {
				s = strings.TrimPrefix(s, "\xef\xbb\xbf")
			}
			switch {
			case len(s) > int(limit):
				want = append(want, line{"", true})
			case strings.Trim(s, " \t\r") != "":
				want = append(want, line{s, false})
			}
		}
		r := newFramer(iotestChunks{bytes.NewReader(in), int(chunk)%16 + 1}, int(limit))
		r.r = bufio.NewReaderSize(r.r, 16)
		var got []line
		for {
			l, long, err := r.next()
			if err != nil {
				break
			}
			got = append(got, line{string(l), long})
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("limit %d: %+v, want %+v", limit, got, want)
		}
	})
}

type iotestChunks struct {
	r io.Reader
	n int
}

func (c iotestChunks) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.n)]) }

func BenchmarkRoundTrip(b *testing.B) {
	l := transporttest.NewLine(pipeline.Options{})
	sr, cw := io.Pipe()
	cr, sw := io.Pipe()
	ended := make(chan error)
	go func() { ended <- Serve(context.Background(), l.Line, sr, sw, Options{}) }()
	answers := bufio.NewReader(cr)
	question := []byte(`{"id":"1","do":"echo","text":"x"}` + "\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cw.Write(question); err != nil {
			b.Fatal(err)
		}
		if _, err := answers.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	cw.Close()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	l.Close(b)
}
