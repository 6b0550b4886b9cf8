package hostile

// TwoCommits is a script for two commits and a tag on branch main.
const TwoCommits = `
printf 'one\n' > a.txt; printf 'x\n' > b.txt; mkdir -p docs; printf 'd\n' > docs/d.txt
git add .; git commit -qm first
printf 'one\ntwo\n' > a.txt; git commit -qam second; git tag v1
`

// submodule is a repository of its own that the outer one tracks.
const submodule = `git init -q -b main sub; git -C sub config user.name x; git -C sub config user.email y; echo f > sub/f; git -C sub add f; git -C sub commit -q -m x; git add sub 2>/dev/null; git commit -qm sub; `

// Trick makes plain git run a planted program, or read or print what it must
// not.
type Trick struct {
	Name  string
	Setup string   // a script, after TwoCommits
	Fire  string   // shows it: plain git, with only protocol.ext.allow=never
	Shows string   // what plain git then prints; "" when a program runs
	Root  bool     // only root can set it up
	Env   []string // of the process that starts git; $PROG and $MARK stand for the planted ones
}

// Tricks are all of them.
var Tricks = []Trick{
	{Name: "core.fsmonitor", Setup: `git config core.fsmonitor "$PROG"; echo x >> a.txt`, Fire: "git diff"},
	{Name: "diff.external", Setup: `git config diff.external "$PROG"; echo x >> a.txt`, Fire: "git diff"},
	{Name: "diff driver command", Setup: `echo '*.txt diff=x' > .gitattributes; git config diff.x.command "$PROG"; echo x >> a.txt`, Fire: "git diff"},
	{Name: "textconv by .gitattributes", Setup: `echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv "$PROG"; echo x >> a.txt`, Fire: "git diff --no-ext-diff"},
	{Name: "textconv in blame", Setup: `echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv "$PROG"`, Fire: "git blame HEAD -- a.txt"},
	{Name: "textconv by info/attributes", Setup: `echo '*.txt diff=x' > .git/info/attributes; git config diff.x.textconv "$PROG"`, Fire: "git log -p"},
	{Name: "textconv by core.attributesFile", Setup: `echo '*.txt diff=x' > "$OUT/attr"; git config core.attributesFile "$OUT/attr"; git config diff.x.textconv "$PROG"`, Fire: "git log -p"},
	{Name: "filter clean", Setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.clean "$PROG"; git config filter.y.required true; echo x >> a.txt`, Fire: "git diff"},
	{Name: "filter process", Setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.process "$PROG"; echo x >> a.txt`, Fire: "git diff"},
	{Name: "filter smudge", Setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.smudge "$PROG"`, Fire: "rm b.txt; git checkout -- b.txt"},
	{Name: "filter driver named a=b", Setup: `echo '*.txt filter=a=b' > .git/info/attributes; git config 'filter.a=b.clean' "$PROG"; echo x >> a.txt`,
		Fire: "git -c filter.a=b.clean= diff"},
	{Name: "filter on a racily clean entry", Setup: `echo '*.txt filter=y' > .git/info/attributes; git config filter.y.clean "$PROG"; touch -d '2030-01-01' a.txt b.txt; git update-index --refresh || :; rm -f "$MARK"; touch -d '2030-01-01' .git/index; printf 'one\ntw2\n' > a.txt; touch -d '2030-01-01' a.txt`, Fire: "git diff-files -p"},
	{Name: "hooks", Setup: `mkdir -p .git/hooks; for h in post-index-change pre-commit post-checkout reference-transaction; do cp "$PROG" .git/hooks/$h; done; touch a.txt`, Fire: "git status; git checkout -q ."},
	{Name: "core.hooksPath", Setup: `mkdir -p h; for h in post-index-change post-checkout reference-transaction; do cp "$PROG" h/$h; done; git config core.hooksPath "$WS/h"; touch a.txt`, Fire: "git status; git checkout -q ."},
	{Name: "gpg.program with a signed commit", Setup: `git config gpg.program "$PROG"; git config log.showSignature true
		{ git cat-file commit HEAD | sed '/^$/,$d'; printf 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQFz\n -----END PGP SIGNATURE-----\n\nsigned\n'; } > "$OUT/c"
		git reset -q --hard $(git hash-object -t commit -w --stdin < "$OUT/c")`, Fire: "git log"},
	{Name: "core.pager", Setup: `git config core.pager "$PROG"; git config pager.log "$PROG"`, Fire: "script -qec 'git log' /dev/null || GIT_PAGER= git --paginate log"},
	{Name: "core.editor", Setup: `git config core.editor "$PROG"`, Fire: "git commit --amend"},
	{Name: "alias", Setup: `git config alias.lg "!$PROG"; git config alias.rev-list "!$PROG"`, Fire: "git lg"},
	{Name: "lazy fetch over ssh", Setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
		git config remote.origin.url ssh://h.invalid/x; git config core.sshCommand "$PROG"; git config protocol.allow always; git config protocol.ssh.allow always`,
		Fire: "git rev-parse --verify 0123456789012345678901234567890123456789^{commit}"},
	{Name: "lazy fetch by uploadpack", Setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
		git init -q --bare "$OUT/r.git"; git config remote.origin.url "$OUT/r.git"; git config remote.origin.uploadpack "$PROG"; git config protocol.file.allow always`,
		Fire: "git cat-file -e 0123456789012345678901234567890123456789"},
	{Name: "lazy fetch by an ext transport", Setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
		git config remote.origin.url "ext::$PROG %S"; git config protocol.ext.allow always`,
		Fire: "env -u GIT_CONFIG_COUNT git -c protocol.ext.allow=always cat-file -e 0123456789012345678901234567890123456789"},
	{Name: "nested bare repository", Setup: `cd docs; git init -q --bare .; git config core.bare false; git config core.worktree ..; git config core.fsmonitor "$PROG"; cd ..`, Fire: "cd docs; git status"},
	{Name: "includeIf and include", Setup: `printf '[core]\n\tfsmonitor = %s\n' "$PROG" > inc; git config includeIf.gitdir:/.path "$WS/inc"; git config include.path ../inc; echo x >> a.txt`, Fire: "git diff"},
	{Name: "filter in an included file", Setup: `printf '[filter "z"]\n\tclean = %s\n' "$PROG" > inc2; printf '[include]\n\tpath = inc2\n' > inc; git config include.path ../inc; echo '*.txt filter=z' > .git/info/attributes; echo x >> a.txt`, Fire: "git diff"},
	{Name: "worktree configuration", Setup: `git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$PROG"; echo x >> a.txt`, Fire: "git diff"},
	{Name: "submodule with a program", Setup: submodule + `git -C sub config core.fsmonitor "$PROG"; echo x > sub/f`, Fire: "git status"},
	{Name: "submodule with a filter", Setup: submodule + `echo '* filter=y' > sub/.git/info/attributes; git -C sub config filter.y.clean "$PROG"; echo x >> sub/f`, Fire: "git diff --submodule=diff"},
	{Name: "submodule whose data lies outside", Setup: submodule + `mv sub/.git "$OUT/m"; echo "gitdir: $OUT/m" > sub/.git; git -C sub config core.worktree "$WS/sub"; git -C sub commit -q --allow-empty -m OUTSIDE`,
		Fire: "git diff --submodule=log", Shows: "OUTSIDE"},
	{Name: "submodule that is a link", Setup: submodule + `mv sub "$OUT/sub"; ln -s "$OUT/sub" sub; git -C "$OUT/sub" config core.fsmonitor "$PROG"; echo x > "$OUT/sub/f"`, Fire: "cd sub; git status"},
	{Name: "submodule updated by a program", Setup: submodule + `printf '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n' > .gitmodules; git config submodule.sub.url "$WS/sub"; git config submodule.sub.update "!$PROG"; git -C sub commit -q --allow-empty -m y`,
		Fire: "git submodule update"},
	{Name: "replaced commit", Setup: `git replace HEAD $(git commit-tree -p HEAD~1 -m FORGED HEAD^{tree})`, Fire: "git log", Shows: "FORGED"},
	{Name: "replaced blob", Setup: `git replace HEAD:a.txt $(echo FORGED | git hash-object -w --stdin)`, Fire: "git show HEAD:a.txt", Shows: "FORGED"},
	{Name: "replace refs of another name", Setup: `git update-ref refs/odd/$(git rev-parse HEAD:a.txt) $(echo FORGED | git hash-object -w --stdin)`, Fire: "GIT_REPLACE_REF_BASE=refs/odd git show HEAD:a.txt", Shows: "FORGED",
		Env: []string{"GIT_REPLACE_REF_BASE=refs/odd"}},
	{Name: "grafts", Setup: `echo "$(git rev-parse HEAD) $(git commit-tree -m FORGED HEAD^{tree})" > .git/info/grafts`, Fire: "git log", Shows: "FORGED"},
	{Name: "grafts by environment", Setup: `echo "$(git rev-parse HEAD) $(git commit-tree -m FORGED HEAD^{tree})" > "$OUT/grafts"`, Fire: "git log", Shows: "FORGED", Env: []string{"GIT_GRAFT_FILE=$OUT/grafts"}},
	{Name: "mailmap outside", Setup: `echo 'OUTSIDE <o@example.com> <dev@example.com>' > "$OUT/map"; git config mailmap.file "$OUT/map"`, Fire: "git log", Shows: "OUTSIDE"},
	{Name: "mailmap in a blob", Setup: `git config mailmap.blob $(echo 'FORGED <o@example.com> <dev@example.com>' | git hash-object -w --stdin)`, Fire: "git log", Shows: "FORGED"},
	{Name: "ignoreRevsFile outside", Setup: `echo OUTSIDE > "$OUT/revs"; git config blame.ignoreRevsFile "$OUT/revs"`, Fire: "git blame a.txt 2>&1", Shows: "OUTSIDE"},
	{Name: "order file outside", Setup: `mkfifo "$OUT/order"; ln -s "$OUT/none" order; git config diff.orderFile "$WS/order"`, Fire: "git diff HEAD~1 HEAD 2>&1", Shows: "order"},
	{Name: "excludes file outside", Setup: `printf 'new\n' > "$OUT/excludes"; git config core.excludesFile "$OUT/excludes"; echo x > new; echo x > new2`, Fire: "git status --short --ignored", Shows: "!! new"},
	{Name: "output encoding", Setup: `git config i18n.logOutputEncoding UTF-7; git commit -q --allow-empty -m 'two a_b'`, Fire: "git log", Shows: "a+AF8-b"},
	{Name: "repository of another user", Root: true, Setup: `git config core.fsmonitor "$PROG"; echo x >> a.txt; chown -R 65534:65534 "$WS"`, Fire: "git -c safe.directory='*' diff"},
	{Name: "transports allowed by the repository", Setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
		for p in ssh git http https file ext; do git config protocol.$p.allow always; done; git config protocol.allow always; git config core.sshCommand "$PROG"; git config core.gitProxy "$PROG"; git config remote.origin.url git://h.invalid/x`,
		Fire: "git cat-file -e 0123456789012345678901234567890123456789"},
	{Name: "remote helper by name", Setup: `git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true; git config remote.origin.url planted::x; git config protocol.planted.allow always
		mkdir "$OUT/bin"; cp "$PROG" "$OUT/bin/git-remote-planted"`,
		Fire: `PATH="$OUT/bin:$PATH" git cat-file -e 0123456789012345678901234567890123456789`},
	{Name: "parent environment", Setup: `echo x >> a.txt`, Fire: "git diff",
		Env: []string{"GIT_EXTERNAL_DIFF=$PROG", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=$PROG", "GIT_TRACE=$MARK", "GIT_TRACE2=$MARK",
			"GIT_SSH_COMMAND=$PROG", "GIT_PAGER=$PROG", "GIT_EDITOR=$PROG", "GIT_ASKPASS=$PROG", "GIT_EXEC_PATH=$OUT"}},
}
