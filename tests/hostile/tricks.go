package hostile

// TwoCommits is a script for two commits and a tag on branch main.
const TwoCommits = `
printf 'one\n' > a.txt; printf 'x\n' > b.txt; mkdir -p docs; printf 'd\n' > docs/d.txt
git add .; git commit -qm first
printf 'one\ntwo\n' > a.txt; git commit -qam second; git tag v1
`

// Trick makes plain git run a planted program, or read or print what it must
// not.
type Trick struct {
	Name  string
	Setup string   // a script, after TwoCommits
	Fire  string   // shows it: plain git, with only protocol.ext.allow=never
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
	{Name: "parent environment", Setup: `echo x >> a.txt`, Fire: "git diff",
		Env: []string{"GIT_EXTERNAL_DIFF=$PROG", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=$PROG", "GIT_TRACE=$MARK", "GIT_TRACE2=$MARK",
			"GIT_SSH_COMMAND=$PROG", "GIT_PAGER=$PROG", "GIT_EDITOR=$PROG", "GIT_ASKPASS=$PROG", "GIT_EXEC_PATH=$OUT"}},
}
