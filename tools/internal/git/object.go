package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"

	"mcp-devserver/sandbox"
)

// catFile is a running object reader: requests on its input, answers in order.
type catFile struct{ p *process }

func (c *catFile) close() { _ = c.p.close() }

// errMissing reports an object that the repository does not hold.
var errMissing = errors.New("git: no such object")

// reader returns the running object reader, starting it when needed.
func (r *Repo) reader(ctx context.Context) (*catFile, error) {
	if r.objects != nil {
		return r.objects, nil
	}
	p, err := r.start(ctx, cmdCatFile)
	if err != nil {
		return nil, err
	}
	r.objects = &catFile{p}
	return r.objects, nil
}

// drop ends a reader that is out of step or no longer wanted.
func (r *Repo) drop() error {
	if r.objects == nil {
		return nil
	}
	p := r.objects.p
	r.objects = nil
	p.abort()
	if p.timeUp {
		return p.err
	}
	return nil
}

// broken ends the reader after a failed exchange and says why it failed.
func (r *Repo) broken() error {
	if err := r.drop(); err != nil {
		return err
	}
	return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 128})
}

// header reads one answer line: "<id> <type> <size>" or "<id> missing".
func (r *Repo) header(c *catFile) (typ string, size int64, err error) {
	line, err := c.p.out.ReadSlice('\n')
	if err != nil {
		return "", 0, r.broken()
	}
	f := strings.Split(strings.TrimSuffix(string(line), "\n"), " ")
	if len(f) == 2 && f[1] == "missing" {
		return "", 0, errMissing
	}
	if len(f) != 3 {
		return "", 0, r.broken()
	}
	size, err = strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return "", 0, r.broken()
	}
	return f[1], size, nil
}

func (r *Repo) ask(ctx context.Context, what, id string) (*catFile, string, int64, error) {
	if !isID(id) {
		return nil, "", 0, errMissing
	}
	c, err := r.reader(ctx)
	if err != nil {
		return nil, "", 0, err
	}
	if _, err := io.WriteString(c.p.in, what+" "+id+"\n"); err != nil {
		return nil, "", 0, r.broken()
	}
	typ, size, err := r.header(c)
	return c, typ, size, err
}

// info asks for type and size of an object; nothing of it is read.
func (r *Repo) info(ctx context.Context, id string) (typ string, size int64, err error) {
	_, typ, size, err = r.ask(ctx, "info", id)
	return typ, size, err
}

// object reads a whole object of the wanted type, at most max bytes long.
// A longer one is errTooMuch.
func (r *Repo) object(ctx context.Context, id, want string, max int64) ([]byte, error) {
	typ, size, err := r.info(ctx, id)
	if err != nil {
		return nil, err
	}
	if typ != want {
		return nil, errMissing
	}
	if size > max {
		return nil, errTooMuch
	}
	c, _, size2, err := r.ask(ctx, "contents", id)
	if err != nil {
		return nil, err
	}
	if size2 != size {
		return nil, r.broken()
	}
	b := make([]byte, size+1)
	if _, err := io.ReadFull(c.p.out, b); err != nil || b[size] != '\n' {
		return nil, r.broken()
	}
	return b[:size:size], nil
}

// BlobSize is the length of a blob in bytes.
func (r *Repo) BlobSize(ctx context.Context, id string) (int64, error) {
	typ, size, err := r.info(ctx, id)
	if err == nil && typ != "blob" {
		err = errMissing
	}
	return size, r.missing(err)
}

// Blob reads a blob of at most max bytes (0: Options.MaxOutput); a longer one is
// result_too_large.
func (r *Repo) Blob(ctx context.Context, id string, max int64) ([]byte, error) {
	if max <= 0 {
		max = r.git.opt.MaxOutput
	}
	b, err := r.object(ctx, id, "blob", max)
	if errors.Is(err, errTooMuch) {
		return nil, r.git.ws.Refuse(sandbox.ResultTooLarge, nil)
	}
	return b, r.missing(err)
}

