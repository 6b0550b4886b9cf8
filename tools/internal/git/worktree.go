package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"path"
	"strconv"
	"strings"

	"mcp-devserver/sandbox"
)

// workFile is the work-tree side of a change, opened through the sandbox: no
// part of its path is a link, and git has no hand in reading it.
type workFile struct {
	kind sandbox.Kind
	size int64
	file *sandbox.File // open, for a regular file
	link string        // text of a symbolic link
}

func (f *workFile) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

// errGone reports that a path has no file on disk that git would track.
var errGone = errors.New("git: not in the work tree")

// openWork opens rel beneath the root. A path that leads through a link, or that
// names a folder or a special file, is errGone: git sees it the same way.
func (r *Repo) openWork(rel string) (*workFile, error) {
	dir, name := path.Split(rel)
	dir = path.Clean(dir)
	d, err := r.git.ws.OpenDir(dir)
	if err != nil {
		return nil, gone(err)
	}
	defer d.Close()
	if d.Path() != dir {
		return nil, errGone
	}
	info, err := d.Stat(name)
	if err != nil {
		return nil, gone(err)
	}
	switch info.Kind {
	case sandbox.KindSymlink:
		text, err := d.LinkText(name)
		if err != nil {
			return nil, gone(err)
		}
		return &workFile{kind: info.Kind, size: int64(len(text)), link: text}, nil
	case sandbox.KindFile:
		f, err := d.OpenFile(name)
		if err != nil {
			return nil, gone(err)
		}
		return &workFile{kind: info.Kind, size: f.Info().Size, file: f}, nil
	}
	return nil, errGone
}

// gone maps the denials that mean "no such file" to errGone.
func gone(err error) error {
	var d *sandbox.Denial
	if errors.As(err, &d) {
		switch d.Code {
		case sandbox.NotFound, sandbox.NotADirectory, sandbox.IsADirectory, sandbox.SpecialFile, sandbox.OutsideWorkspace, sandbox.InvalidPath:
			return errGone
		}
	}
	return err
}

// blobHash is the hash whose value is the id of a blob of that size; like is
// any id of the same repository.
func blobHash(like string, size int64) hash.Hash {
	var h hash.Hash
	if len(like) == 64 {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	_, _ = io.WriteString(h, "blob "+strconv.FormatInt(size, 10)+"\x00")
	return h
}

func blobID(like string, b []byte) string {
	h := blobHash(like, int64(len(b)))
	_, _ = h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// hashStep is how much is hashed between two looks at the context: about 100 µs.
const hashStep = 128 << 10

// copyChecked copies src to dst and stops when the context ends.
func copyChecked(ctx context.Context, dst io.Writer, src io.Reader) (int64, error) {
	buf := make([]byte, hashStep)
	var n int64
	for {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		k, err := src.Read(buf)
		if k > 0 {
			_, _ = dst.Write(buf[:k])
			n += int64(k)
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// lfsPointer reads the stored form of a Git LFS file: the SHA-256 and length of
// what the work tree holds.
func lfsPointer(b []byte) (oid string, size int64, ok bool) {
	if len(b) > 1024 || !strings.HasPrefix(string(b), "version https://git-lfs.github.com/spec/") {
		return "", 0, false
	}
	size = -1
	for line := range strings.Lines(string(b)) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch k {
		case "oid":
			oid, _ = strings.CutPrefix(v, "sha256:")
		case "size":
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				size = n
			}
		}
	}
	return oid, size, len(oid) == 64 && isID(oid) && size >= 0
}

func sha256Hex(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
