package tools

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/git"
	"mcp-devserver/tools/internal/walk"
)

var gitDiff = New(Definition{
	Name:  "git_diff",
	Title: "Show changes",
	Description: "Show changes as a unified diff. With no arguments: unstaged edits in the working tree, plus the names of untracked files. " +
		"staged compares the index with HEAD. base alone compares it with the working tree; base and head compare two revisions " +
		"(merge_base starts from their common ancestor). commit shows what one commit changed. output_mode stat or names is cheaper than patch. " +
		"Lock files and other generated files are summarised unless path names them.",
	Input: `{"type":"object","properties":{
		"base":{"type":"string","description":"Revision to compare from.","minLength":1,"maxLength":256},
		"head":{"type":"string","description":"Revision to compare to. Needs base.","minLength":1,"maxLength":256},
		"commit":{"type":"string","description":"Show this one commit. Not with base, head or staged.","minLength":1,"maxLength":256},
		"staged":{"type":"boolean","description":"Compare the index with HEAD (or with base).","default":false},
		"merge_base":{"type":"boolean","description":"With base and head: start from their common ancestor.","default":false},
		"path":{"type":"string","description":"Only changes to this file or folder.","minLength":1,"maxLength":4096},
		"output_mode":{"type":"string","enum":["patch","stat","names"],"default":"patch","description":"patch: full diff. stat: added and deleted lines per file. names: paths and status."},
		"context_lines":{"type":"integer","description":"Unchanged lines around each change.","minimum":0,"maximum":20,"default":3},
		"limit":{"type":"integer","description":"Files to return.","minimum":1,"maximum":500,"default":50},
		"offset":{"type":"integer","description":"Files to skip, from a previous next.","minimum":0,"maximum":1000000,"default":0}},
		"additionalProperties":false}`,
	Output: `{"type":"object","required":["mode","base","head","total_files","files"],"additionalProperties":false,"properties":{
		"mode":{"enum":["patch","stat","names"]},
		"base":{"type":"string"},
		"head":{"type":"string"},
		"total_files":{"type":"integer","minimum":0},
		"added":{"type":"integer","minimum":0},
		"deleted":{"type":"integer","minimum":0},
		"denied":{"type":"integer","minimum":0},
		"commit":{"type":"object","properties":{"sha":{"type":"string"},"date":{"type":"string"},"author":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"}},"required":["sha","date","author","subject"],"additionalProperties":false},
		"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"old_path":{"type":"string"},"status":{"enum":["added","modified","deleted","renamed","copied","type_changed","unmerged","untracked"]},"added":{"type":"integer","minimum":0},"deleted":{"type":"integer","minimum":0},"binary":{"type":"boolean"},"omitted":{"enum":["generated","too_large","budget","binary"]},"patch":{"type":"string"}},"required":["path","status"],"additionalProperties":false}}}}`,
	Codes: []sandbox.Code{
		sandbox.OutsideWorkspace, sandbox.DeniedPath, sandbox.InvalidPath, sandbox.NotFound, sandbox.Unreadable, sandbox.SpecialFile,
		sandbox.InvalidCombination, sandbox.GitDisabled, sandbox.GitUnavailable, sandbox.NotARepository, sandbox.GitOutsideWorkspace,
		sandbox.InvalidRevision, sandbox.UnknownRevision, sandbox.GitFailed, sandbox.Busy, sandbox.Timeout, sandbox.RateLimited,
		sandbox.ResultTooLarge,
	},
}, runGitDiff)

type gitDiffIn struct {
	Base       string `json:"base"`
	Head       string `json:"head"`
	Commit     string `json:"commit"`
	Staged     bool   `json:"staged"`
	MergeBase  bool   `json:"merge_base"`
	Path       string `json:"path"`
	OutputMode string `json:"output_mode"`
	Context    int    `json:"context_lines"`
	Limit      int    `json:"limit"`
	Offset     int    `json:"offset"`
}

// diffRun is one call of git_diff.
type diffRun struct {
	c     *Call
	in    *gitDiffIn
	out   *gitDiffOut
	repo  *git.Repo
	attrs *git.Attributes
	rel   string // "" for everything
	base  string // revision as asked for
	head  string

	commits  []string     // full ids of the commits compared, for the question whether a path exists
	list     []git.Change // what differs, denied names dropped
	eol      int
	filtered int
	lossy    int
	absent   int
}

func runGitDiff(ctx context.Context, c *Call, in gitDiffIn) (*gitDiffOut, error) {
	return still(ctx, c, func() (*gitDiffOut, error) { return askGitDiff(ctx, c, in) })
}

