package tools

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// Encoding names how a file's bytes became text.
type encoding string

const (
	utf8Plain encoding = "utf-8"
	utf8BOM   encoding = "utf-8-bom"
	utf16LE   encoding = "utf-16le"
	utf16BE   encoding = "utf-16be"
	unknown   encoding = "unknown" // not UTF-8 and no mark: shown with replacement characters
)

// sniffBytes is how much of a file decides whether it is text.
const sniffBytes = 8 << 10

// sniff tells the encoding from the first bytes of a file and how many bytes
// its mark takes; text is false when they belong to a binary format.
func sniff(head []byte) (enc encoding, mark int, text bool) {
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		enc, mark = utf8BOM, 3
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}): // UTF-32
		return utf8Plain, 0, false
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return utf16LE, 2, true
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return utf16BE, 2, true
	default:
		enc = utf8Plain
	}
	if _, _, binary := magic(head); binary {
		return enc, mark, false
	}
	return enc, mark, bytes.IndexByte(head, 0) < 0
}

// decoder returns a reader of the text in UTF-8, mark excluded, for the two
// encodings that need one.
func decoder(enc encoding, r io.Reader) io.Reader {
	e := unicode.LittleEndian
	if enc == utf16BE {
		e = unicode.BigEndian
	}
	return unicode.UTF16(e, unicode.UseBOM).NewDecoder().Reader(r)
}

// utf16Check is a writer of UTF-16 that notices what a decoder would replace: a
// surrogate without its other half, and half a unit at the end. A nil check has
// noticed nothing.
type utf16Check struct {
	enc  encoding
	odd  bool // half a unit is pending
	half byte
	high bool // a high surrogate is pending
	bad  bool
}

func (c *utf16Check) Write(p []byte) (int, error) {
	for _, b := range p {
		if !c.odd {
			c.half, c.odd = b, true
			continue
		}
		c.odd = false
		top := b // the byte that tells a surrogate
		if c.enc == utf16BE {
			top = c.half
		}
		c.bad = c.bad || (top&0xFC == 0xDC) != c.high // a low one follows a high one and nothing else
		c.high = top&0xFC == 0xD8
	}
	return len(p), nil
}

func (c *utf16Check) broken() bool { return c != nil && (c.bad || c.high || c.odd) }

// validText replaces every byte that is not UTF-8 and returns how many it
// replaced.
func validText(b []byte) (string, int) {
	if utf8.Valid(b) {
		return string(b), 0
	}
	var out strings.Builder
	bad := countInvalid(b)
	out.Grow(len(b) + 2*bad)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			out.WriteRune(utf8.RuneError)
		} else {
			out.Write(b[:n])
		}
		b = b[n:]
	}
	return out.String(), bad
}

// countInvalid returns how many bytes of b are not UTF-8.
func countInvalid(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			n++
		}
		b = b[size:]
	}
	return n
}

type format struct {
	at         int
	mark       string
	kind, mime string
}

func (f *format) of(head []byte) bool {
	return len(head) >= f.at+len(f.mark) && string(head[f.at:f.at+len(f.mark)]) == f.mark
}

// formats are files that begin with a fixed mark and are not text, whatever
// their first bytes hold besides.
var formats = []format{
	{0, "\x89PNG\r\n\x1a\n", "image", "image/png"},
	{0, "\xff\xd8\xff", "image", "image/jpeg"},
	{0, "GIF87a", "image", "image/gif"},
	{0, "GIF89a", "image", "image/gif"},
	{8, "WEBP", "image", "image/webp"},
	{0, "II*\x00", "image", "image/tiff"},
	{0, "MM\x00*", "image", "image/tiff"},
	{0, "\x00\x00\x01\x00", "image", "image/x-icon"},
	{0, "%PDF-", "document", "application/pdf"},
	{0, "PK\x03\x04", "archive", "application/zip"},
	{0, "PK\x05\x06", "archive", "application/zip"},
	{0, "\x1f\x8b", "archive", "application/gzip"},
	{0, "BZh", "archive", "application/x-bzip2"},
	{0, "\xfd7zXZ\x00", "archive", "application/x-xz"},
	{0, "(\xb5/\xfd", "archive", "application/zstd"},
	{0, "7z\xbc\xaf'\x1c", "archive", "application/x-7z-compressed"},
	{0, "Rar!\x1a\x07", "archive", "application/vnd.rar"},
	{257, "ustar", "archive", "application/x-tar"},
	{0, "\x7fELF", "executable", "application/x-elf"},
	{0, "\xcf\xfa\xed\xfe", "executable", "application/x-mach-binary"},
	{0, "\xca\xfe\xba\xbe", "executable", "application/java-vm"},
	{0, "\x00asm", "executable", "application/wasm"},
	{0, "SQLite format 3\x00", "database", "application/vnd.sqlite3"},
	{4, "ftyp", "video", "video/mp4"},
	{0, "\x1aE\xdf\xa3", "video", "video/webm"},
	{0, "OggS", "audio", "audio/ogg"},
	{0, "ID3", "audio", "audio/mpeg"},
	{8, "WAVE", "audio", "audio/wav"},
	{0, "wOFF", "font", "font/woff"},
	{0, "wOF2", "font", "font/woff2"},
	{0, "\x00\x01\x00\x00\x00", "font", "font/ttf"},
}

// beginnings tells for each byte whether a mark at the start of a file begins
// with it, laterMarks are the formats whose mark stands further on.
var beginnings, laterMarks = func() (first [256]bool, later []int) {
	for i, f := range formats {
		if f.at > 0 {
			later = append(later, i)
			continue
		}
		first[f.mark[0]] = true
	}
	return first, later
}()

// magic tells a binary format by its mark. A mark of printable characters only
// counts when bytes follow that no text has, or when it is a PDF's.
func magic(head []byte) (kind, mime string, ok bool) {
	if len(head) == 0 || !beginnings[head[0]] && !slices.ContainsFunc(laterMarks, func(i int) bool { return formats[i].of(head) }) {
		return "binary", "application/octet-stream", false
	}
	for _, f := range formats {
		if !f.of(head) {
			continue
		}
		if f.mime != "application/pdf" && !strings.ContainsFunc(f.mark, func(r rune) bool { return r < ' ' || r > '~' }) &&
			bytes.IndexFunc(head, func(r rune) bool {
				return r == utf8.RuneError || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f'
			}) < 0 {
			continue
		}
		return f.kind, f.mime, true
	}
	return "binary", "application/octet-stream", false
}
