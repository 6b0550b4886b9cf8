package git

import (
	"context"
	"strings"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/secrets"
)

// maxRevision bounds a caller's revision, in bytes.
const maxRevision = 256

// checkRevision is the grammar of one side of a revision. What it lets through
// names at most a commit-ish: no option, no path inside a tree, no search, no
// reflog, no negation.
func checkRevision(s string) bool {
	if s == "" || len(s) > maxRevision || s[0] == '-' || s[0] == '^' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c == 0x7f || c == ':' || c == '\\' || c == '*' || c == '?' || c == '[' {
			return false
		}
	}
	for _, bad := range []string{"..", "^{/", "@{"} {
		if strings.Contains(s, bad) {
			return false
		}
	}
	return true
}

// Range is a caller's revision, taken apart: one side, A..B or A...B.
type Range struct {
	From, To  string // From is empty for a single revision
	Symmetric bool   // A...B
}

// IsRange reports whether s was written with dots.
func (g Range) IsRange() bool { return g.From != "" }

// ParseRange takes a revision or range apart by grammar alone; git is not
// asked. An absent side of a range is HEAD.
func (g *Git) ParseRange(s string) (Range, error) {
	bad := func() (Range, error) {
		return Range{}, g.ws.Refuse(sandbox.InvalidRevision, sandbox.Args{"rev": s})
	}
	if len(s) > maxRevision {
		return bad()
	}
	r := Range{To: s}
	if from, to, ok := strings.Cut(s, "..."); ok {
		r = Range{from, to, true}
	} else if from, to, ok := strings.Cut(s, ".."); ok {
		r = Range{from, to, false}
	} else {
		if !checkRevision(s) {
			return bad()
		}
		return r, nil
	}
	if r.From == "" && r.To == "" {
		return bad()
	}
	if r.From == "" {
		r.From = "HEAD"
	}
	if r.To == "" {
		r.To = "HEAD"
	}
	if !checkRevision(r.From) || !checkRevision(r.To) {
		return bad()
	}
	return r, nil
}

// Resolve turns one revision into the full id of a commit: the only thing about
// it that any further command sees. Errors: invalid_revision, unknown_revision.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	ws := r.git.ws
	if !checkRevision(rev) {
		return "", ws.Refuse(sandbox.InvalidRevision, sandbox.Args{"rev": rev})
	}
	if r.leadsAway(rev) {
		return "", ws.Refuse(sandbox.UnknownRevision, sandbox.Args{"rev": rev})
	}
	b, err := r.output(ctx, cmdRevParse, "", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		if exitCode(err) < 0 {
			return "", r.failed(err)
		}
		return "", ws.Refuse(sandbox.UnknownRevision, sandbox.Args{"rev": rev, "similar": r.similarRefs(ctx, rev)})
	}
	id := strings.TrimSuffix(string(b), "\n")
	if !isID(id) {
		return "", ws.Refuse(sandbox.UnknownRevision, sandbox.Args{"rev": rev})
	}
	return id, nil
}

// MergeBases are the common ancestors of two commits, none when they share no
// history.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	if !isID(a) || !isID(b) {
		return nil, r.missing(errMissing)
	}
	out, err := r.output(ctx, cmdRevParse, "", a+"..."+b)
	if err != nil {
		return nil, r.failed(err)
	}
	var bases []string
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "^"); ok && isID(id) {
			bases = append(bases, id)
		}
	}
	return bases, nil
}

// Head says what HEAD names: the branch ("" when detached) and its commit (""
// when the branch has none yet).
type Head struct {
	Branch string
	Commit string
}

// Head reads HEAD.
func (r *Repo) Head(ctx context.Context) (Head, error) {
	var h Head
	if b, err := r.door.Read(r.gitDir+"/HEAD", 8192); err == nil {
		if ref, ok := strings.CutPrefix(firstLine(b), "ref: "); ok {
			h.Branch = strings.TrimPrefix(strings.TrimSpace(ref), "refs/heads/")
		}
	}
	b, err := r.output(ctx, cmdRevParse, "", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
	switch {
	case err == nil:
		h.Commit = strings.TrimSuffix(string(b), "\n")
	case exitCode(err) < 0:
		return h, r.failed(err)
	case h.Branch == "" || exitCode(err) != 1:
		// Neither a branch without commits nor a commit: the repository is broken.
		return h, r.failed(err)
	}
	return h, nil
}

// Ref is a branch or tag and the commit it leads to.
type Ref struct {
	Name   string // as git shortens it: main, origin/main, tag: v1.0
	Commit string
}

const maxRefs = 20000

// Refs lists branches, remote branches and tags that lead to commits, in name
// order. more is set when there are too many to list, or to list in half the time
// that a git gets: names only adorn an answer.
func (r *Repo) Refs(ctx context.Context) (refs []Ref, more bool, err error) {
	limited, cancel := context.WithTimeout(ctx, r.git.opt.Timeout/2)
	defer cancel()
	b, err := r.output(limited, cmdForEachRef, "", "--count=20001",
		"--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(refname)",
		"refs/heads", "refs/remotes", "refs/tags")
	if err == errTooMuch || err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, r.failed(err)
	}
	for line := range strings.Lines(string(b)) {
		// A ref name holds no space and no control character.
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		if len(f) != 5 {
			continue
		}
		ref := Ref{Commit: f[1]}
		if f[0] == "tag" {
			f[0], ref.Commit = f[2], f[3]
		}
		if f[0] != "commit" || !isID(ref.Commit) {
			continue
		}
		switch name := f[4]; {
		case strings.HasPrefix(name, "refs/heads/"):
			ref.Name = name[len("refs/heads/"):]
		case strings.HasPrefix(name, "refs/remotes/"):
			ref.Name = name[len("refs/remotes/"):]
		case strings.HasPrefix(name, "refs/tags/"):
			ref.Name = "tag: " + name[len("refs/tags/"):]
		default:
			continue
		}
		refs = append(refs, ref)
		if len(refs) == maxRefs {
			return refs, true, nil
		}
	}
	return refs, false, nil
}

// similarRefs names up to three refs that look like a missing one.
func (r *Repo) similarRefs(ctx context.Context, rev string) []string {
	if len(rev) > 64 {
		return nil
	}
	refs, _, err := r.Refs(ctx)
	if err != nil {
		return nil
	}
	best := [4][]string{}
	for _, ref := range refs {
		name := strings.TrimPrefix(ref.Name, "tag: ")
		if len(name) > 96 || !sandbox.SafeName(name) || secrets.FindName(ref.Name) != nil {
			continue // of a secret, being near tells something
		}
		d := distance(strings.ToLower(rev), strings.ToLower(name))
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			d = min(d, 1+distance(strings.ToLower(rev), strings.ToLower(name[i+1:])))
		}
		if d < len(best) && d*2 <= len(rev) {
			best[d] = append(best[d], name)
		}
	}
	var out []string
	for _, names := range best {
		out = append(out, names...)
	}
	return out[:min(3, len(out))]
}

// distance counts the single-byte edits between two short strings.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// isID reports whether s is a full object id in hexadecimal.
func isID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// isZero reports whether an id stands for "no object".
func isZero(id string) bool { return strings.Trim(id, "0") == "" }
