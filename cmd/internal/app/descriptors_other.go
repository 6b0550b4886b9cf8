//go:build !linux

package app

// ShutDescriptors has nothing to do where descriptors are not inherited unless
// asked for.
func ShutDescriptors() {}

// DropDescriptors has nothing to do.
func DropDescriptors() {}
