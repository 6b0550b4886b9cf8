package tools

import (
	"context"
	"strings"

	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
	"mcp-devserver/tools/internal/git"
)

type gitDiffOut struct {
	answer.Frame
	mode               answer.Word
	base, head         answer.Ref // a revision of the caller, or None
	baseWord, headWord answer.Word
	path               answer.Ref
	total              int
	added, deleted     int
	counted            bool
	denied             int
	commit             *diffCommit
	files              []diffFile
	spent              int  // characters taken by the commit
	partial            bool // the first patch is not whole
}

type diffCommit struct {
	sha, date             answer.Word
	author, subject, body answer.Ref
}

type diffFile struct {
	path, old      answer.Ref
	status         answer.Word
	letter         answer.Word
	added, deleted int
	counted        bool
	binary         bool
	omitted        answer.Word
	patch          answer.Ref
}

func (o *gitDiffOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Word("mode", o.mode)
	side := func(key answer.Word, r answer.Ref, w answer.Word) {
		if r != answer.None {
			j.Text(key, r)
			p.Outside(r)
			return
		}
		j.Word(key, w)
		p.Word(w)
	}
	side("base", o.base, o.baseWord)
	p.Word(" → ")
	side("head", o.head, o.headWord)
	j.Int("total_files", int64(o.total))
	if o.path != answer.None {
		p.Word(" · ")
		p.Outside(o.path)
	}
	p.Word(" · ")
	plural(p, o.total, " file", " files")
	if len(o.files) < o.total {
		p.Word(" (")
		p.Int(int64(len(o.files)))
		p.Word(" listed)")
	}
	putSum(j, p, o)
	if o.denied > 0 {
		p.Word(" · ")
		p.Int(int64(o.denied))
		p.Word(" denied")
	}
	j.Int("denied", int64(o.denied))
}

func putSum(j *answer.JSON, p *answer.Prose, o *gitDiffOut) {
	if !o.counted {
		return
	}
	p.Word(" ·")
	putCounts(j, p, true, o.added, o.deleted)
}

func (o *gitDiffOut) Body(j *answer.JSON, p *answer.Prose) {
	if k := o.commit; k != nil {
		j.Object("commit")
		j.Word("sha", k.sha)
		j.Word("date", k.date)
		j.Text("author", k.author)
		j.Text("subject", k.subject)
		p.Word("commit " + k.sha + " " + k.date + " ")
		p.Name(k.author)
		p.Word("  ")
		p.Name(k.subject)
		p.Word("\n")
		if k.body != answer.None {
			j.Text("body", k.body)
			p.Indented(k.body, "    ")
		}
		j.End()
	}
	j.Array("files")
	for i := range o.files {
		o.files[i].put(j, p)
	}
	j.End()
	for i := range o.files {
		f := &o.files[i]
		if f.patch == answer.None {
			continue
		}
		p.Word("\n=== ")
		p.Name(f.path)
		p.Word("\n")
		p.Text(f.patch)
		p.Word("\n")
	}
}

// put writes one file: everything in the structured half, one line of the list
// in prose. The patches of the prose half follow the whole list.
func (f *diffFile) put(j *answer.JSON, p *answer.Prose) {
	j.Object("")
	j.Text("path", f.path)
	p.Word(f.letter + " ")
	if f.old != answer.None {
		j.Text("old_path", f.old)
		p.Name(f.old)
		p.Word(" → ")
	}
	p.Name(f.path)
	j.Word("status", f.status)
	putCounts(j, p, f.counted, f.added, f.deleted)
	if f.binary {
		j.Bool("binary", true)
		p.Word(" binary")
	}
	if f.omitted != "" {
		j.Word("omitted", f.omitted)
		p.Word(" [omitted: " + f.omitted + "]")
	}
	if f.patch != answer.None {
		j.Text("patch", f.patch)
	}
	j.End()
	p.Word("\n")
}

// listChars is what one file without a patch takes in the longer half, beside
// its names.
const listChars = 90

// page fills the answer with the files from the offset on: first the list with
// its counts, then patches in order until the budget is spent.
func (d *diffRun) page(ctx context.Context) error {
	o, in := d.out, d.in
	o.total = len(d.list)
	rest := d.list[min(in.Offset, len(d.list)):]
	shown := rest[:min(in.Limit, len(rest))]
	budget := d.c.Limits.ContentChars() - o.spent
	spent := 0
	for i, ch := range shown {
		n := listChars + nameCost(ch.Path)
		if ch.OldPath != ch.Path {
			n += nameCost(ch.OldPath)
		}
		// In prose a patch has its name above it once more.
		if in.OutputMode == "patch" {
			n += nameCost(ch.Path)
		}
		if spent+n > budget {
			shown = shown[:i]
			o.Stopped = "chars"
			break
		}
		spent += n
	}
	firstOmitted, done, err := d.files(ctx, shown, budget-spent)
	if err != nil {
		return err
	}
	next := -1
	switch {
	case firstOmitted >= 0:
		next, o.Stopped = in.Offset+firstOmitted, "chars"
	case done < len(shown):
		next, o.Stopped = in.Offset+done, "time"
	case len(shown) < len(rest):
		next = in.Offset + len(shown)
		if o.Stopped == "" {
			o.Stopped = "limit"
		}
	}
	if o.partial && next < 0 {
		o.Stopped = "chars"
	}
	o.Complete = next < 0 && !o.partial
	if next > in.Offset || next >= 0 && len(shown) > 0 && next != in.Offset {
		o.Next = d.next(next)
	}
	return nil
}

