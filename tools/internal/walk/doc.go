// Package walk visits the files of a workspace in a fixed order, applies ignore files exactly as git does, and matches
// globs. It is what every tool that looks at more than one file stands on.
//
// # How to start
//
//	stats, err := walk.Walk(ctx, ws, "src", walk.Options{Gitignore: true}, func(it *walk.Item) (walk.Action, error) {
//		if it.Kind == sandbox.KindFile && it.State == walk.OK && glob.MatchBelow("src", it.Path) {
//			f, err := it.Open()
//			...
//		}
//		return walk.Continue, nil
//	})
//
// An overview, which must show what lies near the root even when one folder holds a million files, asks for the breadth:
//
//	walk.Options{Gitignore: true, Breadth: true, PerDir: 2000, Cut: func(folder string, left int, exact bool) { ... }}
//
// visits all of a level before the next one, at most PerDir entries of each folder, and reports per folder how many
// were left out, so that big folders can be summarised by a number.
//
// # What it promises
//
//   - Every folder is opened beneath the folder it was found in, and Item.Open and Item.Info work beneath the folder that
//     is open: a folder swapped for a link while the walk is on leads nowhere.
//   - The order depends on names only. Files come in bytewise order of their paths.
//   - Ignore rules are those of .gitignore files, nested ones and negated rules included, and of .git/info/exclude, with
//     git's own reading of every character. A .gitignore counts outside a repository too. Nothing above the workspace is
//     read, and a linked .gitignore is not followed. In a repository inside the workspace the rules of the folders around
//     it do not count. Upper and lower case are the same in a repository whose configuration sets core.ignoreCase.
//   - What git tracks counts although a rule or the default list matches it: a folder that they leave out is entered if
//     something below it is tracked, and then nothing but that is seen in it.
//   - Where no rule decides, a default list leaves out folders that tools install, generate or cache: some names
//     everywhere (node_modules, .venv, __pycache__ …), others, which sources are given too (vendor, build, dist …), only
//     outside repositories. See Skipped.
//   - Links are reported and never followed. Denied names are reported and never opened. What is broken, unreadable or
//     special is counted and stops nothing.
//   - Entries, depth, the size of an ignore file and the number of its rules are bounded, and what is beyond is reported.
//     The context is looked at about every 100 µs of work. Matching a name costs at most pattern × name steps.
//
// # Limits
//
// Of an index, names are all that is read: versions 2 to 4 with SHA-1. Where it is of another kind (split, sparse, SHA-256,
// newer) and Options.Tracked cannot list it, or it is out of reach, rules alone decide and Stats.IndexLost counts it. The
// index is read when a rule first leaves something out. Of a repository's configuration core.ignoreCase is all that is
// read, without the files that it includes; core.excludesFile is not. Of a folder with more entries than Options.MaxEntries (and 65,536), which ones are seen is the file system's choice.
package walk
