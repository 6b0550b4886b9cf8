//go:build !unix

package sandbox

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
