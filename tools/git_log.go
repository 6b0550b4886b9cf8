package tools

import (
	"context"
	"errors"
	"strings"
	"time"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/git"
)

var gitLog = New(Definition{
	Name:  "git_log",
	Title: "Show commit history",
	Description: "List commits, newest first. Filter by path (renames are followed for a single file), author, words in the message, or dates. " +
		"revision takes a branch, tag, commit or range such as main..feature. detail adds the message body or the changed files. " +
		"With path, start_line and end_line it answers \"who last changed these lines\" instead. Use git_diff with commit to see what one commit changed.",
	Input: `{"type":"object","properties":{
		"path":{"type":"string","description":"Only commits touching this file or folder.","minLength":1,"maxLength":4096},
		"revision":{"type":"string","description":"Branch, tag, commit or A..B range. Default: HEAD.","minLength":1,"maxLength":256},
		"author":{"type":"string","description":"Only authors whose name contains this text.","minLength":1,"maxLength":200},
		"message":{"type":"string","description":"Only commits whose message contains this text.","minLength":1,"maxLength":200},
		"since":{"type":"string","description":"Only commits after this date, e.g. \"2026-01-31\" or \"2 weeks ago\".","minLength":1,"maxLength":64},
		"until":{"type":"string","description":"Only commits before this date.","minLength":1,"maxLength":64},
		"detail":{"type":"string","enum":["summary","body","files"],"default":"summary","description":"summary: one line each. body: full message. files: changed paths with counts."},
		"start_line":{"type":"integer","description":"With path and end_line: first line to attribute.","minimum":1,"maximum":100000000},
		"end_line":{"type":"integer","description":"With path and start_line: last line to attribute.","minimum":1,"maximum":100000000},
		"limit":{"type":"integer","description":"Commits to return.","minimum":1,"maximum":200,"default":20},
		"offset":{"type":"integer","description":"Commits to skip, from a previous next.","minimum":0,"maximum":1000000,"default":0}},
		"additionalProperties":false}`,
	Output: `{"type":"object","required":["mode","revision"],"additionalProperties":false,"properties":{
		"mode":{"enum":["commits","lines"]},
		"revision":{"type":"string"},
		"commits":{"type":"array","items":{"type":"object","properties":{"sha":{"type":"string"},"date":{"type":"string"},"author":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"},"parents":{"type":"array","items":{"type":"string"}},"refs":{"type":"array","items":{"type":"string"}},"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"status":{"type":"string"},"added":{"type":"integer","minimum":0},"deleted":{"type":"integer","minimum":0}},"required":["path","status"],"additionalProperties":false}}},"required":["sha","date","author","subject"],"additionalProperties":false}},
		"lines":{"type":"array","items":{"type":"object","properties":{"start_line":{"type":"integer","minimum":1},"end_line":{"type":"integer","minimum":1},"sha":{"type":"string"},"date":{"type":"string"},"author":{"type":"string"},"subject":{"type":"string"}},"required":["start_line","end_line","sha","date","author","subject"],"additionalProperties":false}}}}`,
	Codes: []sandbox.Code{
		sandbox.OutsideWorkspace, sandbox.DeniedPath, sandbox.InvalidPath, sandbox.NotFound, sandbox.Unreadable, sandbox.SpecialFile,
		sandbox.InvalidRange, sandbox.InvalidDate, sandbox.InvalidCombination, sandbox.GitDisabled, sandbox.GitUnavailable,
		sandbox.NotARepository, sandbox.GitOutsideWorkspace, sandbox.InvalidRevision, sandbox.UnknownRevision, sandbox.GitFailed,
		sandbox.Busy, sandbox.Timeout, sandbox.RateLimited, sandbox.ResultTooLarge,
	},
}, runGitLog)

