package tools

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"mcp-devserver/redos"
	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/clean"
	"mcp-devserver/tools/internal/symbol"
)

const (
	// smallFile bytes are read without asking for memory: each worker of a
	// search holds workerBytes from its start. Text of smallText bytes may come
	// of them, when each is replaced.
	smallFile   = 256 << 10
	smallText   = 3 * smallFile
	workerBytes = 2 * smallFile
	// wholeFile is the largest file that is held whole; larger ones pass
	// through a window.
	wholeFile = redos.MaxText
	// windowBytes is how much of a large file is searched at a time, and the
	// longest line in one that is searched at all.
	windowBytes = 1 << 20
	windowTotal = windowBytes + 2*secrets.Reach + 64<<10
	// maxNameCost is what analysing a file for the definition round a match may
	// take, in bytes, beside the memory held: files that people write cost as
	// much from half a megabyte on.
	maxNameCost = 32 << 20
	// blockLines bounds the lines of one multi-line match that are shown.
	blockLines = 20
	// checkLines is how many candidate lines pass between two looks at the
	// context.
	checkLines = 16
)

// fileResult is what one file gives. It counts only once the whole file is
// known to be text.
type fileResult struct {
	count     int
	hits      []lineHit
	whole     bool // count is final
	lossy     bool
	longLines int
	stopped   bool // enough was found; nothing more is matched
	exact     bool // hits are those of the page
	named     bool // it was analysed for definitions
}

// errBinary ends a file that turns out not to be text.
var errBinary = errors.New("binary")

// file searches one open file and tells its fate.
func (s *scan) file(ctx context.Context, f *sandbox.File, path string, o *outcome) {
	o.size, o.numbers, o.exact = f.Size(), s.numbers, s.exact
	if o.size > s.call.Limits.SearchFileBytes || s.in.Multiline && o.size > wholeFile {
		o.fate = fateTooLarge
		return
	}
	r := &o.fileResult
	var err error
	if o.size <= smallFile {
		err = s.wholeText(ctx, f, s.small(o.size), smallText, path, r)
	} else {
		err = s.large(ctx, f, o.size, path, r)
	}
	var refused *refusal
	switch {
	case err == nil:
		o.fate = fateSearched
	case errors.As(err, &refused):
		o.fate, o.err = fateRefused, refused.error
	case errors.Is(err, errBinary):
		o.fate = fateBinary
	case errors.Is(err, redos.ErrTooLong):
		o.fate = fateTooLarge
	case isSlow(err):
		o.fate = fateLate
		if ctx.Err() == nil && time.Now().Before(s.deadline) {
			o.fate = fateSlow
		}
	case ctx.Err() != nil:
		o.fate = fateLate
	default:
		o.fate = fateUnreadable
	}
}

// isSlow reports whether err ends the search of a file because the pattern took
// too long on it.
func isSlow(err error) bool {
	return errors.Is(err, redos.ErrTimeout) || errors.Is(err, redos.ErrStack) || errors.Is(err, redos.ErrEngine)
}

// hold takes memory for one large file. Where there is not enough for all that
// are being searched, one after the other waits for it: the workers of a search
// must not wait for each other.
func (s *scan) hold(ctx context.Context, n int64) (release func(), err error) {
	n = min(n, s.call.Memory.size-s.own) // more will never be free
	if release, ok := s.call.Memory.try(n); ok {
		s.holding.Add(1)
		return func() { release(); s.holding.Add(-1) }, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		own := s.holding.Load() > 0 // it is this search that takes the memory, and it will give it back
		held, err := s.call.Memory.Hold(ctx, n)
		if err == nil {
			return func() { held(); <-s.turn }, nil
		}
		if !own || ctx.Err() != nil {
			<-s.turn
			return nil, err
		}
	}
}

