package git

import (
	"os"
	"slices"
	"testing"

	"mcp-devserver/tests/hostile"
)

func TestExecutable(t *testing.T) {
	f := newFixture(t)
	f.sh(`git config core.fsmonitor /x/PROGRAM; git config 'filter.a=b.c.clean' PROGRAM; git config alias.lg '!PROGRAM'; git config alias.log2 log; git config gc.recentObjectsHook PROGRAM; git config svn.authorsProg PROGRAM
git config diff.x.textconv PROGRAM; git config credential.https://example.org.helper PROGRAM; git config gpg.program PROGRAM; git config gpg.ssh.program PROGRAM
git config core.autocrlf false; git config filter.x.required true; git config diff.x.binary true; git config remote.origin.url x; git config core.fsmonitorhookversion 2
git config --file inc core.sshCommand PROGRAM; git config include.path ../inc
printf '#!/bin/sh\n' > .git/hooks/pre-commit; touch .git/hooks/update.sample`)
	got := f.repo().Executable()
	want := []string{"alias.lg", "alias.log2", "core.fsmonitor", "core.sshcommand", "credential.https://example.org.helper", "diff.x.textconv",
		"filter.a=b.c.clean", "gc.recentobjectshook", "gpg.program", "gpg.ssh.program", "hooks/pre-commit", "svn.authorsprog"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// With an extension git is asked what is set, and tells what it was passed, too.
	f = newFixture(t)
	f.sh(`git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config filter.z.clean PROGRAM`)
	if got := f.repo().Executable(); !slices.Equal(got, []string{"filter.z.clean"}) {
		t.Errorf("with an extension: %q", got)
	}
	f = newFixture(t)
	if got := f.repo().Executable(); len(got) > 0 {
		t.Errorf("a new repository: %q", got)
	}
}

// Each trick that makes plain git run a program by way of the configuration or
// a hook is named.
func TestExecutableNamesTheTricks(t *testing.T) {
	byOther := map[string]bool{ // what makes them run is not in the repository's own configuration
		"nested bare repository": true, "parent environment": true,
		"lazy fetch by an ext transport": true, "remote helper by name": true, // the remote's address, a value
		"submodule with a program": true, "submodule with a filter": true, "submodule that is a link": true, // another repository's
	}
	for _, tr := range hostile.Tricks {
		if tr.Shows != "" || tr.Root && os.Getuid() != 0 {
			continue // nothing runs, or cannot be set up
		}
		t.Run(tr.Name, func(t *testing.T) {
			f := newFixture(t)
			f.sh(twoCommits)
			f.sh(tr.Setup)
			if got := f.repo().Executable(); len(got) == 0 && !byOther[tr.Name] {
				t.Errorf("nothing is named; the keys are %q", f.repo().ConfigKeys())
			}
		})
	}
}
