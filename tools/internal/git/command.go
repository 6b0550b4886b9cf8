package git

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// command is one row of the closed table of git subcommands. Nothing else is
// ever started, and a row's own arguments always come before a caller's.
type command struct {
	name  string
	args  []string
	stdin bool // the request arrives on standard input, so limits precede it
	why   string
	alone bool // reads one file that is named, and no repository
}

// The table. Every command reads objects, refs or the index. None formats a
// patch or a message, none looks at the work tree, none contacts a remote. status,
// log, show, diff, diff-files and ls-files -m are absent on purpose: each of them
// opens files of the work tree by name, runs programs that a repository names, or
// prints what the denylist and the secret rules have not seen.
var (
	cmdCatFile = &command{name: "cat-file", args: []string{"--batch-command"}, stdin: true,
		why: "sizes and bytes of objects named by full id"}
	cmdRevList = &command{name: "rev-list", args: []string{"--stdin"}, stdin: true,
		why: "walk history, ids only"}
	cmdDiffTree = &command{name: "diff-tree", args: []string{"--stdin", "-r", "-z", "--raw", "--root", "--no-abbrev", "--ignore-submodules=all"}, stdin: true,
		why: "names, modes and blob ids that differ between two trees"}
	cmdDiffIndex = &command{name: "diff-index", args: []string{"--cached", "-z", "--raw", "--no-abbrev", "--ignore-submodules=all"},
		why: "names, modes and blob ids that differ between a tree and the index"}
	cmdLsFiles = &command{name: "ls-files", args: []string{"-s", "-z", "--debug"},
		why: "the index, and what it remembers of each file"}
	cmdForEachRef = &command{name: "for-each-ref",
		why: "branches and tags with their commits"}
	cmdBlame = &command{name: "blame", args: []string{"--porcelain", "--no-textconv", "--no-ignore-revs-file"},
		why: "commit ids per line range, at a commit"}
	cmdRevParse = &command{name: "rev-parse",
		why: "a checked revision to a full commit id; merge bases"}
	cmdConfig = &command{name: "config", args: []string{"--list", "--includes", "--name-only", "-z"},
		why: "names of keys, to switch drivers off by name"}
	cmdConfigGet = &command{name: "config", args: []string{"--includes", "--type=bool", "--get"},
		why: "whether a key is on, in a repository that keeps its configuration elsewhere"}
	cmdConfigFile = &command{name: "config", args: []string{"--no-includes", "--list", "-z", "--file"}, alone: true,
		why: "keys of one file, before a git runs that would open what it includes"}
)

var commands = []*command{cmdCatFile, cmdRevList, cmdDiffTree, cmdDiffIndex, cmdLsFiles, cmdForEachRef, cmdBlame, cmdRevParse, cmdConfig, cmdConfigGet, cmdConfigFile}

// globalArgs precede every subcommand.
var globalArgs = []string{"--no-pager", "--literal-pathspecs", "--no-replace-objects"}

// setting is one configuration value that overrides the repository's own.
type setting struct{ key, value string }

// settings go through GIT_CONFIG_COUNT and friends, never through -c: -c cannot
// carry a key whose subsection holds '='.
//
// core.preloadIndex and index.threads keep git single-threaded: with
// RLIMIT_NPROC=0 it dies where it would otherwise start a thread.
var settings = []setting{
	{"core.fsmonitor", "false"},
	{"core.hooksPath", "/dev/null"},
	{"core.attributesFile", "/dev/null"},
	{"core.excludesFile", "/dev/null"},
	{"core.commitGraph", "false"},
	{"core.abbrev", "40"},
	{"core.quotePath", "true"},
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"core.preloadIndex", "false"},
	{"core.untrackedCache", "false"},
	{"index.threads", "1"},
	{"pack.threads", "1"},
	{"protocol.allow", "never"},
	{"protocol.ext.allow", "never"},
	{"gpg.program", "false"},
	{"log.showSignature", "false"},
	{"log.mailmap", "false"},
	{"mailmap.file", ""},
	{"mailmap.blob", ""},
	{"color.ui", "false"},
	{"diff.orderFile", ""},
	{"diff.renameLimit", "1000"},
	{"i18n.logOutputEncoding", "UTF-8"},
	{"safe.bareRepository", "explicit"},
}

// driverSettings switches off every filter driver among the configuration keys
// that git named (NUL-separated, lower-cased section and name by git).
func driverSettings(keys []string) []setting {
	var names []string
	for _, k := range keys {
		rest, ok := strings.CutPrefix(k, "filter.")
		if !ok {
			continue
		}
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			names = append(names, rest[:i])
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var s []setting
	for _, n := range names {
		s = append(s,
			setting{"filter." + n + ".clean", ""},
			setting{"filter." + n + ".smudge", ""},
			setting{"filter." + n + ".process", ""},
			setting{"filter." + n + ".required", "false"})
	}
	return s
}

// fixedEnv is the whole environment of a git process, apart from settings.
// HOME names no folder, so that "~" in an include means a file that is missing
// and not an error.
var fixedEnv = []string{
	"HOME=/dev/null",
	"XDG_CONFIG_HOME=/dev/null",
	"LC_ALL=C",
	"TZ=UTC0", // any other makes the C library look for files of time zones
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_GRAFT_FILE=/dev/null",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ALLOW_PROTOCOL=",
	"GIT_PAGER=cat",
}

// environment builds the environment of a child from nothing: no variable of
// this process is passed on, but for the two that Windows cannot start without.
func environment(drivers []setting, inherit func(string) string) []string {
	env := slices.Clone(fixedEnv)
	if runtime.GOOS == "windows" {
		for _, k := range []string{"SYSTEMROOT", "PATH"} {
			env = append(env, k+"="+inherit(k))
		}
	}
	n := 0
	for _, list := range [][]setting{settings, drivers} {
		for _, s := range list {
			i := strconv.Itoa(n)
			env = append(env, "GIT_CONFIG_KEY_"+i+"="+s.key, "GIT_CONFIG_VALUE_"+i+"="+s.value)
			n++
		}
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}