// copies bounds the bytes that the search of a file takes: the file, what it is
// decoded to if that is another text, the text with secrets masked and, for a
// pattern that spans lines, with other line ends and as characters.
func copies(file, text int64, multiline bool) int64 {
	n := file + text
	if text > file {
		n += text
	}
	if multiline {
		n += (1 + runeBytes) * text
	}
	return n
}

// runeBytes is what package redos takes for the characters of a text, per byte.
const runeBytes = 5

// longer ends the search of a file whose text takes more bytes than there is
// memory held for.
type longer struct{ text int64 }

func (*longer) Error() string { return "more bytes when decoded" }

func (s *scan) longer(text int64) error {
	if s.in.Multiline && text > 2*redos.MaxText { // what an estimate of UTF-16 may be wrong by
		return redos.ErrTooLong
	}
	return &longer{text}
}

// small returns a buffer for a small file, the worker's own.
func (s *scan) small(size int64) []byte {
	if int64(len(s.buf)) < size {
		s.buf = make([]byte, min(max(2*size, 16<<10), smallFile))
	}
	return s.buf[:size]
}

// large searches a file that needs memory of its own.
func (s *scan) large(ctx context.Context, f *sandbox.File, size int64, path string, r *fileResult) error {
	if size > wholeFile {
		return s.held(ctx, copies(windowTotal, windowTotal, false), windowTotal, func(buf []byte) error {
			return s.stream(ctx, f, buf, r)
		})
	}
	var err error
	more := &longer{text: size}
	for try := 0; try == 0 || try < 3 && errors.As(err, &more); try++ { // the third: it changed in between
		err = s.held(ctx, copies(size, more.text, s.in.Multiline), size, func(buf []byte) error {
			return s.wholeText(ctx, f, buf, more.text, path, r)
		})
	}
	return err
}

// held runs f with a buffer of size bytes while n bytes of memory are taken.
func (s *scan) held(ctx context.Context, n, size int64, f func(buf []byte) error) error {
	release, err := s.hold(ctx, n)
	if err != nil {
		return &refusal{err}
	}
	defer release()
	buf := spares.get(size)
	defer spares.put(buf)
	return f((*buf)[:size])
}

// refusal says that there was no memory for a file.
type refusal struct{ error }

// wholeText searches a file that fits into buf. Its text takes at most most
// bytes.
func (s *scan) wholeText(ctx context.Context, f *sandbox.File, buf []byte, most int64, path string, r *fileResult) error {
	// A file that has grown is read as it was, one that has shrunk as it is.
	n, err := f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return err
	}
	b := buf[:n]
	enc, mark, isText := sniff(b[:min(len(b), sniffBytes)])
	if !isText {
		return errBinary
	}
	if enc == utf16LE || enc == utf16BE {
		n := int64(len(b) + len(b)/2) // two bytes become three at most
		if n > most {
			return s.longer(n)
		}
		out := bytes.NewBuffer(make([]byte, 0, n+bytes.MinRead))
		pairs := &utf16Check{enc: enc}
		if _, err := out.ReadFrom(decoder(enc, io.TeeReader(bytes.NewReader(b), pairs))); err != nil {
			return err
		}
		r.lossy = pairs.broken()
		b = out.Bytes()
	} else {
		b = b[mark:]
	}
	// A check that costs waits for the prefilter, unless what it finds shows in
	// the answer: the prefilter sees secrets.
	var nul, may bool
	if s.in.Multiline {
		if bytes.IndexByte(b, 0) >= 0 {
			return errBinary
		}
		if b, err = s.valid(b, most, r); err != nil {
			return err
		}
		if len(b) > redos.MaxText {
			return redos.ErrTooLong
		}
		if bytes.IndexByte(b, '\r') >= 0 {
			b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
		}
		may = s.re.MayMatch(b)
	} else if nul, may = s.re.Look(b); nul {
		return errBinary
	}
	if !may {
		return nil
	}
	if !s.in.Multiline {
		if b, err = s.valid(b, most, r); err != nil {
			return err
		}
	}
	seg := newSegment(view(b))
	seg.to = len(b)
	if s.in.Multiline {
		if err := s.blocks(ctx, seg, r); err != nil {
			return err
		}
	} else if err := s.lines(ctx, seg, r); err != nil {
		return err
	}
	s.nameSymbols(ctx, seg, path, r)
	return nil
}

