package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-devserver/sandbox"
)

// Each repository keeps something outside, or pretends to be one.
var places = []struct {
	name, setup string
	code, kind  string
}{
	{"no repository", `rm -rf .git`, "not_a_repository", ""},
	{"bare repository at the root", `rm -rf .git; git init -q --bare .`, "not_a_repository", ""},
	{"empty .git folder", `rm -rf .git; mkdir .git`, "not_a_repository", ""},
	{".git is a pipe", `rm -rf .git; mkfifo .git`, "not_a_repository", ""},
	{".git is a file of other content", `rm -rf .git; echo hello > .git`, "not_a_repository", ""},
	{".git names a folder that is missing", `mv .git real; echo 'gitdir: nowhere' > .git`, "not_a_repository", ""},
	{".git is a file to outside", `mv .git "$OUT/repo.git"; echo "gitdir: $OUT/repo.git" > .git`, "git_outside_workspace", "git directory"},
	{".git is a file to outside, relative", `mv .git "$OUT/repo.git"; echo "gitdir: ../out/repo.git" > .git`, "git_outside_workspace", "git directory"},
	{".git is a link to outside", `mv .git "$OUT/repo.git"; ln -s "$OUT/repo.git" .git`, "git_outside_workspace", "git directory"},
	{".git is a link to inside", `mv .git real; ln -s real .git`, "git_outside_workspace", "git directory"},
	{"linked worktree of a repository outside", `cd "$OUT"; git init -q -b main m; cd m; git commit -q --allow-empty -m x; git worktree add -q "$WS/../linked"; cd "$WS"; rm -rf .git; cp "$WS/../linked/.git" .git`, "git_outside_workspace", "git directory"},
	{"HEAD is a link to outside", `echo 'ref: refs/heads/main' > "$OUT/HEAD"; rm .git/HEAD; ln -s "$OUT/HEAD" .git/HEAD`, "git_outside_workspace", "git directory"},
	{"refs is a link to outside", `mv .git/refs "$OUT/refs"; ln -s "$OUT/refs" .git/refs`, "git_outside_workspace", "git directory"},
	{"config is a link to outside", `mv .git/config "$OUT/config"; ln -s "$OUT/config" .git/config`, "git_outside_workspace", "git directory"},
	{"index is a link to outside", `mv .git/index "$OUT/index"; ln -s "$OUT/index" .git/index`, "git_outside_workspace", "git directory"},
	{"objects is a link to outside", `mv .git/objects "$OUT/objects"; ln -s "$OUT/objects" .git/objects`, "git_outside_workspace", "object store"},
	{"pack is a link to outside", `rm -rf .git/objects/pack; mkdir "$OUT/pack"; ln -s "$OUT/pack" .git/objects/pack`, "git_outside_workspace", "object store"},
	{"commondir outside", `echo "$OUT" > .git/commondir`, "git_outside_workspace", "common directory"},
	{"commondir outside, relative", `echo "../../out" > .git/commondir`, "git_outside_workspace", "common directory"},
	{"commondir is a link", `echo . > "$OUT/c"; ln -s "$OUT/c" .git/commondir`, "git_outside_workspace", "common directory"},
	{"alternates outside", `echo "$OUT/objects" > .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates outside, relative", `echo "../../../out/objects" > .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates through a missing folder", `echo "missing/../../../../out/objects" > .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates, second line", `mkdir -p alt; printf '# note\n../../alt\n%s\n' "$OUT" > .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates quoted", `printf '"%s\\x2fobjects"\n' "$OUT" > .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates quoted badly", `printf '"%s\n' "$OUT" > .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates of alternates", `mkdir -p alt/info; echo ../../alt > .git/objects/info/alternates; echo "$OUT" > alt/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates in a circle", `mkdir -p alt/info; echo ../../alt > .git/objects/info/alternates; echo "../.git/objects" > alt/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates is a link", `echo x > "$OUT/a"; ln -s "$OUT/a" .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"alternates through a link", `ln -s "$OUT" alt; echo ../../alt > .git/objects/info/alternates`, "git_outside_workspace", "alternates"},
	{"a folder of loose objects is a link", `mkdir "$OUT/objs"; ln -s "$OUT/objs" .git/objects/$(cd .git/objects; for i in 00 01 02 03 04 05 06 07 08 09; do [ -e $i ] || { echo $i; break; }; done)`, "git_outside_workspace", "object store"},
	{"a loose object is a link", `o=$(cd .git/objects; echo ??/* | cut -d' ' -f1); mv .git/objects/$o "$OUT/o"; ln -s "$OUT/o" .git/objects/$o`, "git_outside_workspace", "object store"},
	{"a pack is a link", `git repack -qad; for p in .git/objects/pack/*.pack; do mv $p "$OUT"; ln -s "$OUT/${p##*/}" $p; done`, "git_outside_workspace", "object store"},
	{"a branch is a link", `cp .git/refs/heads/main "$OUT/m"; ln -s "$OUT/m" .git/refs/heads/other`, "git_outside_workspace", "git directory"},
	{"a folder of branches is a link", `mkdir "$OUT/b"; ln -s "$OUT/b" .git/refs/heads/b`, "git_outside_workspace", "git directory"},
	{"the shared part of a split index is a link", `git update-index --split-index; for p in .git/sharedindex.*; do mv $p "$OUT"; ln -s "$OUT/${p##*/}" $p; done`, "git_outside_workspace", "git directory"},
	{"info/attributes is a link", `mkdir -p .git/info; ln -s "$OUT/a" .git/info/attributes`, "git_outside_workspace", "git directory"},
	{"config.worktree is a link", `ln -s "$OUT/c" .git/config.worktree`, "git_outside_workspace", "git directory"},
	{"a ref of the git directory is a link", `ln -s "$OUT/r" .git/MERGE_HEAD`, "git_outside_workspace", "git directory"},
	{"commondir outside, behind a newline", `mkdir ".git/.
"; printf '.\n/../../../out\n' > .git/commondir; git init -q --bare "$OUT"`, "git_outside_workspace", "common directory"},
	{"commondir outside, by a link and back", `mkdir "$OUT/h"; cp -r .git "$OUT/r"; cp -r "$OUT/r" .git/r; rm -rf .git/hooks; ln -s "$OUT/h" .git/hooks; echo hooks/../r > .git/commondir`, "git_outside_workspace", "common directory"},
	{"commondir inside, by a link to outside", `cp -r .git r; ln -s "$OUT" l; echo "$WS/l/../r" > .git/commondir`, "git_outside_workspace", "common directory"},
	{".git is a file of two lines", `mv .git real; printf 'gitdir: real\n/../../out\n' > .git`, "not_a_repository", ""},
	{"hooks are links to outside", `ln -s "$OUT/h" .git/hooks/pre-commit; ln -s "$OUT/lfs" .git/lfs`, "", ""},
	{"HEAD names a link beside the refs", `ln -s "$OUT/x" .git/hooks/x; echo 'ref: hooks/x' > .git/refs/heads/odd; echo 'ref: refs/heads/odd' > .git/HEAD`, "git_failed", ""},
	{"HEAD leads over a ref to another", `git symbolic-ref refs/heads/odd refs/heads/main; git symbolic-ref HEAD refs/heads/odd`, "", ""},
	{"a branch is a pipe", `mkfifo .git/refs/heads/p`, "not_a_repository", ""},
	{"config is a pipe", `rm .git/config; mkfifo .git/config`, "not_a_repository", ""},
	{"the socket of git's file monitor", `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(".git/fsmonitor--daemon.ipc")' || :`, "", ""},
	{"included configuration outside", `touch "$OUT/inc"; git config include.path "$OUT/inc"`, "git_outside_workspace", "included configuration"},
	{"included configuration outside that is missing", `git config include.path "$OUT/inc"`, "git_outside_workspace", "included configuration"},
	{"included configuration outside that does not parse", `echo '[' > "$OUT/inc"; git config include.path "$OUT/inc"`, "git_outside_workspace", "included configuration"},
	{"included configuration outside, relative", `git config include.path ../../out/inc`, "git_outside_workspace", "included configuration"},
	{"included configuration outside, on a condition", `git config includeIf.onbranch:nope.path "$OUT/inc"`, "git_outside_workspace", "included configuration"},
	{"included configuration of a user", `git config include.path '~root/inc'`, "git_outside_workspace", "included configuration"},
	{"included configuration outside, by an included file", `printf '[include]\n\tpath = ../out/inc\n' > inc; git config include.path ../inc`, "git_outside_workspace", "included configuration"},
	{"included configuration is a link", `ln -s "$OUT/inc" inc; git config include.path ../inc`, "git_outside_workspace", "included configuration"},
	{"included configuration of a work tree", `git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; printf '[include]\n\tpath = ../../out/inc\n' > .git/config.worktree`, "git_outside_workspace", "included configuration"},
	{"included configuration inside", `touch inc; git config include.path ../inc`, "", ""},
	{"included configuration of the home folder", `git config include.path '~/.gitconfig.local'`, "", ""},
	{"included configuration in a circle", `printf '[include]\n\tpath = inc\n' > inc; git config include.path ../inc`, "git_failed", ""},
	{"core.worktree outside that is missing", `git config core.worktree "$OUT/missing"`, "git_outside_workspace", "worktree"},
	{"core.worktree outside", `git config core.worktree "$OUT"`, "git_outside_workspace", "worktree"},
	{"core.worktree above", `git config core.worktree "$WS/.."`, "git_outside_workspace", "worktree"},
	{"core.worktree in an included file, which git does not read", `printf '[core]\n\tworktree = %s\n' "$OUT" > inc; git config include.path "$WS/inc"`, "", ""},
	{"core.worktree is the root", `git config core.worktree "$WS"`, "", ""},
	{"core.worktree is the root, relative", `git config core.worktree ..`, "", ""},
	{".git is a file to inside", `mv .git real; echo 'gitdir: real' > .git`, "", ""},
	{".git is a file to inside, absolute", `mv .git real; echo "gitdir: $WS/real" > .git`, "", ""},
	{"alternates inside", `mkdir -p alt/info; echo ../../alt > .git/objects/info/alternates`, "", ""},
	{"alternates inside, absolute", `mkdir -p alt; echo "$WS/alt" > .git/objects/info/alternates`, "", ""},
	{"alternates that is missing", `echo "../../gone" > .git/objects/info/alternates`, "", ""},
	{"HEAD that is rubbish", `echo rubbish > .git/HEAD`, "git_failed", ""},
	{"an unknown extension", `git config core.repositoryFormatVersion 1; git config extensions.fromTheFuture true`, "git_failed", ""},
	{"config that does not parse", `echo '[' >> .git/config`, "git_failed", ""},
}

func TestPlaces(t *testing.T) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sh(twoCommits)
			f.sh(p.setup)
			r, err := f.git(Options{}).Open(context.Background())
			if r != nil {
				defer r.Close()
				_, err = r.Head(context.Background())
			}
			if code(err) != p.code {
				t.Fatalf("%q, want %q", code(err), p.code)
			}
			if err == nil {
				if _, err := r.Resolve(context.Background(), "HEAD"); err != nil {
					t.Errorf("not readable: %v", err)
				}
				return
			}
			var d *sandbox.Denial
			if !errors.As(err, &d) {
				t.Fatal(err)
			}
			if strings.Contains(d.Error(), "/out") || strings.Contains(d.Error(), "/ws/.") {
				t.Errorf("the denial names a place: %s", d)
			}
			if p.kind != "" && (len(d.Details) != 1 || d.Details[0].Value != p.kind) {
				t.Errorf("details %v, want kind %q", d.Details, p.kind)
			}
		})
	}
}

