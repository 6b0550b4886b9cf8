//go:build !unix

package app

import "errors"

// makePipe: no names in the file system stand for pipes here.
func makePipe(string) error { return errors.ErrUnsupported }
