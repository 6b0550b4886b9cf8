package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// Commit is a commit object, parsed here. Texts are UTF-8 without NUL.
type Commit struct {
	ID        string
	Tree      string
	Parents   []string
	Author    Person
	Committer Person
	Message   string
	Lossy     bool // the text was not what its encoding header says, and was read as Latin-1
	Oversized bool // the object is longer than 16 MiB; its text is not read
	Cut       bool // a shallow clone ends here: Parents is empty although the object names some
}

// Person is an author or committer.
type Person struct {
	Name  string
	Email string
	When  time.Time // UTC; zero when the object holds no usable time
}

// maxCommit bounds a commit object that is read, in bytes; signatures and
// merged tags count.
const maxCommit = 16 << 20

// Subject is the first paragraph of the message on one line, as git shows it.
func (c *Commit) Subject() string {
	s, _ := splitMessage(c.Message)
	return s
}

// Body is the message after its first paragraph, without surrounding newlines.
func (c *Commit) Body() string {
	_, b := splitMessage(c.Message)
	return b
}

// SplitMessage gives the byte ranges of subject paragraph and body in a message.
func SplitMessage(m string) (subjectStart, subjectEnd, bodyStart, bodyEnd int) {
	i := 0
	for i < len(m) { // leading blank lines
		j := lineEnd(m, i)
		if strings.TrimSpace(m[i:j]) != "" {
			break
		}
		i = j
	}
	subjectStart = i
	for i < len(m) {
		j := lineEnd(m, i)
		if strings.TrimSpace(m[i:j]) == "" {
			break
		}
		i = j
	}
	subjectEnd = subjectStart + len(strings.TrimRight(m[subjectStart:i], " \t\r\n"))
	for i < len(m) {
		j := lineEnd(m, i)
		if strings.TrimSpace(m[i:j]) != "" {
			break
		}
		i = j
	}
	bodyStart = i
	bodyEnd = bodyStart + len(strings.TrimRight(m[bodyStart:], " \t\r\n"))
	return subjectStart, subjectEnd, bodyStart, bodyEnd
}

func splitMessage(m string) (subject, body string) {
	a, b, c, d := SplitMessage(m)
	lines := strings.Split(m[a:b], "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.Join(lines, " "), m[c:d]
}

func lineEnd(s string, i int) int {
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
		return i + j + 1
	}
	return len(s)
}

// Commit reads and parses one commit.
func (r *Repo) Commit(ctx context.Context, id string) (*Commit, error) {
	var out *Commit
	err := r.Commits(ctx, []string{id}, func(c *Commit) error { out = c; return nil })
	return out, err
}

// batch is how many objects are asked for before the first answer is read.
const batch = 256

// Commits reads commits in the given order. The size of each is asked before
// its content. An error of visit ends the reading and is returned.
func (r *Repo) Commits(ctx context.Context, ids []string, visit func(*Commit) error) error {
	for len(ids) > 0 {
		n := min(batch, len(ids))
		if err := r.commitBatch(ctx, ids[:n], visit); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

func (r *Repo) commitBatch(ctx context.Context, ids []string, visit func(*Commit) error) error {
	c, err := r.reader(ctx)
	if err != nil {
		return err
	}
	send := func(what string, ids []string) {
		var b strings.Builder
		for _, id := range ids {
			b.WriteString(what + " " + id + "\n")
		}
		// In a goroutine, because a pipe may be shorter than a batch; it has
		// ended once the last answer was read. A broken pipe shows on that side.
		go func() { _, _ = io.WriteString(c.p.in, b.String()) }()
	}
	for _, id := range ids {
		if !isID(id) {
			return r.missing(errMissing)
		}
	}
	send("info", ids)
	var read []string
	big := map[string]bool{}
	for _, id := range ids {
		typ, size, err := r.header(c)
		if errors.Is(err, errMissing) || err == nil && typ != "commit" {
			return r.outOfStep(errMissing)
		}
		if err != nil {
			return err
		}
		if size > maxCommit {
			big[id] = true
			continue
		}
		read = append(read, id)
	}
	send("contents", read)
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return r.outOfStep(context.Cause(ctx))
		}
		if big[id] {
			if err := visit(&Commit{ID: id, Oversized: true}); err != nil {
				return r.outOfStep(err)
			}
			continue
		}
		_, size, err := r.header(c)
		if err != nil {
			return r.missing(err)
		}
		b := make([]byte, size+1)
		if _, err := io.ReadFull(c.p.out, b); err != nil {
			return r.broken()
		}
		k := parseCommit(id, b[:size])
		if len(k.Parents) > 0 && r.cutAt(id) {
			k.Parents, k.Cut = nil, true
		}
		if err := visit(k); err != nil {
			return r.outOfStep(err)
		}
	}
	return nil
}

