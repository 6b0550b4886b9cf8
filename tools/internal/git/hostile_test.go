package git

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

// everything asks the repository every question this package can ask, and
// returns all text that came back.
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
		b, err := r.Blame(ctx, h.Commit, e.Path, 1, 1)
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

const twoCommits = `
printf 'one\n' > a.txt; printf 'x\n' > b.txt; mkdir -p docs; printf 'd\n' > docs/d.txt
git add .; git commit -qm first
printf 'one\ntwo\n' > a.txt; git commit -qam second; git tag v1
`

// Each trick makes plain git run a planted program, or read or print what it
// must not; fire is the command that shows it.
var tricks = []struct {
	name  string
	setup string
	fire  string // plain git, with only protocol.ext.allow=never
	env   []string
}{
	{name: "core.fsmonitor", setup: `git config core.fsmonitor "$PROG"; echo x >> a.txt`, fire: "git diff"},
	{name: "diff.external", setup: `git config diff.external "$PROG"; echo x >> a.txt`, fire: "git diff"},
	{name: "diff driver command", setup: `echo '*.txt diff=x' > .gitattributes; git config diff.x.command "$PROG"; echo x >> a.txt`, fire: "git diff"},
	{name: "textconv by .gitattributes", setup: `echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv "$PROG"; echo x >> a.txt`, fire: "git diff --no-ext-diff"},
	{name: "textconv in blame", setup: `echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv "$PROG"`, fire: "git blame HEAD -- a.txt"},
	{name: "textconv by info/attributes", setup: `echo '*.txt diff=x' > .git/info/attributes; git config diff.x.textconv "$PROG"`, fire: "git log -p"},
	{name: "textconv by core.attributesFile", setup: `echo '*.txt diff=x' > "$OUT/attr"; git config core.attributesFile "$OUT/attr"; git config diff.x.textconv "$PROG"`, fire: "git log -p"},
	{name: "filter clean", setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.clean "$PROG"; git config filter.y.required true; echo x >> a.txt`, fire: "git diff"},
	{name: "filter process", setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.process "$PROG"; echo x >> a.txt`, fire: "git diff"},
	{name: "filter smudge", setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.smudge "$PROG"`, fire: "rm b.txt; git checkout -- b.txt"},
	{name: "filter driver named a=b", setup: `echo '*.txt filter=a=b' > .git/info/attributes; git config 'filter.a=b.clean' "$PROG"; echo x >> a.txt`,
		fire: "git -c filter.a=b.clean= diff"},
	{name: "filter on a racily clean entry", setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.clean "$PROG"; touch -d '2030-01-01' a.txt b.txt; git update-index --refresh || :; rm -f "$MARK"; touch -d '2030-01-01' .git/index; printf 'one\ntw2\n' > a.txt; touch -d '2030-01-01' a.txt`, fire: "git diff-files -p"},
	{name: "hooks", setup: `mkdir -p .git/hooks; for h in post-index-change pre-commit post-checkout reference-transaction; do cp "$PROG" .git/hooks/$h; done; touch a.txt`, fire: "git status; git checkout -q ."},
	{name: "core.hooksPath", setup: `mkdir -p h; for h in post-index-change post-checkout reference-transaction; do cp "$PROG" h/$h; done; git config core.hooksPath "$WS/h"; touch a.txt`, fire: "git status; git checkout -q ."},
	{name: "gpg.program with a signed commit", setup: `git config gpg.program "$PROG"; git config log.showSignature true
		{ git cat-file commit HEAD | sed '/^$/,$d'; printf 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQFz\n -----END PGP SIGNATURE-----\n\nsigned\n'; } > "$OUT/c"
		git reset -q --hard $(git hash-object -t commit -w --stdin < "$OUT/c")`, fire: "git log"},
	{name: "core.pager", setup: `git config core.pager "$PROG"; git config pager.log "$PROG"`, fire: "script -qec 'git log' /dev/null || GIT_PAGER= git --paginate log"},
	{name: "core.editor", setup: `git config core.editor "$PROG"`, fire: "git commit --amend"},
	{name: "alias", setup: `git config alias.lg "!$PROG"; git config alias.rev-list "!$PROG"`, fire: "git lg"},
	{name: "lazy fetch over ssh", setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
		git config remote.origin.url ssh://h.invalid/x; git config core.sshCommand "$PROG"; git config protocol.allow always; git config protocol.ssh.allow always`,
		fire: "git rev-parse --verify 0123456789012345678901234567890123456789^{commit}"},
	{name: "lazy fetch by uploadpack", setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
		git init -q --bare "$OUT/r.git"; git config remote.origin.url "$OUT/r.git"; git config remote.origin.uploadpack "$PROG"; git config protocol.file.allow always`,
		fire: "git cat-file -e 0123456789012345678901234567890123456789"},
	{name: "lazy fetch by an ext transport", setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
		git config remote.origin.url "ext::$PROG %S"; git config protocol.ext.allow always`,
		fire: "env -u GIT_CONFIG_COUNT git -c protocol.ext.allow=always cat-file -e 0123456789012345678901234567890123456789"},
	{name: "nested bare repository", setup: `cd docs; git init -q --bare .; git config core.bare false; git config core.worktree ..; git config core.fsmonitor "$PROG"; cd ..`, fire: "cd docs; git status"},
	{name: "includeIf and include", setup: `printf '[core]\n\tfsmonitor = %s\n' "$PROG" > inc; git config includeIf.gitdir:/.path "$WS/inc"; git config include.path ../inc; echo x >> a.txt`, fire: "git diff"},
	{name: "filter in an included file", setup: `printf '[filter "z"]\n\tclean = %s\n' "$PROG" > inc2; printf '[include]\n\tpath = inc2\n' > inc; git config include.path ../inc; echo '*.txt filter=z' > .git/info/attributes; echo x >> a.txt`, fire: "git diff"},
	{name: "worktree configuration", setup: `git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$PROG"; echo x >> a.txt`, fire: "git diff"},
	{name: "parent environment", setup: `echo x >> a.txt`, fire: "git diff",
		env: []string{"GIT_EXTERNAL_DIFF=$PROG", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=$PROG", "GIT_TRACE=$MARK", "GIT_TRACE2=$MARK",
			"GIT_SSH_COMMAND=$PROG", "GIT_PAGER=$PROG", "GIT_EDITOR=$PROG", "GIT_ASKPASS=$PROG", "GIT_EXEC_PATH=$OUT"}},
}

