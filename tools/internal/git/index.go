package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"mcp-devserver/sandbox"
)

// IndexEntry is one entry of the index; Stage is 0, or 1–3 for an unmerged path.
type IndexEntry struct {
	Mode  uint32
	ID    string
	Stage int
	Path  string
	// What the index remembers of the file on disk; zero where it does not.
	modified, changed stamp
	ino, size         uint32 // the lower 32 bits
	flags             uint32
}

// stamp is a time as the index keeps it.
type stamp struct{ sec, nsec uint32 }

// differs reports whether t is another time; a part that one side does not keep
// is not compared.
func (s stamp) differs(t time.Time) bool {
	if t.IsZero() || s == (stamp{}) {
		return false
	}
	return s.sec != uint32(t.Unix()) || s.nsec != 0 && t.Nanosecond() != 0 && s.nsec != uint32(t.Nanosecond())
}

// Flags of an entry, as git keeps them in memory.
const (
	flagAssumed = 0x8000     // the user vouches for the file
	flagIntent  = 0x20000000 // to be added: there is no content yet
	flagAbsent  = 0x40000000 // left out of the work tree on purpose
)

// maxIndex bounds the names of an index together, in bytes: about half a million
// of them.
const maxIndex = 64 << 20

// errFormat reports output of git that is not as this package knows it.
var errFormat = errors.New("git: unexpected output")

// Index lists the index in path order, submodules included. It is read once.
func (r *Repo) Index(ctx context.Context) ([]IndexEntry, error) {
	if r.index != nil {
		return r.index, nil
	}
	p, err := r.start(ctx, cmdLsFiles, "--")
	if err != nil {
		return nil, err
	}
	out, size := []IndexEntry{}, 0
	for {
		var e IndexEntry
		if e, err = readEntry(p.out); err != nil {
			break
		}
		if size += len(e.Path) + 64; size > maxIndex {
			err = errTooMuch
			break
		}
		out = append(out, e)
	}
	if err == io.EOF {
		err = p.close()
	} else if p.abort(); p.timeUp {
		err = p.err
	}
	switch {
	case errors.Is(err, errFormat):
		return nil, r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 0})
	case err != nil:
		return nil, r.failed(err)
	}
	if err := r.same(); err != nil {
		return nil, err
	}
	r.index = out
	return out, nil
}

// readEntry reads one entry of "ls-files -s -z --debug": mode, id, stage and name
// up to a NUL, then lines that begin with blanks. What those lines say and this
// package does not know is passed over: git promises nothing about them.
func readEntry(in *bufio.Reader) (e IndexEntry, err error) {
	record, err := in.ReadSlice(0)
	if err == io.EOF && len(record) == 0 {
		return e, io.EOF
	}
	if err != nil {
		return e, errFormat
	}
	text := string(record[:len(record)-1]) // one string for id and name
	meta, path, tab := strings.Cut(text, "\t")
	modes, meta, _ := strings.Cut(meta, " ")
	id, stage, _ := strings.Cut(meta, " ")
	if !tab || path == "" || !isID(id) || len(stage) != 1 || stage[0] < '0' || stage[0] > '3' {
		return e, errFormat
	}
	mode, err := strconv.ParseUint(modes, 8, 32)
	if err != nil {
		return e, errFormat
	}
	e = IndexEntry{Mode: uint32(mode), ID: id, Stage: int(stage[0] - '0'), Path: path}
	for {
		if b, err := in.Peek(1); err != nil || b[0] != ' ' {
			return e, nil
		}
		line, err := in.ReadSlice('\n')
		if err != nil {
			return e, errFormat
		}
		e.remember(line)
	}
}

// remember takes one line of what the index knows of a file: names that end in
// colons, each before its value.
func (e *IndexEntry) remember(line []byte) {
	for {
		var name, value []byte
		name, line = word(line)
		value, line = word(line)
		if len(value) == 0 {
			return
		}
		switch string(name) {
		case "ctime:":
			e.changed = readStamp(value)
		case "mtime:":
			e.modified = readStamp(value)
		case "ino:":
			e.ino = number(value, 10)
		case "size:":
			e.size = number(value, 10)
		case "flags:":
			e.flags = number(value, 16)
		}
	}
}

// word takes the next word off a line.
func word(line []byte) (w, rest []byte) {
	line = bytes.TrimLeft(line, " \t\n")
	if i := bytes.IndexAny(line, " \t\n"); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}

func readStamp(b []byte) stamp {
	sec, nsec, _ := bytes.Cut(b, []byte{':'})
	return stamp{number(sec, 10), number(nsec, 10)}
}

// number is 0 for what is none, or is too large.
func number(b []byte, base uint64) uint32 {
	var n uint64
	for _, c := range b {
		d := uint64(99)
		switch {
		case '0' <= c && c <= '9':
			d = uint64(c - '0')
		case 'a' <= c && c <= 'f':
			d = uint64(c-'a') + 10
		}
		if n = n*base + d; d >= base || n > 1<<32-1 {
			return 0
		}
	}
	return uint32(n)
}