// maxShallow bounds the list of commits at which a shallow clone ends, in bytes.
const maxShallow = 8 << 20

// cutAt reports whether a shallow clone ends at a commit. Git keeps those in a
// file, and leaves the objects as they are.
func (r *Repo) cutAt(id string) bool {
	if r.shallow == nil {
		r.shallow = map[string]bool{}
		if b, err := r.door.Read(r.common+"/shallow", maxShallow); err == nil && !r.outside {
			for line := range strings.Lines(string(b)) {
				r.shallow[strings.TrimSpace(line)] = true
			}
		}
	}
	return r.shallow[id]
}

// outOfStep ends a reader that still has unread answers.
func (r *Repo) outOfStep(err error) error {
	if derr := r.drop(); derr != nil {
		return derr
	}
	return r.missing(err)
}

// parseCommit takes a raw commit object apart. It never fails: what is absent
// or malformed stays empty.
func parseCommit(id string, b []byte) *Commit {
	c := &Commit{ID: id}
	var author, committer []byte
	var enc string
	for first := true; len(b) > 0; first = false {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		if len(line) == 0 {
			break // the message follows
		}
		if line[0] == ' ' {
			continue // continuation of a signature, a merged tag or an unknown header
		}
		key, value, _ := bytes.Cut(line, []byte{' '})
		switch string(key) {
		case "tree":
			if first && isID(string(value)) {
				c.Tree = string(value)
			}
		case "parent":
			if isID(string(value)) && author == nil {
				c.Parents = append(c.Parents, string(value))
			}
		case "author":
			if author == nil {
				author = value
			}
		case "committer":
			if committer == nil {
				committer = value
			}
		case "encoding":
			if enc == "" {
				enc = string(value)
			}
		}
	}
	decode := decoder(enc)
	c.Author = parsePerson(author, decode, &c.Lossy)
	c.Committer = parsePerson(committer, decode, &c.Lossy)
	c.Message = decode(b, &c.Lossy)
	return c
}

// decoder returns the function that turns bytes of a commit into text. The
// second argument of it is set when the bytes were not in that encoding.
func decoder(name string) func([]byte, *bool) string {
	latin1 := func(b []byte, lossy *bool) string {
		*lossy = true
		s, _ := charmap.ISO8859_1.NewDecoder().Bytes(b)
		return noNUL(string(s))
	}
	utf := func(b []byte, lossy *bool) string {
		if !utf8.Valid(b) {
			return latin1(b, lossy)
		}
		return noNUL(string(b))
	}
	if name == "" {
		return utf
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		if strings.EqualFold(name, "UTF-8") {
			return utf
		}
		return func(b []byte, lossy *bool) string {
			*lossy = true
			return utf(b, lossy)
		}
	}
	if n, err := htmlindex.Name(e); err == nil && n == "utf-8" {
		return utf
	}
	return func(b []byte, lossy *bool) string {
		s, err := e.NewDecoder().Bytes(b)
		if err != nil || bytes.ContainsRune(s, utf8.RuneError) {
			*lossy = true
		}
		if err != nil {
			return latin1(b, lossy)
		}
		return noNUL(string(s))
	}
}

// noNUL drops NUL characters, which would hide a secret from its rule.
func noNUL(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// parsePerson reads "Name <email> seconds zone".
func parsePerson(b []byte, decode func([]byte, *bool) string, lossy *bool) Person {
	var p Person
	open := bytes.IndexByte(b, '<')
	end := bytes.LastIndexByte(b, '>')
	if open < 0 || end < open {
		p.Name = decode(bytes.TrimSpace(b), lossy)
		return p
	}
	p.Name = decode(bytes.TrimSpace(b[:open]), lossy)
	p.Email = decode(bytes.TrimSpace(b[open+1:end]), lossy)
	sec, _, _ := bytes.Cut(bytes.TrimSpace(b[end+1:]), []byte{' '})
	if n, err := strconv.ParseInt(string(sec), 10, 64); err == nil && sec[0] != '+' && n > -62135596800 && n < 253402300800 {
		p.When = time.Unix(n, 0).UTC()
	}
	return p
}