// What the operator allows is served: a linked worktree reads the history of
// the repository that it belongs to.
func TestAllowExternal(t *testing.T) {
	for _, p := range places {
		if p.code != "git_outside_workspace" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sh(twoCommits)
			f.sh(p.setup)
			r, err := f.git(Options{AllowExternal: true}).Open(context.Background())
			if code(err) == "git_outside_workspace" {
				t.Errorf("still refused: %v", err)
			}
			if r != nil {
				r.Close()
			}
		})
	}
	f := newFixture(t)
	f.sh(`rm -rf .git; cd "$OUT"; git init -q -b main m; cd m; git commit -q --allow-empty -m outside; rmdir "$WS"; git worktree add -q "$WS"`)
	r, err := f.git(Options{AllowExternal: true}).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	id, err := r.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Commit(context.Background(), id)
	if err != nil || c.Subject() != "outside" {
		t.Errorf("%v %v", c, err)
	}
}

func TestRepositoryInAFolderAboveIsNotSeen(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `mkdir sub`)
	ws, err := sandbox.Open(filepath.Join(f.ws, "sub"), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	bin, _ := Find()
	g, err := New(ws, Options{Binary: bin})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Open(context.Background()); code(err) != "not_a_repository" {
		t.Errorf("%v", err)
	}
}