func TestHostileRepositoryRunsNothing(t *testing.T) {
	for _, tr := range tricks {
		t.Run(strings.ReplaceAll(tr.name, "/", "-"), func(t *testing.T) {
			build := func() *fixture {
				f := newFixture(t)
				f.sh(twoCommits)
				f.sh(tr.setup)
				f.fired()
				return f
			}
			// The attack works on plain git.
			f := build()
			for _, e := range tr.env {
				if strings.HasPrefix(e, "GIT_EXEC_PATH") {
					continue // plain git would find no subcommand at all
				}
				f.env = append(f.env, os.Expand(e, f.expand))
			}
			if len(tr.env) == 0 {
				f.env = append(f.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.ext.allow", "GIT_CONFIG_VALUE_0=never")
			}
			f.try(tr.fire)
			if !f.fired() {
				t.Fatalf("the attack does not work on plain git: %s", tr.fire)
			}
			// It does not work here.
			f = build()
			for _, e := range tr.env {
				k, v, _ := strings.Cut(os.Expand(e, f.expand), "=")
				t.Setenv(k, v)
			}
			got := everything(t, f.git(Options{}))
			if f.fired() {
				t.Errorf("the planted program ran")
			}
			if !strings.Contains(got, "two") && !strings.Contains(got, "signed") {
				t.Errorf("the repository was not read:\n%s", got)
			}
		})
	}
}

func (f *fixture) expand(name string) string {
	for _, e := range f.env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
