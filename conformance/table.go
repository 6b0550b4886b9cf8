package conformance

import (
	"slices"
	"strings"
)

// checks is the table: one row, one function, and in the tests one mutant at
// least. Ids are never used again for something else.
var checks = concat(
	baseChecks, stateChecks, metaChecks, versionChecks, toolChecks, pageChecks, progressChecks, listenChecks, pipeChecks, webChecks,
)

func concat(parts ...[]check) (all []check) {
	for _, p := range parts {
		all = append(all, p...)
	}
	slices.SortFunc(all, func(a, b check) int { return strings.Compare(a.id, b.id) })
	return all
}

// CheckInfo describes a check for a list.
type CheckInfo struct {
	ID, Title, Section, Requirement string
	Level                           Level
	On                              Transport
}

// Checks lists the table in order.
func Checks() (list []CheckInfo) {
	for i := range checks {
		c := &checks[i]
		list = append(list, CheckInfo{c.id, c.title, c.section, c.requirement, c.level, c.on})
	}
	return list
}
