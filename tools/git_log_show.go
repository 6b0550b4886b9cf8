package tools

import (
	"context"
	"errors"
	"strings"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/git"
)

type gitLogOut struct {
	answer.Frame
	mode     answer.Word
	revision answer.Ref
	path     answer.Ref
	detail   string
	commits  []logCommit
	lines    []logLine
}

type logCommit struct {
	sha, date             answer.Word
	author, subject, body answer.Ref
	parents               []answer.Word
	refs                  []answer.Ref
	files                 []logFile
	listed                bool // files were asked for
}

type logFile struct {
	path           answer.Ref
	status         answer.Word
	letter         answer.Word
	added, deleted int
	counted        bool
}

type logLine struct {
	first, last     int
	sha, date       answer.Word
	author, subject answer.Ref
}

func (o *gitLogOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Word("mode", o.mode)
	j.Text("revision", o.revision)
	p.Outside(o.revision)
	if o.path != answer.None {
		p.Word(" · ")
		p.Outside(o.path)
	}
	p.Word(" · ")
	if o.mode == "lines" {
		plural(p, len(o.lines), " range of lines", " ranges of lines")
		return
	}
	plural(p, len(o.commits), " commit", " commits")
}

func plural(p *answer.Prose, n int, one, many answer.Word) {
	p.Int(int64(n))
	if n == 1 {
		many = one
	}
	p.Word(many)
}

func (o *gitLogOut) Body(j *answer.JSON, p *answer.Prose) {
	if o.mode == "lines" {
		j.Array("lines")
		for i := range o.lines {
			o.lines[i].put(j, p)
		}
		j.End()
		return
	}
	j.Array("commits")
	for i := range o.commits {
		o.commits[i].put(j, p)
	}
	j.End()
}

func (k *logCommit) put(j *answer.JSON, p *answer.Prose) {
	j.Object("")
	j.Word("sha", k.sha)
	j.Word("date", k.date)
	j.Text("author", k.author)
	j.Text("subject", k.subject)
	p.Word(k.sha + " " + day(k.date) + " ")
	p.Name(k.author)
	p.Word("  ")
	p.Name(k.subject)
	if len(k.refs) > 0 {
		j.Array("refs")
		p.Word(" (")
		for i, r := range k.refs {
			if i > 0 {
				p.Word(", ")
			}
			j.Text("", r)
			p.Name(r)
		}
		j.End()
		p.Word(")")
	}
	if len(k.parents) > 0 {
		j.Array("parents")
		p.Word(" [merge of")
		for _, s := range k.parents {
			j.Word("", s)
			p.Word(" " + s)
		}
		j.End()
		p.Word("]")
	}
	p.Word("\n")
	if k.body != answer.None {
		j.Text("body", k.body)
		p.Indented(k.body, "    ")
	}
	if k.listed {
		j.Array("files")
		for i := range k.files {
			f := &k.files[i]
			j.Object("")
			j.Text("path", f.path)
			j.Word("status", f.status)
			p.Word("  " + f.letter + " ")
			p.Name(f.path)
			putCounts(j, p, f.counted, f.added, f.deleted)
			j.End()
			p.Word("\n")
		}
		j.End()
	}
	j.End()
}

func putCounts(j *answer.JSON, p *answer.Prose, counted bool, added, deleted int) {
	if !counted {
		return
	}
	j.Int("added", int64(added))
	j.Int("deleted", int64(deleted))
	p.Word(" +")
	p.Int(int64(added))
	p.Word(" -")
	p.Int(int64(deleted))
}

func (k *logLine) put(j *answer.JSON, p *answer.Prose) {
	j.Object("")
	j.Int("start_line", int64(k.first))
	j.Int("end_line", int64(k.last))
	j.Word("sha", k.sha)
	j.Word("date", k.date)
	j.Text("author", k.author)
	j.Text("subject", k.subject)
	j.End()
	p.Int(int64(k.first))
	p.Word("-")
	p.Int(int64(k.last))
	p.Word("  " + k.sha + " " + day(k.date) + " ")
	p.Name(k.author)
	p.Word("  ")
	p.Name(k.subject)
	p.Word("\n")
}

