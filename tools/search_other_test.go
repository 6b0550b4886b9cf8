//go:build !linux

package tools_test

import "testing"

func searchUnreadable(t *testing.T) { t.Skip("needs a thread with other rights, which only Linux has") }
