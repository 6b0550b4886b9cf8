package tools

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/git"
)

// gitState is the prepared git of an Env.
type gitState struct {
	once sync.Once
	git  *git.Git
	err  error
}

// StartGit checks the git program and prepares to start it. It must run before
// the process confines itself, because it opens the null device that every git
// gets; without it the first call does the same. The error says what is wrong
// with the program, and the git tools then answer git_unavailable.
func (e *Env) StartGit() error {
	e.git.once.Do(func() {
		e.git.git, e.git.err = git.New(e.Workspace, git.Options{
			Binary: e.Git.Binary, Timeout: e.Git.Timeout, MaxOutput: e.Git.MaxOutputBytes, AllowExternal: e.Git.AllowExternal,
		})
	})
	return e.git.err
}

// startedGit returns the prepared git, or the denial that says why there is none.
func (c *Call) startedGit() (*git.Git, error) {
	switch {
	case !c.Git.Enabled:
		return nil, c.Workspace.Refuse(sandbox.GitDisabled, nil)
	case c.Git.Binary == "" || c.StartGit() != nil:
		return nil, c.Workspace.Refuse(sandbox.GitUnavailable, nil)
	}
	return c.git.git, nil
}

// openRepo opens the repository at the root of the workspace. The caller closes
// it.
func (c *Call) openRepo(ctx context.Context) (*git.Git, *git.Repo, error) {
	g, err := c.startedGit()
	if err != nil {
		return nil, nil, err
	}
	r, err := c.repository(ctx, g)
	return g, r, err
}

// repository is g.Open; still knows of it.
func (c *Call) repository(ctx context.Context, g *git.Git) (*git.Repo, error) {
	r, err := g.Open(ctx)
	c.repo = r
	return r, err
}

// maxStill is how often a repository that does not hold still is asked.
const maxStill = 5

// still runs ask, which asks the repository, until the repository's own files
// have not moved meanwhile: an answer out of one that moved may come from
// anywhere, and neither it nor its denial is given.
func still[Out any](ctx context.Context, c *Call, ask func() (Out, error)) (Out, error) {
	texts := *c.Texts
	for try := 1; ; try++ {
		c.repo = nil
		out, err := ask()
		if c.repo == nil {
			return out, err
		}
		var late *sandbox.Denial
		if errors.As(err, &late) && late.Code == sandbox.Timeout {
			return out, err // it says nothing of the repository, and trying again takes as long
		}
		moved, wait := c.repo.Moved()
		if !moved {
			return out, err
		}
		*c.Texts = texts
		var none Out
		if try == maxStill {
			return none, c.Workspace.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 0})
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return none, context.Cause(ctx)
		}
	}
}

// tracked lists what the repository tracks, for a walk that cannot read the index.
func (c *Call) tracked(ctx context.Context) (names, links []string, err error) {
	apart := &Call{Env: c.Env, Texts: new(answer.Texts), Progress: c.Progress} // others may be at work on c
	entries, err := still(ctx, apart, func() ([]git.IndexEntry, error) {
		_, r, err := apart.openRepo(ctx)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.Index(ctx)
	})
	if err != nil {
		return nil, nil, err
	}
	const gitlink = 0o160000
	names = make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Path
		if entries[i].Mode == gitlink {
			links = append(links, entries[i].Path)
		}
	}
	return names, links, nil
}

// gitPath turns a caller's path into the name that a tree or the index may
// have: contained and past the denylist, but not necessarily on disk. "" stands
// for the whole workspace.
func (c *Call) gitPath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	rel, err := c.Workspace.Locate(path)
	if err != nil || rel == "." {
		return "", err
	}
	return rel, nil
}

// absent is the denial for a path that git does not know, or nil if it is on
// disk.
func (c *Call) absent(path string) error {
	_, err := c.Workspace.Stat(path)
	return err
}

// blobAt finds the regular file that path was at a revision. The size is known
// before anything is read; read fetches the bytes.
type blobAt struct {
	Path   string // relative to the root, as in the tree
	Commit string // full id
	Size   int64
	repo   *git.Repo
	id     string
}

// openBlob looks path up at a revision. Close the result.
func (c *Call) openBlob(ctx context.Context, path, revision string) (*blobAt, error) {
	rel, err := c.gitPath(path)
	if err != nil {
		return nil, err
	}
	_, r, err := c.openRepo(ctx)
	if err != nil {
		return nil, err
	}
	b, err := c.lookupBlob(ctx, r, path, rel, revision)
	if err != nil {
		r.Close()
		return nil, err
	}
	return b, nil
}

func (c *Call) lookupBlob(ctx context.Context, r *git.Repo, path, rel, revision string) (*blobAt, error) {
	commit, err := r.Resolve(ctx, revision)
	if err != nil {
		return nil, err
	}
	e, ok, err := r.Lookup(ctx, commit, rel)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		if err := c.absent(path); err != nil {
			return nil, err
		}
		return nil, c.Workspace.Refuse(sandbox.NotFound, sandbox.Args{"path": path, "name": rel[strings.LastIndexByte(rel, '/')+1:]})
	case e.Mode == git.ModeTree || e.Mode == git.ModeGitlink:
		return nil, c.Workspace.Refuse(sandbox.IsADirectory, sandbox.Args{"path": path})
	}
	size, err := r.BlobSize(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	return &blobAt{Path: rel, Commit: commit, Size: size, repo: r, id: e.ID}, nil
}