func askGitDiff(ctx context.Context, c *Call, in gitDiffIn) (*gitDiffOut, error) {
	if in.OutputMode == "" {
		in.OutputMode = "patch"
	}
	d := &diffRun{c: c, in: &in, out: &gitDiffOut{mode: answer.Word(in.OutputMode)}, base: in.Base, head: in.Head}
	g, err := c.startedGit()
	if err != nil {
		return nil, err
	}
	if err := d.arguments(g); err != nil {
		return nil, err
	}
	if d.rel, err = c.gitPath(in.Path); err != nil {
		return nil, err
	}
	if d.repo, err = c.repository(ctx, g); err != nil {
		return nil, err
	}
	defer d.repo.Close()
	d.attrs = d.repo.Attributes()
	if d.repo.Foreign() {
		d.out.Notice(answer.W("the repository belongs to another user"))
	}
	if in.Path != "" {
		d.out.path = c.pathRef(in.Path, d.rel)
	}
	if err := d.sides(ctx); err != nil {
		return nil, err
	}
	sortChanges(d.list)
	if len(d.list) == 0 && d.rel != "" {
		if err := d.known(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.page(ctx); err != nil {
		return nil, err
	}
	d.notices()
	return d.out, nil
}

// arguments refuses impossible mixes, and takes a range in base apart.
func (d *diffRun) arguments(g *git.Git) error {
	in := d.in
	if in.Commit == "" && in.Head == "" && !in.Staged && strings.Contains(in.Base, "..") {
		r, err := g.ParseRange(in.Base)
		if err != nil {
			return err
		}
		d.base, d.head = r.From, r.To
		in.MergeBase = in.MergeBase || r.Symmetric
	}
	args := ""
	switch {
	case in.Commit != "" && in.Base != "":
		args = "commit and base"
	case in.Commit != "" && in.Head != "":
		args = "commit and head"
	case in.Commit != "" && in.Staged:
		args = "commit and staged"
	case in.Commit != "" && in.MergeBase:
		args = "commit and merge_base"
	case in.Staged && in.Head != "":
		args = "staged and head"
	case in.Staged && in.MergeBase:
		args = "staged and merge_base"
	case in.Head != "" && in.Base == "":
		args = "head and no base"
	case in.MergeBase && d.head == "":
		args = "merge_base and no head"
	default:
		return nil
	}
	return d.c.Workspace.Refuse(sandbox.InvalidCombination, sandbox.Args{"args": args,
		"list": "no revision at all; staged, alone or with base; base; base and head, with or without merge_base; commit"})
}

// sides finds what differs between the two sides that the arguments name.
func (d *diffRun) sides(ctx context.Context) error {
	t := d.c.Texts
	switch in := d.in; {
	case in.Commit != "":
		return d.oneCommit(ctx)
	case in.Staged:
		base := ""
		if in.Base != "" {
			id, err := d.repo.Resolve(ctx, in.Base)
			if err != nil {
				return err
			}
			base = id
			d.out.base = t.Argument(in.Base)
		} else {
			head, err := d.repo.Head(ctx)
			if err != nil {
				return err
			}
			base = head.Commit
			d.out.baseWord = "HEAD"
			d.unborn(head)
		}
		d.out.headWord = "index"
		return d.take(d.repo.IndexChanges(ctx, d.compared(base)))
	case d.head != "":
		return d.twoRevisions(ctx)
	case in.Base != "":
		base, err := d.repo.Resolve(ctx, d.base)
		if err != nil {
			return err
		}
		d.out.base, d.out.headWord = t.Argument(d.base), "worktree"
		staged, err := d.repo.IndexChanges(ctx, d.compared(base))
		if err != nil {
			return err
		}
		unstaged, err := d.repo.FileChanges(ctx)
		if err != nil {
			return err
		}
		if err := d.conflicts(ctx, unstaged); err != nil {
			return err
		}
		return d.changedOnDisk(ctx, git.Against(staged, unstaged))
	default:
		d.out.baseWord, d.out.headWord = "index", "worktree"
		unstaged, err := d.repo.FileChanges(ctx)
		if err != nil {
			return err
		}
		if err := d.conflicts(ctx, unstaged); err != nil {
			return err
		}
		if err := d.changedOnDisk(ctx, unstaged); err != nil {
			return err
		}
		return d.untracked(ctx)
	}
}

// sortChanges puts changes in the order of the names that are shown.
func sortChanges(list []git.Change) {
	byShown(list, func(c *git.Change) string { return c.Path }, func(a, b *git.Change) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.OldID, b.OldID), cmp.Compare(a.NewID, b.NewID))
	})
}