// BlobHead reads the first n bytes of a blob, whatever its length.
func (r *Repo) BlobHead(ctx context.Context, id string, n int64) ([]byte, error) {
	c, typ, size, err := r.ask(ctx, "contents", id)
	if err != nil {
		return nil, r.missing(err)
	}
	if typ != "blob" {
		_ = r.drop()
		return nil, r.missing(errMissing)
	}
	b := make([]byte, min(n, size))
	if _, err := io.ReadFull(c.p.out, b); err != nil {
		return nil, r.broken()
	}
	if size <= n {
		if _, err := c.p.out.Discard(1); err != nil {
			return nil, r.broken()
		}
		return b, nil
	}
	return b, r.drop()
}

// BlobReader streams a blob to read, in order, without holding it. The blob's
// size comes first.
func (r *Repo) BlobReader(ctx context.Context, id string, read func(size int64, body io.Reader) error) error {
	c, typ, size, err := r.ask(ctx, "contents", id)
	if err != nil {
		return r.missing(err)
	}
	if typ != "blob" {
		_ = r.drop()
		return r.missing(errMissing)
	}
	body := &io.LimitedReader{R: c.p.out, N: size}
	err = read(size, body)
	if err != nil || body.N > 0 {
		if derr := r.drop(); err == nil {
			err = derr
		}
		return err
	}
	if _, err := c.p.out.Discard(1); err != nil {
		return r.broken()
	}
	return nil
}

// missing turns the absence of an object that git itself named into git_failed.
func (r *Repo) missing(err error) error {
	if errors.Is(err, errMissing) || errors.Is(err, errTooMuch) {
		return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 128})
	}
	return err
}

// Modes of tree entries.
const (
	ModeFile    = 0o100644
	ModeExec    = 0o100755
	ModeLink    = 0o120000
	ModeTree    = 0o040000
	ModeGitlink = 0o160000
)

// TreeEntry is one name in a tree object.
type TreeEntry struct {
	Mode uint32
	Name string
	ID   string
}

// maxTree bounds a tree object, in bytes.
const maxTree = 64 << 20

// parseTree takes a raw tree object apart; idLen is the binary length of an id.
func parseTree(b []byte, idLen int) ([]TreeEntry, error) {
	var out []TreeEntry
	for len(b) > 0 {
		sp := bytes.IndexByte(b, ' ')
		nul := bytes.IndexByte(b, 0)
		if sp < 0 || nul < sp || len(b) < nul+1+idLen {
			return nil, errMissing
		}
		mode, err := strconv.ParseUint(string(b[:sp]), 8, 32)
		if err != nil {
			return nil, errMissing
		}
		out = append(out, TreeEntry{uint32(mode), string(b[sp+1 : nul]), hex.EncodeToString(b[nul+1 : nul+1+idLen])})
		b = b[nul+1+idLen:]
	}
	return out, nil
}

// Lookup finds path in a commit's tree, byte for byte, without following links
// or entering submodules. ok is false when the commit has no such path. The path
// "." is the tree itself.
func (r *Repo) Lookup(ctx context.Context, commit, path string) (e TreeEntry, ok bool, err error) {
	c, err := r.Commit(ctx, commit)
	if err != nil {
		return e, false, err
	}
	e = TreeEntry{Mode: ModeTree, ID: c.Tree}
	if path == "." || path == "" {
		return e, true, nil
	}
	for _, name := range strings.Split(path, "/") {
		if e.Mode != ModeTree {
			return TreeEntry{}, false, nil
		}
		b, err := r.object(ctx, e.ID, "tree", maxTree)
		if err != nil {
			return TreeEntry{}, false, r.missing(err)
		}
		list, err := parseTree(b, len(e.ID)/2)
		if err != nil {
			return TreeEntry{}, false, r.missing(err)
		}
		found := false
		for _, t := range list {
			if t.Name == name {
				e, found = t, true
				break
			}
		}
		if !found {
			return TreeEntry{}, false, nil
		}
	}
	return e, true, nil
}