// valid returns b with U+FFFD for each byte that is not UTF-8.
func (s *scan) valid(b []byte, most int64, r *fileResult) ([]byte, error) {
	if utf8.Valid(b) {
		return b, nil
	}
	if n := int64(len(b) + 2*countInvalid(b)); n > most {
		return nil, s.longer(n)
	}
	text, _ := validText(b)
	r.lossy = true
	return bytesOf(text), nil
}

// segment is a piece of a file: its text, the same with every secret masked,
// and the part of it that is searched. The rest is the neighbourhood in which
// secrets are found and context is shown.
type segment struct {
	text   secrets.Text
	masked string
	from   int
	to     int
	line   int // lines before from
}

// newSegment finds the secrets of a text, whose bytes may be used again for the
// next file: what is kept of it is copied.
func newSegment(raw string) *segment {
	g := &segment{text: clean.Scan(raw), masked: raw}
	if len(g.text.Spans) > 0 {
		g.masked = g.text.Masked()
	}
	return g
}

// lines searches line by line. Candidates come from the pattern's prefilter;
// every reported line was matched, masked, by the whole pattern.
func (s *scan) lines(ctx context.Context, g *segment, r *fileResult) error {
	line, counted := g.line, g.from // lines that end before counted
	text := g.masked[:g.to]
	candidates := s.re.Candidates(text)
	defer candidates.Close()
	for at, n := g.from, 0; at < len(text) && !r.stopped; n++ {
		if n%checkLines == checkLines-1 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		c := candidates.Next(at)
		if c < 0 {
			break
		}
		start := at + strings.LastIndexByte(text[at:c], '\n') + 1
		end, next := len(text), len(text)
		if i := strings.IndexByte(text[c:], '\n'); i >= 0 {
			end, next = c+i, c+i+1
			if end > start && text[end-1] == '\r' {
				end--
			}
		}
		at = next
		if !s.plain && end-start > redos.MaxLine {
			r.longLines++
			continue
		}
		from, to, ok, err := s.find(text[start:end])
		if err != nil && s.starved(err) {
			from, to, ok, err = s.find(text[start:end])
		}
		if err != nil {
			return err
		}
		if !ok || !s.count(r) {
			continue
		}
		line += strings.Count(text[counted:start], "\n")
		counted = start
		h := lineHit{line: line + 1, height: 1, column: utf8.RuneCountInString(text[start:start+from]) + 1}
		h.setLine(g.text.Slice(start, end), from, to)
		s.context(g, &h, start, next)
		r.hits = append(r.hits, h)
	}
	return nil
}

// find returns the first match in a line that is not of a secret alone.
func (s *scan) find(line string) (from, to int, ok bool, err error) {
	from, to, ok, err = s.re.Find(line, s.deadline)
	if err != nil || !ok || !hidden(line[from:to]) {
		return from, to, ok, err
	}
	ok = false
	err = s.re.Each(line, to, s.deadline, func(start, end int) bool {
		from, to, ok = start, end, !hidden(line[start:end])
		return !ok
	})
	return from, to, ok, err
}

// hidden reports whether a match, in masked text, is of masked characters and
// line ends only: it says nothing about what can be seen.
func hidden(match string) bool {
	return strings.IndexByte(match, secrets.Mask) >= 0 && strings.Trim(match, "\n"+string(rune(secrets.Mask))) == ""
}

var newline = []byte{'\n'}

// starved reports whether a text is matched once more after err. The bound of a
// match is kept by the wall clock: on a busy machine it may pass while nothing
// runs, and a pattern that is slow itself shows at once.
func (s *search) starved(err error) bool {
	return errors.Is(err, redos.ErrTimeout) && time.Now().Before(s.deadline) && s.retried.Add(1) <= lineRetries
}