// files compares the files of a page. It returns the index of the first one
// whose patch found no room (-1: none), and how many were compared before time
// ran out. From the first one on everything is marked as omitted for the budget,
// because that is where the next page begins: what is not so marked, or is and has a
// patch all the same (a part of one), stands on one page only.
func (d *diffRun) files(ctx context.Context, list []git.Change, room int) (firstOmitted, done int, err error) {
	o := d.out
	firstOmitted = -1
	patches := 0
	for i, ch := range list {
		d.c.Progress(int64(i), int64(len(list)), PhaseDiff)
		f := diffFile{status: statusWords[ch.Status], letter: answer.Word(rune(ch.Status))}
		f.path = d.c.Texts.Name(ch.Path)
		if ch.OldPath != ch.Path {
			f.old = d.c.Texts.Name(ch.OldPath)
		}
		if ch.Status == git.Untracked || d.in.OutputMode == "names" {
			if firstOmitted >= 0 {
				f.omitted = "budget"
			}
			o.files = append(o.files, f)
			continue
		}
		generated := ch.Path != d.rel && d.attrs.Generated(ch.Path)
		r, err := d.repo.Compare(ctx, ch, git.CompareOptions{
			Context: d.in.Context, Patch: d.in.OutputMode == "patch" && !generated, Hold: d.c.Memory.Hold, Attrs: d.attrs})
		if err != nil {
			if isTimeout(ctx, err) && i > 0 {
				return firstOmitted, i, nil
			}
			return 0, 0, err
		}
		if r.Lossy {
			d.lossy++
		}
		if r.Absent {
			d.absent++
		}
		f.added, f.deleted, f.counted = r.Patch.Added, r.Patch.Deleted, r.Counted
		f.binary = r.Binary
		if r.Counted {
			o.added += r.Patch.Added
			o.deleted += r.Patch.Deleted
			o.counted = true
		}
		if firstOmitted >= 0 {
			f.omitted = "budget"
		} else if d.in.OutputMode == "patch" {
			d.omit(&f, &r, generated)
			if f.omitted == "" && r.Patch.Text.Raw != "" {
				cost := answer.Cost(r.Patch.Text) + 30
				if cost <= room {
					room -= cost
					patches++
					f.patch = d.c.Texts.Content(r.Patch.Text, f.path, 0)
				} else {
					f.omitted = "budget"
					if patches == 0 {
						// Nothing else took the room: show the hunks that fit, since a
						// further call could not show more.
						if part, hunks, all := leadingHunks(r.Patch.Text, room-30); hunks > 0 {
							patches++
							o.partial = true
							f.patch = d.c.Texts.Content(part, f.path, 0)
							o.Notice(answer.W("the first patch holds "), answer.N(int64(hunks)), answer.W(" of "), answer.N(int64(all)),
								answer.W(" hunks; fewer context_lines or read_file shows more"))
							if i+1 < len(list) {
								firstOmitted = i + 1
							}
						} else {
							f.omitted = "too_large"
						}
					} else {
						firstOmitted = i
					}
				}
			}
		}
		o.files = append(o.files, f)
	}
	return firstOmitted, len(list), nil
}

// omit says why a file has no patch, if it has none.
func (d *diffRun) omit(f *diffFile, r *git.Compared, generated bool) {
	switch {
	case r.Binary:
		f.omitted = "binary"
	case r.TooLarge:
		f.omitted = "too_large"
	case generated:
		f.omitted = "generated"
	}
}

// leadingHunks keeps whole hunks from the start of a patch while they fit into
// room characters.
func leadingHunks(t secrets.Text, room int) (part secrets.Text, hunks, all int) {
	end := 0
	for at := 0; at < len(t.Raw); {
		next := len(t.Raw)
		if i := strings.Index(t.Raw[at+1:], "\n@@ -"); i >= 0 {
			next = at + 1 + i
		}
		all++
		if hunks == all-1 && answer.Cost(t.Slice(0, next)) <= room {
			hunks, end = all, next
		}
		at = next
		if at < len(t.Raw) {
			at++ // the newline before the next hunk
		}
	}
	return t.Slice(0, end), hunks, all
}

// next is the call that goes on at an offset.
func (d *diffRun) next(offset int) *answer.Next {
	in := d.in
	n := &answer.Next{Tool: "git_diff", Args: []answer.Arg{answer.ArgInt("offset", int64(offset))}}
	text := func(key answer.Word, v string) {
		if v != "" {
			n.Args = append(n.Args, answer.ArgText(key, d.c.Texts.Argument(v)))
		}
	}
	text("base", d.base)
	text("head", d.head)
	text("commit", in.Commit)
	text("path", in.Path)
	if in.Staged {
		n.Args = append(n.Args, answer.ArgBool("staged", true))
	}
	if in.MergeBase {
		n.Args = append(n.Args, answer.ArgBool("merge_base", true))
	}
	if in.OutputMode != "patch" {
		n.Args = append(n.Args, answer.ArgWord("output_mode", answer.Word(in.OutputMode)))
	}
	if in.Context != 3 {
		n.Args = append(n.Args, answer.ArgInt("context_lines", int64(in.Context)))
	}
	n.Args = append(n.Args, answer.ArgInt("limit", int64(in.Limit)))
	return n
}
