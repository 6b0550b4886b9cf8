package git

import (
	"slices"
	"strings"
)

// runs are the configuration keys whose value names a program, or makes git
// start one that the repository brings along. A star stands for the subsection,
// which may be missing where the second form of a key exists.
var runs = []string{
	"core.fsmonitor", "core.hookspath", "core.pager", "core.editor", "core.sshcommand", "core.askpass", "core.gitproxy", "core.alternaterefscommand",
	"pager.*", "sequence.editor", "alias.*", "alias.*.command",
	"diff.external", "diff.*.command", "diff.*.textconv", "interactive.difffilter",
	"filter.*.clean", "filter.*.smudge", "filter.*.process", "merge.*.driver",
	"gpg.program", "gpg.*.program", "gpg.ssh.defaultkeycommand",
	"credential.helper", "credential.*.helper",
	"difftool.*.cmd", "difftool.*.path", "mergetool.*.cmd", "mergetool.*.path", "guitool.*.cmd",
	"browser.*.cmd", "browser.*.path", "man.*.cmd", "man.*.path", "web.browser", "help.browser", "instaweb.browser",
	"remote.*.uploadpack", "remote.*.receivepack", "remote.*.vcs", "uploadpack.packobjectshook", "gc.recentobjectshook", "svn.authorsprog",
	"sendemail.*.sendmailcmd", "sendemail.sendmailcmd", "sendemail.smtpserver", "sendemail.tocmd", "sendemail.cccmd", "sendemail.headercmd",
	"submodule.*.update", "trailer.*.command", "trailer.*.cmd", "tar.*.command", "imap.tunnel", "hook.*.command", "instaweb.httpd", "receive.procreceiverefs",
}

// Executable lists what the repository would have git run, were it not switched
// off here: the keys of its configuration, and its hooks as "hooks/NAME". Names
// only, as the repository wrote them, sorted. What an alias or a submodule's
// update does is not looked at, since values are not read.
func (r *Repo) Executable() []string {
	var found []string
	for k := range r.keys {
		if slices.ContainsFunc(runs, func(pattern string) bool { return keyMatches(pattern, k) }) {
			found = append(found, k)
		}
	}
	if r.door != nil {
		entries, _, _ := r.door.Entries(r.common + "/hooks") // missing, or a link that git would follow and we do not
		for _, e := range entries {
			if !strings.Contains(e.Name, ".") { // the samples that git init brings do not run
				found = append(found, "hooks/"+e.Name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// keyMatches compares a key with one of runs: section and name are exact, the
// star is any subsection, dots included.
func keyMatches(pattern, key string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == key
	}
	return len(key) > len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after)
}
