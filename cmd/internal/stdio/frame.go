package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// framer cuts a byte stream into lines of a bounded length.
type framer struct {
	r   *bufio.Reader
	max int
	any bool // a line was read before: no byte order mark any more
}

const readBuffer = 64 << 10

func newFramer(r io.Reader, max int) *framer {
	return &framer{r: bufio.NewReaderSize(r, readBuffer), max: max}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// next returns the next line that is not blank, without its end and in memory of its own. A line of more than max bytes
// is read to its end without being kept: then long is true and line is nil. The last line needs no newline. After err
// there is no line.
func (f *framer) next() (line []byte, long bool, err error) {
	for {
		line, long, err = f.line()
		if err != nil {
			return nil, false, err
		}
		if !f.any {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		f.any = true
		if long || len(line) > f.max {
			return nil, true, nil
		}
		if len(bytes.TrimLeft(line, " \t\r")) > 0 {
			return line, false, nil
		}
	}
}

// line reads up to and including the next newline. It keeps a little more than max bytes: a byte order mark and the
// carriage return do not count.
func (f *framer) line() (line []byte, long bool, err error) {
	keep := f.max + len(byteOrderMark) + len("\r\n")
	for {
		var part []byte
		part, err = f.r.ReadSlice('\n')
		switch {
		case long:
		case len(line)+len(part) > keep:
			line, long = nil, true
		default:
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long) {
		return nil, false, err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), long, nil
}
