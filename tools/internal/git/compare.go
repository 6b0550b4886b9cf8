package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
)

// CompareOptions say how far a change is looked into.
type CompareOptions struct {
	Context int  // lines around each change
	Patch   bool // make the patch; otherwise counts only
	IDs     bool // only find out whether content differs; no counts
	// Hold asks for n bytes of the shared budget; release gives them back. It
	// may wait, and its error ends the comparison. nil: no budget.
	Hold  func(ctx context.Context, n int64) (release func(), err error)
	Attrs *Attributes
}

// Compared is a change that has been looked into.
type Compared struct {
	Change
	Same     bool // nothing differs after all; not to be shown
	EOL      bool // with Same: the line endings do, and conversion explains it
	Filtered bool // compared as stored, although a filter driver is in charge of the file
	Binary   bool
	TooLarge bool // a side, or the patch, is longer than is read or shown
	Lossy    bool // bytes that are not UTF-8 are U+FFFD in the patch
	Absent   bool // a side's content is not in this clone; nothing more is known
	Counted  bool // Patch.Added and Deleted are known
	Patch    Patch
}

// sniff is how much of a file decides whether it is binary when it is too long
// to be read whole, as git does.
const sniff = 8000

// Compare reads both sides of a change and computes what differs. The denylist
// is the caller's to apply first, on both names.
func (r *Repo) Compare(ctx context.Context, c Change, o CompareOptions) (Compared, error) {
	out := Compared{Change: c}
	fromDisk := c.NewMode != 0 && c.NewID == "" || c.Status == Unmerged
	var disk *workFile
	if fromDisk {
		var err error
		disk, err = r.openWork(c.Path)
		switch {
		case errors.Is(err, errGone):
			if c.OldMode == 0 && c.OldID == "" {
				out.Same = true
				return out, nil
			}
			if out.Status != Unmerged {
				out.Status, out.NewMode = Deleted, 0
			}
		case err != nil:
			return out, err
		default:
			defer disk.close()
			if disk.kind == sandbox.KindSymlink {
				out.NewMode = ModeLink
			} else if out.NewMode&0o170000 != 0o100000 {
				out.NewMode = ModeFile
			}
		}
	}
	max := r.git.opt.MaxOutput
	var oldSize, newSize int64
	var err error
	if c.OldID != "" {
		if oldSize, err = r.sizeOf(ctx, c.OldID, &out); err != nil || out.Absent {
			return out, err
		}
	}
	switch {
	case disk != nil:
		newSize = disk.size
	case c.NewID != "":
		if newSize, err = r.sizeOf(ctx, c.NewID, &out); err != nil || out.Absent {
			return out, err
		}
	}
	var attr Attr
	if o.Attrs != nil {
		attr = o.Attrs.Of(c.Path)
	}
	out.Filtered = attr.Filter && disk != nil
	if oldSize > max || newSize > max {
		return r.compareLong(ctx, out, disk, oldSize, newSize)
	}
	if o.Hold != nil {
		// Both sides, their lines and the patch.
		release, err := o.Hold(ctx, 2*(oldSize+newSize)+4096)
		if err != nil {
			return out, err
		}
		defer release()
	}
	var before, after []byte
	if disk != nil {
		if after, err = disk.read(ctx, max); err != nil {
			return out, err
		}
		out.NewID = blobID(r.like(c), after)
		if out.NewID == c.OldID {
			out.Same = sameMode(c.OldMode, out.NewMode)
			out.Counted = true
			out.modeOnly(o)
			return out, nil
		}
	}
	if c.OldID != "" {
		if before, err = r.Blob(ctx, c.OldID, max); err != nil {
			return out, err
		}
	}
	if disk != nil && disk.file != nil {
		if oid, size, ok := lfsPointer(before); ok && attr.Filter {
			if size == int64(len(after)) && sha256Hex(after) == oid {
				out.Same = sameMode(c.OldMode, out.NewMode)
				return out, nil
			}
			out.Binary = true
			return out, nil
		}
		if r.converts(attr) && bytes.Contains(after, []byte("\r\n")) && !bytes.Contains(before, []byte("\r\n")) && !isBinary(after) {
			after = bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n"))
			if bytes.Equal(before, after) {
				out.EOL = true
				out.Same = sameMode(c.OldMode, out.NewMode)
				out.Counted = true
				out.modeOnly(o)
				return out, nil
			}
		}
	}
	if disk == nil && c.NewID != "" {
		if c.NewID == c.OldID {
			after = before
		} else if after, err = r.Blob(ctx, c.NewID, max); err != nil {
			return out, err
		}
	}
	if o.IDs {
		return out, nil
	}
	if isBinary(before) || isBinary(after) {
		out.Binary = !bytes.Equal(before, after)
		out.modeOnly(o)
		return out, nil
	}
	// The comparison is over the bytes, so that lines that differ in a byte which
	// is not UTF-8 differ in the patch, too, though they look alike there.
	edits, err := diffText(ctx, splitText(string(before)), splitText(string(after)))
	if err != nil {
		return out, err
	}
	x, y, lines := secrets.Text{Raw: string(before)}, secrets.Text{Raw: string(after)}, -1
	if o.Patch {
		lines = o.Context
		out.Lossy = !utf8.ValidString(x.Raw) || !utf8.ValidString(y.Raw)
		x, y = secrets.Scan(validText(x.Raw)), secrets.Scan(validText(y.Raw))
	}
	out.Patch = writePatch(x, y, edits, lines)
	out.Counted = true
	out.TooLarge = out.Patch.TooLarge
	out.modeOnly(o)
	return out, nil
}