// A repository that is replaced while a call runs is not read any further.
func TestSwappedRepositoryIsNotRead(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	r := f.repo()
	f.sh(`mv .git old; git init -q -b main .; git commit -q --allow-empty -m other`)
	if _, err := r.Resolve(context.Background(), "HEAD"); code(err) != "not_a_repository" {
		t.Errorf("%v", err)
	}
}

func TestProgramIsChecked(t *testing.T) {
	f := newFixture(t)
	bin, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(bin) {
		t.Fatal(bin)
	}
	script := filepath.Join(f.out, "git")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec git \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(f.ws, "tools", "git")
	if err := os.MkdirAll(filepath.Dir(inside), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inside, data, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(f.out, "link")
	if err := os.Symlink(inside, link); err != nil {
		t.Fatal(err)
	}
	ws, err := sandbox.Open(f.ws, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for _, c := range []struct {
		name, bin string
		want      error
	}{
		{"relative", "git", errRelative},
		{"missing", filepath.Join(f.out, "none"), ErrNoProgram},
		{"a folder", f.out, errNotProgram},
		{"a wrapper script", script, errNotProgram},
		{"inside the workspace", inside, ErrInside},
		{"inside, through a link", link, ErrInside},
		{"the real one", bin, nil},
	} {
		g, err := New(ws, Options{Binary: c.bin})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if g != nil {
			_ = g.Close()
		}
	}
}