// spend books the characters of one record in both halves and reports whether
// they fit.
func (l *logRun) spend(overhead int, texts ...secrets.Text) bool {
	n := overhead
	for _, t := range texts {
		n += lineCost(t)
	}
	budget := l.c.Limits.ContentChars()
	if l.prose+n > budget || l.structured+n > budget {
		return false
	}
	l.prose += n
	l.structured += n
	return true
}

// recordChars is what the frame of one commit takes in the longer half.
const recordChars = 100

// show turns commits into records until the budget is spent, and returns how
// many it took. With detail "files" it goes on in parts, so that the lists of
// the first commits are not left without room by the subjects of the last.
func (l *logRun) show(ctx context.Context, list []*git.Commit) (int, error) {
	refs, err := l.refNames(ctx)
	if err != nil {
		return 0, err
	}
	if l.in.Detail != "files" {
		return l.records(list, refs), nil
	}
	for i := 0; i < len(list); i += filesPerRun {
		part := list[i:min(i+filesPerRun, len(list))]
		n := l.records(part, refs)
		done, err := l.files(ctx, part[:n], i)
		if err != nil {
			return 0, err
		}
		if done < len(part) {
			return i + done, nil
		}
	}
	return len(list), nil
}

// records adds commits without their files and returns how many fit. The first
// of the answer always does, its body cut if need be.
func (l *logRun) records(list []*git.Commit, refs map[string][]string) int {
	for i, k := range list {
		t := l.c.textOf(k)
		rec := logCommit{sha: shortSHA(k.ID), date: gitDate(k.Author.When)}
		names := refs[k.ID]
		byShown(names, same, nil)
		names = names[:min(len(names), maxRefsShown)]
		overhead := recordChars
		for _, n := range names {
			overhead += nameCost(n) + 6
		}
		if len(k.Parents) > 1 {
			for _, p := range k.Parents[:min(len(k.Parents), 8)] {
				rec.parents = append(rec.parents, shortSHA(p))
				overhead += shortID + 4
			}
		}
		body := secrets.Text{}
		if l.in.Detail == "body" {
			body = t.body
			overhead += 12 + 6*strings.Count(body.Raw, "\n")
			if len(l.out.commits) == 0 {
				overhead = recordChars * 2
				for room := l.c.Limits.ContentChars() / 2; answer.Cost(body)+6*strings.Count(body.Raw, "\n") > room; {
					body = cutText(t.body, runeCount(body.Raw)*3/4)
				}
			}
		}
		if !l.spend(overhead+answer.Cost(body), t.author, t.subject) {
			return i
		}
		rec.author = l.c.Texts.Content(t.author, answer.None, 0)
		rec.subject = l.c.Texts.Content(t.subject, answer.None, 0)
		for _, n := range names {
			rec.refs = append(rec.refs, l.c.Texts.Name(n))
		}
		if body.Raw != "" {
			rec.body = l.c.Texts.Content(body, answer.None, 1)
		}
		if k.Lossy {
			l.lossy++
		}
		if k.Oversized {
			l.oversized++
		}
		l.out.commits = append(l.out.commits, rec)
	}
	return len(list)
}

func runeCount(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}

// maxRefsShown bounds the names shown at one commit.
const maxRefsShown = 12

// refNames maps commits to the names that point at them.
func (l *logRun) refNames(ctx context.Context) (map[string][]string, error) {
	refs, more, err := l.repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	if more {
		l.out.Notice(answer.W("there are too many branches and tags to name them all"))
	}
	names := make(map[string][]string, len(refs))
	for _, r := range refs {
		if len(r.Name) <= 200 {
			names[r.Commit] = append(names[r.Commit], r.Name)
		}
	}
	return names, nil
}

// Limits of detail "files".
const (
	filesPerRun    = 20       // commits compared by one git process
	filesPerCommit = 200      // names shown of one commit
	countedBytes   = 24 << 20 // blob bytes read for counts in one call
)