// Read returns the bytes of the file; the caller holds the memory for them.
func (b *blobAt) Read(ctx context.Context) ([]byte, error) { return b.repo.Blob(ctx, b.id, b.Size) }

// countLines streams the file and counts its lines.
func (b *blobAt) countLines(ctx context.Context) (lines int, err error) {
	err = b.repo.BlobReader(ctx, b.id, func(size int64, body io.Reader) error {
		buf := make([]byte, 64<<10)
		last := byte('\n')
		for {
			n, err := body.Read(buf)
			if n > 0 {
				lines += bytes.Count(buf[:n], []byte{'\n'})
				last = buf[n-1]
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		if last != '\n' {
			lines++
		}
		return nil
	})
	return lines, err
}

// Close ends the reader.
func (b *blobAt) Close() { b.repo.Close() }

// readRevision answers read_file for a file as it was at a commit.
func readRevision(ctx context.Context, c *Call, in *readFileIn) (*readFileOut, error) {
	return still(ctx, c, func() (*readFileOut, error) {
		again := *in
		return askRevision(ctx, c, &again)
	})
}

func askRevision(ctx context.Context, c *Call, in *readFileIn) (*readFileOut, error) {
	if strings.Contains(in.Revision, "..") {
		return nil, c.Workspace.Refuse(sandbox.InvalidRevision, sandbox.Args{"rev": in.Revision})
	}
	b, err := c.openBlob(ctx, in.Path, in.Revision)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if limit := min(c.Limits.UnrangedBytes, c.Git.MaxOutputBytes); b.Size > limit {
		return nil, tooLarge(in.Path, b.Size, limit, false)
	}
	release, err := c.Memory.Hold(ctx, b.Size)
	if err != nil {
		return nil, err
	}
	defer release()
	data, err := b.Read(ctx)
	if err != nil {
		return nil, err
	}
	o := &readFileOut{version: answer.Word(b.id[:8]), size: b.Size, numbers: in.LineNumbers}
	o.path, o.revision = c.pathRef(in.Path, b.Path), c.Texts.Argument(in.Revision)
	return o, readText(ctx, c, in, o, bytes.NewReader(data), b.Size, b.Path)
}

// shortID is how much of a commit id an answer shows.
const shortID = 12

func shortSHA(id string) answer.Word { return answer.Word(id[:min(shortID, len(id))]) }

func gitDate(t time.Time) answer.Word {
	if t.IsZero() {
		return "unknown"
	}
	return answer.Word(t.UTC().Format(time.RFC3339))
}

// day is the date of a time in prose.
func day(w answer.Word) answer.Word { return w[:min(10, len(w))] }

// Limits of texts in the git tools, in characters.
const (
	maxSubject = 300
	maxAuthor  = 100
	maxMessage = 1 << 20 // bytes of a message that are kept once its secrets are known
)

// commitText is what an answer shows of a commit, together with the secrets
// found in the whole message.
type commitText struct {
	author, subject, body secrets.Text
	masked, maskedAuthor  string // for questions; in lower case
}

// textOf scans a commit's words. The order matters: secrets are found on the
// whole message first, then it is cut.
func (c *Call) textOf(k *git.Commit) commitText {
	who := k.Author.Name
	if c.Git.ShowEmail && k.Author.Email != "" {
		who += " <" + k.Author.Email + ">"
	}
	author := secrets.Scan(strings.ToValidUTF8(who, "\uFFFD"))
	message := secrets.Scan(strings.ToValidUTF8(k.Message, "\uFFFD"))
	a, b, from, to := git.SplitMessage(message.Raw)
	t := commitText{
		author:       cutText(author, maxAuthor),
		masked:       strings.ToLower(message.Masked()),
		maskedAuthor: strings.ToLower(author.Masked()),
	}
	subject := message.Slice(a, b)
	subject.Raw = strings.ReplaceAll(subject.Raw, "\n", " ")
	if b > a && strings.IndexByte(message.Raw[a:b], '\n') >= 0 {
		subject = seen(subject)
	}
	t.subject = cutText(subject, maxSubject)
	if to-from > maxMessage {
		to = from + maxMessage
		for !utf8.RuneStart(message.Raw[to]) {
			to--
		}
	}
	t.body = message.Slice(from, to)
	return t
}

// lineCost is the cost of a text that prose shows on one line, with what it does
// not like to show escaped.
func lineCost(t secrets.Text) int {
	return answer.Cost(t) + 2*max(0, len(sandbox.EscapeName(t.Raw))-len(t.Raw))
}

func nameCost(s string) int { return lineCost(secrets.Text{Raw: s}) }

// matches reports whether a lower-cased filter occurs in masked text. A masked
// secret is NUL bytes, which no filter matches.
func matches(masked, filter string) bool {
	return filter == "" || strings.IndexByte(filter, secrets.Mask) < 0 && strings.Contains(masked, filter)
}

// cutText keeps the first n characters of a text and says how many it dropped.
func cutText(t secrets.Text, n int) secrets.Text {
	k := answer.RunePrefix(t.Raw, n)
	if k == len(t.Raw) {
		return t
	}
	out := t.Slice(0, k)
	out.Raw += " … [+" + itoa(int64(utf8.RuneCountInString(t.Raw[k:]))) + " chars]"
	return seen(out)
}

// Neutralised names what the repository at the root of the workspace would have
// git run and what does not run here: keys of its configuration, hooks. The
// error is that of the git tools for a repository that is not served.
func (e *Env) Neutralised(ctx context.Context) ([]string, error) {
	_, r, err := (&Call{Env: e}).openRepo(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Executable(), nil
}
