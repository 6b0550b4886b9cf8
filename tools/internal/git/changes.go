package git

import (
	"context"
	"slices"
	"strings"

	"mcp-devserver/sandbox"
)

// The ids of the empty tree: what a branch without commits is compared with.
const (
	emptyTreeSHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptyTreeSHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

func (r *Repo) raw(b []byte, entry func(Change)) error {
	if !rawTokens(string(b), func(string) {}, entry) {
		return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 0})
	}
	return nil
}

// byPath orders changes bytewise by their new name.
func byPath(a, b Change) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return strings.Compare(a.OldPath, b.OldPath)
}

// renames makes git look for renamed files, among at most 1,000 candidates. In a
// partial clone only equal content is found: git would give up over a blob that
// it does not have.
func (r *Repo) renames() []string {
	if r.partial() {
		return []string{"-M100%", "-l1000"}
	}
	return []string{"-M", "-l1000"}
}

// TreeChanges compares two commits; base "" compares a root commit with
// nothing. Renames are detected. Always over the whole tree: a path filter
// would hide the other side of a rename, and with it a denied name.
func (r *Repo) TreeChanges(ctx context.Context, base, head string) ([]Change, error) {
	var out []Change
	err := r.CommitChanges(ctx, [][2]string{{base, head}}, func(_ int, list []Change) { out = list })
	return out, err
}

// CommitChanges compares many pairs {base, head} in one git process, in order.
func (r *Repo) CommitChanges(ctx context.Context, pairs [][2]string, visit func(i int, list []Change)) error {
	var in strings.Builder
	for _, p := range pairs {
		if !isID(p[1]) || p[0] != "" && !isID(p[0]) {
			return r.missing(errMissing)
		}
		// diff-tree takes what follows a commit for its parents.
		in.WriteString(strings.TrimSuffix(p[1]+" "+p[0], " ") + "\n")
	}
	b, err := r.output(ctx, cmdDiffTree, in.String(), r.renames()...)
	if err != nil {
		return r.failed(err)
	}
	// git prints a header only for a pair that differs.
	lists := make(map[string][]Change)
	cur := ""
	ok := rawTokens(string(b), func(id string) { cur = id }, func(c Change) { lists[cur] = append(lists[cur], c) })
	if !ok {
		return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 0})
	}
	for i, p := range pairs {
		list := lists[p[1]]
		slices.SortFunc(list, byPath)
		visit(i, list)
	}
	return nil
}

// IndexChanges compares a commit with the index; base "" stands for a branch
// without commits. An unmerged path appears once.
func (r *Repo) IndexChanges(ctx context.Context, base string) ([]Change, error) {
	if base == "" {
		base = emptyTreeSHA1
		if r.Has("extensions.objectformat") {
			base = emptyTreeSHA256
		}
	} else if !isID(base) {
		return nil, r.missing(errMissing)
	}
	args := append(r.renames(), base, "--")
	b, err := r.output(ctx, cmdDiffIndex, "", args...)
	if err != nil {
		return nil, r.failed(err)
	}
	var out []Change
	if err := r.raw(b, func(c Change) { out = append(out, c) }); err != nil {
		return nil, err
	}
	return unmergedOnce(out), nil
}

// unmergedOnce sorts, and keeps of the several records of an unmerged path the
// one that says so.
func unmergedOnce(list []Change) []Change {
	slices.SortFunc(list, func(a, b Change) int {
		if c := byPath(a, b); c != 0 {
			return c
		}
		return boolInt(b.Status == Unmerged) - boolInt(a.Status == Unmerged)
	})
	return slices.CompactFunc(list, func(a, b Change) bool {
		return a.Path == b.Path && (a.Status == Unmerged || b.Status == Unmerged)
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Against combines what differs between a commit and the index with what
// differs between the index and the work tree: the commit against the work
// tree. The new side's content is still to be read, except where the id is
// known from the index.
func Against(staged, unstaged []Change) []Change {
	byNew := make(map[string]Change, len(unstaged))
	for _, c := range unstaged {
		byNew[c.Path] = c
	}
	var out []Change
	for _, c := range staged {
		u, ok := byNew[c.Path]
		if !ok {
			out = append(out, c)
			continue
		}
		delete(byNew, c.Path)
		switch {
		case c.Status == Unmerged || u.Status == Unmerged:
			c.Status, c.NewID, c.NewMode = Unmerged, "", u.NewMode
		case c.Status == Deleted: // back in the work tree by intent to add
			c.NewMode, c.NewID, c.Status = u.NewMode, "", Modified
		case u.Status == Deleted && c.Status == Added:
			continue // added to the index, gone from the work tree: nothing remains
		case u.Status == Deleted:
			c = Change{Status: Deleted, Path: c.OldPath, OldPath: c.OldPath, OldMode: c.OldMode, OldID: c.OldID}
		default:
			c.NewID, c.NewMode = "", u.NewMode
			switch {
			case c.OldMode != 0 && c.OldMode&0o170000 != u.NewMode&0o170000:
				c.Status = TypeChanged
			case c.Status == TypeChanged: // and back again in the work tree
				c.Status = Modified
			}
		}
		out = append(out, c)
	}
	for _, u := range byNew {
		out = append(out, u)
	}
	slices.SortFunc(out, byPath)
	return out
}