type gitLogIn struct {
	Path      string `json:"path"`
	Revision  string `json:"revision"`
	Author    string `json:"author"`
	Message   string `json:"message"`
	Since     string `json:"since"`
	Until     string `json:"until"`
	Detail    string `json:"detail"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Limit     int    `json:"limit"`
	Offset    int    `json:"offset"`
}

func runGitLog(ctx context.Context, c *Call, in gitLogIn) (*gitLogOut, error) {
	return still(ctx, c, func() (*gitLogOut, error) { return askGitLog(ctx, c, in) })
}

func askGitLog(ctx context.Context, c *Call, in gitLogIn) (*gitLogOut, error) {
	if err := checkLogCombination(c, &in); err != nil {
		return nil, err
	}
	l := &logRun{c: c, in: &in, out: &gitLogOut{mode: "commits", detail: in.Detail}}
	rel, err := c.gitPath(in.Path)
	if err != nil {
		return nil, err
	}
	l.rel = rel
	g, err := c.startedGit()
	if err != nil {
		return nil, err
	}
	if err := l.dates(g); err != nil {
		return nil, err
	}
	rev := git.Range{To: "HEAD"}
	if in.Revision != "" {
		if rev, err = g.ParseRange(in.Revision); err != nil {
			return nil, err
		}
	}
	if l.repo, err = c.repository(ctx, g); err != nil {
		return nil, err
	}
	defer l.repo.Close()
	l.out.revision = c.Texts.Argument("HEAD")
	if in.Revision != "" {
		l.out.revision = c.Texts.Argument(in.Revision)
	}
	if in.Path != "" {
		l.out.path = c.pathRef(in.Path, rel)
	}
	if l.repo.Foreign() {
		l.out.Notice(answer.W("the repository belongs to another user"))
	}
	if in.Revision == "" {
		head, err := l.repo.Head(ctx)
		if err != nil {
			return nil, err
		}
		if head.Commit == "" {
			l.out.Complete = true
			l.out.Notice(answer.W("the branch "), answer.R(c.Texts.Name(head.Branch)), answer.W(" has no commits yet"))
			return l.out, nil
		}
		l.tip = head.Commit
	} else if err := l.resolve(ctx, rev); err != nil {
		return nil, err
	}
	if in.StartLine > 0 {
		return l.out, l.lines(ctx)
	}
	return l.out, l.commits(ctx)
}

func checkLogCombination(c *Call, in *gitLogIn) error {
	refuse := func(args, list string) error {
		return c.Workspace.Refuse(sandbox.InvalidCombination, sandbox.Args{"args": args, "list": list})
	}
	if in.StartLine == 0 && in.EndLine == 0 {
		return nil
	}
	const valid = "path with start_line and end_line, and revision if wanted"
	switch {
	case in.Path == "":
		return refuse("start_line or end_line and no path", valid)
	case in.StartLine == 0:
		return refuse("end_line and no start_line", valid)
	case in.EndLine == 0:
		return refuse("start_line and no end_line", valid)
	case in.Author != "" || in.Message != "" || in.Since != "" || in.Until != "":
		return refuse("start_line and author, message, since or until", valid)
	case in.Detail != "summary" && in.Detail != "":
		return refuse("start_line and detail", valid)
	case in.Offset > 0:
		return refuse("start_line and offset", valid)
	case strings.Contains(in.Revision, ".."):
		return refuse("start_line and a range of revisions", valid)
	}
	return nil
}

// logRun is one call of git_log.
type logRun struct {
	c            *Call
	in           *gitLogIn
	out          *gitLogOut
	repo         *git.Repo
	rel          string
	tip          string   // where the walk starts
	also         string   // second tip of A...B
	not          []string // commits whose ancestors are left out
	since, until time.Time

	prose, structured int // characters spent
	denied            int
	uncounted         int
	merges            bool
	cut               bool
	lossy, oversized  int
	countBytes        int64
}

func (l *logRun) dates(g *git.Git) (err error) {
	now := time.Now()
	if l.in.Since != "" {
		if l.since, _, err = g.ParseDate(l.in.Since, now); err != nil {
			return err
		}
	}
	if l.in.Until != "" {
		if _, l.until, err = g.ParseDate(l.in.Until, now); err != nil {
			return err
		}
	}
	return nil
}

// resolve turns the caller's revisions into full commit ids.
func (l *logRun) resolve(ctx context.Context, rev git.Range) (err error) {
	if l.tip, err = l.repo.Resolve(ctx, rev.To); err != nil || !rev.IsRange() {
		return err
	}
	from, err := l.repo.Resolve(ctx, rev.From)
	if err != nil {
		return err
	}
	if !rev.Symmetric {
		l.not = []string{from}
		return nil
	}
	l.also = from
	l.not, err = l.repo.MergeBases(ctx, from, l.tip)
	return err
}

// history is the walk that the arguments ask for.
func (l *logRun) history(ctx context.Context) (git.History, error) {
	h := git.History{Tips: []string{l.tip}, Not: l.not, Path: l.rel, Since: l.since, Until: l.until}
	if l.also != "" {
		h.Tips = append(h.Tips, l.also)
	}
	if l.rel != "" {
		e, ok, err := l.repo.Lookup(ctx, l.tip, l.rel)
		if err != nil {
			return h, err
		}
		h.Follow = !ok || e.Mode != git.ModeTree && e.Mode != git.ModeGitlink
	}
	return h, nil
}

// commits fills the answer with the commits asked for.
func (l *logRun) commits(ctx context.Context) error {
	h, err := l.history(ctx)
	if err != nil {
		return err
	}
	limit := l.in.Limit
	if m := l.c.Git.MaxCommits; m > 0 {
		limit = min(limit, m)
	}
	filtered := l.in.Author != "" || l.in.Message != ""
	skip := l.in.Offset
	if !filtered && !h.Follow {
		h.Skip, h.Max, skip = skip, limit+1, 0
	}
	list, walked, err := l.collect(ctx, h, skip, limit+1, filtered)
	timedOut := isTimeout(ctx, err)
	if err != nil && !(timedOut && len(list) > 0) {
		return err
	}
	if walked.Denied {
		l.out.Notice(deniedName)
	}
	if len(list) == 0 {
		return l.none(ctx, h, filtered)
	}
	more := len(list) > limit
	list = list[:min(len(list), limit)]
	shown, err := l.show(ctx, list)
	if err != nil {
		return err
	}
	switch {
	case shown < len(list):
		l.out.Stopped = "chars"
	case timedOut:
		l.out.Stopped = "time"
	case more:
		l.out.Stopped = "limit"
	default:
		l.out.Complete = true
	}
	if !l.out.Complete {
		l.out.Next = l.next(l.in.Offset + shown)
	}
	l.notices()
	return nil
}

// collect walks history and returns up to max matching commits after skip.
func (l *logRun) collect(ctx context.Context, h git.History, skip, max int, filtered bool) ([]*git.Commit, git.Walked, error) {
	author, message := strings.ToLower(l.in.Author), strings.ToLower(l.in.Message)
	var list []*git.Commit
	var pending []string
	scanned := int64(0)
	flush := func() error {
		err := l.repo.Commits(ctx, pending, func(k *git.Commit) error {
			if len(list) == max {
				return nil
			}
			if filtered {
				t := l.c.textOf(k)
				if !matches(t.maskedAuthor, author) || !matches(t.masked, message) {
					return nil
				}
			}
			if skip > 0 {
				skip--
				return nil
			}
			list = append(list, k)
			return nil
		})
		scanned += int64(len(pending))
		pending = pending[:0]
		l.c.Progress(scanned, 0, PhaseHistory)
		return err
	}
	// Few at first, so that a short page costs few objects; more later.
	size := min(max, 64)
	walked, err := l.repo.Walk(ctx, h, func(id, _ string) (bool, error) {
		if !filtered && skip > 0 {
			skip--
			return true, nil
		}
		pending = append(pending, id)
		if len(pending) < size {
			return true, nil
		}
		size = min(2*size, 1024)
		err := flush()
		return len(list) < max, err
	})
	if err == nil && len(list) < max {
		err = flush()
	}
	return list, walked, err
}

// none explains an empty list: not_found when neither git nor the disk knows
// the path.
func (l *logRun) none(ctx context.Context, h git.History, filtered bool) error {
	l.out.Complete = true
	if l.rel == "" {
		return nil
	}
	known := false
	if filtered || l.in.Offset > 0 || !h.Since.IsZero() || !h.Until.IsZero() || len(h.Not) > 0 {
		_, err := l.repo.Walk(ctx, git.History{Tips: h.Tips, Path: h.Path, Max: 1}, func(string, string) (bool, error) {
			known = true
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	if err := l.c.absent(l.in.Path); err != nil {
		return err
	}
	l.out.Notice(answer.W("no commit reached from here touches this path"))
	return nil
}

// next is the call that goes on at an offset.
func (l *logRun) next(offset int) *answer.Next {
	t := l.c.Texts
	n := &answer.Next{Tool: "git_log", Args: []answer.Arg{answer.ArgInt("offset", int64(offset))}}
	text := func(key answer.Word, v string) {
		if v != "" {
			n.Args = append(n.Args, answer.ArgText(key, t.Argument(v)))
		}
	}
	text("path", l.in.Path)
	text("revision", l.in.Revision)
	text("author", l.in.Author)
	text("message", l.in.Message)
	text("since", l.in.Since)
	text("until", l.in.Until)
	if l.in.Detail == "body" || l.in.Detail == "files" {
		n.Args = append(n.Args, answer.ArgWord("detail", answer.Word(l.in.Detail)))
	}
	n.Args = append(n.Args, answer.ArgInt("limit", int64(l.in.Limit)))
	return n
}

// deniedName says why a file's history is shorter than git's.
var deniedName = answer.W("the file had a name before that is withheld by policy; its history ends there")

func (l *logRun) notices() {
	o := l.out
	if l.denied > 0 {
		o.Notice(answer.N(int64(l.denied)), answer.W(" changed files are withheld by policy and left out"))
	}
	if l.uncounted > 0 {
		o.Notice(answer.W("lines are not counted for "), answer.N(int64(l.uncounted)), answer.W(" files"))
	}
	if l.cut {
		o.Notice(answer.W("the history is cut off (a shallow clone); the oldest commit lists all that it holds"))
	}
	if l.merges {
		o.Notice(answer.W("merge commits list files against their first parent"))
	}
	if l.lossy > 0 {
		o.Notice(answer.N(int64(l.lossy)), answer.W(" commits hold text that is not in the encoding they name; it is read as Latin-1"))
	}
	if l.oversized > 0 {
		o.Notice(answer.N(int64(l.oversized)), answer.W(" commit objects are too long to be read"))
	}
}

// isTimeout reports whether err says that time ran out, for the call or for one
// git process.
func isTimeout(ctx context.Context, err error) bool {
	var d *sandbox.Denial
	return errors.As(err, &d) && d.Code == sandbox.Timeout ||
		errors.Is(err, context.DeadlineExceeded) && errors.Is(ctx.Err(), context.DeadlineExceeded)
}
