//go:build !linux

package app

// ShutDescriptors has nothing to do where descriptors are not inherited unless
// asked for.
func ShutDescriptors() {}

// capabilities says that there is nothing to count.
func capabilities() int { return -1 }

// DropDescriptors has nothing to do.
func DropDescriptors() {}
