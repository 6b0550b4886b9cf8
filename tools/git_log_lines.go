package tools

import (
	"context"
	"errors"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/git"
)

// maxBlame is how many lines one call attributes.
const maxBlame = 2000

// lines attributes lines of a file to commits.
func (l *logRun) lines(ctx context.Context) error {
	c, in := l.c, l.in
	l.out.mode = "lines"
	badRange := func(n int) error {
		return c.Workspace.Refuse(sandbox.InvalidRange, sandbox.Args{"path": in.Path, "a": in.StartLine, "b": in.EndLine, "n": n, "total_lines": n})
	}
	rev := in.Revision
	if rev == "" {
		rev = l.tip
	}
	b, err := c.lookupBlob(ctx, l.repo, in.Path, l.rel, rev)
	var d *sandbox.Denial
	if errors.As(err, &d) && d.Code == sandbox.IsADirectory {
		return c.Workspace.Refuse(sandbox.InvalidCombination, sandbox.Args{
			"args": "start_line and a path that is a folder", "list": "path of a file with start_line and end_line"})
	}
	if err != nil {
		return err
	}
	total, err := b.countLines(ctx)
	if err != nil {
		return err
	}
	if in.StartLine > in.EndLine || in.StartLine > total {
		return badRange(total)
	}
	wanted := min(in.EndLine, total)
	last := min(wanted, in.StartLine+maxBlame-1)
	blamed, denied, err := l.repo.Blame(ctx, l.tip, l.rel, in.StartLine, last)
	if err != nil {
		return err
	}
	if denied {
		l.out.Notice(deniedName)
	}
	var ids []string
	seen := map[string]commitText{}
	dates := map[string]answer.Word{}
	for _, r := range blamed {
		if _, ok := seen[r.Commit]; !ok {
			seen[r.Commit] = commitText{}
			ids = append(ids, r.Commit)
		}
	}
	err = l.repo.Commits(ctx, ids, func(k *git.Commit) error {
		seen[k.ID] = c.textOf(k)
		dates[k.ID] = gitDate(k.Author.When)
		return nil
	})
	if err != nil {
		return err
	}
	done := in.StartLine - 1
	for _, r := range blamed {
		t := seen[r.Commit]
		if !l.spend(recordChars+20, t.author, t.subject) {
			l.out.Stopped = "chars"
			break
		}
		l.out.lines = append(l.out.lines, logLine{first: r.Start, last: r.End, sha: shortSHA(r.Commit), date: dates[r.Commit],
			author: c.Texts.Content(t.author, answer.None, 0), subject: c.Texts.Content(t.subject, answer.None, 0)})
		done = r.End
	}
	if done < wanted {
		if l.out.Stopped == "" {
			l.out.Stopped = "limit"
		}
		n := &answer.Next{Tool: "git_log", Args: []answer.Arg{answer.ArgText("path", c.Texts.Argument(in.Path)),
			answer.ArgInt("start_line", int64(done+1)), answer.ArgInt("end_line", int64(wanted))}}
		if in.Revision != "" {
			n.Args = append(n.Args, answer.ArgText("revision", c.Texts.Argument(in.Revision)))
		}
		l.out.Next = n
	} else {
		l.out.Complete = true
	}
	l.notices()
	return l.compareDisk(ctx, b)
}

// compareDisk says so when the file on disk is not the version whose lines were
// attributed.
func (l *logRun) compareDisk(ctx context.Context, b *blobAt) error {
	if l.in.Revision != "" {
		return nil
	}
	d, err := l.repo.Compare(ctx, git.Change{Status: git.Modified, Path: l.rel, OldPath: l.rel, OldMode: git.ModeFile, NewMode: git.ModeFile, OldID: b.id},
		git.CompareOptions{IDs: true, Hold: l.c.Memory.Hold, Attrs: l.repo.Attributes()})
	if err != nil {
		return err
	}
	if !d.Same {
		l.out.Notice(answer.W("the file on disk differs from HEAD; the lines are those of HEAD"))
	}
	return nil
}