// compared notes a commit that is compared.
func (d *diffRun) compared(id string) string {
	if id != "" {
		d.commits = append(d.commits, id)
	}
	return id
}

func (d *diffRun) unborn(h git.Head) {
	if h.Commit == "" {
		d.out.Notice(answer.W("the branch "), answer.R(d.c.Texts.Name(h.Branch)), answer.W(" has no commits yet; everything in the index is new"))
	}
}

func (d *diffRun) twoRevisions(ctx context.Context) error {
	base, err := d.repo.Resolve(ctx, d.base)
	if err != nil {
		return err
	}
	head, err := d.repo.Resolve(ctx, d.head)
	if err != nil {
		return err
	}
	d.out.base, d.out.head = d.c.Texts.Argument(d.base), d.c.Texts.Argument(d.head)
	if d.in.MergeBase {
		bases, err := d.repo.MergeBases(ctx, base, head)
		if err != nil {
			return err
		}
		if len(bases) == 0 {
			return d.c.Workspace.Refuse(sandbox.InvalidCombination, sandbox.Args{
				"args": "merge_base with revisions that share no history", "list": "base and head without merge_base"})
		}
		if len(bases) > 1 {
			d.out.Notice(answer.W("there are "), answer.N(int64(len(bases))), answer.W(" common ancestors; the first is used"))
		}
		base = bases[0]
		d.out.base, d.out.baseWord = answer.None, shortSHA(base)
	}
	return d.take(d.repo.TreeChanges(ctx, d.compared(base), d.compared(head)))
}

func (d *diffRun) oneCommit(ctx context.Context) error {
	id, err := d.repo.Resolve(ctx, d.in.Commit)
	if err != nil {
		return err
	}
	k, err := d.repo.Commit(ctx, id)
	if err != nil {
		return err
	}
	base := ""
	d.out.baseWord, d.out.headWord = "nothing", shortSHA(id)
	if len(k.Parents) > 0 {
		base = k.Parents[0]
		d.out.baseWord = shortSHA(base)
	}
	if len(k.Parents) > 1 {
		d.out.Notice(answer.W("this is a merge commit; it is compared with its first parent"))
	}
	if k.Cut {
		d.out.Notice(answer.W("the history is cut off at this commit (a shallow clone); all that it holds is shown as added"))
	}
	if k.Lossy {
		d.out.Notice(answer.W("the message is not in the encoding that it names; it is read as Latin-1"))
	}
	t := d.c.textOf(k)
	body := cutText(t.body, maxBodyChars)
	texts := d.c.Texts
	d.out.commit = &diffCommit{sha: shortSHA(id), date: gitDate(k.Author.When),
		author: texts.Content(t.author, answer.None, 0), subject: texts.Content(t.subject, answer.None, 0)}
	d.out.spent = lineCost(t.author) + lineCost(t.subject) + answer.Cost(body) + 200 + 6*strings.Count(body.Raw, "\n")
	if body.Raw != "" {
		d.out.commit.body = texts.Content(body, answer.None, 1)
	}
	d.compared(base)
	return d.take(d.repo.TreeChanges(ctx, base, d.compared(id)))
}

// maxBodyChars bounds the message body shown with one commit.
const maxBodyChars = 4000

// within reports whether a change concerns the asked path: either name counts.
func (d *diffRun) within(ch git.Change) bool {
	in := func(p string) bool {
		return p == d.rel || strings.HasPrefix(p, d.rel) && p[len(d.rel)] == '/'
	}
	return d.rel == "" || in(ch.Path) || in(ch.OldPath)
}

// take keeps the changes that concern the path and may be shown.
func (d *diffRun) take(list []git.Change, err error) error {
	if err != nil {
		return err
	}
	for _, ch := range list {
		if !d.within(ch) {
			continue
		}
		if withheld(d.c, ch) {
			d.out.denied++
			continue
		}
		d.list = append(d.list, ch)
	}
	return nil
}

// conflicts gives unmerged paths the content of our side to compare with.
func (d *diffRun) conflicts(ctx context.Context, list []git.Change) error {
	if !slices.ContainsFunc(list, func(ch git.Change) bool { return ch.Status == git.Unmerged }) {
		return nil
	}
	index, err := d.repo.Index(ctx)
	if err != nil {
		return err
	}
	ours := map[string]git.IndexEntry{}
	for _, e := range index {
		if e.Stage == 2 {
			ours[e.Path] = e
		}
	}
	for i := range list {
		if e, ok := ours[list[i].Path]; ok && list[i].Status == git.Unmerged {
			list[i].OldID, list[i].OldMode = e.ID, e.Mode
		}
	}
	return nil
}

