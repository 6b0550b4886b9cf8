package conformance

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Process is a server that was started, as its parent sees it.
type Process struct {
	Stdin          io.WriteCloser
	Stdout, Stderr io.Reader
	Wait           func() error // returns when the process has ended, whoever still holds its streams; called once
	Kill           func()       // ends the process and, on this side, its streams
}

// Stdio makes a target of a program that speaks over stdin and stdout. start is
// called for every fresh process that a check needs.
func Stdio(name string, start func(context.Context) (*Process, error)) *Target {
	return &Target{name: "stdio (" + name + ")", kind: Pipe, open: func(ctx context.Context, book *ledger) (link, error) {
		p, err := start(ctx)
		if err != nil {
			return nil, err
		}
		return newPipe(p, book), nil
	}}
}

// settle is how long silence has to last behind the answer to a later request,
// before it counts as silence: longer if that answer took long, for then the
// server, or the machine, is busy.
func settle(roundTrip time.Duration) time.Duration {
	return min(max(40*time.Millisecond, 4*roundTrip), second)
}

// pipe is a link over the streams of a process.
type pipe struct {
	p        *Process
	book     *ledger
	provoked bool          // something wrong was sent, on purpose
	queue    chan []byte   // to stdin, in order
	gone     chan struct{} // closed when stdout has ended
	dead     chan struct{} // closed when the process has ended
	quit     chan struct{} // closed by close
	once     sync.Once

	mu       sync.Mutex
	byID     map[string]*exchange
	byToken  map[string]*exchange
	nameless []*exchange // started without an id, still open
	lost     []*message
	garbage  []string
	open     bool
	spoken   bool
	fences   int
	stderr   []byte
	errSize  int
}

func newPipe(p *Process, book *ledger) *pipe {
	l := &pipe{
		p: p, book: book, queue: make(chan []byte, 4096), gone: make(chan struct{}), dead: make(chan struct{}), quit: make(chan struct{}),
		byID: map[string]*exchange{}, byToken: map[string]*exchange{}, open: true,
	}
	go l.write()
	go l.read()
	go l.drain()
	go func() {
		_ = p.Wait()
		close(l.dead)
		if !l.silenced() { // a child that it left behind holds stdout
			p.Kill()
		}
	}()
	return l
}

// silenced waits for the end of stdout after the process has ended.
func (l *pipe) silenced() bool {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-l.gone:
		return true
	case <-t.C:
		return false
	}
}

// release closes a stream that has been read to its end.
func release(r io.Reader) {
	if c, ok := r.(io.Closer); ok {
		_ = c.Close()
	}
}

// write feeds stdin; a nil message closes it.
func (l *pipe) write() {
	for {
		select {
		case b := <-l.queue:
			if b == nil {
				l.p.Stdin.Close()
				return
			}
			if _, err := l.p.Stdin.Write(b); err != nil {
				return
			}
		case <-l.quit:
			l.p.Stdin.Close()
			return
		}
	}
}

func (l *pipe) read() {
	defer release(l.p.Stdout)
	defer func() {
		l.mu.Lock()
		l.open = false
		var all []*exchange
		for _, e := range l.byID {
			all = append(all, e)
		}
		all = append(all, l.nameless...)
		l.mu.Unlock()
		for _, e := range all {
			e.end(errGone)
		}
		close(l.gone)
	}()
	in := bufio.NewReaderSize(l.p.Stdout, 64<<10)
	for {
		line, cut, err := readLine(in)
		if cut {
			l.impure(errTooLarge.Error(), line)
		} else if err == nil || len(line) > 0 {
			l.line(line, err == nil)
		}
		if err != nil {
			return
		}
	}
}

// readLine reads up to a newline. cut: the line was longer than MaxAnswer and
// only its beginning is returned.
func readLine(in *bufio.Reader) (line []byte, cut bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !cut && len(line)+len(part) > MaxAnswer {
			cut = true
		}
		if !cut {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSuffix(line, []byte("\n")), cut, err
	}
}

// notText is how garbage of that kind begins.
const notText = "a line that is not UTF-8"

func (l *pipe) impure(what string, line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.garbage) < 20 {
		l.garbage = append(l.garbage, fmt.Sprintf("%s: %q", what, clip(string(line), 80)))
	}
}

func (l *pipe) line(line []byte, whole bool) {
	m := newMessage(line)
	l.mu.Lock()
	l.spoken = l.spoken || m.v.is('{')
	l.mu.Unlock()
	switch {
	case !m.utf8:
		l.impure(notText, line)
		return
	case m.err != nil && !errors.Is(m.err, errMany) && !errors.Is(m.err, errDeep):
		l.impure("a line that is not JSON", line)
		return
	case !whole:
		l.impure("a last line without its newline", line)
	case !m.v.is('{'):
		l.impure("a line that is not an object", line)
	}
	if e := l.owner(m); e != nil {
		e.add(m)
	}
}

// owner finds the exchange that a message belongs to.
func (l *pipe) owner(m *message) *exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.isResponse() && m.id() != nil {
		if e := l.byID[key(m.id())]; e != nil {
			return e
		}
	}
	if !m.isResponse() {
		if s := m.subscription(); s != nil {
			if e := l.byID[key(s)]; e != nil {
				return e
			}
		}
		if t := m.v.at("params", "progressToken"); t != nil {
			if e := l.byToken[key(t)]; e != nil {
				return e
			}
		}
	}
	if len(l.nameless) > 0 {
		return l.nameless[0]
	}
	if len(l.lost) < 1000 && l.book.take(m) {
		l.lost = append(l.lost, m)
	}
	return nil
}

