package git

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"mcp-devserver/sandbox"
)

// Bounds of what a repository's configuration may include; git itself stops at
// a depth of 10.
const (
	maxIncludeDepth = 10
	maxIncludes     = 100
)

// fileConfig reads configuration files one by one, without what they include,
// so that every file is judged before any git opens it.
type fileConfig struct {
	repo    *Repo
	keys    []string
	files   int
	tree    string // core.worktree of the repository's own file
	asks    bool   // an extension is set: git decides whether it knows it
	crlf    bool   // core.autocrlf says that line endings are converted
	noExec  bool   // core.fileMode is off: modes on disk say nothing
	noLinks bool   // core.symlinks is off: links are kept as files
	noCtime bool   // core.trustctime is off: other programs change that time
	minimal bool   // core.checkStat says that size and whole seconds tell
	sparse  bool   // core.sparseCheckout: what is left out of the work tree can be there all the same
	strewn  bool   // sparse.expectFilesOutsideOfPatterns: and then is not looked at
}

// readConfigKeys learns which keys are set, so that drivers can be switched off
// by name. It refuses a configuration that includes files from outside, because
// git would open them, and a work tree that is not the root.
func (r *Repo) readConfigKeys(ctx context.Context) error {
	if !r.outside {
		c := &fileConfig{repo: r}
		if err := c.read(ctx, r.common+"/config", true, 0); err != nil {
			return err
		}
		if slices.Contains(c.keys, "extensions.worktreeconfig") {
			if err := c.read(ctx, r.gitDir+"/config.worktree", true, 0); err != nil {
				return err
			}
		}
		if c.tree != "" {
			if to, err := r.beneath(r.gitDir, c.tree); err != nil || to != "." {
				if err := r.external("worktree"); err != nil {
					return err
				}
			}
		}
		if !r.outside {
			r.setKeys(c.keys)
			r.crlf, r.noExec, r.noLinks = c.crlf, c.noExec, c.noLinks
			r.noCtime, r.minimal, r.sparse = c.noCtime, c.minimal, c.sparse && !c.strewn
			if !c.asks {
				return nil
			}
		}
	}
	b, err := r.output(ctx, cmdConfig, "")
	if err != nil {
		return r.failed(err)
	}
	keys := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	// The last are the settings that this package passed.
	r.setKeys(keys[:max(0, len(keys)-len(settings)-len(r.drivers))])
	if r.outside {
		r.crlf = r.keys["core.autocrlf"] // its value is not known
		r.noExec, r.noLinks, r.noCtime = r.is(ctx, "core.fileMode", false), r.is(ctx, "core.symlinks", false), r.is(ctx, "core.trustctime", false)
		r.sparse = r.is(ctx, "core.sparseCheckout", true) && !r.is(ctx, "sparse.expectFilesOutsideOfPatterns", true)
	}
	return nil
}

// is asks git whether a key is set to a value.
func (r *Repo) is(ctx context.Context, key string, value bool) bool {
	if !r.keys[strings.ToLower(key)] {
		return false
	}
	b, err := r.output(ctx, cmdConfigGet, "", key)
	return err == nil && strings.TrimSpace(string(b)) == strconv.FormatBool(value)
}

// isOn reads a boolean, or "input", as git does; a key without a value is true.
func isOn(value string, set bool) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "input":
		return true
	case "false", "no", "off":
		return false
	case "":
		return !set
	}
	return strings.Trim(value, "0") != ""
}

func (r *Repo) setKeys(keys []string) {
	r.keys = make(map[string]bool, len(keys))
	for _, k := range keys {
		r.keys[k] = true
	}
	r.drivers = driverSettings(keys)
}

// read reads one file; own says that it is the repository's and not included.
func (c *fileConfig) read(ctx context.Context, file string, own bool, depth int) error {
	r := c.repo
	r.mark(file)
	info, _, err := r.door.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, sandbox.ErrOutside):
		return r.external("included configuration")
	case err != nil || info.Kind == sandbox.KindOther:
		return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 128})
	}
	if c.files++; c.files > maxIncludes || depth > maxIncludeDepth {
		return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 128})
	}
	_, at := r.stand()
	b, err := r.output(ctx, cmdConfigFile, "", at+"/"+file)
	if err != nil {
		return r.failed(err)
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(b), "\x00"), "\x00") {
		key, value, set := strings.Cut(entry, "\n")
		c.keys = append(c.keys, key)
		switch {
		case key == "include.path" || strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path"):
			if err := c.include(ctx, file, value, depth); err != nil {
				return err
			}
		case key == "core.autocrlf":
			c.crlf = isOn(value, set)
		case key == "core.filemode":
			c.noExec = !isOn(value, set)
		case key == "core.trustctime":
			c.noCtime = !isOn(value, set)
		case key == "core.checkstat":
			c.minimal = strings.EqualFold(value, "minimal")
		case key == "core.sparsecheckout":
			c.sparse = isOn(value, set)
		case key == "sparse.expectfilesoutsideofpatterns":
			c.strewn = isOn(value, set)
		case key == "core.symlinks":
			c.noLinks = !isOn(value, set)
		case own && key == "core.worktree":
			c.tree = value
		case key == "extensions.refstorage" && strings.Contains(value, ":"):
			// Newer versions of git take a place there, behind the name of a format.
			if err := r.external("refs"); err != nil {
				return err
			}
		case strings.HasPrefix(key, "extensions.") || key == "core.repositoryformatversion" && value != "0":
			c.asks = true
		}
		if r.outside {
			return nil
		}
	}
	return nil
}

// include judges one included file; whatever its condition, it counts.
func (c *fileConfig) include(ctx context.Context, from, value string, depth int) error {
	r := c.repo
	switch {
	case value == "" || strings.HasPrefix(value, "~/"):
		return nil // HOME names no folder, so there is no such file
	case value[0] == '~' || strings.HasPrefix(value, "%("):
		return r.external("included configuration")
	}
	to, err := r.beneath(path.Dir(from), value)
	if err != nil {
		return r.external("included configuration")
	}
	return c.read(ctx, to, false, depth+1)
}
