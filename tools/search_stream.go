package tools

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
)

// stream searches a file that is not held whole: a window moves over it, whose
// middle is searched and whose edges are the neighbourhood that decides what
// is a secret. A NUL anywhere makes the whole file binary, so the file is read
// to its end even when enough was found or the pattern took too long.
func (s *scan) stream(ctx context.Context, f *sandbox.File, buf []byte, r *fileResult) error {
	begin := make([]byte, sniffBytes)
	n, err := io.ReadFull(f, begin)
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	enc, mark, isText := sniff(begin[:n])
	if !isText {
		return errBinary
	}
	var in io.Reader = io.MultiReader(bytes.NewReader(begin[mark:n]), f)
	if enc == utf16LE || enc == utf16BE {
		in = decoder(enc, io.MultiReader(bytes.NewReader(begin[:n]), f))
	}
	var slow error
	w := &textWindow{in: io.LimitReader(in, 2*s.call.Limits.SearchFileBytes), buf: buf[:0:windowTotal]}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.fill(); err != nil {
			return err
		}
		if w.pos == len(w.buf) {
			return slow
		}
		to, whole := w.lines()
		if !whole {
			// No line ends here: this one is too long. Its next part is not
			// the start of a line either.
			if !w.inLong {
				r.longLines++
			}
			w.inLong = true
			w.advance(to)
			continue
		}
		if w.inLong { // the rest of a line that is too long
			w.inLong = false
			w.advance(w.pos + bytes.IndexByte(w.buf[w.pos:to], '\n') + 1)
			continue
		}
		if !r.stopped {
			if err := s.windowLines(ctx, w, to, r); isSlow(err) {
				slow, r.stopped = err, true
			} else if err != nil {
				return err
			}
		}
		w.advance(to)
	}
}

// textWindow is the part of a large file that is in memory.
type textWindow struct {
	in     io.Reader
	buf    []byte
	pos    int // first byte that was not searched
	line   int // lines before pos
	eof    bool
	inLong bool // pos lies inside a line that is too long
}

// fill reads until the part to be searched and the neighbourhood behind it are
// there.
func (w *textWindow) fill() error {
	for !w.eof && len(w.buf)-w.pos < windowBytes+secrets.Reach {
		if len(w.buf) == cap(w.buf) {
			break
		}
		old := len(w.buf)
		n, err := w.in.Read(w.buf[old:cap(w.buf)])
		w.buf = w.buf[:old+n]
		if bytes.IndexByte(w.buf[old:], 0) >= 0 {
			return errBinary
		}
		if err == io.EOF {
			w.eof = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lines returns the end of the last whole line of the part to be searched.
// whole is false when that part holds no end of a line.
func (w *textWindow) lines() (to int, whole bool) {
	end := min(w.pos+windowBytes, len(w.buf))
	if w.eof && end == len(w.buf) {
		return end, !w.inLong || bytes.IndexByte(w.buf[w.pos:end], '\n') >= 0
	}
	if i := bytes.LastIndexByte(w.buf[w.pos:end], '\n'); i >= 0 {
		return w.pos + i + 1, true
	}
	return end, false
}

// advance moves on and keeps the neighbourhood before the new position.
func (w *textWindow) advance(to int) {
	w.line += bytes.Count(w.buf[w.pos:to], newline)
	w.pos = to
	if drop := w.pos - secrets.Reach; drop > 0 {
		n := copy(w.buf, w.buf[drop:])
		w.buf = w.buf[:n]
		w.pos -= drop
	}
}

// windowLines searches the lines from the window's position to to.
func (s *scan) windowLines(ctx context.Context, w *textWindow, to int, r *fileResult) error {
	body := w.buf[w.pos:to]
	if !s.re.MayMatch(body) {
		return nil
	}
	lossy := !utf8.Valid(body)
	from, end := max(w.pos-secrets.Reach, 0), min(to+secrets.Reach, len(w.buf))
	for from < w.pos && from > 0 && !utf8.RuneStart(w.buf[from]) {
		from++ // the neighbourhood begins inside a character
	}
	for end > to && end < len(w.buf) && !utf8.RuneStart(w.buf[end]) {
		end--
	}
	all := w.buf[from:end]
	var g *segment
	if !lossy && utf8.Valid(all) {
		g = newSegment(view(all))
		g.from, g.to = w.pos-from, to-from
	} else {
		before, _ := validText(w.buf[from:w.pos])
		text, _ := validText(body)
		after, _ := validText(w.buf[to:end])
		g = newSegment(before + text + after)
		g.from, g.to = len(before), len(before)+len(text)
	}
	g.line = w.line
	n := len(r.hits)
	err := s.lines(ctx, g, r)
	r.lossy = r.lossy || lossy && len(r.hits) > n
	return err
}