// changedOnDisk keeps the changes whose content proves to differ.
func (d *diffRun) changedOnDisk(ctx context.Context, list []git.Change) error {
	if err := d.take(list, nil); err != nil {
		return err
	}
	candidates := d.list
	d.list = nil
	for i, ch := range candidates {
		if i&15 == 0 {
			d.c.Progress(int64(i), int64(len(candidates)), PhaseDiff)
		}
		if ch.NewID != "" || ch.NewMode == 0 && ch.Status != git.Unmerged {
			d.list = append(d.list, ch) // both sides are known to git
			continue
		}
		r, err := d.repo.Compare(ctx, ch, git.CompareOptions{IDs: true, Hold: d.c.Memory.Hold, Attrs: d.attrs})
		if err != nil {
			return err
		}
		if r.EOL {
			d.eol++
		}
		if r.Same && ch.Status != git.Unmerged {
			continue
		}
		if r.Filtered {
			d.filtered++
		}
		if ch.Status != git.Unmerged {
			ch.Status = r.Status
		}
		ch.NewMode = r.NewMode
		d.list = append(d.list, ch)
	}
	return nil
}

// untracked adds the names of files that the index does not know, in the order
// of all names.
func (d *diffRun) untracked(ctx context.Context) error {
	index, err := d.repo.Index(ctx)
	if err != nil {
		return err
	}
	tracked := make(map[string]bool, len(index))
	folders := map[string]bool{}
	for _, e := range index {
		tracked[e.Path] = true
		for p := e.Path; ; {
			i := strings.LastIndexByte(p, '/')
			if i < 0 || folders[p[:i]] {
				break
			}
			p = p[:i]
			folders[p] = true
		}
	}
	o := walk.Options{Gitignore: true, MaxEntries: d.c.Limits.WalkMaxEntries, MaxDepth: d.c.Limits.WalkMaxDepth}
	stats, err := walk.Walk(ctx, d.c.Workspace, ".", o, func(it *walk.Item) (walk.Action, error) {
		// The walk starts at the root, so that what is ignored on the way to the
		// path stays ignored.
		if !d.within(git.Change{Path: it.Path, OldPath: it.Path}) {
			if it.Kind == sandbox.KindDirectory && !strings.HasPrefix(d.rel, it.Path+"/") {
				return walk.SkipDir, nil
			}
			return walk.Continue, nil
		}
		if it.State == walk.Ignored || it.State == walk.Denied {
			return walk.Continue, nil
		}
		switch it.Kind {
		case sandbox.KindDirectory:
			if tracked[it.Path] {
				return walk.SkipDir, nil // a submodule
			}
			if !folders[it.Path] && d.repo.IsRepository(it.Path) {
				d.list = append(d.list, git.Change{Status: git.Untracked, Path: it.Path + "/", OldPath: it.Path + "/"})
				return walk.SkipDir, nil
			}
		case sandbox.KindFile, sandbox.KindSymlink:
			if !tracked[it.Path] {
				d.list = append(d.list, git.Change{Status: git.Untracked, Path: it.Path, OldPath: it.Path})
			}
		}
		return walk.Continue, nil
	})
	if err != nil {
		return err
	}
	if stats.Capped {
		d.out.Notice(answer.W("the working tree has too many entries; some untracked files may be missing"))
	}
	return nil
}

// known refuses a path that neither git nor the disk knows.
func (d *diffRun) known(ctx context.Context) error {
	if d.out.denied > 0 {
		return nil
	}
	denial := d.c.absent(d.in.Path)
	if denial == nil {
		return nil
	}
	for _, id := range d.commits {
		if _, ok, err := d.repo.Lookup(ctx, id, d.rel); err != nil || ok {
			return err
		}
	}
	index, err := d.repo.Index(ctx)
	if err != nil {
		return err
	}
	for _, e := range index {
		if d.within(git.Change{Path: e.Path, OldPath: e.Path}) {
			return nil
		}
	}
	return denial
}

func (d *diffRun) notices() {
	o := d.out
	count := func(n int, text answer.Word) {
		if n > 0 {
			o.Notice(answer.N(int64(n)), answer.W(text))
		}
	}
	count(o.denied, " changed files are withheld by policy and not shown")
	count(d.eol, " files differ from the index only in line endings that git converts; they are not listed")
	count(d.filtered, " files belong to a filter driver and are compared as they are stored")
	count(d.absent, " files have content that this clone does not hold (a partial clone); it is not shown")
	count(d.lossy, " files hold bytes that are not UTF-8, shown as U+FFFD")
}
