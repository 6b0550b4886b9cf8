//go:build !race

package tools_test

const slower = 1
