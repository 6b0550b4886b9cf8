package tools

// All returns the tools in the order in which they are published. The first
// one accepts an empty object.
func All() []*Tool {
	return []*Tool{
		projectOverview,
		listDirectory,
		searchCode,
		findSymbol,
		readFile,
		gitLog,
		gitDiff,
	}
}
