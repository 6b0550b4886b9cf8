package tools

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"mcp-devserver/sandbox/answer"
)

// source reads a file as UTF-8 text. Offsets count bytes of that text.
type source struct {
	r     io.ReaderAt
	size  int64
	enc   encoding
	mark  int64
	whole []byte // the text, when it is held in one piece
}

// wide reports that the text has to be decoded.
func (s *source) wide() bool { return s.enc == utf16LE || s.enc == utf16BE }

func (s *source) reader(skip int64) (io.Reader, error) {
	if !s.wide() {
		return io.NewSectionReader(s.r, s.mark+skip, s.size-s.mark-skip), nil
	}
	r := decoder(s.enc, io.NewSectionReader(s.r, 0, s.size))
	if _, err := io.CopyN(io.Discard, r, skip); err != nil && err != io.EOF {
		return nil, err
	}
	return r, nil
}

// read returns up to n bytes of the text from an offset.
func (s *source) read(off int64, n int) ([]byte, error) {
	if s.whole != nil {
		return s.whole[off:min(off+int64(n), int64(len(s.whole)))], nil
	}
	r, err := s.reader(off)
	if err != nil {
		return nil, err
	}
	if !s.wide() {
		n = int(min(int64(n), s.size-s.mark-off))
		b := make([]byte, n)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(r, int64(n)))
	return b.Bytes(), err
}

// restOfLine counts the characters from an offset to the end of its line.
func (s *source) restOfLine(ctx context.Context, off int64) (int, error) {
	r, err := s.reader(off)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	n := 0
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		k, err := r.Read(buf)
		b := buf[:k]
		i := bytes.IndexByte(b, '\n')
		if i >= 0 {
			b = b[:i]
		}
		n += utf8.RuneCount(b)
		if i >= 0 || err == io.EOF {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// survey is what one pass over a text tells.
type survey struct {
	lines        int
	start        int64 // offset of the first line wanted
	length       int64 // bytes of the text
	crlf         int
	newlines     int
	last         byte
	finalNewline bool
	lossy        bool
}

func (v *survey) ending() answer.Word {
	switch {
	case v.newlines == 0:
		return "none"
	case v.crlf == 0:
		return "lf"
	case v.crlf == v.newlines:
		return "crlf"
	}
	return "mixed"
}

// survey counts lines and finds the first one wanted, in bounded memory.
func (s *source) survey(ctx context.Context, in *readFileIn) (*survey, error) {
	v := &survey{}
	tail := newRing(in.Tail)
	target := max(in.StartLine, 1) - 1 // newlines before the first line wanted
	if s.whole != nil {
		v.block(s.whole, target, tail)
		v.lossy = !utf8.Valid(s.whole)
		v.finish(tail)
		return v, ctx.Err()
	}
	r, err := s.reader(0)
	if err != nil {
		return nil, err
	}
	var pairs *utf16Check
	if s.wide() {
		pairs = &utf16Check{enc: s.enc}
		r = decoder(s.enc, io.TeeReader(io.NewSectionReader(s.r, 0, s.size), pairs))
	}
	buf := make([]byte, int(min(max(s.size, 1), 256<<10)))
	carry := 0 // bytes of an unfinished character at the start of buf
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.ReadFull(r, buf[carry:])
		if n > 0 {
			v.block(buf[carry:carry+n], target, tail)
			if !v.lossy {
				carry, v.lossy = unfinished(buf, carry+n)
			} else {
				carry = 0
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	v.lossy = v.lossy || carry > 0 || pairs.broken()
	v.finish(tail)
	return v, nil
}

// block counts what one piece of the text holds.
func (v *survey) block(b []byte, target int, tail *ring) {
	if len(b) == 0 {
		return
	}
	if bytes.IndexByte(b, '\r') >= 0 {
		v.crlf += bytes.Count(b, []byte("\r\n"))
	}
	if v.last == '\r' && b[0] == '\n' {
		v.crlf++
	}
	count := bytes.Count(b, []byte{'\n'})
	if tail != nil || v.newlines < target && v.newlines+count >= target {
		v.place(b, target, tail)
	}
	v.newlines += count
	v.length += int64(len(b))
	v.last = b[len(b)-1]
}

func (v *survey) finish(tail *ring) {
	v.finalNewline = v.last == '\n'
	v.lines = v.newlines
	if v.length > 0 && !v.finalNewline {
		v.lines++
	}
	if tail != nil {
		v.start = tail.start(v.finalNewline)
	}
}

// place finds the line wanted inside the block that holds it.
func (v *survey) place(b []byte, target int, tail *ring) {
	line, at := v.newlines, 0
	for {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return
		}
		at += i + 1
		line++
		if tail != nil {
			tail.push(v.length + int64(at))
		} else if line == target {
			v.start = v.length + int64(at)
			return
		}
	}
}

// unfinished checks buf[:n] for UTF-8 and moves a character that its end cuts
// to the front; it returns that character's length so far.
func unfinished(buf []byte, n int) (carry int, bad bool) {
	b := buf[:n]
	if utf8.Valid(b) {
		return 0, false
	}
	for i := 1; i <= min(3, n); i++ {
		tail := b[n-i:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) && utf8.Valid(b[:n-i]) {
				return copy(buf, tail), false
			}
			break
		}
	}
	return 0, true
}

// trimPartialRune drops the rest of a character at the start of b.
func trimPartialRune(b []byte) []byte {
	for i := 0; i < min(3, len(b)); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}

// ring remembers the starts of the last lines.
type ring struct {
	starts []int64
	n      int // starts pushed
}

// newRing remembers enough starts for the last n lines.
func newRing(n int) *ring {
	if n == 0 {
		return nil
	}
	r := &ring{starts: make([]int64, n+1)}
	r.push(0)
	return r
}

func (r *ring) push(start int64) {
	r.starts[r.n%len(r.starts)] = start
	r.n++
}

// start returns where the last lines begin. A start behind the final newline
// begins no line.
func (r *ring) start(finalNewline bool) int64 {
	keep := len(r.starts) - 1
	last := r.n // lines begun
	if finalNewline {
		last--
	}
	return r.starts[max(last-keep, 0)%len(r.starts)]
}
