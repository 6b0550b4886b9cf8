package tools

import (
	"context"
	"errors"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/git"
)

// projectGit is what an overview says about the repository: counts alone.
type projectGit struct {
	branch                                  answer.Ref
	head                                    answer.Word
	detached                                bool
	staged, modified, untracked, conflicted int
}

// maxVerified is how many files whose status differs are read to see whether their content does.
const maxVerified = 300

// git asks the repository at the root of the workspace. Where there is none, nothing is said.
func (o *overview) git(ctx context.Context) error {
	c := o.c
	notices, opened := o.out.Notices, false
	g, err := still(ctx, c, func() (*projectGit, error) {
		o.out.Notices, opened = notices, false
		_, repo, err := c.openRepo(ctx)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		opened = true
		return o.counts(ctx, repo)
	})
	var denial *sandbox.Denial
	switch {
	case err == nil:
		o.out.git = g
		return nil
	case !errors.As(err, &denial):
		return err
	case opened:
		o.out.Notices = notices
		o.out.Notice(answer.W("git could not answer in full; its counts are missing"))
	case denial.Code == sandbox.NotARepository:
	case denial.Code == sandbox.GitDisabled:
		o.out.Notice(answer.W("git is turned off"))
	case denial.Code == sandbox.GitUnavailable:
		o.out.Notice(answer.W("git was not found; its counts are missing"))
	case denial.Code == sandbox.GitOutsideWorkspace:
		o.out.Notice(answer.W("the repository keeps data outside the workspace; its counts are missing"))
	default:
		o.out.Notice(answer.W("git could not answer; its counts are missing"))
	}
	return nil
}

// counts gives what a status would, for the folder that is summarised.
func (o *overview) counts(ctx context.Context, repo *git.Repo) (*projectGit, error) {
	c := o.c
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	g := &projectGit{detached: head.Branch == "", head: shortSHA(head.Commit)}
	if head.Branch != "" {
		g.branch = c.Texts.Name(head.Branch)
	}
	if head.Commit == "" {
		g.detached = false
		o.out.Notice(answer.W("the branch has no commits yet"))
	}
	rel := o.path
	if rel == "." {
		rel = ""
	}
	d := &diffRun{c: c, in: &gitDiffIn{}, out: &gitDiffOut{}, repo: repo, attrs: repo.Attributes(), rel: rel}
	if err := d.take(repo.IndexChanges(ctx, head.Commit)); err != nil {
		return nil, err
	}
	for _, ch := range d.list {
		if ch.Status == git.Unmerged {
			g.conflicted++
		} else {
			g.staged++
		}
	}
	d.list = nil
	changes, err := repo.FileChanges(ctx)
	if err != nil {
		return nil, err
	}
	if len(changes) > maxVerified {
		err = d.take(changes, nil)
		o.out.Notice(answer.W("many files have a new status; whether their content differs was not checked"))
	} else {
		err = d.changedOnDisk(ctx, changes)
	}
	if err != nil {
		return nil, err
	}
	for _, ch := range d.list {
		if ch.Status != git.Unmerged {
			g.modified++
		}
	}
	d.list = nil
	if err := d.untracked(ctx); err != nil {
		return nil, err
	}
	g.untracked = len(d.list)
	o.out.Notices = append(o.out.Notices, d.out.Notices...)
	return g, nil
}