// count counts one match and reports whether it belongs to the page. Past the
// page nothing more is wanted, except where everything is counted.
func (s *scan) count(r *fileResult) (shown bool) {
	r.count++
	switch s.in.OutputMode {
	case modeContent:
		n := s.base + r.count
		r.stopped = n > s.first+s.limit
		if s.auto0 && n > autoMatches {
			s.keep = 0 // context is for few matches
		}
		return !r.stopped && !s.numbers && (n > s.first || !s.exact)
	case modeFiles:
		r.stopped = true
	}
	return false
}

// blocks searches a whole text with a pattern that spans lines. Matches that
// share a line are one.
func (s *scan) blocks(ctx context.Context, g *segment, r *fileResult) error {
	if len(g.masked) == 0 {
		return nil // no line
	}
	line, counted := 0, 0
	last := -1 // end of the last line of the last match
	var open *lineHit
	n := 0
	from := 0 // where matching goes on
	match := func(start, end int) bool {
		if from = end; start == end { // as Each goes on
			_, size := utf8.DecodeRuneInString(g.masked[end:])
			from += max(size, 1)
		}
		if n++; n%checkLines == 0 && ctx.Err() != nil {
			return false
		}
		if hidden(g.masked[start:end]) {
			return true
		}
		first := strings.LastIndexByte(g.masked[:start], '\n') + 1
		if start == len(g.masked) && start > 0 && first == start {
			return true // behind the final newline there is no line
		}
		stop := len(g.masked)
		if i := strings.IndexByte(g.masked[max(end-1, start):], '\n'); i >= 0 {
			stop = max(end-1, start) + i
		}
		joined := first <= last
		if joined && stop <= last {
			return true
		}
		more := last + 1
		last = stop
		if joined {
			if open != nil {
				open.height += 1 + strings.Count(g.masked[more:stop], "\n")
				open.addLines(g, more, stop)
				s.context(g, open, -1, min(stop+1, len(g.masked)))
			}
			return true
		}
		open = nil
		if !s.count(r) {
			return !r.stopped
		}
		line += strings.Count(g.masked[counted:first], "\n")
		counted = first
		r.hits = append(r.hits, lineHit{line: line + 1, height: 1 + strings.Count(g.masked[first:stop], "\n"),
			column: utf8.RuneCountInString(g.masked[first:start]) + 1})
		open = &r.hits[len(r.hits)-1]
		lineEnd := first + endOfLine(g.masked[first:])
		open.setLine(g.text.Slice(first, lineEnd), start-first, min(end, lineEnd)-first)
		if lineEnd < stop {
			open.addLines(g, lineEnd+1, stop)
		}
		s.context(g, open, first, min(stop+1, len(g.masked)))
		return true
	}
	err := s.re.Each(g.masked, 0, s.deadline, match)
	for tried := -1; err != nil && from > tried && s.starved(err); { // once at each place
		tried = from
		err = s.re.Each(g.masked, from, s.deadline, match)
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

func endOfLine(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// nameSymbols tells the definition round each match, for the first files of a
// page. The masked text is analysed, so that no name depends on a secret.
func (s *scan) nameSymbols(ctx context.Context, g *segment, path string, r *fileResult) {
	if len(r.hits) == 0 || !s.names || len(g.masked) > windowBytes {
		return
	}
	lang := symbol.Language(path)
	if lang == "" {
		return
	}
	r.named = true
	src := g.masked
	if len(g.text.Spans) > 0 {
		src = strings.ReplaceAll(src, string(secrets.Mask), "x")
	}
	if symbol.Cost(lang, src) > maxNameCost {
		return
	}
	syms, err := symbol.Parse(ctx, lang, src)
	if errors.Is(err, symbol.ErrUnsupported) {
		return
	}
	for i := range r.hits {
		r.hits[i].symbol = strings.Clone(symbol.EnclosingIn(syms, r.hits[i].line))
	}
}