// sizeOf is the length of one side. A partial clone holds no more of a blob than
// its id until it is fetched, which is never done here.
func (r *Repo) sizeOf(ctx context.Context, id string, out *Compared) (int64, error) {
	typ, size, err := r.info(ctx, id)
	if err != nil && r.partial() {
		// Git says so, or ends: it would fetch what it knows to be promised.
		var d *sandbox.Denial
		if errors.Is(err, errMissing) || errors.As(err, &d) && d.Code == sandbox.GitFailed {
			out.Absent = true
			return 0, nil
		}
	}
	if err == nil && typ != "blob" {
		err = errMissing
	}
	return size, r.missing(err)
}

// partial reports that the repository may lack objects that it names.
func (r *Repo) partial() bool {
	if r.Has("extensions.partialclone") {
		return true
	}
	for k := range r.keys {
		if strings.HasPrefix(k, "remote.") && strings.HasSuffix(k, ".promisor") {
			return true
		}
	}
	return false
}

// modeOnly puts git's words for a changed mode before the hunks.
func (c *Compared) modeOnly(o CompareOptions) {
	if !o.Patch || c.Same || sameMode(c.OldMode, c.NewMode) || c.OldMode == 0 || c.NewMode == 0 || c.Status == Unmerged || c.TooLarge {
		return
	}
	head := "old mode " + octal(c.OldMode) + "\nnew mode " + octal(c.NewMode)
	if c.Patch.Text.Raw != "" {
		head += "\n"
	}
	for i := range c.Patch.Text.Spans {
		c.Patch.Text.Spans[i].Start += len(head)
		c.Patch.Text.Spans[i].End += len(head)
	}
	c.Patch.Text.Raw = head + c.Patch.Text.Raw
}

func octal(mode uint32) string {
	b := make([]byte, 6)
	for i := range b {
		b[5-i] = '0' + byte(mode>>(3*i)&7)
	}
	return string(b)
}

func sameMode(a, b uint32) bool { return a == b }

// like is an id of this repository, from which the hash function follows.
func (r *Repo) like(c Change) string {
	if c.OldID == "" && r.Has("extensions.objectformat") {
		return emptyTreeSHA256
	}
	return c.OldID
}

// converts reports whether line endings of a work-tree file may legitimately
// differ from the stored ones.
func (r *Repo) converts(a Attr) bool {
	return a.Text || r.crlf
}

// compareLong decides what can be said of files that are too long to be held:
// whether they differ, and whether they are binary.
func (r *Repo) compareLong(ctx context.Context, out Compared, disk *workFile, oldSize, newSize int64) (Compared, error) {
	if disk != nil && disk.file != nil {
		h := blobHash(r.like(out.Change), newSize)
		head := &headWriter{}
		n, err := copyChecked(ctx, io.MultiWriter(h, head), io.NewSectionReader(disk.file, 0, newSize))
		if err != nil {
			return out, err
		}
		out.Binary = isBinary(head.b)
		if n == newSize {
			out.NewID = hex.EncodeToString(h.Sum(nil))
			if out.NewID == out.OldID && sameMode(out.OldMode, out.NewMode) {
				out.Same = true
				return out, nil
			}
		}
	}
	for _, side := range []struct {
		id   string
		read bool
	}{{out.OldID, true}, {out.NewID, disk == nil}} {
		if side.id == "" || !side.read || out.Binary {
			continue
		}
		b, err := r.BlobHead(ctx, side.id, sniff)
		if err != nil {
			return out, err
		}
		out.Binary = isBinary(b)
	}
	out.TooLarge = !out.Binary
	return out, nil
}

// headWriter keeps the first bytes written to it.
type headWriter struct{ b []byte }

func (h *headWriter) Write(p []byte) (int, error) {
	if n := sniff - len(h.b); n > 0 {
		h.b = append(h.b, p[:min(n, len(p))]...)
	}
	return len(p), nil
}

// read reads the whole file, or the text of the link.
func (f *workFile) read(ctx context.Context, max int64) ([]byte, error) {
	if f.file == nil {
		return []byte(f.link), nil
	}
	var b bytes.Buffer
	b.Grow(int(min(f.size, max)) + 1)
	if _, err := copyChecked(ctx, &b, io.LimitReader(f.file, max)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// isBinary is stricter than git's rule: a NUL anywhere, because text with NUL in
// it (UTF-16, for one) is text in which a secret has a different spelling.
func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

// validText puts U+FFFD for every byte that is not UTF-8: one for each, so that
// different bytes at different places stay visible as such.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 64)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// generated are base names of lock files and the like: written by tools, long,
// and hardly ever what a reader of a diff wants.
var generated = map[string]bool{
	"package-lock.json": true, "npm-shrinkwrap.json": true, "yarn.lock": true, "pnpm-lock.yaml": true,
	"bun.lock": true, "bun.lockb": true, "deno.lock": true, "go.sum": true, "go.work.sum": true,
	"cargo.lock": true, "gemfile.lock": true, "composer.lock": true, "poetry.lock": true,
	"pipfile.lock": true, "pdm.lock": true, "uv.lock": true, "mix.lock": true, "pubspec.lock": true,
	"podfile.lock": true, "package.resolved": true, "packages.lock.json": true, "gradle.lockfile": true,
	"flake.lock": true, ".terraform.lock.hcl": true,
}

// Generated reports whether a file is written by a tool, by its name or by an
// attribute.
func (a *Attributes) Generated(rel string) bool {
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	return generated[strings.ToLower(name)] || a.Of(rel).Generated
}