// drain keeps the beginning of stderr and throws the rest away: a process whose
// stderr is not read may block.
func (l *pipe) drain() {
	defer release(l.p.Stderr)
	b := make([]byte, 32<<10)
	for {
		n, err := l.p.Stderr.Read(b)
		l.mu.Lock()
		l.errSize += n
		l.stderr = append(l.stderr, b[:min(n, 64<<10-len(l.stderr))]...)
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (l *pipe) start(ctx context.Context, e *exchange) {
	l.mu.Lock()
	switch {
	case !l.open:
		l.mu.Unlock()
		e.end(errGone)
		return
	case e.id != "":
		l.byID[idKey(e.id)] = e
		if t := e.token(); t != nil {
			l.byToken[key(t)] = e
		}
	default:
		l.nameless = append(l.nameless, e)
	}
	l.mu.Unlock()
	e.stop = func() {
		if e.id == "" {
			l.forget(e)
			return
		}
		l.send(ctx, []byte(`{"jsonrpc":"2.0","method":"`+noteCancelled+`","params":{"requestId":`+e.id+`}}`))
	}
	l.send(ctx, e.sent)
	if e.id == "" {
		go l.fence(ctx, e)
	}
}

// token returns the progress token that an exchange asked with.
func (e *exchange) token() *value {
	v, err := parseValue(e.sent)
	if err != nil {
		return nil
	}
	return v.at("params", "_meta", "progressToken")
}

func idKey(id string) string {
	v, err := parseValue([]byte(id))
	if err != nil {
		return "!" + id
	}
	return key(v)
}

func (l *pipe) send(ctx context.Context, b []byte) {
	line := make([]byte, 0, len(b)+1)
	line = append(append(line, b...), '\n')
	select {
	case l.queue <- line:
	case <-ctx.Done():
	case <-l.quit:
	case <-l.gone:
	}
}

// fence finds the end of an exchange that may have no answer: a request sent
// behind it is answered, and then nothing comes for a while.
func (l *pipe) fence(ctx context.Context, e *exchange) {
	l.mu.Lock()
	l.fences++
	id := fmt.Sprintf(`"conform-fence-%d"`, l.fences)
	r := &request{method: methodDiscover}
	f := newExchange(r, id, l.book)
	f.sent = r.encode(id)
	l.byID[idKey(id)] = f
	l.mu.Unlock()
	began := time.Now()
	l.send(ctx, f.sent)
	if !f.await(ctx, func() bool { return f.answered }) {
		l.forget(e)
		if f.waitEnd(ctx, 0) {
			e.end(errGone)
		} else {
			e.end(errors.New("the server answers nothing any more"))
		}
		return
	}
	// What answers the message may be written by another thread of the server.
	quiet, cancel := context.WithTimeout(ctx, max(e.due, settle(time.Since(began))))
	defer cancel()
	e.await(quiet, func() bool { return e.answered })
	l.forget(e)
	e.end(nil)
}

func (l *pipe) forget(e *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, o := range l.nameless {
		if o == e {
			l.nameless = append(l.nameless[:i], l.nameless[i+1:]...)
			return
		}
	}
}

func (l *pipe) strays() ([]*message, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*message(nil), l.lost...), append([]string(nil), l.garbage...)
}

// heard tells whether the process has said anything yet.
func (l *pipe) heard() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spoken
}

func (l *pipe) alive() bool {
	select {
	case <-l.gone:
		return false
	case <-l.dead:
		return false
	default:
		return true
	}
}

// closeInput ends stdin behind what is queued.
func (l *pipe) closeInput() {
	select {
	case l.queue <- nil:
	case <-l.quit:
	case <-l.gone:
	}
}

// exits waits for the process to end by itself.
func (l *pipe) exits(limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-l.dead:
		return true
	case <-t.C:
		return false
	}
}

// badStderr returns the first line of stderr that is not UTF-8.
func (l *pipe) badStderr() (line string, bad bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(string(l.stderr), "\n")
	for i, s := range lines {
		if !utf8.ValidString(s) && (i < len(lines)-1 || l.errSize == len(l.stderr)) {
			return s, true
		}
	}
	return "", false
}

// lastWords says what a process did instead of answering.
func (l *pipe) lastWords() (words string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.garbage) > 0 {
		words += "; stdout holds " + l.garbage[0]
	}
	if len(l.lost) > 0 {
		words += "; it sent a message that belongs to no request: " + clip(string(l.lost[0].raw), 120)
	}
	if s := strings.TrimSpace(string(l.stderr)); s != "" {
		words += "; stderr ends with: " + clip(s[strings.LastIndexByte(s, '\n')+1:], 200)
	}
	return words
}

// close ends the process: politely first.
func (l *pipe) close() {
	l.once.Do(func() {
		close(l.quit)
		if !l.exits(2 * time.Second) {
			l.p.Kill()
			l.exits(5 * time.Second)
		}
		l.silenced()
	})
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
