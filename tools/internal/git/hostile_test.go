package git

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"mcp-devserver/tests/hostile"
)

// everything asks the repository every question this package can ask, and
// returns all text that came back.
const twoCommits = hostile.TwoCommits

func everything(t *testing.T, g *Git) string {
	t.Helper()
	ctx := context.Background()
	var all strings.Builder
	r, err := g.Open(ctx)
	if err != nil {
		return "denied " + code(err)
	}
	defer r.Close()
	note := func(what string, err error) {
		if err != nil {
			all.WriteString(what + ": " + code(err) + "\n")
		}
	}
	h, err := r.Head(ctx)
	note("head", err)
	for _, rev := range []string{"HEAD", "main", "HEAD~1", "0123456789012345678901234567890123456789", "v1", "nope"} {
		_, err := r.Resolve(ctx, rev)
		note("resolve "+rev, err)
	}
	refs, _, err := r.Refs(ctx)
	note("refs", err)
	for _, ref := range refs {
		all.WriteString(ref.Name + "\n")
	}
	index, err := r.Index(ctx)
	note("index", err)
	files, err := r.FileChanges(ctx)
	note("files", err)
	staged, err := r.IndexChanges(ctx, h.Commit)
	note("staged", err)
	compare := func(list []Change) {
		for _, c := range list {
			d, err := r.Compare(ctx, c, CompareOptions{Context: 3, Patch: true, Attrs: r.Attributes()})
			note("compare "+c.Path, err)
			all.WriteString(d.Path + "\n" + d.Patch.Text.Raw + "\n")
		}
	}
	compare(files)
	compare(staged)
	compare(Against(staged, files))
	if h.Commit == "" {
		return all.String()
	}
	var ids []string
	_, err = r.Walk(ctx, History{Tips: []string{h.Commit}}, func(id, _ string) (bool, error) { ids = append(ids, id); return true, nil })
	note("walk", err)
	err = r.Commits(ctx, ids, func(c *Commit) error {
		all.WriteString(c.ID + " " + c.Author.Name + " " + c.Message + "\n")
		base := ""
		if len(c.Parents) > 0 {
			base = c.Parents[0]
		}
		_ = base
		return nil
	})
	note("commits", err)
	for _, id := range ids {
		c, err := r.Commit(ctx, id)
		if err != nil {
			note("commit", err)
			continue
		}
		base := ""
		if len(c.Parents) > 0 {
			base = c.Parents[0]
		}
		list, err := r.TreeChanges(ctx, base, id)
		note("tree", err)
		compare(list)
	}
	for _, e := range index {
		_, err := r.Walk(ctx, History{Tips: []string{h.Commit}, Path: e.Path, Follow: true}, func(string, string) (bool, error) { return true, nil })
		note("follow "+e.Path, err)
		b, _, err := r.Blame(ctx, h.Commit, e.Path, 1, 1)
		note("blame "+e.Path, err)
		for _, l := range b {
			all.WriteString(l.Commit + "\n")
		}
		if _, ok, err := r.Lookup(ctx, h.Commit, e.Path); !ok {
			note("lookup "+e.Path, err)
		}
		_ = r.BlobReader(ctx, e.ID, func(_ int64, b io.Reader) error { _, err := io.Copy(&all, b); return err })
	}
	_, err = r.MergeBases(ctx, h.Commit, h.Commit)
	note("merge base", err)
	return all.String()
}

func TestHostileRepositoryRunsNothing(t *testing.T) {
	for _, tr := range hostile.Tricks {
		t.Run(strings.ReplaceAll(tr.Name, "/", "-"), func(t *testing.T) {
			if tr.Root && os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			build := func() *fixture {
				f := newFixture(t)
				f.sh(twoCommits)
				f.sh(tr.Setup)
				f.fired()
				return f
			}
			// The attack works on plain git.
			f := build()
			for _, e := range tr.Env {
				if strings.HasPrefix(e, "GIT_EXEC_PATH") {
					continue // plain git would find no subcommand at all
				}
				f.env = append(f.env, os.Expand(e, f.Expand))
			}
			if len(tr.Env) == 0 {
				f.env = append(f.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.ext.allow", "GIT_CONFIG_VALUE_0=never")
			}
			f.Env = f.env
			if !f.Works(tr) {
				t.Fatalf("the attack does not work on plain git: %s", tr.Fire)
			}
			// It does not work here.
			f = build()
			for _, e := range tr.Env {
				k, v, _ := strings.Cut(os.Expand(e, f.Expand), "=")
				t.Setenv(k, v)
			}
			got := everything(t, f.git(Options{}))
			if f.fired() {
				t.Errorf("the planted program ran")
			}
			if tr.Shows == strings.ToUpper(tr.Shows) && tr.Shows != "" && strings.Contains(got, tr.Shows) {
				t.Errorf("%s is shown:\n%s", tr.Shows, got)
			}
			if !strings.Contains(got, "two") && !strings.Contains(got, "signed") {
				t.Errorf("the repository was not read:\n%s", got)
			}
		})
	}
}