// files lists the changed files of commits whose records begin at index at,
// until the budget is spent; commits without room for their list are dropped.
func (l *logRun) files(ctx context.Context, list []*git.Commit, at int) (int, error) {
	lists, err := l.changes(ctx, list)
	if err != nil {
		if isTimeout(ctx, err) && at > 0 {
			l.out.commits = l.out.commits[:at]
			return 0, nil
		}
		return 0, err
	}
	for k, commit := range list {
		l.merges = l.merges || len(commit.Parents) > 1
		l.cut = l.cut || commit.Cut
		ok, err := l.commitFiles(ctx, &l.out.commits[at+k], lists[k], at+k == 0)
		if err != nil {
			return 0, err
		}
		if !ok {
			l.out.commits = l.out.commits[:at+k]
			return k, nil
		}
	}
	return len(list), nil
}

// changes compares each commit with its first parent, or with nothing.
func (l *logRun) changes(ctx context.Context, list []*git.Commit) ([][]git.Change, error) {
	pairs := make([][2]string, len(list))
	for k, commit := range list {
		pairs[k][1] = commit.ID
		if len(commit.Parents) > 0 {
			pairs[k][0] = commit.Parents[0]
		}
	}
	lists := make([][]git.Change, len(list))
	err := l.repo.CommitChanges(ctx, pairs, func(k int, changes []git.Change) { lists[k] = changes })
	if !tooMuch(err) {
		return lists, err
	}
	for k := range pairs { // one among them is huge: ask one by one
		err := l.repo.CommitChanges(ctx, pairs[k:k+1], func(_ int, changes []git.Change) { lists[k] = changes })
		if tooMuch(err) {
			l.out.Notice(answer.W("the files of commit "), answer.W(shortSHA(pairs[k][1])), answer.W(" are too many to be listed"))
			err = nil
		}
		if err != nil {
			return nil, err
		}
	}
	return lists, nil
}

func tooMuch(err error) bool {
	var d *sandbox.Denial
	return errors.As(err, &d) && d.Code == sandbox.ResultTooLarge
}

// statusWords are the published words for git's letters.
var statusWords = map[git.Status]answer.Word{
	git.Added: "added", git.Modified: "modified", git.Deleted: "deleted", git.Renamed: "renamed", git.Copied: "copied",
	git.TypeChanged: "type_changed", git.Unmerged: "unmerged", git.Untracked: "untracked",
}

// commitFiles fills in the files of one commit and reports whether they fit.
func (l *logRun) commitFiles(ctx context.Context, rec *logCommit, changes []git.Change, first bool) (bool, error) {
	rec.listed = true
	sortChanges(changes)
	left, denied := 0, 0
	for _, ch := range changes {
		if withheld(l.c, ch) {
			denied++
			continue
		}
		name := secrets.Text{Raw: ch.Path}
		if len(rec.files) == filesPerCommit || !l.spend(70, name) {
			if !first && len(rec.files) < filesPerCommit {
				return false, nil
			}
			left++
			continue
		}
		f := logFile{path: l.c.Texts.Name(ch.Path), status: statusWords[ch.Status], letter: answer.Word(rune(ch.Status))}
		if err := l.count(ctx, &f, ch); err != nil {
			return false, err
		}
		rec.files = append(rec.files, f)
	}
	l.denied += denied
	if left > 0 {
		l.out.Notice(answer.N(int64(left)), answer.W(" files of commit "), answer.W(rec.sha), answer.W(" are not listed"))
	}
	return true, nil
}

// withheld applies the denylist to both names of a change.
func withheld(c *Call, ch git.Change) bool {
	if _, no := c.Workspace.Denied(ch.Path); no {
		return true
	}
	_, no := c.Workspace.Denied(ch.OldPath)
	return no
}

// count adds line counts to a file, while there is budget for them.
func (l *logRun) count(ctx context.Context, f *logFile, ch git.Change) error {
	if l.countBytes > countedBytes {
		l.uncounted++
		return nil
	}
	d, err := l.repo.Compare(ctx, ch, git.CompareOptions{
		Hold: func(ctx context.Context, n int64) (func(), error) {
			l.countBytes += n / 2
			return l.c.Memory.Hold(ctx, n)
		}})
	if err != nil {
		if isTimeout(ctx, err) && ctx.Err() == nil {
			l.countBytes = countedBytes + 1
			l.uncounted++
			return nil
		}
		return err
	}
	f.added, f.deleted, f.counted = d.Patch.Added, d.Patch.Deleted, d.Counted
	if !d.Counted && !d.Binary {
		l.uncounted++
	}
	return nil
}
