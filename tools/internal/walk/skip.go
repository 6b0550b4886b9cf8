package walk

// Folders that hold what a tool installed, generated or cached. They are skipped where no ignore rule decides: those of
// machineMade everywhere but for what git tracks in them, because nobody writes sources there; those of outsideGit only where there is no repository,
// because their names are also given to sources, and inside a repository git has been told which is which.
var (
	machineMade = set(
		"node_modules", "bower_components", "jspm_packages", ".pnpm-store",
		".venv", "__pycache__", ".tox", ".nox", ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints",
		".terraform", ".terragrunt-cache", ".gradle",
		".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", ".angular",
		".hg", ".svn", ".jj", "CVS",
	)
	outsideGit = set(
		"vendor", "dist", "build", "target", "out", "venv", "env", "coverage", "htmlcov", "site-packages",
		"Pods", "DerivedData", "_build", "elm-stuff", ".cache", ".direnv", ".idea", ".vs", ".yarn", ".bundle",
		".cargo", ".dart_tool", ".stack-work", ".output",
	)
)

func set(names ...string) map[string]struct{} {
	m := make(map[string]struct{}, len(names))
	for _, n := range names {
		m[n] = struct{}{}
	}
	return m
}

// Skipped reports whether the default skip list leaves out a folder of this name, for callers that judge names which
// Walk did not produce. inGit is whether a repository holds the folder.
func Skipped(name string, inGit bool) bool {
	if _, ok := machineMade[name]; ok {
		return true
	}
	if inGit {
		return false
	}
	_, ok := outsideGit[name]
	return ok
}
